"""A run on disk: what it is (``run.json``), how far it came (``checkpoint.npz``), where its data is, its result.

Every file appears whole or not at all, so that a run killed at any instant can go on.
"""

from __future__ import annotations

import errno
import json
import os
import platform
import struct
import warnings
import zipfile
import zlib
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from fernwood.errors import FernwoodWarning, ParameterError, StoreError, printable, shown
from fernwood.files import (
    appearing_directory,
    entries_of,
    exists,
    is_directory,
    is_file,
    locked,
    move,
    nearest_path,
    opened,
    read_file,
    replaced_file,
    restored,
    size_of,
)
from fernwood.plain_arrays import check_members
from fernwood.plausible import made
from fernwood.run.events import EVENTS_NAME, EventLog, last_events
from fernwood.run.stopping import Stopped
from fernwood.sealed import digest, is_intact, seal
from fernwood.shortage import pass_on_shortage
from fernwood.sources.place import Url, as_place
from fernwood.version import __version__

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from numpy.typing import NDArray

    from fernwood.run.driving import Loop
    from fernwood.sources.place import Place
    from fernwood.store.base import Store

__all__ = ["STORE_NAME", "RunDirectory", "RunManifest", "versions"]

State = TypeVar("State")

MANIFEST_NAME, STORE_NAME = "run.json", "table.fern"
CHECKPOINT_NAME, BEFORE_NAME = "checkpoint.npz", "checkpoint-before.npz"
_FORMAT, _VERSION = "fernwood run", 1
_SEAL, _STORE_MARK = "run", "store"
_TRIES = 5
_ALIKE = 2
"""Parts of the version that must be equal for two Fernwoods to go on with each other's runs."""
_DAMAGE = (
    ValueError,
    KeyError,
    IndexError,
    AttributeError,
    TypeError,
    EOFError,
    OSError,
    OverflowError,
    RuntimeError,
    SyntaxError,
    struct.error,
    zlib.error,
    zipfile.BadZipFile,
)
"""What reading a damaged archive of arrays raises; its parts have checksums."""
_REFUSALS = {errno.EACCES, errno.EPERM, errno.EMFILE, errno.ENFILE}
"""What the system says of files that are as good as they were."""


def versions() -> dict[str, str]:
    """What the numbers of a run come from."""
    import numba

    return {
        "fernwood": __version__,
        "python": platform.python_version(),
        "numpy": np.__version__,
        "numba": numba.__version__,
    }


@dataclass(frozen=True)
class RunManifest:
    """What a run is; two runs with equal manifests give equal answers.

    Attributes
    ----------
    method : name of the search
    parameters : of the search, as far as the answer depends on them
    seed : below which all randomness has its addresses
    fingerprint : of the data
    store : path of the store from the run directory, or its URL; empty for data that came from memory
    versions : of Fernwood and of the libraries that the numbers come from
    data : what people know the data by: rows, columns, target; the fingerprint is what counts
    """

    method: str
    parameters: dict[str, Any]
    seed: int
    fingerprint: str
    store: str
    versions: dict[str, str] = field(default_factory=versions)
    data: dict[str, Any] = field(default_factory=dict)

    @classmethod
    def of(cls, store: Store, method: str, parameters: dict[str, Any], seed: int, place: str) -> RunManifest:
        """What a run on a store is; `place` is where the store is, from the run directory, if it is on disk."""
        return cls(method, parameters, seed, store.fingerprint, place, data=described(store))

    def difference(self, given: RunManifest) -> str:
        """In all of what this run differs from one that is asked for, if in anything that its answer depends on."""
        found = []
        if self.fingerprint != given.fingerprint:
            found.append(f"on other data ({self.other_data(given)})")
        if self.method != given.method:
            found.append(f"of another method, {shown(self.method)}")
        else:
            found += [
                f"with {printable(name)}={self.parameters.get(name)!r}, not {given.parameters.get(name)!r}"
                for name in sorted(self.parameters.keys() | given.parameters.keys())
                if self.parameters.get(name) != given.parameters.get(name)
            ]
        if self.seed != given.seed:
            found.append(f"with another seed, which random_state={self.seed} would be")
        return ", ".join(found)

    def other_data(self, given: RunManifest) -> str:
        """How the data of this run and of another differ, as far as their descriptions say."""
        found = [
            f"{name}: {shown(held)} there, {shown(given.data[name])} here"
            for name, held in self.data.items()
            if given.data.get(name, held) != held
        ]
        return (
            "; ".join(found) or f"fingerprint: {printable(self.fingerprint[:12])} there, {given.fingerprint[:12]} here"
        )


