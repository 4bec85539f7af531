"""Column names, kept as packed text: ten million of them are never ten million Python strings."""

from __future__ import annotations

import fnmatch
import re
from abc import ABC, abstractmethod
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from fernwood.errors import SourceError, nearest, shown

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from numpy.typing import NDArray

__all__ = [
    "LONGEST_NAME",
    "ListedNames",
    "Names",
    "NumberedNames",
    "as_position",
    "check_names",
    "clean_names",
    "has_numbers",
    "is_pattern",
    "match_names",
    "plain_position",
]

LONGEST_NAME = 65_535
"""The most bytes a column name may have."""

_CHUNK = 65_536
_LOOKED_THROUGH = 10_000
_DIGITS = "0|-?[1-9][0-9]{0,17}"
_POSITION = re.compile(_DIGITS)
"""A position as text: what else `int` reads is a name, also where no column has it."""
_CONTROL = r"[\x00-\x1f\x7f\x{80}-\x{9f}\x{2028}\x{2029}]"


class Names(ABC):
    """A sequence of column names that can be read in runs."""

    @abstractmethod
    def __len__(self) -> int: ...

    @abstractmethod
    def run(self, start: int, stop: int) -> pa.Array:
        """The names from `start` to before `stop`, as an Arrow array of large strings."""

    def __getitem__(self, i: int) -> str:
        position = range(len(self))[i]
        return str(self.run(position, position + 1)[0].as_py())

    def __iter__(self) -> Iterator[str]:
        for _, run in self.runs():
            yield from run.to_pylist()

    def runs(self) -> Iterator[tuple[int, pa.Array]]:
        """All names in runs of moderate length, each with the position of its first name."""
        for start in range(0, len(self), _CHUNK):
            yield start, self.run(start, min(start + _CHUNK, len(self)))

    def take(self, positions: NDArray[np.int64]) -> pa.Array:
        """The names at some positions, in that order."""
        if len(positions) and (np.diff(positions) == 1).all():
            return self.run(int(positions[0]), int(positions[-1]) + 1)
        order = np.argsort(positions, kind="stable")
        wanted = positions[order]
        parts = []
        for start in range(0, len(self), _CHUNK):
            stop = min(start + _CHUNK, len(self))
            first, last = np.searchsorted(wanted, (start, stop))
            if first < last:
                parts.append(self.run(start, stop).take(pa.array(wanted[first:last] - start)))
        sorted_names = pa.concat_arrays(parts) if parts else pa.array([], pa.large_string())
        return sorted_names.take(pa.array(np.argsort(order, kind="stable")))

    def find(self, name: str) -> int | None:
        """The position of a name, or None."""
        for start, run in self.runs():
            hit = pc.index(run, pa.scalar(name, pa.large_string())).as_py()
            if hit >= 0:
                return start + int(hit)
        return None

    def nearest(self, name: str) -> str:
        """A hint for a sentence about a name that is not there: `; did you mean …?`, or nothing."""
        first = min(len(self), _LOOKED_THROUGH)
        near = self.run(0, first).to_pylist()
        # Of very many columns, those at either end: that is where targets and the like are.
        near += self.run(max(first, len(self) - _LOOKED_THROUGH), len(self)).to_pylist()
        return nearest(name, near)


class ListedNames(Names):
    """Names given one by one, by an Arrow array or any sequence of strings."""

    def __init__(self, names: pa.Array | Sequence[str]) -> None:
        if not isinstance(names, pa.Array):
            names = pa.array(names, pa.large_string())
        self._names = names

    def __len__(self) -> int:
        return len(self._names)

    def run(self, start: int, stop: int) -> pa.Array:
        """The names from `start` to before `stop`."""
        return self._names.slice(start, stop - start)


class NumberedNames(Names):
    """Names of columns that have none, as scikit-learn gives them: x0, x1, x2 and so on."""

    def __init__(self, n: int) -> None:
        self._n = n

    def __len__(self) -> int:
        return self._n

    def run(self, start: int, stop: int) -> pa.Array:
        """The names from `start` to before `stop`."""
        numbers = pa.array(np.arange(start, stop)).cast(pa.large_string())
        return pc.binary_join_element_wise(pa.scalar("x", pa.large_string()), numbers, pa.scalar("", pa.large_string()))

    def find(self, name: str) -> int | None:
        """The position of a name, or None."""
        digits = name[1:]
        if name[:1] == "x" and digits.isascii() and digits.isdigit() and str(int(digits)) == digits:
            return int(digits) if int(digits) < self._n else None
        return None


def check_names(names: Names) -> None:
    """Refuse names that are empty, too long, hold control characters, or stand twice."""
    if isinstance(names, NumberedNames):
        return
    for start, run in names.runs():
        for broken, rule in _rules(run):
            hit = int(pc.index(broken, pa.scalar(True)).as_py())
            if hit >= 0:
                raise SourceError(
                    f"column {start + hit} ({shown(run[hit])}) {rule}, "
                    "or let --clean-names (clean_names=True) rename it"
                )
    for first, second in _twins(names, _hashes(names)):
        raise SourceError(
            f"the name {shown(names[first])} stands over column {first} and again over column {second}; "
            "names must differ: rename one, or let --clean-names (clean_names=True) number them"
        )


def _rules(run: pa.Array) -> list[tuple[pa.Array, str]]:
    """Which names of a run break which rule."""
    return [
        (pc.equal(pc.binary_length(run), 0), "has no name; a row index? Leave it out with --drop"),
        (
            pc.greater(pc.binary_length(run), LONGEST_NAME),
            f"has a name of more than {LONGEST_NAME} bytes; shorten it",
        ),
        (
            pc.match_substring_regex(run, _CONTROL),
            "has a name with a line break or another control character; mend it",
        ),
    ]


