"""What scores tell, against the same in double precision written out in NumPy."""

from __future__ import annotations

import numpy as np
import pytest

from fernwood.kernels.telling import Chances, add_up, tell

RNG = np.random.default_rng(0)


def twin(scores: np.ndarray, chances: Chances) -> np.ndarray:
    z = (np.cbrt(scores.astype(float) / chances.scale) - chances.middle) / chances.width
    return np.exp(np.clip(z, 0, 12) ** 2 / 2).mean(axis=2)


def some_chances(n_contexts: int, n_scores: int) -> Chances:
    h = RNG.uniform(0.001, 0.3, (n_contexts, n_scores))
    scale = RNG.uniform(0.1, 1e6, (n_contexts, n_scores))
    return Chances(*(part.astype(np.float32) for part in (scale, 1 - h, np.sqrt(h))))


@pytest.mark.parametrize("n_scores", [1, 2, 3])
@pytest.mark.parametrize(("n_columns", "n_contexts"), [(0, 3), (1, 1), (700, 1), (9, 40), (3, 700)])
def test_as_in_double_precision(n_columns: int, n_contexts: int, n_scores: int) -> None:
    chances = some_chances(n_contexts, n_scores)
    scores = (RNG.chisquare(3, (n_columns, n_contexts, n_scores)) * chances.scale).astype(np.float32)
    out = np.full((n_columns, n_contexts), np.nan, np.float32)
    tell(scores, chances, out)
    # Cube roots near the middle lose digits to the difference, and z up to 12 takes what is left into the exponent.
    assert out == pytest.approx(twin(scores, chances), rel=1e-4)


def test_from_nothing_to_far_beyond_what_counts() -> None:
    one = np.ones((1, 1), np.float32)
    chances = Chances(one, one * 0.5, one * 0.25)
    scores = np.concatenate(([0, 1e-45, 1e-30], np.geomspace(1e-20, 1e30, 4000), [np.nan])).astype(np.float32)
    out = np.empty((len(scores), 1), np.float32)
    tell(scores[:, None, None].copy(), chances, out)
    told = out[:, 0]
    assert told[:3].tolist() == [1, 1, 1]
    assert told[-1] == 1
    assert (np.diff(told[:-1]) >= -2e-6 * told[:-2]).all()
    assert told[-2] == pytest.approx(np.exp(72), rel=1e-4)


def test_a_score_that_is_always_nothing_tells_nothing() -> None:
    one = np.ones((2, 1), np.float32)
    out = np.empty((1, 2), np.float32)
    tell(np.full((1, 2, 1), 5, np.float32), Chances(one, one, np.array([[np.inf], [0.5]], np.float32)), out)
    assert out[0, 0] == 1
    assert out[0, 1] > 1


def test_what_stands_beside_does_not_matter() -> None:
    chances = some_chances(5, 2)
    scores = (RNG.chisquare(3, (1000, 5, 2)) * chances.scale).astype(np.float32)
    whole, part = np.empty((1000, 5), np.float32), np.empty((7, 5), np.float32)
    tell(scores, chances, whole)
    tell(scores[501:508].copy(), chances, part)
    assert np.array_equal(whole[501:508], part)


def test_sums_in_order() -> None:
    told = RNG.random((20, 300)).astype(np.float32)
    out = np.empty(20)
    add_up(told, out)
    expected = np.zeros(20)
    for c in range(300):
        expected += told[:, c]
    assert np.array_equal(out, expected)
