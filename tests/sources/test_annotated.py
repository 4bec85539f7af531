"""AnnData: the same store from a file, a folder and an object, in every form; and what is refused."""

from __future__ import annotations

import shutil
import subprocess
import sys
import textwrap
import warnings
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pandas as pd
import pytest
import scipy.sparse
import zarr

import fernwood
from fernwood.errors import SourceError, TargetError
from fernwood.sources.annotated import _source_of
from fernwood.store import Store

anndata = pytest.importorskip("anndata", reason="anndata is not installed; pip install 'fernwood[h5ad]'")

ROWS, COLUMNS = 90, 40
RNG = np.random.default_rng(11)
COUNTS = np.where(RNG.random((ROWS, COLUMNS)) < 0.3, RNG.poisson(3, (ROWS, COLUMNS)), 0).astype(np.float32)
COUNTS[5, 7], COUNTS[8, 7] = np.nan, -2.5
NAMES = [f"gene {i}" for i in range(COLUMNS)]


def _described() -> pd.DataFrame:
    words = RNG.choice(["T", "B", "NK"], ROWS)
    return pd.DataFrame(
        {
            "cell_type": pd.Categorical(words),
            "donor": pd.Categorical(np.where(np.arange(ROWS) % 9 == 0, None, np.arange(ROWS) % 4)),
            "age": np.arange(ROWS) % 17 + 0.5,
            "treated": np.arange(ROWS) % 3 == 0,
            "batch": [f"b{i % 3}" for i in range(ROWS)],
            "reads": pd.array([None if i % 10 == 0 else i for i in range(ROWS)], "Int64"),
            "alive": pd.array([None if i % 7 == 0 else i % 2 == 0 for i in range(ROWS)], "boolean"),
        },
        index=[f"cell{i}" for i in range(ROWS)],
    )


DESCRIBED = _described()


def annotated(form: str) -> anndata.AnnData:
    matrix: Any = {
        "csr": scipy.sparse.csr_matrix,
        "csc": scipy.sparse.csc_matrix,
        "dense": np.array,
        "fortran": np.asfortranarray,
    }[form](COUNTS)
    adata = anndata.AnnData(matrix, DESCRIBED.copy(), pd.DataFrame(index=NAMES))
    adata.layers["double"] = matrix * 2
    return adata


def to_h5ad(adata: anndata.AnnData, folder: Path) -> Path:
    adata.write_h5ad(folder / "t.h5ad")
    return folder / "t.h5ad"


def to_gz(adata: anndata.AnnData, folder: Path) -> Path:
    adata.write_h5ad(folder / "t.h5ad", compression="gzip")
    return folder / "t.h5ad"


def to_zarr(version: int, *, shards: bool = False) -> Callable[[anndata.AnnData, Path], Path]:
    def write(adata: anndata.AnnData, folder: Path) -> Path:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # anndata says what will change about its defaults
            with anndata.settings.override(zarr_write_format=version, **({_SHARDS: shards} if shards else {})):
                adata.write_zarr(folder / "t.zarr")
        return folder / "t.zarr"

    return write


_SHARDS = "auto_shard_zarr_v3"
WRITERS = {"h5ad": to_h5ad, "gz": to_gz, "zarr2": to_zarr(2), "zarr3": to_zarr(3)}
if hasattr(anndata.settings, _SHARDS):  # the first releases of anndata 0.12 write none
    WRITERS["shards"] = to_zarr(3, shards=True)
OPTIONS: dict[str, Any] = {"target": "cell_type", "groups": "batch", "given": ["age", "donor", "treated"]}


@cache
def plain(*, double: bool = False) -> Store:
    """What the store must be, from a data frame that has everything."""
    frame = pd.DataFrame(COUNTS * 2 if double else COUNTS, columns=NAMES)
    obs = DESCRIBED.reset_index(drop=True)
    whole = pd.concat([frame, obs[["age", "donor", "treated"]]], axis=1)
    return fernwood.ingest(whole, target=obs["cell_type"], groups=obs["batch"])


