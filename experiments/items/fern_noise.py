"""Random ferns on Madelon among more and more noise: the paper's Figure 3, and the gap that it leaves open."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

import numpy as np

import fernwood
from benchmarks.tables import MADELON, madelon_among
from experiments.experiment import Cell, Claim, Part, Told
from experiments.items.fern_searches import (
    DEPTHS,
    KINDS,
    PAPER,
    draw_errors,
    errors,
    followed,
    label_grid,
    last,
    load,
    shown,
    wrong,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from experiments.experiment import Row

# Figure 3: Madelon among more and more noise -------------------------------------------------------------------------

_FILE = "madelon.parquet"
_LEVELS = (50, 100, 200, 500, 1000, 2000)
_ENOUGH = 20  # noise columns, as many as relevant ones


def trimmed(w: int, depth: int, most: int, seed: int) -> list[Row]:
    """The paper's search of Madelon's relevant columns among w others; those missed by their numbers, from 1 on."""
    table = madelon_among(w)(np.random.default_rng([seed, w]))
    levels = [[s for s in _LEVELS if s <= min(most, 100)], [s for s in _LEVELS if 100 < s <= most]]
    rows = [row for some in levels if some for row in followed(table, depth, some, seed)]
    return [{**row, "missed": " ".join(str(MADELON[int(place)]) for place in row["missed"].split())} for row in rows]


def noise_cells(quick: bool) -> list[Cell]:
    """Widths, depths and seeds."""
    if quick:
        settings = [{"w": w, "depth": depth, "most": 500, "seed": 1} for w in (1, 20) for depth in (1, 7)]
    else:
        settings = [
            {"w": w, "depth": depth, "most": 2000, "seed": seed}
            for w in (1, 5, 10, 20, 50, 100, 150, 250, 450) for depth in DEPTHS
            for seed in range(1, 4 if depth == 7 else 2)
        ]  # fmt: skip
    return [Cell(trimmed, each, needs=_FILE) for each in settings]


def noise_claims(told: Told) -> Iterator[Claim]:
    """What the paper reads from Figure 3."""
    ends = last(told)
    scans, full = ends.rows[0]["scans"], len(told.each("w")) > 5
    for depth, rows in ends.each("depth").items():
        solved = [w for w, of in rows.each("w").items() if np.median(of.values("false_negatives")) == 0]
        about = f"D = {depth}, {scans} scans: widths w at which no relevant column is missed, in most runs"
        ours = "w = " + ", ".join(map(str, solved)) if solved else "none"
        if depth == 1:
            yield Claim(about, "none", ours, direction=not solved)
        elif depth == 7:
            near = 50 <= max(solved, default=0) <= 250
            yield Claim(about, "up to around 100", ours, direction=bool(solved), agrees=near or not full)
        else:
            yield Claim(about, "solvable", ours, direction=bool(solved))
    yield from _missed(told, ends)
    if full:
        yield _perfect(ends)
        yield from _rare(told)


def _perfect(ends: Told) -> Claim:
    """Widths without an error of either kind."""
    solved = {
        depth: [w for w, of in rows.each("w").items() if np.mean([wrong(Told([row])) == 0 for row in of]) > 0.5]
        for depth, rows in ends.each("depth").items()
    }
    others = "; ".join(f"D = {depth}: {', '.join(map(str, each)) or 'none'}" for depth, each in solved.items())
    return Claim(
        f"D = 7, {ends.rows[0]['scans']} scans: widths w with no error at all, in most runs",
        "perfectly, up to around 100", ", ".join(map(str, solved[7])) or "none",
        direction=bool(solved[7]), agrees=50 <= max(solved[7], default=0) <= 250,
        note=f"False positives, of which the next row tells, are what is in the way. By depth: {others}.",
    )  # fmt: skip


def _missed(told: Told, ends: Told) -> Iterator[Claim]:
    """Which columns are missed, and how many."""
    runs = {row["w"]: set(row["missed"].split()) for row in ends.where(depth=1)}
    wide = [missed for w, missed in runs.items() if w >= _ENOUGH]
    same = set.intersection(*wide)
    few = sorted({len(missed) for w, missed in runs.items() if w < _ENOUGH})
    yield Claim(
        f"D = 1: columns missed, w of {_ENOUGH} and more", "always the same", f"{' '.join(sorted(same, key=int))}",
        direction=bool(same) and all(missed == same for missed in wide),
        note="Numbers are those of Madelon's columns, from 1 on. Fewer noise columns have fewer shadows to be above: "
        f"{' or '.join(map(str, few))} columns are missed then.",
    )  # fmt: skip
    deep = Told(row for row in told if row["depth"] > 1 and row["scans"] >= 500)
    most = max(deep.values("false_negatives"))
    yield Claim(
        "D of 3 and more, 500 scans and more: most columns missed in a run", "never more than 7", str(most),
        direction=most <= 7,
    )  # fmt: skip
    missed = [column for row in deep for column in row["missed"].split()]
    share = sum(column in same for column in missed) / max(len(missed), 1)
    yield Claim(
        "… which are columns that D = 1 always misses", "the same",
        f"{share:.0%} of {len(missed)}" if missed else "none is missed", direction=share > 0.9 or not missed,
    )  # fmt: skip


def _rare(told: Told) -> Iterator[Claim]:
    """False positives over scans, depth and width."""
    by_scans = {scans: rows.mean("false_positives") for scans, rows in told.each("scans").items()}
    vanish = by_scans[2000] < 0.5 * by_scans[50]
    expected = np.mean([w / (w + len(MADELON) + 1) for w in told.values("w")])
    yield Claim(
        "false positives by scans, mean over widths and depths", "practically eliminated by more scans",
        ", ".join(f"{scans}: {value:.2f}" for scans, value in by_scans.items()), direction=vanish,
        differs="" if vanish else "A shadow has one permutation for all ferns, formula (7), so that more scans make "
        "sharper what chance gave to columns and shadows, and do not take it away. As the two are alike, w / (w + 21) "
        f"columns of noise are above the highest of w + 20 shadows on average: {expected:.2f} for these widths.",
    )  # fmt: skip
    for name, text, below, above in (("depth", "D", 3, 10), ("w", "noise", 20, 150)):
        few, many = (
            float(
                np.mean([row["false_positives"] for row in told if (row[name] <= below if low else row[name] >= above)])
            )
            for low in (True, False)
        )
        yield Claim(
            f"false positives, {name} of {below} and less, and of {above} and more", f"rising with {text}",
            f"{few:.2f} and {many:.2f}", direction=few < many,
            differs="" if few < many else "By the same symmetry it does not matter how deep ferns are.",
        )  # fmt: skip


def draw_noise(told: Told, figure: Any) -> None:
    """Rows are scans and columns depths, as in the paper."""
    levels, depths = list(told.each("scans")), sorted(told.each("depth"))
    axes = figure.subplots(len(levels), len(depths), sharex=True, sharey=True, squeeze=False)
    for line, scans in zip(axes, levels, strict=True):
        for panel, depth in zip(line, depths, strict=True):
            draw_errors(panel, told.where(scans=scans, depth=depth), "w")
        line[0].set_ylabel(f"{scans} scans\nerrors")
    label_grid(axes, [f"D = {depth}" for depth in depths], "irrelevant columns, w")


# The gap that the paper leaves open ----------------------------------------------------------------------------------

_WAYS = {
    "blind": "blind ferns, formula (8): the paper",
    "sequential": "sequential ferns, formula (8)",
    "default": "sequential ferns, our rule",
    "snowball": "snowball",
}


def closed(w: int, way: str, scans: int, seed: int) -> Row:
    """A search of Madelon's relevant columns among w others with what users have."""
    x, y, relevant, _ = madelon_among(w)(np.random.default_rng([seed, w]))
    load()
    how: Row = {"n_jobs": 1, "random_state": seed}
    if way == "snowball":
        selector: Any = fernwood.SnowballSelector(**how)
    else:
        rule: Any = "shadow" if way == "default" else "max-shadow"
        selector = fernwood.FernSelector(scans=scans, rule=rule, sequential=way != "blind", **how)
    started = time.process_time()
    selector.fit(x, y)
    found = np.flatnonzero(selector.support_)
    return {**errors(found, relevant, x.shape[1]), "cpu_seconds": time.process_time() - started}


