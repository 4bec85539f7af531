"""A result on disk: ``result.json``, ``decisions.parquet`` and ``insight.json``, sealed against damage."""

from __future__ import annotations

import hashlib
import json
import sys
import time
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from fernwood.budget import available
from fernwood.errors import StoreError, shown
from fernwood.files import is_directory, is_file, locked, move, nearest_path, opened, read_file, remove, replaced_file
from fernwood.insight import Insight
from fernwood.plausible import fits, made
from fernwood.relations import Minimal, Relations
from fernwood.relevance.decision import Decision, Verdicts
from fernwood.result import P_FROM, Facts, Result
from fernwood.sealed import is_intact, seal
from fernwood.shortage import pass_on_shortage
from fernwood.sources.names import ListedNames

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray

__all__ = ["DECISIONS_NAME", "INSIGHT_NAME", "SUMMARY_NAME", "load_result", "save_result"]

SUMMARY_NAME, DECISIONS_NAME, INSIGHT_NAME = "result.json", "decisions.parquet", "insight.json"
_NAMES = (DECISIONS_NAME, INSIGHT_NAME)
"""What the summary has checksums of."""
_FORMAT, _VERSION = "fernwood result", 1
_LOOKS, _BETWEEN_LOOKS_S = 20, 0.05
_COLUMN_BYTES = 100
"""What a result takes for a column, at least: its name, its numbers, and the same while it is read."""
_WORDS_AT_ONCE = 2**16
"""Decisions and reasons that are written out together while they are read; as text they take more than all numbers."""
_TYPES = {
    "column": None,
    "position": pa.int64(),
    "decision": None,
    "reason": None,
    "draws": pa.int32(),
    "score": pa.float64(),
    "wins": pa.int32(),
    "p": pa.float64(),
    "q": pa.float64(),
    "p_from": None,
    "content": pa.uint32(),
}
_LARGEST = sys.float_info.max
_RANGES = {"draws": (0, 2**31), "score": (-_LARGEST, _LARGEST), "wins": (0, 2**31), "p": (0, 1), "q": (0, 1)}
_MOST = 2**53
"""Of rows, columns or draws."""
_TRACE = {"call", "columns", "tried", "error", "accepted", "estimate", "held_out"}
_DAMAGE = (
    KeyError,
    TypeError,
    ValueError,
    AttributeError,
    IndexError,
    OverflowError,
    RecursionError,
    pa.ArrowException,
)
_MAYBE = ("wins", "p", "q", "p_from", "content")


def save_result(result: Result, directory: Path) -> None:
    """Write the files of a result into a directory; until the last of them is there, the result before is read."""
    before = _set_aside(directory)
    try:
        _write_result(result, directory)
    except BaseException:
        for name in before:
            with suppress(OSError):  # whoever reads finds it aside, too
                if not is_file(directory / name):
                    move(directory / _aside(name), directory / name)
        raise
    for name in _NAMES:
        with suppress(OSError):  # the next result that is kept takes its place
            remove(directory / _aside(name))


def _write_result(result: Result, directory: Path) -> None:
    with replaced_file(directory / DECISIONS_NAME) as file:
        writer: pq.ParquetWriter | None = None
        for part in result.tables():
            whole = _with_rest(result, part)
            writer = writer or pq.ParquetWriter(file, whole.schema, compression="zstd")
            writer.write_table(whole)
        if writer is not None:
            writer.close()
    with replaced_file(directory / INSIGHT_NAME) as file:
        file.write(json.dumps(result.insight.named(result.names.__getitem__)).encode())
    sums = {name: _digest_of(directory / name) for name in _NAMES}
    with replaced_file(directory / SUMMARY_NAME) as file:
        file.write(seal({"format": _FORMAT, "version": _VERSION, **result.summary(), "files": sums}))


def _with_rest(result: Result, part: pa.Table) -> pa.Table:
    """A piece of the decision table, and what of the result it leaves out because readers do not need it."""
    places = part.column("position").to_numpy()
    if "wins" not in part.column_names and result.wins.any():
        part = part.append_column("wins", pa.array(result.wins[places]))
    if result.contents is not None:
        part = part.append_column("content", pa.array(result.contents[places]))
    return part


