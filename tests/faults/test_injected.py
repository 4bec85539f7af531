"""Calls on files that fail, in all commands: a part of `python -m torture faults`, spread evenly and always the same."""

from __future__ import annotations

import errno
import os
import subprocess
import sys
from contextlib import nullcontext
from pathlib import Path

import pytest

from fernwood.cli import carry_out
from torture.failing import Case, all_cases, n_descriptors, spread, tried
from torture.faulty import FAULTS, Disk, Fault, FaultyDisk, installed
from torture.life import Life

N_CASES = [40, pytest.param(400, marks=pytest.mark.long)]


@pytest.fixture(scope="module")
def cases(life: Life) -> list[Case]:
    return all_cases(life)


def test_there_are_many_cases_of_every_call(cases: list[Case]) -> None:
    assert len(cases) >= 2000
    calls = {case.fault.call for case in cases}
    assert {
        "open",
        "create",
        "close",
        "preadv",
        "write",
        "pwrite",
        "fsync",
        "rename",
        "replace",
        "unlink",
        "mkdir",
    } <= calls
    assert {"stat", "fstat", "scandir", "flock", "rmtree", "mkdtemp"} <= calls <= FAULTS.keys()


@pytest.mark.parametrize("n_cases", N_CASES)
def test_a_fault_leaves_an_old_state_or_a_new_one_and_one_sentence(life: Life, cases: list[Case], n_cases: int) -> None:
    met, wrong = 0, {}
    for case in spread(cases, n_cases):
        outcome = tried(life, case)
        met += outcome.met
        if outcome.wrong:
            wrong[str(case)] = outcome.wrong
    assert wrong == {}
    assert met > n_cases * 0.9


@pytest.mark.parametrize(("path", "what"), [("x.csv", "'x.csv'"), (None, "the disk")])
def test_what_the_system_refuses_is_one_sentence(
    capsys: pytest.CaptureFixture[str], path: str | None, what: str
) -> None:
    def refuse() -> None:
        raise OSError(errno.EIO, os.strerror(errno.EIO), path)

    with pytest.raises(SystemExit) as end:
        carry_out(refuse)
    assert end.value.code == 2
    said = f"fernwood: {what} refused: Input/output error; mend that, and give the command again\n"
    assert capsys.readouterr() == ("", said)


@pytest.mark.parametrize("gone", [True, False], ids=["the reader", "another process"])
def test_a_pipe_that_breaks(gone: bool) -> None:
    """Who reads our output may go when it has enough; that a process beside us went is said."""
    broken = "import os; reader, writer = os.pipe(); os.close(reader); os.write(writer, b'x')"
    command = [sys.executable, "-c", f"from fernwood.cli import carry_out; carry_out(lambda: exec({broken!r}))"]
    reader, writer = os.pipe()
    try:
        if gone:
            os.close(reader)
        ended = subprocess.run(command, stdout=writer, stderr=subprocess.PIPE, text=True, check=False)
    finally:
        os.close(writer)
        if not gone:
            os.close(reader)
    said = "fernwood: a process that this one works with is gone: Broken pipe; give the command again\n"
    assert (ended.returncode, ended.stderr) == ((1, "") if gone else (2, said))


# The disk itself ----------------------------------------------------------------------------------------------------


def test_calls_are_counted_and_the_right_one_fails(tmp_path: Path) -> None:
    from fernwood.files import FileWriter, read_file

    with installed(Disk()) as disk:
        with FileWriter(tmp_path / "f") as file:
            file.write(b"one")
            file.flush()
            file.write(b"two")
        assert read_file(tmp_path / "f") == b"onetwo"
    assert (disk.counts["write"], disk.counts["fsync"], disk.counts["preadv"]) == (2, 1, 1)
    faulty = FaultyDisk(Fault("write", 2, "ENOSPC"))
    with installed(faulty), FileWriter(tmp_path / "g") as file:
        file.write(b"one")
        file.flush()
        file.write(b"two")
        with pytest.raises(OSError, match="No space left"):
            file.flush()
        file.write(b"three")
    assert faulty.struck
    assert (tmp_path / "g").read_bytes() == b"onethree"


@pytest.mark.parametrize(("what", "left"), [("short", b"0123456789"), ("full", b"01234")])
def test_a_write_of_half_the_bytes(tmp_path: Path, what: str, left: bytes) -> None:
    from fernwood.files import FileWriter

    with installed(FaultyDisk(Fault("write", 1, what))), FileWriter(tmp_path / "f") as file:
        file.write(b"0123456789")
        with nullcontext() if what == "short" else pytest.raises(OSError, match="No space left"):
            file.flush()
    assert (tmp_path / "f").read_bytes() == left


def test_a_disk_that_is_gone_answers_nothing_and_leaks_nothing(tmp_path: Path) -> None:
    from fernwood.files import read_file

    (tmp_path / "f").write_bytes(b"abc")
    n_open = n_descriptors()
    with installed(FaultyDisk(Fault("preadv", 1, "gone"))):
        for _ in range(3):
            with pytest.raises(OSError, match="Input/output error"):
                read_file(tmp_path / "f")
    assert n_descriptors() == n_open
    assert read_file(tmp_path / "f") == b"abc"
