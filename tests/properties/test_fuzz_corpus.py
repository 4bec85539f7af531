"""Every input that fuzzing found, and those that it begins with: used as a user would, nothing may happen that must not.

`make torture` looks for more (`torture/parts/fuzz.py`); what it finds comes here, as `found-*.bin`.
"""

from __future__ import annotations

import os
import pickle
import socket
import subprocess
from collections.abc import Callable
from contextlib import suppress
from itertools import islice
from pathlib import Path

import numpy as np
import pytest

from fernwood.errors import FernwoodError
from torture.fuzzing import CORPUS, Findings, corpus_of, found_plainly, minimised
from torture.judging import judge
from torture.target import Target
from torture.targets import NAMES, target
from torture.watching import ForbiddenError, watched

_SEEDS = 12
"""Inputs of those that fuzzing begins with, of every format; `make torture` has them all."""


@pytest.mark.parametrize("name", NAMES)
def test_what_is_kept_is_harmless(name: str) -> None:
    if name == "hdf5":
        pytest.importorskip("h5py")
        pytest.importorskip("anndata")
    fuzzed = target(name)
    inputs = {path.name: path.read_bytes() for path in corpus_of(name)} | dict(islice(fuzzed.seeds().items(), _SEEDS))
    assert len(inputs) > 5
    found = {key: finding for key, data in inputs.items() if (finding := judge(fuzzed, data)) is not None}
    assert found == {}


def test_the_corpus_is_small() -> None:
    sizes = [path.stat().st_size for path in CORPUS.rglob("*.bin")]
    assert sum(sizes) < 300_000
    assert {path.parent.name for path in CORPUS.rglob("*.bin")} <= set(NAMES)


# The judge itself -----------------------------------------------------------------------------------------------------


class Planted:
    """What a pickle of a stranger does when it is read."""

    def __reduce__(self) -> tuple[Callable[..., object], tuple[str]]:
        return os.system, ("true",)


def _raises(_: bytes, __: Path) -> None:
    raise KeyError("x")


def _two_lines(_: bytes, __: Path) -> None:
    raise FernwoodError("one\ntwo")


def _prints(_: bytes, __: Path) -> None:
    print("\x1b[31m")


def _swallows(_: bytes, folder: Path) -> None:
    with suppress(Exception):
        (folder.parent / "outside" / "new.txt").write_text("x")


CRIMES: dict[str, tuple[Callable[[bytes, Path], None], str]] = {
    "another exception": (_raises, "KeyError"),
    "two lines": (_two_lines, "Sentence"),
    "a control character": (_prints, "Terminal"),
    "a file outside": (_swallows, "ForbiddenError"),
    "a removed file": (lambda _, folder: (folder.parent / "outside" / "precious.txt").unlink(), "ForbiddenError"),
    "a link out": (
        lambda _, folder: (
            (folder / "l").symlink_to(folder.parent / "outside"),
            (folder / "l" / "precious.txt").write_text("x"),
        )[0],
        "ForbiddenError",
    ),
    "a process": (lambda _, __: subprocess.run(["true"], check=True) and None, "ForbiddenError"),
    "a connection": (lambda _, __: socket.create_connection(("127.0.0.1", 9)) and None, "ForbiddenError"),
    "a pickle": (lambda _, __: pickle.loads(pickle.dumps(Planted())), "ForbiddenError"),
    "code": (lambda _, __: exec("x = 1"), "ForbiddenError"),
    "memory": (lambda _, __: np.ones(50_000_000).sum() and None, "Memory"),
}


@pytest.mark.parametrize("crime", CRIMES)
def test_the_judge_sees(crime: str) -> None:
    use, kind = CRIMES[crime]
    finding = judge(Target("planted", "", use, dict), b"")
    assert finding is not None
    assert finding.kind == kind


def test_the_judge_lets_pass(tmp_path: Path) -> None:
    def fine(data: bytes, folder: Path) -> None:
        (folder / "a").mkdir()
        (folder / "a" / "b").write_bytes(data)
        (folder / "a" / "b").rename(folder / "c")
        raise FernwoodError("one sentence")

    assert judge(Target("planted", "", fine, dict), b"data") is None
    with watched([tmp_path]) as seen:
        (tmp_path / "x").write_text("x")
    assert seen == []
    with watched([tmp_path / "deeper"]) as seen, pytest.raises(ForbiddenError, match="for writing"):
        (tmp_path / "x").write_text("x")
    assert len(seen) == 1
    (tmp_path / "x").write_text("x")  # nobody looks any more


def test_findings_are_made_small() -> None:
    def use(data: bytes, _: Path) -> None:
        if b"bad" in data:
            raise KeyError("bad")

    planted = Target("planted", "", use, dict)
    data = b"x" * 50 + b"bad" + b"y" * 60
    finding = judge(planted, data)
    assert finding is not None
    assert minimised(planted, data, finding) == b"bad"


def test_memory_and_time_count_where_they_show_without_the_tool(tmp_path: Path) -> None:
    large, _ = CRIMES["memory"]
    directory = tmp_path / "findings"
    directory.mkdir()
    # By its name it is another target in a fresh process, as what the tool holds on to is not there.
    Findings(Target("npy", "", large, dict), directory).look(b"x")
    assert list(directory.iterdir()) == []
    Findings(Target("npy", "", _raises, dict), directory).look(b"x")
    assert {path.suffix for path in directory.glob("KeyError-*")} == {".bin", ".json"}
    assert found_plainly(Target("planted", "", large, dict), b"x")
    assert not found_plainly(target("npy"), b"x")
