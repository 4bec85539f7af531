"""Dealing shadows: the values of a column to other rows, groups of rows together, and strata among themselves."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from fernwood.kernels.dealing import deal_pieces, permute_codes
from fernwood.kernels.ready import ensure_compiled

if TYPE_CHECKING:
    from numpy.typing import NDArray

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
        self._pieces: tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]] | None = None
        if strata is not None:
            self._pieces = _pieces(strata, np.arange(len(strata)) if groups is None else groups)
        elif groups is not None:
            self._pieces = _pieces(np.zeros(len(groups), np.int64), groups)
        if self._pieces is not None:
            ensure_compiled("groups")

    @property
    def in_pieces(self) -> bool:
        """Whether rows stay together, or in their stratum."""
        return self._pieces is not None

    def tied(self, values: NDArray[np.floating[Any]]) -> NDArray[np.int64]:
        """A number for every column: columns with the same one depend about equally on strata and on groups.

        A column that is alike within groups varies more when whole groups change places than one that is not, and one
        that differs between strata varies less within them, so that chance does more, or less, for its score.

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
        if self._pieces is None:
            return np.zeros(len(values), np.int64)
        rows, piece, stratum = self._pieces
        first = piece[stratum[:-1]]
        ordered = values[:, rows].astype(np.float64)
        sizes = np.diff(np.append(first, len(rows)))
        ordered -= np.repeat(np.add.reduceat(ordered, first, axis=1) / sizes, sizes, axis=1)
        within = (ordered**2).sum(axis=1)
        between = (np.add.reduceat(ordered, piece[:-1], axis=1) ** 2).sum(axis=1)
        least = len(rows) * 2.0**-_FINEST  # what is nothing but rounding counts as this little
        share = np.log2(np.maximum(within, least) / len(rows))
        together = np.log2(np.maximum(between, least) / np.maximum(within, least))
        steps = np.rint(_STEPS * np.stack([share, together])).astype(np.int64)
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
        if self._pieces is None:
            permute_codes(codes, addresses, codes)
            return codes
        out = np.empty_like(codes)
        deal_pieces(codes, addresses, *self._pieces, out)
        return out


def _pieces(
    strata: NDArray[np.integer[Any]], groups: NDArray[np.integer[Any]]
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """Rows by stratum and group, where every piece begins, and with which piece every stratum begins."""
    rows = np.lexsort((groups, strata))
    new_stratum = np.append(True, np.diff(strata[rows]) != 0)
    new_piece = new_stratum | np.append(True, np.diff(groups[rows]) != 0)
    piece = np.append(np.flatnonzero(new_piece), len(rows))
    return rows, piece, np.searchsorted(piece, np.append(np.flatnonzero(new_stratum), len(rows)))
