"""``fernwood report``: what a run found, as one HTML page."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from fernwood.cli import app
from fernwood.cli.completing import run_argument
from fernwood.cli.lean import keep_pandas_out
from fernwood.cli.quiet import quiet_option
from fernwood.errors import printable

__all__ = ["REPORT_NAME"]

REPORT_NAME = "report.html"


@app.command("report")
def report_command(
    run: Annotated[Path, run_argument()],
    output: Annotated[Path | None, typer.Option(help="A file to write; by default report.html in the run.")] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace a file of another name that is there.")] = False,
    quiet: Annotated[bool, quiet_option("-q")] = False,
) -> None:
    """Write what a run found as one HTML page: works offline, light and dark, on a phone and on paper.

    A run that was stopped early has a report too, which says so at its top.

    Example: fernwood report genes.run --output genes.html
    """
    from fernwood.reduced.writing import check_new
    from fernwood.run.course import course_of
    from fernwood.saved import load_result

    keep_pandas_out()
    if output is not None:
        check_new(output, force=force)
    result = load_result(run)
    path = output or run / REPORT_NAME
    replace(result, course=course_of(run)).to_html(path)
    if not quiet:
        typer.echo(f"the report is {printable(str(path))}; open it in a browser")
