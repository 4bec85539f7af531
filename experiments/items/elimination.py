"""Randomized elimination beside step-wise selection and a filter, on the eight data sets of its paper."""

from __future__ import annotations

import time
import warnings
from functools import partial
from math import isnan
from typing import TYPE_CHECKING, Any

import numpy as np

from benchmarks.eliminated import R_MAX, file_of, problem
from benchmarks.searches import cost, found, inner_errors, outer_errors, task
from experiments.experiment import Cell, Claim, Experiment, Part, Told
from experiments.items.elimination_said import LEARNERS, SETS, TABLE5, Figures, order_claims, ours, papers

if TYPE_CHECKING:
    from collections.abc import Iterator

    from experiments.experiment import Row

_PAPER = "Stracuzzi and Utgoff (2004)"
_DIVIDED = ("dna", "optdigits", "monks")


def searched(data: str, learner: str, method: str, run: int) -> Row:
    """One search on the rows of a run, and the error of what it chose on the others; `all` searches for nothing."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="The least populated class")
        n_columns = task(data, learner).table.shape[1]
        outer = outer_errors(data, learner, run)
        if method == "all":
            started = time.perf_counter()
            error = outer(np.arange(n_columns))
            figures: Row = {"iters": 0, "evals": 0, "inputs": n_columns, "cost": 1.0}
        else:
            inner_errors(data, learner, run, 0.25 if method[0] == "o" else None)
            started = time.perf_counter()
            of = found(data, learner, method, run)
            figures = {"iters": of.iters, "evals": len(of.sizes), "inputs": len(of.chosen)}
            figures["cost"] = cost(of.sizes, n_columns, learner)
            error = outer(of.chosen)
    return {"seed": run, **figures, "error": 100 * error, "seconds": time.perf_counter() - started}


def versions(data: str) -> tuple[str, ...]:
    """The paper's seven searches, and before them none."""
    return ("all", *(f"r{r_max}" for r_max in R_MAX[data]), "k1", "filter", "forward", "backward")


def extras(data: str) -> tuple[str, ...]:
    """Ours: the early ending, halving, rows held out, and the comparison with the selection before."""
    least, *_, most = R_MAX[data]
    return (*(f"e{r_max}" for r_max in R_MAX[data]), f"h{most}", f"o{least}", f"l{least}")


# Where a search on all folds is too dear: on how many it is made.
_FEWER = {
    ("ads", "bayes"): {"": 3, "backward": 0, "forward": 2},
    ("mfeat", "bayes"): {"backward": 2},
    ("euthyroid", "tree"): {"backward": 3},
    ("soybean", "tree"): {"": 5},
    ("led", "tree"): {"": 2, "backward": 1, "o25": 1, "l25": 0, "e75": 1, "e150": 1},
    ("dna", "tree"): {"": 2, "forward": 1, "backward": 1, "o50": 1, "l50": 0, "e100": 1, "e180": 1},
    ("optdigits", "tree"): {"": 1, "e40": 0, "e64": 0, "o25": 0, "l25": 0},
    ("mfeat", "tree"): {"": 1, "backward": 0, "e50": 0, "e150": 0, "e240": 0, "o50": 0, "l50": 0},
    ("ads", "tree"): {"": 0, "all": 1, "r100": 1, "h1558": 1},
}
_DEAR = (
    ("euthyroid", "backward"), ("soybean", "forward"), ("soybean", "backward"), ("dna", "forward"), ("led", "forward"),
    ("optdigits", "forward"), ("led", "backward"), ("optdigits", "backward"), ("mfeat", "forward"), ("dna", "backward"),
    ("ads", "forward"),
)  # fmt: skip


def runs_of(data: str, learner: str, method: str) -> int:
    """How often a search is made: all ten folds or five runs on the given division, or fewer."""
    usual = (1 if method == "all" else 5) if data in _DIVIDED else 10
    fewer = _FEWER.get((data, learner), {})
    return min(usual, fewer.get(method, fewer.get("", usual)))


def cells_of(*sets: str) -> list[Cell]:
    """The cells of some data sets, the cheap ones first."""
    made = [
        (data, learner, method, run)
        for learner in ("bayes", "tree")
        for data in sets
        for run in range(10)
        for method in (*versions(data), *extras(data))
        if run < runs_of(data, learner, method)
    ]
    made.sort(
        key=lambda one: _DEAR.index((one[0], one[2])) + 1 if one[1] == "tree" and (one[0], one[2]) in _DEAR else 0
    )
    names = ("data", "learner", "method", "run")
    return [Cell(searched, dict(zip(names, one, strict=True)), needs=file_of(one[0])) for one in made]


def all_cells(quick: bool) -> list[Cell]:
    """All of them, those of small data sets first; a quick run has some of one that is made here."""
    if quick:
        methods = ("all", "r25", "r150", "k1", "filter", "forward", "e25", "h150")
        return [Cell(searched, {"data": "led", "learner": "bayes", "method": m, "run": 0}) for m in methods]
    return cells_of(*reversed(R_MAX))


