"""What a search is before it begins, and what it returns: the result, and what stopped it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Generic, NamedTuple, TypeVar

import numpy as np

from fernwood.insight import Insight
from fernwood.relevance.shadows import false_discoveries
from fernwood.result import result_of
from fernwood.search.comparing import compared

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from fernwood.insight import History
    from fernwood.relevance.paper import Evidence, Rule
    from fernwood.result import Facts, Result
    from fernwood.run.driving import Loop
    from fernwood.run.plan import SearchPlan
    from fernwood.store.base import Store

__all__ = ["LEADING", "Prepared", "Selection", "most_important", "namer", "result_by_rule"]

LEADING = 5
"""Columns found that are named while a search works."""

SearchLoop = TypeVar("SearchLoop", bound="Loop[Any]")


class Prepared(NamedTuple, Generic[SearchLoop]):
    """A search that can begin: positions of the columns that take part, by rank; what it takes; and its loop."""

    ids: NDArray[np.int64]
    plan: SearchPlan
    loop: SearchLoop


class Selection(NamedTuple):
    """What was found, and what stopped the search before its end, if anything did."""

    result: Result
    stopped_by: BaseException | None


def most_important(evidence: Evidence, found: NDArray[np.int64]) -> NDArray[np.int64]:
    """Of columns found, a few: those of the highest mean importance."""
    return found[np.argsort(-evidence.mean_importance(found), kind="stable")[:LEADING]]


def namer(
    store: Store, ids: NDArray[np.signedinteger[Any]], leading: Callable[[Any], NDArray[np.int64]]
) -> Callable[[Any], tuple[str, ...]]:
    """What gives the names of the columns that `leading` gives the ranks of; a name is read once."""
    known: dict[int, str] = {}

    def names(state: Any) -> tuple[str, ...]:
        positions = ids[leading(state)].tolist()
        for position in positions:
            if position not in known:
                known[position] = store.names[position]
        return tuple(known[position] for position in positions)

    return names


def result_by_rule(
    store: Store, ids: NDArray[np.int64], facts: Facts, rule: Rule, evidence: Evidence, history: History
) -> Result:
    """What a rule makes of the evidence for the columns at positions `ids`, as a result for all columns of a store."""
    chances, verdicts = rule.chances(evidence), rule.judge(evidence)
    modelled, null = rule.modelled(evidence), rule.compared_with(evidence)
    evidence = evidence.of_first(len(ids))  # decoys have no result
    score = evidence.mean_importance()
    insight = Insight(history, compared(null.scores, score, verdicts.decision, n=null.n, threshold=null.threshold))
    return result_of(
        store,
        ids,
        facts,
        verdicts,
        draws=evidence.draws,
        score=score,
        wins=evidence.wins,
        p=chances,
        q=None if chances is None else false_discoveries(chances),
        modelled=modelled,
        insight=insight,
    )
