"""Results to show, made by hand: any width, any names, any outcome."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from fernwood.course import Course, Sample
from fernwood.insight import Comparison, History, Insight, Profile
from fernwood.relations import Relations
from fernwood.relevance.decision import Decision, Verdicts
from fernwood.result import Facts, Result
from fernwood.sources.names import ListedNames, NumberedNames

HOSTILE = "<img src=x onerror=alert(1)>"
NAMES = [
    HOSTILE,
    "</script><script>alert(2)</script>",
    "حمض نووي",
    "gène 🧬 👩‍🔬",
    "a" * 10_000,
    "new\nline\ttab \x00 nul \u202e turned",
    "$x_1^2$ & \"quotes\" 'single' `back` {{ 7 * 7 }}",
    "=HYPERLINK(1)",
]

NUMBERS = Profile(
    "higher in 'case'",
    0.4,
    "number",
    [0.0, 1.0, 2.0, 5.0],
    [],
    [10, 20, 10],
    {"case": [0.2, 0.3, 0.5], "control": [0.5, 0.3, 0.2]},
    3,
)
CATEGORIES = Profile(
    "differs by category",
    0.3,
    "category",
    [],
    [HOSTILE, "b" * 500],
    [10, 20],
    {"case": [0.2, 0.8], HOSTILE: [0.5, 0.5]},
    0,
)
ALONG = Profile(
    "rises",
    0.9,
    "number",
    [-1.0, 0.0, 1.0],
    [],
    [10, 0],
    {"lower quartile": [1.0, None], "median": [2.0, None], "upper quartile": [3.0, None]},
    0,
)


def made_result(
    n_columns: int = 40, n_confirmed: int = 8, names: list[str] | None = None, n_tentative: int = 2, **facts: Any
) -> Result:
    """A result of a snowball whose first columns are confirmed, and the next ones tentative."""
    rng = np.random.default_rng(0)
    decision = np.full(n_columns, Decision.REJECTED, np.uint8)
    decision[: n_confirmed + n_tentative] = Decision.TENTATIVE
    decision[:n_confirmed] = Decision.CONFIRMED
    p = np.sort(rng.random(n_columns)) ** 2
    p[:n_confirmed] = np.geomspace(1e-12, 1e-5, max(n_confirmed, 1))[:n_confirmed]
    known: dict[str, Any] = {
        "method": "snowball",
        "target": "disease",
        "task": "classification",
        "n_rows": 500,
        "n_columns": n_columns,
        "n_usable": n_columns,
        "n_draws": 5,
        "n_planned": 5,
        "against": "shadows",
        "seed": 7,
        "parameters": {"fdr": 0.1},
        "fingerprint": "0123456789abcdef",
        "unit": "waves",
        "smallest_p": 1e-9,
        "versions": {"fernwood": "0.1.0"},
    }
    listed = None if names is None else ListedNames([*names, *(f"x{i}" for i in range(len(names), n_columns))])
    return Result(
        NumberedNames(n_columns) if listed is None else listed,
        Facts(**{**known, **facts}),
        np.full(n_columns, 128, np.int32),
        -np.log10(p),
        np.zeros(n_columns, np.int32),
        Verdicts(decision, decision, ("told by itself, at a rate", "told in one wave", "no better than shadows", "?")),
        p,
        np.minimum(p * n_columns, 1.0),
        np.zeros(n_columns, bool),
        Relations([[0, 1]], {0: [1, 2], 3: [0]}, []) if n_confirmed > 3 else Relations(),
        insight=Insight(
            History([0, 1, 2], [1, 5, n_confirmed], 3 * [n_columns]),
            Comparison(np.sort(-np.log10(rng.random(500))).tolist(), 500, 5.0 if n_confirmed else None),
            dict(zip(range(n_confirmed), [NUMBERS, CATEGORIES, NUMBERS] * n_confirmed, strict=False)),
        ),
        course=Course(
            12.5,
            300_000_000,
            512_000_000,
            2,
            [Sample(i, "searching", i // 2, i, 200_000_000 + 10_000_000 * i) for i in range(10)],
            "fernwood select genes.csv --target disease --seed 7",
        ),
    )


def with_profiles(result: Result, profile: Profile) -> Result:
    """The same result, all columns of one shape."""
    profiles = dict.fromkeys(result.insight.profiles, profile)
    return replace(result, insight=replace(result.insight, profiles=profiles))
