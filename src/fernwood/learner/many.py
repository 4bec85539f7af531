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

from fernwood.errors import ParameterError
from fernwood.shortage import check_threads

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

__all__ = ["group_size", "in_order", "one_ahead"]

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
    n_threads = max(min(n_threads, -(-length_hint(items, n_threads * group) // group)), 1)
    if n_threads == 1:  # also where there is no more than one group: a thread for it would only be waited for
        yield from map(work, items)
        return
    source = iter(items)

    def groups() -> Iterator[list[Item]]:
        while some := list(islice(source, group)):
            yield some

    def together(some: list[Item]) -> list[Result]:
        return [work(item) for item in some]

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
