"""The snowball on tables whose answer is known: what it finds, what it takes besides, and how long it needs."""

from __future__ import annotations

import json
import shutil
from statistics import median
from typing import TYPE_CHECKING, Any

from benchmarks.tally import Tally

if TYPE_CHECKING:
    from collections.abc import Callable

    from benchmarks.run import Bench

Figures = dict[str, Any]
Outcome = tuple[Figures, dict[str, bool]]

FIRST_SEED = 200  # the seeds below were looked at while the method was made


def _case(
    problem: str, n_seeds: int, about: str, bars: dict[str, Callable[[Figures], bool]]
) -> Callable[[Bench], Outcome]:
    def case(bench: Bench) -> Outcome:
        run = bench.script("snowball.py", problem, str(FIRST_SEED), str(n_seeds))
        figures = json.loads(run.output)
        return figures, {bar: bool(holds(figures)) for bar, holds in bars.items()}

    case.__doc__ = about
    return case


def _all_found(figures: Figures) -> bool:
    return bool(figures["found"] == figures["relevant"])


def _few_others(figures: Figures) -> bool:
    return bool(figures["others"] <= figures["n_seeds"])


_FOUND = {"all found": _all_found, "others ≤ 1, mean": _few_others}


def _f1(least: float, seconds: float) -> dict[str, Callable[[Figures], bool]]:
    return {
        f"F1 ≥ {least:g}": lambda figures: figures["f1"] >= least,
        f"within {seconds:g} s": lambda figures: figures["seconds"] <= seconds,
    }


def _null(most: int) -> dict[str, Callable[[Figures], bool]]:
    return {f"any selection in ≤ {most} runs": lambda figures: figures["runs_with_others"] <= most}


def snow_50000(bench: Bench) -> Outcome:
    """Madelon-like, 1000 x 50 000, class_sep 2: `fernwood select --memory 512MB` on a store, the whole process."""
    tally, whole, peak = Tally(), [], 0
    store = bench.scratch / "like.fern"
    for seed in range(FIRST_SEED, FIRST_SEED + 10):
        relevant = json.loads(bench.script("make_madelon.py", str(store), "50000", str(seed)).output)
        if not whole:
            bench.fernwood("select", str(store), "--quiet")  # compiles, where nothing is compiled yet
        run = bench.fernwood("select", str(store), "--memory", "512MB", "--jobs", "2", "--seed", str(seed), "--json")
        told = json.loads(run.output)
        taken = {int(name.removeprefix("x")) for name in told["confirmed"]}
        tally.add(taken, set(relevant), told["machine"]["seconds"])
        whole.append(run.seconds)
        peak = max(peak, run.peak_bytes)
        shutil.rmtree(store)
    figures = {**tally.figures(), "seconds_whole_process": median(whole), "peak_bytes": peak}
    return figures, {
        "F1 ≥ 0.97": figures["f1"] >= 0.97,
        "within 15 s, whole process": figures["seconds_whole_process"] <= 15,
        "peak ≤ 512 MB": peak <= 512 * 10**6,
    }


def snow_pass(bench: Bench) -> Outcome:
    """One wave over 200 000 columns of 1000 rows on disk, two classes, 8 contexts with shadows, one core."""
    store = bench.scratch / "pass.fern"
    bench.script("make_madelon.py", str(store), "200000", str(FIRST_SEED))
    figures = json.loads(bench.script("snowball_pass.py", str(store), one_core=True).output)
    return figures, {"≥ 200 000 columns a second": figures["columns_a_second"] >= 200_000}


def snow_boruta(bench: Bench) -> Outcome:
    """BorutaPy once beside ten runs of the snowball, real Madelon, two cores each."""
    figures = json.loads(bench.script("boruta_beside.py", str(FIRST_SEED), "10").output)
    return figures, {
        **{bar: holds(figures) for bar, holds in _FOUND.items()},
        "≥ 100 × faster than BorutaPy": figures["times_faster"] >= 100,
    }


_BLOCKS: dict[str, Callable[[Figures], bool]] = {"others ≤ 0.12, mean share": lambda f: f["others_share"] <= 0.12}

SNOWBALL_CASES = {
    "snow-madelon": _case(
        "madelon",
        10,
        "Real Madelon, ten seeds of the search.",
        {**_FOUND, "within 0.5 s": lambda f: f["seconds"] <= 0.5},
    ),
    "snow-2": _case("like-5500-2", 10, "Madelon-like, 1000 x 5500, class_sep 2.", _f1(0.97, 3)),
    "snow-1.5": _case("like-5500-1.5", 10, "The same, class_sep 1.5.", _f1(0.95, 3)),
    "snow-1": _case("like-5500-1", 10, "The same, class_sep 1.", _f1(0.7, 30)),
    "snow-50000": snow_50000,
    "snow-iris": _case("iris", 10, "Iris and 4996 shuffled columns.", _FOUND),
    "snow-friedman": _case("friedman", 10, "Friedman #1, 5 of 5000 columns.", _FOUND),
    "snow-strong": _case("strong", 10, "One strong column of 20 000, 200 rows.", _FOUND),
    "snow-ten": _case("ten-classes", 10, "Ten classes, each with a column of its own.", _FOUND),
    "snow-imbalance": _case("imbalance", 10, "Two classes, 95 : 5.", _FOUND),
    "snow-blocks-500": _case("blocks-500", 10, "20 of 5000 columns, noise in correlated blocks, 500 rows.", _BLOCKS),
    "snow-blocks-2000": _case("blocks-2000", 10, "The same, 2000 rows.", _BLOCKS),
    "snow-xor": _case(
        "xor",
        10,
        "An exclusive or of two columns among 2000.",
        {**_FOUND, "within 60 s": lambda figures: figures["seconds"] <= 60},
    ),
    "snow-parity": _case(
        "parity",
        10,
        "A parity of three columns among 1000, max_contexts raised.",
        {**_FOUND, "within 300 s, the longest": lambda figures: figures["most_seconds"] <= 300},
    ),
    "snow-boruta": snow_boruta,
    "snow-pass": snow_pass,
    "snow-null-gaussian": _case("null-gaussian", 50, "Noise, 100 x 5000.", _null(7)),
    "snow-null-golub": _case("null-golub", 25, "Golub's microarrays with permuted labels.", _null(3)),
    "snow-null-singh": _case("null-singh", 25, "Singh's microarrays with permuted labels.", _null(4)),
}
