"""The paired test with which forests are compared, and how many columns a draw has."""

import numpy as np
import pytest
from scipy import stats

from experiments.experiment import Told
from experiments.items.ensembles import compare, memory


def _told(one: list[float], two: list[float]) -> Told:
    rows = [("one", value) for value in one] + [("two", value) for value in two]
    return Told({"method": name, "accuracy": value, "learned": 100, "tested": 50} for name, value in rows)


def test_without_correction_it_is_the_paired_t_test() -> None:
    one, two = [0.91, 0.87, 0.93, 0.90], [0.88, 0.86, 0.87, 0.89]

    assert compare(_told(one, two), "one", "two").plain_p == pytest.approx(stats.ttest_rel(one, two).pvalue)


def test_the_variance_counts_that_splits_share_rows() -> None:
    gains = np.array([0.03, 0.01, 0.06, 0.01])
    t = gains.mean() / np.sqrt(gains.var(ddof=1) * (1 / 4 + 50 / 100))

    made = compare(_told((0.5 + gains).tolist(), [0.5] * 4), "one", "two")

    assert made.p == pytest.approx(2 * stats.t.sf(t, 3))
    assert made.p > made.plain_p
    assert (made.gain - made.half < 0) == (made.p > 0.05)


@pytest.mark.parametrize(("one", "p"), [([0.5, 0.5], 1.0), ([0.6, 0.6], 0.0), ([0.6], 1.0)])
def test_gains_that_do_not_vary(one: list[float], p: float) -> None:
    assert compare(_told(one, [0.5] * len(one)), "one", "two").p == p


def test_a_draw_is_a_twentieth_and_at_least_the_root() -> None:
    assert [memory(n) for n in (6, 25, 400, 500, 12_600)] == [3, 5, 20, 25, 630]
