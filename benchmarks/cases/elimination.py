"""Randomized elimination: the paper's perceptron problems and data sets, and forward selection beside it."""

from __future__ import annotations

import json
from functools import partial
from typing import TYPE_CHECKING, Any

from benchmarks.eliminated import R_MAX, printed

if TYPE_CHECKING:
    from collections.abc import Callable

    from benchmarks.run import Bench

Outcome = tuple[dict[str, Any], dict[str, bool]]

_PROBLEMS = 20
_SCHEDULE = {"known": 5.512e9, "one": 1.215e10}
_PAPER_CALLS = {20: 123.8, 40: 151.3, 60: 169.0, 80: 172.3, 100: 184.1}


def _seven(bench: Bench, way: str, r_max: int = 0) -> dict[str, float]:
    return dict(json.loads(bench.script("elimination_seven.py", way, str(r_max), "0", str(_PROBLEMS)).output))


def _named(told: dict[str, dict[str, Any]]) -> dict[str, Any]:
    return {f"{which}_{name}": value for which, of in told.items() for name, value in of.items()}


def elim_seven(bench: Bench) -> Outcome:
    """Seven of ten among 100 bits, thermal perceptron, r known: the best steps, and one column at a time."""
    told = {way: _seven(bench, way) for way in _SCHEDULE}
    ratio = told["one"]["updates"] / told["known"]["updates"]
    figures = {**_named(told), **{f"{way}_schedule": cost / 1e9 for way, cost in _SCHEDULE.items()}, "ratio": ratio}
    # The schedule is about removals: the first training, with all columns, is not in it. Both readings are held to.
    bars = {
        f"{way}: {what} within 10 % of the schedule": abs(told[way][figure] / cost - 1) <= 0.1
        for way, cost in _SCHEDULE.items()
        for what, figure in (("updates", "updates"), ("updates of removals", "removal_updates"))
    }
    inputs = {f"{way}: 10.0 inputs": round(told[way]["inputs"], 1) == 10.0 for way in _SCHEDULE}
    return figures, {**bars, **inputs, "one at a time costs ≥ 2 ×": ratio >= 2}


def elim_unknown(bench: Bench, search: str) -> Outcome:
    """Seven of ten among 100 bits, thermal perceptron, r unknown, for five bounds."""
    told = {f"r{r_max}": _seven(bench, search, r_max) for r_max in _PAPER_CALLS}
    bars = {f"{which}: 9.5 to 10.8 inputs": 9.5 <= of["inputs"] <= 10.8 for which, of in told.items()}
    if search == "binary":
        spent = [of["updates"] for of in told.values()]
        bars["updates grow with r_max, as in Table 4"] = spent == sorted(spent)
    else:
        bars |= {
            f"r{r_max}: ≥ 25 % fewer calls than the paper": told[f"r{r_max}"]["calls"] <= 0.75 * calls
            for r_max, calls in _PAPER_CALLS.items()
        }
    paper = {f"r{r_max}_paper_calls": calls for r_max, calls in _PAPER_CALLS.items()}
    return {**_named(told), **paper}, bars


# Where all versions on all folds would take hours: how many runs, and which versions.
_LESS = {
    ("ads", "bayes"): (10, ("r100", "h100")),
    ("ads", "tree"): (1, ("e100", "h100")),
    ("mfeat", "tree"): (1, ("r50", "e50", "h50")),
    ("dna", "tree"): (2, ("r50", "e50", "k1", "h180", "filter")),
    ("led", "tree"): (3, ("r25", "e25", "h25")),
    ("optdigits", "tree"): (1, ("r25", "e25", "h25")),
}


def elim_set(bench: Bench, name: str, learner: str) -> Outcome:
    """A data set of the paper, by the protocol of its section 7.3; every search is held to the row of its r_max."""
    paper = printed(name, learner)
    divided = name in ("dna", "optdigits", "monks")
    n_runs, versions = _LESS.get((name, learner), (5 if divided else 10, ()))
    if not versions:
        early = (f"e{r_max}" for r_max in R_MAX[name])
        versions = (*(version for version in paper if version != "all"), *early, f"h{R_MAX[name][-1]}", "filter")
    told = bench.script("elimination_sets.py", name, learner, str(n_runs), *versions)
    figures = {"minutes": told.seconds / 60, **json.loads(told.output)}
    bars = {}
    for version in versions:
        row = paper.get(version if version[0] not in "he" else f"r{version[1:]}")
        if row is None:
            continue
        bars[f"{version}: error ≤ the paper's + its deviation"] = (
            figures[f"{version}_error"] <= row.error + row.deviation
        )
        bars[f"{version}: evaluations ≤ 1.5 × the paper's"] = figures[f"{version}_evals"] <= 1.5 * row.evals
    for version, row in paper.items():
        figures |= {f"{version}_paper_{key}": value for key, value in row._asdict().items()}
    return figures, bars


def elim_ads(bench: Bench) -> Outcome:
    """Internet ads, naive Bayes: elimination with r_max = 100 beside scikit-learn's forward selection, same run."""
    figures = json.loads(bench.script("elimination_ads.py", one_core=True).output)
    return figures, {
        "≥ 20 × less time": figures["times_less"] >= 20,
        "error no worse by more than 0.5 points": figures["binary_error"] <= figures["forward_error"] + 0.5,
        "error of halving no worse by more than 0.5 points": figures["halving_error"] <= figures["forward_error"] + 0.5,
    }


ELIMINATION_CASES: dict[str, Callable[[Bench], Outcome]] = {
    "elim-seven": elim_seven,
    "elim-unknown": partial(elim_unknown, search="binary"),
    "elim-halving": partial(elim_unknown, search="halving"),
    "elim-ads": elim_ads,
    **{
        f"elim-{name}-{learner}": partial(elim_set, name=name, learner=learner)
        for learner in ("bayes", "tree")
        for name in R_MAX
    },
}
