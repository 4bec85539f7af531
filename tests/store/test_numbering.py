"""A position means one column: the one that stands there in the table, whatever it is given for and wherever."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import anndata
import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import fernwood
from fernwood.errors import FernwoodError, SourceError, TargetError
from fernwood.search.conditions import given_positions
from fernwood.search.methods import settings_on
from fernwood.search.snowball_settings import SnowballSettings
from fernwood.store.memory import MemoryStore
from fernwood.store.roles import Roles
from fernwood.store.spilling import where_workers_see_it
from fernwood.store.view import ColumnView

N = 12
NAMES = ["y", "w", "g", *(f"c{i}" for i in range(3, N))]


def frame() -> pd.DataFrame:
    """A table in which a column is named by its position, but for its target, weights and groups."""
    rng = np.random.default_rng(0)
    table = pd.DataFrame(rng.standard_normal((60, N)), columns=NAMES)
    table["y"], table["w"], table["g"] = np.arange(60) % 2, 1.0 + np.arange(60) % 3, np.arange(60) // 2
    return table


WAYS: dict[str, dict[str, Any]] = {
    "nothing in a role": {},
    "a target": {"target": 0},
    "a target at the end": {"target": -1},
    "all roles by position": {"target": 0, "weights": 1, "groups": "2"},
    "all roles by name": {"target": "y", "weights": "w", "groups": "g"},
    "columns left out": {"target": 0, "drop": [3, "c7"]},
    "columns left out by pattern": {"target": "y", "drop": ["c1?", "w"]},
    "columns chosen": {"target": "y", "columns": ["c*", -12]},
    "columns chosen in another order": {"columns": [9, 5, "c3"]},
    "a target that is no column": {"target": np.arange(60) % 2, "drop": [0]},
}


@pytest.fixture(params=["memory", "disk"])
def made(request: pytest.FixtureRequest, tmp_path: Path) -> Callable[..., fernwood.Store]:
    def make(table: Any, **how: Any) -> fernwood.Store:
        out = tmp_path / "t.fern" if request.param == "disk" else None
        return fernwood.ingest(table, out, **how)

    return make


@pytest.mark.parametrize("way", WAYS)
def test_a_covariate_has_the_position_of_the_table(way: str, made: Callable[..., fernwood.Store]) -> None:
    store = made(frame(), **WAYS[way])
    kept = list(store.names)
    for position, name in enumerate(NAMES):
        for given in (position, position - N, str(position), str(position - N), np.int64(position)):
            if name in kept:
                assert [store.names[i] for i in given_positions(store, [given])] == [name]  # type: ignore[list-item]
            else:
                with pytest.raises(SourceError, match=f"column {given} of the table is not in the store"):
                    given_positions(store, [given])  # type: ignore[list-item]
    for given in (N, -N - 1, str(N)):
        with pytest.raises(SourceError, match=f"the covariate '{given}' is no column of the table"):
            given_positions(store, [given])


@pytest.mark.parametrize("view", ["rows", "roles", "columns", "spilled"])
def test_views_count_as_the_table_does(view: str) -> None:
    store = fernwood.ingest(frame(), target="y")
    if view == "spilled":
        with where_workers_see_it(store) as copy:
            assert copy.names[copy.stored_at(5) or 0] == "c5"
            assert copy.contents is not None
            assert store.contents is not None
            assert copy.contents.tolist() == store.contents.tolist()
        return
    seen = {
        "rows": store.rows(np.arange(30)),
        "roles": store.with_roles(Roles()),
        "columns": ColumnView(store, np.array([7, 4, 2])),
    }[view]
    assert seen.names[seen.stored_at(5) or 0] == "c5"
    assert seen.names[seen.stored_at(-7) or 0] == "c5"


def test_columns_that_ingest_leaves_out_by_itself() -> None:
    table = frame()
    table.insert(4, "text", [f"t{i}" for i in range(60)] * 1)
    many = pd.concat([table] * 5, ignore_index=True)
    many["text"] = [f"t{i}" for i in range(300)]
    store = fernwood.ingest(many, target="y", many_categories="drop")
    assert "text" not in list(store.names)
    assert store.names[store.stored_at(5) or 0] == "c4"
    with pytest.raises(SourceError, match="column 4 of the table is not in the store"):
        store.stored_at(4)


def test_what_stands_beside_the_table_has_a_name_and_no_position() -> None:
    cells = anndata.AnnData(np.random.default_rng(0).standard_normal((40, 3)))
    cells.var_names = ["a", "b", "c"]
    cells.obs["age"], cells.obs["ill"] = np.arange(40.0), np.arange(40) % 2
    store = fernwood.ingest(cells, target="ill", given=["age"])
    assert list(store.names) == ["a", "b", "c", "age"]
    assert [store.stored_at(i) for i in (0, 2, 3, -1, -3)] == [0, 2, None, 2, 0]
    assert given_positions(store, ["age", -1]).tolist() == [2, 3]


@pytest.mark.parametrize(
    ("how", "kind", "words"),
    [
        ({"target": 0, "given": [0]}, TargetError, "column 'y' cannot be the target and a covariate at once"),
        ({"target": "y", "weights": "w", "given": ["1"]}, TargetError, "column 'w' cannot be the weights and a"),
        (
            {"target": "y", "given": ["c5"], "drop": [5]},
            SourceError,
            "the covariate 'c5' is a column of the table that",
        ),
        (
            {"target": "y", "given": [-1], "columns": ["c3", "c4"]},
            SourceError,
            "the covariate 'c11' is a column of the",
        ),
        ({"target": "y", "given": ["1_0"]}, SourceError, "the covariate '1_0' is no column of the table"),
        ({"target": "1_0"}, TargetError, "there is no target '1_0'"),
        ({"target": "y", "weights": " 1"}, TargetError, "there are no weights ' 1'"),
        ({"target": "y", "groups": "+2"}, TargetError, "there are no groups '\\+2'"),
        ({"target": "y", "drop": ["1_0"]}, SourceError, "the column to drop '1_0' is no column"),
        ({"target": "y", "drop": True}, SourceError, "the column to drop 'True' is no column"),
        ({"target": "y", "columns": ["\uff13"]}, SourceError, "is no column of the table"),
        ({"target": 12}, TargetError, "there is no target at position 12; the table has 12 columns"),
    ],
)
def test_what_cannot_be_is_refused_when_the_store_is_made(how: Any, kind: type[FernwoodError], words: str) -> None:
    with pytest.raises(kind, match=words):
        fernwood.ingest(frame(), **how)


def test_a_single_position_is_a_list_of_one() -> None:
    assert list(fernwood.ingest(frame(), columns=5).names) == ["c5"]
    assert "c5" not in list(fernwood.ingest(frame(), drop=np.int64(5)).names)


def older(store: fernwood.Store) -> MemoryStore:
    """The store as it was made before positions were kept."""
    every = np.arange(store.n_columns)
    records = store._records(every).drop_columns(["position", "from_end", "content"])
    return MemoryStore(store.read(every), records, store.roles, store.fingerprint, [])


def test_a_store_that_does_not_know_its_table_takes_names() -> None:
    store = older(fernwood.ingest(frame(), target="y"))
    assert given_positions(store, ["c5", "c1*"]).tolist() == [4, 9, 10]
    with pytest.raises(
        SourceError, match="the store does not say where its columns stood in the table, so that position 1"
    ):
        given_positions(store, [1])
    assert store.contents is None
    with where_workers_see_it(store) as copy, pytest.raises(SourceError, match="give the name"):
        copy.stored_at(-1)


def test_a_number_that_was_a_name_in_the_table_is_no_position() -> None:
    """Columns named from 1 on: what stands at position 1 is named 2."""
    table = pa.table({str(i): pa.array(np.random.default_rng(i).random(20)) for i in range(1, 6)})
    store = fernwood.ingest(table, target="1", drop=["3"])
    assert store.names[int(given_positions(store, ["2"])[0])] == "2"
    for gone in ("1", "3", "0"):
        with pytest.raises(
            SourceError, match=f"the covariate '{gone}' is not a column of the store, whose columns have"
        ):
            given_positions(store, [gone])
    assert store.names[int(given_positions(store, [1])[0])] == "2"  # a number by type is a position


def test_runs_keep_names_and_not_positions() -> None:
    store = fernwood.ingest(frame(), target="y", drop=[4])
    settings = settings_on(store, SnowballSettings(given=[-1, "3", "c1*"]))
    assert settings.given == ("c3", "c10", "c11")  # type: ignore[union-attr]
    assert settings_on(store, settings) == settings
