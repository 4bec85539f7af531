"""Selecting columns with the snowball: from a store and settings to a result, in one run."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from fernwood.insight import Insight
from fernwood.kernels.ready import ensure_compiled
from fernwood.learner.contexts import Ground, n_laid_out, without_context
from fernwood.learner.target import class_target, value_target
from fernwood.relations import Relations
from fernwood.relevance.decision import Decision, Verdicts
from fernwood.relevance.shadows import false_discoveries, smallest_counted
from fernwood.result import Facts, result_of
from fernwood.run.directory import versions
from fernwood.run.driving import drive
from fernwood.run.plan import plan_waves
from fernwood.search.checks import check_candidates, check_table
from fernwood.search.comparing import compared
from fernwood.search.conditions import given_positions, strata_of
from fernwood.search.dealing import Dealer
from fernwood.search.examining import Examiner
from fernwood.search.reducing import reduced
from fernwood.search.relating import find_partners, gives_away, interchangeable
from fernwood.search.resolution import check_rows_suffice, smallest_chance
from fernwood.search.sampling import said_of_sample, sampled_rows
from fernwood.search.selection import Selection, namer
from fernwood.search.snowball import Snowball
from fernwood.store.view import Kept
from fernwood.subspace.candidates import candidates

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from fernwood.insight import Comparison, History
    from fernwood.run.directory import RunDirectory
    from fernwood.run.driving import SearchProgressCallback
    from fernwood.run.plan import SearchPlan
    from fernwood.search.snowball import SnowballSettings, SnowballState
    from fernwood.store.base import Store

__all__ = ["Prepared", "planned", "prepare", "select_by_snowball"]

_MOST_RELATED = 2000
"""Columns found, the best ones, that are compared with each other."""


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
    ids, _, loop, given = prepare(store, settings, seed, n_threads=n_threads, memory=memory, held=held)
    state, stopped_by, history = drive(loop, directory, progress, leading=namer(store, ids, loop.leading))
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
        smallest_p=loop.least,
        n_groups=0 if store.groups is None else len(np.unique(store.groups[loop.whole.examiner.rows])),
        exploration=loop.exploration(state).to_json(),
        sampling=said_of_sample(loop.ground.target.n_rows, loop.whole.ground.target.n_rows),
        versions=versions(),
    )
    relations, modelled = _relations(loop, state, ids, seed), _modelled(state, loop)
    chance, draws, wave = state.chance, state.contexts + np.int32(1), state.wave
    null = loop.chances_of_shadows(state)
    del loop, state  # ledgers of millions of columns, and nothing of them is needed any more
    rates = false_discoveries(chance)
    verdicts = _verdicts(wave, rates, settings)
    comparison = _compared(null, chance, verdicts, settings)
    result = result_of(
        store,
        ids,
        facts,
        verdicts,
        draws=draws,
        p=chance,
        q=rates,
        modelled=modelled,
        relations=relations,
        given=given,
        insight=Insight(_in_steps(history), comparison),
    )
    selection = Selection(result, stopped_by)
    if settings.goal == "all-relevant":
        return selection
    return reduced(
        selection,
        store,
        settings.slack,
        seed,
        n_threads=n_threads,
        given=given,
        directory=directory,
        progress=progress,
    )


class Prepared(NamedTuple):
    """A search that can begin: positions of the columns examined, what it takes, its loop, positions of covariates."""

    ids: NDArray[np.int32]
    plan: SearchPlan
    loop: Snowball
    given: NDArray[np.int64]


def prepare(
    store: Store,
    settings: SnowballSettings,
    seed: int,
    *,
    n_threads: int = 1,
    memory: int | None = None,
    held: int = 0,
) -> Prepared:
    """Check a table, plan the memory, and look at every column once; see `select_by_subspaces` for the parameters."""
    check_table(store)
    given = given_positions(store, settings.given)
    usable = candidates(store, given)
    check_candidates(usable, given)
    ids = usable.astype(np.int32)
    del usable  # twice as large, and as long as the table is wide
    sample = sampled_rows(store, settings.max_rows, seed)
    rows, weights, ground = _counted(store, given)
    groups = store.groups if store.groups is None or rows is None else store.groups[rows]
    least = smallest_chance(ground, groups)
    check_rows_suffice(least, ground, len(ids), settings.fdr, settings.level)
    n_sampled = None if sample is None else len(sample)
    in_place = rows is None and groups is None and not len(given)
    plan = planned(
        store.n_columns,
        settings,
        ground,
        n_sampled,
        in_place=in_place,
        n_threads=n_threads,
        memory=memory,
        held=held,
    )
    ensure_compiled(*settings.kernels)

    def examining(
        store: Store, rows: NDArray[np.int64] | None, weights: NDArray[np.float64], ground: Ground
    ) -> Examiner:
        groups = store.groups if store.groups is None or rows is None else store.groups[rows]
        deal = Dealer(seed, strata=ground.strata if len(given) else None, groups=groups)
        return Examiner(store, ids, rows, weights, deal, plan.n_threads)

    examiner = examining(store, rows, weights, ground)
    kinds = examiner.survey()
    if sample is None:
        loop = Snowball(examiner, ground, examiner.shadows(kinds), settings, seed, least)
    else:
        # What the sample is kept in does not change the answer.
        part = Kept(store.rows(sample)) if plan.sample_kept else store.rows(sample)
        here = _counted(part, given)
        sampler = examining(part, *here)
        # Columns of a kind are so on all rows and on the sample: a rare code may be in one and not in the other.
        both = np.unique(np.stack([kinds, sampler.survey()]), axis=1, return_inverse=True)[1].reshape(-1)
        loop = Snowball(sampler, here[2], sampler.shadows(both), settings, seed, least, whole=(examiner, ground))
        part.forget()
    store.forget()  # checksums of millions of columns, and those of the shadows' models are kept
    return Prepared(ids, plan, loop, given)


def planned(
    n_columns: int,
    settings: SnowballSettings,
    ground: Ground,
    n_sampled: int | None,
    *,
    in_place: bool,
    n_threads: int,
    memory: int | None,
    held: int,
) -> SearchPlan:
    """What a snowball takes on a table of so many columns; see `select_by_subspaces` for the other parameters.

    Parameters
    ----------
    n_columns
    settings
    ground
        Of all rows.
    n_sampled
        How many of them waves look at; None for all.
    in_place
        Whether all rows count, and shadows are dealt without regard to groups and covariates.
    n_threads, memory, held
    """
    target = ground.target
    n_contexts = max(settings.n_contexts, settings.n_confirming)
    return plan_waves(
        target.n_rows,
        n_columns,
        max(len(target.classes), 1),
        n_contexts,
        n_laid_out(target.n_rows, n_contexts),
        n_threads,
        memory,
        held=held,
        sample=None if n_sampled is None else (n_sampled, n_laid_out(n_sampled, n_contexts)),
        counts=bool(target.kernel.classes and (target.kernel.weights == 1).all()),
        in_place=in_place and n_sampled is not None,
    )


def _modelled(state: SnowballState, loop: Snowball) -> NDArray[np.bool_]:
    """Whose p is too small to be counted among the shadows of its kind."""
    modelled = np.zeros(len(state.chance), bool)
    for kind, _ in loop.told.kinds:
        alone, beside = smallest_counted(len(kind.models)), smallest_counted(kind.n_always)
        for ranks in kind.members():
            modelled[ranks] = state.chance[ranks] <= np.where(state.wave[ranks] == 0, alone, beside)
    return modelled


def _in_steps(history: History) -> History:
    """The waves one by one, and what follows them; progress skips those that are not needed."""
    return replace(history, done=list(range(len(history.done))))


def _compared(
    null: NDArray[np.float64], chance: NDArray[np.float64], verdicts: Verdicts, settings: SnowballSettings
) -> Comparison:
    """Columns beside shadows; where none is confirmed, with what one column would need alone."""
    return compared(
        -np.log10(null),
        -np.log10(chance),
        verdicts.decision,
        alone=float(-np.log10(settings.level / len(chance))),
    )


def _relations(loop: Snowball, state: SnowballState, ids: NDArray[np.int32], seed: int) -> Relations:
    """What the best of the columns found have to do with each other."""
    found = state.found[np.argsort(state.chance[state.found], kind="stable")][:_MOST_RELATED]
    if not len(found):
        return Relations()
    examiner, ground = loop.examiner, loop.ground
    number = interchangeable(examiner, found)
    groups = [ids[found[number == k]].tolist() for k in np.unique(number) if np.count_nonzero(number == k) > 1]
    in_order = np.sort(found)
    alone = state.alone
    giving = gives_away(examiner, ground, found)
    if loop.sampled:  # contexts of the sample are compared with none on the sample
        alone = np.empty_like(alone)
        for kind, _ in loop.told.kinds:
            loop.told.alone(kind, without_context(ground), alone)
        giving = gives_away(loop.whole.examiner, loop.whole.ground, giving)
    partners = find_partners(examiner, loop.told, ground, in_order, alone[in_order].astype(np.float64), seed)
    by_position = {int(ids[rank]): ids[np.array(beside)].tolist() for rank, beside in partners.items()}
    return Relations(groups, by_position, ids[giving].tolist())


def _counted(
    store: Store, covariates: NDArray[np.int64]
) -> tuple[NDArray[np.int64] | None, NDArray[np.float64], Ground]:
    """The rows that count (None: all), their weights, and their target and strata."""
    target = store.target
    assert target is not None  # noqa: S101  (check_table saw to it)
    given = np.ones(store.n_rows) if store.weights is None else store.weights
    rows = None if (given > 0).all() else np.flatnonzero(given > 0)
    chosen = slice(None) if rows is None else rows
    make = value_target if target.task == "regression" else class_target
    inside = make(target.values[chosen], given[chosen])
    ground = Ground(inside, *strata_of(store, covariates, rows)) if len(covariates) else Ground.undivided(inside)
    return rows, inside.kernel.weights, ground


def _verdicts(wave: NDArray[np.int16], rates: NDArray[np.float64], settings: SnowballSettings) -> Verdicts:
    reason = np.full(len(wave), 3, np.uint8)
    reason[rates <= settings.fdr] = 2
    reason[wave >= 0] = 1
    reason[wave == 0] = 0
    reasons = (
        f"told by itself, at a false discovery rate of {settings.fdr:g}",
        f"told in the context of others, at a false discovery rate of {settings.fdr:g}",
        "told in one wave, but not confirmed in fresh contexts, or barely",
        f"no better than shadows, at a false discovery rate of {settings.fdr:g}",
    )
    decisions = np.array([Decision.CONFIRMED, Decision.CONFIRMED, Decision.TENTATIVE, Decision.REJECTED], np.uint8)
    return Verdicts(decisions[reason], reason, reasons)
