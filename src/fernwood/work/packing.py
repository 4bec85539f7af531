"""What travels to workers, in few bytes: most of what an item says is positions of columns."""

from __future__ import annotations

from dataclasses import fields, is_dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["ITEMS_A_WORKER", "PackedNumbers", "pack", "shares", "weight"]

ITEMS_A_WORKER = 2
"""Items of a round for every worker: one that is done early takes over from one that is late."""


class PackedNumbers(NamedTuple):
    """Whole numbers as their first one and the steps from each to the next.

    Attributes
    ----------
    n : how many numbers there are
    first : the first of them
    steps : the bytes of the steps, or empty where all steps are alike
    type : of a step, as NumPy writes it; of steps that are all alike, the step itself
    """

    n: int
    first: int
    steps: bytes
    type: str | int

    def unpack(self) -> NDArray[np.int64]:
        """The numbers.

        Examples
        --------
        >>> pack(np.array([5, 6, 9])).unpack().tolist()
        [5, 6, 9]
        """
        if isinstance(self.type, int):
            return self.first + self.type * np.arange(self.n)
        steps = np.frombuffer(self.steps, self.type).astype(np.int64)
        return np.concatenate(([self.first], self.first + np.cumsum(steps)))


def pack(numbers: NDArray[np.integer[Any]]) -> PackedNumbers:
    """Whole numbers, packed: runs and equal numbers take nothing, numbers in order a byte or two each.

    Examples
    --------
    >>> len(pack(np.arange(1000, 9000)).steps), len(pack(np.array([3, 300, 310])).steps)
    (0, 4)
    """
    if not len(numbers):
        return PackedNumbers(0, 0, b"", 0)
    steps = np.diff(numbers.astype(np.int64))
    first = int(numbers[0])
    if not len(steps) or (steps == steps[0]).all():
        return PackedNumbers(len(numbers), first, b"", int(steps[0]) if len(steps) else 0)
    least, most = int(steps.min()), int(steps.max())
    dtype = np.result_type(np.min_scalar_type(least), np.min_scalar_type(most))
    return PackedNumbers(len(numbers), first, steps.astype(dtype).tobytes(), dtype.str)


def weight(item: Any) -> int:
    """Bytes of the numbers and the text in something that is sent, without what wraps them.

    Examples
    --------
    >>> weight((b"abc", [np.zeros(2), None], {"a": 5}))
    36
    """
    if isinstance(item, np.ndarray):
        return item.nbytes
    if isinstance(item, bytes | str):
        return len(item)
    if isinstance(item, dict):
        return sum(weight(key) + weight(value) for key, value in item.items())
    if isinstance(item, tuple | list):
        return sum(map(weight, item))
    if is_dataclass(item):
        return sum(weight(getattr(item, field.name)) for field in fields(item))
    return 8


def shares(numbers: range, n_workers: int) -> list[range]:
    """Numbers of work, cut into about as many for every item, and a few items for every worker.

    Examples
    --------
    >>> shares(range(5, 15), 2)
    [range(5, 7), range(7, 10), range(10, 13), range(13, 15)]
    """
    n_items = min(ITEMS_A_WORKER * n_workers, len(numbers))
    ends = [round(len(numbers) * i / n_items) for i in range(n_items + 1)] if n_items else [0]
    return [numbers[a:b] for a, b in pairwise(ends)]
