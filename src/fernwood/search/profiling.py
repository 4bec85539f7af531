"""How the best columns of a result go with the target, each by itself: for a picture and a few words.

Nothing is decided here. Of a column that shows nothing by itself that chance does not, that is said.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from fernwood import seeds
from fernwood.insight import Profile
from fernwood.relevance.decision import Decision
from fernwood.search.wording import classes_in_words, midranks, numbers_in_words
from fernwood.sources.base import Kind
from fernwood.sources.dates import dates_of
from fernwood.store.quantise import MISSING

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from fernwood.result import Result
    from fernwood.search.wording import Words
    from fernwood.store.base import Store
    from fernwood.store.columns import Scale
    from fernwood.store.roles import Target

__all__ = ["profiles_of"]

_PROFILING = 25  # the address below the seed
_MOST_CONFIRMED, _MOST_COLUMNS = 60, 80
_MOST_ROWS = 50_000
_MOST_BINS, _FEWEST_BINS, _ROWS_A_BIN = 24, 5, 15
_MOST_CATEGORIES, _MOST_CLASSES = 20, 10
_NAME_LENGTH = 40
_LONG = 3 * 86_400
"""Seconds of a bin of dates from which on days are enough to name it."""
_FEW_VALUES = 12
"""Numbers of so many values have a bin for each, as categories do."""
_FAR_OUT = 0.005
"""The share of rows at either end of a column that its picture puts into one bin."""
_WIDEST = float(np.finfo(np.float64).max) / 4
"""Half a range of numbers that can still be cut into equal parts."""
_QUARTILES = ("lower quartile", "median", "upper quartile")


def profiles_of(store: Store, result: Result, seed: int) -> dict[int, Profile]:
    """Profiles of the best columns of a result, by position: sixty confirmed ones at most, then tentative ones.

    Of many rows, fifty thousand are looked at; rows of weight zero are left out, and others count alike.

    Notes
    -----
    Peak memory: two bytes a row for one column at a time, some ten bytes a row for which of them count, and what the
    store takes to read the records of a few columns.

    Examples
    --------
    >>> import fernwood
    >>> from fernwood.search.filter import FilterSettings, select_by_filter
    >>> x = np.random.default_rng(0).standard_normal((300, 5))
    >>> store = fernwood.ingest(x, target=np.where(x[:, 2] > 0, "case", "control"))
    >>> result, _ = select_by_filter(store, FilterSettings("naive-bayes", max_columns=1), seed=0)
    >>> profiles_of(store, result, seed=0)[2].effect
    'lower in control'
    """
    target, best = store.target, _best(result)
    if target is None or not len(best):
        return {}
    counted = None if store.weights is None else np.flatnonzero(store.weights > 0)
    rows = _rows(store.n_rows, counted, seed)
    against = _Classes(target, rows) if target.task == "classification" else _Numbers(target, rows)
    positions = np.sort(best)  # a store is read from front to back
    profiles = {}
    for position, scale in zip(positions.tolist(), store.scales(positions), strict=True):
        codes = store.read([position])[0]
        profile = _profile(codes if rows is None else codes[rows], scale, against)
        lacking = codes if counted is None else codes[counted]  # of all rows, since it is shown as a number of rows
        profiles[position] = replace(profile, missing=int(np.count_nonzero(lacking == MISSING)))
    return {position: profiles[position] for position in best.tolist()}


def _best(result: Result) -> NDArray[np.int64]:
    """Positions of the columns that are looked at, best first; of those that suffice, none is left out."""
    decision = result.verdicts.decision
    chosen = np.flatnonzero(decision <= Decision.TENTATIVE)
    first = np.array([] if result.minimal is None else result.minimal.kept, np.int64)
    ordered = chosen[result.best_first(chosen)]
    ordered = np.concatenate([first, ordered[~np.isin(ordered, first)]])
    confirmed = ordered[decision[ordered] == Decision.CONFIRMED][:_MOST_CONFIRMED]
    tentative = ordered[decision[ordered] == Decision.TENTATIVE][: _MOST_COLUMNS - len(confirmed)]
    return np.concatenate([confirmed, tentative])


def _rows(n_rows: int, counted: NDArray[np.int64] | None, seed: int) -> NDArray[np.int64] | None:
    """The rows that are looked at, in order; None for all."""
    n = n_rows if counted is None else len(counted)
    if n > _MOST_ROWS:
        rng = seeds.generator(seed, _PROFILING)
        some = np.sort(rng.choice(n, _MOST_ROWS, replace=False, shuffle=False))
        return some if counted is None else counted[some]
    return None if counted is None or n == n_rows else counted


class _Bins(NamedTuple):
    """How the codes of a column are put together.

    Attributes
    ----------
    of_code : int64 array of 256; the bin of every code; that of missing values is one beyond the last
    n : how many there are
    edges, categories : as a profile has them
    ordered : whether bins have an order that means something
    """

    of_code: NDArray[np.int64]
    n: int
    edges: list[float]
    categories: list[str]
    ordered: bool


def _profile(codes: NDArray[np.uint8], scale: Scale, against: _Classes | _Numbers) -> Profile:
    often = np.bincount(codes, minlength=256)[: MISSING + 1]
    bins = _bins_of(often[:MISSING], scale)
    place = bins.of_code[codes]
    rows = np.bincount(place, minlength=bins.n + 1)
    told = against.told(codes, bins.ordered, bins.categories, place)
    many = len(scale.edges) > _FEW_VALUES and scale.edges[-1] / 2 - scale.edges[0] / 2 < _WIDEST
    # Without a row that has a value there is no distribution; of many rows, those looked at may be such.
    if isinstance(against, _Classes) and bins.edges and many and often[:MISSING].any():
        return _distribution(codes, scale, against, told)
    return Profile(
        effect=told.effect,
        strength=told.strength,
        kind="category" if bins.categories else "number",
        edges=bins.edges,
        categories=bins.categories,
        rows=rows[: bins.n].tolist(),
        lines=against.lines(place, bins.n),
        missing=int(rows[bins.n]),
    )


def _distribution(codes: NDArray[np.uint8], scale: Scale, against: _Classes, told: Words) -> Profile:
    """A column of many values in bins of equal width, in which its distribution has the shape that people know.

    Codes hold about as many rows each, so that those of rare values are wide: their rows are spread over their width.
    What lies far out is in the first bin or the last, so that it does not press all the rest together.
    """
    n_codes = len(scale.edges) - 1
    often = np.bincount(codes, minlength=256)
    total = max(int(often[:n_codes].sum()), 1)
    reached = np.cumsum(often[:n_codes]) / total
    low = scale.edges[int(np.searchsorted(reached, _FAR_OUT))]
    high = scale.edges[int(np.searchsorted(reached, 1 - _FAR_OUT)) + 1]
    if not high > low:
        low, high = scale.edges[0], scale.edges[-1]
    n_bins = min(_MOST_BINS, max(_FEWEST_BINS, total // _ROWS_A_BIN))
    edges = np.linspace(low, high, n_bins + 1)
    within = np.clip(scale.edges, low, high)
    left, right = within[:-1, None], within[1:, None]
    shared = np.minimum(right, edges[None, 1:]) - np.maximum(left, edges[None, :-1])
    # A code without width, or beyond the ends, is where its one end is.
    spread = np.maximum(shared, 0) / np.maximum(right - left, np.finfo(float).tiny)
    narrow = np.flatnonzero(spread.sum(axis=1) < 0.5)
    spread[narrow] = 0
    spread[narrow, np.clip(np.searchsorted(edges, within[narrow], side="right") - 1, 0, n_bins - 1)] = 1
    counts = against.counts(codes, MISSING + 1)
    return Profile(
        effect=told.effect,
        strength=told.strength,
        kind="number",
        edges=edges.tolist(),
        categories=[],
        # Whole rows in each bin, and none lost by rounding.
        rows=np.diff(np.rint(np.cumsum(counts[:, :n_codes].sum(axis=0) @ spread)), prepend=0).astype(np.int64).tolist(),
        lines=against.shares(counts[:, :n_codes] @ spread),
        missing=int(often[MISSING]),
    )


# Bins ------------------------------------------------------------------------------------------------------------


def _bins_of(often: NDArray[np.int64], scale: Scale) -> _Bins:
    """Neighbouring codes of about as many rows together; the rarest categories together."""
    if scale.kind == Kind.CATEGORY:
        return _categories(often, scale.labels)
    n_codes = max(len(scale.edges) - 1, 0)
    if scale.kind == Kind.BOOLEAN:
        values = [_boolean(value) for value in (scale.edges[0], scale.edges[-1])][:n_codes] if n_codes else []
        return _Bins(_padded(np.arange(n_codes), n_codes), n_codes, [], values, True)
    of_code, n = _merged(often[:n_codes])
    firsts = np.searchsorted(of_code, np.arange(n))
    edges = scale.edges[np.append(firsts, n_codes)] if n else scale.edges[:0]
    if scale.kind == Kind.DATE:
        days = dates_of(edges[:n])
        long = bool(n) and edges[-1] - edges[0] > _LONG * n
        names = np.datetime_as_string(days, unit="D" if long else "m").tolist()
        return _Bins(_padded(of_code, n), n, [], _unlike([f"from {name}" for name in names]), True)
    return _Bins(_padded(of_code, n), n, edges.tolist(), [], True)


def _merged(often: NDArray[np.int64]) -> tuple[NDArray[np.int64], int]:
    """The bin of every code, and how many bins there are: each code one where they are few."""
    total = int(often.sum())
    most = min(_MOST_BINS, max(_FEWEST_BINS, total // _ROWS_A_BIN))
    if len(often) <= most:
        return np.arange(len(often)), len(often)
    most = -(-len(often) // -(-len(often) // most))  # as many codes in each, where they are equally frequent
    # A code is in the bin that the middle of its rows falls into, among as many equal parts.
    middle = np.cumsum(often) - often / 2
    part = np.minimum((middle * most / max(total, 1)).astype(np.int64), most - 1)
    return np.unique(part, return_inverse=True)[1], len(np.unique(part))


def _categories(often: NDArray[np.int64], labels: list[str]) -> _Bins:
    n = len(labels)
    if n <= _MOST_CATEGORIES:
        return _Bins(_padded(np.arange(n), n), n, [], _unlike([_cut(label) for label in labels]), False)
    kept = np.sort(np.argsort(-often[:n], kind="stable")[: _MOST_CATEGORIES - 1])
    of_code = np.full(n, len(kept))
    of_code[kept] = np.arange(len(kept))
    names = [_cut(labels[code]) for code in kept.tolist()]
    names.append(f"{n - len(kept):,} others")
    return _Bins(_padded(of_code, len(names)), len(names), [], _unlike(names), False)


def _padded(of_code: NDArray[np.int64], n: int) -> NDArray[np.int64]:
    out = np.full(256, n)
    out[: len(of_code)] = of_code
    return out


def _boolean(value: float) -> str:
    return "true" if value == 1 else "false"


def _cut(name: object) -> str:
    text = str(name)
    return text if len(text) <= _NAME_LENGTH else f"{text[: _NAME_LENGTH - 1]}…"


def _unlike(names: list[str]) -> list[str]:
    """Names that were cut, each once: those that are alike get numbers."""
    seen: dict[str, int] = {}
    out = []
    for name in names:
        seen[name] = seen.get(name, 0) + 1
        out.append(name if seen[name] == 1 else f"{name} ({seen[name]})")
    return out


# Targets ---------------------------------------------------------------------------------------------------------


class _Classes:
    """A target of classes: the most frequent, and the others as one; classes without a row are left out."""

    def __init__(self, target: Target, rows: NDArray[np.int64] | None) -> None:
        labels = np.asarray(target.values if rows is None else target.values[rows])
        often = np.bincount(labels, minlength=len(target.classes))
        there = np.flatnonzero(often)
        kept, n_others = there, 0
        if len(there) > _MOST_CLASSES:
            kept = np.sort(there[np.argsort(-often[there], kind="stable")[: _MOST_CLASSES - 1]])
            n_others = len(there) - len(kept)
        of_label = np.full(len(often), len(kept))
        of_label[kept] = np.arange(len(kept))
        self._labels = of_label[labels]
        names = [_cut(target.classes[label]) for label in kept.tolist()]
        self.names = _unlike([*names, f"{n_others:,} others"] if n_others else names)
        self._n_named = len(kept)

    def lines(self, place: NDArray[np.int64], n_bins: int) -> dict[str, list[float | None]]:
        """For each class the share of its rows in each bin; None where it has no value at all."""
        return self.shares(self.counts(place, n_bins + 1)[:, :n_bins])

    def counts(self, place: NDArray[np.integer[Any]], n_places: int) -> NDArray[np.int64]:
        """How many rows of each class are at each place, shape (classes, places)."""
        n = len(self.names)
        return np.bincount(self._labels * n_places + place, minlength=n * n_places).reshape(n, -1)

    def shares(self, counts: NDArray[np.number[Any]]) -> dict[str, list[float | None]]:
        """Counts as shares of each class."""
        lines: dict[str, list[float | None]] = {}
        for name, row in zip(self.names, counts, strict=True):
            total = float(row.sum())
            lines[name] = np.round(row / total, 6).tolist() if total else [None] * len(row)
        return lines

    def told(self, codes: NDArray[np.uint8], ordered: bool, categories: list[str], place: NDArray[np.int64]) -> Words:
        """What the column tells, in words, and how well."""
        groups = codes.astype(np.int64) if ordered else place
        n_groups = MISSING if ordered else len(categories)
        there = codes != MISSING
        n = len(self.names)
        counts = np.bincount(self._labels[there] * n_groups + groups[there], minlength=n * n_groups).reshape(n, -1)
        absent = np.bincount(self._labels[~there], minlength=n)
        return classes_in_words(counts, absent, self.names, self._n_named, None if ordered else categories)


class _Numbers:
    """A target of numbers."""

    def __init__(self, target: Target, rows: NDArray[np.int64] | None) -> None:
        self._values = np.asarray(target.values if rows is None else target.values[rows], np.float64)
        _, place, often = np.unique(self._values, return_inverse=True, return_counts=True)
        self._ranks = midranks(often)[place]
        self._order = np.argsort(self._values, kind="stable")

    def lines(self, place: NDArray[np.int64], n_bins: int) -> dict[str, list[float | None]]:
        """The quartiles of the target in each bin; None in an empty one."""
        within = self._order[np.argsort(place[self._order], kind="stable")]  # by bin, and by value within
        ends = np.searchsorted(place[within], np.arange(n_bins + 1))
        parts: list[list[float | None]] = []
        for first, last in zip(ends[:-1].tolist(), ends[1:].tolist(), strict=True):
            values = self._values[within[first:last]]
            parts.append(np.quantile(values, (0.25, 0.5, 0.75)).tolist() if len(values) else [None] * 3)
        return {name: [part[i] for part in parts] for i, name in enumerate(_QUARTILES)}

    def told(self, codes: NDArray[np.uint8], ordered: bool, categories: list[str], place: NDArray[np.int64]) -> Words:
        """What the column tells, in words, and how well."""
        groups: NDArray[Any] = codes if ordered else place
        there = codes != MISSING
        return numbers_in_words(groups[there], self._ranks, there, None if ordered else categories)
