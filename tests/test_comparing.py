"""What changed from one result to another, on results made by hand."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import fernwood
from fernwood.comparing import compare, stability
from fernwood.errors import ParameterError
from fernwood.result import Result
from fernwood.saved import load_result, save_result
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
    assert [difference.said for difference in same_shape.differences] == [
        "values: 20 of 20 columns that both have hold others ('c0', 'c1', 'c2', …)"
    ]


# Everything in which two tables can differ, each by itself ------------------------------------------------------------

N = 30
CHANGES: dict[str, tuple[str, Any]] = {
    "a column dropped": ("columns", lambda data, roles: data.pop("c3")),
    "a column renamed": ("columns", lambda data, roles: data.update(new=data.pop("c4"))),
    "a column permuted": ("values", lambda data, roles: data.update(c7=np.roll(data["c7"], 1))),
    "a column in another unit": ("values", lambda data, roles: data.update(c7=data["c7"] * 2)),
    "a column with other labels": (
        "values",
        lambda data, roles: data.update(text=np.array(list("xyz"))[np.arange(N) % 3]),
    ),
    "a column of another kind": ("values", lambda data, roles: data.update(c8=data["c8"].astype(str))),
    "weights added": ("weights", lambda data, roles: roles.update(weights=np.arange(1.0, N + 1))),
    "weights taken away": ("weights", lambda data, roles: roles.update(weights=None)),
    "other weights": ("weights", lambda data, roles: roles.update(weights=2 * np.ones(N))),
    "groups added": ("groups", lambda data, roles: roles.update(groups=np.arange(N) // 3)),
    "other values of the target": ("target", lambda data, roles: roles.update(target=np.roll(roles["target"], 1))),
    "other labels of the target": (
        "target",
        lambda data, roles: roles.update(target=np.array(["a", "b"])[roles["target"]]),
    ),
    "another task": ("task", lambda data, roles: roles.update(target=roles["target"] + 0.5, task="regression")),
    "another order": ("order of columns", lambda data, roles: data.update(c0=data.pop("c0"))),
    "other covariates": ("given", lambda data, roles: roles.update(given=["c9"])),
}


def made(changes: list[str], weights: bool) -> Result:
    rng = np.random.default_rng(0)
    data: dict[str, Any] = {name: rng.integers(0, 9, N) for name in NAMES}
    data["text"] = np.array(list("abc"))[np.arange(N) % 3]
    roles: dict[str, Any] = {"target": np.arange(N) % 2, "weights": np.ones(N) if weights else None}
    for change in changes:
        CHANGES[change][1](data, roles)
    given = roles.pop("given", [])
    store = fernwood.ingest(pa.table({name: pa.array(values) for name, values in data.items()}), **roles)
    return made_result(store, ["c1"], parameters={"fdr": 0.1, "given": given})


def told(changes: list[str], tmp_path: Any = None) -> set[str]:
    """What is said to differ where only the table there is changed, and where only the one here is."""
    weights = any(change in ("weights taken away", "other weights") for change in changes)
    plain, changed = made([], weights), made(changes, weights)
    if tmp_path is not None:
        for number, one in enumerate((plain, changed)):
            (tmp_path / str(number)).mkdir()
            save_result(one, tmp_path / str(number))
        plain, changed = (load_result(tmp_path / str(number)) for number in range(2))
    found = [
        [difference.what for difference in compare(*pair).differences] for pair in ((plain, changed), (changed, plain))
    ]
    assert sorted(found[0]) == sorted(found[1])
    assert len(set(found[0])) == len(found[0])
    return set(found[0])


@pytest.mark.parametrize("change", CHANGES)
def test_every_difference_is_named(change: str, tmp_path: Any) -> None:
    assert told([change]) == {CHANGES[change][0]}
    assert told([change], tmp_path) == {CHANGES[change][0]}


def test_no_difference_hides_another() -> None:
    """All that go together, in pairs and all at once; order is told where the columns are the same."""
    apart = [
        *("a column dropped", "a column permuted", "weights added", "groups added"),
        *("other values of the target", "other covariates"),
    ]
    for one, other in combinations(apart, 2):
        assert told([one, other]) == {CHANGES[one][0], CHANGES[other][0]}, (one, other)
    assert told(apart) == {CHANGES[change][0] for change in apart}
    assert told([*apart[1:], "another order"]) == {CHANGES[change][0] for change in [*apart[1:], "another order"]}
    assert told(["a column dropped", "a column permuted", "another task"]) == {"columns", "values", "task"}


def test_a_column_dropped_another_permuted_and_weights_added() -> None:
    changes = compare(
        made([], weights=False), made(["a column dropped", "a column permuted", "weights added"], weights=False)
    )
    assert [difference.said for difference in changes.differences] == [
        "columns: 21 there, 20 here",
        "weights: none there, some here",
        "values: 1 of 20 columns that both have hold others ('c7')",
    ]


def test_other_rows_have_other_values_without_saying() -> None:
    fewer = made_result(table(n=20), ["c1"], parameters={"fdr": 0.1, "given": []})
    said = [difference.said for difference in compare(result(["c1"]), fewer).differences]
    assert said[0] == "rows: 30 there, 20 here"
    assert not [one for one in said if one.startswith(("values", "data"))]


def test_the_order_of_covariates_does_not_matter() -> None:
    there, here = (result(["c1"], parameters={"fdr": 0.1, "given": given}) for given in (["c2", "c3"], ["c3", "c2"]))
    assert compare(there, here).differences == []


def test_results_of_before_say_what_they_do_not_know() -> None:
    def older(one: Result) -> Result:
        return replace(one, contents=None, facts=replace(one.facts, roles={}))

    there, here = older(made([], weights=False)), made(["a column dropped", "weights added"], weights=False)
    assert [difference.what for difference in compare(there, here).differences] == ["columns", "data"]
    assert [
        difference.what for difference in compare(there, older(made(["weights added"], weights=False))).differences
    ] == ["data"]
    assert compare(there, older(made([], weights=False))).differences == []


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
