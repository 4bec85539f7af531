"""One way of choosing columns on one table, in a process of its own.

    python -m experiments.one_method METHOD TABLE SEED

All have two threads and search the same table; the seed is the method's. Prints JSON: the columns taken, those that are
relevant, and the seconds of the search alone. Ours are searched once before on a scrap of the table, so that compiled
code is loaded, as the libraries of the others are.
"""

from __future__ import annotations

import json
import sys
import time
import warnings
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.naive_bayes import GaussianNB

from benchmarks import tables
from fernwood import (
    BorutaSelector,
    EliminationSelector,
    FernSelector,
    SnowballSelector,
    SubspaceSelector,
)
from fernwood.errors import FernwoodWarning

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    Support = Callable[[NDArray[Any], NDArray[Any], int], NDArray[np.bool_]]

TABLES = {
    "madelon": tables.madelon,
    "like": tables.madelon_like(2000, 1.5),
    "iris": tables.iris_1000,
    "xor": tables.exclusive_or,
    "null": tables.permuted("golub_leukemia.parquet"),
    "small-xor": tables.exclusive_or_of(400, 60),
}


def _ours(make: Callable[..., Any], **settings: Any) -> Support:
    """One of our selectors."""

    def support(x: NDArray[Any], y: NDArray[Any], seed: int) -> NDArray[np.bool_]:
        found: NDArray[np.bool_] = make(random_state=seed, n_jobs=2, **settings).fit(x, y).support_
        return found

    return support


def borutapy(x: NDArray[Any], y: NDArray[Any], seed: int) -> NDArray[np.bool_]:
    """BorutaPy as its documentation has it: a balanced forest of depth 5, at most 100 rounds."""
    from boruta import BorutaPy
    from sklearn.ensemble import RandomForestClassifier

    forest = RandomForestClassifier(n_jobs=2, class_weight="balanced", max_depth=5)
    return BorutaPy(forest, n_estimators="auto", max_iter=100, random_state=seed).fit(x, y).support_


def forest_pvalues(x: NDArray[Any], y: NDArray[Any], seed: int) -> NDArray[np.bool_]:
    """p-values of a forest's importances, by thirty forests on permuted targets, at a false discovery rate of 0.1.

    The importances of a column in those forests make a gamma distribution (Altmann et al., 2010); Benjamini and
    Hochberg's rule decides.
    """
    from scipy.stats import false_discovery_control, gamma
    from sklearn.ensemble import RandomForestClassifier

    rng = np.random.default_rng(seed)

    def importances(target: NDArray[Any]) -> NDArray[np.float64]:
        forest = RandomForestClassifier(200, n_jobs=2, random_state=int(rng.integers(2**31)))
        found: NDArray[np.float64] = forest.fit(x, target).feature_importances_
        return found

    null = np.array([importances(rng.permutation(y)) for _ in range(30)])
    mean, variance = np.maximum(null.mean(axis=0), 1e-12), np.maximum(null.var(axis=0, ddof=1), 1e-24)
    p = gamma.sf(importances(y), mean**2 / variance, scale=variance / mean)
    return false_discovery_control(p) <= 0.1


def one_at_a_time(x: NDArray[Any], y: NDArray[Any], _: int) -> NDArray[np.bool_]:
    """An F test of every column alone, at a false discovery rate of 0.1."""
    from sklearn.feature_selection import SelectFdr

    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")  # constant columns
        return SelectFdr(alpha=0.1).fit(x, y).get_support()


METHODS: dict[str, Support] = {
    "snowball": _ours(SnowballSelector),
    "subspace": _ours(SubspaceSelector),
    "ferns": _ours(FernSelector),
    "elimination": _ours(EliminationSelector, estimator=GaussianNB()),
    "boruta": _ours(BorutaSelector),
    "borutapy": borutapy,
    "forest": forest_pvalues,
    "one": one_at_a_time,
}


def main(method: str, table: str, seed: str) -> None:
    """Search, and tell."""
    warnings.simplefilter("ignore", FernwoodWarning)
    x, y, relevant, _ = TABLES[table](np.random.default_rng(7))
    support = METHODS[method]
    if method not in ("borutapy", "forest", "one"):
        support(x[:, :20], y, 0)
    started = time.perf_counter()
    taken = np.flatnonzero(support(x, y, int(seed))).tolist()
    print(json.dumps({"taken": taken, "relevant": list(relevant), "seconds": time.perf_counter() - started}))


if __name__ == "__main__":
    main(*sys.argv[1:])
