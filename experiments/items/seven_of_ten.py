"""Randomized elimination with a thermal perceptron: what schedules expect, and seven of ten bits among a hundred."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise
from math import comb, log
from statistics import fmean, stdev
from typing import TYPE_CHECKING, Any

import numpy as np

from benchmarks.seven import N, R, eliminated, problem, updates
from experiments.experiment import Cell, Claim, Experiment, Part, Told
from fernwood import theory

if TYPE_CHECKING:
    from collections.abc import Iterator

    from experiments.experiment import Row

_PAPER = "Stracuzzi and Utgoff (2004)"


def _near(ours: float, printed: float, share: float) -> bool:
    return abs(ours / printed - 1) <= share


# The schedule, section 4 and 5.2 -------------------------------------------------------------------------------------


def schedule() -> Row:
    """k_opt and I_sum of the problems, and the same by the loops of Table 1, in whole numbers."""
    best, single = (theory.elimination_schedule(N, R, updates, step=step) for step in (None, 1))
    cost, sizes = _by_loops(N, R)
    steps, left = [], N
    while left > R:
        steps.append(sizes[left])
        left -= sizes[left]
    return {
        "cost": best.expected_cost, "calls": best.expected_calls, "sizes": _listed(k for _, k in best.steps),
        "single_cost": single.expected_cost, "single_calls": single.expected_calls, "loops_cost": float(cost),
        "loops_sizes": _listed(steps), "epochs": next(t for t in range(10_000) if 2 * 0.999**t < 0.3),
    }  # fmt: skip


def _listed(sizes: Any) -> str:
    return " ".join(str(k) for k in sizes)


def _by_loops(n: int, r: int) -> tuple[Fraction, dict[int, int]]:
    """Table 1 of the paper as it stands: the least cost, and k by the number of columns left."""
    total, sizes = {r: Fraction(0)}, {}
    for i in range(r + 1, n + 1):
        costs = [
            updates(i - k) * Fraction(comb(i, r), comb(i - k, r)) + total[i - k]  # M(i − k) (E⁻ + 1) + I_sum
            for k in range(1, i - r + 1)
        ]
        sizes[i] = 1 + costs.index(min(costs))
        total[i] = min(costs)
    return total[n], sizes


def unique(seeds: int) -> Row:
    """Different values of the ten relevant bits among the 1000 rows to train on, a mean over problems."""
    counts = []
    for seed in range(seeds):
        x, _, relevant = problem(seed)
        counts.append(len(np.unique(x[:1000, sorted(relevant)], axis=0)))
    return {"unique": fmean(counts)}


def schedule_cells(quick: bool) -> list[Cell]:
    """All in an instant."""
    return [Cell(schedule, {}), Cell(unique, {"seeds": 4 if quick else 20})]


def schedule_claims(told: Told) -> Iterator[Claim]:
    """Computed beside what the paper measured."""
    row = next(row for row in told if "cost" in row)
    yield Claim(
        "epochs of a training, from T = 2 by 0.999 an epoch until T < 0.3", "1897", str(row["epochs"]),
        direction=row["epochs"] == 1897, exact=True,
    )  # fmt: skip
    yield Claim(
        "k_opt from 100 columns down to 10 relevant ones, by the loops of Table 1 in whole numbers",
        row["loops_sizes"], row["sizes"], direction=row["sizes"] == row["loops_sizes"], exact=True,
        note="The paper prints the algorithm and not the numbers: the first column is that algorithm.",
    )  # fmt: skip
    yield Claim(
        "I_sum(100, 10), by the same loops", f"{row['loops_cost']:.6g}", f"{row['cost']:.6g}",
        direction=_near(row["cost"], row["loops_cost"], 1e-9), exact=True,
    )  # fmt: skip
    for about, cost, calls, printed, printed_calls in (
        ("RVE", row["cost"], row["calls"], 5.45e9, 81.1),
        ("one column at a time", row["single_cost"], row["single_calls"], 12.7e9, 138.7),
    ):
        yield Claim(
            f"{about}: updates expected, beside the paper's mean of twenty runs", f"{printed / 1e9:g}·10⁹",
            f"{cost / 1e9:.3f}·10⁹", direction=_near(cost, printed, 0.05),
        )  # fmt: skip
        yield Claim(
            f"{about}: calls expected, beside the paper's mean", f"{printed_calls}", f"{calls:.1f}",
            direction=_near(calls, printed_calls, 0.12),
        )  # fmt: skip
    found = next(row for row in told if "unique" in row)["unique"]
    yield Claim(
        "different instances by the ten relevant bits, of 1000", "466", f"{found:.0f}",
        direction=_near(found, 466, 0.1),
        differs="A thousand rows of ten fair bits have 638 different ones on average; 466 is what bits have that are "
        "set with a chance of 0.67. The paper does not give the chance.",
    )  # fmt: skip


# Figure 1 ------------------------------------------------------------------------------------------------------------


def expected(columns: int) -> Row:
    """The cost of removing all but ten of so many columns, at best and one at a time, and of one training."""
    best, single = (theory.elimination_schedule(columns, R, updates, step=step) for step in (None, 1))
    return {"rve": best.expected_cost, "single": single.expected_cost, "training": updates(columns)}


def expected_cells(quick: bool) -> list[Cell]:
    """From a few columns to a thousand."""
    sizes = (20, 50, 100, 200, 400) if quick else (*range(20, 101, 10), 125, 150, 200, 250, 300, 400, 500, 700, 1000)
    return [Cell(expected, {"columns": n}) for n in sizes]


def expected_claims(told: Told) -> Iterator[Claim]:
    """How costs grow with the columns."""
    small, large = told.rows[-2], told.rows[-1]
    for name, about, power in (("rve", "RVE", 1), ("single", "removing columns one at a time", 2)):
        slope = log(large[name] / small[name]) / log(large["columns"] / small["columns"])
        yield Claim(
            f"cost of {about}, growth from {small['columns']} to {large['columns']} columns, as a power of N",
            "linear" if power == 1 else "N²", f"N^{slope:.2f}", direction=abs(slope - power) < 0.15,
        )  # fmt: skip
    factors = [row["rve"] / row["training"] for row in told if row["columns"] >= 100]
    yield Claim(
        "RVE costs a constant factor more than one training, whatever N", "O(r M(N)), average case",
        f"{min(factors):.1f} to {max(factors):.1f} trainings for N of 100 and more",
        direction=max(factors) < 1.2 * min(factors),
    )  # fmt: skip


def draw_expected(told: Told, figure: Any) -> None:
    """Three curves; up to 100 columns, as the paper's problems have, and beyond."""
    for axes, most in zip(figure.subplots(1, 2), (100, told.rows[-1]["columns"]), strict=True):
        rows = Told(row for row in told if row["columns"] <= most)
        for name, label in (("single", "one column at a time"), ("rve", "RVE"), ("training", "one training, M(N)")):
            axes.plot(rows.values("columns"), [value / 1e9 for value in rows.values(name)], "o-", label=label, ms=3)
        axes.set(xlabel="columns N, of which 10 are relevant")
    figure.axes[0].set_ylabel("expected updates of weights, 10⁹")
    figure.axes[0].legend(frameon=False)


