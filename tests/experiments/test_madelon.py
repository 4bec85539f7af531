"""What the columns found explain of those that are relevant."""

import numpy as np
import pytest

from experiments.items.madelon import _spanned


def test_columns_that_span_the_others_explain_them() -> None:
    rng = np.random.default_rng(0)
    base = rng.standard_normal((200, 2))
    x = np.column_stack([base, base.sum(axis=1)])
    relevant = np.array([3, 7, 9])

    assert _spanned(x, relevant, np.array([3, 9, 11])) == pytest.approx(1)
    assert _spanned(x, relevant, np.array([3])) < 0.7
    assert _spanned(x, relevant, np.array([11])) == 0