class RunDirectory:
    """A run directory that exists.

    Parameters
    ----------
    path
    manifest

    Attributes
    ----------
    path, manifest
    events : EventLog; what the run says while it works
    """

    def __init__(self, path: Path, manifest: RunManifest) -> None:
        self.path = path
        self.manifest = manifest
        self.events = EventLog(path / EVENTS_NAME)
        self._store: Store | None = None
        self._mark: dict[str, list[int]] = {}

    @classmethod
    @contextmanager
    def appearing(cls, path: Path, *, force: bool = False) -> Iterator[Path]:
        """A directory to fill (a store, then `write_manifest`) that becomes the run when the block ends well."""
        _check_free(path, force)
        with appearing_directory(path, replace=force or _is_empty(path)) as staging:
            yield staging
            _check_free(path, force)  # others may have begun one meanwhile

    @staticmethod
    def write_manifest(directory: Path, manifest: RunManifest) -> None:
        """Say what the run is."""
        try:
            with replaced_file(directory / MANIFEST_NAME) as file:
                file.write(seal({"format": _FORMAT, "version": _VERSION, **asdict(manifest)}))
        except OSError as error:
            raise StoreError(
                f"the run's {MANIFEST_NAME} cannot be written: {error.strerror or error}; mend that, or choose another "
                "place"
            ) from error

    @classmethod
    def open(cls, path: Path) -> RunDirectory:
        """The run in a directory."""
        where = shown(path.name)
        manifest_path = path / MANIFEST_NAME
        if not exists(path):
            restored(path)
        if not is_file(manifest_path):
            hint = nearest_path(path, MANIFEST_NAME) or "; make one with `fernwood select --out`"
            if not exists(path):
                raise StoreError(f"there is no run {shown(path)}{hint}")
            raise StoreError(f"{shown(path)} is no run: it has no {MANIFEST_NAME}{hint}")
        data = read_file(manifest_path)
        if not is_intact(data):
            raise StoreError(f"{MANIFEST_NAME} of {where} is damaged; start the run again")
        entries = json.loads(data)
        if entries.get("format") != _FORMAT:
            raise StoreError(f"{where} is no run: its {MANIFEST_NAME} says {shown(entries.get('format'))}")
        if entries.get("version") != _VERSION:
            raise StoreError(
                f"{where} has run format {shown(entries.get('version'))}, this Fernwood reads {_VERSION}; "
                "use the Fernwood that made it"
            )
        try:
            entries = {"data": {}, **entries}  # the first runs did not say
            manifest = made(RunManifest, {name: entries[name] for name in RunManifest.__dataclass_fields__})
        except KeyError as error:
            raise StoreError(f"{MANIFEST_NAME} of {where} lacks {error}; start the run again") from error
        except ValueError as error:
            raise StoreError(f"{MANIFEST_NAME} of {where} was made up: {error}; start the run again") from error
        if manifest.seed < 0:
            raise StoreError(f"{MANIFEST_NAME} of {where} was made up: seed is negative; start the run again")
        return cls(path, manifest)

    @classmethod
    def of_memory(cls, path: Path, manifest: RunManifest) -> RunDirectory:
        """The run in a directory for data that came from memory: begun, or the same one again."""
        if not exists(path) or _is_empty(path):
            with cls.appearing(path) as staging:
                cls.write_manifest(staging, manifest)
        run = cls.open(path)
        difference = run.manifest.difference(manifest)
        if difference:
            raise ParameterError(f"run_dir is {shown(path)}, which holds a run {difference}; give a new directory")
        return run

    @property
    def store_path(self) -> Place:
        """Where the store of the run is."""
        if not self.manifest.store:
            raise StoreError(f"the data of {shown(self.path.name)} came from memory; go on by calling fit with run_dir")
        place = as_place(self.manifest.store)
        if isinstance(place, Url):
            # A run directory may come from anywhere; it does not decide which library is let loose on an address.
            if not place.is_plain:
                raise StoreError(
                    f"{shown(self.path.name)} has its store at {shown(place)}, which is no plain address of an object "
                    "store or a server; give it with --store if you trust it"
                )
            return place
        return Path(os.path.normpath(self.path / place))

    @contextmanager
    def working(
        self, store: Store | None = None, *, memory: int = 0, n_threads: int = 0, whole: bool = False, call: str = ""
    ) -> Iterator[None]:
        """Hold the run for this process, and keep an eye on its store; warn where it began under other versions.

        `memory` is what the process may hold in all, `n_threads` how many threads it was asked to use, and `call` what
        was asked for; the events say so. Of a process that does nothing else (`whole`), what it held before counts.
        """
        with locked(self.path, tries=_TRIES) as alone:
            if not alone:
                raise StoreError(
                    f"another process works on the run {shown(self.path.name)}; wait for it, or stop it"
                    f"{_who(self.path / EVENTS_NAME)}"
                )
            self._refuse_other_fernwoods()
            self._store, self._mark = store, {} if store is None else store.mark()
            for name, version in versions().items():
                began = self.manifest.versions.get(name)
                if began != version:
                    warnings.warn(
                        f"the run {shown(self.path.name)} began with {name} {began} and goes on with {version}; "
                        "its answer may differ from that of a run in one go",
                        FernwoodWarning,
                        stacklevel=4,
                    )
            asked = {"call": call} if call else {}
            self.events.say("started", host=platform.node(), memory=memory, threads=n_threads, whole=whole, **asked)
            try:
                yield
            except (KeyboardInterrupt, Stopped) as stop:
                self.events.say("stopped", by=type(stop).__name__)
                raise
            except BaseException as error:
                self.events.say("failed", why=str(error) or type(error).__name__)
                raise
            self.events.say("ended")

    def _refuse_other_fernwoods(self) -> None:
        began = self.manifest.versions.get("fernwood", "none")
        if began.split(".")[:_ALIKE] != __version__.split(".")[:_ALIKE]:
            raise StoreError(
                f"the run {shown(self.path.name)} began with Fernwood {shown(began)} and this is {__version__}, which "
                "may search in another way; go on with that Fernwood, or start again"
            )

    def check_store(self) -> None:
        """Refuse a store whose files changed since the process began to work: what came of it cannot be trusted."""
        if self._store is None:
            return
        now = self._store.mark()
        changed = [name for name, seen in self._mark.items() if now.get(name, seen) != seen]
        if changed:
            raise StoreError(
                f"{shown(changed[0])} of the run's store was changed while {shown(self.path.name)} worked on it, so "
                "that nothing after its last checkpoint counts; put the store back as it was, and go on from there"
            )

    # Checkpoints ---------------------------------------------------------------------------------------------------

    def has_checkpoint(self, part: str = "checkpoint") -> bool:
        """Whether there is anything to go on from."""
        return any(is_file(self.path / name) for name in _names_of(part))

    def save_checkpoint(self, arrays: Mapping[str, NDArray[np.generic]], part: str = "checkpoint") -> int:
        """Write a checkpoint and say its size; the last one stays, in case that a disk loses what it said it has.

        One that rests on a store that was changed meanwhile is refused.
        """
        self.check_store()
        name, before = _names_of(part)
        path = self.path / name
        mark = json.dumps(self._mark)
        try:
            with replaced_file(path) as file:
                sealed = {_SEAL: _as_bytes(self._belongs), _STORE_MARK: _as_bytes(mark)}
                np.savez(file, **sealed, **arrays)  # type: ignore[arg-type]
                size = file.tell()
                file.close()  # whole, and on the disk
                if is_file(path):
                    move(path, self.path / before)
        except OSError as error:
            raise StoreError(
                f"the checkpoint of {shown(self.path.name)} cannot be written: {error.strerror or error}; mend that "
                "and go on from the checkpoint before"
            ) from error
        return size

    def last_state(self, loop: Loop[State], part: str = "checkpoint") -> State:
        """The state of the last checkpoint, or of the one before where that is damaged; the first one without any."""
        kept = [path for name in _names_of(part) if is_file(path := self.path / name)]
        if not kept:
            return loop.start()
        where = shown(self.path.name)
        for path in kept:
            try:
                belongs, mark, arrays = self._read(path)
                state = loop.unpack(arrays) if belongs == self._belongs else None
            except _DAMAGE as error:
                pass_on_shortage(error)
                if isinstance(error, OSError) and error.errno in _REFUSALS:
                    raise StoreError(
                        f"{path.name} of {where} cannot be read: {error.strerror}; mend that, and go on from it"
                    ) from error
                damage = error
                continue
            if state is None:
                raise StoreError(f"the checkpoint in {where} belongs to another run; remove {path.name} from it")
            if self._store is not None and mark != self._mark:
                self._store.verify()  # copied, moved or changed since: its checksums tell
            if path.name == _names_of(part)[1]:
                warnings.warn(
                    f"the last checkpoint of {where} is damaged or missing; the run goes on from the one before",
                    FernwoodWarning,
                    stacklevel=2,
                )
            return state
        names = " and ".join(path.name for path in kept)
        raise StoreError(f"the checkpoint of {where} is damaged; remove {names} from it to begin again") from damage

    def _read(self, path: Path) -> tuple[str, dict[str, list[int]], dict[str, NDArray[np.generic]]]:
        """What is in a checkpoint: the run it belongs to, what the files of its store were like, and the state."""
        with opened(path) as file, np.load(file, allow_pickle=False) as parts:
            check_members(parts.zip, size_of(path))
            arrays = {name: parts[name] for name in parts.files}
        belongs = arrays.pop(_SEAL).tobytes().decode()
        mark = json.loads(arrays.pop(_STORE_MARK, _as_bytes("{}")).tobytes())
        return belongs, mark, arrays

    @property
    def _belongs(self) -> str:
        """Stands for the run in its checkpoints."""
        entries = asdict(self.manifest)
        del entries["data"]  # the fingerprint stands for it
        return digest(json.dumps(entries, sort_keys=True).encode())


