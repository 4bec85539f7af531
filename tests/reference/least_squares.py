"""Least squares in cells, and what it leaves of columns, by NumPy: the slow twin of `fernwood.kernels.least_squares`."""

from __future__ import annotations

import numpy as np


def left_in_cells(
    basis: np.ndarray, n_terms: list[int], cells: np.ndarray, weights: np.ndarray, values: np.ndarray
) -> np.ndarray:
    """What is left of values by all terms beside a constant a cell, and then by some terms in every cell by itself."""
    constants = (cells[:, None] == np.unique(cells)).astype(float)
    left = values - _fitted(np.column_stack([constants, basis]), weights, values)
    for cell, n in zip(np.unique(cells), n_terms, strict=True):
        here = cells == cell
        terms = np.column_stack([np.ones(here.sum()), basis[here, :n]])
        left[here] -= _fitted(terms, weights[here], left[here])
    return left


def left_of_column(basis: np.ndarray, strata: np.ndarray, weights: np.ndarray, column: np.ndarray) -> np.ndarray:
    """What a basis that has mean zero in every stratum leaves of a column, beside a constant a stratum."""
    constants = (strata[:, None] == np.unique(strata)).astype(float)
    return column - _fitted(np.column_stack([constants, basis]), weights, column)


def _fitted(terms: np.ndarray, weights: np.ndarray, values: np.ndarray) -> np.ndarray:
    root = np.sqrt(weights)[:, None]
    return terms @ np.linalg.lstsq(root * terms, root * values.reshape(len(values), -1), rcond=None)[0].reshape(
        terms.shape[1], *values.shape[1:]
    )
