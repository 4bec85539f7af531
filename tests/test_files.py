from __future__ import annotations

import os
from pathlib import Path

import pytest

from fernwood.errors import StoreError
from fernwood.files import FileReader, FileWriter, appearing_directory


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
