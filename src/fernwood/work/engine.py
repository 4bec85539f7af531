"""What an engine is: it has items done by workers of other processes, and hands their results back in order."""

from __future__ import annotations

import warnings
from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any

from fernwood.errors import FernwoodWarning
from fernwood.work.packing import weight

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

__all__ = ["Engine"]


class Engine(ABC):
    """Workers of other processes.

    Attributes
    ----------
    n_workers : items that are done side by side
    bytes_sent : numbers and text that were sent to workers in all, without what wraps them
    n_rounds : lists of items that were run
    n_again : items that were given away once more, or done here, because a worker died, was slow or short of memory
    """

    n_workers: int

    def __init__(self) -> None:
        self.bytes_sent = self.n_rounds = self.n_again = 0

    def run(self, perform: Callable[[Any], Any], items: Sequence[Any]) -> Iterator[Any]:
        """What `perform` returns for every item, in their order, whoever did them."""
        self.n_rounds += 1
        self.bytes_sent += sum(map(weight, items))
        yield from self._results(perform, items)

    @abstractmethod
    def _results(self, perform: Callable[[Any], Any], items: Sequence[Any]) -> Iterator[Any]:
        """The results in order."""

    def close(self) -> None:  # noqa: B027  (workers that were there before stay)
        """Let go of the workers."""

    def _done_here(self, perform: Callable[[Any], Any], item: Any, why: str) -> Any:
        """An item that workers fail at, done in this process."""
        self.n_again += 1
        warnings.warn(f"{why}; this part of the work is done here instead", FernwoodWarning, stacklevel=2)
        return perform(item)
