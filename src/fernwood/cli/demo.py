"""``fernwood demo``: make a table, ingest it, show what the store holds."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from fernwood.cli import app
from fernwood.cli.info import print_description
from fernwood.cli.ingest import ingest_table
from fernwood.run.view import ProgressView

if TYPE_CHECKING:
    from fernwood.datasets import Madelon

_ROWS, _COLUMNS = 500, 20_000


@app.command("demo")
def demo_command(
    out: Annotated[Path, typer.Option(help="A directory for the demo's files.")] = Path("demo"),
    seed: Annotated[int, typer.Option(help="Seed of the generated table.")] = 0,
) -> None:
    """Generate a wide table, ingest it within 512 MB and show the store.

    Example: fernwood demo --out demo
    """
    from fernwood.datasets import make_madelon
    from fernwood.store import open_store

    out.mkdir(parents=True, exist_ok=True)
    table, store = out / "wide.csv", out / "wide.fern"
    typer.echo(f"1. writing {table}: {_ROWS} rows × {_COLUMNS:,} columns, 20 of them relevant")
    _write_csv(make_madelon(_ROWS, _COLUMNS, class_sep=2.0, shuffle=True, random_state=seed), table)
    command = f"fernwood ingest {table} --target target --out {store} --memory 512MB --force"
    typer.echo(f"2. {command}")
    ingest_table(table, store, "512MB", {"target": "target", "force": True}, {}, quiet=False)
    typer.echo(f"3. fernwood info {store}")
    with open_store(store) as opened:
        print_description(opened.describe(), store.name)


def _write_csv(madelon: Madelon, path: Path) -> None:
    """Write the table as people have it: comma-separated, the target last."""
    from fernwood.sources.base import Progress

    names = [f"x{i}" for i in range(_COLUMNS)] + ["target"]
    with ProgressView() as view, path.open("w", encoding="utf-8") as file:
        file.write(",".join(names) + "\n")
        for i, (row, label) in enumerate(zip(madelon.data, madelon.target, strict=True)):  # type: ignore[arg-type]
            view(Progress("writing", i, _ROWS, "rows"))
            file.write(",".join([f"{value:.4f}" for value in row.tolist()]) + f",{'case' if label else 'control'}\n")