def _set_aside(directory: Path) -> list[str]:
    """Give the files that the summary of a result speaks of hidden names; the summary stays. The names they had."""
    if not is_file(directory / SUMMARY_NAME):
        return []
    data = read_file(directory / SUMMARY_NAME)
    sums = json.loads(data).get("files", {}) if is_intact(data) else {}
    kept = [name for name in _NAMES if name in sums and _digest_of(directory / name) == sums[name]]
    for name in kept:
        move(directory / name, directory / _aside(name))
    return kept


def _aside(name: str) -> str:
    return f".{name}.before"


def load_result(directory: Path) -> Result:
    """The result that `save_result` wrote; one of before there were insights has none.

    While the process that works on a run writes a newer one, files do not belong together for a moment: that passes.
    """
    for _ in range(_LOOKS - 1):
        with suppress(StoreError, FileNotFoundError):
            return _loaded(directory)
        if not is_file(directory / SUMMARY_NAME):
            break
        with locked(directory) as alone:
            if alone:  # nobody writes now, but somebody may have while we looked
                return _loaded(directory)
        time.sleep(_BETWEEN_LOOKS_S)
    return _loaded(directory)


def _loaded(directory: Path) -> Result:
    where = shown(directory.name)
    summary_path = directory / SUMMARY_NAME
    if not is_directory(directory):
        hint = nearest_path(directory, SUMMARY_NAME) or "; make one with `fernwood select --out`"
        raise StoreError(f"there is no run {shown(directory)}{hint}")
    if not is_file(summary_path) or not any(
        is_file(directory / name) for name in (DECISIONS_NAME, _aside(DECISIONS_NAME))
    ):
        raise StoreError(f"{where} holds no result yet; let the run get on with `fernwood resume`")
    data = read_file(summary_path)
    damaged = f"the result in {where} is damaged; make it again with `fernwood resume`"
    if not is_intact(data):
        raise StoreError(damaged)
    entries = json.loads(data)
    if entries.get("format") != _FORMAT or entries.get("version") != _VERSION:
        raise StoreError(f"{where} holds a result of another Fernwood; read it with that one")
    files = entries.get("files", {})
    if not fits(files, dict[str, str]):
        raise StoreError(damaged)
    paths = {name: _file_of(directory, name, seen) for name, seen in files.items()}
    table_path, insight_path = paths.get(DECISIONS_NAME), paths.get(INSIGHT_NAME)
    if table_path is None or None in paths.values():
        raise StoreError(damaged)
    try:
        # What later versions added has a default.
        facts = made(Facts, {name: entries[name] for name in Facts.__dataclass_fields__ if name in entries})
        _check_facts(facts)
        with opened(table_path) as file:
            decisions = pq.ParquetFile(file, pre_buffer=False)
            if decisions.metadata.num_rows != facts.n_columns:
                raise ValueError("decisions about other columns")
            if facts.n_columns * _COLUMN_BYTES > available():
                raise StoreError(f"the result in {where} is of {facts.n_columns:,} columns, which memory does not hold")
            # Not on Arrow's threads: one that lets go of a Python file as the interpreter ends aborts it.
            table = decisions.read(use_threads=False)
        _check_table(table)
        insight = None if insight_path is None else json.loads(read_file(insight_path))
        return _restored(table, facts, entries, insight)
    except _DAMAGE as error:
        pass_on_shortage(error)
        raise StoreError(damaged) from error


def _file_of(directory: Path, name: str, seen: str) -> Path | None:
    """The file of a result that has this checksum: under its name, or aside while another result is being written."""
    if name not in _NAMES:
        return None
    paths = (directory / name, directory / _aside(name))
    return next((path for path in paths if _digest_of(path) == seen), None)