FORMS = ("csr", "csc", "dense", "fortran")
ALIKE = {("gz", "csc"), ("gz", "dense"), *((writer, "fortran") for writer in WRITERS if writer != "h5ad")}
"""What takes the way of others: compression is HDF5's, and files are written in the order of rows."""


@pytest.mark.parametrize(
    ("writer", "form"),
    [
        pytest.param(writer, form, marks=pytest.mark.long if (writer, form) in ALIKE else ())
        for writer in WRITERS
        for form in FORMS
    ],
)
def test_every_form_gives_the_same_store(form: str, writer: str, tmp_path: Path) -> None:
    path = WRITERS[writer](annotated(form), tmp_path)
    store = fernwood.ingest(path, **OPTIONS)
    assert store.fingerprint == plain().fingerprint
    assert store.target is not None
    assert store.target.classes == ("B", "NK", "T")
    assert fernwood.ingest(path, layer="double", **OPTIONS).fingerprint == plain(double=True).fingerprint


@pytest.mark.parametrize("form", ["csr", "csc", "dense"])
def test_an_object_gives_the_same_store_in_memory_and_backed(form: str, tmp_path: Path) -> None:
    adata = annotated(form)
    assert fernwood.ingest(adata, **OPTIONS).fingerprint == plain().fingerprint
    assert fernwood.ingest(adata, layer="double", **OPTIONS).fingerprint == plain(double=True).fingerprint
    backed = anndata.read_h5ad(to_h5ad(adata, tmp_path), backed="r")
    try:
        assert fernwood.ingest(backed, **OPTIONS).fingerprint == plain().fingerprint
    finally:
        backed.file.close()
    view = adata[10:60, [3, 7, 9]]
    expected = fernwood.ingest(COUNTS[10:60][:, [3, 7, 9]], target=DESCRIBED.copy()["cell_type"][10:60])
    assert fernwood.ingest(view, target="cell_type").read([0, 1, 2]).tolist() == expected.read([0, 1, 2]).tolist()


def test_raw_is_a_layer_with_its_own_names(tmp_path: Path) -> None:
    adata = annotated("csr")
    adata.raw = adata
    small = adata[:, :10].copy()
    for table in (small, to_h5ad(small, tmp_path)):
        store = fernwood.ingest(table, target="cell_type", layer="raw")
        assert list(store.names) == NAMES
        assert fernwood.ingest(table, target="cell_type").n_columns == 10


def test_every_column_of_obs_is_read(tmp_path: Path) -> None:
    path = to_h5ad(annotated("csr"), tmp_path)
    store = fernwood.ingest(path, given=["donor", "reads", "alive", "treated", "batch"])
    assert store.labels("donor") == ["0", "1", "2", "3"]
    assert np.isnan(store.column("reads")[::10]).all()
    assert store.column("reads")[1:10].tolist() == list(range(1, 10))
    assert np.isnan(store.column("alive")[::7]).all()
    assert store.labels("batch") == ["b0", "b1", "b2"]
    for target, task in (("age", "regression"), ("treated", "classification"), ("batch", "classification")):
        found = fernwood.ingest(path, target=target).target
        assert found is not None
        assert found.task == task


def of_every_type() -> dict[str, Any]:
    """Columns of obs, each with a few values."""
    cycle = np.arange(ROWS) % 3
    gap = np.where(cycle == 0, None, cycle)
    return {
        "booleans": cycle == 0,
        "categories that are booleans": pd.Categorical(cycle == 0),
        "booleans with a gap": pd.Categorical(np.where(np.arange(ROWS) % 7 == 0, None, cycle == 0)),
        "categories that are whole floats": pd.Categorical(cycle.astype(float)),
        "categories that are floats": pd.Categorical(np.array([1e-7, 0.1, 1e20])[cycle]),
        "categories that are short floats": pd.Categorical(np.array([0.1, 2.5, 3], np.float32)[cycle]),
        "categories that are numbers": pd.Categorical(cycle * 10**17),
        "categories with a gap": pd.Categorical(gap),
        "categories in an order": pd.Categorical([f"b{i}" for i in cycle], ["b2", "b0", "b1"], ordered=True),
        "words": [f"b{i}" for i in cycle],
        "words of pandas": pd.array([None if i == 0 else f"b{i}" for i in cycle], "string"),
        "small numbers": cycle.astype(np.int8),
        "short floats": cycle.astype(np.float32) / 3,
        "numbers with a gap": pd.array([None if i == 0 else i for i in cycle], "Int64"),
        "floats with a gap": np.where(cycle == 0, np.nan, cycle / 3),
    }


