"""Decisions written to ``var`` of AnnData: in a file, in a folder, in an object; whole or not at all."""

from __future__ import annotations

import os
import warnings
from pathlib import Path
from typing import Any

import anndata
import h5py
import numpy as np
import pandas as pd
import pytest
import scipy.sparse
import zarr

import fernwood
from fernwood.errors import ParameterError, SourceError, StoreError
from fernwood.reduced import annotating
from tests.made_runs import made_result, made_run

GENES = [f"gene {i}" for i in range(12)]
NEW = ["decision", "reason", "selected", "score", "draws", "p", "q"]


def cells() -> anndata.AnnData:
    rng = np.random.default_rng(0)
    matrix = scipy.sparse.random_array((50, 12), density=0.4, format="csr", random_state=rng)
    obs = pd.DataFrame({"kind": np.resize(["a", "b"], 50), "age": rng.random(50)}, index=[f"c{i}" for i in range(50)])
    var = pd.DataFrame(
        {"length": rng.integers(1, 99, 12), "family": pd.Categorical(np.resize(["x", "y"], 12))}, index=GENES
    )
    return anndata.AnnData(scipy.sparse.csr_matrix(matrix), obs, var)


def written(path: Path) -> Path:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        adata = cells()
        adata.write_h5ad(path) if path.suffix == ".h5ad" else adata.write_zarr(path)
    return path


def read(path: Path) -> anndata.AnnData:
    return anndata.read_h5ad(path) if path.suffix == ".h5ad" else anndata.read_zarr(path)


@pytest.fixture(params=["t.h5ad", "t.zarr"])
def run_and_table(request: pytest.FixtureRequest, tmp_path: Path) -> tuple[Path, Path]:
    path = written(tmp_path / request.param)
    made_run(
        tmp_path / "r", path, ["gene 3", "gene 7"], ["gene 1"], target="kind", drop=["gene 11"], minimal=["gene 7"]
    )
    return tmp_path / "r", path


def assert_annotated(var: pd.DataFrame) -> None:
    assert var.columns.tolist() == ["length", "family", *(f"fernwood_{name}" for name in NEW)]
    decision = var["fernwood_decision"]
    assert decision.loc[["gene 3", "gene 7", "gene 1", "gene 0"]].tolist() == ["confirmed"] * 2 + [
        "tentative",
        "rejected",
    ]
    assert pd.isna(decision["gene 11"])
    assert var.index[var["fernwood_selected"]].tolist() == ["gene 7"]
    assert np.isnan(var["fernwood_p"]["gene 11"])
    assert var["fernwood_draws"].tolist() == [3] * 11 + [0]
    assert var["fernwood_p"]["gene 3"] < var["fernwood_p"]["gene 7"] < 1e-5


def test_a_file_or_folder_gets_columns_and_keeps_the_rest(run_and_table: tuple[Path, Path]) -> None:
    run, path = run_and_table
    before = read(path)
    assert fernwood.annotate(run, path) == 11
    after = read(path)
    assert_annotated(after.var)
    assert (after.X != before.X).nnz == 0
    pd.testing.assert_frame_equal(after.obs, before.obs)
    pd.testing.assert_frame_equal(after.var[["length", "family"]], before.var)
    assert [p.name for p in path.parent.iterdir() if p.name.startswith(".")] == []
    fernwood.annotate(run, path)  # again: the columns are replaced
    assert_annotated(read(path).var)
    fernwood.annotate(run, path, prefix="fw ")
    assert read(path).var["fw decision"].tolist()[:3] == ["rejected", "tentative", "rejected"]


def test_output_is_a_copy(run_and_table: tuple[Path, Path]) -> None:
    run, path = run_and_table
    copy = path.with_name(f"copy{path.suffix}")
    fernwood.annotate(run, path, copy)
    assert_annotated(read(copy).var)
    assert read(path).var.columns.tolist() == ["length", "family"]
    with pytest.raises(StoreError, match="exists|is a directory"):
        fernwood.annotate(run, path, copy)
    fernwood.annotate(run, path, copy, force=True)
    if path.is_dir():  # nothing is shared between the two
        inodes = {p.stat().st_ino for p in path.rglob("*") if p.is_file()}
        assert not inodes & {p.stat().st_ino for p in copy.rglob("*") if p.is_file()}
        (path.parent / "plain").mkdir()
        with pytest.raises(StoreError, match="is a directory"):
            fernwood.annotate(run, path, path.parent / "plain", force=True)


def test_a_failure_leaves_what_was_there(run_and_table: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch) -> None:
    run, path = run_and_table
    before = contents(path)
    real = annotating._write

    def fails(var: Any, columns: dict[str, Any]) -> None:
        real(var, dict(list(columns.items())[:3]))
        raise OSError(28, "no space")

    monkeypatch.setattr(annotating, "_write", fails)
    with pytest.raises(StoreError, match="cannot be written: No space left on device; free some space"):
        fernwood.annotate(run, path)
    assert contents(path) == before
    assert sorted(p.name for p in path.parent.iterdir()) == ["r", path.name]


