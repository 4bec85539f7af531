"""Selecting columns with random subspaces: from a store and settings to a result, in one run."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from fernwood.errors import ParameterError
from fernwood.kernels.ready import ensure_compiled
from fernwood.learner.ferns import fern_rows, warn_of_empty_leaves
from fernwood.learner.many import group_size
from fernwood.learner.target import store_target
from fernwood.result import Facts
from fernwood.run.directory import versions
from fernwood.run.driving import SearchProgress, drive
from fernwood.run.plan import plan_draws
from fernwood.search.checkpoints import evidence_of, whole_number
from fernwood.search.checks import check_table
from fernwood.search.decoys import Candidates, with_decoys
from fernwood.search.fern_fitting import FernColumns, FernFits, fern_bytes
from fernwood.search.fitting import TreeFits
from fernwood.search.keeping import kept_where_it_fits
from fernwood.search.reducing import reduced
from fernwood.search.selection import Selection, most_important, namer, result_by_rule
from fernwood.search.subspace import SearchState, SubspaceSearch, start, step
from fernwood.subspace.candidates import candidates
from fernwood.subspace.sizes import checked_q

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from fernwood.run.directory import RunDirectory
    from fernwood.run.driving import SearchProgressCallback
    from fernwood.run.plan import SearchPlan
    from fernwood.search.settings import SubspaceSettings
    from fernwood.search.subspace import Learner
    from fernwood.search.working import Crew
    from fernwood.store.base import Store
    from fernwood.store.roles import Target

__all__ = ["SubspaceLoop", "prepare", "select_by_subspaces"]

_TREES_INSTEAD = "use learner='extra', whose trees take numbers, or give task='classification'"
_STANDS, _ROUNDS = 6, 5
"""Draws a column, on average, and rounds without a change of F that end a search."""


def select_by_subspaces(
    store: Store,
    settings: SubspaceSettings,
    seed: int,
    *,
    n_threads: int = 1,
    memory: int | None = None,
    held: int = 0,
    directory: RunDirectory | None = None,
    progress: SearchProgressCallback | None = None,
    crew: Crew | None = None,
) -> Selection:
    """Run RS or SRS on a store to its end, or until it is stopped.

    Parameters
    ----------
    store
        With a target.
    settings
        What the answer depends on, together with the store and the seed.
    seed
    n_threads
        Draws that are fitted side by side; the answer does not depend on it.
    memory
        Bytes that the search may take beyond what the process holds; threads are fewer where it is small.
    held
        Bytes of these that the store takes already.
    directory
        Where checkpoints go, and where the search goes on from.
    progress
        Called with a `SearchProgress` after every round.
    crew
        Workers of other processes, which do the work instead of threads.

    Raises
    ------
    SourceError, TargetError, ParameterError, BudgetError, StoreError

    Examples
    --------
    >>> from fernwood.datasets import make_madelon
    >>> import fernwood
    >>> from fernwood.search.settings import SubspaceSettings
    >>> table = make_madelon(200, 30, class_sep=3.0, random_state=0)
    >>> store = fernwood.ingest(table.data, target=table.target)
    >>> result, _ = select_by_subspaces(store, SubspaceSettings(n_iter=20), seed=0)
    >>> result.facts.n_draws, result.facts.finished
    (20, True)
    """
    prepared = prepare(store, settings, seed, n_threads=n_threads, memory=memory, held=held, crew=crew)
    ids, loop, search = prepared.ids, prepared.loop, prepared.search
    state, stopped_by, history = drive(loop, directory, progress, leading=namer(store, ids, loop.leading))
    facts = Facts.of(
        store,
        method=settings.method,
        n_usable=len(ids),
        n_draws=state.n_draws,
        n_planned=loop.progress(state).total,
        against=search.rule.against,
        seed=seed,
        parameters={**settings.to_json(), "q": search.q, "patch_rows": prepared.patch},
        sampling=_said_of_patches(prepared.patch, store.n_rows),
        advice=search.rule.advice(state.evidence),
        versions=versions(),
    )
    result = result_by_rule(store, ids, facts, search.rule, state.evidence, history)
    selection = Selection(result, stopped_by)
    if settings.goal == "all-relevant":
        return selection
    return reduced(selection, store, settings.slack, seed, n_threads=n_threads, directory=directory, progress=progress)


def _said_of_patches(patch: int | None, n_rows: int) -> dict[str, Any]:
    """What a result says of draws that see some of the rows; empty where they see all."""
    if patch is None:
        return {}
    said = (
        f"every draw looked at {patch:,} of {n_rows:,} rows, drawn anew each time: columns that tell little may be "
        "missed; patch_rows=None (--patch-rows all) looks at all rows in every draw"
    )
    return {"rows": patch, "said": said}


class Prepared(NamedTuple):
    """A search that can begin.

    Attributes
    ----------
    ids : positions of the columns drawn from, by rank
    plan : what it takes
    loop : the search as a run sees it
    target, search, n_draws : what it explains; what a draw is; and how many there are at most
    patch : the rows that a draw sees; None for all
    """

    ids: NDArray[np.int64]
    plan: SearchPlan
    loop: SubspaceLoop
    target: Target
    search: SubspaceSearch
    n_draws: int
    patch: int | None = None


def prepare(
    store: Store,
    settings: SubspaceSettings,
    seed: int,
    *,
    n_threads: int = 1,
    memory: int | None = None,
    held: int = 0,
    keep_trees: bool = False,
    crew: Crew | None = None,
) -> Prepared:
    """Check a table, plan the memory, and make everything ready; see `select_by_subspaces` for the parameters."""
    target = check_table(store)
    ids = candidates(store)
    patch = settings.patch(store.n_rows if store.weights is None else int(np.count_nonzero(store.weights)))
    n_seen = store.n_rows if patch is None else patch
    q = checked_q(settings.q, n_seen, len(ids))
    if settings.rule == "mirror" and store.groups is not None:
        raise ParameterError(
            "rule is 'mirror', which does not keep groups of rows together; use 'shadow', or leave the groups out"
        )
    n_shadows = settings.shadows(len(ids))
    n_classes = max(len(target.classes), 1)
    ferns = settings.fern_fitting(q, n_shadows=n_shadows) if settings.learner == "ferns" else None
    n_grown = settings.n_trees if ferns is None else ferns.n_ferns
    plan = plan_draws(
        n_seen,
        store.n_columns,
        n_classes,
        q * (1 + n_shadows),
        settings.round_size,
        n_threads,
        memory,
        held=held,
        beside=0 if ferns is None else fern_bytes(ferns.n_ferns, ferns.depth, n_classes),
        n_rows_whole=None if patch is None else store.n_rows,
        # Shadows are dealt from a copy of their columns; other learners and importances lay codes out once more.
        copies=1.5 if settings.learner in ("extra", "random") and settings.importance == "impurity" else 2,
    )
    if crew is None:
        store, plan = kept_where_it_fits(store, plan, memory, n_read=settings.draws(len(ids), q) * q)
    ensure_compiled(*settings.kernels)
    taking_part = Candidates(store, ids)
    if settings.tests:
        taking_part = with_decoys(store, ids, n_shadows, seed, plan.n_threads)
    store, searched, strata, n_decoys = taking_part
    n_draws = settings.draws(len(searched), q)
    learner: Learner
    if ferns is None:
        fitting = settings.fitting(target.task, n_shadows=n_shadows, keep_trees=keep_trees, patch=patch)
        learner = TreeFits(store, searched, store_target(store, settings.class_weight), fitting, seed)
    else:
        rows = fern_rows(store, _TREES_INSTEAD)
        warn_of_empty_leaves(ferns.depth, len(rows.labels))
        learner = FernFits(FernColumns(store, searched, rows, seed), ferns, seed)
    search = SubspaceSearch(
        n_columns=len(searched),
        n_decoys=n_decoys,
        q=q,
        alpha=settings.alpha,
        rule=settings.make_rule(strata, n_decoys),
        learner=learner,
        seed=seed,
        round_size=settings.round_size,
        weighted=settings.weighted,
        carry=settings.carry,
        n_shadows=n_shadows,
        n_threads=plan.n_threads,
        group=group_size(settings.round_size, q * n_seen * n_grown, plan.n_threads),
        expect=lambda columns: store.expect(searched[columns]),
        crew=crew,
    )
    store.forget()  # what of it is needed was copied
    loop = SubspaceLoop(search, n_draws, settings.min_draws if settings.adapts else None)
    return Prepared(ids, plan, loop, target, search, n_draws, patch)


class SubspaceLoop:
    """A search of random subspaces as a run sees it; a `Loop`.

    Parameters
    ----------
    search
    n_draws
        When it is done.
    min_draws
        Where it is given, the search ends before that when its answer stands: every column was drawn more than
        `min_draws` times, and F has been the same for five rounds, and for so many draws that a column was in six of
        them on average.
    """

    def __init__(self, search: SubspaceSearch, n_draws: int, min_draws: int | None = None) -> None:
        self._search = search
        self._n_draws = n_draws
        self._min_draws = min_draws

    def start(self) -> SearchState:
        """Before the first draw."""
        return start(self._search)

    def step(self, state: SearchState) -> SearchState:
        """One more round; the last one is cut to the draws that are left."""
        return step(self._search, state, self._n_draws - state.n_draws)

    def progress(self, state: SearchState) -> SearchProgress:
        """How far it is."""
        n_judged = self._search.n_columns - self._search.n_decoys
        examined = int(np.count_nonzero(state.evidence.draws[:n_judged]))
        total = state.n_draws if self._stands(state) else self._n_draws
        return SearchProgress("searching", state.n_draws, total, "draws", len(state.found), examined, n_judged)

    def leading(self, state: SearchState) -> NDArray[np.int64]:
        """Ranks of a few columns of F, the most important."""
        return most_important(state.evidence, state.found)

    def _stands(self, state: SearchState) -> bool:
        if self._min_draws is None or state.evidence.draws.min() <= self._min_draws:
            return False
        unchanged = state.n_draws - state.changed
        by_columns = unchanged * self._search.q >= _STANDS * self._search.n_columns
        return by_columns and unchanged >= _ROUNDS * self._search.round_size

    def pack(self, state: SearchState) -> Mapping[str, NDArray[Any]]:
        """The state as named arrays; F follows from the evidence."""
        return {
            "n_draws": np.array(state.n_draws),
            "changed": np.array(state.changed),
            **state.evidence._asdict(),
        }

    def unpack(self, arrays: Mapping[str, NDArray[Any]]) -> SearchState:
        """The state from a checkpoint."""
        evidence = evidence_of(arrays, self.start().evidence)
        n_draws = whole_number(arrays["n_draws"], self._n_draws)
        if evidence.draws.sum(dtype=np.int64) != n_draws * self._search.q:
            raise ValueError("the checkpoint's draws do not add up")
        changed = whole_number(arrays["changed"], n_draws)
        return SearchState(n_draws, evidence, self._search.rule.found(evidence), changed)
