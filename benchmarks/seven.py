"""The problems of section 5.2 of Stracuzzi and Utgoff (2004): seven of ten relevant bits among a hundred.

1000 rows to train a thermal perceptron on and 1000 to validate it. The paper's tolerance of 0.06, which it says is 15
rows of 1000, is that of a squared error of outputs −1 and 1: here 0.015 of the rows.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from fernwood.learner.subsets import evaluation_of, subset_errors
from fernwood.models import ThermalPerceptron
from fernwood.run.driving import drive
from fernwood.search.elimination import EliminationLoop, EliminationSettings

if TYPE_CHECKING:
    from fernwood.learner.subsets import SubsetErrors
    from fernwood.search.elimination import EliminationState

N, R, TOLERANCE = 100, 10, 0.015


def updates(n: int) -> int:
    """M(n): updates of weights in a training with n columns."""
    return 1897 * 1000 * (n + 1)


class Oracle:
    """Says at once what a learner that never errs would need a fit for; with noise, some removals look harmful."""

    def __init__(self, n_columns: int, relevant: set[int], noise: float = 0.0, seed: int = 0) -> None:
        self.n_columns = n_columns
        self._relevant = relevant
        self._noise = noise
        self._rng = np.random.default_rng([seed, 1])

    def __call__(self, columns: np.ndarray) -> float:
        """0 where all relevant columns are there, else 1."""
        harmless = self._relevant <= set(columns.tolist())
        if len(columns) < self.n_columns and self._rng.random() < self._noise:
            harmless = False
        return 0.0 if harmless else 1.0


class Elimination(NamedTuple):
    """How one went: the last state, the columns that were left, and those that are relevant."""

    state: EliminationState[Any]
    kept: set[int]
    relevant: set[int]


def problem(seed: int) -> tuple[np.ndarray, np.ndarray, set[int]]:
    """Rows, classes and relevant columns."""
    rng = np.random.default_rng([7, seed])
    relevant = rng.choice(N, R, replace=False)
    x = rng.integers(0, 2, (2000, N)).astype(float)
    return x, x[:, relevant].sum(axis=1) >= 7, set(relevant.tolist())


def eliminated(way: str, r_max: int, seed: int, *, by_oracle: bool = False) -> Elimination:
    """One problem, by `known` (RVE), `one` (RVE, a column at a time), or a search for r with a bound."""
    if way in ("known", "one"):
        how: dict[str, Any] = {"n_relevant": R, "step": 1 if way == "one" else None}
    else:
        how = {"search": way, "r_max": r_max}
    x, y, relevant = problem(seed)
    learner = ThermalPerceptron(random_state=seed)
    settings = EliminationSettings(learner, tolerance=TOLERANCE, cost=updates, **how)
    rows = [(np.arange(1000), np.arange(1000, 2000))]
    errors: SubsetErrors = Oracle(N, relevant)
    if not by_oracle:
        errors = subset_errors(evaluation_of(learner, x, y, cv=rows, scoring=None))
    loop: EliminationLoop[Any] = EliminationLoop(errors, settings.removals(N, seed), TOLERANCE, baseline="last")
    state = drive(loop).state
    return Elimination(state, set(np.flatnonzero(state.left).tolist()), relevant)
