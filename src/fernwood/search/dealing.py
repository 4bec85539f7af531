"""Dealing shadows: the values of a column to other rows, groups of rows together, and strata among themselves."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from fernwood.kernels.dealing import LIKELY, deal_pieces, permute_codes
from fernwood.kernels.ready import ensure_compiled
from fernwood.search.exchange import exchange_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from fernwood.kernels.dealing import Exchange

__all__ = ["Dealer"]

_COPY = np.uint64(0xD1B54A32D192ED03)
_STEPS, _FINEST = 4, 10
"""Columns are told apart by their dependence on groups and strata, in steps of a fourth of a doubling, down to ten."""


class Dealer:
    """Makes shadows of columns, each one fixed permutation: the same whenever it is asked for, and never stored.

    Parameters
    ----------
    seed
        Below which shadows have their addresses.
    strata : int array, optional
        Of every row; values stay in their stratum.
    groups : int array, optional
        Of every row; the rows of a group stay together.

    Examples
    --------
    >>> codes = np.arange(6, dtype=np.uint8)[None]
    >>> deal = Dealer(0, groups=np.array([0, 0, 1, 1, 2, 2]))
    >>> shadow = deal(codes, np.array([7], np.uint64), np.array([0], np.uint64))[0]
    >>> sorted(shadow.tolist()), sorted(abs(np.diff(shadow.astype(int)))[::2].tolist())  # pairs are still pairs
    ([0, 1, 2, 3, 4, 5], [1, 1, 1])
    """

    def __init__(
        self,
        seed: int,
        *,
        strata: NDArray[np.integer[Any]] | None = None,
        groups: NDArray[np.integer[Any]] | None = None,
    ) -> None:
        self._key = np.uint64(seed & (2**64 - 1))
        self._exchange: Exchange | None = None
        self.keeps_counts = True
        if strata is not None:
            groups = np.arange(len(strata)) if groups is None else groups
        elif groups is not None:
            strata = np.zeros(len(groups), np.int64)
        if strata is not None and groups is not None:
            self._exchange = exchange_of(strata, groups)
            self._order = _by_stratum(strata, groups)
            self.keeps_counts = not self._exchange.uneven
            ensure_compiled("groups")

    @property
    def in_pieces(self) -> bool:
        """Whether rows stay together, or in their stratum."""
        return self._exchange is not None

    def tied(self, values: NDArray[np.floating[Any]]) -> NDArray[np.int64]:
        """A number for every column: columns with the same one depend about equally on strata and on groups.

        A column that is alike within groups varies more when whole groups change places than one that is not, and one
        that differs between strata varies less within them, so that chance does more, or less, for its score. What
        counts is how many times the sum over a group varies more than were its rows independent, on average over rows.

        Parameters
        ----------
        values : array, shape (columns, rows); of mean 0 and variance 1

        Examples
        --------
        >>> deal = Dealer(0, groups=np.repeat([0, 1, 2, 3], 2))
        >>> a, b = deal.tied(np.array([[1, 1, -1, -1, 1, 1, -1, -1], [1, -1, 1, -1, 1, -1, 1, -1.0]])).tolist()
        >>> a > b
        True
        """
        if self._exchange is None:
            return np.zeros(len(values), np.int64)
        rows, begins, starts = self._order
        ordered = values[:, rows].astype(np.float64)
        n, least = len(rows), 2.0**-_FINEST  # what is nothing but rounding counts as this little
        in_stratum = np.diff(np.append(begins[starts], n))
        whole = np.add.reduceat(ordered, begins[starts], axis=1) ** 2 / in_stratum
        share = ((ordered**2).sum(axis=1) - whole.sum(axis=1)) / n
        size = np.diff(np.append(begins, n))
        usual = (size.astype(np.float64) ** 2).sum() / n
        together = 1 + (usual - 1) * _likeness(ordered, begins, starts, size, least)
        steps = np.rint(_STEPS * np.log2(np.maximum([share, together], least))).astype(np.int64)
        return np.asarray(steps[0] * 1000 + steps[1])

    def addresses(self, checksums: NDArray[np.uint64], copies: NDArray[np.uint64]) -> NDArray[np.uint64]:
        """Where the deals of some columns' shadows are drawn; a column has a shadow for every number of a copy."""
        return np.asarray((checksums ^ self._key) + copies * _COPY)

    def __call__(
        self, codes: NDArray[np.uint8], checksums: NDArray[np.uint64], copies: NDArray[np.uint64]
    ) -> NDArray[np.uint8]:
        """Shadows of columns; `codes` may be overwritten.

        Parameters
        ----------
        codes : uint8 array, shape (columns, rows)
        checksums : of the columns, which are their addresses
        copies : which copy of its column a shadow is
        """
        return self.at(codes, self.addresses(checksums, copies))

    def at(self, codes: NDArray[np.uint8], addresses: NDArray[np.uint64]) -> NDArray[np.uint8]:
        """Shadows of columns that are dealt at some addresses; `codes` may be overwritten."""
        if self._exchange is None:
            permute_codes(codes, addresses, codes)
            return codes
        out = np.empty_like(codes)
        deal_pieces(codes, addresses, self._exchange, out)
        return out


def _likeness(
    ordered: NDArray[np.float64],
    begins: NDArray[np.int64],
    starts: NDArray[np.int64],
    size: NDArray[np.int64],
    least: float,
) -> NDArray[np.float64]:
    """What two rows of a group have in common in every column, as a share of the variance; of any sign.

    Groups count by what they say about it, as in `kernels.dealing`, and not by their rows: a shadow would else depend
    less on its largest groups than a column that was put where it is for just these.

    Parameters
    ----------
    ordered : float64 array, shape (columns, rows); by stratum and group
    begins, starts : where the rows of a group in one stratum begin; with which of these beginnings a stratum does
    size : int64 array; how many rows of a group are in one stratum
    least : of the variance
    """
    weight = 1 / (LIKELY + (1 - LIKELY) / size)
    total = np.add.reduceat(ordered, begins, axis=1)
    middle = np.add.reduceat(total * (weight / size), starts, axis=1) / np.add.reduceat(weight, starts)
    middle = np.repeat(middle, np.diff(np.append(starts, len(begins))), axis=1)
    about = np.add.reduceat(ordered**2, begins, axis=1) - 2 * middle * total + size * middle**2
    beside = (total - size * middle) ** 2 - about
    told = np.where(size > 1, weight**2, 0.0)
    common = beside @ (told / np.maximum(size * (size - 1), 1))
    return np.asarray(common / np.maximum(about @ (told / size), least * max(told.sum(), least)))


def _by_stratum(
    strata: NDArray[np.integer[Any]], groups: NDArray[np.integer[Any]]
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """Rows by stratum and group, where the rows of a group in one stratum begin, and with which beginning a stratum."""
    rows = np.lexsort((groups, strata))
    new_stratum = np.append(True, np.diff(strata[rows]) != 0)
    new_piece = new_stratum | np.append(True, np.diff(groups[rows]) != 0)
    begins = np.flatnonzero(new_piece)
    return rows, begins, np.searchsorted(begins, np.flatnonzero(new_stratum))
