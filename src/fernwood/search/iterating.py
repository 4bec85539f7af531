"""Selecting columns with Boruta: from a store and settings to a result, in one run."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, cast

from fernwood.insight import Insight
from fernwood.kernels.ready import ensure_compiled
from fernwood.learner.ferns import fern_rows, warn_of_empty_leaves
from fernwood.learner.target import store_target
from fernwood.relevance.tested import ShadowRule
from fernwood.result import Facts, result_of
from fernwood.run.directory import versions
from fernwood.run.driving import drive
from fernwood.run.plan import plan_draws, plan_layout
from fernwood.search.boruta import BorutaLoop, FixedShadowsLoop, most_shadows
from fernwood.search.checks import check_table
from fernwood.search.comparing import compared
from fernwood.search.decoys import Candidates, with_decoys
from fernwood.search.estimating import Estimates
from fernwood.search.fern_fitting import fern_bytes
from fernwood.search.forests import FernForests, Forests, Growing, block_width, usual_ferns
from fernwood.search.keeping import kept_where_it_fits
from fernwood.search.selection import Prepared, Selection, namer
from fernwood.subspace.candidates import candidates

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from fernwood.run.directory import RunDirectory
    from fernwood.run.driving import SearchProgressCallback
    from fernwood.run.plan import SearchPlan
    from fernwood.search.boruta import BorutaSettings, Importances
    from fernwood.search.fitting import Importance
    from fernwood.search.working import Crew
    from fernwood.store.base import Store

__all__ = ["importances_of", "prepare", "select_by_boruta"]

_COLUMN_BYTES = 205
"""For every column: importances of an iteration, of columns and of shadows, and the tests of every column."""
_TREES_INSTEAD = "use learner='extra', whose trees take numbers, or give task='classification'"
_ADVICE = {
    "best shadow": "more rows, a larger n_estimators or a smaller perc make weak columns visible",
    "shadows": "more rows, or a larger alpha, make weak columns visible",
}


def select_by_boruta(
    store: Store,
    settings: BorutaSettings,
    seed: int,
    *,
    n_threads: int = 1,
    memory: int | None = None,
    held: int = 0,
    directory: RunDirectory | None = None,
    progress: SearchProgressCallback | None = None,
    crew: Crew | None = None,
) -> Selection:
    """Run Boruta on a store to its end, or until it is stopped; see `select_by_subspaces` for the parameters.

    Examples
    --------
    >>> from fernwood.datasets import make_madelon
    >>> import fernwood
    >>> from fernwood.search.boruta import BorutaSettings
    >>> table = make_madelon(200, 30, class_sep=3.0, random_state=0)
    >>> store = fernwood.ingest(table.data, target=table.target)
    >>> result, _ = select_by_boruta(store, BorutaSettings(max_iter=20), seed=0)
    >>> result.facts.unit, result.facts.n_draws <= 20
    ('iterations', True)
    """
    ids, _, loop = prepare(store, settings, seed, n_threads=n_threads, memory=memory, held=held, crew=crew)
    state, stopped_by, history = drive(loop, directory, progress, leading=namer(store, ids, loop.leading))
    facts = Facts.of(
        store,
        method=settings.method,
        n_usable=len(ids),
        n_draws=state.iteration,
        n_planned=loop.progress(state).total,
        against=loop.against,
        seed=seed,
        parameters=settings.to_json(),
        advice=_ADVICE[loop.against],
        unit="iterations",
        versions=versions(),
    )
    tested, verdicts = loop.tested(state), loop.verdicts(state)
    evidence = state.evidence.of_first(len(ids))  # decoys have no result
    score, null = evidence.mean_importance(), loop.compared_with(state)
    comparison = compared(null.scores, score, verdicts.decision, n=null.n)
    if tested.p is None:
        comparison = replace(comparison, threshold=None, best=True)  # hits decide, and not how important a column is
    result = result_of(
        store,
        ids,
        facts,
        verdicts,
        draws=evidence.draws,
        score=score,
        wins=evidence.wins,
        p=tested.p,
        q=tested.q,
        modelled=tested.modelled,
        insight=Insight(history, comparison),
    )
    return Selection(result, stopped_by)


def prepare(
    store: Store,
    settings: BorutaSettings,
    seed: int,
    *,
    n_threads: int = 1,
    memory: int | None = None,
    held: int = 0,
    crew: Crew | None = None,
) -> Prepared[BorutaLoop | FixedShadowsLoop]:
    """Check a table, plan the memory, and make everything ready; see `select_by_subspaces` for the parameters."""
    check_table(store)
    ids = candidates(store)
    plan, importances, columns = importances_of(store, ids, settings, seed, n_threads, memory, held, crew)
    if settings.correction is None:
        return Prepared(ids, plan, BorutaLoop(importances, len(ids), settings.rule(), settings.max_iter))
    # Confirmed at half of the rule's rate, which is so for searches that look at it again and again.
    rule = ShadowRule(settings.alpha, 1, columns.strata, columns.n_decoys, straight=settings.learner == "ferns")
    n_fixed = most_shadows(len(ids), settings.correction)
    return Prepared(
        ids,
        plan,
        FixedShadowsLoop(importances, len(columns.ids), rule, settings.max_iter, n_fixed, columns.n_decoys),
    )


def importances_of(
    store: Store,
    ids: NDArray[np.int64],
    settings: BorutaSettings,
    seed: int,
    n_threads: int = 1,
    memory: int | None = None,
    held: int = 0,
    crew: Crew | None = None,
) -> tuple[SearchPlan, Importances, Candidates]:
    """What an iteration takes, what says how important columns and shadows are, and the columns that take part."""
    n_shadows = most_shadows(len(ids), settings.correction)
    if settings.estimator is not None:
        way_out = ", and our own trees (estimator=None) need less"
        plan = plan_layout(store.n_rows, len(ids), memory, held=held, n_shadows=n_shadows, way_out=way_out)
        ensure_compiled("trees")
        columns = _taking_part(store, ids, settings, seed, n_threads)
        return plan, Estimates(columns.store, columns.ids, settings, seed), columns
    width = block_width(store.n_rows, len(ids), n_shadows)
    beside, rows = 0, None
    if settings.learner == "ferns":
        rows = fern_rows(store, _TREES_INSTEAD)
        depth = cast("int", settings.max_depth)
        warn_of_empty_leaves(depth, len(rows.labels))
        beside = fern_bytes(usual_ferns(width, depth), depth, len(rows.classes))
    target = store_target(store, settings.class_weight)
    n_classes = max(len(target.classes), 1)
    # Fits that are done, and wait for those before them to be added up, are a few for every thread.
    plan = plan_draws(
        store.n_rows,
        store.n_columns,
        n_classes,
        width * (1 + n_shadows),
        4 * n_threads,
        n_threads,
        memory,
        held=held,
        way_out="",
        beside=beside,
        column_bytes=_COLUMN_BYTES,
    )
    if crew is None:
        store, plan = kept_where_it_fits(store, plan, memory)
    ensure_compiled(*settings.kernels)
    columns = _taking_part(store, ids, settings, seed, plan.n_threads)
    store, ids = columns.store, columns.ids
    if rows is not None:
        return plan, FernForests(store, ids, rows, depth, settings.n_estimators, seed, plan.n_threads, crew), columns
    task = "classification" if target.kernel.classes else "regression"
    importance: Importance = "impurity" if settings.importance == "model" else "permutation"
    growing = Growing(settings.tree(task), settings.n_estimators, importance)
    return plan, Forests(store, ids, target, growing, seed, plan.n_threads, crew), columns


def _taking_part(
    store: Store, ids: NDArray[np.int64], settings: BorutaSettings, seed: int, n_threads: int
) -> Candidates:
    """The columns of an iteration: with decoys, where columns are tested against shadows like them."""
    if settings.correction is None:
        return Candidates(store, ids)
    return with_decoys(store, ids, most_shadows(len(ids), settings.correction), seed, n_threads)
