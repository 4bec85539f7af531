"""Workers of a Dask cluster: of this machine, or of many.

Dask moves the items of a worker that dies to others. What is left to do here: an item that its worker does not get on
with is given to another one as well, and the first result counts; one that kills worker after worker is done here.
"""

from __future__ import annotations

import secrets
import time
from typing import TYPE_CHECKING, Any

from fernwood.errors import ClusterError, shown
from fernwood.version import __version__
from fernwood.work.engine import Engine

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from distributed import Client, Future

__all__ = ["DaskEngine", "connect"]

_CONNECTING_S = 8
"""How long a scheduler may take to answer."""
_LOOK_S = 0.5
"""Between two looks at items that take their time."""
_PATIENCE_S, _SLOWER = 20.0, 4.0
"""An item is slow after so many seconds, and so many times as long as most others took."""
_WITHOUT_WORKERS_S = 30.0
"""How long a cluster may be without any worker before the work is done here."""
_AT_ONCE = 64
"""Results that are fetched together."""


def connect(address: str) -> DaskEngine:
    """The workers of the scheduler at an address such as ``tcp://10.0.0.1:8786``.

    Raises
    ------
    ClusterError
        Where no scheduler answers, it has no workers yet, or they run another Fernwood.
    """
    try:
        from distributed import Client
    except ImportError as error:
        raise ClusterError(
            f"--scheduler is {shown(address)} and Dask is not installed; pip install 'fernwood[dask]'"
        ) from error
    try:
        client = Client(address, timeout=_CONNECTING_S, set_as_default=False)
    except (OSError, ValueError, TypeError) as error:
        raise ClusterError(
            f"no Dask scheduler answers at {shown(address)} within {_CONNECTING_S} s; start one with `dask scheduler`, "
            "or check the address, which looks like tcp://10.0.0.1:8786"
        ) from error
    try:
        return DaskEngine(client, own=True)
    except ClusterError:
        client.close()
        raise


class DaskEngine(Engine):
    """The workers that a Dask client knows.

    Parameters
    ----------
    client
    own
        Whether the client is ours to close.
    """

    def __init__(self, client: Client, *, own: bool = False) -> None:
        super().__init__()
        self._client = client
        self._own = own
        self._check_versions()
        self.n_workers = sum(self._threads().values())
        self._usual = 0.0

    def _threads(self) -> dict[str, int]:
        """The workers there are, and how many items each does side by side."""
        return dict(self._client.nthreads())

    def _check_versions(self) -> None:
        """Refuse workers that would not do what is asked, before anything is asked of them."""
        if not self._threads():
            try:
                self._client.wait_for_workers(1, timeout=_CONNECTING_S)
            except (OSError, TimeoutError) as error:
                raise ClusterError(
                    f"the Dask scheduler at {shown(self._address)} has no workers; start some with "
                    f"`dask worker {self._address}`"
                ) from error
        versions: dict[str, object] = self._client.run(_version_here, on_error="return")
        for worker, version in versions.items():
            if version != __version__:
                has = f"Fernwood {version}" if isinstance(version, str) else "no Fernwood that can be imported"
                raise ClusterError(
                    f"the worker at {shown(worker)} has {has} and this is {__version__}; "
                    f"install fernwood=={__version__} there, since answers must not depend on who works"
                )

    @property
    def _address(self) -> str:
        return str(self._client.scheduler_info(n_workers=0)["address"])

    def _results(self, perform: Callable[[bytes], Any], items: Sequence[bytes]) -> Iterator[Any]:
        # A client that is in two rounds at once, or was before a resume, must not take one item for another.
        name = f"fernwood-{secrets.token_hex(6)}"
        futures = self._client.map(perform, items, pure=False, key=[f"{name}-{i}" for i in range(len(items))])
        try:
            for first in range(0, len(items), _AT_ONCE):
                yield from self._gathered(perform, items[first : first + _AT_ONCE], futures[first : first + _AT_ONCE])
        finally:
            self._client.cancel(futures, force=True)

    def _gathered(self, perform: Callable[[bytes], Any], items: Sequence[bytes], futures: list[Future]) -> list[Any]:
        """Results of some items: the first that comes of each."""
        chosen = self._first_done(perform, items, futures)
        fetched = iter(self._fetched([future for future in chosen if future is not None]))
        return [
            next(fetched) if future is not None else self._failed(perform, item, futures[place])
            for place, (item, future) in enumerate(zip(items, chosen, strict=True))
        ]

    def _fetched(self, futures: list[Future]) -> list[Any]:
        from distributed import CancelledError

        try:
            return list(self._client.gather(futures))
        except (CancelledError, OSError) as error:
            raise self._gone(error) from error

    def _first_done(
        self, perform: Callable[[bytes], Any], items: Sequence[bytes], futures: list[Future]
    ) -> list[Future | None]:
        """Of every item the future that is finished; None where it failed."""
        from distributed import wait

        started, idle_since = time.monotonic(), None
        twins: dict[int, Future] = {}
        while True:
            ours = [[future for future in (futures[i], twins.get(i)) if future is not None] for i in range(len(items))]
            waiting = [i for i, same in enumerate(ours) if not any(_over(future) for future in same)]
            if not waiting:
                break
            try:
                pending = [future for i in waiting for future in ours[i]]
                wait(pending, timeout=_LOOK_S, return_when="FIRST_COMPLETED" if twins else "ALL_COMPLETED")
            except TimeoutError:
                pass
            except OSError as error:
                raise self._gone(error) from error
            took = time.monotonic() - started
            n_done = len(items) - len(waiting)
            if n_done >= len(items) / 2:
                self._usual = max(self._usual, 0.0) or took
            if self._threads():
                idle_since = None
            else:
                idle_since = idle_since or time.monotonic()
                if time.monotonic() - idle_since > _WITHOUT_WORKERS_S:
                    break
            if took > max(_PATIENCE_S, _SLOWER * self._usual) and not twins:
                twins = {i: self._elsewhere(perform, items[i], futures[i]) for i in waiting}
        return [next((future for future in same if future.status == "finished"), None) for same in ours]

    def _elsewhere(self, perform: Callable[[bytes], Any], item: bytes, slow: Future) -> Future:
        """The item once more, with workers that are not at it."""
        self.n_again += 1
        self.bytes_sent += len(item)
        at_it = {worker for worker, keys in self._client.processing().items() if slow.key in keys}
        others = [worker for worker in self._threads() if worker not in at_it]
        return self._client.submit(
            perform, item, pure=False, workers=others or None, allow_other_workers=True, key=f"{slow.key}-again"
        )

    def _failed(self, perform: Callable[[bytes], Any], item: bytes, future: Future) -> Any:
        """What is to be done of an item that no worker finished."""
        from distributed import KilledWorker

        error = future.exception(timeout=_LOOK_S) if future.status == "error" else None
        if error is None or isinstance(error, (KilledWorker, MemoryError)):
            why = "no worker is left" if error is None else "workers died, or were short of memory, again and again"
            return self._done_here(perform, item, why)
        raise error

    def _gone(self, error: BaseException) -> ClusterError:
        return ClusterError(
            f"the Dask scheduler is gone ({type(error).__name__}); start it again, and go on with `fernwood resume` "
            "where the run is kept"
        )

    def close(self) -> None:
        """Let go of the scheduler; the workers stay."""
        if self._own:
            self._client.close()


def _over(future: Future) -> bool:
    return str(future.status) in {"finished", "error", "cancelled", "lost"}


def _version_here() -> str:
    from fernwood.version import __version__ as version

    return version
