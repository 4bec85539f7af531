"""Paths and addresses as people give them."""

from __future__ import annotations

from pathlib import Path

import pytest

from fernwood.errors import SourceError
from fernwood.sources.place import Url, as_place


@pytest.mark.parametrize(
    ("given", "place"),
    [
        ("genes.fern", Path("genes.fern")),
        ("a:b/genes.fern", Path("a:b/genes.fern")),
        ("file:///data/my%20genes.fern", Path("/data/my genes.fern")),
        ("FILE://localhost/data/genes.fern", Path("/data/genes.fern")),
        ("s3://bucket/genes.fern", Url("s3://bucket/genes.fern")),
        ("simplecache::file:///genes.fern", Url("simplecache::file:///genes.fern")),
    ],
)
def test_paths_and_addresses(given: str, place: Path | Url) -> None:
    assert as_place(given) == place
    assert as_place(place) == place


@pytest.mark.parametrize("given", ["file://", "file://genes.fern", "file://]", "file://host/genes.fern"])
def test_a_file_of_no_place_here_is_refused(given: str) -> None:
    """The first word after two slashes is a host, which was passed over: `file://genes.fern` was the working directory."""
    with pytest.raises(SourceError, match="^'file://.*' names no file of this machine; write file:/// and the whole"):
        as_place(given)
