"""Searches with ferns that are read on the way."""

from __future__ import annotations

import numpy as np
from sklearn.datasets import load_iris

from experiments.items.fern_searches import errors, followed


def among_noise(n_irrelevant: int) -> tuple:
    x, y = load_iris(return_X_y=True)
    rng = np.random.default_rng(0)
    noise = [rng.permutation(x[:, i % 4]) for i in range(n_irrelevant)]
    return np.column_stack([x, *noise]), y, range(4), "classification"


def test_a_search_that_is_read_on_the_way_ends_as_one_that_is_not() -> None:
    table = among_noise(30)
    (whole,), on_the_way = followed(table, 3, (100,), 1), followed(table, 3, (10, 30, 100), 1)
    assert [row["scans"] for row in on_the_way] == [10, 30, 100]
    assert {**on_the_way[-1], "cpu_seconds": 0} == {**whole, "cpu_seconds": 0}
    assert whole["false_negatives"] == 0


def test_more_leaves_than_rows_are_no_warning() -> None:
    assert followed(among_noise(5), 9, (10,), 1)[0]["irrelevant"] == 5


def test_errors_are_columns_too_many_and_too_few() -> None:
    assert errors(np.array([0, 5, 7]), [0, 1], 10) == {
        "false_positives": 2,
        "false_negatives": 1,
        "irrelevant": 8,
        "missed": "1",
    }
