"""``fernwood export``: the decisions of a run for other programs."""

from __future__ import annotations

import io
import json
import sys
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, BinaryIO, Literal

import typer

from fernwood.cli import app
from fernwood.cli.lean import keep_pandas_out
from fernwood.errors import ParameterError, StoreError, printable, shown

if TYPE_CHECKING:
    from collections.abc import Iterator

    import pyarrow as pa

    from fernwood.files import FileWriter
    from fernwood.result import Result

_FORMATS = Literal["csv", "parquet", "json"]
_SELECTED = Literal["all", "confirmed", "tentative"]


@app.command("export")
def export_command(
    run: Annotated[Path, typer.Argument(help="The directory of a run.")],
    to: Annotated[_FORMATS, typer.Option(help="The form of the table.")],
    output: Annotated[Path | None, typer.Option(help="A file to write; by default standard output.")] = None,
    only: Annotated[_SELECTED, typer.Option(help="Columns with this decision only.")] = "all",
    force: Annotated[bool, typer.Option("--force", help="Replace a file that is there.")] = False,
) -> None:
    """Write the decisions of a run, best column first.

    Two equal runs export equal bytes: there are no times and no paths in them.

    Example: fernwood export genes.run --to csv --output genes.csv
    """
    from fernwood.files import replaced_file
    from fernwood.saved import load_result

    keep_pandas_out()
    result = load_result(run)
    facts = result.facts
    if not facts.finished:
        sys.stderr.write(
            f"warning: the run stopped {facts.how_far}; fernwood resume {printable(str(run))} finishes it\n"
        )
    with ExitStack() as stack:
        if output is None:
            if to == "parquet" and sys.stdout.isatty():
                raise ParameterError("--to parquet is not for a terminal; give --output FILE, or send it to a file")
            file: BinaryIO | FileWriter = sys.stdout.buffer
        else:
            if output.exists() and not force:
                raise StoreError(f"{shown(output)} exists; choose another name or replace it with --force")
            if not output.parent.is_dir():
                raise StoreError(f"there is no directory {shown(output.parent)} to write into; make it first")
            file = stack.enter_context(replaced_file(output))
        _WRITERS[to](_chosen(result, only), file)
        if output is None:
            file.flush()


def _chosen(result: Result, only: _SELECTED) -> Iterator[pa.Table]:
    """The decision table in pieces, as plain text and numbers; at least one, so that there are always headings."""
    import pyarrow as pa
    import pyarrow.compute as pc

    parts = result.tables() if result.facts.n_columns else iter([result.to_table()])
    for part in parts:
        for place, field in enumerate(part.schema):
            if pa.types.is_dictionary(field.type):
                part = part.set_column(place, field.name, part.column(place).cast(pa.string()))
        yield part if only == "all" else part.filter(pc.equal(part.column("decision"), only))


def _write_csv(parts: Iterator[pa.Table], file: BinaryIO | FileWriter) -> None:
    import pyarrow as pa
    from pyarrow import csv

    for number, part in enumerate(parts):
        for place, field in enumerate(part.schema):
            if pa.types.is_list(field.type):  # as JSON, since a name may hold any character
                lists = [json.dumps(names) if names else "" for names in part.column(place).to_pylist()]
                part = part.set_column(place, field.name, pa.array(lists))
        buffer = io.BytesIO()
        csv.write_csv(part, buffer, csv.WriteOptions(include_header=number == 0))
        file.write(buffer.getvalue())


def _write_parquet(parts: Iterator[pa.Table], file: BinaryIO | FileWriter) -> None:
    import pyarrow.parquet as pq

    first = next(parts)
    with pq.ParquetWriter(file, first.schema, compression="zstd") as writer:
        writer.write_table(first)
        for part in parts:
            writer.write_table(part)


def _write_json(parts: Iterator[pa.Table], file: BinaryIO | FileWriter) -> None:
    between = "[\n"
    for part in parts:
        for row in part.to_pylist():
            file.write((between + json.dumps(row)).encode())
            between = ",\n"
    file.write(b"[]\n" if between == "[\n" else b"\n]\n")


_WRITERS = {"csv": _write_csv, "parquet": _write_parquet, "json": _write_json}
