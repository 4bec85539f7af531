"""`fernwood theory …`: exact importances, relevance and convergence on the terminal, as JSON or as pictures."""

from __future__ import annotations

import json
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from fernwood.cli import app as fernwood
from fernwood.errors import ParameterError, shown
from fernwood.shortage import pass_on_shortage

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from fernwood.theory import Distribution

__all__ = ["app"]

app = typer.Typer(
    help="Exact importances, relevance and convergence: the theory behind the search.", no_args_is_help=True
)
fernwood.add_typer(app, name="theory")

Example = Annotated[
    str,
    typer.Argument(
        help="seven-segment, xor:K, strong-versus-weak:EPS, masking:EPS, chain:R, clique:R, noisy-copies:N:NOISE, "
        "or a CSV or Parquet file of samples with --target",
        metavar="EXAMPLE",
    ),
]
Target = Annotated[str | None, typer.Option(help="The output column, where EXAMPLE is a file.")]
Json = Annotated[bool, typer.Option("--json", help="Print JSON instead of a table.")]
Plot = Annotated[Path | None, typer.Option(help="Draw a picture into this file (PNG, SVG, PDF).")]
Columns = Annotated[int, typer.Option("-p", help="Columns in all.")]
Drawn = Annotated[int, typer.Option("-q", help="Columns in a draw.")]
Relevant = Annotated[int, typer.Option("-r", help="Relevant columns.")]
Share = Annotated[str, typer.Option(help="Share of the draw kept for columns already found.")]
Seed = Annotated[int, typer.Option(help="Seed of the simulation.")]

# The panels of Figure 1: the slides' chain, and the table's middle rows for the other two.
_FIGURE_1 = {"chaining": (10_000, 100, 5), "clique": (10_000, 100, 3), "marginal": (10_000, 100, 50)}


@app.command()
def importance(
    example: Example,
    max_features: Annotated[
        list[int] | None, typer.Option("-K", "--max-features", help="Columns drawn at a node; repeat to compare.")
    ] = None,
    max_depth: Annotated[int | None, typer.Option(help="Largest number of splits on a path.")] = None,
    subspace: Annotated[int | None, typer.Option(help="Columns drawn for every tree.")] = None,
    target: Target = None,
    as_json: Json = False,
    plot: Plot = None,
) -> None:
    """Importances of an infinite forest on infinite data, in bits.

    Example: fernwood theory importance seven-segment -K 1 -K 7
    """
    distribution = _distribution(example, target)
    series = {f"K = {k}": distribution.importances(k, max_depth, subspace) for k in max_features or [1]}
    if plot:
        from fernwood.theory.plots import draw_importances

        _draw(plot, [lambda axes: draw_importances(axes, series)])
    totals = {label: sum(values.values()) for label, values in series.items()}
    if as_json:
        _print_json({"importances": series, "totals": totals})
        return
    rows = [[name, *(f"{values[name]:.4f}" for values in series.values())] for name in distribution.inputs]
    _print_table(["column", *series], [*rows, ["total", *(f"{total:.6f}" for total in totals.values())]])


@app.command()
def decomposition(
    example: Example,
    max_depth: Annotated[int | None, typer.Option(help="Largest number of splits on a path.")] = None,
    target: Target = None,
    as_json: Json = False,
    plot: Plot = None,
) -> None:
    """Importances at K = 1 by column, by degree and (with --json) by conditioning.

    Example: fernwood theory decomposition seven-segment --plot parts.png
    """
    parts = _distribution(example, target).decomposition(max_depth)
    if plot:
        from fernwood.theory.plots import draw_decomposition

        _draw(plot, [lambda axes: draw_decomposition(axes, parts)])
    if as_json:
        terms = [term._asdict() for term in parts.terms]
        by_degree = dict(zip(parts.inputs, parts.by_degree.tolist(), strict=True))
        _print_json({"total": parts.total, "by_column": parts.by_column, "by_degree": by_degree, "terms": terms})
        return
    rows = [
        [name, *(f"{part:.4f}" for part in row), f"{sum(row):.4f}"]
        for name, row in zip(parts.inputs, parts.by_degree.tolist(), strict=True)
    ]
    _print_table(["column", *(f"size {k}" for k in range(len(parts.inputs))), "all"], rows)


