"""Madelon with more and more irrelevant columns: what sequential subspaces predict, and how they rank columns."""

from __future__ import annotations

from copy import copy
from itertools import pairwise
from statistics import mean, stdev
from typing import TYPE_CHECKING, Any

import numpy as np

from experiments.experiment import Cell, Claim, Experiment, Part, Told

if TYPE_CHECKING:
    from collections.abc import Iterator

    from experiments.experiment import Row
    from fernwood import SubspaceForestClassifier

_SLIDES = "Geurts, slides of 2016"
_PRINTED = {"RF, K = max": 0.81, "RF, K = q": 0.70, "RS": 0.68, "SRS": 0.84}
_NEAR, _QUICKLY_NEAR = 0.03, 0.1
_POINTS = (30, 100, 300, 1000, 3000, 10_000, 30_000)
_WIDTHS = (480, 1480, 2980, 5480)
_FULL, _QUICK = 10_000, 300
_STYLES = {"SRS": ("C0", "-"), "RS": ("C1", "--"), "RF, K = max": ("C2", "-."), "RF, K = q": ("C3", ":")}


def course(irrelevant: int, method: str, learner: str, trees: int, seed: int) -> list[Row]:
    """Accuracy and AUPRC over the trees of one forest, on the split and from the seed of this number."""
    from benchmarks import madelon
    from fernwood import SubspaceForestClassifier

    split = madelon.split(seed, irrelevant)
    n_columns = split.x.shape[1]
    same: dict[str, Any] = {"learner": learner, "n_iter": trees, "n_jobs": 1, "random_state": seed}
    if method in ("RS", "SRS"):
        forest = SubspaceForestClassifier(q=madelon.Q, alpha=0.5 if method == "SRS" else 0.0, round_size=1, **same)
    else:
        looked_at = madelon.Q if method == "RF, K = q" else None
        forest = SubspaceForestClassifier(q=n_columns, alpha=0.0, max_features=looked_at, **same)
    rows = _over_trees(forest.fit(split.x, split.y), split)
    spanned = _spanned(split.x[:, split.relevant], np.flatnonzero(split.relevant), forest.found_)
    rows[-1] |= {"found": len(forest.found_), "wrong": int((~split.relevant[forest.found_]).sum()), "spanned": spanned}
    return rows


def _over_trees(forest: SubspaceForestClassifier, split: Any) -> list[Row]:
    """What the first trees of a forest, more and more of them, predict, and how they rank columns."""
    from sklearn.metrics import average_precision_score

    from fernwood.importance.trees import impurity_decrease

    some, votes, done = copy(forest), np.zeros((len(split.y_test), len(forest.classes_))), 0
    gained = np.zeros(len(forest.columns_) + 1)  # the last is the probe
    rows = []
    for trees in (point for point in _POINTS if point <= forest.n_iter):
        some.trees_ = forest.trees_[done:trees]
        votes += (trees - done) * some.predict_proba(split.x_test)
        gained += sum(impurity_decrease(tree, len(gained)) for tree in some.trees_)
        done = trees
        importance = np.zeros(split.x.shape[1])
        importance[forest.columns_] = gained[:-1]
        right = forest.classes_[votes.argmax(axis=1)] == split.y_test
        auprc = average_precision_score(split.relevant, importance)
        rows.append({"iterations": trees, "accuracy": float(right.mean()), "auprc": float(auprc)})
    return rows


def _spanned(x: np.ndarray, relevant: np.ndarray, found: np.ndarray) -> float:
    """How much of any relevant column those found explain linearly, at least: R²."""
    chosen = np.isin(relevant, found)
    if not chosen.any():
        return 0.0
    x = (x - x.mean(axis=0)) / x.std(axis=0)
    weights = np.linalg.lstsq(x[:, chosen], x, rcond=None)[0]
    return float(1 - ((x - x[:, chosen] @ weights) ** 2).mean(axis=0).max())


def _cell(irrelevant: int, method: str, trees: int, seed: int, learner: str = "extra") -> Cell:
    settings = {"irrelevant": irrelevant, "method": method, "learner": learner, "trees": trees, "seed": seed}
    return Cell(course, settings, needs="madelon.parquet")


def _at_end(rows: Told, method: str, what: str) -> list[float]:
    """A figure of every split after the most trees that the forest has."""
    of = rows.where(method=method)
    return of.where(iterations=max(of.values("iterations"), default=0)).values(what)


def _spread(values: list[float]) -> str:
    """Mean and standard error over splits."""
    if len(values) == 1:
        return f"{values[0]:.3f}"
    return f"{mean(values):.3f} ± {stdev(values) / len(values) ** 0.5:.3f} ({len(values)} splits)"


# Accuracy after 10 000 trees -----------------------------------------------------------------------------------------


def accuracy_cells(quick: bool) -> list[Cell]:
    """Four methods on Madelon as it is."""
    if quick:
        return [_cell(480, method, 100 if method.startswith("RF") else _QUICK, 0) for method in _PRINTED]
    return [
        _cell(480, method, _FULL, seed)
        for seed in range(10) for method in _PRINTED if seed < 5 or method != "RF, K = q"
    ]  # fmt: skip


