"""A number for every column that stands for what it holds, by which columns of two tables are compared.

Codes alone do not say it: a column in another unit, or with other labels, has the same codes.
"""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Mapping

    import pyarrow as pa
    from numpy.typing import NDArray

    from fernwood.store.grid import Grids

__all__ = ["column_contents"]

_COLUMNS_AT_ONCE, _STEPS_AT_ONCE = 4096, 2**15
"""What is mixed at a time: little memory, and few calls."""


def column_contents(
    checksums: NDArray[np.uint64], kinds: NDArray[np.uint8], grids: Grids, labels: Mapping[int, pa.Array]
) -> NDArray[np.uint32]:
    """A number for every column, of its codes, its kind, its bins and its labels.

    Four bytes: that two different columns have the same one is a chance of one in four thousand million.

    Examples
    --------
    >>> import fernwood
    >>> store = fernwood.ingest(np.array([[1, 1, 2], [2, 2, 4], [3, 3, 6]]))
    >>> a, same, doubled = store.contents
    >>> bool(a == same), bool(a == doubled)
    (True, False)
    """
    out = np.empty(len(checksums), np.uint32)
    first = 0
    while first < len(checksums):
        enough = int(np.searchsorted(grids.offsets, grids.offsets[first] + _STEPS_AT_ONCE, side="right")) - 1
        last = min(max(enough, first + 1), first + _COLUMNS_AT_ONCE, len(checksums))
        part = slice(first, last)
        mixed = _mixed(checksums[part] + _mixed(kinds[part].astype(np.uint64)))
        mixed = _mixed(mixed + grids.shift[part])
        mixed = _mixed(mixed + grids.origin[part].view(np.uint64))
        offsets = grids.offsets[first : last + 1]
        lengths = np.diff(offsets)
        place = np.arange(lengths.sum(), dtype=np.uint64) - np.repeat(
            (offsets[:-1] - offsets[0]).astype(np.uint64), lengths
        )
        steps = _mixed(grids.steps[offsets[0] : offsets[-1]] ^ _mixed(place + np.uint64(1)))
        so_far = np.concatenate((np.zeros(1, np.uint64), np.cumsum(steps, dtype=np.uint64)))
        ends = offsets - offsets[0]
        mixed = _mixed(mixed + (so_far[ends[1:]] - so_far[ends[:-1]]))
        out[part] = mixed >> np.uint64(32)
        first = last
    for i, words in labels.items():
        spelled = hashlib.blake2b(repr(words.to_pylist()).encode("utf-8", "surrogatepass"), digest_size=4).digest()
        out[i] ^= np.uint32(int.from_bytes(spelled, "little"))
    return out


def _mixed(numbers: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Numbers of which every bit depends on all bits of those given (the last step of SplitMix64)."""
    mixed = (numbers ^ (numbers >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return np.asarray(mixed ^ (mixed >> np.uint64(31)))
