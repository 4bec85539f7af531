"""Power that goes in the middle of commands: a part of `python -m torture power`, spread evenly and always the same."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from pathlib import Path

import pytest

from fernwood.files import FileWriter, appearing_directory, move, replaced_file
from torture.blackout import WAYS, _Model, _Recorder, judged, spread_cuts
from torture.faulty import installed
from torture.life import Life

N_CUTS = [35, pytest.param(350, marks=pytest.mark.long)]


@pytest.mark.parametrize("n_cuts", N_CUTS)
def test_what_is_left_is_old_or_new_or_refused_and_a_rerun_succeeds(life: Life, n_cuts: int) -> None:
    cuts = spread_cuts(life, n_cuts)
    assert len(cuts) == n_cuts
    wrong = {str(cut): after.wrong for cut, laid_out in cuts if (after := judged(life, cut, laid_out)).wrong}
    assert wrong == {}


# The model itself ---------------------------------------------------------------------------------------------------


class Watched:
    """A folder, what was done to it, and what a cut would leave of that."""

    def __init__(self, place: Path) -> None:
        self.folder, self._before = place / "watched", place / "before"
        for folder in (self.folder, self._before):
            folder.mkdir()
            (folder / "old").write_bytes(b"old")
        self.recorder = _Recorder(self.folder)

    def after(self, way: str, n: int | None = None, seed: int = 0) -> dict[str, bytes | None]:
        model = _Model(self._before)
        for entry in self.recorder.log[:n]:
            model.apply(entry)
        return model.laid_out(way, seed)


@pytest.fixture
def watched(tmp_path: Path) -> Iterator[Watched]:
    watched = Watched(tmp_path)
    with installed(watched.recorder):
        yield watched


def test_what_is_not_synced_may_be_lost_torn_or_zero(watched: Watched) -> None:
    with FileWriter(watched.folder / "new", sync=False) as file:
        file.write(b"0123")
    assert watched.after("lost") == watched.after("data") == {"old": b"old"}
    assert watched.after("names") == {"old": b"old", "new": b""}
    assert watched.after("zeros") == {"old": b"old", "new": bytes(4)}
    assert watched.after("kept") == {"old": b"old", "new": b"0123"}
    torn = {watched.after("torn", seed=seed).get("new") for seed in range(60)}
    assert torn == {None, b"", b"0", b"01", b"012", b"0123"}


def test_a_replaced_file_is_old_or_new_whenever_the_power_goes(watched: Watched) -> None:
    with replaced_file(watched.folder / "old") as file:
        file.write(b"new one")
    cuts = product(range(len(watched.recorder.log) + 1), WAYS, range(5))
    assert {watched.after(way, n, seed)["old"] for n, way, seed in cuts} == {b"old", b"new one"}
    assert watched.after("lost") == {"old": b"new one"}


def test_a_file_that_is_not_synced_before_its_rename_is_caught(watched: Watched) -> None:
    """The model would see the mistake that it is there for."""
    with FileWriter(watched.folder / "part", sync=False) as file:
        file.write(b"new one")
    move(watched.folder / "part", watched.folder / "old")
    assert watched.after("names") == {"old": b""}
    assert watched.after("zeros") == {"old": bytes(7)}


def test_a_directory_is_there_whole_or_not_at_all(watched: Watched) -> None:
    with appearing_directory(watched.folder / "d", replace=False) as staging, FileWriter(staging / "a") as file:
        file.write(b"1")
        file.close()
    assert watched.after("lost") == {"old": b"old", "d": None, "d/a": b"1"}
    for n, way in product(range(len(watched.recorder.log)), WAYS):
        left = watched.after(way, n, n)
        assert ("d" in left) == ("d/a" in left)
        assert left.get("d/a", b"1") == b"1"
