"""Searching with random ferns: importance against shadow importance, subspace by subspace.

A draw holds q columns, and its ferns use these alone, so that nothing else is read or dealt anew. In a sequential
search part of every fern are columns found before: a column that tells nothing but beside others meets them in most of
its ferns, and not once in a million.
"""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from itertools import chain
from typing import TYPE_CHECKING, Any, ClassVar, Literal, NamedTuple, get_args

import numpy as np

from fernwood import seeds
from fernwood.errors import ParameterError
from fernwood.learner.ferns import check_depth, draw_columns, grow, new_tally
from fernwood.learner.many import in_order
from fernwood.relevance.paper import Evidence, MaxShadowRule
from fernwood.relevance.tested import ShadowRule, check_fdr
from fernwood.run.driving import SearchProgress
from fernwood.search.checkpoints import evidence_of, whole_number
from fernwood.search.fern_fitting import FernColumns
from fernwood.search.plain import plain_value
from fernwood.search.selection import most_important
from fernwood.subspace.sequential import draw_subspace
from fernwood.subspace.sizes import share_of
from fernwood.validation import a_share, at_least, one_of
from fernwood.work.packing import pack, shares

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from numpy.typing import NDArray

    from fernwood.kernels.ferns import Tally
    from fernwood.learner.ferns import FernRows
    from fernwood.relevance.paper import Rule
    from fernwood.search.decoys import Candidates
    from fernwood.search.working import Crew

__all__ = ["FernRuleName", "FernSearch", "FernSettings", "FernState"]

FernRuleName = Literal["shadow", "max-shadow"]

_DRAWS, _FERNS = 21, 22  # addresses below the seed
_SCANS_A_DRAW = 20
"""How often a draw considers each of its columns, on average: what is read once is used so often."""
_ROUNDS = 10
"""Rounds that there are in any case, as far as there are ferns for them: draws of few columns are smaller for that."""
_FEWEST_SCANS = 5
"""Columns considered this often or less are not confirmed."""


@dataclass(frozen=True, slots=True)
class FernSettings:
    """What the answer of a search with ferns depends on, beside the data and the seed.

    Parameters
    ----------
    depth
        D, the splits of a fern, 1 to 16.
    scans
        How often a column is considered on average; the number of ferns follows.
    rule
        `shadow` tests columns at a false discovery rate, see `fernwood.relevance.tested.ShadowRule`; `max-shadow` finds
        those above the most important shadow, formula (8) of Kursa (2017).
    fdr
        The false discovery rate of `shadow`.
    sequential
        Whether part of a fern are columns found before.
    alpha
        Which part: ⌊alpha · depth⌋ of its columns, as far as there are found ones in the draw.
    q
        Columns in a draw; None follows from the table, see `fernwood.subspace.sizes`.
    round_size
        Draws that see the same found columns.

    Examples
    --------
    >>> settings = FernSettings(scans=100)
    >>> settings.ferns_a_draw(7000, 70), settings.draws(7000, 70), settings.ferns_a_draw(700, 70)
    (200, 500, 50)
    """

    method: ClassVar[str] = "ferns"
    kernels: ClassVar[tuple[str, ...]] = ("ferns",)

    depth: int = 7
    scans: int = 1000
    rule: FernRuleName = "shadow"
    fdr: float = 0.1
    sequential: bool = True
    alpha: float = 0.5
    q: int | None = None
    round_size: int = 20

    def __post_init__(self) -> None:
        check_depth(self.depth)
        at_least("scans", self.scans, 1)
        one_of("rule", self.rule, get_args(FernRuleName))
        check_fdr(self.fdr)
        if not isinstance(self.sequential, (bool, np.bool_)):
            raise ParameterError(f"sequential is {self.sequential!r}; give True or False")
        a_share("alpha", self.alpha)
        at_least("round_size", self.round_size, 1)

    @property
    def n_carried(self) -> int:
        """How many columns of a fern are columns found before, where there are so many."""
        return math.floor(share_of(self.alpha, self.depth)) if self.sequential else 0

    def ferns_a_draw(self, n_columns: int, q: int) -> int:
        """How many ferns a draw of q columns has, for so many usable columns."""
        ferns = self.scans * n_columns / self.depth
        return math.ceil(min(_SCANS_A_DRAW * q / self.depth, ferns / (_ROUNDS * self.round_size)))

    def draws(self, n_columns: int, q: int) -> int:
        """How many draws there are, for so many usable columns."""
        return math.ceil(self.scans * n_columns / (self.depth * self.ferns_a_draw(n_columns, q)))

    @property
    def tests(self) -> bool:
        """Whether the rule compares columns with those that are about as important by chance."""
        return self.rule != "max-shadow"

    def make_rule(self, strata: NDArray[np.uint16] | None = None, n_decoys: int = 0) -> Rule:
        """The rule that decides what is found; for strata and decoys see `fernwood.relevance.tested`."""
        if not self.tests:
            return MaxShadowRule(_FEWEST_SCANS)
        return ShadowRule(self.fdr, _FEWEST_SCANS, strata, n_decoys, straight=True)

    def to_json(self) -> dict[str, Any]:
        """Plain values."""
        return {name: plain_value(value) for name, value in asdict(self).items()}

    @classmethod
    def from_json(cls, entries: dict[str, Any]) -> FernSettings:
        """The settings that `to_json` wrote."""
        return cls(**entries)


