"""All relevant columns by random ferns: errors over depth and scans, and beside Boruta."""

from __future__ import annotations

import time
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

import numpy as np

import fernwood
from benchmarks.tables import FERN_PROBLEMS, GOLUB, SINGH
from experiments.experiment import Cell, Claim, Experiment, Part, Told
from experiments.items.fern_noise import NOISE
from experiments.items.fern_searches import (
    DEPTHS,
    KINDS,
    PAPER,
    draw_errors,
    errors,
    followed,
    label_grid,
    last,
    listed,
    load,
    shown,
    unwarned,
    wrong,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from experiments.experiment import Row

_NAMES = {"iri": "IRI", "iri2": "IRI2", "madelon": "MAD", "rnd": "RND", "rnd2": "RND2", "rnd3": "RND3"}
_FILES = {"madelon": "madelon.parquet", "rnd": GOLUB, "rnd2": SINGH, "rnd3": SINGH}
_WIDE = ("iri", "rnd", "rnd2", "rnd3")


def _cells(measure: Callable[..., Any], settings: Iterable[Row]) -> list[Cell]:
    return [Cell(measure, each, needs=_FILES.get(each["problem"])) for each in settings]


# Figure 1: errors over depth and scans -------------------------------------------------------------------------------


def searched(problem: str, depth: int, most: int, seed: int) -> list[Row]:
    """One search, read at 10, 30 and 100 scans, or at 300 and on."""
    levels = (10, 30, 100) if most <= 100 else [scans for scans in (300, 1000, 3000) if scans <= most]
    return followed(FERN_PROBLEMS[problem](np.random.default_rng([seed, depth])), depth, levels, seed)


def _most(problem: str, depth: int) -> int:
    """Scans that a search of a table is followed to: time is for so many."""
    if problem in ("rnd2", "rnd3"):
        return 1000 if depth in (3, 7) else 100
    wide = problem in _WIDE
    if depth <= 7:
        return 1000 if wide else 3000
    if depth <= 10:
        return 300 if wide else 1000
    return 100 if wide else 300


def _runs(problem: str, depth: int, *, many: bool) -> int:
    if many:
        return 2 if depth == 7 else 1
    if depth >= 9 and problem in _WIDE:
        return 1 if depth == 12 else 2 if problem in ("rnd2", "rnd3") else 4
    return 10 if depth == 7 else 4


def depth_settings(quick: bool) -> Iterator[Row]:
    """Problems, depths, scans and seeds."""
    if quick:
        for problem, depth, most in (("iri2", 3, 100), ("iri2", 7, 300), ("madelon", 7, 100), ("rnd", 3, 100)):
            for to in sorted({100, most}):
                yield {"problem": problem, "depth": depth, "most": to, "seed": 1}
        return
    for problem in _NAMES:
        for depth in DEPTHS:
            for to in sorted({100, _most(problem, depth)}):
                for seed in range(1, _runs(problem, depth, many=to > 100) + 1):
                    yield {"problem": problem, "depth": depth, "most": to, "seed": seed}


def depth_cells(quick: bool) -> list[Cell]:
    """All of Figure 1."""
    return _cells(searched, depth_settings(quick))


def depth_claims(told: Told) -> Iterator[Claim]:
    """What the paper reads from Figure 1."""
    for problem in ("iri", "iri2"):
        missed = {
            depth: last(rows).mean("false_negatives")
            for depth, rows in told.where(problem=problem).each("depth").items()
            if max(rows.values("scans")) > 100
        }
        if missed:
            yield Claim(
                f"{_NAMES[problem]}: false negatives at the most scans", "converge to 0", listed(missed),
                direction=not any(missed.values()),
                note="" if 12 in missed or len(missed) < 3 else "D = 12 was followed to 100 scans only.",
            )  # fmt: skip
    missed = {
        depth: last(rows).mean("false_negatives") for depth, rows in told.where(problem="madelon").each("depth").items()
    }
    if missed:
        yield Claim(
            "MAD: false negatives at the most scans", "do not converge to 0", listed(missed),
            direction=min(missed.values()) > 0,
        )  # fmt: skip
    yield from _false_positives(told)
    if set(told.values("depth")) == set(DEPTHS):
        yield from _depths(told)
    yield from _permuted(told)


def _false_positives(told: Told) -> Iterator[Claim]:
    ends = [last(rows) for of in told.each("problem").values() for rows in of.each("depth").values()]
    rows = Told(row for end in ends for row in end)
    taken = {_NAMES[problem]: of.mean("false_positives") for problem, of in rows.each("problem").items()}
    yield Claim(
        "false positives at the most scans", "of an order of several", listed(taken, ""),
        direction=max(taken.values()) < 10, note="Means over depths and runs.",
    )  # fmt: skip
    rate = sum(rows.values("false_positives")) / sum(rows.values("irrelevant"))
    yield Claim(
        "share of irrelevant columns that is taken", "of an order of 1e-4", f"{rate:.1e}",
        direction=rate < 1e-3, agrees=10**-4.5 <= rate <= 10**-3.5,
        note="Over all problems. A column that says nothing is like a shadow, so that one is above the highest shadow "
        "on average (none in half of the runs, one in a quarter, …), however wide the table is.",
    )  # fmt: skip


def _depths(told: Told) -> Iterator[Claim]:
    """Shallow and deep."""
    iris = Told(row for row in told if row["problem"] in ("iri", "iri2"))
    for scans in (10, 30):
        missed = {depth: rows.mean("false_negatives") for depth, rows in iris.where(scans=scans).each("depth").items()}
        yield Claim(
            f"IRI and IRI2: relevant columns missed after {scans} scans, of 4", "deeper ferns need more scans",
            listed(missed), direction=missed[12] > missed[1] and missed[12] == max(missed.values()),
        )  # fmt: skip
    others = Told(row for row in told if row["problem"] != "madelon")
    ends = {depth: wrong(others.where(scans=100, depth=depth)) for depth in DEPTHS}
    yield Claim(
        "errors after 100 scans, all but MAD", "robust across values of D", listed(ends),
        direction=max(ends.values()) < 10,
    )  # fmt: skip
    mean = {
        depth: sum(wrong(of) for of in told.where(depth=depth, scans=100).each("problem").values()) for depth in DEPTHS
    }
    yield Claim(
        "errors after 100 scans, sum over the problems", "D = 7 is most effective", listed(mean),
        direction=min(mean, key=mean.__getitem__) in (3, 5, 7, 9),
        agrees=min(mean, key=mean.__getitem__) == 7,
    )  # fmt: skip


def _permuted(told: Told) -> Iterator[Claim]:
    """The two ways to make Singh's table say nothing."""
    values, labels = (told.where(problem=problem, scans=100).values("false_positives") for problem in ("rnd2", "rnd3"))
    if values and labels:
        text = " beside ".join(
            f"{np.mean(each):.2f} (any in {np.mean(np.array(each) > 0):.0%} of {len(each)} runs, at most {max(each)})"
            for each in (labels, values)
        )
        yield Claim(
            "RND3 beside RND2: false positives after 100 scans, all depths", "RND3 substantially smaller", text,
            direction=float(np.mean(labels)) < float(np.mean(values)),
            note="RND3 permutes the decision and RND2 every column, as the paper defines them; where it compares their "
            "errors, its words for the two are the other way round.",
        )  # fmt: skip


def draw_depths(told: Told, figure: Any) -> None:
    """Rows are problems and columns depths, as in the paper."""
    problems = list(told.each("problem"))
    depths = sorted(told.each("depth"))
    axes = figure.subplots(len(problems), len(depths), sharex=True, sharey="row", squeeze=False)
    for line, problem in zip(axes, problems, strict=True):
        for panel, depth in zip(line, depths, strict=True):
            draw_errors(panel, told.where(problem=problem, depth=depth), "scans")
            panel.set(xscale="log")
        line[0].set_ylabel(f"{_NAMES[problem]}\nerrors")
    label_grid(axes, [f"D = {depth}" for depth in depths], "scans")


# Figure 2: time, beside Boruta ---------------------------------------------------------------------------------------

_BORUTAS = {"ours": "Boruta, ours", "peer": "BorutaPy"}


def by_boruta(problem: str, boruta: str, n_trees: int, seed: int) -> Row:
    """Boruta as published: its level, Bonferroni's correction and a hundred iterations; trees of depth 5."""
    x, y, relevant, _ = FERN_PROBLEMS[problem](np.random.default_rng([seed, 7]))
    load()
    how: Row = {"n_estimators": n_trees, "two_step": False, "alpha": 0.01, "max_iter": 100, "random_state": seed}
    started = time.process_time()
    if boruta == "ours":
        selector = fernwood.BorutaSelector(**how, n_jobs=1)
    else:
        from boruta import BorutaPy
        from sklearn.ensemble import RandomForestClassifier

        selector = BorutaPy(RandomForestClassifier(n_jobs=1, max_depth=5), **how)
    with unwarned():
        selector.fit(x, y)
    found = np.flatnonzero(selector.support_)
    return {**errors(found, relevant, x.shape[1]), "cpu_seconds": time.process_time() - started}


def time_cells(quick: bool) -> list[Cell]:
    """The searches of Figure 1 with D = 7, which are not made again, and Boruta."""
    ferns = [each for each in depth_settings(quick) if each["depth"] == 7]
    if quick:
        ferns = [each for each in ferns if each["problem"] == "madelon"]
        boruta = [{"problem": "madelon", "boruta": "ours", "n_trees": 30, "seed": 1}]
        return _cells(searched, ferns) + _cells(by_boruta, boruta)
    settings = [
        {"problem": problem, "boruta": which, "n_trees": n_trees, "seed": seed}
        for which, n_trees, runs, problems in (
            ("ours", 500, 3, _NAMES), ("ours", 5000, 1, ("iri2", "rnd")), ("peer", 500, 1, _NAMES)
        )
        for problem in problems for seed in range(1, runs + 1)
        if which == "ours" or find_spec("boruta")
    ]  # fmt: skip
    return _cells(searched, ferns) + _cells(by_boruta, settings)


def time_claims(told: Told) -> Iterator[Claim]:
    """What the paper reads from Figure 2; ferns with 100 scans and more have converged."""
    ferns = Told(row for row in told if row.get("scans", 0) >= 100)
    if 500 in told.values("n_trees"):
        longest = max(ferns.values("cpu_seconds"))
        yield Claim("ferns: the longest search", "within 10 minutes", f"{longest:.0f} s", direction=longest <= 600)
    for which, rows in told.each("boruta").items():
        yield from _compared(_BORUTAS[which], rows, ferns)
        if 500 in rows.values("n_trees"):
            yield _ratios(_BORUTAS[which], rows.where(n_trees=500), ferns)


def _compared(name: str, rows: Told, ferns: Told) -> Iterator[Claim]:
    """Errors of Boruta beside those of ferns."""
    pairs = {_NAMES[problem]: (of, ferns.where(problem=problem)) for problem, of in rows.each("problem").items()}
    both = {name: (wrong(boruta), wrong(fern)) for name, (boruta, fern) in pairs.items()}
    better = [name for name, (boruta, fern) in both.items() if boruta < fern]
    yield Claim(
        f"{name}: where it makes fewer errors than ferns", "MAD alone", ", ".join(better) or "nowhere",
        direction=better == ["MAD"], note=f"Errors of Boruta beside those of ferns: {_pairs(both)}.",
    )  # fmt: skip
    if len(pairs) > 1:
        taken = {name: tuple(of.mean("false_positives") for of in pair) for name, pair in pairs.items()}
        more = [name for name, (boruta, fern) in taken.items() if boruta > fern]
        yield Claim(
            f"{name}: false positives beside those of ferns", "a few times more, for all sets", _pairs(taken),
            direction=2 * len(more) > len(taken), agrees=len(more) == len(taken),
            note="" if len(more) == len(taken) else f"More on {', '.join(more)}.",
        )  # fmt: skip


def _pairs(values: dict[str, Any]) -> str:
    return ", ".join(f"{name} {shown(one)} beside {shown(other)}" for name, (one, other) in values.items())


def _ratios(name: str, rows: Told, ferns: Told) -> Claim:
    """Time of Boruta over that of ferns."""
    ratios = {
        scans: {
            _NAMES[problem]: of.mean("cpu_seconds") / ferns.where(problem=problem, scans=scans).mean("cpu_seconds")
            for problem, of in rows.each("problem").items()
        }
        for scans in (100, 1000)
    }
    seconds = [of.mean("cpu_seconds") for of in rows.each("problem").values()]
    return Claim(
        f"{name}, 500 trees: its time over that of ferns with 100 scans", "6 and more: an hour beside 10 minutes",
        listed(ratios[100], ""), direction=min(ratios[100].values()) > 1, agrees=min(ratios[100].values()) >= 6,
        note=f"Boruta took {min(seconds):.0f} to {max(seconds):.0f} s. Over ferns with 1000 scans: "
        f"{listed(ratios[1000], '')}. The paper's took 9.4 hours on average, over 500, 5000 and 50 000 trees."
        + (" Our own forests leave ferns less to gain." if min(ratios[100].values()) < 6 else ""),
    )  # fmt: skip


def draw_times(told: Told, figure: Any) -> None:
    """Ferns as lines over scans, Boruta as points."""
    problems = list(told.each("problem"))
    axes = figure.subplots(2, -(-len(problems) // 2), squeeze=False)
    for panel, problem in zip(axes.ravel(), problems, strict=False):
        rows = told.where(problem=problem)
        for kind, label, colour in KINDS:
            levels = [of for scans, of in sorted(rows.each("scans").items())]
            panel.plot(
                [of.mean("cpu_seconds") for of in levels],
                [of.mean(kind) for of in levels],
                ".-",
                color=colour,
                label=f"ferns, {label}",
            )
            for (which, name), marker in zip(_BORUTAS.items(), "os", strict=True):
                points = list(rows.where(boruta=which).each("n_trees").values())
                panel.plot(
                    [of.mean("cpu_seconds") for of in points], [of.mean(kind) for of in points], marker,
                    color=colour, markerfacecolor="none", label=f"{name}, {label}",
                )  # fmt: skip
        panel.set(title=_NAMES[problem], xscale="log", xlabel="processor seconds")
    for panel in axes.ravel()[len(problems) :]:
        panel.set_axis_off()
    for line in axes:
        line[0].set_ylabel("errors")
    axes[0][0].legend(frameon=False, fontsize="x-small")


EXPERIMENT = Experiment(
    "ferns",
    6,
    "Random ferns against implicit shadows",
    (
        Part(
            "figure1", "Figure 1: errors over depth and scans", f"{PAPER}, Figure 1", depth_cells, depth_claims,
            draw_depths,
            "Every run makes its table anew, by permutations of its own. To spare time, searches of wide tables end at "
            "1000 scans, and with deep ferns at 300 or 100; runs are 10 with D = 7 up to 100 scans, and 1 to 4 "
            "elsewhere. The paper made 10, with up to 5000 scans.",
            (14.0, 10.0),
        ),
        Part(
            "figure2", "Figure 2: errors against time, beside Boruta", f"{PAPER}, Figure 2", time_cells, time_claims,
            draw_times,
            "D = 7. Times are those of one processor. Boruta has trees of depth 5 and importance by impurity; the "
            "paper's grew to the end and permuted columns. Ours has three runs with 500 trees, BorutaPy one.",
            (11.0, 6.0),
        ),
        *NOISE,
    ),
)  # fmt: skip
