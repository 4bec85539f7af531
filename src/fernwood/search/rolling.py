"""Selecting columns with the snowball: from a store and settings to a result, in one run."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from fernwood.insight import Insight
from fernwood.kernels.ready import ensure_compiled
from fernwood.learner.contexts import n_laid_out, scoring_kernels
from fernwood.relations import Relations
from fernwood.relevance.decision import Decision, Verdicts
from fernwood.relevance.shadows import false_discoveries, smallest_counted
from fernwood.result import Facts, result_of
from fernwood.run.directory import versions
from fernwood.run.driving import drive
from fernwood.run.plan import plan_waves
from fernwood.search.alike import interchangeable
from fernwood.search.checks import check_candidates, check_table
from fernwood.search.comparing import compared
from fernwood.search.conditions import given_positions, with_names
from fernwood.search.devices import Devices
from fernwood.search.drawn import Drawn
from fernwood.search.evidence import ContextEvidence, Look
from fernwood.search.relating import find_partners, gives_away
from fernwood.search.resolution import check_rows_suffice, smallest_chance
from fernwood.search.sampling import said_of_sample, sampled_rows
from fernwood.search.selection import Selection, namer
from fernwood.search.sight import counted, sight
from fernwood.search.snowball import Snowball
from fernwood.search.spread import SpreadEvidence, survey_by
from fernwood.store.view import Kept
from fernwood.subspace.candidates import candidates

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from fernwood.device import Device
    from fernwood.insight import Comparison, History
    from fernwood.learner.contexts import Ground
    from fernwood.run.directory import RunDirectory
    from fernwood.run.driving import SearchProgressCallback
    from fernwood.run.plan import SearchPlan
    from fernwood.search.conditions import Said
    from fernwood.search.examining import Examiner, Shadows
    from fernwood.search.ledger import SnowballState
    from fernwood.search.sight import Sight
    from fernwood.search.snowball_settings import SnowballSettings
    from fernwood.search.working import Crew
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
    crew: Crew | None = None,
    device: Device = "cpu",
    device_memory: int | None = None,
) -> Selection:
    """Run the snowball on a store to its end, or until it is stopped; see `select_by_subspaces` for the parameters.

    On a device, see `fernwood.device`, the answer is the same.

    Examples
    --------
    >>> from fernwood.datasets import make_madelon
    >>> import fernwood
    >>> from fernwood.search.snowball_settings import SnowballSettings
    >>> table = make_madelon(400, 100, class_sep=2.0, random_state=0)
    >>> store = fernwood.ingest(table.data, target=table.target)
    >>> result, _ = select_by_snowball(store, SnowballSettings(), seed=0)
    >>> len(set(result.confirmed.tolist()) & set(table.relevant.tolist())) > 15
    True
    """
    settings = with_names(store, settings)
    where: dict[str, Any] = {"crew": crew, "device": device, "device_memory": device_memory}
    ids, _, loop, given, said = prepare(store, settings, seed, n_threads=n_threads, memory=memory, held=held, **where)
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
        n_groups=0 if store.groups is None else len(np.unique(store.groups[loop.whole.examiner.scorer.rows])),
        exploration=loop.exploration(state).to_json(),
        sampling=said_of_sample(loop.ground.target.n_rows, loop.whole.ground.target.n_rows),
        versions=versions(),
        covariates=[one._asdict() for one in said],
    )
    relations = loop.surviving(partial(_relations, loop, state, ids, seed))
    modelled = _modelled(state, loop)
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
    from fernwood.search.reducing import reduced  # and trees with it

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
    """A search that can begin.

    Attributes
    ----------
    ids : positions of the columns examined
    plan : what it takes
    loop
    given : positions of covariates
    said : what was done with them
    """

    ids: NDArray[np.int32]
    plan: SearchPlan
    loop: Snowball
    given: NDArray[np.int64]
    said: list[Said]


def prepare(
    store: Store,
    settings: SnowballSettings,
    seed: int,
    *,
    n_threads: int = 1,
    memory: int | None = None,
    held: int = 0,
    crew: Crew | None = None,
    device: Device = "cpu",
    device_memory: int | None = None,
) -> Prepared:
    """Check a table, plan the memory, and look at every column once; see `select_by_subspaces` for the parameters."""
    check_table(store)
    given = given_positions(store, settings.given)
    usable = candidates(store, given)
    check_candidates(usable, given)
    ids = usable.astype(np.int32)
    del usable  # twice as large, and as long as the table is wide
    sample = sampled_rows(store, settings.max_rows, seed)
    found = counted(store, given)
    least = smallest_chance(found.ground, found.groups)
    check_rows_suffice(least, found.ground, len(ids), settings.fdr, settings.level)
    devices = Devices(device, device_memory, store.n_rows * len(ids), n_looks=1 if sample is None else 2)
    if memory is not None:
        memory = max(memory - devices.host_bytes, 1)
    plan = planned(
        store.n_columns,
        settings,
        found.ground,
        None if sample is None else len(sample),
        in_place=found.rows is None and found.groups is None and not len(given),
        n_threads=n_threads,
        memory=memory,
        held=held,
    )
    ensure_compiled(*settings.kernels, scoring_kernels(found.ground.target, found.ground.covariates))

    def looking(at: Sight, *, whole: bool) -> _Looking:
        examiner = devices.examiner(at.scorer, ids, plan.n_threads, counts=at.ground.counts)
        kinds = devices.surviving(examiner.survey) if crew is None else survey_by(crew, examiner, whole=whole)

        def look(shadows: list[Shadows]) -> Look:
            told = (
                ContextEvidence(examiner, shadows) if crew is None else SpreadEvidence(examiner, shadows, crew, whole)
            )
            return Look(examiner, at.ground, told)

        return _Looking(examiner, kinds, look)

    all_rows = looking(sight(store, given, seed, found), whole=True)
    if sample is None:
        loop = Snowball(
            all_rows.look(all_rows.examiner.shadows(all_rows.kinds)), settings, seed, least, surviving=devices.surviving
        )
    else:
        # What the sample is kept in does not change the answer.
        part = Kept(store.rows(sample)) if plan.sample_kept else store.rows(sample)
        some_rows = looking(sight(part, given, seed), whole=False)
        # Columns of a kind are so on all rows and on the sample: a rare code may be in one and not in the other.
        both = np.unique(np.stack([all_rows.kinds, some_rows.kinds]), axis=1, return_inverse=True)[1].reshape(-1)
        shadows = some_rows.examiner.shadows(both)
        loop = Snowball(
            some_rows.look(shadows), settings, seed, least, whole=all_rows.look(shadows), surviving=devices.surviving
        )
        part.forget()
    store.forget()  # checksums of millions of columns, and those of the shadows' models are kept
    return Prepared(ids, plan, loop, given, found.said)


class _Looking(NamedTuple):
    """Rows that are surveyed: what examines columns on them, the kinds of all columns, and a look with shadows."""

    examiner: Examiner
    kinds: NDArray[np.int64]
    look: Callable[[list[Shadows]], Look]


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
    times = ground.n_places // target.n_rows
    return plan_waves(
        target.n_rows,
        n_columns,
        max(len(target.classes), 1),
        n_contexts,
        n_laid_out(ground.n_places, n_contexts),
        n_threads,
        memory,
        held=held,
        sample=None if n_sampled is None else (n_sampled, n_laid_out(n_sampled * times, n_contexts)),
        counts=ground.counts,
        in_place=in_place and n_sampled is not None,
        basis=None if ground.covariates is None else (*ground.covariates.shape, times),
    )


def _modelled(state: SnowballState, loop: Snowball) -> NDArray[np.bool_]:
    """Whose p is too small to be counted among the shadows of its kind."""
    modelled = np.zeros(len(state.chance), bool)
    for kind, _ in loop.told.kinds:
        alone, beside = smallest_counted(len(kind.models)), smallest_counted(kind.n_always)
        for ranks in kind.members():
            modelled[ranks] = state.chance[ranks] < np.where(state.wave[ranks] == 0, alone, beside)
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
    groups = interchangeable(examiner, found)
    in_order = np.sort(found)
    alone = state.alone
    giving = gives_away(examiner, ground, found)
    if loop.sampled:  # contexts of the sample are compared with none on the sample
        alone = np.empty_like(alone)
        for kind, _ in loop.told.kinds:
            loop.told.alone(kind, Drawn.nothing(ground), alone)
        giving = gives_away(loop.whole.examiner, loop.whole.ground, giving)
        # Rows are drawn by class, so that columns may be more alike on the sample than they are.
        groups = [part for group in groups for part in interchangeable(loop.whole.examiner, group)]
    partners = find_partners(examiner, loop.told, ground, in_order, alone[in_order].astype(np.float64), seed)
    by_position = {int(ids[rank]): ids[np.array(beside)].tolist() for rank, beside in partners.items()}
    return Relations([ids[group].tolist() for group in groups], by_position, ids[giving].tolist())


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
