"""Cells are worked through and kept, one line each, as soon as they are done: whoever stops can go on."""

from __future__ import annotations

import hashlib
import json
import os
import sys
import time
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from benchmarks.data import find_data

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from experiments.experiment import Cell, Experiment, Part, Row


class Outcome(NamedTuple):
    """The rows of every part by its name, seconds of work, and the data files that were not there.

    Seconds are added up over cells: by the clock, which counts whatever else the machine did, and of processors.
    """

    rows: dict[str, list[Row]]
    seconds: float
    processor_seconds: float
    missing: tuple[str, ...]


def run(experiment: Experiment, kept: Path, *, quick: bool, jobs: int, tell: Callable[[str], None]) -> Outcome:
    """All cells of an experiment, in some processes at once; those in the file `kept` are not measured again."""
    wanted: list[tuple[Part, Cell]] = []
    missing: dict[str, None] = {}
    for part in experiment.parts:
        for cell in part.cells(quick):
            if cell.needs is not None and find_data(cell.needs) is None:
                missing[cell.needs] = None
            else:
                wanted.append((part, cell))
    for name in missing:
        tell(f"{name} is not here (FERNWOOD_DATA names the folder): what needs it is left out")
    lines = _kept(kept, _stamp(cell for _, cell in wanted))
    left = {cell.key: cell for _, cell in wanted if cell.key not in lines}
    if len(left) < len({cell.key for _, cell in wanted}):
        tell(f"{len(wanted) - len(left)} of {len(wanted)} cells are there from before")
    started = time.perf_counter()
    with kept.open("a", encoding="utf-8") as file:
        for n, (key, rows, seconds, processor) in enumerate(_measured(list(left.values()), jobs), 1):
            lines[key] = {"key": key, "rows": rows, "seconds": seconds, "processor_seconds": processor}
            file.write(json.dumps(lines[key]) + "\n")
            file.flush()
            spent = time.perf_counter() - started
            tell(f"{n}/{len(left)}  {seconds:6.1f} s  about {spent / n * (len(left) - n):.0f} s left  {left[key]}")
    rows: dict[str, list[Row]] = {part.name: [] for part in experiment.parts}
    for part, cell in wanted:
        rows[part.name] += lines[cell.key]["rows"]
    whole = {cell.key: lines[cell.key] for _, cell in wanted}.values()
    seconds, processor = (sum(line[name] for line in whole) for name in ("seconds", "processor_seconds"))
    return Outcome(rows, seconds, processor, tuple(missing))


def _measured(cells: list[Cell], jobs: int) -> Iterator[tuple[str, list[Row], float, float]]:
    """Cells as they are done: first those that may share the machine, then those that are measured alone."""
    shared = [cell for cell in cells if not cell.alone]
    if jobs > 1 and len(shared) > 1:
        from joblib import Parallel, delayed

        yield from Parallel(n_jobs=jobs, return_as="generator_unordered")(delayed(_timed)(cell) for cell in shared)
    else:
        yield from map(_timed, shared)
    yield from map(_timed, (cell for cell in cells if cell.alone))


def _timed(cell: Cell) -> tuple[str, list[Row], float, float]:
    """A cell's rows, and its seconds by the clock and of processors, those of child processes with them."""
    before = os.times()
    rows = cell.rows()
    after = os.times()
    return cell.key, rows, after.elapsed - before.elapsed, sum(after[:4]) - sum(before[:4])


def _stamp(cells: Iterable[Cell]) -> dict[str, str]:
    """What a kept cell has to share with the cells that are still to come: the version, and the text that measures."""
    modules = sorted({cell.measure.__module__ for cell in cells})
    text = b"".join(Path(str(sys.modules[module].__file__)).read_bytes() for module in modules)
    return {"fernwood": metadata.version("fernwood"), "text": hashlib.sha256(text).hexdigest()[:16]}


def _kept(path: Path, stamp: dict[str, str]) -> dict[str, dict]:
    """The lines of cells by key. A file of another version begins anew; a last line that was cut off is dropped."""
    path.parent.mkdir(parents=True, exist_ok=True)
    whole: list[dict] = []
    if path.is_file():
        for line in path.read_text(encoding="utf-8").splitlines():
            try:
                whole.append(json.loads(line))
            except ValueError:
                break
    if not whole or whole[0] != stamp:
        whole = [stamp]
    path.write_text("".join(json.dumps(line) + "\n" for line in whole), encoding="utf-8")
    return {line["key"]: line for line in whole[1:]}
