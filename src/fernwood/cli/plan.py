"""``fernwood plan``: what a search would take here, before it begins."""

from __future__ import annotations

import inspect
import json
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any, get_type_hints

import typer

from fernwood.budget import shown_size
from fernwood.cli import app
from fernwood.cli.options import device_from, settings_from
from fernwood.cli.searching import SearchCommand
from fernwood.cli.select import check_table_options, select_command, table_as_store
from fernwood.errors import printable
from fernwood.files import scratch_directory
from fernwood.sources.place import as_place

if TYPE_CHECKING:
    from collections.abc import Callable

    from fernwood.run.plan import CardPlan, SearchPlan
    from fernwood.search.forecasting import Forecast

_NOT_OF_A_PLAN = ("out", "report", "force", "quiet", "scheduler")


def plan_command(**options: Any) -> None:
    """Say what a search would take, without searching: memory by its parts, time, and reads from the disk.

    It takes the options of `fernwood select`. Time and reads come from a short trial on the table itself; a table that is no store is made one first, and forgotten.

    Example: fernwood plan genes.fern --memory 1GB
    """  # noqa: E501  (typer breaks lines by itself)
    from fernwood import seeds
    from fernwood.store import open_store

    table, as_json = as_place(options["table"]), options["as_json"]
    settings = settings_from(options["method"], options)
    check_table_options(table, options)
    how = device_from(options["method"], options["device"], options["device_memory"])
    command = SearchCommand(options["memory"], options["jobs"], as_json=as_json, how=how)
    with ExitStack() as stack:
        scratch = stack.enter_context(scratch_directory())
        path = table_as_store(table, options, scratch, quiet=command.silent)
        store = stack.enter_context(open_store(path))
        told, held = command.forecast(store, settings, seeds.entropy(options["seed"]))
        if as_json:
            about = {"rows": store.n_rows, "columns": store.n_columns, "method": settings.method}
            typer.echo(json.dumps({**about, **_plain(told, held, command.total)}, indent=1))
            return
        typer.echo(
            f"{printable(str(table))}: {store.n_rows:,} rows, {store.n_columns:,} columns, "
            f"{shown_size(store.n_bytes)} on disk; {settings.method}, {_counted(told.plan.n_threads, 'thread')}"
        )
    _print_memory(told.plan, held, command)
    if told.card is not None:
        _print_card(told.card)
    usual = "" if told.seconds == told.most_seconds else f", {_shown_time(told.most_seconds)} at most"
    at_most = "at most " if told.seconds == told.most_seconds else ""
    typer.echo(f"time: {at_most}about {_shown_time(told.seconds)}{usual} ({told.rounds}; told by a trial)")
    typer.echo(
        f"reads: about {shown_size(told.bytes_read)} from the store; a disk that gives less than "
        f"{shown_size(told.reading_rate)}/s sets the pace"
    )


def _print_memory(plan: SearchPlan, held: int, command: SearchCommand) -> None:
    parts = [("Python, libraries and compiled code", held), *plan.parts()]
    total = held + plan.total
    chosen = "" if command.memory else ", half of what is available here"
    parts.append((f"together, of {shown_size(command.total)}{chosen}", total))
    parts.append(("the least that would do", held + plan.least))
    width = max(len(name) for name, _ in parts)
    typer.echo("memory")
    for name, size in parts:
        typer.echo(f"  {name:<{width}}  {shown_size(size):>9}")


def _print_card(card: CardPlan) -> None:
    stays = "stays there" if card.stays else "does not fit, and streams through it"
    typer.echo(
        f"on the card, of {shown_size(card.budget)}: the table, {shown_size(card.table)}, {stays}; "
        f"{shown_size(card.work)} at most to work with"
    )


def _plain(told: Forecast, held: int, budget: int) -> dict[str, Any]:
    plan = told.plan
    memory = {
        "budget": budget,
        "process": held,
        "table": plan.held,
        "ledger": plan.ledger,
        "shared": plan.round_,
        "a_thread": plan.worker,
        "while_threads_rest": plan.at_rest,
        "total": held + plan.total,
        "least": held + plan.least,
    }
    card = told.card
    on_card = None if card is None else {**card._asdict(), "stays": card.stays}
    return {
        "threads": plan.n_threads,
        "memory": memory,
        "device_memory": on_card,
        "seconds": round(told.seconds, 2),
        "most_seconds": round(told.most_seconds, 2),
        "bytes_read": round(told.bytes_read),
        "most_bytes_read": round(told.most_bytes_read),
        "trial_seconds": round(told.trial_seconds, 2),
    }


def _counted(number: int, what: str) -> str:
    return f"{number:,} {what}" + ("" if number == 1 else "s")


def _shown_time(seconds: float) -> str:
    if seconds < 100:
        return f"{seconds:.0f} s" if seconds >= 10 else f"{seconds:.1f} s"
    return f"{seconds / 60:.0f} min" if seconds < 6000 else f"{seconds / 3600:.1f} h"


def _with_options_of_select() -> Callable[..., None]:
    """The command with the options of the search that it is for: there is no second list of them."""
    types = get_type_hints(select_command, include_extras=True)
    shown = [
        parameter.replace(annotation=types[name])
        for name, parameter in inspect.signature(select_command).parameters.items()
        if name not in _NOT_OF_A_PLAN
    ]
    plan_command.__signature__ = inspect.Signature(shown)  # type: ignore[attr-defined]
    plan_command.__annotations__ = {parameter.name: parameter.annotation for parameter in shown}
    return plan_command


app.command("plan")(_with_options_of_select())
