"""Filtering: the ranking of columns, the loop over prefixes, and its checkpoints."""

from __future__ import annotations

import numpy as np
import pytest

import fernwood
from fernwood.run.driving import drive
from fernwood.search.filter import FilterLoop, FilterState, rank_columns


class Sizes:
    """An error for every number of columns; calls are kept."""

    def __init__(self, errors: list[float]) -> None:
        self.n_columns = len(errors)
        self.errors, self.calls = errors, []

    def __call__(self, columns: np.ndarray) -> float:
        self.calls.append(columns.tolist())
        return self.errors[len(columns) - 1]


def test_prefixes_come_in_order_and_the_shortest_of_the_best_is_kept() -> None:
    errors = Sizes([0.5, 0.2, 0.3, 0.2])
    loop = FilterLoop(errors, np.array([2, 0, 3, 1]))
    state, stopped_by, _ = drive(loop)
    assert stopped_by is None
    assert errors.calls == [[2], [0, 2], [0, 2, 3], [0, 1, 2, 3]]
    assert state.n_best == 2
    assert loop.start().n_best == 0
    assert loop.progress(state)[1:5] == (4, 4, "calls", 2)


def test_checkpoints() -> None:
    loop = FilterLoop(Sizes([0.5, 0.2]), np.array([0, 1]))
    half = loop.step(loop.start())
    again = loop.unpack({name: np.array(values) for name, values in loop.pack(half).items()})
    np.testing.assert_array_equal(loop.step(again).errors, [0.5, 0.2])
    for errors in (np.zeros(3), np.zeros((1, 1)), np.array([np.nan]), np.zeros(1, np.float32)):
        with pytest.raises(ValueError, match="the checkpoint's errors"):
            loop.unpack({"errors": errors})
    with pytest.raises(KeyError):
        loop.unpack({})
    assert FilterState(np.array([0.1])).n_best == 1


@pytest.mark.parametrize("task", ["classification", "regression"])
def test_ranking_does_not_depend_on_the_order_of_columns(task: str, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(0)
    x = rng.standard_normal((300, 20))
    x[:, 11] = 1.0  # constant: no candidate
    signal = x[:, 4] + 0.3 * x[:, 9]
    y = signal if task == "regression" else signal > 0
    ranked = rank_columns(fernwood.ingest(x, target=y, task=task))
    assert ranked.columns[0] == 4
    assert len(ranked.columns) == 19
    assert 11 not in ranked.columns
    order = rng.permutation(20)
    monkeypatch.setattr("fernwood.search.filter._BLOCK_BYTES", 700)  # two columns at a time
    other = rank_columns(fernwood.ingest(x[:, order], target=y, task=task))
    np.testing.assert_array_equal(order[other.columns], ranked.columns)
    np.testing.assert_array_equal(other.ratios, ranked.ratios)
