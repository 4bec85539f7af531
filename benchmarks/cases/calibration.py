"""Whether the error rate holds: p on noise, searches of noise, and the share of false columns in the end."""

from __future__ import annotations

import json
import math
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

from benchmarks.cases.snowball import FIRST_SEED

if TYPE_CHECKING:
    from benchmarks.run import Bench

_METHODS = ("boruta", "mirror", "ferns", "snowball", "subspace")
_SEARCHED = (
    "GROUPS:several_9_whole:geometric_9_whole:mixed_9_within",
    "HARD:sites",
    "WEIGHTS:spread_10",
)
Outcome = tuple[dict[str, Any], dict[str, bool]]


def calibration_noise(bench: Bench) -> Outcome:
    """Nine sorts of noise: p without context against what it should be, and searches that confirm anything."""
    figures = json.loads(bench.script("calibrate_noise.py", str(FIRST_SEED), "50", "5").output)
    bars = {
        f"p ≤ {level:g} not too often, within three standard errors": all(
            figures[f"{name}_{word}"] <= 1 + 3 * figures[f"{name}_{word}_error"] for name in _prefixes(figures, word)
        )
        for word, level in (("1e2", 0.01), ("1e3", 0.001))
    }
    n = len(_prefixes(figures, "1e2")) * figures["n_searches"]
    for percent in (5, 10, 20):
        rate = percent / 100
        most = math.floor(n * rate + 2 * math.sqrt(n * rate * (1 - rate)))
        bars[f"any selection in ≤ {most} of {n} at fdr {rate:g}"] = figures[f"any_{percent}"] <= most
    return figures, bars


def calibration_answers(bench: Bench) -> Outcome:
    """The share of false columns at four rates and with five stopping rules, tables with a known answer."""
    figures = json.loads(bench.script("calibrate_answers.py", str(FIRST_SEED), "10").output)
    rates = {"5": 0.05, "10": 0.1, "20": 0.2, "50": 0.5, "idle_1": 0.1, "idle_4": 0.1, "waves_4": 0.1, "waves_24": 0.1}
    bars = {
        f"false share ≤ {rate:g}, within two standard errors ({setting})": all(
            figures[f"{name}_{setting}_false"] <= rate + 2 * figures[f"{name}_{setting}_false_error"]
            for name in _prefixes(figures, f"{setting}_false")
        )
        for setting, rate in rates.items()
    }
    return figures, bars


_COVARIATES = ("two_500", "three_300", "three_1000", "five_500", "ten_500", "heavy", "beside_1000")
_MORE_COVARIATES = (
    *("one_300", "three_500", "sine_1000", "five_1000", "ten_1000", "three_5000", "discrete", "strong", "rare"),
    *("skewed", "spreads", "beside_300", "beside_five"),
)


def calibration_covariates(bench: Bench) -> Outcome:
    """Columns and target that depend on covariates: p, searches of noise, and columns that tell something beside."""
    return _with_covariates(bench, _COVARIATES)


def calibration_covariates_more(bench: Bench) -> Outcome:
    """As `calibration-covariates`, for the other designs, which take half an hour."""
    return _with_covariates(bench, _MORE_COVARIATES)


def _with_covariates(bench: Bench, names: tuple[str, ...]) -> Outcome:
    figures = json.loads(bench.script("calibrate_covariates.py", str(FIRST_SEED), "60", *names).output)
    n, bars = figures["n_tables"], {}
    for name in names:
        for word in ("alone", "beside"):
            for level in ("1e2", "1e3"):
                ratio, error = figures[f"{name}_{word}_{level}"], figures[f"{name}_{word}_{level}_error"]
                bars[f"{name}: p {word} at {level} ≤ 1.3 times, within two standard errors"] = ratio <= 1.3 + 2 * error
        figures[f"{name}_upper"] = _upper_end(figures[f"{name}_any"], n)
        if f"{name}_false" in figures:
            bars[f"{name}: false share ≤ 0.1"] = figures[f"{name}_false"] <= 0.1
        else:
            bars[f"{name}: any selection in ≤ 10 %, interval ≤ 20 %"] = (
                figures[f"{name}_any"] <= 0.1 * n and figures[f"{name}_upper"] <= 0.2
            )
    return figures, bars


