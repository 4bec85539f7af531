"""``fernwood select`` and ``fernwood resume``: which columns matter."""

from __future__ import annotations

import inspect
import os
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from fernwood.cli import app
from fernwood.cli.completing import run_argument
from fernwood.cli.ingest import ingest_table
from fernwood.cli.options import command_of, device_from, settings_from
from fernwood.cli.quiet import quiet_option
from fernwood.cli.searching import SearchCommand
from fernwood.device import Device  # noqa: TC001  (Typer reads it)
from fernwood.errors import ParameterError, StoreError, printable, shown
from fernwood.files import scratch_directory
from fernwood.sources.place import Url, as_place

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from fernwood.sources.place import Place

__all__ = ["check_table_options", "select_command", "table_as_store"]

_OF_TABLES = (
    *("target", "task", "weights", "groups", "columns", "drop"),
    *("transposed", "layer", "dataset", "key", "empty_chunks", "clean_names"),
)
_TASKS = Literal["classification", "regression"]
_METHODS = Literal["snowball", "subspace", "ferns", "boruta", "elimination", "filter"]
_GOALS = Literal["all-relevant", "minimal"]
_LEARNERS = Literal["extra", "cart", "random", "ferns"]
_RULES = Literal["shadow", "mirror", "probe", "importance", "max-shadow"]
_BASELINES = Literal["best", "last"]
_SEARCHES = Literal["halving", "binary", "binary-early"]
_IMPORTANCES = Literal["impurity", "out-of-sample", "permutation"]

_MEMORY = typer.Option(help="The most memory the process may take, such as 512MB; by default half of what is free.")
_JOBS = typer.Option(help="Threads; 0 is one for every processor. The answer does not depend on it.")
_DEVICE = typer.Option(
    help="Where columns are examined: here, on a card (extra gpu), or there where it pays. Same answer."
)
_DEVICE_MEMORY = typer.Option(
    help="The most memory of the card to take, such as 40GB; by default most of what is free."
)
_SCHEDULER = typer.Option(help="A Dask scheduler whose workers do the work, such as tcp://10.0.0.1:8786.")
_QUIET = quiet_option()
_AS_JSON = typer.Option("--json", help="Print the result as JSON.")
_REPORT = typer.Option("--report", help="Write the report too, as report.html in the run.")


def _in_panel(panel: str) -> Callable[[str], typer.models.OptionInfo]:
    """Options with a help text each, under a heading of their own."""

    def about(text: str) -> typer.models.OptionInfo:
        option: typer.models.OptionInfo = typer.Option(help=text, rich_help_panel=panel)
        return option

    return about


_SEARCH = "How to search with random subspaces (--method subspace)"
_about_search = _in_panel(_SEARCH)
_about_ferns = _in_panel(
    "How to search with ferns (--method ferns), beside --q, --alpha, --rule, --depth and --round-size"
)
_about_boruta = _in_panel("How to search with Boruta (--method boruta), beside --trees, --learner and --depth")
_about_elimination = _in_panel(
    "How to ask a learner (--method elimination; filter has --estimator, --cv and --scoring)"
)
_about_table = _in_panel("How to read a table (a store has this settled)")


