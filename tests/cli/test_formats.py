"""AnnData, HDF5 and Zarr on the command line: their options, their memory, and results that go back."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pandas as pd
import pytest
import scipy.sparse
import zarr

from fernwood.kernels.ready import ensure_compiled

anndata = pytest.importorskip("anndata", reason="anndata is not installed; pip install 'fernwood[h5ad]'")


@pytest.fixture(scope="session", autouse=True)
def _kernels_compiled() -> None:
    ensure_compiled("sparse")
    ensure_compiled("snowball")


def ok(done: Any) -> Any:
    assert done.code == 0, done.err
    return done


def bad(done: Any) -> Any:
    assert done.code == 2, done.err
    assert done.err.count("\n") == 1
    return done


@pytest.fixture
def cells(tmp_path: Path) -> Path:
    rng = np.random.default_rng(2)
    counts = np.where(rng.random((300, 60)) < 0.3, rng.poisson(4, (300, 60)), 0).astype(np.float32)
    kind = np.where(counts[:, 17] + counts[:, 31] > 1, "sick", "well")
    obs = pd.DataFrame({"kind": kind, "age": rng.random(300)}, index=[f"c{i}" for i in range(300)])
    adata = anndata.AnnData(scipy.sparse.csr_matrix(counts), obs, pd.DataFrame(index=[f"g{i}" for i in range(60)]))
    adata.layers["raw counts"] = adata.X * 2
    adata.write_h5ad(tmp_path / "cells.h5ad", compression="gzip")
    return tmp_path / "cells.h5ad"


def test_from_cells_to_their_var(run: Any, cells: Path, tmp_path: Path) -> None:
    ok(
        run(
            "select", "cells.h5ad", "--target", "kind", "--given", "age", "--out", "cells.run", "--seed", "1", "--quiet"
        )
    )
    done = ok(run("annotate", "cells.run", "cells.h5ad"))
    assert done.err == "cells.h5ad: 60 columns have a decision in var\n"
    var = anndata.read_h5ad(cells).var
    assert {"g17", "g31"} <= set(var.index[var["fernwood_decision"] == "confirmed"])
    ok(run("annotate", "cells.run", "cells.h5ad", "--output", "copy.h5ad", "--prefix", "fw_", "--quiet"))
    assert anndata.read_h5ad(tmp_path / "copy.h5ad").var["fw_q"]["g17"] < 0.1


def test_layers_and_data_sets(run: Any, cells: Path, tmp_path: Path) -> None:
    ok(run("ingest", "cells.h5ad", "--target", "kind", "--layer", "raw counts", "--out", "a.fern", "--quiet"))
    with h5py.File(tmp_path / "t.h5", "w") as file:
        file["a"], file["b"] = np.random.default_rng(0).random((2, 30, 5))
    ok(run("ingest", "t.h5", "--target", "0", "--dataset", "b", "--out", "b.fern", "--quiet"))
    refused = bad(run("ingest", "t.h5", "--target", "0", "--out", "c.fern"))
    assert refused.err.startswith("fernwood: 't.h5' holds 2 arrays of two dimensions; say which one is the table")
    array = zarr.create_array(tmp_path / "t.zarr", shape=(20, 4), chunks=(10, 2), dtype="f4")
    array[:10], array[10:, 1:] = 1, np.arange(30).reshape(10, 3)
    (tmp_path / "t.zarr" / "c/0/1").unlink()
    refused = bad(run("ingest", "t.zarr", "--target", "1", "--out", "d.fern"))
    assert "chunk 'c/0/1' of 't.zarr' is not there" in refused.err
    ok(run("ingest", "t.zarr", "--target", "1", "--out", "d.fern", "--empty-chunks", "--quiet"))


def test_bad_names_and_files(run: Any, cells: Path) -> None:
    refused = bad(run("ingest", "cells.h5ad", "--target", "kinds", "--out", "a.fern"))
    assert refused.err.endswith("; did you mean 'kind'?\n")
    refused = bad(run("ingest", "cells.h5ad", "--target", "kind", "--layer", "raw count", "--out", "a.fern"))
    assert refused.err == "fernwood: 'cells.h5ad' has no layer 'raw count'; did you mean 'raw counts'?\n"


def test_a_sparse_table_stays_inside_the_budget(run_fresh: Any, tmp_path: Path) -> None:
    """A dense copy would take 1.6 GB as doubles, and 800 MB in single precision."""
    rng = np.random.default_rng(1)
    matrix = scipy.sparse.random_array((2000, 100_000), density=0.01, format="csr", dtype=np.float32, random_state=rng)
    obs = pd.DataFrame({"y": np.resize(["a", "b"], 2000)}, index=[str(i) for i in range(2000)])
    names = pd.DataFrame(index=[f"g{i}" for i in range(100_000)])
    anndata.AnnData(scipy.sparse.csr_matrix(matrix), obs, names).write_h5ad(tmp_path / "t.h5ad")
    done = ok(run_fresh("ingest", "t.h5ad", "--target", "y", "--out", "t.fern", "--memory", "400MB", "--quiet"))
    assert done.peak <= 400e6
