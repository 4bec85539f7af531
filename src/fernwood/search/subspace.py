"""RS and SRS: Algorithm 1 of Sutera et al. (2018), in rounds.

A round is a number of draws that all see the same F, so that they can run side by side; a round of one draw is the
paper's sequence exactly. What a draw is depends on its number and the seed alone, so neither the number of workers nor
a pause between rounds changes the answer.
"""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING, NamedTuple, Protocol

import numpy as np

from fernwood import seeds
from fernwood.learner.many import in_order, one_ahead
from fernwood.relevance.paper import NO_SHADOWS, Evidence
from fernwood.subspace.sequential import draw_subspace
from fernwood.work.packing import pack, shares

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from numpy.typing import NDArray

    from fernwood.learner.trees import Tree
    from fernwood.relevance.paper import Rule
    from fernwood.search.working import Crew

__all__ = [
    "Draw",
    "Learner",
    "Scores",
    "SearchState",
    "SubspaceSearch",
    "decide",
    "fit_draws",
    "fit_round",
    "start",
    "step",
]

_DRAWS = 0  # the address of draws below the seed


class Scores(NamedTuple):
    """What one fit says: importances of the columns of the draw, of the random probe, and of shadows; the trees."""

    importance: NDArray[np.float64]
    probe: float
    trees: tuple[Tree, ...] = ()
    shadows: NDArray[np.float64] = NO_SHADOWS


class Learner(Protocol):
    """Anything that fits a draw of columns: trees, ferns, an oracle in tests."""

    def __call__(self, columns: NDArray[np.int64], draw: int) -> Scores:
        """Importances of these columns, in the order given; `draw` is the address of the fit's randomness."""


class Draw(NamedTuple):
    """A draw that was fitted."""

    number: int
    columns: NDArray[np.int64]
    scores: Scores


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
    carry : the share of F that a draw may carry
    n_shadows : of every column, that its fits score beside it
    n_decoys : columns, the last ones, that are drawn but not judged; see `fernwood.search.decoys`
    n_threads, group : draws fitted side by side, and handed to a thread together; the answer depends on neither
    expect : told which columns are fitted next, so that they can be fetched
    crew : workers of other processes that fit draws instead
    """

    n_columns: int
    q: int
    alpha: float
    rule: Rule
    learner: Learner
    seed: int
    round_size: int = 1
    weighted: bool = False
    carry: float = 1.0
    n_shadows: int = 0
    n_decoys: int = 0
    n_threads: int = 1
    group: int = 1
    expect: Callable[[NDArray[np.int64]], object] | None = None
    crew: Crew | None = None


class SearchState(NamedTuple):
    """All that the next round needs: draws made, the evidence, F, and how many draws were made when F last changed."""

    n_draws: int
    evidence: Evidence
    found: NDArray[np.int64]
    changed: int = 0


def start(search: SubspaceSearch) -> SearchState:
    """Before the first draw: no evidence, nothing found."""
    return SearchState(0, Evidence.none(search.n_columns, search.n_shadows), np.empty(0, np.int64))


def fit_round(search: SubspaceSearch, state: SearchState, most: int | None = None) -> list[Draw]:
    """The next draws, all of which see the same F; at most as many as said, of a last round that is cut short."""
    weights = None
    if search.weighted and len(state.found):
        weights = np.maximum(state.evidence.mean_importance(state.found), 0.0)
    size = search.round_size if most is None else min(search.round_size, most)
    numbers = range(state.n_draws, state.n_draws + size)
    if search.crew is None:
        return fit_draws(search, numbers, state.found, weights)
    asked = [
        (some, pack(state.found), None if weights is None else weights.tobytes())
        for some in shares(numbers, search.crew.n_workers)
    ]
    scores = chain.from_iterable(search.crew.ask("draws", asked))
    drawn = _drawn(search, numbers, state.found, weights)
    return [Draw(number, columns, told) for (number, columns), told in zip(drawn, scores, strict=True)]


def _drawn(
    search: SubspaceSearch, numbers: range, found: NDArray[np.int64], weights: NDArray[np.float64] | None
) -> Iterator[tuple[int, NDArray[np.int64]]]:
    """Draws of these numbers: their columns."""
    for number in numbers:
        here = seeds.numbered_states(number, 1, search.seed, _DRAWS)[0]
        yield number, draw_subspace(search.n_columns, found, search.q, search.alpha, here, weights, search.carry)


def fit_draws(
    search: SubspaceSearch, numbers: range, found: NDArray[np.int64], weights: NDArray[np.float64] | None
) -> list[Draw]:
    """Draws of these numbers, which carry columns found in proportion to weights, fitted in this process."""

    def fit(draw: tuple[int, NDArray[np.int64]]) -> Draw:
        number, columns = draw
        return Draw(number, columns, search.learner(columns, number))

    expect, coming = search.expect, _drawn(search, numbers, found, weights)
    if expect is not None:
        coming = one_ahead(coming, lambda draw: expect(draw[1]))
    return list(in_order(fit, coming, search.n_threads, search.group))


def decide(search: SubspaceSearch, state: SearchState, draws: list[Draw]) -> SearchState:
    """The evidence of a round added in the order of its draws, and F decided anew."""
    evidence = state.evidence.with_draws((draw.columns, *draw.scores[:2]) for draw in draws)
    if search.n_shadows:
        evidence = evidence.with_shadows((draw.columns, draw.scores.shadows) for draw in draws)
    found, n_draws = search.rule.found(evidence), state.n_draws + len(draws)
    changed = state.changed if np.array_equal(found, state.found) else n_draws
    return SearchState(n_draws, evidence, found, changed)


def step(search: SubspaceSearch, state: SearchState, most: int | None = None) -> SearchState:
    """One round."""
    return decide(search, state, fit_round(search, state, most))