def some_cells(quick: bool, sets: tuple[str, ...]) -> list[Cell]:
    """Those of the data sets of a table."""
    return [cell for cell in all_cells(quick) if cell.settings["data"] in sets]


# What the paper prints beside what we get ----------------------------------------------------------------------------


_NAMES = {"all": "all columns", "k1": "k = 1", "forward": "forward", "backward": "backward", "filter": "filter"}


def _name(method: str) -> str:
    if method in _NAMES:
        return _NAMES[method]
    kinds = {"r": "", "e": "early ending, ", "h": "halving, ", "o": "rows held out, ", "l": "above the last error, "}
    return f"{kinds[method[0]]}r_max = {method[1:]}"


def table_claims(told: Told) -> Iterator[Claim]:
    """Every row of a table; then ours beside the row of the same r_max."""
    for (data, learner), block in ours(told).items():
        paper = papers(data, learner)
        for method, row in block.items():
            is_ours = method[0] in "ehol"
            printed_row = paper.get(f"r{method[1:]}" if is_ours else method)
            if printed_row is not None and (row.runs > 1 or data in _DIVIDED or not is_ours):
                about = f"{SETS[data]}, {LEARNERS[learner]}, {_name(method)}"
                about = f"ours: {about}" if is_ours else about
                yield _row_claim(about, row, printed_row, better_counts=method[0] in "hol")


def _row_claim(about: str, row: Figures, paper: Figures, *, better_counts: bool) -> Claim:
    """A row beside the paper's; of a search that is ours, a lower error or fewer evaluations are no difference."""
    spread = max(1.0, row.deviation, paper.deviation)
    off = 0.0 if isnan(paper.error) else row.error - paper.error
    times = row.evals / paper.evals if paper.evals else 1.0
    if better_counts:
        off, times = max(off, 0.0), max(times, 1.0)
    holds, near, alike = abs(off) <= max(3.0, 2 * spread), abs(off) <= spread, 1 / 1.5 <= times <= 1.5
    remarks = [
        {1: "one run", 2: "two runs", 3: "three runs"}.get(row.runs, f"{row.runs} runs"),
        "" if alike else f"{times:.1f} × the evaluations",
        "" if near else f"error {off:+.1f} points",
    ]
    return Claim(
        about, _said(paper), f"{_said(row)}; {row.seconds:.2f} s", direction=holds, agrees=near and alike,
        note=", ".join(remark for remark in remarks if remark) + ".",
        differs="" if holds else "More than two deviations, and three points, off.",
    )  # fmt: skip


def _said(row: Figures) -> str:
    error = "?" if isnan(row.error) else f"{row.error:.1f}"
    deviation = f" ± {row.deviation:.1f}" if row.deviation > 0 else ""
    return f"{row.evals:.0f} evals, {row.inputs:.1f} columns, {error}{deviation} %"


# Table 5 -------------------------------------------------------------------------------------------------------------


def described(data: str) -> Row:
    """The shape of a data set."""
    of = problem(data)
    n_test = 0 if of.is_test is None else int(of.is_test.sum())
    shape = {"columns": of.x.shape[1], "classes": len(np.unique(of.y))}
    return {**shape, "train": len(of.y) - n_test, "test": n_test}


def described_cells(quick: bool) -> list[Cell]:
    """All data sets; in a quick run but the widest."""
    return [Cell(described, {"data": data}, needs=file_of(data)) for data in R_MAX if not quick or data != "ads"]


def described_claims(told: Told) -> Iterator[Claim]:
    """Columns, classes, rows."""
    for row in told:
        shape = tuple(row[name] for name in ("columns", "classes", "train", "test"))
        off_by_one = row["data"] == "euthyroid"
        yield Claim(
            f"{SETS[row['data']]}: columns, classes, rows to train on and to test on",
            _shape(TABLE5[row["data"]]), _shape(shape), direction=shape == TABLE5[row["data"]], exact=True,
            differs="The repository's file has 3163 rows." if off_by_one else "",
        )  # fmt: skip


def _shape(shape: tuple[int, ...]) -> str:
    return ", ".join(f"{n:,}" if n else "cross-validated" for n in shape)


_MARKS = {"r": ("o", "RVErS"), "k": ("s", "k = 1"), "f": ("^", "step-wise"), "b": ("^", ""), "filter": ("x", "filter")}


def draw_orders(told: Told, figure: Any) -> None:
    """Every printed row: paper across, ours up."""
    places = figure.subplots(1, 3)
    for (data, learner), block in ours(told).items():
        for method, row in papers(data, learner).items():
            if method == "all" or method not in block:
                continue
            mark, label = _MARKS.get(method, _MARKS[method[0]])
            for axes, what in zip(places, ("evals", "inputs", "error"), strict=True):
                label = label if learner == "bayes" and label not in axes.get_legend_handles_labels()[1] else ""
                values = getattr(row, what), getattr(block[method], what)
                axes.plot(
                    *values, mark, color="C0" if learner == "bayes" else "C1", ms=5, alpha=0.7, label=label or None
                )
    for axes, what in zip(places, ("evaluations", "columns at the end", "error, %"), strict=True):
        axes.set(xscale="log", yscale="log", xlabel=f"{what}: paper", ylabel="ours")
        low, high = axes.get_xlim()
        axes.plot([low, high], [low, high], "-", color="0.7", lw=0.8, zorder=0)
        if what == "error, %":
            for axis in (axes.xaxis, axes.yaxis):
                axis.set_ticks([2, 5, 10, 20, 40], labels=["2", "5", "10", "20", "40"])
                axis.set_ticks([], minor=True)
    places[0].legend(frameon=False, title="blue naive Bayes, orange tree", fontsize="small", title_fontsize="small")


