"""Which groups of rows exchange their values: those in the same strata, and of about the same size."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from fernwood.kernels.dealing import Exchange

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["exchange_of"]

_LEAST = 8
"""Groups of a block, at least: in smaller ones, many would keep their own values."""


def exchange_of(strata: NDArray[np.integer[Any]], groups: NDArray[np.integer[Any]]) -> Exchange:
    """The groups in blocks within which they exchange values.

    Groups with rows in the same strata exchange places in all of these at once, so that what is alike in a group stays
    alike across strata. Of such groups, those of one size make a block, or of so many sizes as it takes for eight
    groups; the largest are joined by the next smaller ones where they are fewer. Where fewer than eight groups have
    rows in just these strata, they join the others that are so few, and exchange places stratum by stratum.

    Parameters
    ----------
    strata, groups : arrays; of every row

    Examples
    --------
    >>> sizes = np.repeat([1, 2, 3], [9, 9, 4])
    >>> exchange = exchange_of(np.zeros(sizes.sum(), int), np.repeat(np.arange(22), sizes))
    >>> np.diff(exchange.block).tolist()  # the four largest groups, and all of the nine with two rows
    [9, 13]
    """
    strata, groups = (np.unique(values, return_inverse=True)[1] for values in (strata, groups))
    n_strata, n_groups = int(strata.max()) + 1, int(groups.max()) + 1
    cells, cell = np.unique(groups * n_strata + strata, return_inverse=True)
    group, stratum = np.divmod(cells, n_strata)
    alike, size = _profiles(group, stratum, np.bincount(cell), n_groups)
    block, by_block = _blocks(alike, size, crossed=len(cells) > n_groups)
    place = np.empty(n_groups, np.int64)
    place[by_block] = np.arange(n_groups)
    in_block = np.repeat(np.arange(len(block) - 1), np.diff(block))[place[group]]
    order = np.lexsort((place[group], stratum, in_block))  # of the pieces
    first_of_run = np.append(True, (np.diff(in_block[order]) != 0) | (np.diff(stratum[order]) != 0))
    number = np.empty(len(cells), np.int64)
    number[order] = np.arange(len(cells))
    piece_of_row = number[cell]
    sizes, run, first = np.bincount(piece_of_row), np.cumsum(first_of_run) - 1, np.flatnonzero(first_of_run)
    return Exchange(
        np.argsort(piece_of_row, kind="stable"),
        np.append(0, np.cumsum(sizes)),
        stratum[order],
        n_strata,
        run,
        first,
        np.append(0, np.cumsum(np.bincount(place[group]))),
        number[np.lexsort((stratum, place[group]))],
        block,
        bool((sizes != sizes[first][run]).any()),
    )


def _profiles(
    group: NDArray[np.int64], stratum: NDArray[np.int64], n_rows: NDArray[np.int64], n_groups: int
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Two numbers for every group: of the strata it has rows in, and of how many it has, in order of their sum.

    Parameters
    ----------
    group, stratum, n_rows : arrays; of every piece, group by group and in the order of strata
    n_groups
    """
    if len(group) == n_groups:  # every group is in one stratum
        return stratum, n_rows
    ends = np.cumsum(np.bincount(group)).tolist()
    bounds = list(zip([0, *ends], ends, strict=False))
    strata, sizes = stratum.tolist(), n_rows.tolist()
    sets = [tuple(strata[a:b]) for a, b in bounds]
    profiles = [(sum(sizes[a:b]), *sizes[a:b]) for a, b in bounds]
    return _numbered(sets), _numbered(profiles)


def _numbered(values: list[tuple[int, ...]]) -> NDArray[np.int64]:
    """The place of each among the different ones in order."""
    number = {value: place for place, value in enumerate(sorted(set(values)))}
    return np.array([number[value] for value in values], np.int64)


def _blocks(
    alike: NDArray[np.int64], size: NDArray[np.int64], *, crossed: bool
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Where blocks begin, and the end, in an order of the groups; and that order."""
    n_alike = np.bincount(alike)
    rest = (n_alike < _LEAST)[alike] if crossed else np.zeros(len(alike), bool)
    alike, size = np.where(rest, len(n_alike), alike), np.where(rest, 0, size)
    order = np.lexsort((size, alike))
    ends = np.append(np.flatnonzero(np.diff(alike[order])) + 1, len(order))
    begins: list[int] = []
    for first, end in zip([0, *ends.tolist()], ends.tolist(), strict=False):
        changes = np.flatnonzero(np.diff(size[order[first:end]])) + 1
        here = [first]
        for at in (first + changes).tolist():
            if at - here[-1] >= _LEAST:
                here.append(at)
        if end - here[-1] < _LEAST and len(here) > 1:  # too few are left, and the next smaller join them
            here[-1] = end - _LEAST
            if here[-1] - here[-2] < _LEAST:
                here.pop()
        begins += here
    return np.append(begins, len(order)), order
