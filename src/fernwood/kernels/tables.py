"""What a tree grows on: the columns, their kinds and their order, and the rules of growing.

Plain columns come first, then those with missing values, then categories; among each, the order is the caller's.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from fernwood.kernels.jit import njit, njit_inner
from fernwood.kernels.panels import lay_panel

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["CART", "EXTRA", "GAPS", "MULTIWAY", "PLAIN", "SUBSET", "Rules", "Table", "make_table"]

EXTRA, CART = 0, 1

PLAIN, GAPS, MULTIWAY, SUBSET = 0, 1, 2, 3
"""What a column is: ordered, ordered with missing values, categories with a branch each, categories in two branches."""

_MISSING = 255


class Table(NamedTuple):
    """The codes that a tree grows on.

    Attributes
    ----------
    columns : uint8 array, shape (columns, rows)
    order : int32 array; place in `columns` of the first, second, … column to look at, plain ones first
    kinds : uint8 array; kind of the first, second, … column
    wide : uint8 array, flat; a panel (see `panels`) of the plain columns, or empty where K is less than all columns
    n_plain : int
    gappy : uint8 array, flat; a panel of the columns with missing values, for random cuts of all columns, or empty
    n_gaps : int
    """

    columns: NDArray[np.uint8]
    order: NDArray[np.int32]
    kinds: NDArray[np.uint8]
    wide: NDArray[np.uint8]
    n_plain: int
    gappy: NDArray[np.uint8]
    n_gaps: int


class Rules(NamedTuple):
    """How a tree grows; see `fernwood.learner.settings`. A `max_depth` of −1 is none; `categories` is their kind.

    Among equal gain ratios, each column has equal chance; where `first` is 1, the first that is looked at wins.
    """

    rule: int
    max_features: int
    max_depth: int
    min_leaf: int
    min_split: int
    criterion: int
    categories: int
    first: int = 0


@njit
def make_table(columns, order, categories, rules):
    """The table of some columns, looked at in the given order, but plain ones first; `categories` marks those."""
    n_columns = columns.shape[0]
    kinds = np.empty(n_columns, np.uint8)
    places = np.empty(n_columns, np.int32)
    _find_kinds(columns, categories, rules.categories, kinds)
    n, ends = 0, np.zeros(3, np.int64)
    for k in range(3):
        for place in order:
            if kinds[place] == (PLAIN if k == 0 else GAPS if k == 1 else rules.categories):
                places[n] = place
                n += 1
        ends[k] = n
    every = rules.max_features >= n_columns
    wide = _lay(columns, places[: ends[0]], every)
    gappy = _lay(columns, places[ends[0] : ends[1]], every and rules.rule == EXTRA)
    return Table(columns, places, kinds[places], wide, ends[0], gappy, ends[1] - ends[0])


@njit
def _lay(columns, places, wanted):
    return lay_panel(columns, places) if wanted and places.shape[0] > 0 else np.empty(0, np.uint8)


@njit_inner
def _find_kinds(columns, categories, of_categories, kinds):
    """Set the kind of every column."""
    for j in range(columns.shape[0]):
        codes = columns[j]
        largest = np.uint8(0)
        for i in range(codes.shape[0]):
            largest = max(largest, codes[i])
        kinds[j] = of_categories if categories[j] else (GAPS if largest == _MISSING else PLAIN)
