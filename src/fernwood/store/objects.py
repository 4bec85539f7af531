"""The files of a store at a URL, through fsspec: parts of them, never of two versions, and one sentence for a fault."""

from __future__ import annotations

import os
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from fernwood.errors import FernwoodError, StoreError, printable, shown
from fernwood.sealed import digest
from fernwood.shortage import check_threads, pass_on_shortage
from fernwood.store.manifest import LARGEST_MANIFEST, MANIFEST_NAME

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from fernwood.sources.place import Url

__all__ = ["AT_ONCE", "Objects", "Seen"]

AT_ONCE = 4
"""Parts that a process fetches at a time."""
_LOOKS_AT_ONCE = 8
_PAUSES = (0.1, 0.5, 2.0)
"""Seconds before another try."""
_OPENING_SECONDS, _READING_SECONDS = 5.0, 60.0
"""After so long nothing is tried again: many libraries try for a while by themselves."""
_VERSIONS = ("ETag", "etag", "generation", "md5Hash", "content_md5", "Content-MD5", "Digest", "mtime", "LastModified")
_TIMES = ("last_modified", "Last-Modified", "updated", "modified", "created")
_REFUSED, _MISSING = (401, 403), (404, 410)

Got = TypeVar("Got")


class Seen(NamedTuple):
    """What tells a version of a file from another: its size, and a mark that changes with its content."""

    size: int
    version: str


