"""Selecting columns by randomized elimination: from a store and settings to a result, in one run."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from fernwood.insight import Insight
from fernwood.learner.subsets import subset_errors
from fernwood.relevance.decision import Decision, Verdicts
from fernwood.result import Facts, result_of
from fernwood.run.directory import versions
from fernwood.run.driving import drive
from fernwood.search.checks import check_table
from fernwood.search.elimination import EliminationLoop
from fernwood.search.selection import Prepared, Selection, namer
from fernwood.search.tracing import plain_trace
from fernwood.search.trying import ByRank, laid_out
from fernwood.subspace.candidates import candidates

if TYPE_CHECKING:
    from typing import Any

    from fernwood.learner.subsets import Evaluation
    from fernwood.run.directory import RunDirectory
    from fernwood.run.driving import SearchProgressCallback
    from fernwood.search.elimination import EliminationSettings, EliminationState
    from fernwood.store.base import Store

__all__ = ["prepare", "select_by_elimination"]

_ADVICE = "a larger tolerance, or another estimator, removes more"


def select_by_elimination(
    store: Store,
    settings: EliminationSettings,
    seed: int,
    *,
    n_threads: int = 1,
    memory: int | None = None,
    held: int = 0,
    directory: RunDirectory | None = None,
    progress: SearchProgressCallback | None = None,
    evaluation: Evaluation | None = None,
) -> Selection:
    """Eliminate columns of a store to the end, or until it is stopped; see `select_by_subspaces` for the parameters.

    Parameters
    ----------
    evaluation
        The table that the learner is fitted on, where it is not made of the store: its columns are those of the store,
        in the same order.

    Examples
    --------
    >>> import numpy as np, fernwood
    >>> from fernwood.search.elimination import EliminationSettings
    >>> x = np.random.default_rng(0).standard_normal((100, 20))
    >>> store = fernwood.ingest(x, target=x[:, 3] + x[:, 7] > 0)
    >>> result, _ = select_by_elimination(store, EliminationSettings("naive-bayes"), seed=0)
    >>> set(result.confirmed.tolist()) >= {3, 7}, result.facts.unit
    (True, 'calls')
    """
    ids, _, loop = prepare(store, settings, seed, n_threads=n_threads, memory=memory, held=held, evaluation=evaluation)
    state, stopped_by, history = drive(loop, directory, progress, leading=namer(store, ids, loop.leading))
    facts = Facts.of(
        store,
        method=settings.method,
        n_usable=len(ids),
        n_draws=state.n_calls,
        n_planned=loop.progress(state).total,
        against="tolerance",
        seed=seed,
        parameters=settings.to_json(),
        advice=_ADVICE,
        unit="calls",
        versions=versions(),
        elimination={"said": _said(loop, state), "trace": plain_trace(state.trace)},
    )
    result = result_of(
        store,
        ids,
        facts,
        _verdicts(state),
        draws=state.tries,
        score=state.rise,
        wins=state.failures,
        insight=Insight(history),
    )
    return Selection(result, stopped_by)


def prepare(
    store: Store,
    settings: EliminationSettings,
    seed: int,
    *,
    n_threads: int = 1,
    memory: int | None = None,
    held: int = 0,
    evaluation: Evaluation | None = None,
) -> Prepared[EliminationLoop[Any]]:
    """Check a table, plan the memory, and make everything ready; see `select_by_elimination` for the parameters."""
    check_table(store)
    ids = candidates(store)
    removals = settings.removals(len(ids), seed)
    evaluation, places, plan = laid_out(store, ids, settings, seed, evaluation, memory, held)
    errors = ByRank(subset_errors(evaluation, 1 if settings.candidates > 1 else n_threads), places)
    aside = evaluation.on_held_out()
    held_out = None if aside is None else ByRank(subset_errors(aside, n_threads), places)
    return Prepared(
        ids,
        plan,
        EliminationLoop(errors, removals, settings.tolerance, n_threads, held_out, settings.baseline),
    )


def _said(loop: EliminationLoop[Any], state: EliminationState[Any]) -> list[str]:
    """What a reader should know, in sentences."""
    sentences = loop.said(state)
    n_chosen, n_left = int(np.count_nonzero(state.chosen)), int(np.count_nonzero(state.left))
    if n_chosen > n_left:
        held = state.trace.held_out
        sentences.append(
            f"the selection of call {state.best_call} is kept, whose error on rows held out is "
            f"{held[state.best_call]:.4g}; the search went on to {n_left:,} columns"
        )
    return sentences


def _verdicts(state: EliminationState[Any]) -> Verdicts:
    """Columns of the answer are confirmed, the others rejected, with the call that says so."""
    chosen, errors = state.chosen, state.trace.error
    reasons: dict[str, int] = {}
    reason = np.zeros(len(chosen), np.uint16)
    calls = np.where(chosen, state.alone_in, state.removed_in)
    for rank, call in enumerate(calls.tolist()):
        if not chosen[rank]:
            others = int(state.trace.tried[call]) - 1
            beside = f" with {others:,} others" if others > 1 else " with one other" if others else ""
            text = f"removed in call {call}{beside}, error {errors[call]:.4g}"
        elif call >= 0:
            text = f"removing it alone, in call {call}, made the error {errors[call]:.4g}"
        elif state.tries[rank]:
            text = "in no removal that was accepted"
        else:
            text = "never tried: the search ended before it"
        reason[rank] = reasons.setdefault(text, len(reasons))
    decision = np.where(chosen, Decision.CONFIRMED, Decision.REJECTED).astype(np.uint8)
    return Verdicts(decision, reason, tuple(reasons))
