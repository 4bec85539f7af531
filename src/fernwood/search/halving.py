"""Which columns to remove next when the search learns from failures: group testing.

A failed removal says that at least one of its columns is relevant. So its columns become a suspected group, of which a
part is tried later: if that part may go, the rest of the group is the suspect; if not, the part is, and the rest is as
unknown as it was. A suspected group of one column is a relevant column. Every removal has about even odds, which is
what tells most; of all that could be tried so, the one that is expected to remove most columns comes first, so that
later calls are cheap. How many columns are relevant follows from what was seen, by Bayes' rule.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from fernwood import seeds
from fernwood.search.checkpoints import check_like
from fernwood.search.removals import DRAWS

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from fernwood.search.removals import Tried

__all__ = ["Halving", "Suspicion"]

# What is known of a column; suspected groups have numbers from 1 on.
_GONE, _RELEVANT, _UNKNOWN, _FIRST_GROUP = -2, -1, 0, 1
_MOST_GROUPS, _MOST_PLACES = 2**30, 2**62
"""More than any search comes to; beyond the largest numbers, those of a checkpoint would wrap around."""
_GRID = 128
_ODDS = 0.5
_STALE = 0.95
"""A column that failed alone is tried again when the columns left are at most this share of those left then."""


class Suspicion(NamedTuple):
    """What is remembered of every column.

    Attributes
    ----------
    group : int32 array; the suspected group that it is in, or what else is known of it
    place : int64 array; the order in which columns are tried
    failed_at : int32 array; how many columns were left when it last failed alone, 0 if it never did
    rise : float64 array; by how much the error rose then
    looks : int64 array of one number; last looks that failed since a column went
    """

    group: NDArray[np.int32]
    place: NDArray[np.int64]
    failed_at: NDArray[np.int32]
    rise: NDArray[np.float64]
    looks: NDArray[np.int64]


class _Option(NamedTuple):
    """A removal that could be tried: its group, its columns, and how many of them it is expected to remove."""

    group: int
    columns: NDArray[np.int64]
    gain: float


class Halving:
    """Removals of even odds, and suspected groups that are halved until one column stays. A `Removals`.

    Parameters
    ----------
    n_columns, seed
    r_min, r_max
        Bounds of the number of relevant columns, between which all its orders of magnitude are as likely beforehand.
    fewest
        Columns that stay in any case.
    candidates
        Removals that are tried at once.
    wanted
        How many columns were asked for, if that was said; see `said`.

    Notes
    -----
    Columns are taken to be relevant independently of each other with one unknown chance, which makes the posterior a
    product: every column that is gone, relevant ones and suspected groups give one factor each.

    When nothing is left to halve, columns whose verdict is old are tried once more, alone: those that were inferred
    from the rest of their group, and those that failed when more columns were left by a twentieth. Then no column can
    go alone; but where chance has a large part in the error, as with trees and few rows, that says little. So last
    looks follow: at the half of the columns that raised the error least when they went, at a quarter, and so on down to
    two. The search is over when they all fail.
    """

    def __init__(
        self,
        n_columns: int,
        seed: int,
        r_min: int,
        r_max: int,
        fewest: int | None = None,
        candidates: int = 1,
        wanted: int | None = None,
    ) -> None:
        self._n_columns = n_columns
        self._seed = seed
        self._fewest = r_min if fewest is None else fewest
        self._candidates = candidates
        self._wanted = wanted
        self._numbers = np.geomspace(max(r_min, 0.5), max(r_max, r_min, 1), _GRID)
        chance = np.minimum(self._numbers / n_columns, 1 - 1e-3)
        self._log_relevant, self._log_not = np.log(chance), np.log1p(-chance)

    def start(self) -> Suspicion:
        """Nothing is known; columns stand in an order drawn from the seed."""
        n = self._n_columns
        place = np.argsort(seeds.generator(self._seed, DRAWS, 0).permutation(n))
        unknown, never = np.full(n, _UNKNOWN, np.int32), np.zeros(n, np.int32)
        return Suspicion(unknown, place.astype(np.int64), never, np.zeros(n), np.zeros(1, np.int64))

    def propose(self, memory: Suspicion, left: NDArray[np.bool_], call: int) -> list[NDArray[np.int64]]:  # noqa: ARG002
        """The most promising removals, each from columns that the others do not have."""
        n = int(np.count_nonzero(left))
        spare = n - self._fewest
        if spare < 1:
            return []
        options = self._options(memory, spare)
        if not options:
            old = self._stale(memory, n)
            alone = [np.array([rank]) for rank in old[: self._candidates]]
            return alone or self._last_looks(memory, n, spare)[: self._candidates]
        options.sort(key=lambda option: (-option.gain, option.group))
        chosen = options[: self._candidates]
        if len(chosen) < self._candidates and chosen[0].group == _UNKNOWN:
            chosen += self._more_unknown(memory, chosen[0], self._candidates - len(chosen))
        return [np.sort(option.columns) for option in chosen]

    def heard(self, memory: Suspicion, tried: list[Tried], left: NDArray[np.bool_]) -> Suspicion:
        """What the outcomes say of the columns."""
        group, place, failed_at = memory.group.copy(), memory.place.copy(), memory.failed_at.copy()
        rise, looks = memory.rise.copy(), memory.looks.copy()
        group[~left] = _GONE
        if any(one.accepted for one in tried):
            looks[0] = 0
        for one in tried:
            source = int(memory.group[one.columns[0]])
            if source == _RELEVANT and len(one.columns) > 1:
                looks += not one.harmless
                continue
            rest = np.flatnonzero(group == source) if source >= _FIRST_GROUP else np.empty(0, np.int64)
            rest = np.setdiff1d(rest, one.columns)
            if one.harmless:
                # What remains of the group holds the relevant one; a harmless removal that was not taken is unknown.
                if not one.accepted and source != _RELEVANT:
                    group[one.columns] = _UNKNOWN
                if len(rest) == 1:
                    group[rest] = _RELEVANT
                continue
            group[rest] = _UNKNOWN
            place[rest] = place.max() + 1 + np.argsort(np.argsort(place[rest]))
            if len(one.columns) == 1:
                group[one.columns], failed_at[one.columns], rise[one.columns] = _RELEVANT, one.n_left, one.rise
            else:
                group[one.columns] = max(int(group.max()), 0) + 1
        return Suspicion(group, place, failed_at, rise, looks)

    def estimate(self, memory: Suspicion, left: NDArray[np.bool_]) -> float:  # noqa: ARG002
        """The relevant columns that are known, and those to expect among the others."""
        weights = self._posterior(memory)
        chance = np.exp(self._log_relevant)
        known = np.count_nonzero(memory.group == _RELEVANT)
        expected = np.count_nonzero(memory.group == _UNKNOWN) * chance
        for size in self._sizes(memory):
            expected = expected + size * chance / -np.expm1(size * self._log_not)
        return float(known + weights @ expected)

    def calls_to_come(self, memory: Suspicion, left: NDArray[np.bool_]) -> float:
        """A call tells about one bit: the bits that are not known yet, and the columns to try once more."""
        n = int(np.count_nonzero(left))
        open_ = int(np.count_nonzero(memory.group >= _UNKNOWN))
        r = self.estimate(memory, left)
        chance = min(max((r - np.count_nonzero(memory.group == _RELEVANT)) / max(open_, 1), 1e-9), 0.5)
        bits = -open_ * (chance * np.log2(chance) + (1 - chance) * np.log2(1 - chance))
        return float(max(bits, 0) + len(self._stale(memory, n)) + 1)

    def pack(self, memory: Suspicion) -> dict[str, NDArray[Any]]:
        """The memory as named arrays."""
        return memory._asdict()

    def unpack(self, arrays: dict[str, NDArray[Any]]) -> Suspicion:
        """The memory from a checkpoint."""
        check_like(arrays, self.start()._asdict())
        memory = Suspicion(**{name: arrays[name] for name in Suspicion._fields})
        if not np.isfinite(memory.rise).all() or memory.looks[0] < 0:
            raise ValueError("the checkpoint's looks cannot be")
        ranges = (
            (memory.place, 0, _MOST_PLACES),
            (memory.group, _GONE, _MOST_GROUPS),
            (memory.failed_at, 0, self._n_columns),
        )
        if any(values.min() < least or values.max() > most for values, least, most in ranges):
            raise ValueError("the checkpoint's groups cannot be")
        return memory

    def said(self, memory: Suspicion, left: NDArray[np.bool_]) -> list[str]:
        """Why more columns are left than were asked for, where that is so."""
        n = int(np.count_nonzero(left))
        if self._wanted is None or n <= self._wanted or self.propose(memory, left, 0):
            return []
        sentence = (
            f"{n:,} columns are left, not {self._wanted:,}: every further removal made the error rise; n_relevant may "
            "be too small, or the tolerance"
        )
        return [sentence]

    # What could be tried -------------------------------------------------------------------------------------------

    def _options(self, memory: Suspicion, spare: int) -> list[_Option]:
        """For the unknown columns and for every suspected group, the removal of about even odds."""
        weights, log_not = self._posterior(memory), self._log_not
        order = np.argsort(memory.place, kind="stable")
        groups = memory.group[order]
        options = []
        for group in np.unique(groups[groups >= _UNKNOWN]).tolist():
            columns = order[groups == group]
            whole = np.exp(len(columns) * log_not) if group >= _FIRST_GROUP else 0.0
            most = min(len(columns) - (group >= _FIRST_GROUP), spare)

            def chance(k: int, whole: NDArray[np.float64] | float = whole) -> float:
                return float(weights @ ((np.exp(k * log_not) - whole) / (1 - whole)))

            k = _of_even_odds(chance, most)
            options.append(_Option(group, columns[:k], k * chance(k)))
        return options

    def _more_unknown(self, memory: Suspicion, first: _Option, n: int) -> list[_Option]:
        """More removals like the first from the unknown columns after it."""
        order = np.argsort(memory.place, kind="stable")
        others = order[memory.group[order] == _UNKNOWN][len(first.columns) :]
        width = len(first.columns)
        parts = [others[start : start + width] for start in range(0, len(others), width)]
        return [_Option(_UNKNOWN, part, 0.0) for part in parts[:n]]

    def _stale(self, memory: Suspicion, n: int) -> NDArray[np.int64]:
        """Relevant columns whose verdict is old, those that never failed alone first."""
        old = np.flatnonzero((memory.group == _RELEVANT) & ((memory.failed_at == 0) | (n <= _STALE * memory.failed_at)))
        return old[np.lexsort((memory.place[old], -memory.failed_at[old], memory.failed_at[old] > 0))]

    def _last_looks(self, memory: Suspicion, n: int, spare: int) -> list[NDArray[np.int64]]:
        """The columns that raised the error least when they went: half of those left, a quarter, … , two."""
        relevant = np.flatnonzero(memory.group == _RELEVANT)
        order = relevant[np.lexsort((memory.place[relevant], memory.rise[relevant]))]
        sizes = [n >> shift for shift in range(1, n.bit_length()) if 2 <= n >> shift <= spare]
        return [np.sort(order[:size]) for size in sizes[int(memory.looks[0]) :]]

    def _sizes(self, memory: Suspicion) -> NDArray[np.int64]:
        """How many columns the suspected groups have."""
        return np.unique(memory.group[memory.group >= _FIRST_GROUP], return_counts=True)[1]

    def _posterior(self, memory: Suspicion) -> NDArray[np.float64]:
        """How likely every number of relevant columns on the grid is."""
        likelihood: NDArray[np.float64] = np.count_nonzero(memory.group == _GONE) * self._log_not
        likelihood = likelihood + np.count_nonzero(memory.group == _RELEVANT) * self._log_relevant
        for size in self._sizes(memory):
            likelihood = likelihood + np.log(-np.expm1(size * self._log_not))
        weights = np.exp(likelihood - likelihood.max())
        return np.asarray(weights / weights.sum())


def _of_even_odds(chance: Callable[[int], float], most: int) -> int:
    """The number of columns from 1 to `most` whose removal succeeds with a chance nearest to one half.

    Examples
    --------
    >>> _of_even_odds(lambda k: 0.9**k, 50), _of_even_odds(lambda k: 0.9**k, 3)
    (7, 3)
    """
    low, high = 1, most
    while low < high:
        middle = (low + high + 1) // 2
        if chance(middle) >= _ODDS:
            low = middle
        else:
            high = middle - 1
    if low < most and abs(chance(low + 1) - _ODDS) < abs(chance(low) - _ODDS):
        return low + 1
    return low