@pytest.mark.parametrize("writer", ["h5ad", "zarr2"])
@pytest.mark.parametrize("name", of_every_type())
def test_a_column_of_obs_is_the_same_from_memory_and_from_a_file(tmp_path: Path, writer: str, name: str) -> None:
    adata = annotated("csr")
    adata.obs["it"] = of_every_type()[name]
    gap = adata.obs["it"].isna().any()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # anndata says what it will do about missing words
        path = WRITERS[writer](adata, tmp_path)
    here, there = (fernwood.ingest(table, given=["it"]) for table in (adata, path))
    assert here.fingerprint == there.fingerprint
    assert here.scales([COLUMNS])[0].labels == there.scales([COLUMNS])[0].labels
    frame = fernwood.ingest(adata.obs[["it"]])
    assert frame.scales([0])[0].labels == here.scales([COLUMNS])[0].labels
    assert frame.read([0]).tolist() == here.read([COLUMNS]).tolist()
    if not gap:
        here, there = (fernwood.ingest(table, target="it") for table in (adata, path))
        assert here.fingerprint == there.fingerprint
        assert here.target is not None
        assert there.target is not None
        assert here.target.classes == there.target.classes


def test_small_budgets_change_nothing(tmp_path: Path) -> None:
    rng = np.random.default_rng(3)
    matrix = scipy.sparse.random_array((800, 3000), density=0.2, format="csr", dtype=np.float32, random_state=rng)
    adata = anndata.AnnData(
        scipy.sparse.csr_matrix(matrix), pd.DataFrame({"y": np.arange(800) % 2}, index=map(str, range(800)))
    )
    path = to_gz(adata, tmp_path)
    whole = fernwood.ingest(matrix.toarray(), target=adata.obs["y"])
    for budget in ("48MB", "400MB"):
        store = fernwood.ingest(path, tmp_path / "t.fern", target="y", memory=budget, force=True)
        assert np.array_equal(store.read(np.arange(3000)), whole.read(np.arange(3000)))


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"target": "cell_typ"}, "there is no target 'cell_typ': neither .*; did you mean 'cell_type'?"),
        ({"target": "cell_type", "groups": "donors"}, "there are no groups 'donors'.*; did you mean 'donor'?"),
        (
            {"target": "cell_type", "given": ["agee"]},
            "the covariate 'agee' is no column of the table; did you mean 'age'",
        ),
        ({"target": "cell_type", "layer": "doubel"}, "has no layer 'doubel'; did you mean 'double'?"),
        ({"target": "cell_type", "layer": "raw"}, "has no layer 'raw'; it has 'double'"),
        ({"target": "cell_type", "dataset": "X"}, "dataset says which data set .*; leave it out"),
    ],
)
def test_names_that_are_not_there(tmp_path: Path, options: dict[str, Any], sentence: str) -> None:
    path = to_h5ad(annotated("csr"), tmp_path)
    for table in (path, annotated("csr")):
        with pytest.raises((SourceError, TargetError), match=sentence):
            fernwood.ingest(table, **options)


def test_a_file_without_x_names_its_layers(tmp_path: Path) -> None:
    adata = anndata.AnnData(obs=DESCRIBED.copy(), var=pd.DataFrame(index=NAMES), layers={"double": COUNTS})
    path = to_h5ad(adata, tmp_path)
    with pytest.raises(SourceError, match=r"'t.h5ad' has no X; name a layer with --layer \(layer=\); it has 'double'"):
        fernwood.ingest(path)
    with pytest.raises(SourceError, match="has no X; name a layer"):
        fernwood.ingest(adata)


