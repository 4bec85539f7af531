"""Names of places: paths and URLs as somebody types them."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import fernwood
from fernwood.errors import shown
from fernwood.sources import open_source
from fernwood.sources.place import Url, as_place
from torture.edits import HOSTILE_NAMES
from torture.target import Target

_WITHOUT_NETWORK = {"memory", "file"}


def _use(data: bytes, folder: Path) -> None:
    text = data.decode("utf-8", "surrogateescape")
    if text.startswith("/"):  # in the directory that is watched
        text = f"{folder}{text}"
    place = as_place(text)
    assert shown(place).isprintable()
    if isinstance(place, Url):
        assert isinstance(place.name, str)
        assert as_place(place) == place
        if place.protocol not in _WITHOUT_NETWORK or "::" in text:
            return
    for use in (open_source, fernwood.open, lambda given: fernwood.ingest(folder, given)):
        try:
            use(text)
        except fernwood.errors.FernwoodError as error:
            last = error
    raise last


def _seeds() -> Mapping[str, bytes]:
    urls = [
        "s3://bucket/genes.fern",
        "https://me:secret@host/genes.fern?key=abc#x",
        "simplecache::memory://genes.fern",
        "memory://genes.fern",
        "file:///genes.fern",
        "file://%00/%2e%2e/x",
        "memory://[::1",
        "://",
        "a" * 5000,
        "/" + "a/" * 2000,
    ]
    return {f"place-{i}": url.encode("utf-8", "surrogatepass") for i, url in enumerate([*urls, *HOSTILE_NAMES])}


TARGETS = {"place": Target("place", "paths and URLs", _use, _seeds)}
