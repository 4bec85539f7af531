"""Random ferns: their speed beside a tree, and what they find in real Madelon, iris among noise, and null tables."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from benchmarks.run import Bench

Outcome = tuple[dict[str, Any], dict[str, bool]]

_FIRST_SEED = 200  # the seeds below were looked at while the method was made
_RULES = ("shadow", "max-shadow")


def ferns_speed(bench: Bench) -> Outcome:
    """One fern of depth 7 on 1000 x 500, with and without importance, beside an extra tree."""
    figures = json.loads(bench.script("ferns_speed.py", "tree", one_core=True).output)
    return figures, {
        "with importance ≤ 1/400 of a tree": figures["ferns_with_importance_a_tree"] >= 400,
        "without ≤ 1/2500 of a tree": figures["ferns_a_tree"] >= 2500,
    }


def ferns_threads(bench: Bench) -> Outcome:
    """Processor time of the same ferns with importance on one thread and on two."""
    figures = json.loads(bench.script("ferns_speed.py", "threads").output)
    return figures, {"CPU time ≤ 1.15 ×": figures["cpu_ratio"] <= 1.15}


def _found(bench: Bench, problem: str, rule: str, n_seeds: int, way: str = "sequential", *more: str) -> dict[str, Any]:
    return dict(
        json.loads(bench.script("ferns_found.py", problem, rule, way, str(_FIRST_SEED), str(n_seeds), *more).output)
    )


def _named(told: dict[str, dict[str, Any]]) -> dict[str, Any]:
    return {f"{which.replace('-', '_')}_{name}": value for which, of in told.items() for name, value in of.items()}


def ferns_madelon(bench: Bench) -> Outcome:
    """Real Madelon, 2000 x 500 with 20 relevant columns: both rules, sequential and blind."""
    told = {
        f"{rule}_{way}": _found(bench, "madelon", rule, 5, way) for rule in _RULES for way in ("sequential", "blind")
    }
    own = told["shadow_sequential"]
    return _named(told), {
        "20 of 20": own["found"] == own["relevant"],
        "others ≤ 2": own["most_others"] <= 2,
        "≤ 30 s": own["most_seconds"] <= 30,
    }


def ferns_iris(bench: Bench) -> Outcome:
    """Iris among 4996 and 1000 shuffled columns, ten seeds."""
    told = {problem: _found(bench, problem, "shadow", 10, "sequential", "300") for problem in ("iri", "iri2")}
    return _named(told), {
        f"{problem}: 4 of 4, others ≤ 1 on average": of["found"] == of["relevant"] and of["others"] <= of["n_seeds"]
        for problem, of in told.items()
    }


def ferns_null(bench: Bench) -> Outcome:
    """Golub and Singh with shuffled values, and Singh with shuffled labels: nothing is to be found."""
    told = {
        f"{problem}_{rule}": _found(bench, problem, rule, 10, "sequential", "100")
        for problem in ("rnd", "rnd2", "rnd3")
        for rule in _RULES
    }
    bars = {}
    for which, of in told.items():
        if which.endswith("max-shadow"):
            bars[f"{which}: others ≤ 5 on average"] = of["others"] <= 5 * of["n_seeds"]
        else:
            bars[f"{which}: any in ≤ 20 % of runs"] = of["runs_with_others"] <= 0.2 * of["n_seeds"]
    return _named(told), bars


def ferns_noise(bench: Bench) -> Outcome:
    """The error rate of the rule shadow on 200 rows of Gaussian noise, a hundred tables of 30 columns and of 300."""
    told = {
        problem: _found(bench, problem, "shadow", 100, "sequential", "200") for problem in ("noise-30", "noise-300")
    }
    return _named(told), {
        f"{problem}: others ≤ 0.1, mean share": of["others_share"] <= 0.1 for problem, of in told.items()
    }


def ferns_learners(bench: Bench) -> Outcome:
    """Ferns as the learner of random subspaces and of Boruta: real Madelon, iris among noise, and noise."""
    told = {
        f"{problem}_{way}": _found(bench, problem, "shadow", n_seeds, way)
        for problem, n_seeds, ways in (
            ("madelon", 5, ("subspace", "boruta", "fixed-shadows")),
            ("iri2", 5, ("subspace", "boruta", "fixed-shadows")),
            ("noise-300", 20, ("subspace", "fixed-shadows")),
        )
        for way in ways
    }
    return _named(told), {
        f"{which}: others ≤ 0.1, mean share": of["others_share"] <= 0.1
        for which, of in told.items()
        if not which.endswith("boruta")
    }


FERN_CASES = {
    "ferns-speed": ferns_speed,
    "ferns-threads": ferns_threads,
    "ferns-madelon": ferns_madelon,
    "ferns-iris": ferns_iris,
    "ferns-null": ferns_null,
    "ferns-noise": ferns_noise,
    "ferns-learners": ferns_learners,
}
