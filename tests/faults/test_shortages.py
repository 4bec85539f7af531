"""Commands under hard limits of memory: the bounded part of ``python -m torture memory``."""

from __future__ import annotations

from pathlib import Path

import pytest

from torture.forking import Forker
from torture.shortages import Shortages

MB = 2**20


@pytest.fixture(scope="module")
def shortages(tmp_path_factory: pytest.TempPathFactory, forker: Forker) -> Shortages:
    return Shortages(tmp_path_factory.mktemp("shortages"), forker)


@pytest.mark.parametrize("job", ["ingest", "snowball", "boruta"])
def test_less_and_more_memory_than_a_command_takes(shortages: Shortages, job: str) -> None:
    """From none at all to plenty: one sentence, then the answer; afterwards the answer in any case."""
    tried = [shortages.forked(job, int(more * MB)) for more in (0, 1024)]
    assert [fault for one in tried for fault in one.faults] == []
    assert [one.code for one in tried] == [2, 0]


def test_a_fresh_process_with_less_than_libraries_take(shortages: Shortages) -> None:
    assert shortages.fresh("snowball", 300 * MB) == (2, [])


def test_what_is_said(tmp_path: Path, forker: Forker) -> None:
    (tmp_path / "t.csv").write_text("a,y\n" + "1,0\n2,1\n" * 9)
    ended = forker.fernwood("ingest", "t.csv", "--target", "y", "--out", "s.fern", cwd=tmp_path, limit=0).wait()
    assert ended is not None
    assert ended.code == 2
    assert ended.err.startswith("fernwood: the system gives no more memory to the process, which holds ")
    assert " for its addresses; free some, raise the limit, or let it work with less: " in ended.err
    assert [path.name for path in tmp_path.iterdir()] == ["t.csv"]