def described(store: Store) -> dict[str, Any]:
    """What people know a table by."""
    target = store.target
    return {
        "rows": store.n_rows,
        "columns": store.n_columns,
        "target": "" if target is None else target.name,
    }


def _names_of(part: str) -> tuple[str, str]:
    """The files of a part's last checkpoint and of the one before."""
    return f"{part}.npz", f"{part}-before.npz"


def _as_bytes(text: str) -> NDArray[np.uint8]:
    return np.frombuffer(text.encode(), np.uint8)


def _who(events: Path) -> str:
    """The process that a run's events are from, as far as they say."""
    said = last_events(events, 1000)
    if not said or "process" not in said[-1]:
        return ""
    hosts = [event["host"] for event in said if event["process"] == said[-1]["process"] and "host" in event]
    return f": process {said[-1]['process']}" + (f" on {printable(hosts[-1])}" if hosts else "")


def _check_free(path: Path, force: bool) -> None:
    """Refuse a name that something has which is not to be replaced."""
    if not exists(path) or _is_empty(path):
        return
    if not is_file(path / MANIFEST_NAME):
        raise StoreError(f"{shown(path)} exists and is not a run, so it is not replaced; choose another name")
    if not force:
        raise StoreError(
            f"{shown(path)} holds a run already; go on with it (fernwood resume), choose another name, "
            "or replace it with --force"
        )


def _is_empty(path: Path) -> bool:
    return is_directory(path) and not entries_of(path, 1)
