"""A run on disk: what it is (``run.json``), how far it came (``checkpoint.npz``), where its data is, its result.

Every file appears whole or not at all, so that a run killed at any instant can go on.
"""

from __future__ import annotations

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

from fernwood.errors import FernwoodWarning, ParameterError, StoreError, shown
from fernwood.files import appearing_directory, locked, replaced_file
from fernwood.run.events import EVENTS_NAME, EventLog
from fernwood.sealed import digest, is_intact, seal
from fernwood.version import __version__

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from numpy.typing import NDArray

    from fernwood.run.driving import Loop

__all__ = ["STORE_NAME", "RunDirectory", "RunManifest", "versions"]

State = TypeVar("State")

MANIFEST_NAME, STORE_NAME = "run.json", "table.fern"
CHECKPOINT_NAME, BEFORE_NAME = "checkpoint.npz", "checkpoint-before.npz"
_FORMAT, _VERSION = "fernwood run", 1
_SEAL = "run"
_DAMAGE = (
    ValueError,
    KeyError,
    TypeError,
    EOFError,
    OSError,
    RuntimeError,
    struct.error,
    zlib.error,
    zipfile.BadZipFile,
)
"""What reading a damaged archive of arrays raises; its parts have checksums."""


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
    store : path of the store from the run directory; empty for data that came from memory
    versions : of Fernwood and of the libraries that the numbers come from
    """

    method: str
    parameters: dict[str, Any]
    seed: int
    fingerprint: str
    store: str
    versions: dict[str, str] = field(default_factory=versions)


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

    @classmethod
    @contextmanager
    def appearing(cls, path: Path, *, force: bool = False) -> Iterator[Path]:
        """A directory to fill (a store, then `write_manifest`) that becomes the run when the block ends well."""
        empty = _is_empty(path)
        if path.exists() and not empty and not (path / MANIFEST_NAME).is_file():
            raise StoreError(f"{shown(path)} exists and is not a run, so it is not replaced; choose another name")
        if path.exists() and not empty and not force:
            raise StoreError(
                f"{shown(path)} holds a run already; go on with it (fernwood resume), choose another name, "
                "or replace it with --force"
            )
        with appearing_directory(path, replace=force or empty) as staging:
            yield staging

    @staticmethod
    def write_manifest(directory: Path, manifest: RunManifest) -> None:
        """Say what the run is."""
        with replaced_file(directory / MANIFEST_NAME) as file:
            file.write(seal({"format": _FORMAT, "version": _VERSION, **asdict(manifest)}))

    @classmethod
    def open(cls, path: Path) -> RunDirectory:
        """The run in a directory."""
        where = shown(path.name)
        manifest_path = path / MANIFEST_NAME
        if not manifest_path.is_file():
            raise StoreError(
                f"{shown(path)} is no run: it has no {MANIFEST_NAME}; make one with `fernwood select --out`"
            )
        data = manifest_path.read_bytes()
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
            manifest = RunManifest(**{name: entries[name] for name in RunManifest.__dataclass_fields__})
        except KeyError as error:
            raise StoreError(f"{MANIFEST_NAME} of {where} lacks {error}; start the run again") from error
        return cls(path, manifest)

    @classmethod
    def of_memory(cls, path: Path, manifest: RunManifest) -> RunDirectory:
        """The run in a directory for data that came from memory: begun, or the same one again."""
        if not path.exists() or _is_empty(path):
            with cls.appearing(path) as staging:
                cls.write_manifest(staging, manifest)
        run = cls.open(path)
        difference = _difference(run.manifest, manifest)
        if difference:
            raise ParameterError(f"run_dir is {shown(path)}, which holds a run {difference}; give a new directory")
        return run

    @property
    def store_path(self) -> Path:
        """Where the store of the run is."""
        if not self.manifest.store:
            raise StoreError(f"the data of {shown(self.path.name)} came from memory; go on by calling fit with run_dir")
        return Path(os.path.normpath(self.path / self.manifest.store))

    @contextmanager
    def working(self) -> Iterator[None]:
        """Hold the run for this process; warn where it began under other versions."""
        with locked(self.path) as alone:
            if not alone:
                raise StoreError(f"another process works on the run {shown(self.path.name)}; wait for it, or stop it")
            for name, version in versions().items():
                began = self.manifest.versions.get(name)
                if began != version:
                    warnings.warn(
                        f"the run {shown(self.path.name)} began with {name} {began} and goes on with {version}; "
                        "its answer may differ from that of a run in one go",
                        FernwoodWarning,
                        stacklevel=4,
                    )
            self.events.say("started")
            try:
                yield
            except BaseException as error:
                self.events.say("failed", why=str(error) or type(error).__name__)
                raise
            self.events.say("ended")

    # Checkpoints ---------------------------------------------------------------------------------------------------

    def save_checkpoint(self, arrays: Mapping[str, NDArray[np.generic]]) -> None:
        """Write a checkpoint; the last one stays beside it, in case that a disk loses what it said was written."""
        path = self.path / CHECKPOINT_NAME
        try:
            with replaced_file(path) as file:
                belongs = np.frombuffer(self._belongs.encode(), np.uint8)
                np.savez(file, **{_SEAL: belongs}, **arrays)  # type: ignore[arg-type]
                file.close()  # whole, and on the disk
                if path.is_file():
                    path.replace(self.path / BEFORE_NAME)
        except OSError as error:
            raise StoreError(
                f"the checkpoint of {shown(self.path.name)} cannot be written: {error.strerror or error}; mend that "
                "and go on from the checkpoint before"
            ) from error

    def last_state(self, loop: Loop[State]) -> State:
        """The state of the last checkpoint, or of the one before where that is damaged; the first one without any."""
        kept = [path for name in (CHECKPOINT_NAME, BEFORE_NAME) if (path := self.path / name).is_file()]
        if not kept:
            return loop.start()
        where = shown(self.path.name)
        for path in kept:
            try:
                state = self._state(path, loop)
            except _DAMAGE as error:
                damage = error
                continue
            if state is None:
                raise StoreError(f"the checkpoint in {where} belongs to another run; remove {path.name} from it")
            if path.name == BEFORE_NAME:
                warnings.warn(
                    f"the last checkpoint of {where} is damaged or missing; the run goes on from the one before",
                    FernwoodWarning,
                    stacklevel=2,
                )
            return state
        names = " and ".join(path.name for path in kept)
        raise StoreError(f"the checkpoint of {where} is damaged; remove {names} from it to begin again") from damage

    def _state(self, path: Path, loop: Loop[State]) -> State | None:
        """The state in a checkpoint; None if it is another run's."""
        with path.open("rb") as file, np.load(file, allow_pickle=False) as parts:
            arrays = {name: parts[name] for name in parts.files}
        belongs = arrays.pop(_SEAL).tobytes().decode()
        return loop.unpack(arrays) if belongs == self._belongs else None

    @property
    def _belongs(self) -> str:
        """Stands for the run in its checkpoints."""
        return digest(json.dumps(asdict(self.manifest), sort_keys=True).encode())


def _is_empty(path: Path) -> bool:
    return path.is_dir() and not any(path.iterdir())


def _difference(held: RunManifest, given: RunManifest) -> str:
    """In what a run differs from the one that is asked for, if in anything that its answer depends on."""
    if held.fingerprint != given.fingerprint:
        return "on other data"
    if held.method != given.method:
        return f"of another method, {shown(held.method)}"
    names = sorted(held.parameters.keys() | given.parameters.keys())
    for name in names:
        if held.parameters.get(name) != given.parameters.get(name):
            return f"with {name}={held.parameters.get(name)!r}, not {given.parameters.get(name)!r}"
    if held.seed != given.seed:
        return f"with another seed, which random_state={held.seed} would be"
    return ""
