from __future__ import annotations

import errno
import fcntl
import os
import stat
from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path

import numpy as np
import pytest

import fernwood
from fernwood.cli.completing import runs_like
from fernwood.errors import SourceError, StoreError, nearest
from fernwood.files import (
    FileReader,
    FileWriter,
    SharedDirectory,
    appearing_directory,
    exists,
    is_directory,
    is_file,
    locks,
    nearest_path,
    opened,
    read_file,
    replaced_file,
    restored,
    scratch_directory,
)


def test_reads_go_on_after_short_ones(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "f").write_bytes(bytes(range(100)))
    real = os.preadv
    monkeypatch.setattr(os, "preadv", lambda fd, buffers, offset: real(fd, [buffers[0][:7]], offset))
    with FileReader(tmp_path / "f") as file:
        assert file.read(50, 30) == bytes(range(30, 80))


def test_a_file_that_ends_early_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "f").write_bytes(b"abc")
    with FileReader(tmp_path / "f") as file, pytest.raises(OSError, match="ends at byte 3"):
        file.read(5, 0)


def test_writes_go_on_after_short_ones(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real, real_at = os.write, os.pwrite
    monkeypatch.setattr(os, "write", lambda fd, data: real(fd, data[:3]))
    monkeypatch.setattr(os, "pwrite", lambda fd, data, offset: real_at(fd, data[:1], offset))
    with FileWriter(tmp_path / "f") as file:
        file.write(b"0123456789")
        file.rewrite(b"AB", 2)
        assert file.tell() == 10
    assert (tmp_path / "f").read_bytes() == b"01AB456789"


def test_small_writes_are_put_together(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Parquet and zip files are written in pieces of a few bytes; each would be a call of the system."""
    sizes: list[int] = []
    real = os.write
    monkeypatch.setattr(os, "write", lambda fd, data: (sizes.append(len(data)), real(fd, data))[1])
    pieces = [bytes([i % 7]) * size for i, size in enumerate([3, 5, 10**5, 4, 2**16, 2**16 + 1, 1])]
    with FileWriter(tmp_path / "f") as file:
        for piece in pieces:
            file.write(piece)
            assert file.tell() == sum(map(len, pieces[: pieces.index(piece) + 1]))
        back = bytearray(8)
        file.read_into(memoryview(back), 0)
        assert bytes(back) == pieces[0] + pieces[1]
    assert (tmp_path / "f").read_bytes() == b"".join(pieces)
    assert sizes == [8, 10**5, 4, 2**16, 2**16 + 1, 1]


def test_a_writer_syncs_before_it_closes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[str] = []
    sync, close = os.fsync, os.close
    monkeypatch.setattr(os, "fsync", lambda fd: (calls.append("sync"), sync(fd)))
    monkeypatch.setattr(os, "close", lambda fd: (calls.append("close"), close(fd)))
    with FileWriter(tmp_path / "f") as file:
        file.write(b"x")
    assert calls == ["sync", "close"]


def test_a_directory_appears_whole(tmp_path: Path) -> None:
    with appearing_directory(tmp_path / "d", replace=False) as staging:
        (staging / "a").write_text("1")
        assert not (tmp_path / "d").exists()
    assert [p.name for p in (tmp_path / "d").iterdir()] == ["a"]
    assert [p.name for p in tmp_path.iterdir()] == ["d"]


def test_a_failure_leaves_what_was_there(tmp_path: Path) -> None:
    (tmp_path / "d").mkdir()
    (tmp_path / "d" / "old").write_text("1")

    def fail() -> None:
        with appearing_directory(tmp_path / "d", replace=True) as staging:
            (staging / "new").write_text("2")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        fail()
    assert [p.name for p in tmp_path.iterdir()] == ["d"]
    assert [p.name for p in (tmp_path / "d").iterdir()] == ["old"]


def test_a_name_that_another_took_meanwhile_is_not_replaced(tmp_path: Path) -> None:
    def late() -> None:
        with appearing_directory(tmp_path / "d", replace=False) as staging:
            (staging / "mine").write_text("1")
            (tmp_path / "d").mkdir()
            (tmp_path / "d" / "theirs").write_text("2")

    with pytest.raises(StoreError, match="exists; choose another name"):
        late()
    assert [p.name for p in (tmp_path / "d").iterdir()] == ["theirs"]
    assert [p.name for p in tmp_path.iterdir()] == ["d"]


def test_leftovers_of_the_dead_go_and_those_of_the_living_stay(tmp_path: Path) -> None:
    dead = tmp_path / ".d.partial-dead"
    dead.mkdir()
    (dead / "half").write_text("")
    other = tmp_path / ".d2.partial-dead"
    other.mkdir()
    with appearing_directory(tmp_path / "d", replace=False) as first:
        assert not dead.exists()
        with appearing_directory(tmp_path / "d", replace=False):
            assert first.exists()
            # the second writer finishes first and takes the name
        assert (tmp_path / "d").exists()
        (tmp_path / "d").rename(tmp_path / "taken")
    assert other.exists()


def test_an_old_directory_gets_its_name_back(tmp_path: Path) -> None:
    """A writer was killed between taking the old one away and putting the new one in its place."""
    retired = tmp_path / ".d.partial-old-1234"
    retired.mkdir()
    (retired / "old").write_text("1")
    with pytest.raises(StoreError, match="exists"), appearing_directory(tmp_path / "d", replace=False):
        pass
    assert (tmp_path / "d" / "old").read_text() == "1"
    assert [p.name for p in tmp_path.iterdir()] == ["d"]


def test_an_existing_name_needs_replace(tmp_path: Path) -> None:
    (tmp_path / "d").mkdir()
    with (
        pytest.raises(StoreError, match="exists; choose another name"),
        appearing_directory(tmp_path / "d", replace=False),
    ):
        pass


# Faults that were found by injecting them (`python -m torture faults`) --------------------------------------------------


def refusing(number: int = errno.EIO) -> Callable[..., None]:
    def refuse(*_: object, **__: object) -> None:
        raise OSError(number, os.strerror(number))

    return refuse


class SyncsOnlyFiles:
    """`os.fsync` of a disk that cannot sync directories."""

    def __init__(self) -> None:
        self._real = os.fsync

    def __call__(self, descriptor: int) -> None:
        if stat.S_ISDIR(os.fstat(descriptor).st_mode):
            refusing()()
        self._real(descriptor)


def test_a_new_file_whose_name_cannot_be_synced_is_not_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Otherwise the same command again would say that it exists."""
    monkeypatch.setattr(os, "fsync", SyncsOnlyFiles())
    with pytest.raises(OSError, match="Input/output"), replaced_file(tmp_path / "f") as file:
        file.write(b"x")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("replacing", [False, True])
def test_a_directory_whose_name_cannot_be_synced_gives_it_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, replacing: bool
) -> None:
    if replacing:
        (tmp_path / "d").mkdir()
        (tmp_path / "d" / "old").write_text("1")
    real, calls = os.fsync, []

    def refuse_the_parent(descriptor: int) -> None:
        calls.append(descriptor)
        (refusing() if len(calls) == 2 else real)(descriptor)

    monkeypatch.setattr(os, "fsync", refuse_the_parent)
    with (
        pytest.raises(OSError, match="Input/output"),
        appearing_directory(tmp_path / "d", replace=replacing) as staging,
    ):
        (staging / "new").write_text("2")
    assert [p.name for p in tmp_path.rglob("*")] == (["d", "old"] if replacing else [])


def test_what_cannot_be_cleared_up_does_not_undo_what_was_done(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "d").mkdir()
    with monkeypatch.context() as patch:
        patch.setattr("shutil.rmtree", refusing())
        with appearing_directory(tmp_path / "d", replace=True) as staging:
            (staging / "new").write_text("2")
        with scratch_directory(tmp_path / "f") as scratch:
            (scratch / "half").write_text("3")
    assert (tmp_path / "d" / "new").read_text() == "2"
    assert len(list(tmp_path.iterdir())) == 3  # and what was there before, and the scratch directory
    with appearing_directory(tmp_path / "d", replace=True), scratch_directory(tmp_path / "f"):
        pass
    assert [p.name for p in tmp_path.iterdir()] == ["d"]


def test_a_writer_that_is_about_to_put_a_directory_back_is_left_to_it(tmp_path: Path) -> None:
    """The old directory is retired for an instant while a new one takes its place."""
    (tmp_path / "d").mkdir()
    with appearing_directory(tmp_path / "d", replace=True):
        (tmp_path / "d").rename(tmp_path / ".d.partial-old-1234")
        assert not restored(tmp_path / "d")
        with appearing_directory(tmp_path / "d", replace=True):
            assert (tmp_path / ".d.partial-old-1234").exists()
    assert sorted(p.name for p in tmp_path.iterdir()) == [".d.partial-old-1234", "d"]


def _meanwhile(monkeypatch: pytest.MonkeyPatch, name: str, happens: Callable[[], object]) -> None:
    """Let something happen just before the first directory that gets a name, or gives up its own, does so."""
    real, left = os.rename, [happens]

    def renamed(old: Path, new: Path) -> None:
        if name in (old.name, new.name) and left:
            left.pop()()
        real(old, new)

    monkeypatch.setattr(os, "rename", renamed)


def test_a_directory_that_another_writer_retires_meanwhile_is_replaced(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "d").mkdir()
    _meanwhile(monkeypatch, "d", (tmp_path / "d").rmdir)
    with appearing_directory(tmp_path / "d", replace=True) as staging:
        (staging / "new").write_text("2")
    assert [p.name for p in tmp_path.rglob("*")] == ["d", "new"]


@pytest.mark.parametrize("replacing", [True, False])
def test_a_directory_that_another_writer_places_meanwhile_is_replaced_only_with_force(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, replacing: bool
) -> None:
    def other() -> None:
        (tmp_path / "d").mkdir()
        (tmp_path / "d" / "other").write_text("1")

    _meanwhile(monkeypatch, "d", other)
    refused = nullcontext() if replacing else pytest.raises(StoreError, match="exists; choose another name")
    with refused, appearing_directory(tmp_path / "d", replace=replacing) as staging:
        (staging / "new").write_text("2")
    assert [p.name for p in tmp_path.rglob("*")] == ["d", "new" if replacing else "other"]


def test_a_store_that_was_being_replaced_is_found_when_it_is_opened(tmp_path: Path) -> None:
    made = fernwood.ingest(np.eye(4), tmp_path / "s.fern").fingerprint
    (tmp_path / "s.fern").rename(tmp_path / ".s.fern.partial-old-1234")
    assert fernwood.open(tmp_path / "s.fern").fingerprint == made
    assert [p.name for p in tmp_path.iterdir()] == ["s.fern"]


def test_a_disk_that_does_not_answer_is_not_taken_for_an_empty_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert not exists(tmp_path / "nothing")
    assert not is_file(tmp_path)
    assert not exists(Path("a\0b"))
    monkeypatch.setattr(os, "stat", refusing())
    for look in (exists, is_file, is_directory):
        with pytest.raises(OSError, match="Input/output"):
            look(tmp_path)


def test_a_stream_ends_where_the_file_ended_when_it_was_opened(tmp_path: Path) -> None:
    path = tmp_path / "f"
    path.write_bytes(bytes(100))
    with opened(path) as file:
        os.truncate(path, 50)
        with pytest.raises(OSError, match="ends at byte 50"):
            file.read()
    with opened(path) as file, path.open("ab") as more:
        more.write(b"more")
        more.flush()
        assert len(file.read()) == 50


def test_a_reader_that_cannot_close_has_read_all_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "f").write_bytes(b"abc")
    real = os.close

    def close(descriptor: int) -> None:
        real(descriptor)
        refusing()()

    monkeypatch.setattr(os, "close", close)
    assert read_file(tmp_path / "f") == b"abc"


