"""What was found: one table of decisions, from which everything else derives."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from fernwood.errors import shown
from fernwood.insight import Insight
from fernwood.relations import given_away
from fernwood.relevance.decision import Decision, Verdicts
from fernwood.sources.names import ListedNames, NumberedNames

if TYPE_CHECKING:
    import os
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from fernwood.course import Course
    from fernwood.relations import Minimal, Relations
    from fernwood.sources.names import Names
    from fernwood.store.base import Store

__all__ = ["P_FROM", "Facts", "Result", "result_of"]

P_FROM = ("counted", "tail model")
"""Where a p comes from, in words."""
_UNUSABLE = "constant, or all values missing: it cannot tell rows apart"
_GIVEN = "given: in every context, and no candidate"
_RUN = 65_536
_NAMED = 5


@dataclass(frozen=True)
class Facts:
    """What a result is about, and how far the search came.

    Attributes
    ----------
    method : name of the search, such as "subspace"
    target, task : what the columns explain
    n_rows, n_columns, n_usable : of the table; usable columns are not constant
    n_draws, n_planned : draws made, and draws that were asked for
    against : what columns were compared with, such as "probe"; empty where with nothing
    seed : below which all randomness has its addresses
    parameters : of the search, as far as the answer depends on them
    fingerprint : of the data
    advice : what would make weak columns visible
    unit : what is counted by `n_draws`: draws, waves, iterations, or calls
    smallest_p : the smallest p that the rows allow; 0 where nothing is tested
    n_groups : groups that rows are kept together in; 0 where they are not
    exploration : how far contexts of random columns came, see `fernwood.search.exploration`; empty where there are none
    versions : of Fernwood and of the libraries that the numbers come from
    elimination : what the calls of an elimination came to, see `fernwood.search.tracing`; empty of other methods
    unreduced : whether a search for a few that suffice was stopped after its draws, before it had them
    notes : what deserved a warning when the table was read, in sentences
    sampling : how many rows were looked at where there are very many, and what that means; empty where all were
    roles : stands for the values of target, weights and groups, by name; empty text for those that are not there, and
        no entries in results of before these were kept
    covariates : what was done with each: its name, and how many terms of the basis are its own, 0 where it makes strata
    """

    method: str
    target: str
    task: str
    n_rows: int
    n_columns: int
    n_usable: int
    n_draws: int
    n_planned: int
    against: str
    seed: int
    parameters: dict[str, Any]
    fingerprint: str
    advice: str = "more rows, more trees a draw or a smaller q make weak columns visible"
    unit: str = "draws"
    smallest_p: float = 0.0
    n_groups: int = 0
    exploration: dict[str, Any] = field(default_factory=dict)
    versions: dict[str, str] = field(default_factory=dict)
    elimination: dict[str, Any] = field(default_factory=dict)
    unreduced: bool = False
    notes: list[str] = field(default_factory=list)
    sampling: dict[str, Any] = field(default_factory=dict)
    roles: dict[str, str] = field(default_factory=dict)
    covariates: list[dict[str, Any]] = field(default_factory=list)

    @classmethod
    def of(cls, store: Store, **about: Any) -> Facts:
        """The facts about a search of a store; what the store says by itself is filled in."""
        target = store.target
        return cls(
            target="" if target is None else target.name,
            task="" if target is None else target.task,
            n_rows=store.n_rows,
            n_columns=store.n_columns,
            fingerprint=store.fingerprint,
            notes=list(store.notes),
            roles=store.roles.digests(),
            **about,
        )

    @property
    def asked_a_learner(self) -> bool:
        """Whether a learner was asked which columns it does well with, so that nothing is known of each by itself."""
        return self.method in ("elimination", "filter")

    @property
    def finished(self) -> bool:
        """Whether all was done that was asked for."""
        return self.n_draws >= self.n_planned and not self.unreduced

    @property
    def how_far(self) -> str:
        """How far it came, for people."""
        if self.unreduced:
            return "before it knew which few columns suffice"
        return f"after {self.n_draws:,} of {self.n_planned:,} {self.unit}"


@dataclass(frozen=True, eq=False)
class Result:
    """The decisions of a search, one for every column of the table; compare two by their tables.

    Attributes
    ----------
    names : of the columns
    facts : what it is about
    draws : int32 array; how often a column was looked at
    score : float64 array; its mean importance in those draws
    wins : int32 array; in how many of them it was above what it was compared with
    verdicts : decision and reason
    p, q : float64 arrays, where the search tests: the chance of such a score for a column that is not relevant, and the
        smallest false discovery rate at which the column is found
    modelled : bool array, where the search tests: whether p comes from a model of the tail, being too small to count
    relations : of confirmed columns, where the search looks for them
    minimal : the few of the confirmed columns that suffice, where the goal is "minimal"
    insight : what a report shows beside the decisions
    contents : uint32 array; stands for what each column holds, see `fernwood.store.contents`; None where the store, or
        the file, is older than these are
    course : how the run went on its machine, where that is known; it is no part of the answer, and not saved with it
    """

    names: Names
    facts: Facts
    draws: NDArray[np.int32]
    score: NDArray[np.float64]
    wins: NDArray[np.int32]
    verdicts: Verdicts
    p: NDArray[np.float64] | None = None
    q: NDArray[np.float64] | None = None
    modelled: NDArray[np.bool_] | None = None
    relations: Relations | None = None
    minimal: Minimal | None = None
    insight: Insight = field(default_factory=Insight)
    contents: NDArray[np.uint32] | None = None
    course: Course | None = None

    @property
    def confirmed(self) -> NDArray[np.int64]:
        """Positions of confirmed columns, in the order of the table."""
        return np.flatnonzero(self.verdicts.decision == Decision.CONFIRMED)

    @property
    def tentative(self) -> NDArray[np.int64]:
        """Positions of tentative columns, in the order of the table."""
        return np.flatnonzero(self.verdicts.decision == Decision.TENTATIVE)

    @property
    def selected(self) -> NDArray[np.int64]:
        """What was asked for: the few that suffice where the goal is "minimal", else all that are confirmed."""
        return self.confirmed if self.minimal is None else np.sort(np.array(self.minimal.kept, np.int64))

    @property
    def n_examined(self) -> int:
        """Columns that were looked at at least once."""
        return int(np.count_nonzero(self.draws))

    @cached_property
    def order(self) -> NDArray[np.int64]:
        """All positions, best first: by decision, p or share of wins, score, and position."""
        return self.best_first(slice(None))

    def best_first(self, chosen: NDArray[np.int64] | slice) -> NDArray[np.int64]:
        """Places among some positions, which are in increasing order, best first; as `order` has all of them."""
        chance = -self.wins[chosen] / np.maximum(self.draws[chosen], 1) if self.p is None else self.p[chosen]
        # The sort is stable, so that equal columns stay in the order of their positions.
        return np.lexsort((-self.score[chosen], chance, self.verdicts.decision[chosen]))

    @property
    def ranking(self) -> NDArray[np.int64]:
        """The rank of every column, 1 for all that are selected, as scikit-learn's selectors have it."""
        chosen = self.selected
        selected_first = self.order[np.argsort(~np.isin(self.order, chosen), kind="stable")]
        rank = np.empty(len(self.draws), np.int64)
        rank[selected_first] = np.arange(len(self.draws))
        return np.asarray(np.maximum(rank - len(chosen) + 2, 1))

    def to_table(self, positions: NDArray[np.int64] | None = None) -> pa.Table:
        """The decision table as Arrow, best first, or for some positions in their order.

        Columns: column, position (in the store, as `support_` has it), decision, reason, draws, score; wins where
        columns were compared one by one; p, where it comes from, and q where they were tested; group (columns with the
        same number can stand for each other) and partners where the search looks for them; minimal and stand_ins where
        the goal is "minimal".
        """
        chosen = self.order if positions is None else positions
        verdicts = self.verdicts
        words = pa.array([decision.word for decision in Decision])
        columns = {
            "column": self.names.take(chosen),
            "position": pa.array(chosen),
            "decision": pa.DictionaryArray.from_arrays(pa.array(verdicts.decision[chosen].astype(np.int8)), words),
            "reason": pa.DictionaryArray.from_arrays(
                pa.array(verdicts.reason[chosen].astype(np.int16)), pa.array(verdicts.reasons)
            ),
            "draws": pa.array(self.draws[chosen]),
            "score": pa.array(self.score[chosen]),
        }
        if self.p is not None and self.q is not None:
            columns["p"], columns["q"] = pa.array(self.p[chosen]), pa.array(self.q[chosen])
            if self.modelled is not None:
                source = pa.array(self.modelled[chosen].astype(np.int8))
                columns["p_from"] = pa.DictionaryArray.from_arrays(source, pa.array(P_FROM))
        elif self.facts.against:
            columns["wins"] = pa.array(self.wins[chosen])
        for about in (self.relations, self.minimal):
            if about is not None:
                columns |= about.columns(chosen.tolist(), self.names.__getitem__)
        return pa.table(columns)

    def tables(self) -> Iterator[pa.Table]:
        """The decision table, best first, in pieces of moderate size."""
        for first in range(0, len(self.order), _RUN):
            yield self.to_table(self.order[first : first + _RUN])

    def summary(self) -> dict[str, Any]:
        """The answer and the facts as plain values; the confirmed and tentative columns by name, best first."""
        counts = np.bincount(self.verdicts.decision, minlength=len(Decision)).tolist()
        return {
            "confirmed": self._names_of(Decision.CONFIRMED),
            "tentative": self._names_of(Decision.TENTATIVE),
            "counts": {decision.word: counts[decision] for decision in Decision},
            "finished": self.facts.finished,
            "columns_examined": self.n_examined,
            "median_draws_a_column": self.median_draws,
            "nothing_found": self.why_nothing(),
            "remarks": self.remarks(),
            **({} if self.relations is None else self.relations.named(self.names.__getitem__)),
            **({} if self.minimal is None else {"minimal": self.minimal.named(self.names.__getitem__)}),
            **asdict(self.facts),
        }

    @property
    def median_draws(self) -> float:
        """The median of how often a usable column was looked at."""
        usable = np.sort(self.draws)[len(self.draws) - self.facts.n_usable :]
        return float(np.median(usable)) if len(usable) else 0.0

    def why_nothing(self) -> str:
        """When no column is confirmed, why that may be, and what would change it; else nothing."""
        if len(self.confirmed):
            return ""
        facts = self.facts
        said = (
            f"no column is confirmed: {self.n_examined:,} of {facts.n_usable:,} usable columns were examined, "
            f"in {self.median_draws:g} {'contexts' if facts.unit == 'waves' else facts.unit} each (median)"
        )
        if not self.n_examined:
            return f"{said}; let the search make more {facts.unit}"
        best = self.order[0]
        if self.p is not None:
            said += f", and the best, {shown(self.names[int(best)])}, has p = {self.p[best]:.2g}"
            if facts.smallest_p * facts.n_usable > 1e-3:
                said += f" (the smallest that {facts.n_rows:,} rows allow is {facts.smallest_p:.2g})"
        elif facts.against:
            said += (
                f", and the best, {shown(self.names[int(best)])}, was above the {facts.against} in "
                f"{100 * self.wins[best] / max(self.draws[best], 1):.0f} % of its {self.draws[best]}"
            )
        rest = ", or let the search finish" if not facts.finished else ""
        n_tentative = len(self.tentative)
        if n_tentative and self.p is not None:
            return f"{said}; {n_tentative:,} tentative: told something, too little for the rate; {facts.advice}{rest}"
        if n_tentative and facts.unit == "draws":
            said += f"; {n_tentative:,} tentative: ahead, but after too few draws"
            return f"{said}; let the search make more draws{rest}"
        return f"{said}; {facts.advice}{rest}"

    @property
    def chooses_nothing(self) -> bool:
        """Whether each of several usable columns was found to tell something, and all of them are selected."""
        return len(self.selected) == self.facts.n_usable > 1 and not self.facts.asked_a_learner

    @property
    def undecided(self) -> str:
        """What to do about columns that iterations left undecided, where there are any; else nothing."""
        facts, n_tentative = self.facts, len(self.tentative)
        if not (facts.unit == "iterations" and self.p is None and facts.finished and n_tentative):
            return ""
        return (
            f"{n_tentative:,} tentative after {facts.n_draws:,} iterations: neither clearly above the {facts.against} "
            f"nor clearly below it; a larger max_iter may decide {'it' if n_tentative == 1 else 'them'}"
        )

    def remarks(self) -> list[str]:
        """What a reader should know beside the decisions, in sentences."""
        said = []
        if self.chooses_nothing:
            way_out = "take the best by score" if self.p is None else "take the best by p, or a smaller rate"
            said.append(
                f"all {self.facts.n_usable:,} usable columns are confirmed: each tells something, so that the list "
                f"alone chooses nothing; {way_out}"
            )
        if self.relations is not None and self.relations.giving_away:
            named = [shown(self.names[i]) for i in self.relations.giving_away[:_NAMED]]
            more = len(self.relations.giving_away) - len(named)
            listed = ", ".join(named) + (f" and {more:,} more" if more else "")
            verb = "gives" if len(self.relations.giving_away) == 1 else "give"
            why = given_away(self.facts.task)
            said.append(f"{listed} {verb} the target away: {why}; leave out what was made from the target")
        if self.undecided:
            said.append(self.undecided)
        if self.minimal is not None:
            said.append(self.minimal.said)
        said += [about["said"] for about in (self.facts.exploration, self.facts.sampling) if about]
        said += self.facts.elimination.get("said", [])
        return said

    def _names_of(self, decision: Decision) -> list[str]:
        ahead = self.order[self.verdicts.decision[self.order] == decision]
        return list(self.names.take(ahead).to_pylist())

    def to_html(self, path: str | os.PathLike[str] | None = None) -> str:
        """The report: one page that needs no network, also written to a file where a path is given.

        Parameters
        ----------
        path : where to write it, optional; a file that is there is replaced
        """
        from fernwood.report.html import html_of, write_html

        page = html_of(self)
        if path is not None:
            write_html(page, Path(path))
        return page

    def _repr_html_(self) -> str:
        """What notebooks show."""
        from fernwood.report.notebook import card_of

        return card_of(self)

    def __getstate__(self) -> dict[str, Any]:
        # Names may be read from a store's files when they are asked for; a copy of the result must stand alone.
        runs = [run for _, run in self.names.runs()]
        names = self.names if isinstance(self.names, NumberedNames) else ListedNames(pa.concat_arrays(runs))
        return {**self.__dict__, "names": names}

    def __repr__(self) -> str:
        counts = np.bincount(self.verdicts.decision, minlength=len(Decision))
        left = "" if self.facts.finished else f", stopped {self.facts.how_far}"
        return (
            f"<Result: {counts[Decision.CONFIRMED]:,} confirmed and {counts[Decision.TENTATIVE]:,} tentative "
            f"of {len(self.draws):,} columns{left}>"
        )


