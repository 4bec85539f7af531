"""Targets, weights and groups are the same whichever form of a table they come with, and whatever type they have."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import fernwood
from fernwood.store import Store
from tests.differential.cases import both_parts

N_ROWS = 60
Make = Callable[[np.random.Generator], Any]

TARGETS: dict[str, Make] = {
    "text": lambda rng: rng.choice(["a", "b", "é"], N_ROWS),
    "booleans": lambda rng: rng.random(N_ROWS) < 0.5,
    "whole numbers": lambda rng: rng.integers(-1, 3, N_ROWS),
    "numbers": lambda rng: np.round(rng.standard_normal(N_ROWS), 3),
    "categories of text": lambda rng: pd.Categorical(rng.choice(["a", "b"], N_ROWS), ["b", "unused", "a"]),
    "categories of booleans": lambda rng: pd.Categorical(rng.random(N_ROWS) < 0.5),
    "categories of whole numbers": lambda rng: pd.Categorical(rng.integers(0, 3, N_ROWS)),
    "categories of numbers": lambda rng: pd.Categorical(rng.choice([0.5, 1.0, 2.0], N_ROWS)),
}


def _frame(values: np.ndarray, roles: pd.DataFrame, _: Path) -> Any:
    return pd.concat([pd.DataFrame(values).rename(columns=str), roles], axis=1)


def _polars(values: np.ndarray, roles: pd.DataFrame, folder: Path) -> Any:
    import polars as pl

    return pl.from_pandas(_frame(values, roles, folder))


def _parquet(values: np.ndarray, roles: pd.DataFrame, folder: Path) -> Any:
    _frame(values, roles, folder).to_parquet(folder / "t.parquet", index=False)
    return folder / "t.parquet"


def _annotated(values: np.ndarray, roles: pd.DataFrame, _: Path) -> Any:
    anndata = pytest.importorskip("anndata", reason="anndata is not installed; pip install 'fernwood[h5ad]'")
    names = pd.DataFrame(index=[str(i) for i in range(values.shape[1])])
    return anndata.AnnData(values, obs=roles.set_axis([f"row {i}" for i in range(N_ROWS)]), var=names)


def _h5ad(values: np.ndarray, roles: pd.DataFrame, folder: Path) -> Any:
    _annotated(values, roles, folder).write_h5ad(folder / "t.h5ad")
    return folder / "t.h5ad"


# polars and Parquet know categories of text alone: others become what they are categories of.
CASES = [
    (form, target)
    for form in ("polars", "parquet", "anndata", "h5ad")
    for target in TARGETS
    if form in ("anndata", "h5ad") or not target.startswith("categories") or target == "categories of text"
]
FORMS = {"polars": _polars, "parquet": _parquet, "anndata": _annotated, "h5ad": _h5ad}


def _said(store: Store) -> tuple[Any, ...]:
    assert store.target is not None
    target = store.target
    return target.task, list(target.classes), target.values.tolist(), store.weights, store.groups


@pytest.mark.parametrize(("seed", "form", "target"), both_parts(CASES))
def test_roles_of_every_type(seed: int, form: str, target: str, tmp_path: Path) -> None:
    rng = np.random.default_rng(seed)
    values = rng.standard_normal((N_ROWS, 5))
    roles = pd.DataFrame(
        {"y": TARGETS[target](rng), "w": rng.choice([0.0, 1.0, 2.5], N_ROWS), "g": rng.integers(0, 9, N_ROWS)}
    )
    how: dict[str, Any] = {"target": "y", "weights": "w", "groups": "g"}
    wanted = _said(fernwood.ingest(_frame(values, roles, tmp_path), **how))
    got = _said(fernwood.ingest(FORMS[form](values, roles, tmp_path), **how))
    assert got[:2] == wanted[:2]
    for one, other in zip(got[2:], wanted[2:], strict=True):
        np.testing.assert_array_equal(one, other)
