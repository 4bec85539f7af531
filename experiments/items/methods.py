"""What none of the papers has: all methods and their peers on the same tables, each run in a process of its own.

This module imports nothing large: a child inherits the high-water mark of its parent, and its peak memory is measured.
"""

from __future__ import annotations

import json
import sys
from importlib.util import find_spec
from itertools import combinations
from pathlib import Path
from statistics import fmean, median
from typing import TYPE_CHECKING, Any

from benchmarks.run import Bench
from experiments.experiment import Cell, Claim, Experiment, Part, Told

if TYPE_CHECKING:
    from collections.abc import Iterator

    from experiments.experiment import Row

METHODS = {
    "snowball": "Fernwood, the snowball",
    "subspace": "Fernwood, sequential random subspaces",
    "ferns": "Fernwood, sequential ferns",
    "boruta": "Fernwood, Boruta",
    "elimination": "Fernwood, elimination around naive Bayes",
    "borutapy": "BorutaPy",
    "forest": "scikit-learn's forest, p-values of importances",
    "one": "scikit-learn's `SelectFdr`, one column at a time",
}
TABLES = {
    "madelon": ("Madelon", "2000 × 500, 20 relevant", "madelon.parquet"),
    "like": ("Madelon-like", "1000 × 2000, 20 relevant", None),
    "iris": ("IRI2", "iris among shuffled copies, 150 × 1004, 4 relevant", None),
    "xor": ("exclusive or", "1000 × 2000, 2 relevant, and only together", None),
    "null": ("Golub, labels shuffled", "72 × 7129, none relevant", "golub_leukemia.parquet"),
}
_LONG = ("like", "xor", "null")
_SEEDS = {"borutapy": 2, "elimination": 2, "forest": 2}
"""How many seeds where it is not three; of BorutaPy one on tables where it takes minutes."""


def searched(method: str, table: str, seed: int) -> Row:
    """A search: what it took, how long it needed, and the most memory that its process held."""
    run = Bench(Path()).measure(sys.executable, "-m", "experiments.one_method", method, table, str(seed))
    told = json.loads(run.output)
    taken, relevant = set(told["taken"]), set(told["relevant"])
    found = len(taken & relevant)
    return {
        "relevant": len(relevant),
        "found": found,
        "others": len(taken - relevant),
        "f1": 2 * found / max(len(taken) + len(relevant), 1),
        "false_share": len(taken - relevant) / max(len(taken), 1),
        "search_seconds": told["seconds"],
        "process_cpu_seconds": run.cpu_seconds,
        "megabytes": run.peak_bytes / 1e6,
        "taken": " ".join(map(str, told["taken"])),
    }


def cells(quick: bool) -> list[Cell]:
    """Every method on every table; a small table and two methods where time is short."""
    if quick:
        return [
            Cell(searched, {"method": method, "table": "small-xor", "seed": 0}, alone=True)
            for method in ("snowball", "one")
        ]
    methods = [method for method in METHODS if method != "borutapy" or find_spec("boruta")]
    return [
        Cell(searched, {"method": method, "table": table, "seed": seed}, needs=needs, alone=True)
        for table, (_, _, needs) in TABLES.items()
        for method in methods
        for seed in range(1 if method == "borutapy" and table in _LONG else _SEEDS.get(method, 3))
    ]


def stability(rows: Told) -> float:
    """How much the answers of two seeds share: columns of both over columns of either, mean over pairs."""
    answers = [set(taken.split()) for taken in rows.values("taken")]
    return fmean(len(a & b) / len(a | b) if a | b else 1.0 for a, b in combinations(answers, 2))


def claims(told: Told) -> Iterator[Claim]:
    """What we say of ourselves beside the others."""
    for table, rows in told.each("table").items():
        if not rows.rows[0]["relevant"]:
            continue
        ours, others = rows.where(method="snowball").mean("f1"), rows.each("method")
        best = max(of.mean("f1") for method, of in others.items() if method in ("borutapy", "forest", "one"))
        yield Claim(
            f"{TABLES.get(table, (table,))[0]}: F1 of the snowball beside the best of the peers",
            "ours: at least as right", f"{ours:.3f} beside {best:.3f}", direction=ours >= best,
        )  # fmt: skip
        for method in ("borutapy", "forest"):
            if method in others:
                times = median(others[method].values("search_seconds")) / median(
                    rows.where(method="snowball").values("search_seconds")
                )
                yield Claim(
                    f"{TABLES[table][0]}: times faster than {METHODS[method]}", "ours: faster", f"{times:.1f}",
                    direction=times > 1,
                )  # fmt: skip
    if null := told.where(table="null").rows:
        taken = Told(null).where(method="snowball").mean("others")
        yield Claim(
            "nothing relevant: columns that the snowball takes, mean over seeds", "ours: none, nine times of ten",
            f"{taken:.1f}", direction=taken == 0,
        )  # fmt: skip