# The tolerance -------------------------------------------------------------------------------------------------------


def tolerance_cells(quick: bool) -> list[Cell]:
    """Monks-2 with the tree, with the paper's tolerance and without."""
    methods = [f"{letter}{r_max}" for letter in "rz" for r_max in R_MAX["monks"]]
    made = [("z17", 1)] if quick else [(method, run) for run in range(20) for method in methods]
    return [
        Cell(searched, {"data": "monks", "learner": "tree", "method": m, "run": r}, needs=file_of("monks"))
        for m, r in made
    ]


def tolerance_claims(told: Told) -> Iterator[Claim]:
    """With no tolerance RVErS is said to find good subsets reliably."""
    for method, rows in told.each("method").items():
        if method[0] == "z":
            good = sum(error < 10 for error in rows.values("error"))
            plain = sum(error < 10 for error in told.where(method=f"r{method[1:]}").values("error"))
            yield Claim(
                f"7.4: without tolerance RVErS reliably finds subsets of low error, {_name('r' + method[1:])}",
                "reliably",
                f"{good} of {len(rows)} runs below 10 %" + (f", with a tolerance of 0.002 {plain}" if plain else ""),
                direction=good >= 0.5 * len(rows), agrees=good >= 0.9 * len(rows),
                note="169 rows: an error of one row is 0.006, so that a tolerance of 0.002 is none.",
            )  # fmt: skip


_PROTOCOL = (
    "Five inner folds, tolerance 0.002; ten outer folds or five runs on the given division, fewer where the note says "
    "so; two searches are compared on the runs that both have. Cost is the sum over evaluations of M(n), n for naive "
    "Bayes and n² for the tree. Three readings that the paper leaves open were settled by looking at which gives its "
    "evaluations and columns: RVErS compares with the least error so far (rows above the last error do not), backward "
    "elimination goes on at equal errors, and the filter ranks categories as such. What differs by a tenth "
    "(evaluations, cost), or by the printed deviation and half a point (errors), is told apart."
)
_TEXTS = {
    6: "In the text that we have of Table 6 the lines of backward elimination and of the filter run together: the "
    "filter's errors on internet ads and its row of multiple features with naive Bayes are missing; backward "
    "elimination was stopped on internet ads. The six days that the paper gives to forward selection on multiple "
    "features are, by the table, those of backward elimination. With naive Bayes the paper's RVErS ends early here, as "
    "ours with the early ending does.",
    7: "Our tree errs more on LED, with all columns too.",
    8: "Pixels and soybean's values are categories to the tree and to the filter's ranking.",
    9: "For naive Bayes, sick-euthyroid's numbers are cut into tenths here; the paper does not say what it did, and "
    "errs more with few columns. On monks-2 one row is an error of 0.006: no tolerance is left.",
}


def _text(number: int, sets: tuple[str, ...]) -> str:
    """Of a table; and which of the paper's searches are not made here."""
    dear = [
        f"{SETS[data]}, {LEARNERS[learner]}: {', '.join(map(_name, left))}"
        for data in sets for learner in LEARNERS
        if (left := [method for method in versions(data) if not runs_of(data, learner, method)])
    ]  # fmt: skip
    return _TEXTS[number] + (f" Not run, being too dear: {'; '.join(dear)}." if dear else "")


_TABLES = ((6, ("ads", "mfeat")), (7, ("dna", "led")), (8, ("optdigits", "soybean")), (9, ("euthyroid", "monks")))
EXPERIMENT = Experiment(
    "elimination",
    7,
    "Elimination, step-wise search and a filter on eight data sets",
    (
        Part(
            "orders", "The order of the searches", f"{_PAPER}, Tables 6 to 9, sections 7.4 and 8", all_cells,
            order_claims, draw_orders, _PROTOCOL, (11.0, 3.8),
        ),
        Part("table5", "Table 5: the data sets", f"{_PAPER}, Table 5", described_cells, described_claims),
        *(
            Part(
                f"table{number}", f"Table {number}: {' and '.join(SETS[data] for data in sets)}",
                f"{_PAPER}, Table {number}", partial(some_cells, sets=sets), table_claims, None,
                _text(number, sets),
            )
            for number, sets in _TABLES
        ),
        Part(
            "tolerance", "Monks-2 without tolerance", f"{_PAPER}, section 7.4", tolerance_cells, tolerance_claims
        ),
    ),
)  # fmt: skip
