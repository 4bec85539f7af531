"""``fernwood export``: the decisions of a run for other programs, and its table reduced to the columns selected."""

from __future__ import annotations

import io
import json
import sys
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from fernwood.cli import app
from fernwood.cli.completing import run_argument
from fernwood.cli.lean import keep_pandas_out
from fernwood.cli.quiet import quiet_option
from fernwood.cli.within import inside_budget
from fernwood.errors import ParameterError, StoreError, printable, shown
from fernwood.sources.place import as_place

if TYPE_CHECKING:
    from collections.abc import Iterator

    import numpy as np
    import pyarrow as pa
    from numpy.typing import NDArray

    from fernwood.reduced import TableFile
    from fernwood.reduced.formulas import Formulas
    from fernwood.result import Result

_FORMATS = Literal["csv", "parquet", "json", "names"]
_SELECTED = Literal["all", "selected", "confirmed", "tentative"]
_RUN = 65_536


@app.command("export")
def export_command(
    run: Annotated[Path, run_argument()],
    to: Annotated[
        _FORMATS | None, typer.Option(help="The form of the decisions; names: the columns selected, one a line.")
    ] = None,
    output: Annotated[Path | None, typer.Option(help="A file to write; by default standard output.")] = None,
    table: Annotated[
        Path | None,
        typer.Option(help="A file for the reduced table itself, .parquet, .csv or .feather: columns, then target."),
    ] = None,
    only: Annotated[
        _SELECTED | None,
        typer.Option(help="Which columns; by default all, and those selected of names and of the reduced table."),
    ] = None,
    spreadsheet: Annotated[
        bool,
        typer.Option("--spreadsheet", help="CSV: an apostrophe before text that a spreadsheet would run as a formula."),
    ] = False,
    null: Annotated[bool, typer.Option("--null", help="Names: end each with a NUL, as xargs -0 reads them.")] = False,
    memory: Annotated[str, typer.Option(help="Reduced table: the most memory the process may take.")] = "",
    store: Annotated[
        str, typer.Option(help="Reduced table: where the run's store is now, if it was moved: a path or a URL.")
    ] = "",
    force: Annotated[bool, typer.Option("--force", help="Replace a file that is there.")] = False,
    quiet: Annotated[bool, quiet_option("-q")] = False,
) -> None:
    """Write the decisions of a run, best column first, or its table reduced to the columns selected.

    Two equal runs export equal bytes: there are no times and no paths in them. The reduced table is made from the
    run's store, which keeps 255 values of a column of numbers; `fernwood apply` takes exact values from a table.

    Example: fernwood export genes.run --to csv --output genes.csv

    Example: fernwood export genes.run --table reduced.parquet
    """
    from fernwood.reduced import TableFile
    from fernwood.reduced.formulas import Formulas
    from fernwood.saved import load_result

    if to is None and table is None:
        raise ParameterError("nothing to export; give --to csv, parquet, json or names, or --table FILE")
    if null and to != "names":
        raise ParameterError("--null is for names; add --to names, or leave it out")
    if output is not None and to is None:
        raise ParameterError("--output is for the decisions; add --to csv, say, or leave it out")
    keep_pandas_out()
    result = load_result(run)
    # What stands in the way of the table is said before the decisions are out.
    reduced = None if table is None else TableFile(table, force=force, spreadsheet=spreadsheet)
    if spreadsheet and to != "csv" and (reduced is None or reduced.form != "csv"):
        raise ParameterError("--spreadsheet is for CSV; add --to csv or --table FILE.csv, or leave it out")
    facts = result.facts
    if not facts.finished and not quiet:
        sys.stderr.write(
            f"warning: the run stopped {facts.how_far}; fernwood resume {printable(str(run))} finishes it\n"
        )
    if to is not None:
        formulas = Formulas(guard=spreadsheet)
        _write_decisions(result, to, output, only, formulas, force=force, null=null)
        _warn_of(formulas, quiet=quiet)
    if reduced is not None:
        _write_table(run, result, reduced, only or "selected", memory, store, quiet=quiet)


def _warn_of(formulas: Formulas, *, quiet: bool) -> None:
    if formulas.said and not quiet:
        sys.stderr.write(f"warning: {formulas.said}\n")


