"""MatrixMarket files: those that 10x pipelines write, with barcodes and features beside the matrix, and plain ones.

In a 10x folder features are the rows of the matrix and cells its columns; for us features are columns, so entries are
sorted out of core (`entries.py`) and the matrix is never held whole.
"""

from __future__ import annotations

import logging
from collections import Counter
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import pyarrow as pa

from fernwood.errors import SourceError, shown
from fernwood.files import opened
from fernwood.kernels.entries import OUTSIDE, parse_triplets
from fernwood.sources.arrow import first_line
from fernwood.sources.beside import RowTable
from fernwood.sources.cell_folders import BARCODES, FEATURES, companion, find_matrix
from fernwood.sources.entry_text import EntryTextSource
from fernwood.sources.feed import unpacking
from fernwood.sources.names import ListedNames, Names
from fernwood.sources.text_format import COMPRESSED

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray

    from fernwood.sources.base import Workspace
    from fernwood.sources.entries import ColumnEntries, Entries
    from fernwood.sources.feed import TextFeed
    from fernwood.sources.table_form import TableForm

__all__ = ["MatrixSource", "open_cells", "open_matrix"]

_log = logging.getLogger("fernwood")


class _Header(NamedTuple):
    """What a file says before its entries, and where these begin."""

    shape: tuple[int, int]
    n_entries: int
    pattern: bool
    end: int
    lines: int


def open_cells(path: Path, _: TableForm) -> MatrixSource:
    """A matrix with barcodes and features beside it."""
    matrix = find_matrix(path) or path
    barcodes, features = companion(matrix, BARCODES), companion(matrix, FEATURES)
    for found, what in ((barcodes, "barcodes.tsv"), (features, "features.tsv (or genes.tsv)")):
        if found is None:
            raise SourceError(
                f"{shown(matrix.name)} has no {what} beside it; keep matrix, barcodes and features in one folder"
            )
    return MatrixSource(matrix, features_first=True, barcodes=barcodes, features=features)


def open_matrix(path: Path, form: TableForm) -> MatrixSource:
    """A matrix by itself."""
    return MatrixSource(path, features_first=form.transposed)


class MatrixSource(EntryTextSource):
    """A MatrixMarket file of coordinates; with `features_first` its rows are our columns."""

    def __init__(
        self, path: Path, *, features_first: bool, barcodes: Path | None = None, features: Path | None = None
    ) -> None:
        super().__init__(path)
        self._features_first = features_first
        with self.feeding() as feed:
            self._header = _read_header(feed, self.title)
        n_features, n_rows = self._header.shape if features_first else self._header.shape[::-1]
        self.n_rows = n_rows
        self.names: Names
        if features is None:
            self.names = self.numbered(n_features)
        else:
            self.names = _feature_names(features)
            self._check_count(len(self.names), n_features, features, "rows")
        if barcodes is not None:
            words = [line.split("\t")[0].strip() for line in _lines(barcodes)]
            self._check_count(len(words), n_rows, barcodes, "columns")
            _refuse_twins(words, barcodes)
            self.beside = RowTable(pa.table({"barcode": pa.array(words, pa.large_string())}), shown(barcodes.name))
            self.row_ids = ("barcode",)

    def _check_count(self, found: int, wanted: int, path: Path, of: str) -> None:
        if found != wanted:
            raise SourceError(
                f"{self.title} has {wanted} {of} and {shown(path.name)} has {found} lines; "
                "they must agree: features are rows and barcodes columns of the matrix"
            )

    def read(self, entries: ColumnEntries, place_of: NDArray[np.int64], workspace: Workspace) -> None:
        """Read the entries of the columns that have a place."""
        header = self._header
        state = np.zeros(6, np.int64)
        with self.feeding() as feed:
            state[0], state[1] = header.end, header.lines + 1

            def parse(room: Entries, longs: NDArray[np.int64]) -> int:
                return int(
                    parse_triplets(
                        feed.text,
                        feed.final,
                        header.shape,
                        header.pattern,
                        self._features_first,
                        place_of,
                        state,
                        *room,
                        longs,
                    )
                )

            outcome = self.feed_entries(feed, entries, state, parse, workspace)
            if outcome:
                self._refuse(outcome, int(state[1]), bytes(feed.text[state[0] : state[5]]))
        if state[4] != header.n_entries:
            raise SourceError(
                f"{self.title} has {state[4]} entries where its header says {header.n_entries}; copy it again"
            )

    def _refuse(self, outcome: int, line: int, text: bytes) -> None:
        words = shown(text.decode(errors="replace").strip())
        if outcome == OUTSIDE:
            raise SourceError(
                f"line {line} of {self.title} is {words}, outside of the {self._header.shape[0]} × "
                f"{self._header.shape[1]} of its header, counted from 1; write it again"
            )
        wanted = "a row and a column" if self._header.pattern else "a row, a column and a value"
        raise SourceError(f"line {line} of {self.title} is {words} where {wanted} are expected; mend the line")


