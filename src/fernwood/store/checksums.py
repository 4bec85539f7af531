"""Checksums of many columns at once, for bands whose coding needs compiled code anyway."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from fernwood.kernels.checksums import checksum_columns

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["many_checksums"]


def many_checksums(codes: NDArray[np.uint8]) -> NDArray[np.uint64]:
    """The checksums of many columns, as `codes_checksum` gives them one by one.

    Examples
    --------
    >>> from fernwood.store.columns import codes_checksum
    >>> codes = np.arange(12, dtype=np.uint8).reshape(3, 4)
    >>> many_checksums(codes).tolist() == [codes_checksum(column) for column in codes]
    True
    """
    out = np.empty(len(codes), np.uint64)
    checksum_columns(codes, out)
    return out
