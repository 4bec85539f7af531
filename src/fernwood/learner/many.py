"""Many work items on threads: results in the order of the items, the same for any number of threads.

Kernels leave the lock of the interpreter free, so threads share codes and run side by side. Handing an item to a thread
and its result back costs some fifty microseconds of waking and waiting for the lock; small trees go by the group.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sized
from concurrent.futures import Future, ThreadPoolExecutor
from itertools import islice
from typing import TYPE_CHECKING, NamedTuple, TypeVar

from fernwood.errors import ParameterError
from fernwood.learner.trees import Tree, grow

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    import numpy as np
    from numpy.typing import NDArray

    from fernwood.learner.settings import TreeSettings
    from fernwood.learner.target import TreeTarget

__all__ = ["TreeItem", "grow_many", "in_order"]

Item = TypeVar("Item")
Result = TypeVar("Result")

_GROUP_CELLS = 2_000_000  # what takes some milliseconds to grow on


class TreeItem(NamedTuple):
    """What one tree grows from; see `grow`."""

    codes: NDArray[np.uint8]
    target: TreeTarget
    state: NDArray[np.uint64]
    kinds: NDArray[np.uint8] | None = None
    addresses: NDArray[np.uint64] | None = None
    rows: NDArray[np.int32] | None = None


def in_order(work: Callable[[Item], Result], items: Iterable[Item], n_threads: int = 1) -> Iterator[Result]:
    """What `work` returns for every item, in their order; twice as many items as threads are under way at a time.

    Examples
    --------
    >>> list(in_order(abs, [3, -2, 1], n_threads=2))
    [3, 2, 1]
    """
    if n_threads < 1:
        raise ParameterError(f"n_threads is {n_threads}; it must be 1 or more")
    if n_threads == 1:
        yield from map(work, items)
        return
    source = iter(items)
    with ThreadPoolExecutor(n_threads) as pool:
        pending: deque[Future[Result]] = deque(pool.submit(work, item) for item in islice(source, 2 * n_threads))
        try:
            while pending:
                result = pending.popleft().result()
                pending.extend(pool.submit(work, item) for item in islice(source, 1))
                yield result
        finally:
            for future in pending:
                future.cancel()


def grow_many(items: Iterable[TreeItem], settings: TreeSettings, n_threads: int = 1) -> list[Tree]:
    """A tree for every item, in their order, whatever the number of threads.

    Items go to threads by the group where their number is known, else one by one, as they are made.
    """

    def grow_group(group: list[TreeItem]) -> list[Tree]:
        return [
            grow(
                item.codes,
                item.target,
                settings,
                state=item.state,
                kinds=item.kinds,
                addresses=item.addresses,
                rows=item.rows,
            )
            for item in group
        ]

    groups = _groups(items, len(items) // (4 * n_threads) if isinstance(items, Sized) else 1)
    return [tree for trees in in_order(grow_group, groups, n_threads) for tree in trees]


def _groups(items: Iterable[TreeItem], most: int) -> Iterator[list[TreeItem]]:
    """Neighbours together: at most so many, so that all threads have work to the end, and few where they are large."""
    group: list[TreeItem] = []
    cells = 0
    for item in items:
        group.append(item)
        cells += item.codes.size
        if cells >= _GROUP_CELLS or len(group) >= most:
            yield group
            group, cells = [], 0
    if group:
        yield group
