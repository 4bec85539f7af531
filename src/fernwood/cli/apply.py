"""``fernwood apply``: the columns that a run selected, taken from another table."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from fernwood.cli import app
from fernwood.cli.completing import run_argument
from fernwood.cli.quiet import quiet_option
from fernwood.cli.within import inside_budget
from fernwood.errors import ParameterError, printable
from fernwood.sources.place import as_place

if TYPE_CHECKING:
    from fernwood.reduced import Applied

_CHOSEN = Literal["selected", "confirmed", "tentative"]
_SHOWN_WARNINGS = 20
_TEXT = "How a text table is written"


@app.command("apply")
def apply_command(
    run: Annotated[Path, run_argument()],
    table: Annotated[str, typer.Argument(help="A table as for `fernwood ingest`, or a store; no target is needed.")],
    output: Annotated[
        Path | None, typer.Option(help="A file to write, .csv, .parquet or .feather; else CSV to standard output.")
    ] = None,
    only: Annotated[
        _CHOSEN, typer.Option(help="The columns selected (the few of a minimal run), confirmed, or tentative.")
    ] = "selected",
    memory: Annotated[
        str, typer.Option(help="The most memory the process may take, such as 512MB; by default half of what is free.")
    ] = "",
    store: Annotated[str, typer.Option(help="Where the run's store is now, if it was moved: a path or a URL.")] = "",
    transposed: Annotated[bool, typer.Option("--transposed", help="Features in rows.", rich_help_panel=_TEXT)] = False,
    delimiter: Annotated[
        str, typer.Option(help="The character between cells ('tab' for a tab).", rich_help_panel=_TEXT)
    ] = "",
    header: Annotated[
        bool | None, typer.Option(help="Whether line 1 holds names; told from it.", rich_help_panel=_TEXT)
    ] = None,
    decimal: Annotated[str, typer.Option(help="The decimal sign.", rich_help_panel=_TEXT)] = ".",
    missing: Annotated[
        list[str] | None, typer.Option(help="A word for missing values; repeat it.", rich_help_panel=_TEXT)
    ] = None,
    layer: Annotated[str, typer.Option(help="AnnData: the layer to read instead of X.")] = "",
    dataset: Annotated[str, typer.Option(help="HDF5, Zarr: the path of the data set in the file.")] = "",
    empty_chunks: Annotated[
        bool, typer.Option("--empty-chunks", help="Zarr: chunks that are not there hold the fill value.")
    ] = False,
    clean_names: Annotated[
        bool, typer.Option("--clean-names", help="Mend bad names as `fernwood ingest --clean-names` does.")
    ] = False,
    spreadsheet: Annotated[
        bool,
        typer.Option("--spreadsheet", help="CSV: an apostrophe before text that a spreadsheet would run as a formula."),
    ] = False,
    force: Annotated[bool, typer.Option("--force", help="Replace a file that is there.")] = False,
    quiet: Annotated[bool, quiet_option("-q")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Say what was written, and what is unlike, as JSON.")] = False,
) -> None:
    """Take the columns that a run selected from another table, with their exact values, and check them.

    Columns come in the order of the run's table, rows in that of the new one, and columns that were not selected are
    never kept. Missing columns are refused; another kind of values, new categories, values far outside the range of
    the run and many more missing values are warned of.

    Example: fernwood apply genes.run new_patients.csv --output new_genes.parquet
    """
    from fernwood.reduced import StandardOutput, TableFile, apply_run
    from fernwood.sources.table_form import TableForm
    from fernwood.sources.text_format import MISSING_WORDS

    if as_json and output is None:
        raise ParameterError("--json says what was written, and standard output has the table; give --output FILE")
    out = (
        StandardOutput(spreadsheet=spreadsheet)
        if output is None
        else TableFile(output, force=force, spreadsheet=spreadsheet)
    )
    if spreadsheet and out.form != "csv":
        raise ParameterError("--spreadsheet is for CSV; let the name end in .csv, or leave it out")
    form = TableForm(
        {"tab": "\t", "space": " "}.get(delimiter, delimiter) or None,
        header,
        decimal,
        MISSING_WORDS if missing is None else tuple(missing),
        transposed,
        layer=layer or None,
        dataset=dataset or None,
        empty_chunks=empty_chunks,
    )
    with inside_budget(memory, quiet=quiet or as_json) as (room, view):
        applied = apply_run(
            run,
            as_place(table),
            out,
            only=only,
            memory=room,
            form=form,
            store=as_place(store) if store else None,
            clean_names=clean_names,
            progress=view,
        )
    if as_json:
        typer.echo(json.dumps({**applied.to_json(), "output": str(output)}, indent=1))
    elif not quiet:
        _show(applied, output)


def _show(applied: Applied, output: Path | None) -> None:
    """What deserves a look, and what was written, on standard error: the other one may hold the table."""
    for said in applied.warnings[:_SHOWN_WARNINGS]:
        sys.stderr.write(f"warning: {printable(said)}\n")
    more = len(applied.warnings) - _SHOWN_WARNINGS
    if more > 0:
        sys.stderr.write(f"warning: and {more:,} more; --json lists them all\n")
    if output is not None:
        columns = f"{len(applied.columns):,} column{'' if len(applied.columns) == 1 else 's'}"
        sys.stderr.write(f"{printable(str(output))}: {applied.n_rows:,} rows, {columns}\n")
