from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from fernwood.datasets import make_madelon
from fernwood.errors import ParameterError


def test_shapes_and_answer() -> None:
    table = make_madelon(300, 60, random_state=1)
    assert table.data.shape == (300, 60)
    assert table.relevant.tolist() == list(range(20))
    assert 0.3 < table.target.mean() < 0.7


def test_no_column_alone_tells_much_and_all_informative_ones_do() -> None:
    """As in the real Madelon: correlations with the class stay below 0.3, yet the corner decides it."""
    table = make_madelon(4000, 25, class_sep=2.0, random_state=3)
    target = table.target - table.target.mean()
    correlations = [abs(np.corrcoef(column, target)[0, 1]) for column in table.data.T]
    assert max(correlations) < 0.3
    corner = (table.data[:, :5] > 0) @ (1 << np.arange(5))
    majority = [max(np.mean(table.target[corner == c]), 1 - np.mean(table.target[corner == c])) for c in range(32)]
    assert np.mean(majority) > 0.85


def test_copies_and_combinations_belong_to_the_informative_ones() -> None:
    data = make_madelon(2000, 30, random_state=0).data
    basis = np.column_stack((data[:, :5], np.ones(2000)))
    for i in range(5, 30):
        residual = data[:, i] - basis @ np.linalg.lstsq(basis, data[:, i], rcond=None)[0]
        explained = 1 - residual.var() / data[:, i].var()
        assert explained > 0.9 if i < 20 else explained < 0.05


def test_the_same_seed_the_same_table_whatever_the_width() -> None:
    narrow, wide = make_madelon(50, 300, random_state=4), make_madelon(50, 700, random_state=4)
    np.testing.assert_array_equal(narrow.data, wide.data[:, :300])
    assert not np.array_equal(narrow.data, make_madelon(50, 300, random_state=5).data)


def test_shuffling_moves_columns_and_says_where() -> None:
    plain = make_madelon(50, 400, random_state=6)
    mixed = make_madelon(50, 400, shuffle=True, random_state=6)
    assert mixed.relevant.tolist() != list(range(20))
    relevant = {column.tobytes() for column in np.ascontiguousarray(plain.data.T[:20])}
    assert {column.tobytes() for column in np.ascontiguousarray(mixed.data.T[mixed.relevant])} == relevant


def test_a_store_holds_the_same_table(tmp_path: Path) -> None:
    table = make_madelon(80, 600, shuffle=True, random_state=7)
    written = make_madelon(80, 600, shuffle=True, random_state=7, out=tmp_path / "m.fern")
    np.testing.assert_array_equal(written.relevant, table.relevant)
    for i in (0, 255, 256, 599, int(table.relevant[0])):
        np.testing.assert_array_equal(written.data.column(i), table.data[:, i])
    np.testing.assert_array_equal(written.data.target.values, table.target)


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ((100, 10), "n_columns is 10; the 20 relevant columns alone need that many"),
        ((2, 30), "n_rows is 2; give at least 4"),
        ((100, 30, 0), "n_informative is 0"),
        ((100, 30, 13), "n_informative is 13"),
    ],
)
def test_bad_arguments(arguments: tuple[int, ...], sentence: str) -> None:
    with pytest.raises(ParameterError, match=sentence):
        make_madelon(*arguments[:2], n_informative=arguments[2] if len(arguments) > 2 else 5)
