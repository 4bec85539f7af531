"""Workers that joblib starts: processes of this machine, or whatever else its context names."""

from __future__ import annotations

from concurrent.futures.process import BrokenProcessPool
from typing import TYPE_CHECKING, Any

from fernwood.work.engine import Engine

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

__all__ = ["JoblibEngine"]

_TRIES = 3
"""How often a list of items is given to workers some of which die, before what is left is done here."""


class JoblibEngine(Engine):
    """The backend of joblib's context, with so many jobs.

    Examples
    --------
    >>> import joblib
    >>> with joblib.parallel_config("loky"):
    ...     list(JoblibEngine(2).run(len, [b"a", b"bcd"]))
    [1, 3]
    """

    def __init__(self, n_jobs: int) -> None:
        super().__init__()
        self.n_workers = n_jobs

    def _results(self, perform: Callable[[Any], Any], items: Sequence[Any]) -> Iterator[Any]:
        done: dict[int, Any] = {}
        for _ in range(_TRIES):
            left = [number for number in range(len(items)) if number not in done]
            try:
                done.update(self._unordered(perform, items, left))
                break
            except BrokenProcessPool:  # a process was killed; joblib starts others for the next call
                self.n_again += len(left) - sum(number in done for number in left)
        for number, item in enumerate(items):
            if number not in done:
                yield self._done_here(perform, item, f"worker processes died {_TRIES} times")
            elif isinstance(result := done.pop(number), MemoryError):
                yield self._done_here(perform, item, "a worker process was short of memory")
            else:
                yield result

    def _unordered(
        self, perform: Callable[[Any], Any], items: Sequence[Any], chosen: list[int]
    ) -> Iterator[tuple[int, Any]]:
        from joblib import Parallel, delayed

        # What is sent is small: it travels whole, and not as a file that processes map.
        parallel = Parallel(
            self.n_workers, return_as="generator_unordered", pre_dispatch="all", batch_size=1, max_nbytes=None
        )
        yield from parallel(delayed(_numbered)(perform, number, items[number]) for number in chosen)


def _numbered(perform: Callable[[Any], Any], number: int, item: Any) -> tuple[int, Any]:
    try:
        return number, perform(item)
    except MemoryError as error:  # of this process alone: it says nothing of the others
        return number, error