def gap_cells(quick: bool) -> list[Cell]:
    """Widths up to all of Madelon."""
    ways = [way for way in _WAYS if not quick or way in ("blind", "default")]
    widths, scans, runs = ((150,), 200, 1) if quick else ((50, 100, 250, 480), 1000, 2)
    return [
        Cell(closed, {"w": w, "way": way, "scans": scans, "seed": seed}, needs=_FILE)
        for w in widths for way in ways for seed in range(1, runs + 1)
    ]  # fmt: skip


def gap_claims(told: Told) -> Iterator[Claim]:
    """All of Madelon, by every way."""
    widest = max(told.values("w"))
    rows = told.where(w=widest)
    blind = rows.where(way="blind").mean("false_negatives")
    for way, of in rows.each("way").items():
        missed, taken = of.mean("false_negatives"), of.mean("false_positives")
        yield Claim(
            f"MAD among {widest} irrelevant columns, {_WAYS[way]}: relevant columns missed, of 20",
            "several" if way == "blind" else "open: biased trunks or a forward search are suggested",
            f"{shown(missed)}, and {shown(taken)} others taken, {of.mean('cpu_seconds'):.1f} s of a processor",
            direction=missed > 0 if way == "blind" else missed < min(blind, 1),
        )  # fmt: skip


def draw_gap(told: Told, figure: Any) -> None:
    """Errors over widths."""
    for axes, (kind, label, _) in zip(figure.subplots(1, 2, sharex=True), KINDS[::-1], strict=True):
        for (way, rows), style in zip(told.each("way").items(), ("o-", "s--", "^:", "x-."), strict=False):
            widths = rows.each("w")
            means = [of.mean(kind) for of in widths.values()]
            axes.plot(list(widths), means, style, label=_WAYS[way], markerfacecolor="none")
        axes.set(xlabel="irrelevant columns, w", ylabel=label, ylim=(-0.2, None))
    figure.axes[0].legend(frameon=False, fontsize="small")


NOISE = (
        Part(
            "figure3", "Figure 3: Madelon among w irrelevant columns", f"{PAPER}, Figure 3", noise_cells,
            noise_claims, draw_noise, "Three runs with D = 7, one elsewhere; the paper made 10.", (14.0, 10.0),
        ),
        Part(
            "gap", "The gap that the paper leaves open: all of Madelon", f"{PAPER}, conclusions", gap_cells,
            gap_claims, draw_gap, "D = 7, 1000 scans; two runs each.",
        ),
)  # fmt: skip
