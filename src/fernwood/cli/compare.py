"""``fernwood compare``: what changed from one run to another, or how stable several are."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from fernwood.cli import app
from fernwood.cli.completing import run_argument
from fernwood.cli.lean import keep_pandas_out
from fernwood.errors import ParameterError, printable

if TYPE_CHECKING:
    from collections.abc import Iterable

    from fernwood.comparing import Change, Changes, Stability, Standing

_LONGEST = 200
"""Characters of a name that are shown."""


@app.command("compare")
def compare_command(
    runs: Annotated[
        list[Path],
        run_argument("Directories of two runs, or of more to see how stable they are."),
    ],
    limit: Annotated[int, typer.Option(help="The most columns to show of a kind; 0 is all.")] = 20,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON instead, with all columns.")] = False,
) -> None:
    """Say what changed from one run to another, and why: data, method, parameters, seed, versions.

    Of three runs or more, say how often each column is selected.

    Example: fernwood compare monday.run tuesday.run
    """
    from fernwood.comparing import compare, stability
    from fernwood.saved import load_result

    if len(runs) < 2:
        raise ParameterError("there is one run; give two or more to compare")
    if limit < 0:
        raise ParameterError(f"--limit is {limit}; give a number of columns, or 0 for all")
    keep_pandas_out()
    results = [load_result(run) for run in runs]
    if len(runs) > 2:
        told = stability(results)
        if as_json:
            typer.echo(json.dumps({"runs": [str(run) for run in runs], **told.to_json()}, indent=1))
        else:
            _show_stability(told, runs, limit)
        return
    changes = compare(*results)
    if as_json:
        typer.echo(json.dumps({"runs": [str(run) for run in runs], **changes.to_json()}, indent=1))
    else:
        _show(changes, runs, limit)


def _say(text: str) -> None:
    """A line for people, which may be broken where a terminal ends."""
    from rich.console import Console
    from rich.text import Text

    Console().print(Text(printable(text)))


def _show(changes: Changes, runs: list[Path], limit: int) -> None:
    _say(f"there: {runs[0]}, {changes.n_there:,} selected")
    _say(f"here:  {runs[1]}, {changes.n_here:,} selected")
    _say(f"in both: {changes.n_both:,} (Jaccard {changes.jaccard:.2f})")
    if changes.rank_agreement is not None:
        _say(
            f"of the best {changes.n_top:,} of each, {changes.n_top_both:,} are in both; "
            f"their ranks agree at {changes.rank_agreement:.2f} (Spearman)"
        )
    if len(changes.differences) > 1:
        _say("why:")
        for difference in changes.differences:
            _say(f"  {difference.said}")
    else:
        _say(f"why: {changes.why}")
    for heading, some in (("gained", changes.gained), ("lost", changes.lost), ("otherwise changed", changes.moved)):
        if some:
            _say(f"{heading}: {len(some):,}")
            _print_changes(some, limit)
    for where, (number, names) in (("there", changes.only_there), ("here", changes.only_here)):
        if number:
            more = ", …" if number > len(names) else ""
            _say(f"columns that are only in the table {where}: {number:,} ({', '.join(map(_short, names))}{more})")
    if not (changes.gained or changes.lost or changes.moved):
        _say("no decision differs")


def _print_changes(changes: list[Change], limit: int) -> None:
    rows = [(change.column, f"{_word(change.there)} → {_word(change.here)}", change.said) for change in changes]
    _print_rows(("column", "decision", "evidence"), rows, limit)


def _print_rows(headings: tuple[str, ...], rows: Iterable[tuple[str, ...]], limit: int) -> None:
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    listed = list(rows)
    table = Table(box=None, padding=(0, 2, 0, 0), header_style="bold")
    for heading in headings:
        table.add_column(heading, overflow="fold", max_width=28 if heading == "column" else None)
    for first, *others in listed[: limit or None]:
        table.add_row(Text(_short(first)), *(Text(printable(other)) for other in others))
    console = Console()
    console.print(table)
    if limit and len(listed) > limit:
        console.print(f"… and {len(listed) - limit:,} more; --limit 0 shows all")


def _word(standing: Standing | None) -> str:
    return "–" if standing is None else standing.decision


def _short(name: str) -> str:
    return printable(name if len(name) <= _LONGEST else name[: _LONGEST - 1] + "…")


def _show_stability(told: Stability, runs: list[Path], limit: int) -> None:
    _say(f"{told.n_runs:,} runs, which differ in: {', '.join(told.differs) or 'nothing'}")
    for run, number in zip(runs, told.n_selected, strict=True):
        _say(f"  {run}: {number:,} selected")
    _say(
        f"selected in all: {told.n_always:,} of {len(told.often):,} columns; "
        f"two runs share {100 * told.jaccard:.0f} % of theirs on average (Jaccard)"
    )
    if told.often:
        rows = [(name, f"{count} of {told.n_runs}") for name, count in told.often.items()]
        _print_rows(("column", "selected in"), rows, limit)