def test_all_is_on_the_disk_before_it_has_its_name(
    run_and_table: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    run, path = run_and_table
    synced: set[int] = set()
    before_its_name: set[int] = set()
    sync, rename, replace = os.fsync, os.rename, os.replace

    def noted_sync(descriptor: int) -> None:
        sync(descriptor)
        synced.add(os.fstat(descriptor).st_ino)

    def noted(move: Any) -> Any:
        def moved(old: Any, new: Any) -> None:
            if Path(new) == path:
                before_its_name.update(synced)
            move(old, new)

        return moved

    monkeypatch.setattr(os, "fsync", noted_sync)
    monkeypatch.setattr(os, "rename", noted(rename))
    monkeypatch.setattr(os, "replace", noted(replace))
    fernwood.annotate(run, path)
    all_of_it = [path, *path.rglob("*")]
    assert [entry for entry in all_of_it if entry.stat().st_ino not in before_its_name] == []
    assert path.parent.stat().st_ino in synced  # and then the name itself
    assert_annotated(read(path).var)


def contents(path: Path) -> dict[str, bytes]:
    files = [path] if path.is_file() else [p for p in path.rglob("*") if p.is_file()]
    return {str(p): p.read_bytes() for p in files}


def test_an_object_is_changed_in_memory() -> None:
    adata = cells()
    result = made_result(
        fernwood.ingest(adata, target="kind", drop=["gene 11"]), ["gene 3", "gene 7"], ["gene 1"], minimal=["gene 7"]
    )
    assert fernwood.annotate(result, adata) == 11
    assert_annotated(adata.var)
    with pytest.raises(SourceError, match="is a view, which nothing can be written to"):
        fernwood.annotate(result, adata[:10])
    with pytest.raises(
        ParameterError, match="output is for files, and an AnnData object is changed in memory; leave it out"
    ):
        fernwood.annotate(result, adata, "t.h5ad")
    with pytest.raises(SourceError, match="a list has no var to write to"):
        fernwood.annotate(result, [1, 2])


def test_covariates_of_obs_are_no_columns_of_var() -> None:
    adata = cells()
    store = fernwood.ingest(adata, target="kind", given=["age"])
    result = made_result(store, ["gene 3"], parameters={"given": ["age"]})
    assert fernwood.annotate(result, adata) == 12


def test_another_table_is_refused(run_and_table: tuple[Path, Path], tmp_path: Path) -> None:
    run, path = run_and_table
    other = cells()[:, :9].copy()
    other.var_names = [name.replace("gene 3", "gene three") for name in other.var_names]
    other.write_h5ad(tmp_path / "other.h5ad")
    with pytest.raises(SourceError, match="column 'gene 3' of the run is not in var of 'other.h5ad'; did you mean"):
        fernwood.annotate(run, tmp_path / "other.h5ad")
    zarr.save_array(str(tmp_path / "a.zarr"), np.eye(3))
    with pytest.raises(SourceError, match="'a.zarr' is Zarr, but no AnnData: it has no var to write to"):
        fernwood.annotate(run, tmp_path / "a.zarr")
    with h5py.File(tmp_path / "a.h5", "w") as file:
        file["x"] = np.eye(3)
    with pytest.raises(SourceError, match="'a.h5' is no AnnData: it has no var"):
        fernwood.annotate(run, tmp_path / "a.h5")
    with pytest.raises(SourceError, match="there is no file"):
        fernwood.annotate(run, path.with_name("t.h5"))


@pytest.mark.filterwarnings("ignore:Variable names are not unique")
def test_names_that_were_mended_are_found(tmp_path: Path) -> None:
    adata = cells()
    adata.var_names = ["twice", "twice", *GENES[2:]]
    adata.write_h5ad(tmp_path / "t.h5ad")
    store = fernwood.ingest(tmp_path / "t.h5ad", target="kind", clean_names=True)
    assert fernwood.annotate(made_result(store, ["twice (2)"]), tmp_path / "t.h5ad") == 12
    found = anndata.read_h5ad(tmp_path / "t.h5ad").var["fernwood_decision"].tolist()
    assert found[:2] == ["rejected", "confirmed"]


def test_a_file_keeps_its_rights(tmp_path: Path) -> None:
    path = written(tmp_path / "t.h5ad")
    made_run(tmp_path / "r", path, ["gene 3"], target="kind")
    path.chmod(0o640)
    fernwood.annotate(tmp_path / "r", path)
    assert path.stat().st_mode & 0o777 == 0o640


def test_columns_that_are_no_list_are_refused_before_anything_is_copied(tmp_path: Path) -> None:
    result, path = made_result(fernwood.ingest(cells(), target="kind"), ["gene 3"]), written(tmp_path / "t.h5ad")
    with h5py.File(path, "r+") as file:
        file["var"].attrs["column-order"] = 5
    with pytest.raises(
        SourceError, match=r"'t.h5ad' is no AnnData that can be read \(.*not iterable\); write it again"
    ):
        fernwood.annotate(result, path, output=tmp_path / "new.h5ad")
    assert [file.name for file in tmp_path.iterdir()] == ["t.h5ad"]
