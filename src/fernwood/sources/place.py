"""Where a table or a store is: a path on disk, or a URL."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import unquote

from fernwood.errors import SourceError, shown

if TYPE_CHECKING:
    import os

__all__ = ["Place", "Url", "as_place"]

_URL = re.compile(r"(?:[a-z][a-z0-9+.-]*::)*([a-z][a-z0-9+.-]*)://", re.IGNORECASE)

_PLAIN = {"http", "https", "s3", "s3a", "gs", "gcs", "az", "abfs", "abfss", "adl", "oci", "oss", "hdfs", "memory"}


class Url:
    """An address such as ``s3://bucket/genes.fern``; as text it is without what may be secret.

    Parameters
    ----------
    full : as it was given

    Attributes
    ----------
    full : with user, password and query, for whoever opens it
    protocol, name : its first and last part

    Examples
    --------
    >>> address = Url("https://me:secret@host/genes.fern?key=abc")
    >>> str(address), address.name, address.protocol
    ('https://host/genes.fern', 'genes.fern', 'https')
    """

    def __init__(self, full: str) -> None:
        match = _URL.match(full)
        if match is None:
            raise ValueError("no URL")
        self.full = full
        self.protocol = match[1].lower()

    @property
    def is_plain(self) -> bool:
        """Whether it says but where something is: of a well-known kind of place, and no chain of libraries."""
        return "::" not in self.full and self.protocol in _PLAIN

    @property
    def name(self) -> str:
        """What comes after the last slash."""
        return str(self).rstrip("/").rpartition("/")[2]

    def __str__(self) -> str:
        scheme, _, rest = self.full.partition("://")
        host, slash, path = re.split(r"[?#]", rest, maxsplit=1)[0].partition("/")
        return f"{scheme}://{host.rpartition('@')[2]}{slash}{path}"

    def __repr__(self) -> str:
        return f"Url({str(self)!r})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Url) and other.full == self.full

    def __hash__(self) -> int:
        return hash(self.full)


Place = Path | Url


def as_place(given: str | os.PathLike[str] | Url) -> Place:
    """The path, or the URL, that somebody gave; a ``file:`` URL is a path.

    Examples
    --------
    >>> as_place("genes.fern").name, as_place("s3://bucket/genes.fern")
    ('genes.fern', Url('s3://bucket/genes.fern'))
    """
    if isinstance(given, Url):
        return given
    if not isinstance(given, str) or _URL.match(given) is None:
        return Path(given)
    url = Url(given)
    return _file_at(url) if url.protocol == "file" and "::" not in given else url


def _file_at(url: Url) -> Path:
    """The path of a ``file:`` URL, which may name no host but this one."""
    host, slash, path = str(url).partition("://")[2].partition("/")
    if host.lower() not in ("", "localhost") or not slash:
        raise SourceError(
            f"{shown(url)} names no file of this machine; write file:/// and the whole path, or the path alone"
        )
    return Path(unquote(f"/{path}"))