# Runs: Table 4, Figures 2 and 3 --------------------------------------------------------------------------------------

_LEVELS = (100, 91, 83, 75, 68, 62, 56, 51, 46, 42, 38, 35, 32, 29, 26, 23, 20, 18, 16, 14, 12, 11, 10)
_TABLE4 = {
    ("known", 0): (5.5, 81.1, 10.0), ("binary-early", 20): (6.5, 123.8, 10.8), ("binary-early", 40): (8.0, 151.3, 10.2),
    ("binary-early", 60): (9.3, 169.0, 10.0), ("binary-early", 80): (10.0, 172.3, 10.0),
    ("binary-early", 100): (11.7, 184.1, 9.9), ("one", 0): (12.7, 138.7, 10.0),
}  # fmt: skip
_SAME_TABLE = {("binary", r_max): _TABLE4["binary-early", r_max] for r_max in (20, 100)}
_NAMES = {"known": "RVE (k_opt)", "one": "RVE (k = 1)", "binary-early": "RVErS", "binary": "RVErS to the last column"}


def eliminate(way: str, r_max: int, learner: str, seed: int) -> Row:
    """One problem; `at_n` are the updates until at most n columns are left."""
    state, kept, relevant = eliminated(way, r_max, seed, by_oracle=learner == "oracle")
    trace = state.trace
    spent = np.cumsum([updates(n) for n in trace.left.tolist()])
    accepted = np.flatnonzero(trace.accepted)
    levels = {f"at_{n}": float(spent[call]) for n in _LEVELS for call in accepted[trace.left[accepted] <= n][:1]}
    return {
        "calls": state.n_calls, "updates": float(spent[-1]), "inputs": len(kept), "relevant": len(kept & relevant),
        "exact": kept == relevant, "first_error": float(trace.error[0]),
        "idle_calls": int(state.n_calls - 1 - accepted[-1]), **levels,
    }  # fmt: skip


