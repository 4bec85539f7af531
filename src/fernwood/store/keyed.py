"""Files that say something of every row and name it: phenotypes by family and sample, annotations by barcode.

A table whose rows have names (`Source.row_ids`) takes such a file in any order, with more rows than the table has. Its
first line holds names of columns unless it begins with the name of a row.
"""

from __future__ import annotations

import csv
import io
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from fernwood.errors import SourceError, TargetError, shown
from fernwood.files import FileWriter, opened, remove
from fernwood.sources import open_source
from fernwood.sources.base import Band, Kind
from fernwood.sources.feed import unpacking
from fernwood.sources.table_form import TableForm
from fernwood.sources.text_format import COMPRESSED, is_text_name
from fernwood.sources.typed import decoded

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from fernwood.sources.base import Source, Workspace

__all__ = ["ColumnOfFile", "keyed_band"]

_TAB = "\t"
_DELIMITERS = f"{_TAB};,|"
_PLINK_ENDINGS = {".pheno", ".phen", ".fam", ".cov"}
_SPACED_ENDINGS = {".txt", ".dat", *_PLINK_ENDINGS}
"""Of files in which spaces stand between cells."""


@dataclass(frozen=True)
class ColumnOfFile:
    """A column of a file, as ``meta.csv:cell_type`` names it; without a name, the only one."""

    path: Path
    column: str | None = None


@dataclass(frozen=True)
class _Layout:
    """How a file names rows: by how many of its first columns, and whether its first line is a header."""

    n_ids: int
    header: bool
    delimiter: str | None  # None: any run of spaces


def keyed_band(given: ColumnOfFile, table: Source, role: str, workspace: Workspace) -> Band | None:
    """The column of a file in the order of the table's rows; None when the file does not name them."""
    if table.beside is None or not table.row_ids:
        return None
    positions = np.array([table.beside.names.find(name) for name in table.row_ids], np.int64)
    with table.beside.reading(positions, workspace) as reader:
        ids = [decoded(column).to_pylist() for column in reader.columns(0, len(positions))]
    keys = list(zip(*ids, strict=True))
    if given.path.suffix == ".npy":
        return None
    if is_text_name(given.path) or given.path.suffix.lower() in _PLINK_ENDINGS:
        layout = _text_layout(given.path, keys)
        if layout is None:
            return None
        with _opened_text(given.path, layout, workspace) as source:
            return _matched(source, layout.n_ids, given, table, keys, role, workspace)
    source = open_source(given.path)
    if len(source.names) < 2:
        return None
    return _matched(source, min(len(table.row_ids), len(source.names) - 1), given, table, keys, role, workspace)


def _matched(
    source: Source,
    n_ids: int,
    given: ColumnOfFile,
    table: Source,
    keys: list[tuple[str, ...]],
    role: str,
    workspace: Workspace,
) -> Band:
    title = shown(given.path.name)
    place = _value_place(source, n_ids, given, role)
    with source.reading(np.array([*range(n_ids), place]), workspace) as reader:
        columns = [decoded(column).cast(pa.large_string()).to_pylist() for column in reader.columns(0, n_ids)]
        band = reader.band(n_ids, n_ids + 1)
    wanted = [key[-n_ids:] for key in keys]
    row_of: dict[tuple[str, ...], int] = {}
    known = set(wanted)
    if len(known) < len(wanted):
        raise TargetError(
            f"{title} names samples without their families, and a sample of {table.title} stands in more than one; "
            "give both"
        )
    for row, key in enumerate(zip(*columns, strict=True)):
        if key in known and row_of.setdefault(key, row) != row:
            raise TargetError(f"{_named(key)} stands twice in {title}; keep one line of it")
    absent = next((key for key in wanted if key not in row_of), None)
    if absent is not None:
        raise TargetError(
            f"{_named(absent)} of {table.title} is not in {title}, given as the {role}; every row needs a line there"
        )
    values = table.mended(band.values) if band.kinds[0] == Kind.NUMBER else band.values
    return Band(values[:, [row_of[key] for key in wanted]], band.kinds, band.labels)


def _named(key: tuple[str, ...]) -> str:
    return " ".join(shown(word) for word in key)


def _value_place(source: Source, n_ids: int, given: ColumnOfFile, role: str) -> int:
    """Which column of the file is meant."""
    n_values = len(source.names) - n_ids
    if given.column is not None:
        place = source.names.find(given.column)
        if place is None or place < n_ids:
            raise TargetError(
                f"{shown(given.path.name)} has no column {shown(given.column)}{source.names.nearest(given.column)}"
            )
        return place
    if n_values != 1:
        raise TargetError(
            f"{shown(given.path.name)}, given as the {role}, has {n_values} columns behind the names of rows; "
            f"say which one as {shown(given.path.name + ':' + source.names[-1])}"
        )
    return n_ids


def _text_layout(path: Path, keys: list[tuple[str, ...]]) -> _Layout | None:
    """How a text file names the rows: by all ids, by the last alone, or not at all (one column in row order)."""
    choices = [(n, {key[-n:] for key in keys}) for n in sorted({len(keys[0]) if keys else 1, 1}, reverse=True)]
    delimiter: str | None = None
    first: list[str] = []
    for number, line in enumerate(_lines(path)):
        if number == 0:
            delimiter = max(_DELIMITERS, key=line.count)
            delimiter = delimiter if delimiter in line else None
            first = _cells(line, delimiter)
            spaced = _SPACED_ENDINGS & {suffix.lower() for suffix in path.suffixes}
            if len(first) < 2 or (delimiter is None and not spaced):
                return None
        cells = first if number == 0 else _cells(line, delimiter)
        for n_ids, known in choices:
            if len(cells) > n_ids and tuple(cells[:n_ids]) in known:
                return _Layout(n_ids, tuple(first[:n_ids]) not in known, delimiter)
    raise TargetError(
        f"no line of {shown(path.name)} begins with a row's name such as {_named(keys[0])}; match the names, or give a "
        "file with one column in the order of the rows"
    )


def _lines(path: Path) -> Iterator[str]:
    """The lines that are not blank."""
    codec = COMPRESSED.get(path.suffix.lower())
    try:
        with (
            opened(path) as file,
            unpacking(shown(path.name)),
            pa.input_stream(file, compression=codec, buffer_size=2**16) as stream,
            io.TextIOWrapper(io.BufferedReader(stream), encoding="utf-8-sig") as text,
        ):
            yield from (line.rstrip("\r\n") for line in text if line.strip())
    except UnicodeDecodeError as error:
        raise SourceError(f"{shown(path.name)} is not UTF-8 text; convert the file to UTF-8") from error


def _cells(line: str, delimiter: str | None) -> list[str]:
    return line.split() if delimiter is None else next(csv.reader([line], delimiter=delimiter, skipinitialspace=True))


@contextmanager
def _opened_text(path: Path, layout: _Layout, workspace: Workspace) -> Iterator[Source]:
    """The file as a source; what is set apart by runs of spaces is written anew with tabs first."""
    from fernwood.sources.text import TextSource

    form = TableForm(layout.delimiter or "\t", layout.header, categorical=tuple(range(layout.n_ids)))
    if layout.delimiter is not None:
        yield TextSource(path, form)
        return
    even = workspace.scratch / f"{path.name}.tsv"
    try:
        with FileWriter(even, sync=False) as file:
            for line in _lines(path):
                file.write(f"{_TAB.join(line.split())}\n".encode())
        yield TextSource(even, form)
    finally:
        remove(even)