def result_of(
    store: Store,
    ids: NDArray[np.signedinteger[Any]],
    facts: Facts,
    verdicts: Verdicts,
    *,
    draws: NDArray[np.int32],
    score: NDArray[np.float64] | None = None,
    wins: NDArray[np.int32] | None = None,
    p: NDArray[np.float64] | None = None,
    q: NDArray[np.float64] | None = None,
    modelled: NDArray[np.bool_] | None = None,
    relations: Relations | None = None,
    given: NDArray[np.int64] | None = None,
    insight: Insight | None = None,
) -> Result:
    """The result for all columns of a store, from what a search says of the columns at positions `ids`.

    `given` are positions of covariates, which are not examined either. Without a score it is -log10 of p.
    """

    def spread(values: NDArray[Any], rest: float) -> NDArray[Any]:
        out = np.full(store.n_columns, rest, values.dtype)
        for first in range(0, len(ids), _RUN):  # in parts, since positions take eight bytes each while they are used
            out[ids[first : first + _RUN]] = values[first : first + _RUN]
        return out

    everywhere = Verdicts(
        spread(verdicts.decision, Decision.UNEXAMINED),
        spread(verdicts.reason, len(verdicts.reasons)),
        (*verdicts.reasons, _UNUSABLE, _GIVEN),
    )
    if given is not None:
        everywhere.reason[given] = len(verdicts.reasons) + 1
    chances = None if p is None else spread(p, 1.0)
    return Result(
        store.names,
        facts,
        spread(draws, 0),
        _score_of(chances) if score is None else spread(score, 0.0),
        np.zeros(store.n_columns, np.int32) if wins is None else spread(wins, 0),
        everywhere,
        chances,
        None if q is None else spread(q, 1.0),
        None if modelled is None else spread(modelled, False),
        relations,
        insight=Insight() if insight is None else insight,
        contents=store.contents,
    )


def _score_of(chances: NDArray[np.float64] | None) -> NDArray[np.float64]:
    if chances is None:
        raise ValueError("a result needs scores, or chances to make them of")
    score = np.log10(chances)
    return np.negative(score, out=score)