@app.command("select")
def select_command(
    table: Annotated[str, typer.Argument(help="A table as for `fernwood ingest`, or a store: NAME.fern, or a URL.")],
    target: Annotated[str, typer.Option(help="A column's name or position, a file, or FILE:COLUMN.")] = "",
    memory: Annotated[str, _MEMORY] = "",
    method: Annotated[
        _METHODS,
        typer.Option(help="Every column in context, random subspaces, ferns, Boruta, elimination, or a filter."),
    ] = "snowball",
    fdr: Annotated[
        float | None, typer.Option(help="The false discovery rate, 0.1 by default; of all methods that test at one.")
    ] = None,
    goal: Annotated[
        _GOALS | None, typer.Option(help="All that are relevant, or a few of them that suffice to predict.")
    ] = None,
    slack: Annotated[
        float | None, typer.Option(help="Minimal: the share of the target that few may leave open beyond all; 0.02.")
    ] = None,
    given: Annotated[
        list[str] | None,
        typer.Option(help="Snowball: a covariate, in every context: a column's name, pattern or position; repeat it."),
    ] = None,
    max_contexts: Annotated[
        int | None, typer.Option(help="Snowball: contexts of random columns, for pure interactions.")
    ] = None,
    max_rows: Annotated[
        str | None, typer.Option(help="Snowball: rows that waves look at where there are more, 50000; or all.")
    ] = None,
    out: Annotated[Path | None, typer.Option(help="A directory to make for the run: resumable, exportable.")] = None,
    seed: Annotated[int | None, typer.Option(help="Same data, same options, same seed: the same answer.")] = None,
    jobs: Annotated[int, _JOBS] = 0,
    device: Annotated[Device, _DEVICE] = "cpu",
    device_memory: Annotated[str, _DEVICE_MEMORY] = "",
    scheduler: Annotated[str, _SCHEDULER] = "",
    report: Annotated[bool, _REPORT] = False,
    force: Annotated[bool, typer.Option("--force", help="Replace a run that is there.")] = False,
    quiet: Annotated[bool, _QUIET] = False,
    as_json: Annotated[bool, _AS_JSON] = False,
    task: Annotated[_TASKS | None, _about_table("What the target asks for, if the rules guess wrong.")] = None,
    weights: Annotated[str, _about_table("Row weights: a column or a file.")] = "",
    groups: Annotated[str, _about_table("Rows that belong together, as of one patient: a column or a file.")] = "",
    columns: Annotated[list[str] | None, _about_table("Only these: names or patterns; repeat it.")] = None,
    drop: Annotated[list[str] | None, _about_table("Without these: names or patterns; repeat it.")] = None,
    transposed: Annotated[bool, _about_table("Text, MatrixMarket: features in rows.")] = False,
    layer: Annotated[str, _about_table("AnnData: the layer to read instead of X.")] = "",
    dataset: Annotated[str, _about_table("HDF5, Zarr: the path of the data set in the file.")] = "",
    key: Annotated[str, _about_table("Parquet folder split by columns: the column that rows match by.")] = "",
    empty_chunks: Annotated[bool, _about_table("Zarr: chunks that are not there hold the fill value.")] = False,
    clean_names: Annotated[bool, _about_table("Mend bad names instead of refusing them.")] = False,
    q: Annotated[int | None, _about_search("Columns in a draw; by default one in 80, at least 50.")] = None,
    alpha: Annotated[
        float | None, _about_search("Share of a draw for columns found before; 0 is plain RS, and 0.5 the default.")
    ] = None,
    carry: Annotated[
        float | None, _about_search("Share of the columns found that a draw may hold; by default what suits the rule.")
    ] = None,
    draws: Annotated[
        int | None, _about_search("Draws in all; by default until the answer stands, at most 50 a column on average.")
    ] = None,
    trees: Annotated[
        int | None, _about_search("Trees on every draw, by default 10; Boruta: in every iteration, by the columns.")
    ] = None,
    learner: Annotated[
        _LEARNERS | None,
        _about_search(
            "Trees with random thresholds (extra, the default), best ones, or random splits, or random ferns; Boruta: "
            "extra, cart or ferns."
        ),
    ] = None,
    depth: Annotated[
        int | None,
        typer.Option(
            "--depth",
            "--max-depth",
            help="How deep trees grow, by default what suits the rule, Boruta: 5; splits of a fern, 7.",
            rich_help_panel=_SEARCH,
        ),
    ] = None,
    max_features: Annotated[
        str | None, _about_search("Columns looked at in a node: number, share, sqrt, log2; by default all.")
    ] = None,
    rule: Annotated[
        _RULES | None,
        _about_search(
            "Found: above shadows (the default) or mirrored chance, at --fdr; above a probe; any importance; ferns: "
            "shadow, or above the best of them."
        ),
    ] = None,
    min_draws: Annotated[
        int | None, _about_search("Columns need more draws than this to be confirmed; 5 by default.")
    ] = None,
    min_share: Annotated[float | None, _about_search("Probe rule: the share of draws above the probe; 0.95.")] = None,
    weighted: Annotated[bool, _about_search("Carry columns in proportion to their importance.")] = False,
    importance: Annotated[
        _IMPORTANCES | None, _about_search("How columns are scored; by default what suits the rule.")
    ] = None,
    max_samples: Annotated[
        float | None, _about_search("The share of rows that a tree grows on; by default what suits the rule.")
    ] = None,
    patch_rows: Annotated[
        str | None,
        _about_search("Rows that a draw sees: number, share, all; by default 50000 where there are above 100000."),
    ] = None,
    round_size: Annotated[int | None, _about_search("Draws that see the same found columns; 20.")] = None,
    max_iter: Annotated[
        int | None, _about_boruta("Iterations after which what is undecided stays tentative; 100 by default.")
    ] = None,
    level: Annotated[float | None, _about_boruta("The level of the tests; 0.05 by default.")] = None,
    perc: Annotated[
        float | None, _about_boruta("The percentile of the shadows to be above; by default 100, the best.")
    ] = None,
    bonferroni: Annotated[
        bool, _about_boruta("Correct over all columns as published, instead of BorutaPy's two steps.")
    ] = False,
    fixed_shadows: Annotated[
        bool, _about_boruta("Shadows that stay as they are, and an error rate that holds on noise.")
    ] = False,
    scans: Annotated[int | None, _about_ferns("Ferns that a column is in, on average; 1000 by default.")] = None,
    blind: Annotated[bool, _about_ferns("Draw all columns of ferns at random, and carry none that are found.")] = False,
    estimator: Annotated[
        str | None,
        _about_elimination("naive-bayes, tree, logistic, forest, or a class as module:Class, whose code then runs."),
    ] = None,
    n_relevant: Annotated[int | None, _about_elimination("Columns to keep, if it is known.")] = None,
    r_min: Annotated[int | None, _about_elimination("Relevant columns at least; 2 by default.")] = None,
    r_max: Annotated[int | None, _about_elimination("Relevant columns at most; all by default.")] = None,
    tolerance: Annotated[
        float | None, _about_elimination("How much the error may rise in a removal; 0.002 by default.")
    ] = None,
    baseline: Annotated[
        _BASELINES | None, _about_elimination("Above what: the least error so far, or that of the selection before.")
    ] = None,
    step: Annotated[int | None, _about_elimination("Columns in every removal; by default what suits.")] = None,
    cv: Annotated[int | None, _about_elimination("Folds that a selection is tried on; 5 by default.")] = None,
    scoring: Annotated[str | None, _about_elimination("A score of scikit-learn, such as roc_auc.")] = None,
    search: Annotated[
        _SEARCHES | None,
        _about_elimination("Learn from failures (halving), or the paper's search for r (binary, binary-early)."),
    ] = None,
    holdout: Annotated[
        float | None, _about_elimination("A share of the rows on which the best selection is chosen.")
    ] = None,
) -> None:
    """Find the columns that matter.

    Example: fernwood select genes.csv --target disease --out genes.run
    """
    options = {**locals(), "table": as_place(table)}
    settings = settings_from(method, options)
    how = device_from(method, device, device_memory)
    place = options["table"]

    from fernwood import seeds
    from fernwood.run.directory import RunDirectory, RunManifest
    from fernwood.search.methods import settings_on
    from fernwood.store import open_store

    number = seeds.entropy(seed)
    defaults = {name: known.default for name, known in inspect.signature(select_command).parameters.items()}
    call = command_of(options, defaults, number)
    check_table_options(place, options)
    check_scheduler(scheduler, method)
    if report and out is None:
        raise ParameterError("--report is given without --out; give --out RUN, the directory that the report goes into")

    def stored(directory: Path) -> Place:
        return table_as_store(place, options, directory, quiet=command.silent)

    with ExitStack() as stack:
        command = stack.enter_context(
            SearchCommand(
                memory, jobs, quiet=quiet, as_json=as_json, report=report, call=call, scheduler=scheduler, how=how
            )
        )
        if out is None:
            scratch = stack.enter_context(scratch_directory())
            command.search(stack.enter_context(open_store(stored(scratch))), settings, number)
            return
        with RunDirectory.appearing(out, force=force) as directory:
            path = stored(directory)
            with open_store(path) as store:
                settings = settings_on(store, settings)
                manifest = RunManifest.of(store, method, settings.to_json(), number, _from(out, directory, path))
            RunDirectory.write_manifest(directory, manifest)
        run = RunDirectory.open(out)
        command.search(stack.enter_context(open_store(run.store_path)), settings, number, run)


