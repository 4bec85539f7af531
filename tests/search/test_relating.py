"""Partners, groups of columns, columns that give the target away, and what is said of all columns."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import fernwood
from fernwood.result import Result
from fernwood.saved import load_result, save_result
from fernwood.search.relating import _told_more
from fernwood.search.rolling import select_by_snowball
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