@pytest.mark.parametrize("layer", [None, "X"])
def test_an_x_that_is_nothing_is_none(tmp_path: Path, layer: str | None) -> None:
    """As anndata 0.12.0 writes a table without X; it ended as an internal error."""
    path = to_h5ad(annotated("dense"), tmp_path)
    with h5py.File(path, "r+") as file:
        del file["X"]
        file["X"] = h5py.Empty("f4")
    with pytest.raises(SourceError, match="'t.h5ad' has no (X; name a layer|layer 'X')"):
        fernwood.ingest(path, layer=layer)


@pytest.mark.parametrize("libver", ["earliest", "latest"])
def test_a_file_that_is_open_for_writing_elsewhere(tmp_path: Path, libver: str) -> None:
    path = to_h5ad(annotated("csr"), tmp_path)
    holding = f"""
        import h5py, sys
        with h5py.File({str(path)!r}, "r+", libver={libver!r}) as file:
            print("open", flush=True)
            sys.stdin.readline()
    """
    with subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(holding)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as child:
        assert child.stdout is not None
        assert child.stdout.readline() == "open\n"
        with pytest.raises(SourceError, match="'t.h5ad' is open for writing elsewhere, .*; close it there, or give a"):
            fernwood.ingest(path, target="cell_type")
        child.communicate("\n")
    assert fernwood.ingest(path, target="cell_type").n_columns == COLUMNS


def test_a_file_that_was_never_closed(tmp_path: Path) -> None:
    path = to_h5ad(annotated("csr"), tmp_path)
    killed = f"import h5py, os; f = h5py.File({str(path)!r}, 'r+', libver='latest'); f['n'] = 1; f.flush(); os._exit(0)"
    subprocess.run([sys.executable, "-c", killed], check=True)
    with h5py.File(tmp_path / "other.h5", "w", libver="latest") as other:
        other["x"] = np.zeros((2, 2))
    killed = (
        f"import h5py, os; f = h5py.File({str(tmp_path / 'other.h5')!r}, 'r+', libver='latest'); f['n'] = 1; "
        "f.flush(); os._exit(0)"
    )
    subprocess.run([sys.executable, "-c", killed], check=True)
    with pytest.raises(SourceError, match="open for writing elsewhere, .* never closed is mended by h5clear"):
        fernwood.ingest(tmp_path / "other.h5")