class FernState(NamedTuple):
    """All that the next round needs: draws made, the evidence, whose draws are considerations, and what is found."""

    n_draws: int
    evidence: Evidence
    found: NDArray[np.int64]


class FernSearch:
    """A search with ferns as a run sees it; a `Loop`.

    Parameters
    ----------
    columns : to search, whose ranks everything else counts by
    rows : the rows of the store as ferns use them
    settings
    q : columns in a draw
    seed
    n_threads : draws side by side; the answer does not depend on it
    crew : workers of other processes that fit draws instead
    """

    def __init__(
        self,
        columns: Candidates,
        rows: FernRows,
        settings: FernSettings,
        q: int,
        seed: int,
        n_threads: int = 1,
        crew: Crew | None = None,
    ) -> None:
        self._crew = crew
        store, ids, strata, n_decoys = columns
        self._columns = FernColumns(store, ids, rows, seed)
        self._n_columns, self._n_judged = len(ids), columns.n_judged
        self._settings = settings
        self.q = q
        self._seed = seed
        self._n_threads = n_threads
        self._n_draws, self._n_ferns = settings.draws(len(ids), q), settings.ferns_a_draw(len(ids), q)
        self.rule = settings.make_rule(strata, n_decoys)

    def start(self) -> FernState:
        """Before the first draw."""
        return FernState(0, Evidence.none(self._n_columns, n_shadows=1), np.empty(0, np.int64))

    def step(self, state: FernState) -> FernState:
        """One more round; its draws are added in their order."""
        numbers = range(state.n_draws, min(state.n_draws + self._settings.round_size, self._n_draws))
        often, importance = state.evidence.draws.copy(), state.evidence.importance.copy()
        shadow = state.evidence.shadow.copy()
        for columns, tally in self._fitted(numbers, state.found):
            often[columns] += tally.often
            importance[columns] += tally.importance
            shadow[0, columns] += tally.shadow
        evidence = Evidence(often, importance, state.evidence.wins, shadow)
        return FernState(numbers.stop, evidence, self.rule.found(evidence))

    def _fitted(self, numbers: range, found: NDArray[np.int64]) -> Iterator[tuple[NDArray[np.int64], Tally]]:
        """Draws of these numbers: their columns, and what ferns say of them."""
        if self._crew is None:
            return in_order(lambda number: self.fit(number, found), numbers, self._n_threads)
        asked = [(some, pack(found)) for some in shares(numbers, self._crew.n_workers)]
        return chain.from_iterable(self._crew.ask("draws", asked))

    def fit(self, draw: int, found: NDArray[np.int64]) -> tuple[NDArray[np.int64], Tally]:
        """The columns of a draw, and what its ferns say of them."""
        settings = self._settings
        share = settings.alpha if settings.n_carried else 0.0
        here = seeds.numbered_states(draw, 1, self._seed, _DRAWS)[0]
        columns = draw_subspace(self._n_columns, found, self.q, share, here)
        carried = np.flatnonzero(np.isin(columns, found, assume_unique=True)).astype(np.int32)
        states = seeds.states(self._n_ferns, self._seed, _FERNS, draw)
        trunks = draw_columns(states, self.q, settings.depth, carried, settings.n_carried)
        field = self._columns.field(columns)
        shadows = self._columns.shadows(field.codes, columns)
        tally = new_tally(self.q)
        grow(field, trunks, states, keep=False, tally=tally, shadows=shadows)
        return columns, tally

    def progress(self, state: FernState) -> SearchProgress:
        """How far it is."""
        examined = int(np.count_nonzero(state.evidence.draws[: self._n_judged]))
        return SearchProgress(
            "searching", state.n_draws, self._n_draws, "draws", len(state.found), examined, self._n_judged
        )

    def leading(self, state: FernState) -> NDArray[np.int64]:
        """Ranks of a few columns found, the most important."""
        return most_important(state.evidence, state.found)

    def pack(self, state: FernState) -> Mapping[str, NDArray[Any]]:
        """The state as named arrays; what is found follows from the evidence."""
        return {"n_draws": np.array(state.n_draws), **state.evidence._asdict()}

    def unpack(self, arrays: Mapping[str, NDArray[Any]]) -> FernState:
        """The state from a checkpoint."""
        n_draws = whole_number(arrays["n_draws"], self._n_draws)
        evidence = evidence_of(arrays, self.start().evidence)
        if evidence.draws.sum(dtype=np.int64) > n_draws * self._n_ferns * self._settings.depth:
            raise ValueError("the checkpoint's draws do not add up")
        return FernState(n_draws, evidence, self.rule.found(evidence))