@app.command()
def relevance(example: Example, target: Target = None, as_json: Json = False) -> None:
    """Relevance, degree and conditionings of every column, and the Markov boundaries.

    Example: fernwood theory relevance xor:3
    """
    distribution = _distribution(example, target)
    labels = distribution.relevance()
    degrees = {name: distribution.degree(name) for name in labels}
    needs = {name: distribution.minimal_conditionings(name) for name in labels}
    boundaries = distribution.markov_boundaries()
    positive, composed = distribution.is_strictly_positive(), distribution.has_composition(output_only=True)
    if as_json:
        columns = {
            name: {"relevance": label, "degree": degrees[name], "minimal_conditionings": needs[name]}
            for name, label in labels.items()
        }
        facts = {"strictly_positive": positive, "output_composition": composed}
        _print_json({"columns": columns, "markov_boundaries": boundaries, **facts})
        return
    rows = [
        [name, label, "–" if degrees[name] is None else degrees[name], _sets(needs[name])]
        for name, label in labels.items()
    ]
    _print_table(["column", "relevance", "degree", "minimal conditionings"], rows)
    _print_line(f"Markov boundaries: {_sets(boundaries)}")
    _print_line(f"strictly positive: {_yes(positive)}; composition with the output: {_yes(composed)}")


@app.command()
def found(
    example: Example,
    q: Drawn,
    max_features: Annotated[int, typer.Option("-K", "--max-features", help="Columns drawn at a node.")] = 1,
    alpha: Share = "1",
    target: Target = None,
    as_json: Json = False,
) -> None:
    """Columns that a search by random subspaces finds in the end.

    Example: fernwood theory found chain:3 -q 2
    """
    answer = _distribution(example, target).found(max_features, alpha, q)
    if as_json:
        _print_json(answer._asdict())
        return
    _print_line(f"surely: {', '.join(answer.surely) or 'none'}")
    _print_line(f"possibly: {', '.join(answer.possibly) or 'none'}")


@app.command()
def convergence(
    scenario: Annotated[str | None, typer.Argument(help="chaining, clique or marginal; all three by default.")] = None,
    p: Annotated[int | None, typer.Option("-p", help="Columns in all.")] = None,
    q: Annotated[int | None, typer.Option("-q", help="Columns in a draw.")] = None,
    r: Annotated[int | None, typer.Option("-r", help="Relevant columns.")] = None,
    alpha: Annotated[list[str] | None, typer.Option(help="Memory share; repeat to compare (0 and 1).")] = None,
    as_json: Json = False,
    plot: Plot = None,
) -> None:
    """Expected iterations until all relevant columns are found; --plot draws Figure 1.

    Example: fernwood theory convergence chaining -p 10000 -q 100 -r 3
    """
    from fernwood.theory import expected_iterations

    shares = [_share(text) for text in alpha or ["0", "1"]]
    cases: list[Any] = []
    for name in [scenario] if scenario else _FIGURE_1:
        usual = _FIGURE_1.get(name, next(iter(_FIGURE_1.values())))
        cases.append((name, *(b if a is None else a for a, b in zip((p, q, r), usual, strict=True))))
    waits = [[expected_iterations(name, a, b, c, share) for share in shares] for name, a, b, c in cases]
    if plot:
        from fernwood.theory.plots import draw_found

        _draw(plot, [partial(draw_found, search=case, alphas=shares) for case in cases])
    if as_json:
        keys = ("scenario", "p", "q", "r", "expected_iterations")
        rows = [dict(zip(keys, (*case, wait), strict=True)) for case, wait in zip(cases, waits, strict=True)]
        _print_json({"alphas": shares, "cases": rows})
        return
    _print_table(
        ["scenario", "p", "q", "r", *(f"α = {share:g}" for share in shares)],
        [[*case, *(f"{value:,.3f}" for value in wait)] for case, wait in zip(cases, waits, strict=True)],
    )