def _runs(ways: Any, quick: bool, n_problems: int = 20) -> list[Cell]:
    """Quick ones ask an oracle that never errs, which takes no time."""
    learner, seeds = ("oracle", range(3)) if quick else ("perceptron", range(n_problems))
    return [
        Cell(eliminate, {"way": way, "r_max": r_max, "learner": learner, "seed": seed})
        for seed in seeds for way, r_max in ways
    ]  # fmt: skip


def table_cells(quick: bool) -> list[Cell]:
    """The rows of Table 4; and ours: RVErS to the last column, halving, and an oracle in place of the perceptron."""
    if quick:
        few = [("known", 0), ("one", 0), ("binary-early", 20), ("binary-early", 100), ("halving", 100)]
        return [*_runs(few, quick), *_runs([("known", 0)], quick=False, n_problems=1)]
    oracle = [
        Cell(eliminate, {"way": way, "r_max": r_max, "learner": "oracle", "seed": seed})
        for seed in range(20) for way, r_max in _TABLE4
    ]  # fmt: skip
    ours = [*_runs([("halving", 100)], quick), *_runs(_SAME_TABLE, quick, 5)]
    return [*_runs(_TABLE4, quick), *ours, *oracle]


def _main(told: Told) -> tuple[Told, str]:
    """Runs with the perceptron, where there are some of each; else, in a quick run, those with the oracle."""
    perceptron = told.where(learner="perceptron")
    return (perceptron, "") if len(perceptron.each("way")) > 1 else (told.where(learner="oracle"), " (oracle)")


