"""Shadows: columns with their values dealt anew to the rows, made when they are needed and never kept.

The deal of a shadow has an address that follows from the column's content and the seed, so that it is the same whenever
the shadow is asked for.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from fernwood.kernels.examining import permute_codes

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["deal_shadows", "shadow_addresses"]

_COPY = np.uint64(0xD1B54A32D192ED03)


def shadow_addresses(
    checksums: NDArray[np.uint64], seed: int, copies: NDArray[np.uint64] | np.uint64
) -> NDArray[np.uint64]:
    """Where the deals of some columns' shadows are drawn; a column has a shadow for every number of a copy.

    Examples
    --------
    >>> shadow_addresses(np.array([5, 6], np.uint64), 1, np.zeros(2, np.uint64)).tolist()
    [4, 7]
    """
    # Sums and products of addresses are meant to wrap round, which NumPy warns of where both are scalars.
    return np.asarray((checksums ^ np.uint64(seed & (2**64 - 1))) + np.atleast_1d(copies) * _COPY)


def deal_shadows(
    codes: NDArray[np.uint8],
    addresses: NDArray[np.uint64],
    out: NDArray[np.uint8],
    rows: NDArray[np.int32] | None = None,
) -> None:
    """Fill `out` with the shadows of some columns, in their order; it may be `codes` itself.

    Parameters
    ----------
    codes : uint8 array, shape (columns, rows)
    addresses : from `shadow_addresses`
    out : uint8 array of the same shape
    rows
        The rows that take part, where not all do; the values of the others stay where they are.

    Examples
    --------
    >>> codes = np.arange(6, dtype=np.uint8)[None]
    >>> shadow = np.empty_like(codes)
    >>> deal_shadows(codes, np.array([1], np.uint64), shadow, np.arange(3, dtype=np.int32))
    >>> sorted(shadow[0, :3].tolist()), shadow[0, 3:].tolist()
    ([0, 1, 2], [3, 4, 5])
    """
    if rows is None:
        permute_codes(codes, addresses, out)
        return
    dealt = np.ascontiguousarray(codes[:, rows])
    permute_codes(dealt, addresses, dealt)
    out[:] = codes
    out[:, rows] = dealt