def _from(run: Path, directory: Path, store: Place) -> str:
    """Where a store is, as a run remembers it that is being made in a directory; a URL without what may be secret."""
    from fernwood.run.directory import STORE_NAME

    if isinstance(store, Url):
        return str(store)
    return STORE_NAME if store.parent == directory else os.path.relpath(store, run)


def check_scheduler(scheduler: str, method: str) -> None:
    """Refuse workers for a method whose learner has its table laid out in one process."""
    if scheduler and method in ("elimination", "filter"):
        raise ParameterError(
            f"--scheduler is given and --method is {method}, whose learner has the table laid out in one process; "
            "leave --scheduler out"
        )


def check_table_options(table: Place, options: Mapping[str, Any]) -> None:
    """Refuse options about a table that do not go with what is given: a store has them settled."""
    from fernwood.sources import check_path, on_disk
    from fernwood.store.manifest import is_store

    if isinstance(table, Path):
        check_path(table)  # what is not there has no target either
    if is_store(table):
        twice = [name for name in _OF_TABLES if options[name]]
        if twice:
            if not table.name.endswith(".fern"):
                on_disk(table)  # by what is said of it, it is a table
            raise ParameterError(
                f"--{twice[0].replace('_', '-')} is given and {shown(table.name)} is a store, which has it settled; "
                "leave it out"
            )
    elif not options["target"]:
        raise ParameterError("--target is not given; name the column, or the file, that the others are to explain")