def table_claims(told: Told) -> Iterator[Claim]:
    """Every number, and what sections 5.3 and 6.2 say."""
    runs, mark = _main(told)
    is_full = not mark
    for (way, r_max), printed in (_TABLE4 | _SAME_TABLE).items():
        rows = runs.where(way=way, r_max=r_max)
        if len(rows):
            seeds = set(rows.values("seed"))
            sure = Told(row for row in told.where(way=way, r_max=r_max, learner="oracle") if row["seed"] in seeds)
            chance = f" An oracle takes {sure.mean('calls'):.1f} on the same problems." if len(sure) else ""
            yield from _row_claims(_name(way, r_max), rows, printed, mark, chance)
    spent = {of: runs.where(way=of[0], r_max=of[1]) for of in _TABLE4}
    spent = {of: rows for of, rows in spent.items() if len(rows)}
    means = {of: rows.mean("updates") for of, rows in spent.items()}
    known, single = spent["known", 0], spent["one", 0]
    for rows, cost, about in ((known, 5.512e9, "RVE"), (single, 12.15e9, "one column at a time")):
        removals = rows.mean("updates") - updates(N)
        if is_full:
            yield Claim(
                f"5.3: {about}: updates of removals agree with the cost function", f"{cost / 1e9:.2f}·10⁹ expected",
                f"{removals / 1e9:.2f}·10⁹", direction=_near(removals, cost, 0.1),
                note="The schedule does not count the first training.",
            )  # fmt: skip
    yield Claim(
        f"5.3: one column at a time costs more than twice as much{mark}", f"{12.7 / 5.45:.2f} ×",
        f"{means['one', 0] / means['known', 0]:.2f} ×", direction=means["one", 0] > 1.5 * means["known", 0],
        agrees=_near(means["one", 0] / means["known", 0], 12.7 / 5.45, 0.1),
    )  # fmt: skip
    searches = [of for of in means if of[0] == "binary-early"]
    yield Claim(
        f"6.2: with larger r_max RVErS costs slowly more{mark}", "6.5, 8.0, 9.3, 10.0, 11.7·10⁹ updates",
        ", ".join(f"{means[of] / 1e9:.1f}" for of in searches) + "·10⁹",
        direction=all(means[a] < means[b] for a, b in pairwise(searches)),
    )  # fmt: skip
    if is_full:
        by_oracle = {of: told.where(way=of[0], r_max=of[1], learner="oracle") for of in spent}
        yield from _full_claims(spent, {of: rows.mean("updates") / 1e9 for of, rows in by_oracle.items() if len(rows)})
    halving = runs.where(way="halving")
    if len(halving):
        calls = halving.mean("calls")
        yield Claim(
            f"ours: halving, r_max = 100, beside RVErS{mark}", "184.1 calls, 11.7·10⁹ updates",
            f"{calls:.1f} calls, {halving.mean('updates') / 1e9:.1f}·10⁹ updates, {halving.mean('inputs'):.1f} columns",
            direction=calls < 0.75 * 184.1, note="It learns from removals that fail; no schedule, no bound.",
        )  # fmt: skip


def _name(way: str, r_max: int) -> str:
    return _NAMES.get(way, way) + (f", r_max = {r_max}" if r_max else "")


def _row_claims(name: str, rows: Told, printed: tuple[float, ...], mark: str, chance: str) -> Iterator[Claim]:
    billions, calls, inputs = rows.mean("updates") / 1e9, rows.mean("calls"), rows.mean("inputs")
    error = _deviation(rows, "calls") / len(rows) ** 0.5
    if not mark:  # a quick run has too few problems for these
        yield Claim(
            f"{name}: updates, 10⁹", f"{printed[0]:.1f}", f"{billions:.2f}", direction=_near(billions, printed[0], 0.3),
            agrees=_near(billions, printed[0], 0.15), note=f"{len(rows)} problems",
        )  # fmt: skip
        yield Claim(
            f"{name}: calls", f"{printed[1]}", f"{calls:.1f} ± {error:.1f}", direction=_near(calls, printed[1], 0.3),
            agrees=_near(calls, printed[1], 0.15), note=f"± is the standard error.{chance}",
        )  # fmt: skip
    yield Claim(
        f"{name}: columns at the end{mark}", f"{printed[2]}", f"{inputs:.1f}",
        direction=abs(inputs - printed[2]) <= 1.5, agrees=abs(inputs - printed[2]) <= 0.5, note="Of 10 relevant ones.",
    )  # fmt: skip


def _deviation(rows: Told, name: str) -> float:
    values = rows.values(name)
    return stdev(values) if len(values) > 1 else 0.0