def _write_decisions(
    result: Result,
    to: _FORMATS,
    output: Path | None,
    only: _SELECTED | None,
    formulas: Formulas,
    *,
    force: bool,
    null: bool,
) -> None:
    from fernwood.files import Descriptor
    from fernwood.reduced.writing import new_file, said_of_disk

    if to == "parquet" and output is None and sys.stdout.isatty():
        raise ParameterError("--to parquet is not for a terminal; give --output FILE, or send it to a file")
    with ExitStack() as stack:
        if output is None:
            stack.enter_context(said_of_disk("standard output"))
            file: io.RawIOBase = Descriptor(sys.stdout.fileno())
        else:
            file = stack.enter_context(new_file(output, force=force))
        if to == "names":
            _write_names(result, only or "selected", file, b"\0" if null else b"\n")
        elif to == "csv":
            _write_csv(_chosen(result, only or "all"), file, formulas)
        else:
            _WRITERS[to](_chosen(result, only or "all"), file)


def _write_table(
    run: Path,
    result: Result,
    out: TableFile,
    only: _SELECTED,
    memory: str,
    store: str,
    *,
    quiet: bool,
) -> None:
    from fernwood.reduced import chosen_columns, reduced_table, store_of

    positions = chosen_columns(result, only, run.name)
    with (
        store_of(run, result, as_place(store) if store else None) as opened,
        inside_budget(memory, quiet=quiet) as (room, view),
    ):
        rounded = reduced_table(opened, positions, out, memory=room, progress=view)
    _warn_of(out.formulas, quiet=quiet)
    if quiet:
        return
    if rounded.n_columns:
        way_out = f"fernwood apply {printable(str(run))} TABLE has the exact values"
        sys.stderr.write(f"warning: {printable(rounded.said)}; {way_out}\n")
    n = len(positions)
    sys.stderr.write(
        f"{printable(str(out.path))}: {result.facts.n_rows:,} rows, {n:,} column{'s' * (n != 1)} selected\n"
    )


def _ordered(result: Result, only: _SELECTED) -> NDArray[np.int64]:
    """Positions of the columns asked for, best first."""
    import numpy as np

    if only == "all":
        return result.order
    chosen = np.zeros(len(result.draws), bool)
    chosen[getattr(result, only)] = True
    return np.asarray(result.order[chosen[result.order]])


def _chosen(result: Result, only: _SELECTED) -> Iterator[pa.Table]:
    """The decision table in pieces, as plain text and numbers; at least one, so that there are always headings."""
    import pyarrow as pa

    positions = _ordered(result, only)
    for first in range(0, max(len(positions), 1), _RUN):
        part = result.to_table(positions[first : first + _RUN])
        for place, field in enumerate(part.schema):
            if pa.types.is_dictionary(field.type):
                part = part.set_column(place, field.name, part.column(place).cast(pa.string()))
        yield part


def _write_names(result: Result, only: _SELECTED, file: io.RawIOBase, end: bytes) -> None:
    positions = _ordered(result, only)
    for first in range(0, len(positions), _RUN):
        names = result.names.take(positions[first : first + _RUN]).to_pylist()
        for name in names:
            if end.decode() in name or "\r" in name:
                raise StoreError(
                    f"the name {shown(name)} holds what ends a line, so that a list would tell it as two; use --to json"
                )
        file.write(b"".join(name.encode() + end for name in names))


def _write_csv(parts: Iterator[pa.Table], file: io.RawIOBase, formulas: Formulas) -> None:
    import pyarrow as pa

    from fernwood.reduced.writing import write_csv

    for number, part in enumerate(parts):
        for place, field in enumerate(part.schema):
            if pa.types.is_list(field.type):  # as JSON, since a name may hold any character
                lists = [json.dumps(names) if names else "" for names in part.column(place).to_pylist()]
                part = part.set_column(place, field.name, pa.array(lists))
        write_csv(part, file, formulas, header=number == 0)


def _write_parquet(parts: Iterator[pa.Table], file: io.RawIOBase) -> None:
    import pyarrow.parquet as pq

    first = next(parts)
    with pq.ParquetWriter(file, first.schema, compression="zstd") as writer:
        writer.write_table(first)
        for part in parts:
            writer.write_table(part)


def _write_json(parts: Iterator[pa.Table], file: io.RawIOBase) -> None:
    between = "[\n"
    for part in parts:
        for row in part.to_pylist():
            file.write((between + json.dumps(row)).encode())
            between = ",\n"
    file.write(b"[]\n" if between == "[\n" else b"\n]\n")


_WRITERS = {"parquet": _write_parquet, "json": _write_json}