@pytest.mark.parametrize("late", ["who clears up", "who lets go"])
def test_a_shared_directory_made_anew_is_not_removed_by_one_who_came_late(
    late: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shared, new = [SharedDirectory(tmp_path / "d")], []

    def made_anew(lock: int) -> bool:
        monkeypatch.setattr(locks, "taken", taken)
        SharedDirectory.clear(tmp_path) if late == "who lets go" else shared.clear()
        new.append(SharedDirectory(tmp_path / "d"))
        return taken(lock)

    taken = locks.taken
    if late == "who lets go":
        # Turning a shared lock into one of ours alone lets go of it for an instant, in which others may come.
        monkeypatch.setattr(locks, "taken", lambda lock: (fcntl.flock(lock, fcntl.LOCK_UN), made_anew(lock))[1])
        shared.clear()
    else:
        monkeypatch.setattr(locks, "taken", made_anew)
        SharedDirectory.clear(tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["d"]
    new.clear()
    assert list(tmp_path.iterdir()) == []


def test_a_link_that_leads_nowhere_is_not_what_was_meant(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It has the very name: "there is no file 'genes.csv'; did you mean 'genes.csv'?" was said of one."""
    monkeypatch.chdir(tmp_path)
    Path("genes.csv").symlink_to("gone")
    with pytest.raises(SourceError, match=r"^there is no file 'genes\.csv'; check the path$"):
        fernwood.ingest("genes.csv")
    Path("gene.csv").touch()
    with pytest.raises(SourceError, match=r"^there is no file 'genes\.csv'; did you mean 'gene\.csv'\?$"):
        fernwood.ingest("genes.csv")


@pytest.mark.parametrize("folder", ["f", "one/" * 30 + "f"], ids=["near", "far"])
@pytest.mark.parametrize("long", ["", "e" * 70], ids=["short", "long"])
def test_what_was_meant_looks_different_however_long_it_is(tmp_path: Path, folder: str, long: str) -> None:
    """Of two long paths, or two long names, the same beginning was shown."""
    (tmp_path / folder).mkdir(parents=True)
    path = tmp_path / folder / f"g{long}nes.csv"
    path.with_stem(f"{path.stem}2").touch()
    with pytest.raises(SourceError) as refused:
        fernwood.ingest(path)
    asked, meant = str(refused.value).removeprefix("there is no file ").split("; did you mean ")
    assert asked != meant.rstrip("?")
    assert meant.endswith("nes2.csv'?")
    assert len(meant) <= 63


def test_what_was_meant_differs_in_the_middle() -> None:
    name = nearest("x" * 99 + "a" + "y" * 99, ["x" * 99 + "b" + "y" * 99])
    assert name == f"; did you mean '…{'x' * 20}b{'y' * 37}…'?"


def refusing_below(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A folder into which this user may not look, whoever that is."""
    look = os.stat

    def stat_(path: object, **how: object) -> os.stat_result:
        if folder in Path(str(path)).parents:
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(path))
        return look(path, **how)

    monkeypatch.setattr(os, "stat", stat_)


def test_a_folder_of_somebody_else_does_not_hide_what_was_meant(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("closed", "genes.run"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "run.json").touch()
    refusing_below(tmp_path / "closed", monkeypatch)
    assert nearest_path(tmp_path / "gene.run", "run.json").endswith("genes.run'?")
    assert runs_like(f"{tmp_path}/") == [f"{tmp_path}/genes.run"]


def test_a_table_in_a_folder_of_somebody_else_is_not_missing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    refusing_below(tmp_path / "closed", monkeypatch)
    with pytest.raises(SourceError, match=r"cannot be looked at: Permission denied; mend that, or check the path$"):
        fernwood.ingest(tmp_path / "closed" / "genes.csv")


@pytest.mark.parametrize("moment", ["mkdir", "open"])
def test_a_place_that_another_writer_clears_away_is_taken_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, moment: str
) -> None:
    """Between being made and being locked, it looks like what a dead process left."""
    real, left = getattr(os, moment), [1]

    def cleared(path: Path, *more: int) -> object:
        done = real(path, *more)
        if left and ".partial-" in Path(path).name:
            left.pop()
            Path(path).rmdir()
        return done

    monkeypatch.setattr(os, moment, cleared)
    with appearing_directory(tmp_path / "d", replace=True) as staging:
        (staging / "f").write_text("whole")
    assert not left
    assert [path.name for path in tmp_path.iterdir()] == ["d"]
    assert (tmp_path / "d" / "f").read_text() == "whole"
