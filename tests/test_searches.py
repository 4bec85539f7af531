"""Step-wise searches of the experiments: what they find, and how many subsets they evaluate."""

from __future__ import annotations

import numpy as np
import pytest

from benchmarks.eliminated import R_MAX, printed, printed_beside, printed_costs
from benchmarks.searches import backward, forward


class Wanted:
    """The error is the share of wanted columns that are missing, and a little for every one that does harm."""

    def __init__(self, n_columns: int, wanted: set[int], harmful: frozenset[int] = frozenset()) -> None:
        self.n_columns = n_columns
        self._wanted = wanted
        self._harmful = harmful
        self.n_calls = 0

    def __call__(self, columns: np.ndarray) -> float:
        """Count, and tell."""
        self.n_calls += 1
        chosen = set(columns.tolist())
        return len(self._wanted - chosen) / len(self._wanted) + 0.01 * len(self._harmful & chosen)


def test_forward_takes_what_helps_and_stops_at_the_first_step_that_does_not():
    errors = Wanted(17, {3, 9}, frozenset({5}))
    found = forward(errors)
    assert found.chosen.tolist() == [3, 9]
    assert [len(step.columns) for step in found.steps] == [1, 2]
    assert (found.iters, len(found.sizes)) == (3, 17 + 16 + 15)
    assert errors.n_calls == len(found.sizes) == found.steps[-1].evals + 15


def test_backward_drops_what_harms_and_what_does_nothing():
    errors = Wanted(17, {1, 2, 3, 4, 5, 6}, frozenset({10, 16}))
    found = backward(errors)
    assert found.chosen.tolist() == [1, 2, 3, 4, 5, 6]
    assert set(range(17)) - set(found.steps[2].columns.tolist()) == {10, 16}, "harm goes first"
    assert (found.iters, len(found.sizes)) == (13, 139), "as the paper prints of monks-2 with the tree"
    assert errors.n_calls == 139


@pytest.mark.parametrize("learner", ["bayes", "tree"])
@pytest.mark.parametrize("name", ["dna", "optdigits", "monks"])
def test_printed_evaluations_of_single_runs_are_those_of_the_printed_columns(name, learner):
    n, rows = R_MAX[name][-1], printed_beside(name, learner)
    added, left = int(rows["forward"].inputs), int(rows["backward"].inputs)
    assert rows["forward"].evals == sum(range(n - added, n + 1))
    assert rows["backward"].evals == 1 + sum(range(left, n + 1))
    assert rows["filter"].evals == n


@pytest.mark.parametrize("learner", ["bayes", "tree"])
@pytest.mark.parametrize("name", list(R_MAX))
def test_a_search_is_printed_with_its_cost_or_not_at_all(name, learner):
    rows, costs = {**printed(name, learner), **printed_beside(name, learner)}, printed_costs(name, learner)
    assert {method for method, row in rows.items() if np.isnan(row.evals)} == {
        method for method, cost in costs.items() if np.isnan(cost)
    }
    assert list(rows) == list(costs)
