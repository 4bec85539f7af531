"""The decisions of a run, written back to where the table came from: as columns of ``var`` of AnnData."""

from __future__ import annotations

import os
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from fernwood.errors import ParameterError, SourceError, shown
from fernwood.files import (
    FileWriter,
    appearing_directory,
    copy_into,
    copy_tree,
    entries_of,
    is_directory,
    replaced_file,
    sync_tree,
)
from fernwood.reduced.writing import check_new, said_of_disk
from fernwood.saved import load_result
from fernwood.sources import check_path
from fernwood.sources.annotated import column_order, var_names
from fernwood.sources.containers import needed
from fernwood.sources.hdf5 import Hdf5File
from fernwood.sources.names import ListedNames, clean_names
from fernwood.sources.zarr_arrays import ZarrFolder
from fernwood.sources.zarr_marks import is_annotated_zarr, is_zarr

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from fernwood.result import Result
    from fernwood.sources.containers import Container

__all__ = ["annotate"]


def annotate(
    result: Result | str | os.PathLike[str],
    table: Any,
    output: str | os.PathLike[str] | None = None,
    *,
    prefix: str = "fernwood_",
    force: bool = False,
) -> int:
    """Write the decisions of a run to ``var`` of the AnnData that the run was made of; columns match by their names.

    Parameters
    ----------
    result
        What a search found (``selector.result_``), or the directory of a run.
    table
        An AnnData object, which is changed in memory; or the path of an ``.h5ad`` file or of a Zarr folder, which is
        replaced by a copy with the new columns: a reader sees the old one or the new one, whole.
    output
        Of a file or folder: where to write a copy to, instead of replacing it.
    prefix
        What the names of the new columns begin with; columns of such names are replaced.
    force
        Whether an `output` that is there gives way.

    Returns
    -------
    int
        How many columns of the table have a decision.

    Notes
    -----
    The new columns are ``fernwood_decision`` and ``fernwood_reason`` (categories), ``fernwood_selected``,
    ``fernwood_score``, ``fernwood_draws``, and ``fernwood_p`` and ``fernwood_q`` where the search tests. What the run
    did not look at, because it was left out, has no decision, no score and no draws.

    Examples
    --------
    >>> import anndata, fernwood, numpy as np
    >>> rng = np.random.default_rng(0)
    >>> cells = anndata.AnnData(rng.standard_normal((200, 4)))
    >>> cells.var_names = ["a", "b", "c", "d"]
    >>> cells.obs["dose"] = cells.X[:, 2] > 0
    >>> store = fernwood.ingest(cells, target="dose")
    >>> found = fernwood.SnowballSelector(random_state=0, progress=False).fit(store)
    >>> fernwood.annotate(found.result_, cells)
    4
    >>> cells.var["fernwood_decision"].tolist()
    ['rejected', 'rejected', 'confirmed', 'rejected']
    """
    found = load_result(Path(result)) if isinstance(result, str | os.PathLike) else result
    if not isinstance(table, str | os.PathLike):
        if output is not None:
            raise ParameterError("output is for files, and an AnnData object is changed in memory; leave it out")
        return _annotate_object(found, table, prefix)
    path = Path(table)
    check_path(path)
    out = path if output is None else Path(output)
    if output is not None and not (is_directory(path) and force and is_annotated_zarr(out)):
        check_new(out, force=force)
    if is_directory(path) and not is_annotated_zarr(path):
        what = "Zarr, but no AnnData" if is_zarr(path) else "a folder, and no Zarr"
        raise SourceError(
            f"{shown(path.name)} is {what}: it has no var to write to; give an .h5ad file or an AnnData .zarr folder"
        )
    container: Container = ZarrFolder(path) if is_directory(path) else Hdf5File(path, extra="h5ad")
    # What stands in the way is said before anything is copied.
    columns, n_found = _columns_of(found, var_names(container), container.title, prefix)
    with said_of_disk(shown(out)), (_copied_folder if is_directory(path) else _copied_file)(container, out) as root:
        _write(root["var"], columns)
    return n_found


def _annotate_object(result: Result, adata: Any, prefix: str) -> int:
    needed("anndata", "h5ad", "writing to AnnData")
    if not hasattr(adata, "var_names") or not hasattr(adata, "var"):
        raise SourceError(f"a {type(adata).__name__} has no var to write to; give an AnnData object, or a path")
    if getattr(adata, "is_view", False):
        raise SourceError("the AnnData object is a view, which nothing can be written to; make a copy (adata.copy())")
    names = pa.array([str(name) for name in adata.var_names], pa.large_string())
    columns, n_found = _columns_of(result, names, "the AnnData object", prefix)
    for name, values in columns.items():
        adata.var[name] = values
    return n_found


