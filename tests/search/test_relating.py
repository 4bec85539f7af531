"""Partners, groups of columns, columns that give the target away, and what is said of all columns."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import fernwood
from fernwood.result import Result
from fernwood.saved import load_result, save_result
from fernwood.search.examining import Examiner
from fernwood.search.relating import _told_more, gives_away
from fernwood.search.rolling import select_by_snowball
from fernwood.search.sight import sight
from fernwood.search.snowball_settings import SnowballSettings


def search(x: object, y: object, **settings: object) -> Result:
    quick = SnowballSettings(**{"n_contexts": 64, "n_confirming": 64} | settings)
    return select_by_snowball(fernwood.ingest(x, target=y), quick, 0).result


@pytest.fixture(scope="module")
def tangled() -> Result:
    """An exclusive or of columns 3 and 9, column 20 by itself with a copy at 21, one turned around at 22."""
    rng = np.random.default_rng(0)
    x = rng.standard_normal((800, 100))
    x[:, 21], x[:, 22] = x[:, 20], -x[:, 20] + 0.05 * rng.standard_normal(800)
    y = 2 * ((x[:, 3] > 0) ^ (x[:, 9] > 0)) + (x[:, 20] > 0)
    return search(x, y.astype(int), max_contexts=400)


def test_partners_are_the_columns_beside_which_one_shows(tangled: Result) -> None:
    assert {3, 9, 20, 21, 22} <= set(tangled.confirmed.tolist())
    partners = tangled.relations.partners
    assert partners[3][0] == 9
    assert partners[9][0] == 3
    assert 20 not in partners


def test_copies_are_one_group(tangled: Result) -> None:
    assert [sorted(group) for group in tangled.relations.groups] == [[20, 21, 22]]
    table = tangled.to_table().to_pandas().set_index("column")
    assert table.loc[["x20", "x21", "x22"], "group"].tolist() == [1, 1, 1]
    assert np.isnan(table.loc["x3", "group"])
    assert table.loc["x3", "partners"][0] == "x9"
    assert set(table["p_from"]) == {"counted", "tail model"}
    assert (table["p"][table["p_from"] == "tail model"] <= 0.1).all()


def test_relations_are_kept_with_the_result(tangled: Result, tmp_path: Path) -> None:
    save_result(tangled, tmp_path)
    again = load_result(tmp_path)
    assert again.relations == tangled.relations
    assert (again.modelled == tangled.modelled).all()
    assert again.to_table().to_pylist() == tangled.to_table().to_pylist()
    assert again.summary()["partners"]["x3"] == tangled.summary()["partners"]["x3"]


def test_telling_more_is_a_difference_of_means() -> None:
    rng = np.random.default_rng(0)
    uses = (rng.random((60, 4)) < 0.4).astype(float)
    told = rng.random((4, 60))
    told[1] += 3 * uses[:, 2]
    more, clear = _told_more(told, uses)
    for j in range(4):
        for u in range(4):
            beside = uses[:, j] == 0
            with_it, without = beside & (uses[:, u] == 1), beside & (uses[:, u] == 0)
            if j != u:
                expected = told[j, with_it].mean() - told[j, without].mean()
                assert more[j, u] == pytest.approx(expected, abs=1e-6)
    assert np.argwhere(clear).tolist() == [[1, 2]]


@pytest.mark.parametrize("task", ["classification", "regression"])
def test_a_column_that_gives_the_target_away_is_found_and_said(task: str) -> None:
    rng = np.random.default_rng(2)
    x = rng.standard_normal((300, 40))
    y = x[:, 0] + 0.5 * rng.standard_normal(300)
    if task == "classification":
        y = (y > 0).astype(float)
    x[:, 5] = np.exp(-y) if task == "regression" else -y + 0.3 * rng.random(300)
    store = fernwood.ingest(x, target=y, task=task)
    result = select_by_snowball(store, SnowballSettings(n_contexts=16, max_contexts=0), 0).result
    assert {0, 5} <= set(result.confirmed.tolist())
    assert result.relations.giving_away == [5]
    assert any(said.startswith("'x5' gives the target away") for said in result.remarks())


@pytest.mark.parametrize("n_cuts", [1, 2, 4, 9])
def test_a_cut_of_a_numeric_target_does_not_give_it_away(n_cuts: int) -> None:
    """A column of so many bins of the target has its order, and leaves much of it open."""
    rng = np.random.default_rng(5)
    x, y = rng.standard_normal((600, 20)), rng.standard_normal(600)
    x[:, 4] = np.searchsorted(np.quantile(y, np.arange(1, n_cuts + 1) / (n_cuts + 1)), y)
    x[:, 9] = np.where(y < np.quantile(y, 0.03), y, 1.0)  # all of its codes but one are in the lowest rows
    result = search(x, y)
    assert 4 in result.confirmed
    assert result.relations.giving_away == []
    assert not any("gives the target away" in said for said in result.remarks())


@pytest.mark.filterwarnings("ignore:column")  # of what is seen when a store is made
@pytest.mark.parametrize("make", [np.log, np.negative, np.copy, lambda y: -np.exp(np.minimum(y, 40))])
@pytest.mark.parametrize("counts", [False, True])
def test_a_number_that_has_the_order_of_the_target_gives_it_away(
    make: Callable[[np.ndarray], np.ndarray], counts: bool
) -> None:
    """Also where the target has a long tail, or few values."""
    rng = np.random.default_rng(6)
    x, y = rng.standard_normal((600, 20)), np.exp(2 * rng.standard_normal(600)) + 1
    y = np.minimum(np.round(y), 30) if counts else np.minimum(y, 39)
    x[:, 4] = make(y)
    store = fernwood.ingest(x, target=y, task="regression")
    result = select_by_snowball(store, SnowballSettings(n_contexts=16, max_contexts=0), 0).result
    assert result.relations.giving_away == [4]
    assert any("such a column puts the rows in the target's order" in said for said in result.remarks())


def examined(x: object, y: object, task: str, found: list[int], weights: np.ndarray | None = None) -> list[int]:
    store = fernwood.ingest(x, target=y, task=task, weights=weights)
    at = sight(store, np.empty(0, np.int64), 0)
    return gives_away(Examiner(at.scorer, np.arange(store.n_columns), 1), at.ground, np.array(found)).tolist()


@pytest.mark.filterwarnings("ignore:column")
def test_a_class_that_is_rare_is_not_told_by_a_bin_that_it_shares() -> None:
    """Half of the rows of the highest value, four in a hundred, are cases: nothing else is known of them."""
    value = np.repeat([0.0, 1.0, 2.0], [480, 480, 40])
    case = (np.arange(1000) % 2 == 0) & (value == 2)
    assert examined(value[:, None], case, "classification", [0]) == []
    sure = value == 2
    assert examined(value[:, None], sure, "classification", [0]) == [0]
    # The cases that do not fit in weigh nothing, or next to nothing.
    assert examined(value[:, None], case, "classification", [0], np.where((value == 2) & ~case, 1e-3, 1.0)) == [0]


def test_bins_that_classes_share_leave_a_little_open() -> None:
    rng = np.random.default_rng(7)
    x = rng.standard_normal((1000, 3))
    stage = np.searchsorted([-0.7, 0.6], x[:, 1])
    assert examined(x, stage, "classification", [0, 1, 2]) == [1]
    stage[np.argsort(x[:, 1])[::100]] = 2
    assert examined(x, stage, "classification", [0, 1, 2]) == []


@pytest.mark.filterwarnings("ignore:column")
def test_categories_of_single_rows_say_nothing_of_their_class() -> None:
    y = np.arange(200) % 10 == 0
    names = np.where(np.arange(200) < 160, np.where(y, "case", "control"), "")
    names[160:] = [f"n{i}" for i in range(40)]
    frame = pd.DataFrame({"all": np.where(y, "case", "control"), "some": names})
    assert examined(frame, y, "classification", [0, 1]) == [0]


def test_all_columns_confirmed_is_said() -> None:
    rng = np.random.default_rng(3)
    y = rng.integers(0, 2, 200)
    result = search(rng.standard_normal((200, 6)) + 2 * y[:, None], y)
    assert len(result.confirmed) == 6
    assert result.remarks()[0].startswith("all 6 usable columns are confirmed")


def test_how_far_interactions_were_looked_for_is_said() -> None:
    rng = np.random.default_rng(4)
    x = rng.standard_normal((200, 60))
    nothing = search(x, np.arange(200) % 2)
    assert nothing.facts.exploration["contexts"] == 36  # three for every column that fits into one of five
    assert nothing.facts.exploration["degree"] == 2
    assert "would make that 95 %" in nothing.remarks()[-1]
    y = (x[:, :4].sum(axis=1) > 0).astype(int)
    enough = search(x, y)
    assert enough.facts.exploration["contexts"] == 0
    assert "were looked for beside columns found only" in enough.remarks()[-1]
