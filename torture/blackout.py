"""Power that goes: what a step did to the disk is recorded, and then cut off after every change.

What is on the disk after a cut (decision 0027): what was synced is there. Bytes written to a file since its last sync
may be there, in part, as zeros, or not at all. Names made, changed or removed in a directory since its last sync are
there up to some point: a directory keeps the order of its changes, and two directories know nothing of each other.
"""

from __future__ import annotations

import hashlib
import os
import random
import shutil
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from torture.failing import leftovers, not_old_or_new, rerun
from torture.faulty import Disk, installed
from torture.standing import REFUSED, examined

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from torture.life import Life

__all__ = ["WAYS", "After", "Cut", "all_cuts", "judged", "spread_cuts"]

WAYS = ("lost", "names", "zeros", "data", "torn", "kept")
"""Of what was not synced: nothing is there; names without bytes; names, and zeros for bytes; bytes without names; some
of everything, by chance; all of it, as after a kill."""


class Cut(NamedTuple):
    """A step that ends after so many changes of the disk, and what of them is there then."""

    step: str
    n_changes: int
    way: str
    seed: int = 0

    def __str__(self) -> str:
        return f"{self.step}, after {self.n_changes} changes: {self.way} (seed {self.seed})"


class After(NamedTuple):
    """What came of a cut: whether something was refused in one sentence, and what does not hold."""

    refused: bool
    wrong: tuple[str, ...]


@dataclass
class _File:
    synced: bytes = b""
    writes: list[tuple[int, bytes]] = field(default_factory=list)
    size: int = 0

    def content(self, way: str, chance: random.Random) -> bytes:
        """The bytes after a cut."""
        writes = self.writes
        if way in ("lost", "names"):
            writes = []
        elif way == "zeros":
            writes = [(place, bytes(len(data))) for place, data in writes]
        elif way == "torn" and writes:
            writes = writes[: chance.randrange(len(writes) + 1)]
            if writes:
                place, data = writes[-1]
                writes = [*writes[:-1], (place, data[: chance.randrange(len(data) + 1)])]
        whole = bytearray(self.synced)
        for place, data in writes:
            whole += bytes(max(place + len(data) - len(whole), 0))
            whole[place : place + len(data)] = data
        return bytes(whole)

    def sync(self) -> None:
        self.synced, self.writes = self.content("kept", random.Random(0)), []


@dataclass
class _Directory:
    synced: dict[str, _File | _Directory] = field(default_factory=dict)
    changes: list[tuple[str, str, Any]] = field(default_factory=list)

    def entries(self, n_changes: int | None = None) -> dict[str, _File | _Directory]:
        """Its names after some changes, or after all."""
        found = dict(self.synced)
        for what, name, other in self.changes[:n_changes]:
            if what == "make":
                found[name] = other
            elif what == "remove":
                found.pop(name, None)
            elif name in found:
                found[other] = found.pop(name)
        return found

    def after(self, way: str, chance: random.Random) -> dict[str, _File | _Directory]:
        """Its names after a cut."""
        if way in ("lost", "data"):
            return self.entries(0)
        return self.entries(chance.randrange(len(self.changes) + 1) if way == "torn" else None)

    def sync(self) -> None:
        self.synced, self.changes = self.entries(), []


class _Recorder(Disk):
    """Does what is called for, and writes down what changes the disk below a folder."""

    def __init__(self, folder: Path) -> None:
        super().__init__()
        self._folder = folder
        self.log: list[tuple[Any, ...]] = []

    def do(self, name: str, number: int, real: Callable[..., Any], *given: Any, **named: Any) -> Any:
        """Do it, and note it."""
        del number
        made = name == "create" and not os.path.exists(given[0])  # noqa: PTH110
        result = real(*given, **named)
        with self._lock:
            if name in ("open", "create") and "dir_fd" not in named:
                self.log.append(("opened", self._parts(given[0]), result, made, bool(given[1] & os.O_APPEND)))
            elif name == "write":
                self.log.append(("write", given[0], None, bytes(memoryview(given[1])[:result])))
            elif name == "pwrite":
                self.log.append(("write", given[0], given[2], bytes(memoryview(given[1])[:result])))
            elif name in ("fsync", "close"):
                self.log.append((name, given[0]))
            elif name in ("rename", "replace"):
                self.log.append(("rename", self._parts(given[0]), self._parts(given[1])))
            elif name in ("unlink", "rmdir", "rmtree"):
                self.log.append(("remove", self._parts(given[0])))
            elif name in ("mkdir", "makedirs", "mkdtemp"):
                self.log.append(("mkdir", self._parts(result if name == "mkdtemp" else given[0])))
        return result

    def _parts(self, path: Any) -> tuple[str, ...]:
        return Path(os.path.relpath(os.path.abspath(path), self._folder)).parts  # noqa: PTH100


_CHANGING = ("write", "fsync", "rename", "remove", "mkdir")