@app.command()
def table1(as_json: Json = False) -> None:
    """Table 1 of the paper, computed again; an entry the paper misprints is pointed out.

    Example: fernwood theory table1
    """
    from fernwood.theory import table1

    rows = table1()
    if as_json:
        _print_json([row._asdict() for row in rows])
        return
    cells = []
    for row in rows:
        rs, srs = (
            (f"{value:,.3f}", printed + ("*" if name in row.misprints else ""))
            for name, value, printed in (("rs", row.rs, row.rs_printed), ("srs", row.srs, row.srs_printed))
        )
        cells.append([row.scenario, f"{row.p:,}", f"{row.q:,}", row.r, *rs, *srs])
    _print_table(["scenario", "p", "q", "r", "RS", "printed", "SRS", "printed"], cells)
    for row in rows:
        for name in row.misprints:
            printed, value = (row.rs_printed, row.rs) if name == "rs" else (row.srs_printed, row.srs)
            _print_line(
                f"* misprint in the paper: {row.scenario} with p = {row.p:,}, q = {row.q}, r = {row.r} takes "
                f"{name.upper()} {value:,.3f} iterations, not {printed}"
            )


@app.command()
def simulate(
    scenario: Annotated[str, typer.Argument(help="mixed, chaining, clique or marginal.")] = "mixed",
    p: Columns = 500,
    q: Drawn = 25,
    r: Relevant = 20,
    alpha: Share = "1",
    max_features: Annotated[
        int | None, typer.Option("-K", "--max-features", help="Columns drawn at a level; q by default.")
    ] = None,
    n_iter: Annotated[int, typer.Option(help="Iterations of a search.")] = 500,
    repetitions: Annotated[int, typer.Option(help="Searches.")] = 1000,
    max_degree: Annotated[int, typer.Option(help="Largest degree in the mixed scenario.")] = 5,
    seed: Seed = 0,
    as_json: Json = False,
) -> None:
    """Simulated searches, for settings that mix columns of all kinds.

    Example: fernwood theory simulate mixed -p 200 -q 20 -r 5
    """
    from fernwood.theory import simulate

    course = simulate(
        scenario,  # type: ignore[arg-type]
        p,
        q,
        r,
        _share(alpha),
        max_features=max_features,
        n_iter=n_iter,
        repetitions=repetitions,
        max_degree=max_degree,
        random_state=seed,
    )
    if as_json:
        _print_json({name: array.tolist() for name, array in course._asdict().items()})
        return
    stops = sorted({round(n_iter * share) for share in (0.0, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0)})
    rows = [[i, f"{course.mean[i]:.3f}", f"{course.standard_error[i]:.3f}"] for i in stops]
    _print_table(["iteration", "columns found", "standard error"], rows)
    _print_line(f"searches that found all {r}: {(course.iterations >= 0).mean():.1%}")


@app.command()
def iterations(
    p: Columns,
    q: Drawn,
    r: Relevant,
    degree: Annotated[int, typer.Option(help="Largest degree to be found.")] = 0,
    alpha: Share = "1",
    confidence: Annotated[float, typer.Option(help="Probability that none is missed.")] = 0.95,
    chains: Annotated[bool, typer.Option(help="Whether conditionings can be found member by member.")] = True,
    as_json: Json = False,
) -> None:
    """Iterations a search should make to find all relevant columns.

    Example: fernwood theory iterations -p 10000 -q 100 -r 10
    """
    from fernwood.theory import how_many_iterations

    needed = how_many_iterations(p, q, r, degree, _share(alpha), confidence, chains=chains)
    if as_json:
        _print_json({"iterations": needed})
        return
    _print_line(f"{needed:,} iterations")


@app.command()
def elimination(
    n: Annotated[int, typer.Argument(help="Columns at the start.")],
    r: Annotated[int, typer.Argument(help="Relevant columns among them.")],
    cost: Annotated[str, typer.Option(help="Cost of training on n columns: constant, linear or quadratic.")] = "linear",
    step: Annotated[int | None, typer.Option(help="Remove this many at a time instead of the best number.")] = None,
    as_json: Json = False,
) -> None:
    """The cheapest schedule to remove irrelevant columns blindly.

    Example: fernwood theory elimination 100 10
    """
    from fernwood.theory import elimination_schedule

    schedule = elimination_schedule(n, r, cost, step=step)
    if as_json:
        _print_json(schedule._asdict())
        return
    _print_table(["columns left", "remove"], schedule.steps)
    _print_line(f"expected cost: {schedule.expected_cost:,.6g}; expected trainings: {schedule.expected_calls:,.1f}")


@app.command()
def bias(
    x_values: Annotated[int, typer.Argument(help="Values of the column.")],
    y_values: Annotated[int, typer.Argument(help="Values of the output.")],
    n: Annotated[int, typer.Argument(help="Rows of the sample.")],
    as_json: Json = False,
) -> None:
    """Mutual information that a sample shows between independent columns, in bits.

    Example: fernwood theory bias 10 2 1000
    """
    from fernwood.theory import information_bias

    expected = information_bias(x_values, y_values, n)
    if as_json:
        _print_json({"bits": expected})
        return
    _print_line(f"{expected:.6f} bits")


