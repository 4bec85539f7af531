"""``fernwood annotate``: the decisions of a run, written to ``var`` of the AnnData that it was made of."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from fernwood.cli import app
from fernwood.cli.completing import run_argument
from fernwood.cli.lean import keep_pandas_out
from fernwood.cli.quiet import quiet_option
from fernwood.errors import printable


@app.command("annotate")
def annotate_command(
    run: Annotated[Path, run_argument()],
    table: Annotated[Path, typer.Argument(help="The .h5ad file or AnnData .zarr folder that the run was made of.")],
    output: Annotated[Path | None, typer.Option(help="Write a copy there, and leave the table as it is.")] = None,
    prefix: Annotated[str, typer.Option(help="What the names of the new columns begin with.")] = "fernwood_",
    force: Annotated[bool, typer.Option("--force", help="Replace an --output that is there.")] = False,
    quiet: Annotated[bool, quiet_option("-q")] = False,
) -> None:
    """Write the decisions of a run to var of AnnData: decision, reason, selected, score, draws, p and q.

    Columns match by name. The table is replaced by a copy that has the new columns, so that it is there whole at any
    time; that needs as much disk again while it runs.

    Example: fernwood annotate cells.run cells.h5ad
    """
    from fernwood.reduced.annotating import annotate

    keep_pandas_out()
    n = annotate(run, table, output, prefix=prefix, force=force)
    if not quiet:
        sys.stderr.write(f"{printable(str(output or table))}: {n:,} columns have a decision in var\n")
