"""Work items of searches: what the coordinator asks, and how a worker of another process does it.

An item says which search it belongs to (store, settings, seed) and what is asked: a few kilobytes. A worker opens the
store itself, makes ready what the search works with, and keeps that for the items that follow.
"""

from __future__ import annotations

import json
import threading
from collections import OrderedDict
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from fernwood.errors import ClusterError, StoreError, shown
from fernwood.version import __version__

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from fernwood.search.methods import Settings
    from fernwood.store.base import Store
    from fernwood.work.engine import Engine

__all__ = ["Bench", "Crew", "Item", "Site", "perform"]

_BENCHES = 2
"""Searches that a worker keeps ready."""
_CACHE_BYTES = 256 * 10**6
"""Codes of columns that a worker keeps in memory, at most."""


class Site(NamedTuple):
    """A search, as a worker is told of it.

    Attributes
    ----------
    store : where it is opened: a path that workers see, or a URL
    fingerprint : of its content
    method, settings : which search; the settings as JSON
    seed
    """

    store: str
    fingerprint: str
    method: str
    settings: str
    seed: int


@dataclass(frozen=True, slots=True)
class Item:
    """One thing that a worker is asked, as joblib or Dask carries it: nothing of it is ever on a disk.

    Attributes
    ----------
    version : of the Fernwood that asks
    site : the search that it belongs to
    what, told : what is to be done, and with what
    """

    version: str
    site: Site
    what: str
    told: Any


class Bench(Protocol):
    """What a worker has ready for a search."""

    def perform(self, what: str, told: Any) -> Any:
        """Do what is asked."""


class Crew:
    """Workers that are told of one search.

    Parameters
    ----------
    engine
    store
        As workers are to open it: on a disk that they see, or at a URL.
    settings
    seed
    """

    def __init__(self, engine: Engine, store: Store, settings: Settings, seed: int) -> None:
        if store.locator is None:
            raise StoreError("the store is in memory, where no worker sees it; keep it on a disk first")
        self.engine = engine
        plain = json.dumps(settings.to_json())
        self._site = Site(store.locator, store.fingerprint, settings.method, plain, seed)
        _asked_for_here.add(self._site)

    @property
    def n_workers(self) -> int:
        """Items that are done side by side."""
        return self.engine.n_workers

    def ask(self, what: str, told: Iterable[Any]) -> Iterator[Any]:
        """Have `what` done for everything that is told; the results in that order."""
        return self.engine.run(perform, [Item(__version__, self._site, what, one) for one in told])

    def dismiss(self) -> None:
        """Let go of what this process itself made ready, for items that workers failed at."""
        with _lock:
            _known.pop(self._site, None)
            _asked_for_here.discard(self._site)


def perform(item: Item) -> Any:
    """Do one item, in the process of a worker."""
    if item.version != __version__:
        raise ClusterError(
            f"a worker has Fernwood {__version__} and was asked by {shown(item.version)}; install the same on both"
        )
    return _ready(item.site).perform(item.what, item.told)


_lock = threading.Lock()
_asked_for_here: set[Site] = set()
"""Searches that this process asks others to work for: its own memory is promised, so that it keeps no columns."""
_known: OrderedDict[Site, tuple[threading.Lock, list[Bench]]] = OrderedDict()


def _ready(site: Site) -> Bench:
    """What the search of a site works with, made by the first item that needs it."""
    with _lock:
        making, bench = _known.setdefault(site, (threading.Lock(), []))
        _known.move_to_end(site)
        while len(_known) > _BENCHES:
            _known.popitem(last=False)
    with making:
        if not bench:
            bench.append(_made(site))
    return bench[0]


def _made(site: Site) -> Bench:
    from fernwood.search.methods import bench_of, settings_of
    from fernwood.sources.place import as_place
    from fernwood.store import open_store
    from fernwood.store.columns_cache import CachedStore

    try:
        store = open_store(site.store)
    except StoreError as error:
        raise StoreError(
            f"a worker cannot open the store: {error}; keep it where all workers see it, on a shared disk or at a URL"
        ) from error
    if store.fingerprint != site.fingerprint:
        raise StoreError(
            f"a worker finds another store at {shown(as_place(site.store))} than the one that is searched; keep it "
            "where all workers see the same, on a shared disk or at a URL"
        )
    kept = 0 if site in _asked_for_here else _CACHE_BYTES
    return bench_of(CachedStore(store, kept), settings_of(site.method, json.loads(site.settings)), site.seed)