class _Model:
    """A disk in memory, to which a log is applied."""

    def __init__(self, folder: Path) -> None:
        self.root = _read(folder)
        self._open: dict[int, tuple[_File | _Directory, int]] = {}

    def apply(self, entry: tuple[Any, ...]) -> None:
        what, *given = entry
        getattr(self, f"_{what}")(*given)

    def _at(self, parts: tuple[str, ...]) -> _File | _Directory | None:
        node: _File | _Directory | None = self.root
        for part in parts:
            node = node.entries().get(part) if isinstance(node, _Directory) else None
        return node

    def _parent(self, parts: tuple[str, ...]) -> _Directory:
        parent = self._at(parts[:-1])
        assert isinstance(parent, _Directory), parts
        return parent

    def _opened(self, parts: tuple[str, ...], number: int, made: bool, append: bool) -> None:
        if parts[:1] == ("..",):
            return
        if made:
            self._parent(parts).changes.append(("make", parts[-1], _File()))
        node = self._at(parts)
        if node is not None:
            self._open[number] = (node, node.size if append and isinstance(node, _File) else 0)

    def _write(self, number: int, place: int | None, data: bytes) -> None:
        node, position = self._open[number]
        assert isinstance(node, _File)
        node.writes.append((position if place is None else place, data))
        if place is None:
            self._open[number] = (node, position + len(data))
            node.size = max(node.size, position + len(data))

    def _fsync(self, number: int) -> None:
        self._open[number][0].sync()

    def _close(self, number: int) -> None:
        self._open.pop(number, None)

    def _rename(self, parts: tuple[str, ...], target: tuple[str, ...]) -> None:
        assert parts[:-1] == target[:-1], "renames stay in their directory"
        self._parent(parts).changes.append(("rename", parts[-1], target[-1]))

    def _remove(self, parts: tuple[str, ...]) -> None:
        node = self._at(parts)
        if isinstance(node, _Directory):
            for name in node.entries():
                self._remove((*parts, name))
        self._parent(parts).changes.append(("remove", parts[-1], None))

    def _mkdir(self, parts: tuple[str, ...]) -> None:
        if self._at(parts) is None:
            self._parent(parts).changes.append(("make", parts[-1], _Directory()))

    def laid_out(self, way: str, seed: int) -> dict[str, bytes | None]:
        """Paths and contents after a cut; directories have none."""
        chance = random.Random(seed)
        found: dict[str, bytes | None] = {}

        def lay(directory: _Directory, place: str) -> None:
            for name, node in sorted(directory.after(way, chance).items()):
                path = f"{place}{name}"
                if isinstance(node, _Directory):
                    found[path] = None
                    lay(node, f"{path}/")
                else:
                    found[path] = node.content(way, chance)

        lay(self.root, "")
        return found


def _read(folder: Path) -> _Directory:
    """What is on the disk, all of it synced."""
    entries: dict[str, _File | _Directory] = {}
    for path in folder.iterdir():
        if path.is_dir():
            entries[path.name] = _read(path)
        else:
            data = path.read_bytes()
            entries[path.name] = _File(data, size=len(data))
    return _Directory(entries)


def all_cuts(life: Life, seeds: int) -> Iterator[tuple[Cut, dict[str, bytes | None]]]:
    """Every cut of every step, and what is on the disk then; those that leave the same are one."""
    for step in life.steps:
        if step.prepares or not step.makes:
            continue
        life.restore(step)
        recorder = _Recorder(life.folder)
        with installed(recorder):
            step.run(life.folder)
        seen: set[bytes] = set()
        model, n_changes = _Model(life.kept(step)), 0
        for entry in recorder.log:
            model.apply(entry)
            if entry[0] not in _CHANGING:
                continue
            n_changes += 1
            ways = [(way, 0) for way in WAYS if way != "torn"] + [("torn", seed) for seed in range(seeds)]
            for way, seed in ways:
                laid_out = model.laid_out(way, seed + 1000 * n_changes)
                state = hashlib.blake2b(repr(sorted(laid_out.items())).encode()).digest()
                if state not in seen:
                    seen.add(state)
                    yield Cut(step.name, n_changes, way, seed), laid_out


def spread_cuts(life: Life, n: int) -> list[tuple[Cut, dict[str, bytes | None]]]:
    """About n cuts, all of them of equal distance."""
    cuts = list(all_cuts(life, seeds=1))
    every = max(len(cuts) / n, 1.0)
    return [cuts[int(i * every)] for i in range(min(n, len(cuts)))]


def judged(life: Life, cut: Cut, laid_out: dict[str, bytes | None]) -> After:
    """Put on the disk what a cut left, look at it, and do the step again."""
    step = life.step(cut.step)
    _put(life.folder, laid_out)
    state = examined(life.folder, step.makes)
    refused = {name: what for name, what in state.items() if what.startswith(REFUSED)}
    wrong = not_old_or_new(life, step, {name: what for name, what in state.items() if name not in refused})
    wrong += rerun(life, step)
    left = leftovers(life, step)
    if any(not name.startswith("tmp/") for name in left):
        wrong.append(f"it is left behind: {left}")
    return After(bool(refused), tuple(wrong))


def _put(folder: Path, laid_out: dict[str, bytes | None]) -> None:
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    for name, data in laid_out.items():
        if data is None:
            (folder / name).mkdir()
        else:
            (folder / name).write_bytes(data)
    (folder / "tmp").mkdir(exist_ok=True)
