"""``fernwood demo``: the main job from beginning to end, on a table whose answer is known."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from fernwood.cli import app
from fernwood.cli.select import select_command
from fernwood.files import make_directory, replaced_file
from fernwood.run.view import ProgressView

if TYPE_CHECKING:
    from fernwood.datasets import Planted

_ROWS, _COLUMNS = 1000, 20_000


@app.command("demo")
def demo_command(
    out: Annotated[Path, typer.Option(help="A directory for the demo's files.")] = Path("demo"),
    seed: Annotated[int, typer.Option(help="Seed of the generated table and of the search.")] = 0,
) -> None:
    """Generate a wide table, find its relevant columns within 512 MB, and compare with the truth.

    Example: fernwood demo --out demo
    """
    from fernwood.datasets import make_madelon
    from fernwood.saved import load_result

    make_directory(out, parents=True)
    table, run = out / "wide.csv", out / "wide.run"
    madelon = make_madelon(_ROWS, _COLUMNS, class_sep=2.0, shuffle=True, random_state=seed)
    n_relevant = len(madelon.relevant)
    typer.echo(f"1. writing {table}: {_ROWS:,} rows × {_COLUMNS:,} columns, {n_relevant} of them relevant together")
    _write_csv(madelon, table)
    typer.echo(f"2. fernwood select {table} --target target --memory 512MB --seed {seed} --out {run} --report --force")
    truth = set(madelon.relevant.tolist())
    del madelon  # the search has the budget to itself
    select_command(str(table), target="target", memory="512MB", seed=seed, out=run, report=True, force=True)
    found = set(load_result(run).confirmed.tolist())
    typer.echo(
        f"3. against the truth: {len(found & truth)} of the {n_relevant} relevant columns found, "
        f"{len(found - truth)} of {_COLUMNS - n_relevant:,} others taken for relevant"
    )
    missed = ", ".join(f"x{position}" for position in sorted(truth - found))
    if missed:
        typer.echo(f"   not found: {missed}")
    typer.echo(f"4. to have the decisions as a table: fernwood export {run} --to csv --output decisions.csv")


def _write_csv(madelon: Planted, path: Path) -> None:
    """Write the table as people have it: comma-separated, the target last."""
    from fernwood.sources.base import Progress

    names = [f"x{i}" for i in range(_COLUMNS)] + ["target"]
    with ProgressView() as view, replaced_file(path) as file:
        file.write(f"{','.join(names)}\n".encode())
        for i, (row, label) in enumerate(zip(madelon.data, madelon.target, strict=True)):  # type: ignore[arg-type]
            view(Progress("writing", i, _ROWS, "rows"))
            cells = [*(f"{value:.4f}" for value in row.tolist()), "case" if label else "control"]
            file.write(f"{','.join(cells)}\n".encode())
