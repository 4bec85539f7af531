"""Two runs side by side: which columns came, went or changed their decision, and what that may come from.

`there` is the first of two runs and `here` is the second, in all sentences.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np

from fernwood.differences import Difference, Pair, differences_of
from fernwood.errors import ParameterError
from fernwood.relevance.decision import Decision

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from fernwood.result import Facts, Result

__all__ = ["Change", "Changes", "Difference", "Stability", "Standing", "compare", "stability"]

_LEAST_TOP, _MOST_TOP = 10, 100
"""How many of the best columns are compared by rank: as many as are selected, within these."""
_NEAR = 2.0
"""A q within this factor of the rate is near it."""
_FEWEST_RANKED = 3


@dataclass(frozen=True)
class Standing:
    """How a column stands in a run.

    Attributes
    ----------
    decision : confirmed, tentative, rejected or unexamined
    selected : whether it is among what was asked for
    rank : 1 for the best column
    score : its evidence, as the method has it
    p, q : where the method tests
    wins : the share of draws above what it was compared with, where the method compares
    """

    decision: str
    selected: bool
    rank: int
    score: float
    p: float | None = None
    q: float | None = None
    wins: float | None = None


@dataclass(frozen=True)
class Change:
    """A column that is decided differently; None for a run whose table does not have it."""

    column: str
    there: Standing | None
    here: Standing | None
    said: str


@dataclass(frozen=True)
class Changes:
    """What changed from one run to another, and why.

    Attributes
    ----------
    differences : in what the runs themselves differ
    why : a sentence that sums this up
    n_there, n_here, n_both : columns selected
    jaccard : selected in both, as a share of those selected in either; 1 where there are none
    n_top, n_top_both : how many of the best columns were compared, and how many of them are among both best
    rank_agreement : Spearman's correlation of the ranks of these; None where there are too few
    gained, lost : columns selected here only, and there only
    moved : columns that are tentative in one of them, and decided differently
    only_there, only_here : columns of one table alone: how many, and the names of the first
    """

    differences: list[Difference]
    why: str
    n_there: int
    n_here: int
    n_both: int
    jaccard: float
    n_top: int
    n_top_both: int
    rank_agreement: float | None
    gained: list[Change]
    lost: list[Change]
    moved: list[Change]
    only_there: tuple[int, list[str]]
    only_here: tuple[int, list[str]]

    def to_json(self) -> dict[str, Any]:
        """Plain values."""
        return asdict(self)


@dataclass(frozen=True)
class Stability:
    """How often columns are selected in several runs.

    Attributes
    ----------
    n_runs : int
    differs : in what the runs differ among them, in words
    n_selected : columns selected in each run
    often : for every column selected in any of them, in how many; the most often selected first
    n_always : columns selected in all
    jaccard : of all pairs of runs, on average
    """

    n_runs: int
    differs: list[str]
    n_selected: list[int]
    often: dict[str, int]
    n_always: int
    jaccard: float

    def to_json(self) -> dict[str, Any]:
        """Plain values."""
        return asdict(self)


def compare(there: Result, here: Result) -> Changes:
    """What changed from one result to another; columns are the same where their names are.

    Examples
    --------
    >>> from fernwood import SnowballSelector
    >>> from fernwood.datasets import make_madelon
    >>> table = make_madelon(300, 60, class_sep=3.0, random_state=0)
    >>> runs = [SnowballSelector(random_state=seed).fit(table.data, table.target).result_ for seed in (0, 1)]
    >>> changes = compare(*runs)
    >>> [difference.what for difference in changes.differences], changes.jaccard > 0.8
    (['seed'], True)
    """
    pair = _Pair(there, here)
    selected_there, selected_here = _mask(there, there.selected), _mask(here, here.selected)
    # By position in the table here; columns that are not in it are not selected in it.
    known = np.zeros(len(here.draws), bool)
    known[pair.in_both_here] = selected_there[pair.in_both_there]
    n_both = int(np.count_nonzero(known & selected_here))
    n_there, n_here = int(selected_there.sum()), int(selected_here.sum())
    differences = differences_of(pair)
    changes = pair.changed()
    gained = [change for change in changes if _is_selected(change.here) and not _is_selected(change.there)]
    lost = [change for change in changes if _is_selected(change.there) and not _is_selected(change.here)]
    moved = [
        change
        for change in changes
        if change.there is not None and change.here is not None and change.there.selected == change.here.selected
    ]
    n_top, n_top_both, agreement = pair.ranks(max(n_there, n_here))
    return Changes(
        differences,
        _why(differences, alike=not changes),
        n_there,
        n_here,
        n_both,
        n_both / (n_there + n_here - n_both) if n_there or n_here else 1.0,
        n_top,
        n_top_both,
        agreement,
        gained,
        lost,
        moved,
        pair.only_there,
        pair.only_here,
    )


def stability(results: Sequence[Result]) -> Stability:
    """How often columns are selected in two or more results.

    Examples
    --------
    >>> from fernwood import SnowballSelector
    >>> from fernwood.datasets import make_madelon
    >>> table = make_madelon(300, 60, class_sep=3.0, random_state=0)
    >>> runs = [SnowballSelector(random_state=seed).fit(table.data, table.target).result_ for seed in range(3)]
    >>> told = stability(runs)
    >>> told.n_runs, told.differs, max(told.often.values())
    (3, ['seed'], 3)
    """
    if len(results) < 2:
        raise ParameterError(f"there is {len(results)} result; give two or more to compare")
    sets = [set(result.names.take(result.selected).to_pylist()) for result in results]
    counts: dict[str, int] = {}
    for result in results:  # best first, so that equally frequent ones are in the order of the first that has them
        chosen = _mask(result, result.selected)
        for name in result.names.take(result.order[chosen[result.order]]).to_pylist():
            counts[name] = counts.get(name, 0) + 1
    often = dict(sorted(counts.items(), key=lambda entry: -entry[1]))
    shares = [len(a & b) / len(a | b) if a | b else 1.0 for a, b in combinations(sets, 2)]
    differs = [found.what for other in results[1:] for found in differences_of(Pair(results[0], other))]
    return Stability(
        len(results),
        list(dict.fromkeys(differs)),
        [len(names) for names in sets],
        often,
        sum(count == len(results) for count in often.values()),
        float(np.mean(shares)),
    )


class _Pair(Pair):
    """Two results, how their columns stand and how they are ranked."""

    def changed(self) -> list[Change]:
        """Columns that are selected, confirmed or tentative in either and stand differently, the best first."""
        there, here = self.there, self.here
        states = []
        for result in (there, here):
            state = result.verdicts.decision.astype(np.int64)
            state[state == Decision.UNEXAMINED] = Decision.REJECTED
            states.append(np.where(_mask(result, result.selected), -1, state))
        known_there, known_here = self.in_both_there, self.in_both_here
        other = states[0][known_there] != states[1][known_here]
        pairs: list[tuple[int | None, int | None]] = list(
            zip(known_there[other].tolist(), known_here[other].tolist(), strict=True)
        )
        alone_there, alone_here = states[0] <= Decision.CONFIRMED, states[1] <= Decision.CONFIRMED
        alone_there[known_there] = alone_here[known_here] = False
        pairs += [(place, None) for place in np.flatnonzero(alone_there).tolist()]
        pairs += [(None, place) for place in np.flatnonzero(alone_here).tolist()]
        ranks = [_ranks(result) for result in (there, here)]
        chosen = [state < Decision.CONFIRMED for state in states]
        changes = []
        for a, b in pairs:
            before, after = (
                None if place is None else _standing(result, place, int(rank[place]), selected=bool(mask[place]))
                for result, place, rank, mask in zip((there, here), (a, b), ranks, chosen, strict=True)
            )
            name = there.names[a] if a is not None else here.names[b if b is not None else 0]
            changes.append(Change(name, before, after, _said(before, after, there.facts, here.facts)))
        return sorted(changes, key=lambda change: min(s.rank for s in (change.there, change.here) if s is not None))

    def ranks(self, n_selected: int) -> tuple[int, int, float | None]:
        """How many best columns are compared, how many both have, and Spearman's correlation of their ranks."""
        rank_there, rank_here = (_ranks(result) for result in (self.there, self.here))
        ranked = np.column_stack((rank_there[self.in_both_there], rank_here[self.in_both_here]))
        n_top = min(max(n_selected, _LEAST_TOP), _MOST_TOP, len(ranked))
        best = ranked <= n_top
        ranked = ranked[best.any(axis=1)]
        agreement = None
        if len(ranked) >= _FEWEST_RANKED:
            places = ranked.argsort(axis=0).argsort(axis=0).astype(float)
            agreement = float(np.corrcoef(places.T)[0, 1])
        return n_top, int(best.all(axis=1).sum()), agreement


