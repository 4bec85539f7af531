"""What is in a folder, told so that two states can be compared: stores, runs, results, exports and models.

Whatever is told was read and checked as a user would have it read; what cannot be read tells why.
"""

from __future__ import annotations

import hashlib
import zipfile
import zlib
from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np

import fernwood
from fernwood.errors import FernwoodError
from fernwood.run.directory import RunDirectory
from fernwood.saved import SUMMARY_NAME, load_result
from fernwood.store import open_store

__all__ = ["ABSENT", "REFUSED", "examined", "listed"]

ABSENT, REFUSED = "not there", "refused: "


def examined(folder: Path, names: tuple[str, ...]) -> dict[str, str]:
    """What stands under some names of a folder, and under names in runs."""
    told: dict[str, str] = {}
    for name in names:
        path = folder / name
        if name.endswith(".run"):
            told |= {f"{name}/{part}": what for part, what in _run(path).items()}
        else:
            told[name] = _guarded(partial(_told, path))
    return told


def listed(folder: Path) -> set[str]:
    """All files of a folder, by their paths from it."""
    return {str(path.relative_to(folder)) for path in folder.rglob("*")}


def _guarded(tell: Callable[[], str]) -> str:
    try:
        return tell()
    except FernwoodError as error:
        return f"{REFUSED}{error}"


def _told(path: Path) -> str:
    if path.suffix == ".fern":
        return _store(path)
    if not path.exists():
        return ABSENT
    if path.suffix == ".html":
        text = path.read_text(encoding="utf-8").rstrip()
        return "a whole page" if text.startswith("<!") and text.endswith("</html>") else "half a page"
    if path.suffix == ".fern-model":
        fernwood.load(path)
    return hashlib.blake2b(path.read_bytes(), digest_size=8).hexdigest()


def _store(path: Path) -> str:
    try:
        with open_store(path) as store:
            store.verify()
            return store.fingerprint
    except FernwoodError as error:
        if "there is no store" in str(error):
            return ABSENT
        raise


def _run(path: Path) -> dict[str, str]:
    """A run: what it is, what its store is, its result and its report; checkpoints that can be read, or none."""
    if not path.exists():
        try:
            RunDirectory.open(path)  # an old one may be aside
        except FernwoodError:
            return {"run": ABSENT, "store": ABSENT, "result": ABSENT, "checkpoint": "fine", "report": ABSENT}
    return {
        "run": _guarded(lambda: RunDirectory.open(path).manifest.fingerprint),
        "store": _store(path / "table.fern"),
        "result": _guarded(lambda: _result(path)),
        "checkpoint": _checkpoints(path),
        "report": _told(path / "report.html"),
    }


def _result(path: Path) -> str:
    if not (path / SUMMARY_NAME).exists():
        return ABSENT
    table = load_result(path).to_table()
    return hashlib.blake2b(repr(table.to_pylist()).encode(), digest_size=8).hexdigest()


def _checkpoints(path: Path) -> str:
    for name in sorted(path.glob("*.npz")):
        try:
            with np.load(name, allow_pickle=False) as arrays:
                for part in arrays.files:
                    np.asarray(arrays[part])
        except (ValueError, OSError, EOFError, zipfile.BadZipFile, zlib.error) as error:
            return f"{name.name} is damaged ({error})"
    return "fine"
