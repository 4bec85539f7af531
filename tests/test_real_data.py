"""Real tables go in whole and come back within their bins."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest

import fernwood
from tests.real_data import data_file

TABLES = {
    "madelon": (2600, 500, (-1, 1)),
    "golub_leukemia": (72, 7129, (0, 1)),
    "singh_prostate_12600": (102, 12600, (0, 1)),
    "internet_ads": (3279, 1558, (0, 1)),
    "mfeat_pix": (2000, 240, tuple(range(10))),
    "dna_splice": (3186, 180, (0, 1, 2)),
    "optdigits": (5620, 64, tuple(range(10))),
    "soybean_large": (683, 35, tuple(range(19))),
    "sick_euthyroid": (3163, 25, (0, 1)),
    "monks2_onehot": (601, 17, (0, 1)),
}


@pytest.mark.parametrize("name", TABLES)
def test_a_real_table(name: str, tmp_path: Path) -> None:
    path = data_file(f"{name}.parquet")
    n_rows, n_columns, classes = TABLES[name]
    source = pq.read_table(path)
    drop = ["split"] if "split" in source.column_names else None
    store = fernwood.ingest(path, tmp_path / "s.fern", target="target", drop=drop)
    store.verify()
    assert (store.n_rows, store.n_columns) == (n_rows, n_columns)
    assert store.target is not None
    assert store.target.classes == classes
    # Every value lies between the thresholds of its code; exact columns come back to the digit.
    exact = store._numbers("exact", np.bool_)
    for i in np.linspace(0, n_columns - 1, 60).astype(int).tolist():
        values = source.column(store.names[i]).to_numpy().astype(float)
        present = ~np.isnan(values)
        codes = store.read([i])[0]
        assert (codes[~present] == 255).all()
        if exact[i]:
            np.testing.assert_array_equal(store.column(i), values)
        bounds = np.concatenate(([-np.inf], store.thresholds(i), [np.inf]))
        assert (bounds[codes[present]] < values[present]).all()
        assert (values[present] <= bounds[codes[present].astype(int) + 1]).all()


def test_names_with_slashes_are_kept() -> None:
    store = fernwood.ingest(data_file("golub_leukemia.parquet"), target="target", drop=["split"])
    assert store.names.find("AFFX-HUMISGF3A/M97935_5_at") is not None


def test_constant_columns_are_marked() -> None:
    store = fernwood.ingest(data_file("optdigits.parquet"), target="target", drop=["split"])
    assert np.count_nonzero(~store.usable) == 2
