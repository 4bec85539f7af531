"""What long tests leave: figures of pieces that were run, and of those that were not."""

from __future__ import annotations

import json
from pathlib import Path

from torture.part import NOT_RUN, Asked, Bar, Part
from torture.writing import table, write

_PIECES = ("npy", "text")


def _bars(asked: Asked, figure: str = "0 findings") -> list[Bar]:
    return [
        Bar(f"fuzzing {piece}", "0", figure, met=True)
        if piece in asked.only
        else Bar(f"fuzzing {piece}", "0", NOT_RUN, met=False)
        for piece in _PIECES
    ]


_PART = Part("fuzz", "formats", 10.0, _bars, pieces=_PIECES)


def _asked(*only: str) -> Asked:
    return Asked(10.0, 1, print, only)


def test_a_piece_that_was_not_run_says_so_or_keeps_the_figures_it_has(tmp_path: Path) -> None:
    write(_PART, _bars(_asked("npy")), _asked("npy"), seconds=1.0, results=tmp_path)
    first, second = json.loads((tmp_path / "fuzz.json").read_text())["bars"]
    assert (first["measured"], second["measured"], second["met"]) == ("0 findings", NOT_RUN, False)
    for _ in range(2):  # where a figure is from stays, however often others are measured again
        write(_PART, _bars(_asked("text"), "1 finding"), _asked("text"), seconds=1.0, results=tmp_path)
    first, second = json.loads((tmp_path / "fuzz.json").read_text())["bars"]
    assert (first["measured"], first["met"], second["measured"]) == ("0 findings", True, "1 finding")
    assert first["earlier"]["command"] == "python -m torture fuzz --only npy --minutes 10 --seed 1"
    npy, text = table(tmp_path).splitlines()[2:]
    assert "--only npy" in npy
    assert "--only text" in text


def test_a_run_of_all_pieces_replaces_all_figures(tmp_path: Path) -> None:
    write(_PART, _bars(_asked("npy")), _asked("npy"), seconds=1.0, results=tmp_path)
    write(_PART, _bars(_asked(*_PIECES), "2 findings"), _asked(*_PIECES), seconds=1.0, results=tmp_path)
    told = json.loads((tmp_path / "fuzz.json").read_text())
    assert [bar["measured"] for bar in told["bars"]] == ["2 findings"] * 2
    assert told["command"] == "python -m torture fuzz --minutes 10 --seed 1"
