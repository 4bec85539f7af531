"""Randomized variable elimination as a search: try a removal, keep it where the error stays, remember what was tried.

A round tries one removal, or several at once. What it tries depends on the seed, the number of calls made and the
outcomes before it, and on nothing else.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any, ClassVar, Generic, Literal, NamedTuple, TypeVar, get_args

import numpy as np

from fernwood.errors import ParameterError
from fernwood.run.driving import SearchProgress
from fernwood.search.checkpoints import check_like, whole_number
from fernwood.search.halving import Halving
from fernwood.search.learners import check_kept, check_learner
from fernwood.search.plain import plain_text, plain_value
from fernwood.search.removals import EarlyEnding, KnownNumber, Tried, UnknownNumber
from fernwood.search.selection import LEADING
from fernwood.validation import at_least, is_integer, one_of

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from numpy.typing import NDArray

    from fernwood.learner.subsets import SubsetErrors
    from fernwood.search.removals import Removals

__all__ = ["Baseline", "EliminationLoop", "EliminationSettings", "EliminationState", "Trace"]

Memory = TypeVar("Memory")
SearchName = Literal["halving", "binary", "binary-early"]
Baseline = Literal["best", "last"]

_COSTS = ("constant", "linear", "quadratic")
_LOOKED_AT = (1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10_000)


@dataclass(frozen=True, slots=True, eq=False)
class EliminationSettings:
    """Randomized variable elimination (Stracuzzi and Utgoff 2004): what to do.

    Parameters
    ----------
    estimator
        A scikit-learn classifier or regressor, or the name of one, see `fernwood.search.learners`.
    n_relevant
        How many columns to keep, where it is known.
    r_min, r_max
        Bounds of the number of relevant columns, where it is not; fewer than r_min are never kept.
    tolerance
        How much the error may rise in a removal that is accepted, in the unit of the score.
    baseline
        Above what: `best` is the least error of all selections accepted so far; `last`, as the paper prints it, the
        error of the selection before, so that small rises add up.
    cost, c1, c2
        Of the paper's schedule and of its search for r: M(n), and how many failures and successes in a row move a
        bound.
    cv, scoring
        How a subset is tried, see `fernwood.learner.subsets`.
    step
        Columns in every removal; None lets the search choose.
    search
        `binary` is the paper's search for r, which ends one column at a time; `binary-early` ends once its bounds have
        met, with fewer calls and more columns; `halving` learns from failures. None is `halving`, but the paper's
        algorithm where `n_relevant` or `step` is given.
    candidates
        Removals that are tried at once; the best is accepted.
    holdout
        Share of the rows that is kept aside, on which the best selection is chosen; a splitter or one split of rows
        also serves; None keeps the last selection.

    Examples
    --------
    >>> EliminationSettings("naive-bayes", r_max=30).to_json()["r_max"]
    30
    """

    method: ClassVar[str] = "elimination"
    kernels: ClassVar[tuple[str, ...]] = ()  # learners compile nothing of ours, or do it by themselves

    estimator: Any
    n_relevant: int | None = None
    r_min: int = 2
    r_max: int | None = None
    tolerance: float = 0.002
    baseline: Baseline = "best"
    cost: str | Callable[[int], float] = "linear"
    c1: float = 3
    c2: float = 0.3
    cv: Any = 5
    scoring: Any = None
    step: int | None = None
    search: SearchName | None = None
    candidates: int = 1
    holdout: Any = None

    def __post_init__(self) -> None:
        check_learner(self.estimator)
        for name in ("n_relevant", "r_max", "step"):
            if (value := getattr(self, name)) is not None:
                at_least(name, value, 1, ", or None")
        at_least("r_min", self.r_min, 1)
        at_least("candidates", self.candidates, 1)
        if self.r_max is not None and self.r_min > self.r_max:
            raise ParameterError(f"r_min is {self.r_min} and r_max {self.r_max}; r_min must not be the larger")
        for name, least in (("tolerance", 0), ("c1", 1), ("c2", 0)):
            value = getattr(self, name)
            if not isinstance(value, (int, float, np.number)) or not (least <= value < np.inf):
                raise ParameterError(f"{name} is {value!r}; it must be a number from {least} on")
        one_of("baseline", self.baseline, get_args(Baseline))
        if self.search is not None:
            one_of("search", self.search, get_args(SearchName))
        if self.search in ("halving", "binary-early") and self.step is not None:
            raise ParameterError(
                f"step is {self.step} and search {self.search!r}, which chooses by itself; give one of them"
            )
        self._check_cost()
        held = self.holdout
        if isinstance(held, (int, float, np.number)) and (is_integer(held) or not 0 < held < 1):
            raise ParameterError(f"holdout is {held!r}; it must be a share between 0 and 1, a splitter, or None")

    def _check_cost(self) -> None:
        if not callable(self.cost):
            one_of("cost", self.cost, _COSTS)
            return
        prices = np.array([float(self.cost(n)) for n in _LOOKED_AT])
        if not np.isfinite(prices).all() or (prices < 0).any() or (np.diff(prices) < 0).any():
            place = int(np.argmin(np.diff(prices))) if np.isfinite(prices).all() else 0
            raise ParameterError(
                f"cost is {prices[place]:g} for {_LOOKED_AT[place]} columns and {prices[place + 1]:g} for "
                f"{_LOOKED_AT[place + 1]}; M(n) must be a cost that does not fall with more columns"
            )

    def checked_for(self, n_columns: int) -> None:
        """Refuse what does not fit a table of so many columns."""
        if self.n_relevant is not None and self.n_relevant >= n_columns:
            raise ParameterError(
                f"n_relevant is {self.n_relevant:,} of {n_columns:,} usable columns, which leaves none to remove; give "
                "less, or None"
            )

    def removals(self, n_columns: int, seed: int) -> KnownNumber | UnknownNumber | Halving:
        """What chooses the removals from so many columns."""
        self.checked_for(n_columns)
        fewest = min(self.r_min if self.n_relevant is None else self.n_relevant, n_columns)
        r_max = n_columns if self.r_max is None else min(self.r_max, n_columns)
        if self.step is not None or (self.search != "halving" and (self.search or self.n_relevant is not None)):
            common = (n_columns, seed, self.cost, fewest, self.candidates, self.step)
            if self.n_relevant is not None:
                return KnownNumber(*common)
            unknown = EarlyEnding if self.search == "binary-early" else UnknownNumber
            return unknown(*common, r_max=max(r_max, fewest), c1=self.c1, c2=self.c2)
        if self.n_relevant is not None:
            r_max = self.n_relevant
        return Halving(n_columns, seed, fewest, r_max, candidates=self.candidates, wanted=self.n_relevant)

    def to_json(self) -> dict[str, Any]:
        """Plain values; what is no plain value as text, which stands for it in a comparison."""
        entries = {field.name: plain_value(getattr(self, field.name)) for field in fields(self)}
        for name in ("estimator", "cv", "scoring", "holdout"):
            entries[name] = plain_text(entries[name])
        if callable(self.cost):
            prices = ", ".join(f"{float(self.cost(n)):g}" for n in _LOOKED_AT)
            entries["cost"] = f"function: {prices}"
        return entries

    @classmethod
    def from_json(cls, entries: dict[str, Any]) -> EliminationSettings:
        """The settings that `to_json` wrote; those of a run with an estimator from memory are not all there."""
        check_kept(entries, ("cv", "scoring", "holdout", "cost"))
        return cls(**entries)


class Trace(NamedTuple):
    """What the calls came to, one entry a call.

    Attributes
    ----------
    left : int32; columns that the learner was called with
    tried : int32; columns that were to be removed
    error : float64
    accepted : bool
    estimate : float64; how many columns are relevant, as it was thought then
    held_out : float64; the error on rows held out, NaN where it was not asked for
    """

    left: NDArray[np.int32]
    tried: NDArray[np.int32]
    error: NDArray[np.float64]
    accepted: NDArray[np.bool_]
    estimate: NDArray[np.float64]
    held_out: NDArray[np.float64]

    @classmethod
    def none(cls) -> Trace:
        """Before the first call."""
        counts, numbers = np.empty(0, np.int32), np.empty(0)
        return cls(counts, counts, numbers, np.empty(0, np.bool_), numbers, numbers)

    def with_call(self, *entries: float) -> Trace:
        """With one more call."""
        arrays: tuple[NDArray[Any], ...] = self
        return Trace(*(np.append(a, np.array(b, a.dtype)) for a, b in zip(arrays, entries, strict=True)))


class EliminationState(NamedTuple, Generic[Memory]):
    """All that the next round needs.

    Attributes
    ----------
    error : of the columns left; NaN before the first call, which is with all of them
    removed_in : int32 array; the call that removed a column, −1 while it is left
    tries, failures : int32 arrays; removals that held a column, and those of them that made the error rise
    alone_in : int32 array; the call in which it last failed alone, −1 if it never did
    rise : float64 array; by how much the error rose when it was last tried
    memory : of what chooses removals
    trace : what the calls came to
    """

    error: float
    removed_in: NDArray[np.int32]
    tries: NDArray[np.int32]
    failures: NDArray[np.int32]
    alone_in: NDArray[np.int32]
    rise: NDArray[np.float64]
    memory: Memory
    trace: Trace

    @property
    def n_calls(self) -> int:
        """Calls made."""
        return len(self.trace.error)

    @property
    def left(self) -> NDArray[np.bool_]:
        """Columns that are left."""
        return self.removed_in < 0

    @property
    def least(self) -> float:
        """The least error of all selections accepted."""
        return float(self.trace.error[self.trace.accepted].min())

    @property
    def best_call(self) -> int:
        """The accepted call after which the error on rows held out was least, the last of equals; −1: the last call."""
        if np.isnan(self.trace.held_out).all():
            return -1
        held = np.where(np.isnan(self.trace.held_out), np.inf, self.trace.held_out)
        return int(len(held) - 1 - np.argmin(held[::-1]))

    @property
    def chosen(self) -> NDArray[np.bool_]:
        """Columns of the answer: those left, or those that were left when rows held out liked it best."""
        best = self.best_call
        return self.left if best < 0 else self.left | (self.removed_in > best)


class EliminationLoop(Generic[Memory]):
    """Elimination around anything that gives errors of subsets. A `Loop`.

    Parameters
    ----------
    errors
        Of subsets, by rank.
    removals
        What chooses them.
    tolerance, baseline
        How much the error may rise in a removal that is accepted, and above what; see `EliminationSettings`.
    n_threads
        For removals that are tried at once.
    held_out
        Errors of subsets on rows held out; accepted selections are asked for.

    Examples
    --------
    >>> from fernwood.run.driving import drive
    >>> class Oracle:
    ...     n_columns = 40
    ...
    ...     def __call__(self, columns):
    ...         return 0.0 if {3, 7} <= set(columns.tolist()) else 1.0
    >>> loop = EliminationLoop(Oracle(), Halving(40, 0, 2, 40), 0.002)
    >>> state = drive(loop).state
    >>> np.flatnonzero(state.left), state.n_calls < 25
    (array([3, 7]), True)
    """

    def __init__(
        self,
        errors: SubsetErrors,
        removals: Removals[Memory],
        tolerance: float,
        n_threads: int = 1,
        held_out: SubsetErrors | None = None,
        baseline: Baseline = "best",
    ) -> None:
        self._errors = errors
        self._removals = removals
        self._tolerance = tolerance
        self._n_threads = n_threads
        self._held_out = held_out
        self._baseline = baseline

    def start(self) -> EliminationState[Memory]:
        """Before the first call, all columns are left."""
        n = self._errors.n_columns
        never, none = np.full(n, -1, np.int32), np.zeros(n, np.int32)
        return EliminationState(np.nan, never, none, none, never, np.zeros(n), self._removals.start(), Trace.none())

    def step(self, state: EliminationState[Memory]) -> EliminationState[Memory]:
        """One more round; the first is the call with all columns."""
        left = state.left
        if not state.n_calls:
            columns = np.flatnonzero(left)
            error = self._errors(columns)
            entry = (len(columns), 0, error, True, self._removals.estimate(state.memory, left), self._asked(columns))
            return state._replace(error=error, trace=state.trace.with_call(*entry))
        removals = self._removals.propose(state.memory, left, state.n_calls)
        errors = self._all_errors([np.flatnonzero(_without(left, columns)) for columns in removals])
        return self._decided(state, removals, errors)

    def _decided(
        self, state: EliminationState[Memory], removals: list[NDArray[np.int64]], errors: list[float]
    ) -> EliminationState[Memory]:
        left, n_left = state.left, int(np.count_nonzero(state.left))
        known = state.error if self._baseline == "last" else state.least
        harmless = [error - known <= self._tolerance for error in errors]
        # Of harmless removals the largest, and among those the one of the least error.
        order = [i for i in range(len(removals)) if harmless[i]]
        best = min(order, key=lambda i: (-len(removals[i]), errors[i], i), default=-1)
        removed_in, tries, failures = state.removed_in.copy(), state.tries.copy(), state.failures.copy()
        alone_in, rise = state.alone_in.copy(), state.rise.copy()
        for i, columns in enumerate(removals):
            tries[columns] += 1
            failures[columns] += not harmless[i]
            rise[columns] = errors[i] - known
            if not harmless[i] and len(columns) == 1:
                alone_in[columns] = state.n_calls + i
        after = left if best < 0 else _without(left, removals[best])
        if best >= 0:
            removed_in[removals[best]] = state.n_calls + best
        tried = [
            Tried(columns, harmless[i], i == best, n_left, errors[i] - known) for i, columns in enumerate(removals)
        ]
        memory = self._removals.heard(state.memory, tried, after)
        trace, estimate = state.trace, self._removals.estimate(memory, after)
        for i, columns in enumerate(removals):
            asked = self._asked(np.flatnonzero(after)) if i == best else np.nan
            trace = trace.with_call(n_left - len(columns), len(columns), errors[i], i == best, estimate, asked)
        error = state.error if best < 0 else errors[best]
        return EliminationState(error, removed_in, tries, failures, alone_in, rise, memory, trace)

    def _all_errors(self, subsets: list[NDArray[np.int64]]) -> list[float]:
        """The errors of subsets, in order, whoever computes them."""
        if len(subsets) == 1 or self._n_threads == 1:
            return [self._errors(columns) for columns in subsets]
        from joblib import Parallel, delayed

        return list(
            Parallel(n_jobs=self._n_threads, prefer="threads")(delayed(self._errors)(columns) for columns in subsets)
        )

    def _asked(self, columns: NDArray[np.int64]) -> float:
        return np.nan if self._held_out is None else self._held_out(columns)

    def progress(self, state: EliminationState[Memory]) -> SearchProgress:
        """How far it is; how many calls are to come is a guess until the last."""
        n_calls, left, memory = state.n_calls, state.left, state.memory
        n_left = int(np.count_nonzero(left))
        over = bool(n_calls) and not self._removals.propose(memory, left, n_calls)
        to_come = 0 if over else max(1, round(self._removals.calls_to_come(memory, left)))
        said = f"{n_left:,} columns left, about {self._removals.estimate(memory, left):.0f} relevant, {n_calls:,} calls"
        examined = int(np.count_nonzero(state.tries))
        return SearchProgress(
            "eliminating", n_calls, n_calls + to_come, "calls", n_left, examined, self._errors.n_columns, said
        )

    def leading(self, state: EliminationState[Memory]) -> NDArray[np.int64]:
        """Ranks of a few columns left: those whose removal, each by itself, last made the error rise."""
        missed = np.flatnonzero(state.left & (state.alone_in >= 0))
        return missed[np.argsort(-state.alone_in[missed], kind="stable")[:LEADING]]

    def pack(self, state: EliminationState[Memory]) -> Mapping[str, NDArray[Any]]:
        """The state as named arrays."""
        columns = {name: getattr(state, name) for name in _COLUMN_ARRAYS}
        trace = {f"trace_{name}": array for name, array in state.trace._asdict().items()}
        memory = {f"memory_{name}": array for name, array in self._removals.pack(state.memory).items()}
        return {"error": np.array(state.error), **columns, **trace, **memory}

    def unpack(self, arrays: Mapping[str, NDArray[Any]]) -> EliminationState[Memory]:
        """The state from a checkpoint."""
        blank = self.start()
        trace = Trace(*(arrays[f"trace_{name}"] for name in Trace._fields))
        n_calls = len(trace.error)
        types = [array.dtype for array in blank.trace._asdict().values()]
        for array, kind in zip(trace._asdict().values(), types, strict=True):
            if array.shape != (n_calls,) or array.dtype != kind:
                raise ValueError("the checkpoint's trace is of another shape or type")
        columns = {name: arrays[name] for name in _COLUMN_ARRAYS}
        check_like(columns, {name: getattr(blank, name) for name in columns})
        for name in ("removed_in", "alone_in"):
            whole_number(columns[name].max() + np.int64(1), n_calls)
        finite = np.isfinite(trace.error).all() and np.isfinite(columns["rise"]).all()
        if not finite or columns["failures"].min() < 0 or (columns["failures"] > columns["tries"]).any():
            raise ValueError("the checkpoint's errors or tries cannot be")
        accepted = trace.error[trace.accepted]
        error = float(accepted[-1]) if len(accepted) else np.nan
        if not np.array_equal(arrays["error"], error, equal_nan=True):
            raise ValueError("the checkpoint's errors do not add up")
        kept = {name.removeprefix("memory_"): array for name, array in arrays.items() if name.startswith("memory_")}
        return EliminationState(error, **columns, memory=self._removals.unpack(kept), trace=trace)

    def said(self, state: EliminationState[Memory]) -> list[str]:
        """What a reader should know about how it ended, in sentences."""
        sentences = self._removals.said(state.memory, state.left)
        n_left, n_columns = int(np.count_nonzero(state.left)), self._errors.n_columns
        if not state.n_calls or not self._is_over(state):
            return sentences
        if state.n_calls == 1:
            sentences.append(
                f"nothing was tried: of {n_columns:,} usable columns none may go, since r_min asks for them"
            )
            return sentences
        if not state.failures.any():
            sentences.append(
                f"no removal made the error rise, down to {n_left:,} columns: the score hardly depends on the columns, "
                "and those that are left were left by chance"
            )
        elif n_left == n_columns:
            sentences.append(
                f"no removal was accepted: each made the error rise by more than the tolerance of {self._tolerance:g}"
            )
        return sentences

    def _is_over(self, state: EliminationState[Memory]) -> bool:
        return not self._removals.propose(state.memory, state.left, state.n_calls)


_COLUMN_ARRAYS = ("removed_in", "tries", "failures", "alone_in", "rise")


def _without(left: NDArray[np.bool_], columns: NDArray[np.int64]) -> NDArray[np.bool_]:
    out = left.copy()
    out[columns] = False
    return out