def table_as_store(table: Place, options: Mapping[str, Any], directory: Path, *, quiet: bool) -> Place:
    """The table as a store, made in a directory unless it is one."""
    from fernwood.run.directory import STORE_NAME
    from fernwood.store.manifest import is_store

    if isinstance(table, Url) or is_store(table):
        return table
    about: dict[str, object] = {
        "target": options["target"],
        "task": options["task"],
        "weights": options["weights"] or None,
        "groups": options["groups"] or None,
        "given": options["given"] or (),
        "columns": options["columns"],
        "drop": options["drop"],
        "clean_names": options["clean_names"],
    }
    ingest_table(
        table,
        directory / STORE_NAME,
        options["memory"],
        about,
        {
            **{name: options[name] for name in ("transposed", "empty_chunks")},
            **{name: options[name] or None for name in ("layer", "dataset", "key")},
        },
        quiet=quiet,
        title=str(table),
    )
    return directory / STORE_NAME


@app.command("resume")
def resume_command(
    run: Annotated[Path, run_argument()],
    store: Annotated[str, typer.Option(help="Where the run's store is now, if it was moved: a path or a URL.")] = "",
    estimator: Annotated[
        str, typer.Option(help="Of a run with --estimator module:Class, the same again: its code runs.")
    ] = "",
    memory: Annotated[str, _MEMORY] = "",
    jobs: Annotated[int, _JOBS] = 0,
    device: Annotated[Device, _DEVICE] = "cpu",
    device_memory: Annotated[str, _DEVICE_MEMORY] = "",
    scheduler: Annotated[str, _SCHEDULER] = "",
    quiet: Annotated[bool, _QUIET] = False,
    as_json: Annotated[bool, _AS_JSON] = False,
    report: Annotated[bool, _REPORT] = False,
) -> None:
    """Go on with a run that was stopped, to the answer that it would have had in one go.

    Example: fernwood resume genes.run
    """
    from fernwood.run.directory import RunDirectory, RunManifest
    from fernwood.search.methods import settings_of
    from fernwood.store import open_store

    directory = RunDirectory.open(run)
    named = directory.manifest.parameters.get("estimator")
    if isinstance(named, str) and ":" in named and named != estimator:
        # A run directory may come from anywhere; it does not decide what code is imported.
        raise ParameterError(
            f"{shown(run.name)} calls the learner {shown(named)}, whose code would run; allow it with "
            f"--estimator {printable(named)}"
        )
    settings = settings_of(directory.manifest.method, directory.manifest.parameters)
    path = as_place(store) if store else directory.store_path
    with open_store(path) as opened:
        began = directory.manifest
        if opened.fingerprint != began.fingerprint:
            here = RunManifest.of(opened, began.method, began.parameters, began.seed, began.store)
            raise StoreError(
                f"the store {shown(path.name)} is not the one that {shown(run.name)} began with "
                f"({began.other_data(here)}); say with --store where that one is"
            )
        check_scheduler(scheduler, began.method)
        how = device_from(began.method, device, device_memory)
        with SearchCommand(
            memory, jobs, quiet=quiet, as_json=as_json, report=report, scheduler=scheduler, how=how
        ) as command:
            command.search(opened, settings, began.seed, directory)