def test_a_file_that_is_cut_off_or_something_else(tmp_path: Path) -> None:
    path = to_h5ad(annotated("csr"), tmp_path)
    whole = path.read_bytes()
    path.write_bytes(whole[: len(whole) // 2])
    with pytest.raises(SourceError, match="'t.h5ad' is cut off: it is shorter than it says; copy it again"):
        fernwood.ingest(path)
    path.write_bytes(b"gene,cell\n1,2\n")
    with pytest.raises(SourceError, match="'t.h5ad' is no HDF5 file; give one"):
        fernwood.ingest(path)


def test_names_that_stand_twice(tmp_path: Path) -> None:
    adata = annotated("csr")
    adata.var_names = ["twice", "twice", *NAMES[2:]]
    path = to_h5ad(adata, tmp_path)
    with pytest.raises(SourceError, match="the name 'twice' stands over column 0 and again over column 1"):
        fernwood.ingest(path, target="cell_type")
    assert fernwood.ingest(path, target="cell_type", clean_names=True).names[1] == "twice (2)"


def test_obs_and_var_of_another_length(tmp_path: Path) -> None:
    path = to_h5ad(annotated("csr"), tmp_path)
    with h5py.File(path, "r+") as file:
        del file["obs/age"]
        file["obs/age"] = np.arange(ROWS - 3.0)
        file["obs/age"].attrs.update({"encoding-type": "array", "encoding-version": "0.2.0"})
    with pytest.raises(SourceError, match="obs of 't.h5ad' has 87 rows and the table has 90; they must agree"):
        fernwood.ingest(path, target="age")
    with h5py.File(path, "r+") as file:
        file["X"].attrs["shape"] = [ROWS, COLUMNS + 2]
    with pytest.raises(SourceError, match="'X' in 't.h5ad' has 42 columns and var of 't.h5ad' has 40 names"):
        fernwood.ingest(path, target="cell_type")


def test_a_damaged_sparse_matrix(tmp_path: Path) -> None:
    path = to_h5ad(annotated("csr"), tmp_path)
    with h5py.File(path, "r+") as file:
        starts = file["X/indptr"][:]
        file["X/indptr"][4] = 10**6
    with pytest.raises(SourceError, match=r"the index \(indptr\) of 'X' in 't.h5ad' does not lead from 0 up to"):
        fernwood.ingest(path)
    with h5py.File(path, "r+") as file:
        file["X/indptr"][:] = starts
        file["X/indices"][17] = 4000
    with pytest.raises(SourceError, match="'X' in 't.h5ad' has a value in column 4000, and there are 40 columns"):
        fernwood.ingest(path)


@pytest.mark.parametrize("form", ["csr", "csc"])
@pytest.mark.parametrize("part", ["data", "indices", "indptr"])
def test_a_sparse_matrix_is_made_of_vectors(tmp_path: Path, form: str, part: str) -> None:
    path = to_h5ad(annotated(form), tmp_path)
    with h5py.File(path, "r+") as file:
        values = file["X"][part][:]
        del file["X"][part]
        file["X"][part] = np.stack([values, values], axis=1)
    what = "numbers" if part == "data" else "whole numbers"
    with pytest.raises(SourceError, match=f"{part} of 'X' in 't.h5ad' has 2 dimensions, and is a vector of {what}"):
        fernwood.ingest(path)
    if part != "data":
        with h5py.File(path, "r+") as file:
            del file["X"][part]
            file["X"][part] = values.astype("f4")
        with pytest.raises(
            SourceError, match=f"{part} of 'X' in 't.h5ad' has values of type 'float32', and is a vector"
        ):
            fernwood.ingest(path)


def test_a_matrix_of_a_form_that_is_not_known(tmp_path: Path) -> None:
    path = to_h5ad(annotated("csr"), tmp_path)
    with h5py.File(path, "r+") as file:
        file["X"].attrs["encoding-type"] = "coo_matrix"
    with pytest.raises(SourceError, match="the matrix of 't.h5ad' is of the form 'coo_matrix'; write it as an array"):
        fernwood.ingest(path)
    with h5py.File(path, "r+") as file:
        file["X"].attrs["h5sparse_format"] = "csr"
    with pytest.raises(SourceError, match="was written by an anndata before 0.7, whose form is not read; open it"):
        fernwood.ingest(path)


def test_a_matrix_that_is_elsewhere_is_brought_into_memory_first() -> None:
    class Elsewhere:
        """As an array of Dask: it has chunks, and must be computed."""

        chunks, shape, compute = ((3,), (2,)), (3, 2), None

    with pytest.raises(
        SourceError, match=r"the matrix of 't' is a Elsewhere; bring it into memory first \(adata.to_me"
    ):
        _source_of(Elsewhere(), "'t'")


def test_words_are_no_matrix(tmp_path: Path) -> None:
    adata = annotated("dense")
    path = to_h5ad(adata, tmp_path)
    with h5py.File(path, "r+") as file:
        del file["X"]
        file["X"] = np.full((ROWS, COLUMNS), b"word")
    with pytest.raises(SourceError, match="'X' in 't.h5ad' holds values of type .*, not real numbers"):
        fernwood.ingest(path)


@pytest.mark.parametrize("version", [2, 3])
@pytest.mark.parametrize("part", ["data", "indices", "indptr"])
def test_a_lost_chunk_of_a_sparse_matrix(tmp_path: Path, version: int, part: str) -> None:
    path = to_zarr(version)(annotated("csr"), tmp_path)
    chunk = path / "X" / part / ("0" if version == 2 else "c/0")
    chunk.unlink()
    with pytest.raises(SourceError, match=f"chunk .* of 'X/{part}' in 't.zarr' is not there, which Zarr reads as 0"):
        fernwood.ingest(path, target="cell_type")


@pytest.mark.parametrize("version", [2, 3])
def test_chunks_left_out_on_purpose(tmp_path: Path, version: int) -> None:
    """anndata writes no chunk of nothing but zeros; a matrix without values is whole all the same."""
    adata = annotated("dense")
    adata.X[:] = 0
    path = to_zarr(version)(adata, tmp_path)
    with pytest.raises(SourceError, match="is not there, which Zarr reads as 0.0; copy it again if it was lost, or, "):
        fernwood.ingest(path)
    assert fernwood.ingest(path, empty_chunks=True).n_columns == COLUMNS
    shutil.rmtree(path)
    adata.X = scipy.sparse.csr_matrix(adata.X)
    assert fernwood.ingest(to_zarr(version)(adata, tmp_path)).n_columns == COLUMNS


def test_without_anndata_the_extra_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = to_h5ad(annotated("csr"), tmp_path)
    monkeypatch.setitem(sys.modules, "anndata.io", None)
    with pytest.raises(SourceError, match=r"needs the library anndata, .*; pip install 'fernwood\[h5ad\]'"):
        fernwood.ingest(path)
    monkeypatch.setitem(sys.modules, "h5py", None)
    with pytest.raises(SourceError, match=r"needs the library h5py, .*; pip install 'fernwood\[h5ad\]'"):
        fernwood.ingest(path)  # the extra that brings both, and not first one and then the other
    with pytest.raises(SourceError, match=r"needs the library h5py, .*; pip install 'fernwood\[hdf5\]'"):
        fernwood.ingest(path.rename(path.with_suffix(".h5")))
    zarr.save_array(str(tmp_path / "a.zarr"), np.eye(3))
    monkeypatch.setitem(sys.modules, "zarr", None)
    with pytest.raises(SourceError, match=r"needs the library zarr, .*; pip install 'fernwood\[zarr\]'"):
        fernwood.ingest(tmp_path / "a.zarr")


def test_a_column_of_obs_that_is_neither_numbers_nor_words(tmp_path: Path) -> None:
    path = to_h5ad(annotated("csr"), tmp_path)
    with h5py.File(path, "r+") as file:
        obs = file["obs"]
        obs["waves"] = np.ones(ROWS, complex)
        obs["waves"].attrs.update({"encoding-type": "array", "encoding-version": "0.2.0"})
        obs.attrs["column-order"] = [*obs.attrs["column-order"], "waves"]
    sentence = "column 'waves' of obs is of type 'complex128', which is neither numbers, booleans nor text; convert it"
    with pytest.raises(SourceError, match=sentence):
        fernwood.ingest(path, target="waves")


def test_a_column_of_obs_has_one_role_and_a_name_of_its_own() -> None:
    adata = annotated("csr")
    with pytest.raises(TargetError, match="'batch' cannot be the groups and something else at once"):
        fernwood.ingest(adata, target="batch", groups="batch")
    adata.obs["gene 3"] = np.arange(ROWS)
    sentence = "the covariate 'gene 3' describes the rows and is a column of the table too; rename one"
    with pytest.raises(SourceError, match=sentence):
        fernwood.ingest(adata, target="batch", given=["gene 3"])


def test_a_file_of_another_name_is_known_by_what_it_holds(tmp_path: Path) -> None:
    path = to_h5ad(annotated("csr"), tmp_path).rename(tmp_path / "t.h5")
    assert fernwood.ingest(path, **OPTIONS).fingerprint == plain().fingerprint
    sentence = "'X' in 't.h5' has shape|has no data set 'X'"
    with pytest.raises(SourceError, match=sentence):  # a sparse matrix is a group
        fernwood.ingest(path, dataset="X")