def _distribution(example: str, target: str | None) -> Distribution:
    """The distribution that a word such as "xor:3" or a file of samples stands for."""
    from fernwood import theory

    name, *parts = example.split(":")
    makers: dict[str, tuple[Callable[..., Distribution], Sequence[Callable[[str], Any]]]] = {
        "seven-segment": (theory.seven_segment, ()),
        "xor": (theory.xor, (int,)),
        "strong-versus-weak": (theory.strong_versus_weak, (str,)),
        "masking": (theory.masking, (str,)),
        "chain": (theory.chain, (int, str)),
        "clique": (theory.clique, (int,)),
        "noisy-copies": (theory.noisy_copies, (int, str)),
    }
    if name in makers:
        maker, kinds = makers[name]
        try:
            return maker(*(kind(part) for kind, part in zip(kinds, parts, strict=len(parts) > len(kinds))))
        except (TypeError, ValueError) as error:
            if isinstance(error, ParameterError):
                raise
            raise ParameterError(
                f"the example {shown(example)} has other parameters; see fernwood theory --help"
            ) from None
    if Path(example).suffix in (".csv", ".parquet"):
        return _from_file(Path(example), target)
    raise ParameterError(
        f"there is no example {shown(example)}; give one of {', '.join(makers)}, or a .csv or .parquet file"
    )


def _from_file(path: Path, target: str | None) -> Distribution:
    from pyarrow import ArrowException, csv, parquet

    from fernwood.sources.arrow import first_line
    from fernwood.sources.names import ListedNames, clean_names
    from fernwood.theory import Distribution

    if target is None:
        raise ParameterError(f"no output was named for {shown(path)}; say --target and the name of its column")
    try:
        table = parquet.read_table(path) if path.suffix == ".parquet" else csv.read_csv(path)
        # Names go to the terminal, and tell columns apart there.
        table = table.rename_columns(list(clean_names(ListedNames(table.column_names))))
    except (OSError, ArrowException, UnicodeDecodeError) as error:
        pass_on_shortage(error)
        raise ParameterError(
            f"{shown(path)} cannot be read ({first_line(error)}); give a CSV or Parquet file of samples"
        ) from error
    return Distribution.from_frame(table, target)


def _share(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise ParameterError(f"alpha is {shown(text)}; give a number from 0 to 1") from None


def _draw(path: Path, panels: list[Callable[[Any], None]]) -> None:
    """Draw panels side by side into a file."""
    try:
        from matplotlib.figure import Figure
    except ImportError:
        raise ParameterError("pictures need matplotlib, which is not installed; pip install 'fernwood[plot]'") from None
    figure = Figure(figsize=(5.5 * len(panels), 4), layout="constrained")
    for axes, panel in zip(figure.subplots(1, len(panels), squeeze=False)[0], panels, strict=True):
        panel(axes)
    from fernwood.reduced.writing import said_of_disk

    try:
        with said_of_disk(f"the picture {shown(path)}"):
            figure.savefig(path)
    except ValueError as error:
        raise ParameterError(
            f"the picture {shown(path)} cannot be written ({error}); name a PNG, SVG or PDF file"
        ) from error


def _print_json(value: Any) -> None:
    typer.echo(json.dumps(value))


def _print_line(text: str) -> None:
    typer.echo(text)


def _print_table(headers: Sequence[str], rows: Iterable[Iterable[Any]]) -> None:
    from rich import box
    from rich.console import Console
    from rich.table import Table

    table = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False)
    for i, header in enumerate(headers):
        table.add_column(header, justify="left" if i == 0 else "right", no_wrap=True)
    for row in rows:
        table.add_row(*(str(cell) for cell in row))
    console = Console(highlight=False)
    if not console.is_terminal:  # a pipe has no width, and nothing should be cut there
        console = Console(highlight=False, width=200)
    console.print(table)


def _sets(sets: Sequence[Sequence[str]]) -> str:
    return " ".join("{" + ", ".join(names) + "}" for names in sets) or "none"


def _yes(answer: bool) -> str:
    return "yes" if answer else "no"