def _full_claims(spent: dict[tuple[str, int], Told], sure: dict[tuple[str, int], float]) -> Iterator[Claim]:
    """What takes many problems to see; beside it what an oracle takes, in 10⁹ updates."""
    from scipy.stats import ttest_ind

    known, single = spent["known", 0], spent["one", 0]
    first = known.values("first_error")
    wrong = [row for rows in (known, single) for row in rows if not row["exact"]]
    yield Claim(
        "5.3: problems of twenty where columns were wrong at the end, RVE and one at a time", "3 and 3",
        " and ".join(str(sum(not row["exact"] for row in rows)) for rows in (known, single)), direction=len(wrong) <= 6,
        agrees=len(wrong) == 6, note=f"The first training erred on {100 * min(first):.1f} to {100 * max(first):.1f} % "
        "of the rows; the paper's wrong selections all followed one with 4.5 % or more.",
    )  # fmt: skip
    for one, other, printed in (
        (("binary-early", 100), ("one", 0), 0.049), (("binary-early", 20), ("known", 0), 0.0005),
    ):  # fmt: skip
        p = float(ttest_ind(spent[one].values("updates"), spent[other].values("updates")).pvalue)
        less = spent[one].mean("updates") < spent[other].mean("updates")
        yield Claim(
            f"6.2: updates of {_name(*one)} and {_name(*other)} differ", f"p = {printed}",
            f"p = {p:.2g}, the first is {'less' if less else 'more'}",
            direction=p < 0.05 and less is (other == ("one", 0)),
            differs="" if p < 0.05 else "Twenty problems do not tell the two apart with us; an oracle takes "
            f"{sure.get(one, float('nan')):.1f} and {sure.get(other, float('nan')):.1f}·10⁹ on the same ones.",
        )  # fmt: skip
    costs = {of: rows.mean("updates") / 1e9 for of, rows in spent.items()}
    most = max(cost for of, cost in costs.items() if of[1])
    yield Claim(
        "6.2: RVErS needs fewer updates than one column at a time, whatever r_max", "11.7 and less for 12.7·10⁹",
        f"at most {most:.1f} for {costs['one', 0]:.1f}·10⁹", direction=most < costs["one", 0],
        differs="" if most < costs["one", 0] else "Only r_max = 100 is above it, by less than its standard error; an "
        f"oracle takes {sure.get(('binary-early', 100), float('nan')):.1f} for "
        f"{sure.get(('one', 0), float('nan')):.1f}·10⁹.",
    )  # fmt: skip
    better = [of[1] for of, rows in spent.items() if of[1] and rows.mean("calls") < single.mean("calls")]
    yield Claim(
        "6.2: values of r_max with fewer calls than one column at a time", "20 (40: more calls, less time)",
        ", ".join(map(str, better)) or "none", direction=20 in better and not {60, 80, 100} & set(better),
    )  # fmt: skip
    idle = [row["idle_calls"] / row["calls"] for of, rows in spent.items() if of[1] for row in rows]
    yield Claim(
        "6.2: many calls are made after the last column has gone, to end the search", "many",
        f"{100 * fmean(idle):.0f} % of the calls of RVErS", direction=fmean(idle) > 0.1,
    )  # fmt: skip


# Figures 2 and 3 -----------------------------------------------------------------------------------------------------

_FIGURE2 = (("known", 0), ("one", 0))
_FIGURE3 = (("binary-early", 20), ("binary-early", 60), ("binary-early", 100))


def figure2_cells(quick: bool) -> list[Cell]:
    """Runs of Table 4."""
    return _runs(_FIGURE2, quick)


def figure2_claims(told: Told) -> Iterator[Claim]:
    """How quickly columns go."""
    known, single = (told.where(way=way) for way, _ in _FIGURE2)
    half = [rows.mean("at_51") / 1e9 for rows in (known, single)]
    yield Claim(
        "updates until half of the columns are gone", "RVE drops much faster",
        f"{half[0]:.1f} for {half[1]:.1f}·10⁹", direction=half[0] < 0.6 * half[1],
    )  # fmt: skip
    early = [rows.mean("at_51") / rows.mean("updates") for rows in (known, single)]
    yield Claim(
        "share of all updates that go into the first half of the columns",
        "one at a time, the cost rises quickly early in the search",
        f"RVE {early[0]:.2f}, one at a time {early[1]:.2f}", direction=early[1] > 0.5,
    )  # fmt: skip
    tried = [rows.mean("calls") for rows in (known, single)]
    yield Claim(
        "hypotheses trained", "RVE fewer", f"{tried[0]:.0f} for {tried[1]:.0f}", direction=tried[0] < tried[1]
    )  # fmt: skip