def _read_header(feed: TextFeed, title: str) -> _Header:
    text = feed.text[feed.start :].tobytes()
    lines = text.split(b"\n")
    words = lines[0].decode(errors="replace").lower().split()
    if words[:2] != ["%%matrixmarket", "matrix"] or len(words) != 5:
        raise SourceError(
            f"line 1 of {title} is no MatrixMarket header such as '%%MatrixMarket matrix coordinate integer general'; "
            "write it again with scipy.io.mmwrite"
        )
    layout, field, symmetry = words[2:]
    if layout != "coordinate" or field not in {"real", "integer", "pattern", "double"} or symmetry != "general":
        raise SourceError(
            f"{title} holds a matrix that is {shown(' '.join(words[2:]))}; Fernwood reads coordinates of real, integer "
            "or pattern entries, general ones: write it again with scipy.io.mmwrite(…, symmetry='general')"
        )
    done = feed.start
    for number, line in enumerate(lines):
        done += len(line) + 1
        if number and line.strip() and not line.startswith(b"%"):
            sizes = line.split()
            if len(sizes) != 3 or not all(size.isdigit() for size in sizes):
                break
            n_rows, n_columns, n_entries = (int(size) for size in sizes)
            if max(n_rows, n_columns) >= 2**31:
                break
            return _Header((n_rows, n_columns), n_entries, field == "pattern", min(done, len(feed.text)), number + 1)
    raise SourceError(f"{title} has no line of rows, columns and entries behind its header; write it again")


def _lines(path: Path) -> list[str]:
    codec = COMPRESSED.get(path.suffix.lower())
    with opened(path) as file, unpacking(shown(path.name)), pa.input_stream(file, compression=codec) as stream:
        data = stream.read()
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise SourceError(f"{shown(path.name)} cannot be read as text ({first_line(error)}); copy it again") from error
    return [line.rstrip("\r") for line in text.split("\n") if line.strip()]


def _feature_names(path: Path) -> ListedNames:
    """The symbol of a feature where no other has it, its id otherwise."""
    cells = [line.split("\t") for line in _lines(path)]
    symbols = [(line[1] if len(line) > 1 and line[1].strip() else line[0]).strip() for line in cells]
    counts = Counter(symbols)
    repeated = sum(counts[symbol] > 1 for symbol in symbols)
    if repeated:
        _log.info("%d features of %s share their symbols and go by their ids", repeated, shown(path.name))
    names = [line[0].strip() if counts[symbol] > 1 else symbol for line, symbol in zip(cells, symbols, strict=True)]
    return ListedNames(names)


def _refuse_twins(barcodes: list[str], path: Path) -> None:
    first: dict[str, int] = {}
    for number, barcode in enumerate(barcodes, 1):
        if first.setdefault(barcode, number) != number:
            raise SourceError(
                f"the barcode {shown(barcode)} stands on line {first[barcode]} of {shown(path.name)} and again on line "
                f"{number}; barcodes must differ: of several samples, put the sample's name behind each"
            )
