"""What changed from one result to another, on results made by hand."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import fernwood
from fernwood.comparing import compare, stability
from fernwood.errors import ParameterError
from fernwood.result import Result
from tests.made_runs import made_result

NAMES = [f"c{i}" for i in range(20)]


def table(names: list[str] = NAMES, n: int = 30, seed: int = 0) -> Any:
    rng = np.random.default_rng(seed)
    columns = {name: pa.array(rng.integers(0, 9, n)) for name in names}
    return fernwood.ingest(pa.table(columns), target=np.arange(n) % 2)


STORE = table()


def result(confirmed: list[str], tentative: list[str] = [], **how: Any) -> Result:  # noqa: B006
    return made_result(how.pop("store", STORE), confirmed, tentative, **how)


def test_equal_runs() -> None:
    one = result(["c1", "c2"], ["c3"])
    changes = compare(one, result(["c1", "c2"], ["c3"]))
    assert (changes.differences, changes.gained, changes.lost, changes.moved) == ([], [], [], [])
    assert changes.why == "the same data, method, parameters and seed"
    assert (changes.jaccard, changes.n_both, changes.rank_agreement) == (1.0, 2, pytest.approx(1.0))
    assert (changes.n_top, changes.n_top_both) == (10, 10)


def test_another_seed_and_no_other_decision() -> None:
    changes = compare(result(["c1", "c2"], ["c3"]), result(["c1", "c2"], ["c3"], seed=7))
    assert changes.why == "only the seed differs, and no decision depends on it"


def test_what_changed_and_how_near_it_was() -> None:
    there = result(["c1", "c2", "c3"], ["c5"], q={"c3": 0.09})
    here = result(["c4", "c1", "c2"], ["c3", "c6"], q={"c3": 0.12}, seed=7)
    changes = compare(there, here)
    assert changes.why == "only the seed differs: what changed is what chance decided"
    assert [change.column for change in changes.gained] == ["c4"]
    assert [change.column for change in changes.lost] == ["c3"]
    assert changes.lost[0].said == "q 0.09 there, 0.12 here, at a rate of 0.1: near it in both"
    assert changes.gained[0].said == "q 0.9 there, 0.001 here, at a rate of 0.1"
    assert changes.lost[0].there is not None
    assert (changes.lost[0].there.decision, changes.lost[0].there.rank) == ("confirmed", 3)
    assert [(c.column, c.there and c.there.decision, c.here and c.here.decision) for c in changes.moved] == [
        ("c5", "tentative", "rejected"),
        ("c6", "rejected", "tentative"),
    ]
    assert changes.jaccard == 2 / 4


def test_the_parameters_that_differ_are_named() -> None:
    there = result(["c1"], parameters={"fdr": 0.1, "max_waves": 12, "given": []})
    here = result(["c1"], parameters={"fdr": 0.05, "max_waves": 12, "given": ["c9"]}, seed=3)
    said = [difference.said for difference in compare(there, here).differences]
    assert said == ["fdr: 0.1 there, 0.05 here", "given: [] there, ['c9'] here", "seed: 0 there, 3 here"]
    other = result(["c1"], method="boruta", parameters={"alpha": 0.05, "fdr": 0.1}, versions={"numpy": "2.0"})
    found = compare(there, other).differences
    assert [difference.what for difference in found] == ["method", "version of numpy"]
    assert found[1].said == "numpy: None there, '2.0' here"


def test_a_run_that_stopped_early() -> None:
    changes = compare(result(["c1"]), result([], n_draws=2))
    assert [difference.said for difference in changes.differences] == ["the run here stopped after 2 of 5 waves"]
    assert changes.jaccard == 0.0
    assert compare(result([]), result([])).jaccard == 1.0


def test_other_data() -> None:
    here = table(["z0", *NAMES[5:], "z1"], n=40)
    changes = compare(result(["c1", "c7", "c8"]), result(["c8", "z1"], store=here))
    assert [difference.said for difference in changes.differences] == [
        "rows: 30 there, 40 here",
        "columns: 20 there, 17 here",
    ]
    assert changes.only_there == (5, ["c0", "c1", "c2", "c3", "c4"])
    assert changes.only_here == (2, ["z0", "z1"])
    assert [(c.column, c.said) for c in changes.lost] == [
        ("c1", "not in the table here"),
        ("c7", "q 0.001 there, 0.9 here, at a rate of 0.1"),
    ]
    assert [(c.column, c.said) for c in changes.gained] == [("z1", "not in the table there")]
    assert (changes.n_both, changes.jaccard) == (1, 1 / 4)
    same_shape = compare(result(["c1"]), result(["c1"], store=table(seed=1)))
    assert [difference.what for difference in same_shape.differences] == ["data"]


def test_the_few_that_suffice() -> None:
    changes = compare(result(["c1", "c2"]), result(["c1", "c2"], minimal=["c2"]))
    assert [(c.column, c.said) for c in changes.lost] == [
        ("c1", "confirmed in both; of the few that suffice only there")
    ]
    assert changes.n_here == 1


def test_methods_without_tests() -> None:
    def untested(confirmed: list[str], won: int) -> Result:
        made = result(confirmed, method="boruta", against="best shadow")
        return replace(made, p=None, q=None, modelled=None, wins=np.full(20, won, np.int32))

    changes = compare(untested(["c1"], 3), untested([], 1))
    assert changes.lost[0].said == "above the best shadow in 100 % there, above the best shadow in 33 % here"
    scored = replace(untested([], 0), facts=replace(untested([], 0).facts, against=""))
    assert compare(untested(["c1"], 3), scored).lost[0].said.endswith("there, score 0.0969 here")


def test_the_order_of_columns_does_not_matter() -> None:
    turned = table(NAMES[::-1])
    changes = compare(result(["c1", "c2"], ["c3"]), result(["c1", "c2"], ["c3"], store=turned))
    assert (changes.gained, changes.lost, changes.moved, changes.jaccard) == ([], [], [], 1.0)
    assert changes.only_there == (0, [])


def test_ranks_agree_or_not() -> None:
    there = result(NAMES)
    assert compare(there, result(NAMES)).rank_agreement == pytest.approx(1)
    backwards = compare(there, result(NAMES[::-1]))
    assert backwards.rank_agreement == pytest.approx(-1)
    assert (backwards.n_top, backwards.n_top_both) == (20, 20)


def test_stability_of_many() -> None:
    told = stability([result(["c1", "c2"]), result(["c2", "c1"], seed=1), result(["c2", "c3"], seed=2)])
    assert told.often == {"c2": 3, "c1": 2, "c3": 1}
    assert (told.n_runs, told.n_always, told.n_selected, told.differs) == (3, 1, [2, 2, 2], ["seed"])
    assert told.jaccard == pytest.approx((1 + 1 / 3 + 1 / 3) / 3)
    with pytest.raises(ParameterError, match="give two or more"):
        stability([result(["c1"])])
