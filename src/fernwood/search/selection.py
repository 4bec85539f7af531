"""What a search is before it begins, and what it returns: the result, and what stopped it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Generic, NamedTuple, TypeVar

from fernwood.relevance.shadows import false_discoveries
from fernwood.result import result_of

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from fernwood.relevance.paper import Evidence, Rule
    from fernwood.result import Facts, Result
    from fernwood.run.driving import Loop
    from fernwood.run.plan import SearchPlan
    from fernwood.store.base import Store

__all__ = ["Prepared", "Selection", "result_by_rule"]

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


def result_by_rule(store: Store, ids: NDArray[np.int64], facts: Facts, rule: Rule, evidence: Evidence) -> Result:
    """What a rule makes of the evidence for the columns at positions `ids`, as a result for all columns of a store."""
    chances = rule.chances(evidence)
    return result_of(
        store,
        ids,
        facts,
        rule.judge(evidence),
        draws=evidence.draws,
        score=evidence.mean_importance(),
        wins=evidence.wins,
        p=chances,
        q=None if chances is None else false_discoveries(chances),
        modelled=rule.modelled(evidence),
    )
