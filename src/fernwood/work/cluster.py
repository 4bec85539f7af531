"""Workers of a Dask cluster: of this machine, or of many.

Dask moves the items of a worker that dies to others. What is left to do here: an item that its worker does not get on
with is given to another one as well, and the first result counts; one that kills worker after worker is done here.
"""

from __future__ import annotations

import queue
import secrets
import socket
import threading
import time
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from fernwood.errors import ClusterError, shown
from fernwood.shortage import check_threads, pass_on_shortage
from fernwood.version import __version__
from fernwood.work.engine import Engine
from fernwood.work.packing import weight

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from distributed import Client, Future

__all__ = ["DaskEngine", "connect"]

_EXAMPLE = "tcp://10.0.0.1:8786"
_CONNECTING_S = 6
"""How long a scheduler may take to answer, and then its first worker to come."""
_LOOK_S = 0.5
"""Between two looks at items that take their time."""
_PATIENCE_S, _SLOWER = 10.0, 4.0
"""Items are slow after so many seconds, and so many times as long as any round took before."""
_AVOIDED_S = 600.0
"""How long a worker that was slow is asked nothing, as long as there are others."""
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
    _check_answers(address)
    client = _within_time(lambda: Client(address, timeout=_CONNECTING_S, set_as_default=False), address)
    try:
        return DaskEngine(client, own=True)
    except ClusterError:
        client.close()
        raise


def _check_answers(address: str) -> None:
    """Refuse an address at which nobody listens: Dask itself would try again and again."""
    place = urlsplit(address)
    try:
        host, port = place.hostname, place.port
    except ValueError:
        host = port = None
    if not (place.scheme and host and port):
        raise ClusterError(f"--scheduler is {shown(address)}; give an address with its port, such as {_EXAMPLE}")
    try:
        socket.create_connection((host, port), timeout=_CONNECTING_S).close()
    except OSError as error:
        pass_on_shortage(error)
        raise _no_scheduler(address) from error


def _within_time(make: Callable[[], Client], address: str) -> Client:
    """A client, made in time: one that takes up with something that is no scheduler never gives up by itself."""
    made: queue.SimpleQueue[Client | Exception] = queue.SimpleQueue()

    def attempt() -> None:
        try:
            made.put(make())
        except Exception as error:  # noqa: BLE001  (whatever it is, there is no scheduler that answers)
            made.put(error)

    check_threads()
    threading.Thread(target=attempt, name="fernwood-connect", daemon=True).start()
    try:
        client = made.get(timeout=_CONNECTING_S + 1)
    except queue.Empty as error:
        raise _no_scheduler(address) from error
    if isinstance(client, Exception):
        pass_on_shortage(client)
        raise _no_scheduler(address) from client
    return client


