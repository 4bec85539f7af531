"""Errors along searches for subsets: what the inner folds say, and what rows say that no search has seen."""

from __future__ import annotations

import warnings
from functools import partial
from statistics import fmean, median
from typing import TYPE_CHECKING, Any

import numpy as np

from benchmarks.eliminated import R_MAX, file_of
from benchmarks.searches import found, outer_errors
from experiments.experiment import Cell, Claim, Experiment, Part, Told

if TYPE_CHECKING:
    from collections.abc import Iterator

    from experiments.experiment import Row

_PAPER = "Stracuzzi and Utgoff (2004)"
_LEARNERS = {"bayes": "naive Bayes", "tree": "C4.5's tree"}
_RANDOM = ("r50", "r100", "r180", "k1")
_TITLES = {
    "r50": "RVErS, r_max = 50", "r100": "RVErS, r_max = 100", "r180": "RVErS, r_max = 180",
    "k1": "one column at a time", "forward": "forward", "backward": "backward", "filter": "filter",
    "o180": "r_max = 180, rows held out",
}  # fmt: skip


def course(data: str, learner: str, method: str, run: int, steps: bool) -> list[Row]:
    """Errors in percent along a search, and in the last row what it came to; `least` is the least on unseen rows."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="The least populated class")
        of, outer = found(data, learner, method, run), outer_errors(data, learner, run)
        tests = [100 * outer(step.columns) for step in of.steps]
        chosen = 100 * outer(of.chosen)
    best = min(range(len(tests)), key=lambda place: (tests[place], -place))
    inner = next(step.error for step in of.steps if np.array_equal(step.columns, of.chosen))
    end = {
        "seed": run, "columns": len(of.chosen), "inner": 100 * inner, "test": chosen, "start_inner":
        100 * of.steps[0].error, "start": tests[0], "least": tests[best], "least_columns": len(of.steps[best].columns),
    }  # fmt: skip
    rows = [
        {"seed": run, "evals": step.evals, "columns": len(step.columns), "inner": 100 * step.error, "test": test}
        for step, test in zip(of.steps, tests, strict=True)
    ]
    return [*({"row": "step", **row} for row in rows if steps), {"row": "end", **end}]


def _cell(data: str, learner: str, method: str, run: int, *, steps: bool = False) -> Cell:
    settings = {"data": data, "learner": learner, "method": method, "run": run, "steps": steps}
    return Cell(course, settings, needs=file_of(data))


# Figures 4 and 5 -----------------------------------------------------------------------------------------------------


def figure_cells(quick: bool, learner: str) -> list[Cell]:
    """All searches once, step by step; those that draw, and those with rows held out, five times."""
    if quick:
        return [_cell("dna", learner, "r50", 0, steps=True)]
    others = ("filter", "forward", "backward") if learner == "bayes" else ("filter", "forward")
    again = (_cell("dna", learner, method, run) for run in range(1, 5) for method in (*_RANDOM, "o180"))
    return [*(_cell("dna", learner, method, 0, steps=True) for method in (*_RANDOM, "o180", *others)), *again]


def figure_claims(told: Told) -> Iterator[Claim]:
    """What section 7.4 reads from the figures."""
    ends = told.where(row="end")
    drawn = Told(row for row in ends if row["method"] in _RANDOM)
    yield _not_least("DNA", drawn)
    if ends.rows[0]["learner"] == "bayes":
        yield Claim(
            "inner folds are told too little error at the end: error on unseen rows less theirs, in points",
            "RVErS tends to overfit naive Bayes", f"{_mean_gap(drawn):.2f}, at the start {_mean_start_gap(drawn):.2f}",
            direction=_mean_gap(drawn) > 0,
        )  # fmt: skip
    held = ends.where(method="o180")
    if len(held) > 1:
        plain = ends.where(method="r180")
        lost = [fmean(row["test"] - row["least"] for row in rows) for rows in (held, plain)]
        yield Claim(
            "ours: rows held out (a quarter) choose among the selections of r_max = 180: error on unseen rows, points "
            "above the least on the way",
            "suggested, not tried", f"{held.mean('test'):.2f} %, {lost[0]:.2f} points; without them "
            f"{plain.mean('test'):.2f} %, {lost[1]:.2f} points", direction=True,
            agrees=held.mean("test") < plain.mean("test"),
            note=f"{held.mean('columns'):.0f} columns are left, without {plain.mean('columns'):.0f}. The search itself "
            "has a quarter of the rows less.",
        )  # fmt: skip


def _not_least(name: str, rows: Told) -> Claim:
    later = sum(row["least"] < row["test"] - 1e-9 for row in rows)
    lost = fmean(row["test"] - row["least"] for row in rows)
    learner = _LEARNERS[rows.rows[0]["learner"]]
    return Claim(
        f"{name}, {learner}: searches at whose end the error on unseen rows was not the least", "not always least",
        f"{later} of {len(rows)}, by {lost:.2f} points on average", direction=later > 0,
    )  # fmt: skip


def _mean_gap(rows: Told) -> float:
    return fmean(row["test"] - row["inner"] for row in rows)


def _mean_start_gap(rows: Told) -> float:
    return fmean(row["start"] - row["start_inner"] for row in rows)


def draw_figure(told: Told, figure: Any) -> None:
    """A panel for every search, by the columns of its selections."""
    curves = told.where(row="step").each("method")
    places = figure.subplots(2, (len(curves) + 1) // 2, sharey=True, squeeze=False).ravel()
    for axes, (method, rows) in zip(places, curves.items(), strict=False):
        axes.plot(rows.values("columns"), rows.values("test"), "-", color="C0", label="unseen rows")
        axes.plot(rows.values("columns"), rows.values("inner"), "--", color="C1", label="inner folds")
        axes.set(title=_TITLES[method], xlabel="columns of the selection", ylim=(3, 13))
        if method not in ("forward", "filter"):
            axes.invert_xaxis()
    for axes in places[len(curves) :]:
        axes.axis("off")
    for axes in places[:: (len(curves) + 1) // 2]:
        axes.set_ylabel("error, %")
    places[0].legend(frameon=False)


# The learners beside each other, and other data sets -----------------------------------------------------------------

_OTHERS = ("led", "optdigits", "soybean", "euthyroid")


def learner_cells(quick: bool) -> list[Cell]:
    """The runs on DNA with both learners; and both on other data sets, where they are cheap."""
    if quick:
        return [_cell("led", "bayes", "r25", run) for run in range(2)]
    dna = [
        _cell("dna", learner, method, run)
        for learner in _LEARNERS for method in _RANDOM for run in range(1, 5)
    ]  # fmt: skip
    others = [
        _cell(data, learner, method, run)
        for learner in _LEARNERS for data in _OTHERS if (data, learner) not in (("led", "tree"), ("optdigits", "tree"))
        for method in (f"r{R_MAX[data][0]}", "k1") for run in range(5)
    ]  # fmt: skip
    return [*dna, *others]


def learner_claims(told: Told) -> Iterator[Claim]:
    """Naive Bayes is fitted to the folds more than the tree is."""
    ends = told.where(row="end")
    for data, rows in ends.each("data").items():
        if data != "dna":
            yield from (_not_least(data, of) for of in rows.each("learner").values())
    bayes, tree = (ends.where(data="dna", learner=learner) for learner in _LEARNERS)
    if not len(bayes) or not len(tree):
        return
    lost = [fmean(row["test"] - row["least"] for row in rows) for rows in (bayes, tree)]
    past = [sum(row["least"] < row["test"] - 1e-9 for row in rows) for rows in (bayes, tree)]
    yield Claim(
        "DNA: searches that end past the least error on unseen rows, and points above it",
        "RVErS overfits naive Bayes, C4.5 to a lesser extent",
        f"naive Bayes {past[0]} of {len(bayes)}, {lost[0]:.2f}; tree {past[1]} of {len(tree)}, {lost[1]:.2f}",
        direction=lost[0] > lost[1] and past[0] > past[1],
    )  # fmt: skip
    yield Claim(
        "DNA: the same by how far the inner folds are off at the end, against unseen rows",
        "RVErS overfits naive Bayes, C4.5 to a lesser extent", " ".join(_optimism(rows) for rows in (bayes, tree)),
        direction=_relative(bayes) > _relative(tree),
        note="In points, and as a share of the inner error; medians over runs and searches.",
        differs="" if _relative(bayes) > _relative(tree) else "By this measure the tree is fitted to its folds as "
        "much: its error on unseen rows falls to the end, but that of the folds falls faster.",
    )  # fmt: skip
    places = [median(row["least_columns"] / row["columns"] for row in rows) for rows in (bayes, tree)]
    yield Claim(
        "DNA: columns at the least error on unseen rows over columns at the end",
        "with naive Bayes the search goes on past the least error",
        f"naive Bayes {places[0]:.1f}, tree {places[1]:.1f}",
        direction=places[0] > places[1],
    )  # fmt: skip


def _optimism(rows: Told) -> str:
    name = _LEARNERS[rows.rows[0]["learner"]]
    return f"{name}: {median(row['test'] - row['inner'] for row in rows):.2f} points, {100 * _relative(rows):.0f} %."


def _relative(rows: Told) -> float:
    return median((row["test"] - row["inner"]) / row["inner"] for row in rows)


_TEXT = (
    "2000 rows to search on, five inner folds; 1186 unseen rows. Solid lines are errors on unseen rows, dashed ones "
    "those that the search sees."
)  # fmt: skip
EXPERIMENT = Experiment(
    "overfitting",
    7,
    "Do searches fit their folds?",
    (
        Part(
            "figure4", "Figure 4: naive Bayes on DNA", f"{_PAPER}, Figure 4", partial(figure_cells, learner="bayes"),
            figure_claims, draw_figure, _TEXT, (11.0, 5.2),
        ),
        Part(
            "figure5", "Figure 5: C4.5 on DNA", f"{_PAPER}, Figure 5", partial(figure_cells, learner="tree"),
            figure_claims, draw_figure, f"{_TEXT} Not run, being too dear: backward elimination.", (11.0, 5.2),
        ),
        Part(
            "learners", "The two learners, and other data sets", f"{_PAPER}, section 7.4", learner_cells,
            learner_claims, None, "Runs of both figures but the first, and four other data sets.",
        ),
    ),
)  # fmt: skip