def figure3_cells(quick: bool) -> list[Cell]:
    """Runs of Table 4."""
    return [*_runs(_FIGURE3 if not quick else (_FIGURE3[0], _FIGURE3[2]), quick), *figure2_cells(quick)]


def figure3_claims(told: Told) -> Iterator[Claim]:
    """The jump at the end."""
    jumps = {of: (rows.mean("updates") - rows.mean("at_20")) / 1e9 for of, rows in _by_run(told).items()}
    rve = max(jumps[of] for of in _FIGURE2)
    for of in _FIGURE3:
        if of in jumps:
            yield Claim(
                f"r_max = {of[1]}: updates from twenty columns to the end, 10⁹", "a jump, which RVE does not have",
                f"{jumps[of]:.2f}; of RVE at most {rve:.2f}", direction=jumps[of] > rve,
                agrees=jumps[of] > 1.2 * rve, note=f"{jumps[of] / rve:.2f} × that of RVE; 1.2 × counts as a jump.",
            )  # fmt: skip


def _by_run(told: Told) -> dict[tuple[str, int], Told]:
    return {(way, r): rows for way, of in told.each("way").items() for r, rows in of.each("r_max").items()}


def draw_course(told: Told, figure: Any) -> None:
    """Columns left against updates, with the standard deviation over problems."""
    axes = figure.subplots()
    for (way, r_max), rows in _by_run(told).items():
        levels = [n for n in _LEVELS if len(rows.values(f"at_{n}")) == len(rows)]
        spent = [rows.mean(f"at_{n}") / 1e9 for n in levels]
        spread = [_deviation(rows, f"at_{n}") / 1e9 for n in levels]
        end = ([rows.mean("updates") / 1e9], [rows.mean("inputs")])
        line = axes.errorbar(spent, levels, xerr=spread, fmt="o-", ms=3, lw=1, elinewidth=0.7, label=_name(way, r_max))
        axes.plot([spent[-1], *end[0]], [levels[-1], *end[1]], ":", color=line[0].get_color())
        axes.plot(*end, "s", color=line[0].get_color())
    axes.set(xlabel="updates of weights, 10⁹", ylabel="columns left", ylim=(0, 105), xlim=(0, None))
    axes.legend(frameon=False)


_TEXT = (
    "Twenty problems of a hundred bits, 1000 rows to train a thermal perceptron on and 1000 to validate it, tolerance "
    "0.015 of the rows (the paper's 0.06 is of squared errors). RVErS is `search=\"binary-early\"`, which ends as the "
    "text around Table 3 says; RVErS to the last column is `search=\"binary\"`, as Table 3 prints it."
)  # fmt: skip
EXPERIMENT = Experiment(
    "seven_of_ten",
    7,
    "Elimination by schedule: seven of ten bits",
    (
        Part("schedule", "The schedule", f"{_PAPER}, Table 1 and section 5", schedule_cells, schedule_claims),
        Part(
            "figure1", "Figure 1: expected cost over the number of columns", f"{_PAPER}, Figure 1", expected_cells,
            expected_claims, draw_expected,
        ),
        Part("table4", "Table 4: RVE and RVErS", f"{_PAPER}, Table 4, sections 5.3 and 6.2", table_cells, table_claims,
             None, _TEXT),
        Part(
            "figure2", "Figure 2: columns left against updates, r known", f"{_PAPER}, Figure 2", figure2_cells,
            figure2_claims, draw_course, "Bars are standard deviations over problems; squares are where runs end.",
            (7.0, 4.0),
        ),
        Part(
            "figure3", "Figure 3: columns left against updates, r unknown", f"{_PAPER}, Figure 3", figure3_cells,
            figure3_claims, draw_course, "RVE stands beside RVErS, for the jump at the end.", (7.0, 4.0),
        ),
    ),
)  # fmt: skip
