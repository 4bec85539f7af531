"""Which columns to remove next when they are drawn at random: RVE, RVErS, and steps of a fixed size.

Stracuzzi and Utgoff (2004), Tables 2 and 3. The columns of a removal are drawn at the address (seed, call).
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, TypeVar

import numpy as np

from fernwood import seeds
from fernwood.theory.elimination import elimination_schedule, success_chance

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

__all__ = ["DRAWS", "Bounds", "EarlyEnding", "KnownNumber", "RandomRemovals", "Removals", "Tried", "UnknownNumber"]

Memory = TypeVar("Memory")

DRAWS = 42
"""The address of removals below the seed, beside those of other searches."""
_PATIENCE = 10


class Tried(NamedTuple):
    """A removal that was tried.

    Attributes
    ----------
    columns : ranks of the columns
    harmless : whether the error stayed within the tolerance
    accepted : whether they are gone; of several harmless removals of one round only the best is
    n_left : columns that were left before
    rise : by how much the error rose
    """

    columns: NDArray[np.int64]
    harmless: bool
    accepted: bool
    n_left: int
    rise: float = 0.0


class Removals(Protocol[Memory]):
    """A way to choose removals. What it remembers never changes; every round makes a new memory."""

    def start(self) -> Memory:
        """Before the first removal."""

    def propose(self, memory: Memory, left: NDArray[np.bool_], call: int) -> list[NDArray[np.int64]]:
        """Removals to try next, each by ranks in order; none when the search is over."""

    def heard(self, memory: Memory, tried: list[Tried], left: NDArray[np.bool_]) -> Memory:
        """What is remembered after a round; `left` is after it."""

    def estimate(self, memory: Memory, left: NDArray[np.bool_]) -> float:
        """How many columns are relevant, as far as it is known."""

    def calls_to_come(self, memory: Memory, left: NDArray[np.bool_]) -> float:
        """A guess."""

    def pack(self, memory: Memory) -> dict[str, NDArray[Any]]:
        """The memory as named arrays."""

    def unpack(self, arrays: dict[str, NDArray[Any]]) -> Memory:
        """The memory from a checkpoint; ValueError where it cannot be."""

    def said(self, memory: Memory, left: NDArray[np.bool_]) -> list[str]:
        """What a reader should know about how it ended."""


class Bounds(NamedTuple):
    """What is remembered of r: the guess, its bounds, successes and failures in a row, and whether it is over."""

    r: int
    r_min: int
    r_max: int
    success: int = 0
    fail: int = 0
    over: int = 0


class RandomRemovals:
    """What RVE and RVErS share: the schedule, the draws, the memory.

    Parameters
    ----------
    n_columns
    seed
    cost
        M(n), see `fernwood.theory.elimination_schedule`.
    fewest
        Columns that stay in any case.
    candidates
        Removals that are tried at once.
    step
        Columns in every removal, or None for the best number.
    """

    def __init__(
        self,
        n_columns: int,
        seed: int,
        cost: str | Callable[[int], float],
        fewest: int,
        candidates: int = 1,
        step: int | None = None,
    ) -> None:
        self._n_columns = n_columns
        self._seed = seed
        self._cost = cost
        self._fewest = fewest
        self._candidates = candidates
        self._step = step
        self._sizes: dict[int, dict[int, int]] = {}

    def propose(self, memory: Bounds, left: NDArray[np.bool_], call: int) -> list[NDArray[np.int64]]:
        """As many draws of k columns as are tried at once."""
        n = int(np.count_nonzero(left))
        if memory.over or n <= self._fewest:
            return []
        ranks, k = np.flatnonzero(left), self._size(memory, n)
        return [
            np.sort(seeds.generator(self._seed, DRAWS, call + place).choice(ranks, k, replace=False))
            for place in range(self._candidates)
        ]

    def _size(self, memory: Bounds, n: int) -> int:
        """How many columns the next removal has."""
        return min(self._step or self._best_size(n, memory.r), n - self._fewest)

    def _best_size(self, n: int, r: int) -> int:
        """k_opt(n, r); with r as large as n, one column at a time."""
        r = min(r, n - 1)
        known = self._sizes.setdefault(r, {})
        if n not in known:
            known.update(elimination_schedule(n, r, self._cost).steps)
        return known[n]

    def _failures(self, n: int, r: int, k: int) -> float:
        """E⁻(n, r, k), the failures to expect before a success; with r as large as n, of r = n − 1."""
        chance = 1 - (1 - success_chance(n, min(r, n - 1), k)) ** self._candidates
        # Rounded, so that a count that reaches a whole number does so on every machine.
        return round((1 - chance) / chance, 9) if chance > 0 else float(n)

    def _expected_calls(self, n: int, r: int) -> float:
        """Calls to expect until r columns are left, the failures among them."""
        calls = 0.0
        while n > r:
            k = min(self._step or self._best_size(n, r), n - r)
            calls += 1 + self._failures(n, r, k)
            n -= k
        return calls

    def estimate(self, memory: Bounds, left: NDArray[np.bool_]) -> float:
        """The guess at r."""
        return float(min(memory.r, int(np.count_nonzero(left))))

    def pack(self, memory: Bounds) -> dict[str, NDArray[Any]]:
        """The memory as one array."""
        return {"bounds": np.array(memory, np.int64)}

    def unpack(self, arrays: dict[str, NDArray[Any]]) -> Bounds:
        """The memory from a checkpoint."""
        bounds = arrays["bounds"]
        if bounds.shape != (len(Bounds._fields),) or bounds.dtype != np.int64 or bounds.min() < 0:
            raise ValueError("the checkpoint's bounds are of another shape or type")
        if bounds[:3].max() > self._n_columns:
            raise ValueError("the checkpoint's bounds cannot be")
        return Bounds(*bounds.tolist())


class KnownNumber(RandomRemovals):
    """RVE, Table 2: r is known, and the search is over when r columns are left.

    The paper's loop goes on for ever where fewer than r columns could be removed; here it is over when ten times as
    many removals fail in a row as it should take on average.
    """

    def start(self) -> Bounds:
        """The guess is right by assumption."""
        return Bounds(self._fewest, self._fewest, self._fewest)

    def heard(self, memory: Bounds, tried: list[Tried], left: NDArray[np.bool_]) -> Bounds:  # noqa: ARG002
        """Failures in a row, and whether they are too many."""
        if any(one.accepted for one in tried):
            return memory._replace(success=memory.success + 1, fail=0)
        fail, first = memory.fail + 1, tried[0]
        usual = 1 + self._failures(first.n_left, memory.r, len(first.columns))
        return memory._replace(success=0, fail=fail, over=int(fail >= _PATIENCE * usual))

    def calls_to_come(self, memory: Bounds, left: NDArray[np.bool_]) -> float:
        """What the schedule expects."""
        return self._expected_calls(int(np.count_nonzero(left)), memory.r)

    def said(self, memory: Bounds, left: NDArray[np.bool_]) -> list[str]:
        """Why more columns are left than were asked for, where that is so."""
        n = int(np.count_nonzero(left))
        if not memory.over or n <= self._fewest:
            return []
        sentence = (
            f"{n:,} columns are left, not {self._fewest:,}: {memory.fail:,} removals in a row made the error rise; "
            "n_relevant may be too small, or the tolerance"
        )
        return [sentence]


class UnknownNumber(RandomRemovals):
    """RVErS, Table 3: r is searched for between two bounds while columns are removed.

    Many failures in a row raise the lower bound to r, many successes lower the upper one; the next guess is the middle.
    Where the lower bound is reached, by the guess or by the columns left, all three become the number of columns left:
    columns then go one at a time, and the search is over after c1 E⁻ failures in a row. With a fixed step nothing is
    searched for: it is as if the bound were reached from the beginning.

    Parameters
    ----------
    n_columns, seed, cost, fewest, candidates, step
        See `RandomRemovals`.
    r_max
        The upper bound at the start; the lower one is `fewest`.
    c1, c2
        Failures and successes in a row that move a bound, in terms of those expected.
    """

    def __init__(
        self,
        n_columns: int,
        seed: int,
        cost: str | Callable[[int], float],
        fewest: int,
        candidates: int = 1,
        step: int | None = None,
        *,
        r_max: int,
        c1: float = 3,
        c2: float = 0.3,
    ) -> None:
        super().__init__(n_columns, seed, cost, fewest, candidates, step)
        self._r_max = r_max
        self._c1 = c1
        self._c2 = c2

    def start(self) -> Bounds:
        """The guess is the middle."""
        if self._step is not None:
            return Bounds(self._n_columns, self._n_columns, self._n_columns)
        return Bounds((self._fewest + self._r_max) // 2, self._fewest, self._r_max)

    def heard(self, memory: Bounds, tried: list[Tried], left: NDArray[np.bool_]) -> Bounds:
        """Table 3 from the counters on; the misprint of its last line mended."""
        first, n = tried[0], int(np.count_nonzero(left))
        won = any(one.accepted for one in tried)
        r, r_min, r_max = memory.r, memory.r_min, memory.r_max
        success, fail = (memory.success + 1, 0) if won else (0, memory.fail + 1)
        if r <= r_min or n <= r_min:
            alone = self._failures(n, n, 1) / (self._step or 1)
            return Bounds(n, n, n, success, fail, int(fail >= self._c1 * alone))
        failures = self._failures(first.n_left, r, len(first.columns))
        if fail >= self._c1 * failures:
            return Bounds((r_max + r) // 2, r, r_max)
        if won and success >= self._c2 * (r - failures):
            return Bounds((r + r_min) // 2, r_min, r)
        return memory._replace(success=success, fail=fail)

    def calls_to_come(self, memory: Bounds, left: NDArray[np.bool_]) -> float:
        """What the schedule expects for the guess, and the failures that it takes to end."""
        n = int(np.count_nonzero(left))
        r = min(memory.r, n)
        if r == n:
            return float(max(self._c1 * (n - 1) / (self._step or 1) - memory.fail, 1))
        return self._expected_calls(n, r) + self._c1 * r

    def said(self, memory: Bounds, left: NDArray[np.bool_]) -> list[str]:  # noqa: ARG002
        """Nothing: it ends as it should."""
        return []


class EarlyEnding(UnknownNumber):
    """RVErS as the text around Table 3 reads: where the bounds have met, c1 E⁻ failures in a row end the search.

    E⁻ is that of the r at which they met, not of one column at a time: where it came out low, the search ends with
    columns that could still go, after far fewer calls. A bound moves where a count is exceeded, the guess is the middle
    rounded up, and E⁻ counts whole failures; with fewer columns left than the lower bound, all three become their
    number. This is the reading that gives the calls and columns of Table 4 and of the paper's data sets.
    """

    def start(self) -> Bounds:
        """The guess is the middle."""
        return Bounds(_middle(self._fewest, self._r_max), self._fewest, self._r_max)

    def heard(self, memory: Bounds, tried: list[Tried], left: NDArray[np.bool_]) -> Bounds:
        """Table 3 from the counters on."""
        first, n = tried[0], int(np.count_nonzero(left))
        won = any(one.accepted for one in tried)
        success, fail = (memory.success + 1, 0) if won else (0, memory.fail + 1)
        r, r_min, r_max = memory.r, memory.r_min, memory.r_max
        expected = math.floor(self._failures(first.n_left, r, len(first.columns)))
        too_many = fail > self._c1 * expected
        if r_min >= r_max and too_many:
            return memory._replace(success=success, fail=fail, over=1)
        if n < r_min:
            return Bounds(n, n, n, success, fail)
        if too_many:
            return Bounds(_middle(r, r_max), r, r_max)
        if won and success > self._c2 * (r - expected):
            return Bounds(_middle(r_min, r), r_min, r)
        return memory._replace(success=success, fail=fail)


def _middle(low: int, high: int) -> int:
    """Rounded up, so that failures raise the lower bound until it meets the upper one."""
    return (low + high + 1) // 2