def _columns_of(result: Result, names: pa.Array, title: str, prefix: str) -> tuple[dict[str, Any], int]:
    """The new columns of ``var``, and how many of its rows have a decision."""
    place = _places(result, names, title)
    known = np.flatnonzero(place >= 0)
    table = result.to_table(place[known])

    def numbers(column: str, rest: float) -> NDArray[Any]:
        values = table.column(column).to_numpy()
        return _spread(values, known, len(place), np.asarray(rest, values.dtype))

    columns = {
        "decision": _categories(table.column("decision"), known, len(place)),
        "reason": _categories(table.column("reason"), known, len(place)),
        "selected": np.isin(place, result.selected),
        "score": numbers("score", np.nan),
        "draws": numbers("draws", 0),
    }
    columns |= {name: numbers(name, np.nan) for name in ("p", "q") if name in table.column_names}
    return {f"{prefix}{name}": values for name, values in columns.items()}, len(known)


def _places(result: Result, names: pa.Array, title: str) -> NDArray[np.int64]:
    """Where the run has the columns of these names; -1 for those that it does not have."""
    # Ingest may have mended names; one that needed no mending stays as it is.
    mended = pa.concat_arrays([run for _, run in clean_names(ListedNames(names)).runs()])
    ours = pa.concat_arrays([run for _, run in result.names.runs()]).cast(pa.large_string())
    found = pc.index_in(mended, value_set=ours)
    lost = pc.is_null(pc.index_in(ours, value_set=mended)).to_numpy(zero_copy_only=False)
    covariates = {str(name) for name in result.facts.parameters.get("given") or ()}
    for position in np.flatnonzero(lost).tolist():
        name = str(ours[position])
        if name not in covariates:  # one of obs is a column of the run, and none of var
            raise SourceError(
                f"column {shown(name)} of the run is not in var of {title}{ListedNames(mended).nearest(name)}; give "
                "the AnnData that the run was made of"
            )
    return np.asarray(pc.fill_null(found, -1), np.int64)


def _spread(values: NDArray[Any], places: NDArray[np.int64], n: int, rest: Any) -> NDArray[Any]:
    out = np.full(n, rest)
    out[places] = values
    return out


def _categories(column: pa.ChunkedArray, places: NDArray[np.int64], n: int) -> Any:
    """Words as categories, those in use; what has none is missing."""
    pandas = needed("pandas", "h5ad", "writing to AnnData")
    plain = column.combine_chunks().cast(pa.string()).dictionary_encode()
    codes = _spread(plain.indices.to_numpy(), places, n, np.int32(-1))
    return pandas.Categorical.from_codes(codes, plain.dictionary.to_pylist())


def _write(var: Any, columns: dict[str, Any]) -> None:
    """Write columns into a data frame of a file, and say that they are there."""
    write = needed("anndata.io", "h5ad", "writing to AnnData").write_elem
    before = column_order(var)
    for name, values in columns.items():
        write(var, name, values)
    var.attrs["column-order"] = before + [name for name in columns if name not in before]


@contextmanager
def _copied_file(container: Container, out: Path) -> Iterator[Any]:
    """A copy of a file, open for writing, that takes the place of `out` when the block ends well."""
    h5py = needed("h5py", "h5ad", "writing to AnnData")
    with replaced_file(out) as copy:
        copy_into(container.path, copy)
        with h5py.File(copy.path, "r+") as root:
            yield root


@contextmanager
def _copied_folder(container: Container, out: Path) -> Iterator[Any]:
    """The same of a Zarr folder; one that replaces itself keeps its files but those of var, by links."""
    zarr = needed("zarr", "zarr", "writing to AnnData")
    with appearing_directory(out, replace=True) as staging:
        for entry in sorted(entries_of(container.path)):
            if is_directory(entry):
                # The new columns go into var: its own files must not be those of the old folder.
                copy_tree(entry, staging / entry.name, linked=out == container.path and entry.name != "var")
            else:
                with FileWriter(staging / entry.name, sync=False) as copy:
                    copy_into(entry, copy)
        consolidated = zarr.open_group(str(staging), mode="r").metadata.consolidated_metadata is not None
        yield zarr.open_group(str(staging), mode="r+", use_consolidated=False)
        if consolidated:
            zarr.consolidate_metadata(str(staging))
        sync_tree(staging)  # what others wrote is on the disk before it has its name