def accuracy_claims(told: Told) -> Iterator[Claim]:
    """The four figures, and their order."""
    at_end = {method: _at_end(told, method, "accuracy") for method in _PRINTED}
    for method, printed in _PRINTED.items():
        off = mean(at_end[method]) - printed
        yield Claim(
            f"{method}: test accuracy",
            f"{printed:.2f}",
            _spread(at_end[method]),
            direction=abs(off) <= _QUICKLY_NEAR,
            agrees=abs(off) <= _NEAR,
            note=f"{off:+.3f}; within {_NEAR} counts as near.",
        )
    for other in ("RS", "RF, K = q", "RF, K = max"):
        if other == "RF, K = max" and len(at_end["SRS"]) < 5:  # the difference is small
            continue
        gains = [one - two for one, two in zip(at_end["SRS"], at_end[other], strict=False)]  # splits that both have
        yield Claim(
            f"SRS beside {other}: accuracy gained",
            f"SRS is better, by {_PRINTED['SRS'] - _PRINTED[other]:.2f}",
            f"{'+' if mean(gains) > 0 else ''}{_spread(gains)}",
            direction=mean(gains) > 0,
            note="The order counts in this row.",
            differs="" if mean(gains) > 0 else "On these splits the two score the same within the error.",
        )


# Wider and wider -----------------------------------------------------------------------------------------------------


def width_cells(quick: bool) -> list[Cell]:
    """All widths; forests on all columns of a wide table have fewer trees, since each takes long."""
    if quick:
        return [_cell(width, method, _QUICK, 0) for width in _WIDTHS[:2] for method in ("SRS", "RS")]
    cells = accuracy_cells(quick)
    for width in _WIDTHS[1:]:
        for seed in range(3):
            cells += [_cell(width, "SRS", 3 * _FULL if width == 5480 else _FULL, seed), _cell(width, "RS", _FULL, seed)]
            cells += [_cell(width, method, 1000, seed) for method in ("RF, K = max", "RF, K = q")]
    return cells


def width_claims(told: Told) -> Iterator[Claim]:
    """What the slides say of their curves."""
    gains: dict[str, dict[int, float]] = {"accuracy": {}, "auprc": {}}
    for width, rows in told.each("irrelevant").items():
        at = min(max(rows.values("iterations")), _FULL)
        for what, name in (("accuracy", "accuracy"), ("auprc", "AUPRC")):
            srs, rs = (rows.where(method=method, iterations=at).mean(what) for method in ("SRS", "RS"))
            gains[what][width] = srs - rs
            yield Claim(
                f"{width} irrelevant columns, {at} trees: {name} of SRS beside RS",
                "important improvement",
                f"{srs:.3f} beside {rs:.3f}",
                direction=srs > rs,
            )
    for what, name in (("accuracy", "accuracy"), ("auprc", "AUPRC")):
        gained = list(gains[what].values())
        yield Claim(
            f"{name} gained by SRS over RS, the table wider and wider",
            "the lower q/p, the larger",
            ", ".join(f"{gain:.3f}" for gain in gained),
            direction=gained[-1] > gained[0],
            agrees=all(later >= before for before, later in pairwise(gained)),
            note="RS ends near or at chance on the wider tables, so that there is no more to gain."
            if what == "accuracy"
            else "",
        )
    if max(told.values("iterations")) >= _FULL:
        yield _perfect(told)


def _perfect(told: Told) -> Claim:
    """Splits, of all widths, in which the 20 relevant columns are at last the first 20."""
    ends = {
        method: [value for rows in told.each("irrelevant").values() for value in _at_end(rows, method, "auprc")]
        for method in _STYLES
    }
    perfect = {method: sum(value > 1 - 1e-9 for value in values) for method, values in ends.items()}
    holds = [method for method, values in ends.items() if perfect[method] == len(values)] == ["SRS"]
    longest = told.where(irrelevant=_WIDTHS[-1], method="SRS")
    return Claim(
        "splits of all widths in which AUPRC ends at 1, and the lowest AUPRC at the end",
        "only SRS always eventually perfectly ranks the features",
        "; ".join(f"{method} {perfect[method]} of {len(of)}, {min(of):.3f}" for method, of in ends.items()),
        direction=holds,
        note="An AUPRC of 0.998 is one irrelevant column before the last of the 20, 0.992 are four.",
        differs=""
        if holds
        else "On wider tables the weakest of the 20 columns stays behind the best of thousands that fit the 1000 rows "
        f"by chance; more trees do not help: {_WIDTHS[-1]} irrelevant columns, AUPRC of SRS "
        + ", ".join(f"{longest.where(iterations=at).mean('auprc'):.4f} after {at}" for at in _POINTS[-2:])
        + ". No other method ranks perfectly as often.",
    )


