"""Tables on their way out: record batches to CSV, Parquet or Feather, in a file that appears whole or not at all."""

from __future__ import annotations

import errno
import io
import os
import re
import sys
from abc import ABC, abstractmethod
from contextlib import contextmanager
from typing import TYPE_CHECKING, Protocol

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.ipc
import pyarrow.parquet as pq
import pyarrow.types as pt
from pyarrow import csv

from fernwood.errors import ParameterError, StoreError, shown
from fernwood.files import Descriptor, exists, is_directory, replaced_file, scratch_directory
from fernwood.reduced.formulas import Formulas
from fernwood.shortage import pass_on_shortage

if TYPE_CHECKING:
    from collections.abc import Iterator
    from contextlib import AbstractContextManager
    from pathlib import Path

    class _Writer(Protocol):
        def write_batch(self, batch: pa.RecordBatch) -> None: ...

        def close(self) -> None: ...


__all__ = ["Output", "StandardOutput", "TableFile", "new_file", "said_of_disk", "write_csv"]

_FORMS = {".csv": "csv", ".parquet": "parquet", ".pq": "parquet", ".feather": "feather", ".arrow": "feather"}
_BLANK_LINE = re.compile(rb"^\n", re.MULTILINE)
"""Of numbers, booleans and dates, which have no line ends of their own."""


class Output(ABC):
    """Somewhere to write a table to.

    Attributes
    ----------
    title : what to call it in a sentence
    form : "csv", "parquet" or "feather"
    formulas : what text of a CSV file a spreadsheet would run
    """

    title: str
    form: str
    formulas: Formulas

    @abstractmethod
    def writing(self, schema: pa.Schema) -> AbstractContextManager[_Writer]:
        """A writer of batches; what it wrote counts when the block ends well."""

    @abstractmethod
    def scratch(self) -> AbstractContextManager[Path]:
        """A directory for what does not fit into memory, which goes with the block."""


class TableFile(Output):
    """A file for a table, in the form that its name says; it appears whole or not at all.

    Parameters
    ----------
    path
        A name that ends in .csv, .parquet or .feather.
    force
        Whether a file that is there gives way.
    spreadsheet
        Whether a CSV file is for people with a spreadsheet, who must not run what it holds.
    """

    def __init__(self, path: Path, *, force: bool = False, spreadsheet: bool = False) -> None:
        suffix = path.suffix.lower()
        if suffix not in _FORMS:
            raise ParameterError(
                f"the name {shown(path.name)} does not say what to write; let it end in .csv, .parquet or .feather"
            )
        check_new(path, force=force)
        self.path, self.title, self.form = path, shown(path), _FORMS[suffix]
        self.formulas = Formulas(guard=spreadsheet)

    @contextmanager
    def writing(self, schema: pa.Schema) -> Iterator[_Writer]:
        """A writer of batches; the file takes its name when the block ends well."""
        with replaced_file(self.path) as file, _table_writer(self, file, schema) as writer:
            yield writer

    @contextmanager
    def scratch(self) -> Iterator[Path]:
        """A hidden directory beside the file."""
        with scratch_directory(self.path) as path:
            yield path


class StandardOutput(Output):
    """Standard output, as lines of comma-separated text.

    Parameters
    ----------
    spreadsheet
        As of a file.
    """

    title, form = "standard output", "csv"

    def __init__(self, *, spreadsheet: bool = False) -> None:
        self.formulas = Formulas(guard=spreadsheet)

    @contextmanager
    def writing(self, schema: pa.Schema) -> Iterator[_Writer]:
        """A writer of batches; they are out at once."""
        with _table_writer(self, Descriptor(sys.stdout.fileno()), schema) as writer:
            yield writer

    @contextmanager
    def scratch(self) -> Iterator[Path]:
        """A directory where the system has such."""
        with scratch_directory() as path:
            yield path


@contextmanager
def _table_writer(out: Output, file: io.RawIOBase, schema: pa.Schema) -> Iterator[_Writer]:
    """A writer of batches to an open file; what is in it when the block fails is of no use."""
    sink = pa.PythonFile(file, "w")
    writer: _Writer
    if out.form == "csv":
        writer = _CsvWriter(file, schema, out.formulas)
    elif out.form == "parquet":
        writer = pq.ParquetWriter(sink, schema, compression="zstd")
    else:
        writer = pa.ipc.new_file(sink, schema)
    yield writer
    writer.close()


class _CsvWriter:
    """Lines of text; each batch is made in memory first, so that Arrow never sees a file that fails."""

    def __init__(self, file: io.RawIOBase, schema: pa.Schema, formulas: Formulas) -> None:
        self._file = file
        self._formulas = formulas
        self._write(pa.Table.from_batches([], schema), header=True)

    def write_batch(self, batch: pa.RecordBatch) -> None:
        self._write(pa.Table.from_batches([batch]), header=False)

    def _write(self, table: pa.Table, *, header: bool) -> None:
        write_csv(table, self._file, self._formulas, header=header)

    def close(self) -> None:
        pass


def write_csv(table: pa.Table, file: io.RawIOBase, formulas: Formulas, *, header: bool) -> None:
    """Lines of comma-separated text, made in memory first.

    What is missing in a table of one column is an empty text in quotes, since readers pass over blank lines.
    """
    table = formulas.passed(table, headings=header)
    alone = table.column(0) if table.num_columns == 1 else None
    words = alone is not None and (pt.is_string(alone.type) or pt.is_large_string(alone.type))
    if words:
        table = table.set_column(0, table.field(0), pc.fill_null(alone, ""))
    text = io.BytesIO()
    csv.write_csv(table, text, csv.WriteOptions(include_header=header))
    whole = text.getbuffer()
    file.write(whole if alone is None or words else _BLANK_LINE.sub(b'""\n', whole))


def check_new(path: Path, *, force: bool) -> None:
    """Refuse a name that cannot be written under, before any work is done."""
    if is_directory(path):
        raise StoreError(f"{shown(path)} is a directory; give the name of a file")
    if exists(path) and not force:
        raise StoreError(f"{shown(path)} exists; choose another name or replace it with --force")
    if not is_directory(path.parent):
        raise StoreError(f"there is no directory {shown(path.parent)} to write into; make it first")


@contextmanager
def new_file(path: Path, *, force: bool) -> Iterator[io.RawIOBase]:
    """A file to write that appears whole or not at all; what the disk says is one sentence."""
    check_new(path, force=force)
    with said_of_disk(shown(path)), replaced_file(path) as file:
        yield file


@contextmanager
def said_of_disk(what: str) -> Iterator[None]:
    """Turn what the system says of a file, or of standard output, into one sentence."""
    try:
        yield
    except OSError as error:
        if isinstance(error, StoreError | BrokenPipeError) or error.errno is None:
            raise
        pass_on_shortage(error)
        full = error.errno in {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}
        way_out = "free some space, or write elsewhere" if full else "choose another place"
        raise StoreError(f"{what} cannot be written: {os.strerror(error.errno)}; {way_out}") from error