def _mask(result: Result, places: NDArray[np.int64]) -> NDArray[np.bool_]:
    chosen = np.zeros(len(result.draws), bool)
    chosen[places] = True
    return chosen


def _ranks(result: Result) -> NDArray[np.int64]:
    ranks = np.empty(len(result.order), np.int64)
    ranks[result.order] = np.arange(1, len(result.order) + 1)
    return ranks


def _is_selected(standing: Standing | None) -> bool:
    return standing is not None and standing.selected


def _standing(result: Result, place: int, rank: int, *, selected: bool) -> Standing:
    compared = bool(result.facts.against) and result.p is None
    return Standing(
        Decision(result.verdicts.decision[place]).word,
        selected,
        rank,
        float(result.score[place]),
        None if result.p is None else float(result.p[place]),
        None if result.q is None else float(result.q[place]),
        float(result.wins[place] / max(result.draws[place], 1)) if compared else None,
    )


def _said(there: Standing | None, here: Standing | None, before: Facts, after: Facts) -> str:
    """The evidence in both, and how near it was to the threshold."""
    if there is None or here is None:
        return f"not in the table {'there' if there is None else 'here'}"
    if there.decision == here.decision and there.selected != here.selected:
        return f"{there.decision} in both; of the few that suffice only {'there' if there.selected else 'here'}"
    if there.q is not None and here.q is not None:
        rates = [facts.parameters["fdr"] for facts in (before, after) if "fdr" in facts.parameters]
        said = f"q {there.q:.2g} there, {here.q:.2g} here"
        if len(rates) < 2:
            return said
        near = all(rate / _NEAR <= q <= rate * _NEAR for rate, q in zip(rates, (there.q, here.q), strict=True))
        at = f"a rate of {rates[0]:g}" if rates[0] == rates[1] else f"rates of {rates[0]:g} and {rates[1]:g}"
        return f"{said}, at {at}{': near it in both' if near else ''}"
    return f"{_evidence(there, before)} there, {_evidence(here, after)} here"


def _evidence(standing: Standing, facts: Facts) -> str:
    if standing.q is not None:
        return f"q {standing.q:.2g}"
    if standing.wins is not None:
        return f"above the {facts.against} in {100 * standing.wins:.0f} %"
    return f"score {standing.score:.3g}"


def _why(differences: list[Difference], *, alike: bool) -> str:
    if not differences:
        same = "the same data, method, parameters and seed"
        return same if alike else f"{same}, and yet other answers: a fault of the machine, or of Fernwood"
    if [difference.what for difference in differences] == ["seed"]:
        if alike:
            return "only the seed differs, and no decision depends on it"
        return "only the seed differs: what changed is what chance decided"
    return "; ".join(difference.said for difference in differences)
