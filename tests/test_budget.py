from __future__ import annotations

import mmap
from pathlib import Path

import numpy as np
import pytest

from fernwood import budget
from fernwood.budget import Headroom, available, default_budget, parse_size, peak_resident, resident, shown_size
from fernwood.errors import ParameterError


@pytest.mark.parametrize(
    ("text", "size"),
    [
        ("1", 1),
        ("512MB", 512_000_000),
        ("512 mb", 512_000_000),
        ("1.5GB", 1_500_000_000),
        ("1GiB", 2**30),
        ("2k", 2000),
        (4096, 4096),
        (1e6, 1_000_000),
    ],
)
def test_sizes(text: str | float, size: int) -> None:
    assert parse_size(text) == size


@pytest.mark.parametrize("bad", ["", "MB", "-1MB", "12 parsecs", "1e3MB", 0, -5, float("nan"), float("inf")])
def test_bad_sizes_are_refused(bad: str | float) -> None:
    with pytest.raises(ParameterError, match="give a positive size"):
        parse_size(bad)


def test_shown_sizes() -> None:
    assert [shown_size(s) for s in (0, 999, 1000, 2_345_678, 5e9, 1e13)] == [
        "0 B",
        "999 B",
        "1.0 kB",
        "2.3 MB",
        "5.0 GB",
        "10.0 TB",
    ]


def test_resident_follows_what_is_held() -> None:
    before = resident()
    with mmap.mmap(-1, 40_000_000) as held:  # new from the system, whatever the process has lying free
        np.frombuffer(held, np.uint8)[:] = 1
        assert resident() - before > 30_000_000
        assert peak_resident() >= resident() - 4_000_000


def test_a_container_has_less(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("fernwood.budget._CGROUP", tmp_path)
    whole = available()
    (tmp_path / "memory.current").write_text("300000000\n")
    (tmp_path / "memory.max").write_text("max\n")
    assert available() > 0.9 * whole
    (tmp_path / "memory.max").write_text("800000000\n")
    assert available() == 500_000_000


def test_default_is_half_of_what_is_there() -> None:
    assert 0.3 * available() < default_budget() < 0.7 * available()


def test_what_is_missing_of_a_margin(monkeypatch: pytest.MonkeyPatch) -> None:
    now = {"resident": 1000, "peak": 5000}
    monkeypatch.setattr(budget, "resident", lambda: now["resident"])
    monkeypatch.setattr(budget, "peak_resident", lambda: now["peak"])
    headroom = Headroom(600, 100)
    assert headroom.missing() == 0  # the peak is older than the work
    now["peak"] = 1400
    small = Headroom(600, 100)
    now["peak"] = 1450
    assert small.missing() == 0
    now["peak"] = 1540
    assert small.missing() == 40
