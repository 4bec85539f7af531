"""Ways in: one table as everything that a selector takes, and ways to work on it that must not show in the answer."""

from __future__ import annotations

import gzip
import warnings
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
import pandas as pd
import pytest

import fernwood
from fernwood.store import Store
from fernwood.store.view import ColumnView, Kept
from fernwood.store.writer import DiskWriter
from tests.differential.methods import Given, quietly
from tests.differential.tables import Table

__all__ = ["WAYS", "Way", "plain", "stored"]


@dataclass(frozen=True)
class Way:
    """A way in.

    Attributes
    ----------
    enter : what a table is given as; what it patches or starts ends with the context
    takes : which tables can go this way
    is_store : whether the table arrives as a store
    is_sparse : whether it arrives as a sparse matrix
    slow : whether it is left to the long part
    """

    enter: Callable[[Table, Path], AbstractContextManager[Given]]
    takes: Callable[[Table], bool] = lambda _: True
    is_store: bool = False
    is_sparse: bool = False
    slow: bool = False


def _numeric(table: Table) -> bool:
    return table.is_numeric


def _given(X: Any, table: Table, **params: Any) -> Given:  # noqa: N803
    """A table without its roles, and the roles beside it."""
    return Given(X, table.target, table.weights, table.groups, params)


def _as(make: Callable[[Table, Path], Any]) -> Callable[[Table, Path], AbstractContextManager[Given]]:
    """A way on which the table is another object, and its roles are arrays."""
    return lambda table, folder: nullcontext(_given(make(table, folder), table))


def plain(table: Table) -> Given:
    """The way that all others are compared with."""
    return _given(table.frame, table)


# Tables in memory ----------------------------------------------------------------------------------------------------


def _strided(table: Table, _: Path) -> Any:
    """Neither rows nor columns are contiguous, and the rows run backwards."""
    values = table.values
    wide = np.full((2 * values.shape[0], 3 * values.shape[1]), np.nan)
    wide[::-2, 1::3] = values
    return wide[::-2, 1::3]


def _mapped(table: Table, folder: Path) -> Any:
    np.save(folder / "t.npy", table.values)
    return np.load(folder / "t.npy", mmap_mode="r")


def _nullable(table: Table, _: Path) -> Any:
    """pandas' own types, whose missing values are masks; text as categories."""
    frame = table.frame.convert_dtypes(convert_floating=False, convert_integer=False)
    return frame.astype({name: "category" for name in table.frame if table.frame[name].dtype.kind == "O"})


def _polars(table: Table, _: Path) -> Any:
    import polars as pl

    return pl.from_pandas(table.frame, nan_to_null=True)


def _polars_lazy(table: Table, folder: Path) -> Any:
    return _polars(table, folder).lazy()


def _arrow(table: Table, _: Path) -> Any:
    import pyarrow as pa

    return pa.Table.from_pandas(table.frame, preserve_index=False)


