"""Opening a store, wherever it is."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fernwood.errors import ParameterError, shown
from fernwood.sources.place import Url, as_place
from fernwood.store.disk import DiskStore

if TYPE_CHECKING:
    import os
    from collections.abc import Mapping

    from fernwood.store.stored import FileStore

__all__ = ["open_store"]


def open_store(
    path: str | os.PathLike[str] | Url,
    *,
    cache: str | os.PathLike[str] | None = None,
    cache_size: int | str | None = None,
    options: Mapping[str, Any] | None = None,
) -> FileStore:
    """Open a store made by `fernwood.ingest`.

    Reads the manifest and looks whether every file is there at its size; codes and records are read when needed.

    Parameters
    ----------
    path
        The directory of the store, or a URL that fsspec knows, such as ``"s3://bucket/genes.fern"``.
    cache
        Of a store at a URL, the directory that keeps what was fetched, also for the next time. By default
        FERNWOOD_CACHE, or else a temporary one that goes with the last process that uses it.
    cache_size
        The most that it may take, such as ``"20GB"``. By default FERNWOOD_CACHE_SIZE, or else the size of the store,
        and at most half of what is free on the disk.
    options
        What the library behind the URL takes, such as ``{"endpoint_url": ...}`` for ``s3://``.

    Examples
    --------
    >>> import fernwood, numpy as np, tempfile, pathlib
    >>> where = pathlib.Path(tempfile.mkdtemp()) / "small.fern"
    >>> _ = fernwood.ingest(np.eye(4), where)
    >>> fernwood.open(where)
    <DiskStore: 4 rows, 4 columns>
    """
    place = as_place(path)
    if isinstance(place, Url):
        from fernwood.store.remote import RemoteStore

        return RemoteStore(place, cache=cache, cache_size=cache_size, options=options)
    given = {"cache": cache, "cache_size": cache_size, "options": options}
    for name, value in given.items():
        if value is not None:
            raise ParameterError(f"{name} is for stores at a URL, and {shown(place)} is on disk; leave it out")
    return DiskStore(place)
