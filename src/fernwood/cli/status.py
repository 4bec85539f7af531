"""``fernwood status``: how a run stands, from any terminal."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from fernwood.budget import shown_size
from fernwood.cli import app
from fernwood.cli.completing import run_argument
from fernwood.cli.lean import keep_pandas_out
from fernwood.errors import printable, shown

if TYPE_CHECKING:
    from fernwood.run.standing import Standing


@app.command("status")
def status_command(
    run: Annotated[Path, run_argument()],
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON instead.")] = False,
) -> None:
    """Say how a run stands, while it works or after: nothing in it is touched.

    Example: fernwood status genes.run
    """
    from fernwood.run.standing import standing

    keep_pandas_out()
    stands = standing(run)
    if as_json:
        typer.echo(json.dumps(stands.to_json(), indent=1))
        return
    where = printable(str(run))
    typer.echo(f"{where}: {_STATES[stands.state]} ({printable(stands.method)})")
    if stands.stage:
        typer.echo(printable(f"{stands.stage}: {_how_far(stands)}, {stands.detail}"))
    if stands.leading:
        typer.echo(f"found, among others: {', '.join(shown(name) for name in stands.leading)}")
    if stands.seconds_silent is not None:
        limit = f" of {shown_size(stands.memory)}" if stands.memory else ""
        typer.echo(
            f"last sign {stands.seconds_silent:,.0f} s ago; memory {shown_size(stands.resident)}, "
            f"at its peak {shown_size(stands.peak)}{limit}"
        )
    if stands.seconds_since_checkpoint is not None:
        typer.echo(
            f"last checkpoint {stands.seconds_since_checkpoint:,.0f} s ago, {shown_size(stands.checkpoint_bytes)} in "
            f"{stands.checkpoint_seconds:.2f} s"
        )
    if stands.why:
        typer.echo(f"it said: {printable(stands.why)}")
    if stands.state == "done":
        typer.echo(f"decisions for all columns: fernwood export {where} --to csv")
    elif stands.state != "working":
        typer.echo(f"go on with: fernwood resume {where}")


_STATES = {
    "working": "a process works on it",
    "done": "done",
    "stopped": "stopped before its end",
    "failed": "ended with an error",
    "gone": "its process ended without a word",
}


def _how_far(stands: Standing) -> str:
    share = f"{100 * stands.done / max(stands.total, 1):.0f} % ({stands.done:,} of {stands.total:,} {stands.unit})"
    return share if stands.seconds_left is None else f"{share}, about {stands.seconds_left:,.0f} s left"