def calibration_ties(bench: Bench) -> Outcome:
    """Noise of rare columns, and of rare and common ones: how often each method that tests confirms anything."""
    figures: dict[str, Any] = {}
    bars = {}

    def counted(method: str) -> dict[str, Any]:
        return dict(json.loads(bench.script("calibrate_ties.py", method, str(FIRST_SEED), "200", "5").output))

    with ThreadPoolExecutor(2) as pool:  # nothing is timed
        told = dict(zip(_METHODS, pool.map(counted, _METHODS), strict=True))
    for method, found in told.items():
        for name, n in (
            ("rare", found["n_seeds"]),
            ("mixed", found["n_seeds"]),
            ("grid", found["n_cells"] * found["n_grid"]),
        ):
            n_any = found[f"{name}_any"]
            figures |= {f"{method}_{name}_any": n_any, f"{method}_{name}_n": n, f"{method}_{name}_share": n_any / n}
            # Clopper and Pearson's 95 % interval, from above.
            figures[f"{method}_{name}_upper"] = _upper_end(n_any, n)
            bars[f"{method} confirms anything in ≤ 10 % of {name}, interval ≤ 15 %"] = (
                n_any <= 0.1 * n and figures[f"{method}_{name}_upper"] <= 0.15
            )
        figures[f"{method}_worst_share"] = found["worst_any"] / found["n_grid"]
    return figures, bars


def calibration_designs(bench: Bench) -> Outcome:
    """Study designs in which nothing is relevant, and some that were made to break it: p without context."""
    figures: dict[str, Any] = {}
    for some, n_looks, n_columns in (("GROUPS", 6, 4000), ("HARD", 6, 4000), ("WEIGHTS", 60, 400)):
        arguments = (some, str(FIRST_SEED), str(n_looks), str(n_columns), "0")
        figures |= json.loads(bench.script("calibrate_designs.py", *arguments).output)
    bars = {}
    for word, level in (("1e2", 0.01), ("1e3", 0.001), ("1e4", 1e-4)):
        for name in _prefixes(figures, word):
            share, error = figures[f"{name}_{word}"], figures[f"{name}_{word}_error"]
            bars[f"{name}: p ≤ {level:g} at most 1.3 times too often, within two standard errors"] = (
                share <= 1.3 + 2 * error
            )
    return figures, bars


def calibration_design_searches(bench: Bench) -> Outcome:
    """Whole searches of study designs in which nothing is relevant: how many confirm anything."""
    figures: dict[str, Any] = {}
    for some in _SEARCHED:
        figures |= json.loads(bench.script("calibrate_designs.py", some, str(FIRST_SEED), "0", "0", "60").output)
    bars = {}
    for name in _prefixes(figures, "any"):
        n_any = figures[f"{name}_any"]
        figures[f"{name}_upper"] = _upper_end(n_any, 60)
        bars[f"{name}: anything confirmed in ≤ 6 of 60, interval ≤ 20 %"] = (
            n_any <= 6 and figures[f"{name}_upper"] <= 0.2
        )
    return figures, bars


def calibration_design_power(bench: Bench) -> Outcome:
    """Ten relevant columns in groups of unequal sizes, beside what a test finds that is told the covariance."""
    figures = json.loads(bench.script("found_in_groups.py", str(FIRST_SEED), "8").output)
    bars = {}
    for name in _prefixes(figures, "share"):
        bars[f"{name}: found ≥ 0.9 of what the test finds that is told the covariance"] = (
            figures[f"{name}_share"] >= 0.9
        )
        bars[f"{name}: false share ≤ 0.1"] = figures[f"{name}_snowball_false"] <= 0.1
    return figures, bars


def _upper_end(n_any: int, n: int) -> float:
    """The upper end of a 95 % interval for a share: where so few or fewer come with a chance of 2.5 %, by bisection."""
    low, high = n_any / n, 1.0
    for _ in range(40):
        middle = (low + high) / 2
        chance = sum(math.comb(n, k) * middle**k * (1 - middle) ** (n - k) for k in range(n_any + 1))
        low, high = (middle, high) if chance > 0.025 else (low, middle)
    return high


def _prefixes(figures: dict[str, Any], figure: str) -> list[str]:
    """The tables that have a figure."""
    return [key.removesuffix(f"_{figure}") for key in figures if key.endswith(f"_{figure}")]