def _no_scheduler(address: str) -> ClusterError:
    return ClusterError(
        f"no Dask scheduler answers at {shown(address)}; start one with `dask scheduler`, or check the address, which "
        f"looks like {_EXAMPLE}"
    )


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
        self._longest = 0.0
        self._slow: dict[str, float] = {}

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

    def _results(self, perform: Callable[[Any], Any], items: Sequence[Any]) -> Iterator[Any]:
        # A client that is in two rounds at once, or was before a resume, must not take one item for another.
        name = f"fernwood-{secrets.token_hex(6)}"
        keys = [f"{name}-{i}" for i in range(len(items))]
        futures = self._client.map(perform, items, pure=False, key=keys, **self._preferring())
        try:
            # For the next round, since workers come and go; they are at work while the scheduler is asked.
            self.n_workers = sum(self._threads().values()) or self.n_workers
            for first in range(0, len(items), _AT_ONCE):
                yield from self._gathered(perform, items[first : first + _AT_ONCE], futures[first : first + _AT_ONCE])
        finally:
            self._client.cancel(futures, force=True)

    def _gathered(self, perform: Callable[[Any], Any], items: Sequence[Any], futures: list[Future]) -> list[Any]:
        """Results of some items: the first that comes of each."""
        first = self._first_done(perform, items, futures)
        fetched = iter(self._fetched([future for future in first if future is not None and _finished(future)]))
        return [
            next(fetched) if future is not None and _finished(future) else self._failed(perform, item, future)
            for item, future in zip(items, first, strict=True)
        ]

    def _fetched(self, futures: list[Future]) -> list[Any]:
        from distributed import CancelledError

        try:
            return list(self._client.gather(futures))
        except (CancelledError, OSError) as error:
            raise self._gone(error) from error

    def _first_done(
        self, perform: Callable[[Any], Any], items: Sequence[Any], futures: list[Future]
    ) -> list[Future | None]:
        """Of every item the future that is over first, a finished one before a failed one; None where none is."""
        started = with_workers = time.monotonic()
        twins: dict[int, Future] = {}

        def asked(i: int) -> list[Future]:
            return [futures[i], twins[i]] if i in twins else [futures[i]]

        while waiting := [i for i in range(len(items)) if not any(_over(future) for future in asked(i))]:
            if self._wait([future for i in waiting for future in asked(i)], any_one=bool(twins)):
                continue
            now = time.monotonic()
            with_workers = now if self._threads() else with_workers
            if now - with_workers > _WITHOUT_WORKERS_S:
                break
            if not twins and now - started > max(_PATIENCE_S, _SLOWER * self._longest):
                twins = {i: self._elsewhere(perform, items[i], futures[i]) for i in waiting}
        if not twins:
            self._longest = max(self._longest, time.monotonic() - started)
        over = [sorted(filter(_over, asked(i)), key=_finished, reverse=True) for i in range(len(items))]
        return [some[0] if some else None for some in over]

    def _wait(self, futures: list[Future], *, any_one: bool) -> bool:
        """Wait for one of some items, or for all; whether that was over soon."""
        from distributed import CancelledError, wait

        try:
            with self._client.as_current():
                wait(futures, timeout=_LOOK_S, return_when="FIRST_COMPLETED" if any_one else "ALL_COMPLETED")
        except TimeoutError:
            return False
        except (CancelledError, OSError) as error:
            raise self._gone(error) from error
        return True

    def _preferring(self) -> dict[str, Any]:
        """How Dask is asked for workers that were not slow lately, where there are such."""
        now = time.monotonic()
        self._slow = {worker: since for worker, since in self._slow.items() if now - since < _AVOIDED_S}
        quick = [worker for worker in self._threads() if worker not in self._slow] if self._slow else []
        return {"workers": quick, "allow_other_workers": True} if quick else {}

    def _elsewhere(self, perform: Callable[[Any], Any], item: Any, slow: Future) -> Future:
        """The item once more, with workers that are not at it."""
        self.n_again += 1
        self.bytes_sent += weight(item)
        for worker, keys in self._client.processing().items():
            if slow.key in keys:
                self._slow[worker] = time.monotonic()
        return self._client.submit(perform, item, pure=False, key=f"{slow.key}-again", **self._preferring())

    def _failed(self, perform: Callable[[Any], Any], item: Any, future: Future | None) -> Any:
        """What is to be done of an item that no worker finished."""
        from distributed import KilledWorker

        if future is None:
            return self._done_here(perform, item, "no worker is left")
        if future.status != "error":
            raise self._gone(ConnectionError(future.status))
        error = future.exception()
        if isinstance(error, (KilledWorker, MemoryError)):
            return self._done_here(perform, item, "workers died, or were short of memory, again and again")
        raise error

    def _gone(self, error: BaseException) -> ClusterError:
        return ClusterError(f"the Dask scheduler is gone ({type(error).__name__}); start it again")

    def close(self) -> None:
        """Let go of the scheduler; the workers stay."""
        if self._own:
            self._client.close()


def _over(future: Future) -> bool:
    return str(future.status) in {"finished", "error", "cancelled", "lost"}


def _finished(future: Future) -> bool:
    return str(future.status) == "finished"


def _version_here() -> str:
    from fernwood.version import __version__ as version

    return version
