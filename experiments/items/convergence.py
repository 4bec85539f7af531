"""How many iterations random subspaces need, with memory and without: exact, and by simulation."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from experiments.experiment import Cell, Claim, Experiment, Part, Told
from fernwood import theory
from fernwood.theory import plots

if TYPE_CHECKING:
    from collections.abc import Iterator

    from experiments.experiment import Row

_PAPER = "Sutera et al. (2018)"
_SLIDES = "Geurts, slides of 2016"
_MISPRINT = "A misprint: 1123 is the entry of the next row; the paper's own model gives this."


# Table 1 -------------------------------------------------------------------------------------------------------------


def entry(row: int) -> Row:
    """One row of Table 1, computed."""
    return theory.table1()[row]._asdict() | {"misprints": " ".join(theory.table1()[row].misprints)}


def table_cells(_: bool) -> list[Cell]:
    """The fifteen rows."""
    return [Cell(entry, {"row": row}) for row in range(len(theory.table1()))]


def table_claims(told: Told) -> Iterator[Claim]:
    """Every entry of the table, and what the paper reads from it."""
    for row in told:
        for name in ("rs", "srs"):
            printed, wrong = row[f"{name}_printed"], name in row["misprints"]
            yield Claim(
                f"{row['scenario']}, p = {row['p']}, q = {row['q']}, r = {row['r']}, {name.upper()}",
                printed,
                _digits(row[name]),
                direction=not wrong,
                exact=printed.isdigit(),
                note="" if printed.isdigit() else "printed as an order of magnitude",
                differs=_MISPRINT if wrong else "",
            )
    for scenario, faster in (("chaining", "RS"), ("clique", "RS"), ("marginal", "SRS")):
        rows = [row for row in told.where(scenario=scenario) if row["r"] > 1]
        ratios = [row["rs"] / row["srs"] for row in rows]
        holds = all(ratio > 1 for ratio in ratios) if faster == "RS" else all(ratio < 1 for ratio in ratios)
        yield Claim(
            f"{scenario}: iterations of RS over those of SRS",
            "memory helps" if faster == "RS" else "memory slows down",
            f"{_digits(min(ratios))} to {_digits(max(ratios))}",
            direction=holds,
        )


def _digits(value: float) -> str:
    return f"{value:.2f}" if value < 1e6 else f"{value:.4g}"


# Figure 1 ------------------------------------------------------------------------------------------------------------

_PANELS: tuple[tuple[Any, int, int, int], ...] = (
    ("chaining", 10_000, 100, 5),
    ("clique", 10_000, 1000, 4),
    ("marginal", 10_000, 100, 50),
)


def course(scenario: Any, p: int, q: int, r: int, alpha: float, longest: int, repetitions: int, seed: int) -> list[Row]:
    """A curve of Figure 1 by simulation, beside the expectation at the same iterations."""
    whole = theory.expected_iterations(scenario, p, q, r, alpha)
    n_iter = int(min(2 * whole, longest))
    made = theory.simulate(scenario, p, q, r, alpha, n_iter=n_iter, repetitions=repetitions, random_state=seed)
    at = np.unique(np.linspace(1, n_iter, 25).astype(int))
    expected = theory.expected_found(scenario, p, q, r, alpha, at)
    return [
        {"iterations": int(i), "expected": float(e), "simulated": float(made.mean[i]),
         "standard_error": float(made.standard_error[i])}
        for i, e in zip(at, expected, strict=True)
    ]  # fmt: skip


def figure_cells(quick: bool) -> list[Cell]:
    """Three scenarios, with memory and without."""
    return [
        Cell(course, {"scenario": s, "p": p, "q": q, "r": r, "alpha": alpha, "longest": 3000 if quick else 20_000,
                      "repetitions": 30 if quick else 2000, "seed": 1})
        for s, p, q, r in _PANELS for alpha in (0.0, 1.0)
    ]  # fmt: skip


def figure_claims(told: Told) -> Iterator[Claim]:
    """The simulation gives what the Markov chains give."""
    for scenario, rows in told.each("scenario").items():
        for alpha, curve in rows.each("alpha").items():
            off = [
                abs(row["simulated"] - row["expected"]) / max(row["standard_error"], 1e-9)
                for row in curve
                if row["standard_error"] > 0
            ]
            repetitions = curve.rows[0]["repetitions"]
            yield Claim(
                f"{scenario}, {'SRS' if alpha else 'RS'}: simulated searches follow the chain",
                "the curve",
                f"at most {max(off):.1f} standard errors off, {repetitions} searches"
                if off
                else "nothing found, as due",
                direction=max(off, default=0.0) < 4.5,
            )


def draw_figure(told: Told, figure: Any) -> None:
    """Expected curves as lines, simulated ones as points."""
    for axes, panel in zip(figure.subplots(1, 3), _PANELS, strict=True):
        plots.draw_found(axes, panel, [0, 1])
        for alpha, curve in told.where(scenario=panel[0]).each("alpha").items():
            colour = axes.lines[int(alpha)].get_color()
            axes.plot(curve.values("iterations"), curve.values("simulated"), ".", color=colour, markersize=4)


# Example 1 and the numbers of the slides -----------------------------------------------------------------------------


def number(what: str) -> Row:
    """A number that the text works out."""
    values = {
        "blind": theory.blind_share(10_000, 50, 10),
        "degree": theory.expected_draws(10_000, 50, 1),
        "chain": theory.expected_iterations("chaining", 10_000, 100, 5, 1),
        "chain without": theory.expected_iterations("chaining", 10_000, 100, 5, 0),
    }
    return {"value": values[what]}


def number_cells(_: bool) -> list[Cell]:
    """All of them."""
    return [Cell(number, {"what": what}) for what in ("blind", "degree", "chain", "chain without")]


def number_claims(told: Told) -> Iterator[Claim]:
    """Printed beside computed."""
    value = {row["what"]: row["value"] for row in told}
    yield Claim(
        "Example 1: share of trees that see no relevant column, p = 10 000, r = 10, q = 50",
        "0.95", f"{value['blind']:.4f}", direction=f"{value['blind']:.2f}" == "0.95", exact=True,
    )  # fmt: skip
    yield Claim(
        "draws until a column of degree 1 is seen with its conditioning, p = 10 000, q = 50",
        "40812", f"{value['degree']:.2f}", direction=int(value["degree"]) == 40812, exact=True,
    )  # fmt: skip
    yield Claim(
        "slides: chaining, p = 10 000, q = 100, r = 5, SRS", "512", f"{value['chain']:.2f}",
        direction=abs(value["chain"] / 512 - 1) < 0.02, agrees=round(value["chain"]) == 512,
        note="The paper prints 506, which is exact; 512 stands under a numerical simulation.",
    )  # fmt: skip
    yield Claim(
        "slides: the same, RS", "11057612274", f"{value['chain without']:.1f}",
        direction=abs(value["chain without"] / 11057612274 - 1) < 1e-6,
        agrees=int(value["chain without"]) == 11057612274,
        note="The slides' last digits are rounding: C(p, q) / C(p − r, q − r) in whole numbers gives ours.",
    )  # fmt: skip


# The mixed setting ---------------------------------------------------------------------------------------------------

_SHARES = (0.0, 0.25, 0.5, 0.75, 1.0)


def mixed(q: int, share: float, alpha: float, repetitions: int, seed: int) -> list[Row]:
    """Columns found over iterations where degrees and conditionings are drawn; K is a share of q, at least 1."""
    k = max(1, round(share * q))
    made = theory.simulate(
        "mixed", 500, q, 20, alpha, max_features=k, n_iter=2000, repetitions=repetitions, random_state=seed
    )
    at = [1, 10, 30, 100, 200, 300, 500, 700, 1000, 1500, 2000]
    return [
        {"k": k, "iterations": i, "found": float(made.mean[i]), "standard_error": float(made.standard_error[i])}
        for i in at
    ]


def mixed_cells(quick: bool) -> list[Cell]:
    """Two sizes of memory, five K, RS and SRS."""
    return [
        Cell(mixed, {"q": q, "share": share, "alpha": alpha, "repetitions": 20 if quick else 500, "seed": 2})
        for q in (25, 50) for share in _SHARES for alpha in (0.0, 1.0)
    ]  # fmt: skip


def mixed_claims(told: Told) -> Iterator[Claim]:
    """Memory helps for every K."""
    for q, rows in told.each("q").items():
        for share, of in rows.each("share").items():
            rs, srs = (of.where(alpha=alpha, iterations=500).mean("found") for alpha in (0.0, 1.0))
            name = "1" if share == 0 else f"{share:g} q"
            yield Claim(
                f"p = 500, r = 20, q = {q}, K = {name}: columns found after 500 iterations, SRS beside RS",
                "SRS finds more", f"{srs:.2f} beside {rs:.2f}", direction=srs > rs,
            )  # fmt: skip


def draw_mixed(told: Told, figure: Any) -> None:
    """A panel for each q; colours are K, dashes RS."""
    for axes, (q, rows) in zip(figure.subplots(1, 2, sharey=True), told.each("q").items(), strict=True):
        for number_of_k, (_, of) in enumerate(rows.each("share").items()):
            for alpha, style in ((1.0, "-"), (0.0, "--")):
                curve = of.where(alpha=alpha)
                label = f"K = {curve.rows[0]['k']}" if alpha else None
                axes.plot(
                    curve.values("iterations"), curve.values("found"), style, color=f"C{number_of_k}", label=label
                )
        axes.set(title=f"q = {q}", xlabel="iterations", xscale="log")
        axes.legend(frameon=False, title="solid SRS, dashed RS", fontsize="small", title_fontsize="small")
    figure.axes[0].set_ylabel("relevant columns found")


EXPERIMENT = Experiment(
    "convergence",
    1,
    "Iterations until all relevant columns are found",
    (
        Part("table1", "Table 1: expected iterations", f"{_PAPER}, Table 1", table_cells, table_claims),
        Part(
            "figure1", "Figure 1: columns found over iterations", f"{_PAPER}, Figure 1", figure_cells, figure_claims,
            draw_figure, "Lines are the Markov chains, points simulated searches.", (11.0, 3.6),
        ),
        Part(
            "numbers", "Example 1 and numbers in the text", f"{_PAPER}, Example 1; {_SLIDES}", number_cells,
            number_claims,
        ),
        Part(
            "mixed", "Degrees and conditionings drawn at random", f"{_SLIDES}, numerical simulations in mixed setting",
            mixed_cells, mixed_claims, draw_mixed, "The slides show curves without numbers.",
        ),
    ),
)  # fmt: skip
