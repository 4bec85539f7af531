"""Many work items on threads: results in the order of the items, the same for any number of threads.

Kernels leave the lock of the interpreter free, so threads share codes and run side by side. Handing work to a thread
and its result back costs some fifty microseconds of waking and waiting for the lock; small items go by the group.
"""

from __future__ import annotations

from collections import deque
from concurrent.futures import Future, ThreadPoolExecutor
from itertools import islice
from operator import length_hint
from typing import TYPE_CHECKING, TypeVar

import numpy as np

from fernwood.errors import ParameterError
from fernwood.kernels.predicting import add_entries
from fernwood.learner.trees import Tree, leaves
from fernwood.shortage import check_threads

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from numpy.typing import NDArray

__all__ = ["group_size", "in_order", "one_ahead", "vote"]

_FEWEST_ROWS, _MOST_ROWS = 128, 8192
"""Rows that follow all trees at a time: enough to hide what a call costs, few enough to share out."""

_GROUP_CELLS = 2_000_000
"""What takes some milliseconds to grow on."""

Item = TypeVar("Item")
Result = TypeVar("Result")


def group_size(n_items: int, n_cells: int, n_threads: int) -> int:
    """How many items that grow trees on so many cells each go to a thread together.

    Few enough that all threads have work to the end, and few where the items are large.

    Examples
    --------
    >>> group_size(200, 250_000, 2), group_size(20, 1000, 2), group_size(200, 10**7, 2)
    (8, 2, 1)
    """
    return max(1, min(_GROUP_CELLS // n_cells, n_items // (4 * n_threads)))


def one_ahead(items: Iterable[Item], expect: Callable[[Item], object]) -> Iterator[Item]:
    """The items, each when its successor is already expected: what that one needs is fetched in the meantime.

    Examples
    --------
    >>> expected = []
    >>> for item in one_ahead("ab", expected.append):
    ...     print(item, expected)
    a ['a', 'b']
    b ['a', 'b']
    """
    waiting: list[Item] = []
    for item in items:
        expect(item)
        yield from waiting
        waiting = [item]
    yield from waiting


def in_order(
    work: Callable[[Item], Result], items: Iterable[Item], n_threads: int = 1, group: int = 1
) -> Iterator[Result]:
    """What `work` returns for every item, in their order; twice as many groups as threads are under way at a time.

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

    def groups() -> Iterator[list[Item]]:
        while some := list(islice(source, group)):
            yield some

    def together(some: list[Item]) -> list[Result]:
        return [work(item) for item in some]

    n_threads = max(min(n_threads, -(-length_hint(items, n_threads * group) // group)), 1)
    check_threads(n_threads)
    waiting = groups()
    with ThreadPoolExecutor(n_threads) as pool:
        pending: deque[Future[list[Result]]] = deque(
            pool.submit(together, some) for some in islice(waiting, 2 * n_threads)
        )
        try:
            while pending:
                results = pending.popleft().result()
                pending.extend(pool.submit(together, some) for some in islice(waiting, 1))
                yield from results
        finally:
            for future in pending:
                future.cancel()


def vote(trees: Sequence[Tree], codes: NDArray[np.uint8], n_outputs: int, n_threads: int = 1) -> NDArray[np.float64]:
    """The mean, over trees that grew on the same columns, of what the leaf of every row says.

    Every row adds up the trees in their order, so the answer is the same for any number of threads.

    Parameters
    ----------
    trees
    codes : uint8 array, shape (columns, rows)
    n_outputs
        How many classes there are; 1 for numbers.
    n_threads

    Returns
    -------
    float64 array, shape (rows, outputs)
        Shares of classes, or the target's values as kernels have them.

    Notes
    -----
    Peak memory: the result.

    Examples
    --------
    >>> from fernwood import seeds
    >>> from fernwood.learner.settings import TreeSettings
    >>> from fernwood.learner.target import class_target
    >>> from fernwood.learner.trees import grow
    >>> codes = np.array([[0, 0, 1, 1]], np.uint8)
    >>> tree = grow(codes, class_target([0, 0, 1, 1]), TreeSettings(), state=seeds.state(0))
    >>> vote([tree, tree], codes, 2)[:, 1].tolist()
    [0.0, 0.0, 1.0, 1.0]
    """
    n_rows = codes.shape[1]
    out = np.zeros((n_rows, n_outputs))
    size = min(max(-(-n_rows // (4 * n_threads)), _FEWEST_ROWS), _MOST_ROWS)

    def block(first: int) -> None:
        rows = np.arange(first, min(first + size, n_rows), dtype=np.int32)
        for tree in trees:
            add_entries(tree, leaves(tree, codes, rows), out[first : first + size])

    for _ in in_order(block, range(0, n_rows, size), n_threads):
        pass
    out /= len(trees)
    return out
