"""``fernwood ingest``: a table becomes a store."""

from __future__ import annotations

import json
import time
import warnings
from pathlib import Path
from typing import Annotated, Literal

import typer

from fernwood.budget import parse_size, peak_resident, resident, shown_size
from fernwood.cli import app
from fernwood.cli.lean import keep_pandas_out, too_small
from fernwood.cli.quiet import quiet_option
from fernwood.errors import BudgetError, FernwoodWarning, printable
from fernwood.kernels.lean import forget_compiler
from fernwood.run.view import ProgressView

__all__ = ["ingest_table"]

_MANY_CATEGORIES = Literal["error", "drop", "frequency"]
_TASKS = Literal["classification", "regression"]


@app.command("ingest")
def ingest_command(
    table: Annotated[
        str, typer.Argument(help="CSV (also .gz), Parquet (file or folder), .npy, AnnData, PLINK, 10x, and more.")
    ],
    target: Annotated[str, typer.Option(help="The target: a column's name or position, a file, or FILE:COLUMN.")],
    out: Annotated[str, typer.Option(help="The store to make, NAME.fern.")],
    memory: Annotated[str, typer.Option(help="The most memory the process may take, such as 512MB.")] = "",
    task: Annotated[_TASKS | None, typer.Option(help="What the target asks for, if the rules guess wrong.")] = None,
    weights: Annotated[str, typer.Option(help="Row weights: a column or a file.")] = "",
    groups: Annotated[str, typer.Option(help="Groups of rows that belong together: a column or a file.")] = "",
    given: Annotated[
        list[str] | None, typer.Option(help="A covariate of searches to come, such as one of obs; repeat it.")
    ] = None,
    columns: Annotated[list[str] | None, typer.Option(help="Keep only these: names or patterns; repeat it.")] = None,
    drop: Annotated[list[str] | None, typer.Option(help="Leave these out: names or patterns; repeat it.")] = None,
    transposed: Annotated[bool, typer.Option("--transposed", help="Text, MatrixMarket: features in rows.")] = False,
    delimiter: Annotated[str, typer.Option(help="Text: the character between cells ('tab' for a tab).")] = "",
    header: Annotated[bool | None, typer.Option(help="Text: whether line 1 holds names; told from it.")] = None,
    decimal: Annotated[str, typer.Option(help="Text: the decimal sign.")] = ".",
    missing: Annotated[list[str] | None, typer.Option(help="Text: a word for missing values; repeat it.")] = None,
    categorical: Annotated[list[str] | None, typer.Option(help="Text: columns of codes that are categories.")] = None,
    layer: Annotated[str, typer.Option(help="AnnData: the layer to read instead of X.")] = "",
    dataset: Annotated[str, typer.Option(help="HDF5, Zarr: the path of the data set in the file.")] = "",
    key: Annotated[str, typer.Option(help="Parquet folder split by columns: the column that rows match by.")] = "",
    empty_chunks: Annotated[
        bool, typer.Option("--empty-chunks", help="Zarr: chunks that are not there hold the fill value.")
    ] = False,
    many_categories: Annotated[_MANY_CATEGORIES, typer.Option(help="Text columns of over 254 categories.")] = "error",
    bins: Annotated[int | None, typer.Option(help="Quantile bins, 8 to 255; by default one for 24 rows.")] = None,
    clean_names: Annotated[
        bool, typer.Option("--clean-names", help="Mend bad names instead of refusing them.")
    ] = False,
    force: Annotated[bool, typer.Option("--force", help="Replace a store that is there.")] = False,
    quiet: Annotated[bool, quiet_option("-q")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Describe the store as JSON when it is made.")] = False,
) -> None:
    """Turn a table into a column store.

    Example: fernwood ingest genes.csv --target disease --out genes.fern
    """
    options: dict[str, object] = {
        "target": target,
        "task": task,
        "weights": weights or None,
        "groups": groups or None,
        "given": given or (),
        "columns": columns,
        "drop": drop,
        "bins": bins,
        "many_categories": many_categories,
        "clean_names": clean_names,
        "force": force,
    }
    form: dict[str, object] = {
        "delimiter": {"tab": "\t", "space": " "}.get(delimiter, delimiter) or None,
        "header": header,
        "decimal": decimal,
        "transposed": transposed,
        "categorical": tuple(categorical or ()),
        "layer": layer or None,
        "dataset": dataset or None,
        "key": key or None,
        "empty_chunks": empty_chunks,
    }
    if missing is not None:
        form["missing"] = tuple(missing)
    ingest_table(table, out, memory, options, form, quiet=quiet, as_json=as_json)


def ingest_table(
    table: str | Path,
    out: str | Path,
    memory: str,
    options: dict[str, object],
    form: dict[str, object],
    *,
    quiet: bool,
    as_json: bool = False,
    title: str = "",
) -> None:
    """Ingest within a budget for the whole process, with progress, warnings and a closing line (about `title`)."""
    from fernwood.sources import open_source
    from fernwood.sources.table_form import TableForm
    from fernwood.store import ingest

    keep_pandas_out()
    started = time.monotonic()
    total = parse_size(memory) if memory else None
    source = open_source(table, TableForm(**form))  # type: ignore[arg-type]
    forget_compiler()
    # What is resident now (interpreter, libraries, compiled code) is part of what the user allows.
    held = resident()
    with ProgressView(quiet=quiet or as_json, memory=total or 0) as view, warnings.catch_warnings(record=True) as notes:
        warnings.simplefilter("always", FernwoodWarning)
        try:
            store = ingest(
                source,
                out,
                memory=None if total is None else max(total - held, 1),
                progress=view,
                **options,  # type: ignore[arg-type]
            )
        except BudgetError as error:
            if total is None:
                raise
            raise too_small(total, held, error.least) from error
    if as_json:
        typer.echo(json.dumps(store.describe().to_json(), indent=1))
        return
    if quiet:
        return
    for note in notes:
        typer.echo(f"warning: {note.message}", err=True)
    took = time.monotonic() - started
    peak = f"peak memory {shown_size(peak_resident())}" + (f" of {shown_size(total)}" if total else "")
    typer.echo(
        f"{printable(title or str(out))}: {store.n_rows:,} rows, {store.n_columns:,} columns, "
        f"{shown_size(store.n_bytes)}; {took:.1f} s ({shown_size(source.n_bytes / max(took, 1e-3))}/s), {peak}"
    )
