"""``fernwood info`` and ``fernwood verify``: what a store holds, or which devices there are; whether it is unharmed."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Annotated

import typer

from fernwood.budget import shown_size
from fernwood.cli import app
from fernwood.cli.completing import store_argument
from fernwood.cli.lean import keep_pandas_out
from fernwood.cli.quiet import quiet_option
from fernwood.errors import ParameterError, printable, shown
from fernwood.sources.place import as_place

if TYPE_CHECKING:
    from fernwood.store.describe import Description

__all__ = ["print_description"]

_MOST_CLASSES = 8


@app.command("info")
def info_command(
    store: Annotated[str, store_argument()] = "",
    devices: Annotated[bool, typer.Option("--devices", help="Say which devices are seen here instead.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON instead.")] = False,
) -> None:
    """Say what a store holds, or which devices a search can use.

    Example: fernwood info genes.fern --json
    """
    if bool(store) == devices:
        raise ParameterError(
            f"--devices is about this machine, and {shown(store)} is a store; leave one of them out"
            if devices
            else "no store is given; name one, such as genes.fern, or give --devices for the devices of this machine"
        )
    if devices:
        _print_devices(as_json=as_json)
        return

    from fernwood.store import open_store

    keep_pandas_out()
    with open_store(store) as opened:
        description = opened.describe()
    if as_json:
        typer.echo(json.dumps(description.to_json(), indent=1))
    else:
        print_description(description, as_place(store).name)


def _print_devices(*, as_json: bool) -> None:
    """Print which devices are seen, and why none can be used where that is so."""
    from fernwood.device import seen, why_none

    cards, why = seen(), why_none()
    if as_json:
        typer.echo(json.dumps({"devices": [card._asdict() for card in cards], "usable": not why, "why": why}, indent=1))
        return
    if cards:
        from rich.console import Console
        from rich.table import Table
        from rich.text import Text

        table = Table(box=None, padding=(0, 2, 0, 0))
        for heading in ("device", "memory", "free", "capability", "driver", "CuPy"):
            table.add_column(heading, overflow="fold")
        for card in cards:
            made_for = f"{card.cupy} for CUDA {card.runtime}"
            sizes = shown_size(card.total), shown_size(card.free)
            cells = (printable(card.name), *sizes, card.capability, f"CUDA {card.driver}", made_for)
            table.add_row(*map(Text, cells))
        Console().print(table)
    typer.echo(printable(why) or "--device cuda uses the first of these; CUDA_VISIBLE_DEVICES says which that is")


@app.command("verify")
def verify_command(
    store: Annotated[str, store_argument()],
    quiet: Annotated[bool, quiet_option("-q")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON instead.")] = False,
) -> None:
    """Check every byte of a store against its checksums.

    Example: fernwood verify genes.fern
    """
    from fernwood.store import open_store

    keep_pandas_out()
    with open_store(store) as opened:
        opened.verify()
        if as_json:
            typer.echo(json.dumps({"whole": True, "columns": opened.n_columns, "bytes": opened.n_bytes}))
        elif not quiet:
            name = printable(as_place(store).name)
            typer.echo(f"{name} is whole: {opened.n_columns:,} columns, {shown_size(opened.n_bytes)} checked")


def print_description(about: Description, name: str) -> None:
    """Print a description for people."""
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, show_header=False, padding=(0, 2, 0, 0))
    table.add_column(style="bold")
    table.add_column(overflow="fold")

    def row(label: str, text: str) -> None:
        table.add_row(label, Text(text))

    row("store", printable(name))
    row("shape", f"{about.rows:,} rows × {about.columns:,} columns")
    row("size", f"{shown_size(about.bytes)}, {about.bytes_a_cell:.3f} bytes a cell")
    row("kinds", ", ".join(f"{n:,} {_plural(kind, n)}" for kind, n in about.kinds.items()))
    row("values", f"{about.exact:,} columns exact, {about.columns - about.exact:,} in quantile bins")
    row(
        "missing", f"{about.missing_cells:,} cells in {about.with_missing:,} columns" if about.missing_cells else "none"
    )
    if about.constant or about.all_missing:
        row("never drawn", f"{about.constant:,} constant, {about.all_missing:,} all missing")
    if about.target is None:
        row("target", "none")
    elif about.target["task"] == "classification":
        classes = about.target["classes"]
        listed = ", ".join(f"{shown(c['label'])} {c['rows']:,}" for c in classes[:_MOST_CLASSES])
        more = f" and {len(classes) - _MOST_CLASSES} more" if len(classes) > _MOST_CLASSES else ""
        row("target", f"{shown(about.target['name'])}, classification, {len(classes)} classes: {listed}{more}")
    else:
        low, _, middle, _, high = about.target["quartiles"]
        row("target", f"{shown(about.target['name'])}, regression, {low:g} to {high:g}, median {middle:g}")
    if about.weights:
        row("weights", "yes")
    if about.groups:
        row("groups", f"{about.groups:,}")
    row(
        "columns",
        ", ".join(shown(n) for n in about.first_names) + (", …" if about.columns > len(about.first_names) else ""),
    )
    row("fingerprint", printable(about.fingerprint))
    for note in about.notes:
        row("warning", printable(note))
    Console().print(table)


def _plural(kind: str, n: int) -> str:
    if n == 1:
        return kind
    return "categories" if kind == "category" else kind + "s"