class Objects:
    """Files below a URL.

    Parameters
    ----------
    url
    options : for the library behind the protocol, as fsspec takes them

    Attributes
    ----------
    title : the URL as sentences show it
    bytes_fetched : so far
    """

    def __init__(self, url: Url, options: Mapping[str, Any]) -> None:
        self.url = url
        self.title = shown(url)
        self.bytes_fetched = 0
        self._options = dict(options)
        self._lock = threading.Lock()
        self._at_once = threading.BoundedSemaphore(AT_ONCE)
        self._opened: tuple[Any, str] | None = None

    def manifest(self) -> bytes | None:
        """The bytes of the manifest; None where they are too many to be one."""

        def once() -> bytes:
            files, path = self._file(MANIFEST_NAME)
            data = self._counted(files.cat_file(path, start=0, end=LARGEST_MANIFEST + 1))
            if self.url.protocol in ("http", "https") and len(files.cat_file(path, start=0, end=1)) != 1:
                raise StoreError(
                    f"the server of {self.title} sends whole files where parts are asked for; put the store on one "
                    "that takes ranges, or copy it to a disk"
                )
            return data

        try:
            data = self._tried(once, _OPENING_SECONDS)
        except FileNotFoundError as error:
            raise StoreError(
                f"{self.title} is no store: there is no {MANIFEST_NAME} below it; give the address of a store "
                "(NAME.fern), made with `fernwood ingest` and copied there"
            ) from error
        return data if len(data) <= LARGEST_MANIFEST else None

    def look(self, names: Sequence[str]) -> dict[str, Seen]:
        """The files of these names that are there."""

        def one(name: str) -> Seen | None:
            try:
                return self._tried(lambda: self._seen(name), _OPENING_SECONDS)
            except FileNotFoundError:
                return None

        check_threads(min(_LOOKS_AT_ONCE, len(names)))
        with ThreadPoolExecutor(min(_LOOKS_AT_ONCE, len(names))) as pool:
            found = dict(zip(names, pool.map(one, names), strict=True))
        return {name: seen for name, seen in found.items() if seen is not None}

    def read(self, name: str, seen: Seen, start: int, stop: int, *, patient: bool = True) -> bytes:
        """A part of a file that is still as it was seen.

        Parameters
        ----------
        name, seen
        start, stop : its bytes
        patient : whether to try again where that may help
        """

        def once() -> bytes:
            try:
                files, path = self._file(name)
                with self._at_once:
                    data = self._counted(files.cat_file(path, start=start, end=stop))
            except Exception:
                self._refuse_changed(name, seen)  # which explains anything
                raise
            self._refuse_changed(name, seen)
            if len(data) != stop - start:
                raise EOFError
            return data

        try:
            return self._tried(once, _READING_SECONDS if patient else 0.0)
        except FileNotFoundError as error:
            raise self._changed(name) from error

    def _refuse_changed(self, name: str, seen: Seen) -> None:
        if self._seen(name) != seen:
            raise self._changed(name)

    def _changed(self, name: str) -> StoreError:
        return StoreError(
            f"{shown(name)} of {self.title} was replaced or removed since the store was opened; open it again"
        )

    def _seen(self, name: str) -> Seen:
        files, path = self._file(name)
        files.invalidate_cache(path)
        about = files.info(path)
        version = next((f"{key} {about[key]}" for key in (*_VERSIONS, *_TIMES) if about.get(key)), "")
        return Seen(-1 if about.get("size") is None else int(about["size"]), digest(version.encode()))

    def _counted(self, data: bytes) -> bytes:
        with self._lock:
            self.bytes_fetched += len(data)
        return data

    def _file(self, name: str) -> tuple[Any, str]:
        self._opened = self._opened or self._file_system()
        files, root = self._opened
        path, mark, query = root.partition("?") if self.url.protocol in ("http", "https") else (root, "", "")
        return files, f"{path.rstrip('/')}/{name}{mark}{query}"

    def _file_system(self) -> tuple[Any, str]:
        try:
            from fsspec.core import url_to_fs
        except ImportError as error:
            raise StoreError(
                f"{self.title} is at a URL, for which fsspec is not installed; pip install 'fernwood[remote]'"
            ) from error
        protocol = printable(self.url.protocol)
        try:
            files, root = url_to_fs(self.url.full, **self._options)
        except ImportError as error:
            from fsspec.registry import known_implementations

            told = known_implementations.get(self.url.protocol, {}).get("err", "fsspec says which one it is")
            raise StoreError(
                f"{self.title} needs a library for {protocol}:// that is not installed ({told}); pip install it beside "
                "'fernwood[remote]'"
            ) from error
        except Exception as error:
            pass_on_shortage(error)
            if isinstance(error, ValueError) and "rotocol not known" in str(error):
                raise StoreError(
                    f"{self.title} begins with {protocol}://, which fsspec does not know; s3://, gs://, abfs:// and "
                    "https:// are some that it does"
                ) from error
            raise self._explained(error) from error
        return files, root

    def _tried(self, once: Callable[[], Got], seconds: float) -> Got:
        """What a call gives, tried again where that may help; a file that is not there is for the caller to explain."""
        until = time.monotonic() + seconds
        for pause in (*_PAUSES, None):
            try:
                return once()
            except FernwoodError:
                raise
            except Exception as error:  # libraries raise what they like
                cause = _cause(error)
                pass_on_shortage(cause)
                if isinstance(cause, FileNotFoundError) or _status(cause) in _MISSING:
                    raise FileNotFoundError(self.title) from error
                if _is_refusal(cause) or pause is None or time.monotonic() + pause > until:
                    raise self._explained(cause) from error
            time.sleep(pause)
        raise AssertionError  # the last try returns or raises

    def _explained(self, error: BaseException) -> StoreError:
        """One sentence for a fault, without the library's words: these may hold addresses with passwords."""
        status = _status(error)
        if _is_refusal(error):
            return StoreError(
                f"{self.title} may not be read with the credentials at hand; give others where the library for "
                f"{printable(self.url.protocol)}:// looks for them, or ask the owner"
            )
        if isinstance(error, EOFError):
            return StoreError(
                f"{self.title} does not send as many bytes as are asked for; look after the network, and try again"
            )
        reason = type(error).__name__ if status is None else f"status {status}"
        if isinstance(error, OSError) and error.errno is not None and error.errno > 0:
            reason = os.strerror(error.errno).lower()
        return StoreError(f"{self.title} cannot be read ({reason}); check the address and the network, and try again")


def _cause(error: BaseException) -> BaseException:
    """What is behind a file that is said not to be there: some libraries say so of a server that does not answer."""
    while isinstance(error, FileNotFoundError) and not isinstance(error.__cause__, LookupError | None):
        error = error.__cause__
    return error


def _is_refusal(error: BaseException) -> bool:
    """Whether credentials are wrong, or there are none, which libraries tell by a name alone (NoCredentialsError)."""
    return isinstance(error, PermissionError) or _status(error) in _REFUSED or "Credential" in type(error).__name__


def _status(error: BaseException) -> int | None:
    """The HTTP status of an error, wherever its library keeps it."""
    response = getattr(error, "response", None)
    if isinstance(response, dict):
        status = response.get("ResponseMetadata", {}).get("HTTPStatusCode")
    else:
        status = getattr(error, "status", None) or getattr(error, "code", None)
    return status if isinstance(status, int) else None