def _check_facts(facts: Facts) -> None:
    """Refuse, with a ValueError, facts that no search writes: what is shown of them is there, and of its type."""
    said = (facts.exploration, facts.sampling)
    fine = all(not about or type(about.get("said")) is str for about in said)
    fine = fine and fits(facts.elimination.get("said", []), list[str])
    fine = fine and all(type(one.get("name")) is str and type(one.get("terms")) is int for one in facts.covariates)
    trace = facts.elimination.get("trace", {})
    fine = fine and fits(trace, dict[str, list[float | bool | None]]) and set(trace) in (set(), _TRACE)
    fine = fine and len({len(some) for some in trace.values()}) < 2
    sizes = (facts.n_rows, facts.n_columns, facts.n_usable, facts.n_draws, facts.n_planned, facts.n_groups)
    if not fine or min(sizes) < 0 or max(sizes) > _MOST or not 0 <= facts.smallest_p <= 1:
        raise ValueError("facts that are none")
    parameters = facts.parameters
    rate = {"boruta": "alpha", "snowball": "fdr"}.get(facts.method)
    if rate is None and parameters.get("rule") in ("shadow", "mirror"):
        rate = "fdr"
    if rate is not None and not (fits(parameters.get(rate), float) and 0 <= parameters[rate] <= 1):
        raise ValueError("parameters that are none")
    if not fits(parameters.get("rule"), str | None) or not fits(parameters.get("given"), list[str | int] | None):
        raise ValueError("parameters that are none")


def _check_table(table: pa.Table) -> None:
    """Refuse, with a ValueError, decisions that lack a field, have it in another type, with gaps, or out of range."""
    for name, kind in _TYPES.items():
        if name not in table.column_names and name in _MAYBE:
            continue
        column = table.column(name)
        if (kind is not None and column.type != kind) or column.null_count:
            raise ValueError(f"{name} is of another type, or has gaps")
        if name in _RANGES:
            values, (low, high) = column.to_numpy(), _RANGES[name]
            if not ((values >= low) & (values <= high)).all():
                raise ValueError(f"{name} is out of range")
    if ("p" in table.column_names) != ("q" in table.column_names):
        raise ValueError("p without q")


def _digest_of(path: Path) -> str:
    """The checksum of a file, as `digest` has it of bytes; empty where there is none."""
    if not is_file(path):
        return ""
    with opened(path) as file:
        return hashlib.file_digest(file, lambda: hashlib.blake2b(digest_size=16)).hexdigest()


def _restored(table: pa.Table, facts: Facts, entries: dict[str, Any], insight: dict[str, Any] | None) -> Result:
    position = table.column("position").to_numpy()
    place = np.argsort(position)
    if not np.array_equal(position[place], np.arange(facts.n_columns)):
        raise ValueError("a position is missing or stands twice")

    def coded(name: str) -> tuple[NDArray[np.uint16], list[str]]:
        words = table.column(name)
        pieces = [
            chunk
            for first in range(0, len(words), _WORDS_AT_ONCE)
            for chunk in words.slice(first, _WORDS_AT_ONCE).cast(pa.string()).dictionary_encode().chunks
        ]
        column = pa.chunked_array(pieces, pa.dictionary(pa.int32(), pa.string())).unify_dictionaries().combine_chunks()
        return column.indices.to_numpy().astype(np.uint16)[place], column.dictionary.to_pylist()

    decision, words = coded("decision")
    reason, reasons = coded("reason")
    meaning = np.array([Decision[word.upper()] for word in words], np.uint8)

    def numbers(name: str) -> NDArray[Any] | None:
        return table.column(name).to_numpy()[place] if name in table.column_names else None

    wins = numbers("wins")
    modelled = None
    if "p_from" in table.column_names:
        source, sources = coded("p_from")
        modelled = np.array([name == P_FROM[1] for name in sources])[source]
    # Only confirmed columns have relations, and only tentative ones beside them have profiles; they stand first.
    n_first = len(entries["confirmed"]) + len(entries["tentative"])
    first = table.select(["column", "position"]).slice(0, n_first)
    positions = dict(zip(first.column(0).to_pylist(), first.column(1).to_pylist(), strict=True))
    return Result(
        ListedNames(table.column("column").cast(pa.large_string()).combine_chunks().take(pa.array(place))),
        facts,
        table.column("draws").to_numpy()[place],
        table.column("score").to_numpy()[place],
        np.zeros(len(place), np.int32) if wins is None else wins,
        Verdicts(meaning[decision], reason, tuple(reasons)),
        numbers("p"),
        numbers("q"),
        modelled,
        Relations.from_names(entries, positions) if "partners" in table.column_names else None,
        Minimal.from_names(entries["minimal"], positions) if "minimal" in table.column_names else None,
        Insight() if insight is None else Insight.from_names(insight, positions),
        contents=numbers("content"),
    )