def _arrow_chunked(table: Table, _: Path) -> Any:
    """Columns in chunks, one of them empty; text as a dictionary of its own in every chunk."""
    import pyarrow as pa

    whole = pa.Table.from_pandas(table.frame, preserve_index=False)
    cuts = [0, 1, 1, len(whole) // 2, len(whole)]
    parts = []
    for start, stop in zip(cuts, cuts[1:], strict=False):
        part = whole.slice(start, stop - start).combine_chunks()
        for i, column in enumerate(part.columns):
            if pa.types.is_string(column.type) or pa.types.is_large_string(column.type):
                part = part.set_column(i, part.field(i).name, column.dictionary_encode())
        parts.append(part)
    return pa.concat_tables(parts)


def _sparse(kind: str, table: Table, _: Path) -> Any:
    import scipy.sparse

    return getattr(scipy.sparse, kind)(table.values)


def _annotated(table: Table) -> Any:
    """AnnData: the columns as X, what describes the rows as obs, all as text or numbers."""
    anndata = pytest.importorskip("anndata", reason="anndata is not installed; pip install 'fernwood[h5ad]'")
    n_rows = len(table.frame)
    roles = {name: getattr(table, name) for name in table.roles_by_name()}
    obs = pd.DataFrame(roles, index=[f"row {i}" for i in range(n_rows)])
    return anndata.AnnData(table.values, obs=obs, var=pd.DataFrame(index=list(table.frame.columns)))


# Stores --------------------------------------------------------------------------------------------------------------


def _ingest(source: Any, table: Table, out: Path | None = None, **how: Any) -> Store:
    """A store of a table whose roles are columns or arrays in `how`."""
    with quietly():
        return fernwood.ingest(source, out, task=table.task, **how)


def stored(table: Table, out: Path | None = None) -> Store:
    """The store of a table and its roles."""
    return _ingest(table.frame, table, out, target=table.target, weights=table.weights, groups=table.groups)


@contextmanager
def _in_memory(table: Table, _: Path) -> Iterator[Given]:
    yield Given(stored(table))


@contextmanager
def _in_other_roles(table: Table, _: Path) -> Iterator[Given]:
    """A store that has another target, other weights and other groups, all of which are replaced."""
    n_rows = len(table.frame)
    weights = None if table.weights is None else np.arange(n_rows) + 1.0
    groups = None if table.groups is None else np.arange(n_rows) % 7
    with quietly():
        store = fernwood.ingest(table.frame, target=np.arange(n_rows) % 2, weights=weights, groups=groups)
    yield _given(store, table)


@contextmanager
def _kept(table: Table, _: Path) -> Iterator[Given]:
    yield Given(Kept(stored(table)))


@contextmanager
def _all_rows(table: Table, _: Path) -> Iterator[Given]:
    yield Given(stored(table).rows(np.arange(len(table.frame))))


@contextmanager
def _of_more_columns(table: Table, _: Path) -> Iterator[Given]:
    """The columns of a store that has others between them, behind the first two: positions count the table's columns."""
    between = pd.DataFrame({f"between {i}": np.arange(len(table.frame)) % (i + 2) for i in range(5)})
    more = pd.concat([table.frame.iloc[:, :2], between, table.frame.iloc[:, 2:]], axis=1)
    with quietly():
        store = fernwood.ingest(more, target=table.target, weights=table.weights, groups=table.groups, task=table.task)
    places = np.arange(table.frame.shape[1])
    yield Given(ColumnView(store, np.where(places < 2, places, places + between.shape[1])))


@contextmanager
def _on_disk(table: Table, folder: Path) -> Iterator[Given]:
    stored(table, folder / "t.fern").close()
    with fernwood.open(folder / "t.fern") as store:
        yield Given(store)


@contextmanager
def _in_shards(table: Table, folder: Path, columns: int = 3) -> Iterator[Given]:
    narrow = partial(DiskWriter, shard_bytes=columns * len(table.frame))
    with patch("fernwood.store.ingest.DiskWriter", narrow):
        stored(table, folder / "t.fern").close()
    with fernwood.open(folder / "t.fern") as store:
        yield Given(store)


@contextmanager
def _at_a_url(table: Table, folder: Path) -> Iterator[Given]:
    """In an object store, in shards, fetched in blocks that end in the middle of columns, through a small cache."""
    pytest.importorskip("fsspec", reason="stores at a URL need fsspec: pip install 'fernwood[remote]'")
    from tests.store.remote_files import CountedFiles, put

    CountedFiles.empty()
    with _in_shards(table, folder, columns=5):
        url = put(folder / "t.fern", "counted://bucket/t.fern")
    block = 2 * len(table.frame) + 7
    with (
        patch("fernwood.store.remote.BLOCK_BYTES", block),
        fernwood.open(url, cache=folder / "cache") as store,
    ):
        yield Given(store)


@contextmanager
def _at_s3(table: Table, folder: Path) -> Iterator[Given]:
    from tests.object_store import BUCKET, object_store, put

    stored(table, folder / "t.fern").close()
    with object_store() as environment, pytest.MonkeyPatch.context() as changed:
        for name, value in environment.items():
            changed.setenv(name, value)
        with fernwood.open(put(folder / "t.fern", f"s3://{BUCKET}/t.fern"), cache=folder / "cache") as store:
            yield Given(store)


# Files ---------------------------------------------------------------------------------------------------------------


def _from_file(
    write: Callable[[Table, Path], Path], **how: Any
) -> Callable[[Table, Path], AbstractContextManager[Given]]:
    """A way through a file that has the roles among its columns."""

    @contextmanager
    def enter(table: Table, folder: Path) -> Iterator[Given]:
        yield Given(_ingest(write(table, folder), table, **table.roles_by_name(), **how))

    return enter


def _text(table: Table) -> pd.DataFrame:
    """Columns and roles as text says them: with all digits, and times as ISO 8601 has them."""
    frame = table.with_roles()
    return frame.assign(
        **{
            name: frame[name].map(repr)
            for name in frame
            if frame[name].dtype.kind == "f" and not frame[name].isna().any()
        }
    )


def _csv(table: Table, folder: Path) -> Path:
    _text(table).to_csv(folder / "t.csv", index=False)
    return folder / "t.csv"


def _tsv_packed(table: Table, folder: Path) -> Path:
    """Tabs, Windows' line ends, packed."""
    text = _text(table).to_csv(None, index=False, sep="\t", lineterminator="\r\n", na_rep="NA")
    (folder / "t.tsv.gz").write_bytes(gzip.compress(text.encode()))
    return folder / "t.tsv.gz"


def _csv_transposed(table: Table, folder: Path) -> Path:
    _text(table).T.to_csv(folder / "t.csv", header=[f"row {i}" for i in range(len(table.frame))])
    return folder / "t.csv"


def _parquet(table: Table, folder: Path) -> Path:
    table.with_roles().to_parquet(folder / "t.parquet", index=False, row_group_size=17)
    return folder / "t.parquet"


def _parquet_folder(table: Table, folder: Path) -> Path:
    """The rows in three files, the columns of the second in another order."""
    (folder / "parts").mkdir()
    frame = table.with_roles()
    cuts = [0, 5, len(frame) // 2, len(frame)]
    for i, (start, stop) in enumerate(zip(cuts, cuts[1:], strict=False)):
        part = frame.iloc[start:stop]
        part = part[list(frame)[::-1]] if i == 1 else part
        part.to_parquet(folder / "parts" / f"{i}.parquet", index=False)
    return folder / "parts"


def _feather(table: Table, folder: Path) -> Path:
    import pyarrow as pa
    import pyarrow.feather

    pyarrow.feather.write_feather(pa.Table.from_pandas(table.with_roles(), preserve_index=False), folder / "t.feather")
    return folder / "t.feather"


def _h5ad(table: Table, folder: Path) -> Path:
    _annotated(table).write_h5ad(folder / "t.h5ad")
    return folder / "t.h5ad"


def _h5ad_sparse(table: Table, folder: Path) -> Path:
    """By rows, which is how most are."""
    import scipy.sparse

    made = _annotated(table)
    made.X = scipy.sparse.csr_matrix(table.values)
    made.write_h5ad(folder / "t.h5ad")
    return folder / "t.h5ad"


def _zarr(table: Table, folder: Path) -> Path:
    pytest.importorskip("zarr", reason="zarr is not installed; pip install 'fernwood[zarr]'")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # anndata says what will change about its defaults
        _annotated(table).write_zarr(folder / "t.zarr", chunks=(13, 5))
    return folder / "t.zarr"


@contextmanager
def _annotated_in_memory(table: Table, _: Path) -> Iterator[Given]:
    yield Given(_ingest(_annotated(table), table, **table.roles_by_name()))


@contextmanager
def _npy(table: Table, folder: Path) -> Iterator[Given]:
    np.save(folder / "t.npy", np.asfortranarray(table.values))
    roles = {name: getattr(table, name) for name in table.roles_by_name()}
    yield Given(_ingest(folder / "t.npy", table, **roles))


# Ways to work --------------------------------------------------------------------------------------------------------


@contextmanager
def _threads(table: Table, _: Path) -> Iterator[Given]:
    yield _given(table.frame, table, n_jobs=3)


@contextmanager
def _run(table: Table, folder: Path) -> Iterator[Given]:
    """With checkpoints, which nobody needs."""
    yield _given(table.frame, table, run_dir=folder / "run")


@contextmanager
def _heard(table: Table, _: Path) -> Iterator[Given]:
    """With somebody who listens to the progress."""
    yield _given(table.frame, table, progress=lambda _: None)


@contextmanager
def _budget(table: Table, folder: Path) -> Iterator[Given]:
    """In so little memory that a store on disk is not kept in it."""
    with _on_disk(table, folder) as given:
        yield replace(given, params={"memory": "64MB"})


@contextmanager
def _small_blocks(table: Table, folder: Path) -> Iterator[Given]:
    """A few columns at a time, wherever columns come in blocks, of a store of narrow shards."""
    n_bytes = 5 * len(table.frame)
    with (
        patch("fernwood.run.plan._BLOCK_BYTES", n_bytes),
        patch("fernwood.search.filter._BLOCK_BYTES", n_bytes),
        patch("fernwood.search.fitting._BLOCK_BYTES", n_bytes),
        patch("fernwood.search.forests._FIT_COLUMNS", 7),
        patch("fernwood.store.view._BLOCK_BYTES", n_bytes),
        _in_shards(table, folder) as given,
    ):
        yield replace(given, params={"n_jobs": 2})


@contextmanager
def _items(table: Table, _: Path) -> Iterator[Given]:
    """Work items that travel as those of processes do, and are done here in any order."""
    from tests.work.conftest import HereEngine

    with patch("fernwood.selectors.base.engine_here", lambda _: HereEngine()):
        yield _given(table.frame, table)


@contextmanager
def _processes(table: Table, folder: Path) -> Iterator[Given]:
    import joblib

    with _on_disk(table, folder) as given, joblib.parallel_config("loky", n_jobs=2):
        yield given


@contextmanager
def _workers(table: Table, _: Path) -> Iterator[Given]:
    """Dask's, on this machine."""
    import joblib

    distributed = pytest.importorskip("distributed", reason="Dask is not installed; pip install 'fernwood[dask]'")
    with (
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, processes=False, dashboard_address=None, protocol="inproc://"
        ) as made,
        distributed.Client(made, set_as_default=False) as client,
        joblib.parallel_config("dask", client=client),
    ):
        yield _given(table.frame, table)


WAYS: dict[str, Way] = {
    "array": Way(_as(lambda t, _: t.values), _numeric),
    "fortran": Way(_as(lambda t, _: np.asfortranarray(t.values)), _numeric),
    "strided": Way(_as(_strided), _numeric),
    "mapped": Way(_as(_mapped), _numeric),
    "objects": Way(_as(lambda t, _: t.values.astype(object)), _numeric),
    "list": Way(_as(lambda t, _: t.values.tolist()), _numeric),
    "nullable": Way(_as(_nullable)),
    "polars": Way(_as(_polars)),
    "polars-lazy": Way(_as(_polars_lazy)),
    "arrow": Way(_as(_arrow)),
    "arrow-chunked": Way(_as(_arrow_chunked)),
    "csc": Way(_as(partial(_sparse, "csc_array")), _numeric, is_sparse=True),
    "csr": Way(_as(partial(_sparse, "csr_matrix")), _numeric, is_sparse=True),
    "coo": Way(_as(partial(_sparse, "coo_array")), _numeric, is_sparse=True),
    "memory": Way(_in_memory, is_store=True),
    "roles": Way(_in_other_roles, is_store=True),
    "kept": Way(_kept, is_store=True),
    "rows": Way(_all_rows, is_store=True),
    "columns": Way(_of_more_columns, is_store=True),
    "disk": Way(_on_disk, is_store=True),
    "shards": Way(_in_shards, is_store=True),
    "url": Way(_at_a_url, is_store=True),
    "s3": Way(_at_s3, slow=True, is_store=True),
    "csv": Way(_from_file(_csv), is_store=True),
    "tsv": Way(_from_file(_tsv_packed), is_store=True),
    "transposed": Way(_from_file(_csv_transposed, transposed=True), is_store=True),
    "parquet": Way(_from_file(_parquet), is_store=True),
    "parquet-folder": Way(_from_file(_parquet_folder), is_store=True),
    "feather": Way(_from_file(_feather), is_store=True),
    "npy": Way(_npy, _numeric, is_store=True),
    "anndata": Way(_annotated_in_memory, _numeric, is_store=True),
    "h5ad": Way(_from_file(_h5ad), _numeric, is_store=True),
    "h5ad-sparse": Way(_from_file(_h5ad_sparse), _numeric, is_store=True),
    "zarr": Way(_from_file(_zarr, empty_chunks=True), _numeric, is_store=True),
    "threads": Way(_threads),
    "run": Way(_run),
    "heard": Way(_heard),
    "budget": Way(_budget, is_store=True),
    "blocks": Way(_small_blocks, is_store=True),
    "items": Way(_items),
    "processes": Way(_processes, slow=True, is_store=True),
    "workers": Way(_workers, slow=True),
}