def draw(told: Told, figure: Any) -> None:
    """F1 against seconds, a panel for each table with something to find."""
    tables = {table: rows for table, rows in told.each("table").items() if rows.rows[0]["relevant"]}
    for axes, (table, rows) in zip(
        figure.subplots(1, len(tables), sharey=True, squeeze=False)[0], tables.items(), strict=True
    ):
        for number, (method, of) in enumerate(rows.each("method").items()):
            name = METHODS[method].replace("`", "")
            axes.plot(median(of.values("search_seconds")), of.mean("f1"), "o", color=f"C{number}", label=name)
        axes.set(title=TABLES.get(table, (table,))[0], xlabel="seconds", xscale="log")
    figure.axes[0].set(ylabel="F1", ylim=(-0.03, 1.03))
    figure.legend(
        *figure.axes[0].get_legend_handles_labels(),
        loc="outside lower center",
        ncols=3,
        frameon=False,
        fontsize="small",
    )


def long_table(told: Told) -> Iterator[str]:
    """Every method on every table."""
    yield "| table | method | found | others | F1 | false share | seconds | peak memory, MB | the same over seeds |"
    yield "| --- | --- | --- | --- | --- | --- | --- | --- | --- |"
    for name, rows in told.each("table").items():
        title, about, _ = TABLES[name]
        for number, (method, of) in enumerate(rows.each("method").items()):
            relevant = of.rows[0]["relevant"]
            cells = (
                f"{title}: {about}" if not number else "",
                METHODS[method],
                f"{of.mean('found'):.1f} of {relevant}" if relevant else "",
                f"{of.mean('others'):.1f}",
                f"{of.mean('f1'):.2f}" if relevant else "",
                f"{of.mean('false_share'):.2f}",
                _seconds(median(of.values("search_seconds"))),
                f"{max(of.values('megabytes')):.0f}",
                f"{stability(of):.2f}" if len(of) > 1 else "one run",
            )
            yield f"| {' | '.join(cells)} |"


def short_table(told: Told) -> Iterator[str]:
    """The table of the README: a row for every method."""
    tables = told.each("table")
    known = {name: rows for name, rows in tables.items() if rows.rows[0]["relevant"]}
    null = next(iter(tables.keys() - known.keys()), None)
    heads = [f"F1, {TABLES[name][0]}" for name in known] + ([f"columns taken, {TABLES[null][0]}"] if null else [])
    yield f"| | {' | '.join(heads)} | false share | seconds in all | peak memory, MB | the same over seeds |"
    yield "| --- " * (len(heads) + 5) + "|"
    for method, rows in told.each("method").items():
        by_table = rows.each("table")
        several = [of for of in by_table.values() if len(of) > 1]
        cells = [f"{by_table[name].mean('f1'):.2f}" for name in known]
        cells += [f"{by_table[null].mean('others'):.1f}"] if null else []
        cells += [
            f"{fmean(of.mean('false_share') for of in by_table.values()):.2f}",
            _seconds(sum(median(of.values("search_seconds")) for of in by_table.values())),
            f"{max(rows.values('megabytes')):.0f}",
            f"{fmean(map(stability, several)):.2f}" if several else "",
        ]
        yield f"| {METHODS[method]} | {' | '.join(cells)} |"


def _seconds(value: float) -> str:
    return f"{value:.1f}" if value >= 0.1 else f"{value:.2f}"


EXPERIMENT = Experiment(
    "methods",
    8,
    "All methods and their peers on the same tables",
    (
        Part(
            "tables", "Right, fast, small and stable", "Not in the papers", cells, claims, draw,
            "Means over seeds; seconds are medians of the search alone; peak memory is that of the whole process.",
            (11.0, 4.4), long_table,
        ),
    ),
)  # fmt: skip