def _hashes(names: Names) -> NDArray[np.int64]:
    parts = [np.fromiter(map(hash, run.to_pylist()), np.int64, len(run)) for _, run in names.runs()]
    return np.concatenate(parts) if parts else np.empty(0, np.int64)


def _twins(names: Names, hashes: NDArray[np.int64]) -> Iterator[tuple[int, int]]:
    """Positions of equal names, every later one with the one before it, in order."""
    ordered = np.sort(hashes)  # much faster than their order, which is needed only where some are alike
    if (ordered[1:] != ordered[:-1]).all():
        return
    order = np.argsort(hashes, kind="stable")
    alike = np.flatnonzero(hashes[order[1:]] == hashes[order[:-1]])
    for second, first in sorted(zip(order[alike + 1].tolist(), order[alike].tolist(), strict=True)):
        if names[first] == names[second]:
            yield first, second


def clean_names(names: Names) -> Names:
    """The same names with every rule of `check_names` met.

    Control characters become spaces, an empty name becomes ``column 17``, a long one is cut, and a name that stands
    again gets a number behind it. Only names that break a rule are touched.
    """
    if isinstance(names, NumberedNames) or not len(names):
        return names
    mended = _replaced(names, {})
    hashes = _hashes(mended)
    known = set()
    if len(np.unique(hashes)) < len(hashes):
        known = set(hashes.tolist())
    numbers: dict[str, int] = {}
    again = {}
    for _, second in _twins(mended, hashes):
        name = mended[second]
        number = numbers.get(name, 2)
        while hash(f"{name} ({number})") in known:
            number += 1
        numbers[name] = number + 1
        again[second] = f"{name} ({number})"
        known.add(hash(again[second]))
    return _replaced(mended, again) if again else mended


def _replaced(names: Names, by_position: dict[int, str]) -> Names:
    """Names with some replaced, and all that break a rule by themselves mended."""
    runs = []
    for start, run in names.runs():
        broken = pc.or_(pc.or_(*(mask for mask, _ in _rules(run)[:2])), _rules(run)[2][0])
        touched = np.flatnonzero(broken.to_numpy(zero_copy_only=False)).tolist()
        touched += [i - start for i in by_position if start <= i < start + len(run)]
        if touched:
            plain = run.to_pylist()
            for i in touched:
                plain[i] = by_position.get(start + i) or _mended(plain[i], start + i)
            run = pa.array(plain, pa.large_string())
        runs.append(run)
    return ListedNames(pa.concat_arrays(runs))


def _mended(name: str, position: int) -> str:
    plain = "".join(c if c.isprintable() else " " for c in name).strip() or f"column {position}"
    return plain.encode()[: LONGEST_NAME - 32].decode(errors="ignore")


def match_names(
    names: Names,
    wanted: Sequence[str | int],
    what: str,
    nearest: Callable[[str], str] | None = None,
    place_of: Callable[[int], int | None] | None = None,
) -> NDArray[np.int64]:
    """Positions of columns given by name, by shell pattern (``gene_*``) or by position, in table order.

    A text that is a column's very name means that column, whatever characters it holds; a text that is none, but has
    one of ``*?[``, is a pattern; digits that are no name are a position, negative ones count from the end. A hint for a
    name that is not there is asked of `nearest`, where there are more names than these. Where positions count the
    columns of another table than the one that has these names, `place_of` says where they are in this one.
    """
    hits = np.zeros(len(names), bool)
    for want in wanted:
        position = names.find(want) if isinstance(want, str) else None
        if position is None and is_pattern(want):
            found = False
            # Python's own expressions: Arrow's know no atomic groups, which patterns with two stars become.
            matches = re.compile(fnmatch.translate(str(want))).match
            for start, run in names.runs():
                mask = np.fromiter((matches(name) is not None for name in run.to_pylist()), bool, len(run))
                hits[start : start + len(run)] |= mask
                found |= bool(mask.any())
            if not found:
                raise SourceError(
                    f"{what} {shown(want)} matches no column; give a name, a pattern such as 'x1*' or a position"
                )
            continue
        if position is None:
            number = plain_position(want)
            if number is not None and place_of is not None:
                position = place_of(number)
            else:
                position = as_position(want, len(names))
        if position is None:
            raise SourceError(f"{what} {shown(want)} is no column of the table{(nearest or names.nearest)(str(want))}")
        hits[position] = True
    return np.flatnonzero(hits)


def is_pattern(want: object) -> bool:
    """Whether a text that is not the name of a column is a shell pattern."""
    return isinstance(want, str) and any(c in want for c in "*?[")


def plain_position(given: object) -> int | None:
    """The whole number that is given as a position, or None: digits as people write them, a minus before them at most.

    Python's own reading of numbers knows many more ways (``"1_1"``, ``" 3"``, ``"+3"``, ``True``), and names of columns
    look like them.

    Examples
    --------
    >>> [plain_position(given) for given in ("12", "-1", 3, "1_1", " 3", "+3", "03", "-0", True, 2.0)]
    [12, -1, 3, None, None, None, None, None, None, None]
    """
    if isinstance(given, str):
        return int(given) if _POSITION.fullmatch(given) else None
    if isinstance(given, int | np.integer) and not isinstance(given, bool):
        return int(given)
    return None


def has_numbers(names: Names) -> bool:
    """Whether any name could be a position."""
    return any(pc.any(pc.match_substring_regex(run, rf"\A({_DIGITS})\z")).as_py() for _, run in names.runs())


def as_position(given: object, n: int) -> int | None:
    """The place among n columns of a position (negative: from the end), or None where it is none, or out of range."""
    number = plain_position(given)
    return number % n if number is not None and -n <= number < n else None
