"""Selecting columns with the snowball: from a store and settings to a result, in one run."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING

import numpy as np

from fernwood.errors import FernwoodWarning
from fernwood.kernels.ready import ensure_compiled
from fernwood.learner.target import class_target, value_target
from fernwood.relevance.decision import Decision, Verdicts
from fernwood.relevance.shadows import false_discoveries
from fernwood.result import Facts, result_of
from fernwood.run.directory import versions
from fernwood.run.driving import drive
from fernwood.run.plan import plan_waves
from fernwood.search.checks import check_table
from fernwood.search.examining import Examiner, draw_shadows
from fernwood.search.selecting import Selection
from fernwood.search.snowball import Snowball
from fernwood.subspace.candidates import candidates

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from fernwood.learner.target import TreeTarget
    from fernwood.run.directory import RunDirectory
    from fernwood.run.driving import SearchProgressCallback
    from fernwood.search.snowball import SnowballSettings, SnowballState
    from fernwood.store.base import Store

__all__ = ["select_by_snowball"]


def select_by_snowball(
    store: Store,
    settings: SnowballSettings,
    seed: int,
    *,
    n_threads: int = 1,
    memory: int | None = None,
    held: int = 0,
    directory: RunDirectory | None = None,
    progress: SearchProgressCallback | None = None,
) -> Selection:
    """Run the snowball on a store to its end, or until it is stopped; see `select_by_subspaces` for the parameters.

    Examples
    --------
    >>> from fernwood.datasets import make_madelon
    >>> import fernwood
    >>> from fernwood.search.snowball import SnowballSettings
    >>> table = make_madelon(400, 100, class_sep=2.0, random_state=0)
    >>> store = fernwood.ingest(table.data, target=table.target)
    >>> result, _ = select_by_snowball(store, SnowballSettings(), seed=0)
    >>> len(set(result.confirmed.tolist()) & set(table.relevant.tolist())) > 15
    True
    """
    check_table(store)
    if store.groups is not None:
        warnings.warn(
            "the rows have groups, which the snowball does not look at yet: it takes all rows for independent, so that "
            "p is too small where those of a group are alike",
            FernwoodWarning,
            stacklevel=2,
        )
    ids = candidates(store)
    rows, weights, inside = _counted(store)
    n_classes = max(len(inside.classes), 1)
    plan = plan_waves(len(weights), store.n_columns, n_classes, settings.n_confirming, n_threads, memory, held=held)
    ensure_compiled("snowball")
    examiner = Examiner(store, ids, rows, weights, seed, plan.n_threads)
    shadows = draw_shadows(examiner.kinds())
    loop = Snowball(examiner, inside, shadows, settings, seed)
    state, stopped_by = drive(loop, directory, progress)
    done = loop.progress(state)
    facts = Facts.of(
        store,
        method=settings.method,
        n_usable=len(ids),
        n_draws=done.done,
        n_planned=done.total,
        against="shadows",
        seed=seed,
        parameters=settings.to_json(),
        advice="more rows, or a larger fdr, make weak columns visible",
        unit="waves",
        versions=versions(),
    )
    rates = false_discoveries(state.chance)
    result = result_of(
        store,
        ids,
        facts,
        _verdicts(state, rates, settings),
        draws=state.contexts + np.int32(1),
        score=-np.log10(state.chance),
        p=state.chance,
        q=rates,
    )
    return Selection(result, stopped_by)


def _counted(store: Store) -> tuple[NDArray[np.int64] | None, NDArray[np.float64], TreeTarget]:
    """The rows that count (None: all), their weights, and their target as kernels use it."""
    target = store.target
    assert target is not None  # noqa: S101  (check_table saw to it)
    given = np.ones(store.n_rows) if store.weights is None else store.weights
    rows = None if (given > 0).all() else np.flatnonzero(given > 0)
    chosen = slice(None) if rows is None else rows
    make = value_target if target.task == "regression" else class_target
    inside = make(target.values[chosen], given[chosen])
    return rows, inside.kernel.weights, inside


def _verdicts(state: SnowballState, rates: NDArray[np.float64], settings: SnowballSettings) -> Verdicts:
    found = state.wave >= 0
    lost = ~found & (rates <= settings.fdr)
    reason = np.select([found & (state.wave == 0), found, lost], [0, 1, 2], 3).astype(np.uint8)
    reasons = (
        f"told by itself, at a false discovery rate of {settings.fdr:g}",
        f"told in the context of others, at a false discovery rate of {settings.fdr:g}",
        "told in one wave, but not confirmed in fresh contexts, or barely",
        f"no better than shadows, at a false discovery rate of {settings.fdr:g}",
    )
    decisions = np.array([Decision.CONFIRMED, Decision.CONFIRMED, Decision.TENTATIVE, Decision.REJECTED], np.uint8)
    return Verdicts(decisions[reason], reason, reasons)