def draw_widths(told: Told, figure: Any) -> None:
    """Accuracy above AUPRC, a column for each width."""
    widths = told.each("irrelevant")
    axes = figure.subplots(2, len(widths), sharex="col", sharey="row", squeeze=False)
    for column, (width, rows) in zip(axes.T, widths.items(), strict=True):
        _curves(column, rows, _STYLES, "method")
        column[0].set_title(f"{width} irrelevant columns")
    for one in axes.flat:
        one.label_outer()
    axes[1, 0].legend(frameon=False, fontsize="small")


def _curves(column: Any, rows: Told, styles: dict[str, tuple[str, str]], name: str) -> None:
    """Means over splits, accuracy on the first axes and AUPRC on the second; a curve for each style."""
    for label, (colour, dashes) in styles.items():
        points = rows.where(**{name: label}).each("iterations")
        for axes, what in zip(column, ("accuracy", "auprc"), strict=True):
            values = [of.mean(what) for of in points.values()]
            axes.plot(list(points), values, dashes, color=colour, label=label, marker=".", markersize=4)
    column[0].set(xscale="log", ylabel="test accuracy")
    column[1].set(xlabel="trees (iterations)", ylabel="AUPRC")


# Extra trees against plain trees -------------------------------------------------------------------------------------

_LEARNERS = {"extra": "ET, random thresholds", "cart": "DT, best thresholds"}


def learner_cells(quick: bool) -> list[Cell]:
    """Both kinds of trees on Madelon as it is."""
    if quick:
        return [_cell(480, "SRS", _QUICK, 0, learner) for learner in _LEARNERS]
    return [
        _cell(480, method, 3000, seed, learner)
        for seed in range(3) for method in ("SRS", "RS") for learner in _LEARNERS
    ]  # fmt: skip


def learner_claims(told: Told) -> Iterator[Claim]:
    """What plain trees find is enough to know all that is relevant."""
    plain, extra = (told.where(learner=learner) for learner in ("cart", "extra"))
    spanned, found, wrong = (_at_end(plain, "SRS", what) for what in ("spanned", "found", "wrong"))
    ranked = [mean(_at_end(rows, "SRS", "auprc")) for rows in (plain, extra)]
    yield Claim(
        "DT, SRS: what is found explains every relevant column (R², least of all columns and splits)",
        "DT should find all strongly relevant features",
        f"{min(spanned):.3f}, from {', '.join(str(a - b) for a, b in zip(found, wrong, strict=True))} relevant columns "
        "found",
        direction=min(spanned) > 0.9,
        note="The 20 relevant columns are a space of five dimensions with a little noise; whichever five are called "
        f"strongly relevant, columns that span it hold them. DT call {sum(wrong)} irrelevant columns found as well, ET "
        f"{sum(_at_end(extra, 'SRS', 'wrong'))}; AUPRC is {ranked[0]:.3f} with DT and {ranked[1]:.3f} with ET.",
    )


def draw_learners(told: Told, figure: Any) -> None:
    """Accuracy and AUPRC; colours are learners, dashes RS."""
    axes = figure.subplots(1, 2)
    for method, dashes in (("SRS", "-"), ("RS", "--")):
        rows = Told({**row, "kind": f"{method}, {_LEARNERS[row['learner']]}"} for row in told.where(method=method))
        styles = {f"{method}, {label}": (f"C{n}", dashes) for n, label in enumerate(_LEARNERS.values())}
        _curves(axes, rows, {label: style for label, style in styles.items() if label in rows.each("kind")}, "kind")
    for one in axes:
        one.set(xscale="log", xlabel="trees (iterations)")
    axes[1].legend(frameon=False, fontsize="small")


_PROTOCOL = (
    "1000 rows to learn and 500 to test, drawn anew for every split (the slides average 50); q = 50, K = q, random "
    "thresholds, no bootstrap, α = 0.5, and the probe rule of the slides. α = 1 draws the same while no more than 25 "
    "columns are found, which are never so many here."
)

EXPERIMENT = Experiment(
    "madelon",
    4,
    "Madelon among more and more irrelevant columns",
    (
        Part(
            "accuracy", "Accuracy after 10 000 trees", f"{_SLIDES}, later version, results in prediction",
            accuracy_cells, accuracy_claims, text=_PROTOCOL,
        ),
        Part(
            "width", "Accuracy and AUPRC over iterations", f"{_SLIDES}, experiments: results", width_cells,
            width_claims, draw_widths,
            "Columns are added to the 480 irrelevant ones of Madelon itself: copies of these with their rows in random "
            "order. AUPRC is of the ranking by mean decrease of impurity over all trees, against the 20 relevant "
            "columns. Three splits for every width above 480. Forests on all columns (RF) have random thresholds too, "
            "and 1000 trees on the wider tables, since theirs take the longest.",
            (12.0, 5.6),
        ),
        Part(
            "learner", "Extra trees against plain trees", f"{_SLIDES}, DT versus ET", learner_cells, learner_claims,
            draw_learners, "480 irrelevant columns, three splits. The slides show curves without numbers.",
        ),
    ),
)  # fmt: skip
