"""RS and SRS: Algorithm 1 of Sutera et al. (2018), in rounds.

A round is a number of draws that all see the same F, so that they can run side by side; a round of one draw is the
paper's sequence exactly. What a draw is depends on its number and the seed alone, so neither the number of workers nor
a pause between rounds changes the answer.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, Protocol

import numpy as np

from fernwood.relevance.paper import Evidence
from fernwood.seeds import generator
from fernwood.subspace.sequential import draw_subspace

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

__all__ = ["Learner", "Scores", "SearchState", "SubspaceSearch", "start", "step"]

_DRAWS = 0  # the address of draws below the seed


class Scores(NamedTuple):
    """What one fit says: an importance for every column of the draw, and that of the random probe beside them."""

    importance: NDArray[np.float64]
    probe: float


class Learner(Protocol):
    """Anything that fits a draw of columns: trees, ferns, an oracle in tests."""

    def __call__(self, columns: NDArray[np.int64], draw: int) -> Scores:
        """Importances of these columns, in the order given; `draw` is the address of the fit's randomness."""


class SubspaceSearch(NamedTuple):
    """What does not change during a search.

    Attributes
    ----------
    n_columns : columns in all
    q, alpha : size of a draw, and its share for columns found before
    rule : decides F from the evidence
    learner : fits a draw
    seed : below which every draw has its address
    round_size : draws that see the same F
    weighted : whether columns of F are carried in proportion to their mean importance
    """

    n_columns: int
    q: int
    alpha: float
    rule: Callable[[Evidence], NDArray[np.int64]]
    learner: Learner
    seed: int
    round_size: int = 1
    weighted: bool = False


class SearchState(NamedTuple):
    """All that the next round needs: draws made, the evidence, and F."""

    n_draws: int
    evidence: Evidence
    found: NDArray[np.int64]


def start(search: SubspaceSearch) -> SearchState:
    """Before the first draw: no evidence, nothing found."""
    return SearchState(0, Evidence.none(search.n_columns), np.empty(0, np.int64))


def step(search: SubspaceSearch, state: SearchState) -> SearchState:
    """One round: draws that see the same F, their evidence added in the order of their numbers, and F decided anew."""
    weights = None
    if search.weighted and len(state.found):
        weights = state.evidence.importance[state.found] / np.maximum(state.evidence.draws[state.found], 1)
    before = state.evidence
    draws, importance, wins = before.draws.copy(), before.importance.copy(), before.wins.copy()
    for number in range(state.n_draws, state.n_draws + search.round_size):
        rng = generator(search.seed, _DRAWS, number)
        columns = draw_subspace(search.n_columns, state.found, search.q, search.alpha, rng, weights)
        scores = search.learner(columns, number)
        draws[columns] += 1
        importance[columns] += scores.importance
        wins[columns] += scores.importance > scores.probe
    evidence = Evidence(draws, importance, wins)
    return SearchState(state.n_draws + search.round_size, evidence, search.rule(evidence))
