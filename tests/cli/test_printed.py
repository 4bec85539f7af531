"""What `select` prints, recorded as text: on a wide and on a narrow terminal, and where there is none.

`FERNWOOD_RECORD=1 pytest tests/cli/test_printed.py` records it anew; look at what changed.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from fernwood.cli.showing import _Field, fitted
from fernwood.datasets import make_madelon
from fernwood.kernels.ready import ensure_compiled
from torture.terminal import Terminal

FIXTURES = Path(__file__).parent / "fixtures"
ESCAPES = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")
_MEASURES_ALIKE = tuple(map(int, version("rich").split(".")[:2])) >= (14, 3)
"""Older ones take some letters for wider or narrower than they are, and lay the table out for that."""
LONG = "a name of more letters than any line has room for, " * 200
CASES = {
    "wide": (120, ["--goal", "minimal"]),
    "usual": (80, ["--goal", "minimal"]),
    "narrow": (50, ["--goal", "minimal"]),
    "all-relevant": (80, []),
    "boruta": (80, ["--method", "boruta", "--max-iter", "15"]),
    "ferns": (50, ["--method", "ferns", "--scans", "200"]),
    "filter": (80, ["--method", "filter", "--estimator", "naive-bayes"]),
    "no-terminal": (None, []),
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A table with names that a terminal would take for something else."""
    folder = tmp_path_factory.mktemp("printed")
    made = make_madelon(300, 60, class_sep=3.0, random_state=0)
    names = [f"gene_{i:02d}" for i in range(60)]
    names[:5] = ["[bold red]gene[/]", LONG, "שם של גן", "🧬 emoji", "漢字の列" * 10]
    columns = {name: made.data[:, i] for i, name in enumerate(names)}
    target = np.where(made.target == 1, "case", "control")
    pq.write_table(pa.table({**columns, "disease": target}), folder / "genes.parquet")
    ensure_compiled("snowball", "trees", "ferns", "ratios")
    return folder


# Standard output of a command is this terminal.
ON_A_TERMINAL = """
os.environ.update({about!r})
os.dup2(os.open({terminal!r}, os.O_RDWR | os.O_NOCTTY), 1)
"""


@pytest.fixture
def printed(run: Any, folder: Path) -> Callable[..., str]:
    """What a command prints, on a terminal of this width or where there is none; progress goes elsewhere."""
    there = f"import os; os.chdir({str(folder)!r})"
    command = ("select", "genes.parquet", "--target", "disease", "--memory", "2GB", "--seed", "0")

    def printed(width: int | None, *options: str, **about: str) -> str:
        if width is None:
            done = run(*command, *options, before=there)
            assert done.code == 0, done.err
            assert "\x1b" not in done.out + done.err
            return done.out
        with Terminal(width) as terminal:
            before = ON_A_TERMINAL.format(about={"TERM": "xterm-256color", **about}, terminal=terminal.name)
            done = run(*command, *options, before=there + before)
        assert done.code == 0, done.err
        return terminal.shown.replace("\r\n", "\n")

    return printed


def settled(text: str) -> str:
    """Without colours, and with placeholders for what differs from machine to machine."""
    text = ESCAPES.sub("", text)
    text = re.sub(r"\d[\d.,]* (kB|MB|GB)(/s)?", "SIZE", text)
    text = re.sub(r"\d[\d.,]* s\b", "SECONDS", text)
    return "\n".join(line.rstrip() for line in text.splitlines()) + "\n"


@pytest.mark.parametrize("case", CASES)
def test_what_select_prints(printed: Callable[..., str], case: str) -> None:
    width, options = CASES[case]
    raw = printed(width, *options)
    shown = settled(raw)
    path = FIXTURES / f"select-{case}.txt"
    if os.environ.get("FERNWOOD_RECORD"):
        path.write_text(shown, encoding="utf-8")
    if _MEASURES_ALIKE:
        assert shown == path.read_text(encoding="utf-8")
    if width is not None:
        from rich.cells import cell_len

        table = ESCAPES.sub("", raw).splitlines()
        begin = next(i for i, line in enumerate(table) if line.startswith("column"))
        end = next(i for i, line in enumerate(table) if " confirmed and " in line)
        assert max(cell_len(line.rstrip()) for line in table[begin:end]) <= width
        assert "\x1b[" in raw  # headings are bold
    assert LONG[:70] not in shown  # cut


def test_no_color_is_heard(printed: Callable[..., str]) -> None:
    assert re.search(r"\x1b\[[0-9;]*3[0-9]m", printed(80, "--max-contexts", "0"))
    assert not re.search(r"\x1b\[[0-9;]*3[0-9]m", printed(80, "--max-contexts", "0", NO_COLOR="1"))


def test_fields_shrink_before_one_leaves() -> None:
    fields = [
        _Field("column", ["n" * 30], least=10, worth=6),
        _Field("p", ["1.0e-03"], worth=5),
        _Field("effect", ["e" * 40], least=16, worth=7),
        _Field("q", ["1.0e-03"], worth=2),
    ]
    shown, widths, left = fitted(fields, 200)
    assert (len(shown), widths, left) == (4, [30, 7, 40, 7], [])
    shown, widths, left = fitted(fields, 60)
    assert (widths, left) == ([10, 7, 30, 7], [])  # what is worth most is widened first
    shown, widths, left = fitted(fields, 40)
    assert ([f.heading for f in shown], [f.heading for f in left]) == (["column", "p", "effect"], ["q"])
    assert sum(widths) + 4 <= 40
    shown, widths, left = fitted(fields, 5)
    assert ([f.heading for f in shown], widths) == (["column"], [5])
