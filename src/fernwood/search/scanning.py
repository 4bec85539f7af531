"""Selecting columns with random ferns: from a store and settings to a result, in one run."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fernwood.kernels.ready import ensure_compiled
from fernwood.learner.ferns import fern_rows, warn_of_empty_leaves
from fernwood.result import Facts
from fernwood.run.directory import versions
from fernwood.run.driving import drive
from fernwood.run.plan import plan_draws
from fernwood.search.checks import check_table
from fernwood.search.decoys import Candidates, with_decoys
from fernwood.search.fern_fitting import fern_bytes
from fernwood.search.ferns import FernSearch
from fernwood.search.keeping import kept_where_it_fits
from fernwood.search.selection import Prepared, Selection, namer, result_by_rule
from fernwood.subspace.candidates import candidates
from fernwood.subspace.sizes import checked_q

if TYPE_CHECKING:
    from fernwood.run.directory import RunDirectory
    from fernwood.run.driving import SearchProgressCallback
    from fernwood.search.ferns import FernSettings
    from fernwood.search.working import Crew
    from fernwood.store.base import Store

__all__ = ["prepare", "select_by_ferns"]


def select_by_ferns(
    store: Store,
    settings: FernSettings,
    seed: int,
    *,
    n_threads: int = 1,
    memory: int | None = None,
    held: int = 0,
    directory: RunDirectory | None = None,
    progress: SearchProgressCallback | None = None,
    crew: Crew | None = None,
) -> Selection:
    """Search a store with ferns to the end, or until it is stopped; see `select_by_subspaces` for the parameters.

    Examples
    --------
    >>> from fernwood.datasets import make_madelon
    >>> import fernwood
    >>> from fernwood.search.ferns import FernSettings
    >>> table = make_madelon(400, 60, class_sep=3.0, random_state=0)
    >>> store = fernwood.ingest(table.data, target=table.target)
    >>> result, _ = select_by_ferns(store, FernSettings(scans=200), seed=0)
    >>> len(set(result.confirmed.tolist()) & set(table.relevant.tolist())) > 15
    True
    """
    ids, _, search = prepare(store, settings, seed, n_threads=n_threads, memory=memory, held=held, crew=crew)
    state, stopped_by, history = drive(search, directory, progress, leading=namer(store, ids, search.leading))
    facts = Facts.of(
        store,
        method=settings.method,
        n_usable=len(ids),
        n_draws=state.n_draws,
        n_planned=search.progress(state).total,
        against=search.rule.against,
        seed=seed,
        parameters={**settings.to_json(), "q": search.q},
        advice=search.rule.advice(state.evidence),
        versions=versions(),
    )
    result = result_by_rule(store, ids, facts, search.rule, state.evidence, history)
    return Selection(result, stopped_by)


def prepare(
    store: Store,
    settings: FernSettings,
    seed: int,
    *,
    n_threads: int = 1,
    memory: int | None = None,
    held: int = 0,
    crew: Crew | None = None,
) -> Prepared[FernSearch]:
    """Check a table, plan the memory, and make everything ready; see `select_by_subspaces` for the parameters."""
    target = check_table(store)
    rows = fern_rows(store)
    ids = candidates(store)
    q = checked_q(settings.q, store.n_rows, len(ids))
    warn_of_empty_leaves(settings.depth, len(rows.labels))
    n_classes = max(len(target.classes), 1)
    plan = plan_draws(
        store.n_rows,
        store.n_columns,
        n_classes,
        2 * q,
        settings.round_size,
        n_threads,
        memory,
        held=held,
        beside=fern_bytes(settings.ferns_a_draw(len(ids), q), settings.depth, n_classes),
    )
    if crew is None:
        store, plan = kept_where_it_fits(store, plan, memory)
    ensure_compiled("ferns")
    taking_part = Candidates(store, ids)
    if settings.tests:
        taking_part = with_decoys(store, ids, 1, seed, plan.n_threads)
    search = FernSearch(taking_part, rows, settings, q, seed, plan.n_threads, crew)
    taking_part.store.forget()  # what of it is needed was copied
    return Prepared(ids, plan, search)
