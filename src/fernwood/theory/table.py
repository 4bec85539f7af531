"""Tables of outcomes: the weights of a joint distribution, its marginals, and independence between columns.

Probabilities given as fractions, integers or text ("1/3", "0.05") are kept as whole numbers over a common denominator,
so that independence is decided by an equation between integers. As soon as one of them is a float, all are floats, and
two numbers are equal when they agree to a relative 1e-9.

    outcomes   (X1, X2, Y):  000 ¼   011 ¼   101 ¼   110 ¼          Y = X1 xor X2
    table      weights[x1, x2, y], whole numbers, total 4
    marginal   axes that are summed out stay with length 1, so marginals of any columns multiply by broadcasting
"""

from __future__ import annotations

import math
import re
from fractions import Fraction
from numbers import Rational
from typing import TYPE_CHECKING, Any

import numpy as np

from fernwood.errors import ParameterError, shown

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable, Mapping, Sequence

    from numpy.typing import NDArray

    Column = str | int
    Outcome = tuple[Hashable, ...]
    Probability = Fraction | int | float | str

__all__ = ["CELL_LIMIT", "WORK_LIMIT", "Table", "as_probability", "check_cells"]

CELL_LIMIT = 2**21
"""The largest table of outcomes, in cells."""

WORK_LIMIT = 2**24
"""The largest sum of the tables of all subsets of columns that a question may need, in cells."""

_MOST_SETS = 2**15
"""The most subsets of columns that are gone through, however few values these have."""

_MOST_COLUMNS = 60  # NumPy has 64 axes
_TOLERANCE = 1e-9
_LARGEST_FAST_TOTAL = 2**31  # products of two weights stay within 64 bits
_LARGEST_TOTAL = 10**300  # quotients of weights are floats
_MANY_DIGITS = 8  # what a cell costs beyond that, in time and memory, and 1 more for every word of 64 bits
_LONGEST_TEXT = 40


def as_probability(value: Probability) -> Fraction | float:
    """A probability as it is kept: exact unless it is a float.

    Examples
    --------
    >>> as_probability("0.05"), as_probability(0.05)
    (Fraction(1, 20), 0.05)
    """
    if isinstance(value, str):
        _check_length(value)
    try:
        kept = Fraction(value) if isinstance(value, Rational | str) else float(value)
    except (TypeError, ValueError, ZeroDivisionError):
        raise ParameterError(
            f"a probability is {shown(value)}; give a fraction, a number, or text such as '1/3' or '0.05'"
        ) from None
    if not 0 <= kept < math.inf:
        raise ParameterError(
            f"a probability is {value}; probabilities are neither negative nor infinite: check that outcome"
        )
    return kept


class Table:
    """The probabilities of all outcomes of some inputs and an output, as an array with one axis per column.

    Attributes
    ----------
    columns, inputs, output
        Names; the output is the last of the columns.
    values, shape
        The values of every column, and how many there are.
    weights, total, exact
        Probabilities are weights / total: whole numbers where all were given exactly, else floats over 1.

    Examples
    --------
    >>> from fernwood import theory
    >>> xor = theory.xor(2)
    >>> xor.columns, xor.shape, xor.total, xor.exact
    (('X1', 'X2', 'Y'), (2, 2, 2), 4, True)
    """

    def __init__(
        self,
        outcomes: Mapping[Outcome, Probability],
        columns: Sequence[str] | None = None,
        output: str | None = None,
    ) -> None:
        if not outcomes:
            raise ParameterError("the table of outcomes is empty; give at least one outcome with probability one")
        lengths = {len(outcome) for outcome in outcomes}
        width = len(columns) if columns is not None else max(lengths)
        if lengths != {width} or width < 2:
            raise ParameterError(
                f"outcomes have {sorted(lengths)} values for {width} columns; "
                "give every outcome one value per column, at least one input and the output"
            )
        if width > _MOST_COLUMNS:
            raise ParameterError(
                f"outcomes have {width:,} columns, more than the {_MOST_COLUMNS} that are enumerated; keep fewer inputs"
            )
        names = tuple(columns) if columns is not None else (*(f"X{i + 1}" for i in range(width - 1)), "Y")
        if len(set(names)) < width:
            raise ParameterError(f"two columns share a name among {', '.join(names)}; give every column its own")
        if output is None:
            output = names[-1]
        if output not in names:
            raise ParameterError(f"the output {shown(output)} is not a column; name one of {', '.join(names)}")
        # The output moves to the end, whatever its place in the table.
        order = [i for i, name in enumerate(names) if name != output] + [names.index(output)]
        self.columns = tuple(names[i] for i in order)
        self.inputs, self.output = self.columns[:-1], output
        probabilities = {outcome: as_probability(probability) for outcome, probability in outcomes.items()}
        # A value that never occurs is none: whether all combinations of values are possible depends on it.
        possible = [outcome for outcome, probability in probabilities.items() if probability]
        self.values = tuple(_sorted({outcome[i] for outcome in possible}) for i in order)
        self.shape = tuple(len(values) for values in self.values)
        check_cells(math.prod(self.shape))
        places = [{value: j for j, value in enumerate(values)} for values in self.values]
        cells = [tuple(place[outcome[i]] for place, i in zip(places, order, strict=True)) for outcome in possible]
        kept = [probabilities[outcome] for outcome in possible]
        self.exact = all(isinstance(probability, Fraction) for probability in probabilities.values())
        self.weights, self.total = _weights(self.shape, cells, kept, exact=self.exact)
        self._marginals: dict[int, NDArray[Any]] = {(1 << width) - 1: self.weights}

    @property
    def n_inputs(self) -> int:
        """How many inputs there are."""
        return len(self.inputs)

    def outcomes(self) -> dict[Outcome, Fraction | float]:
        """The outcomes that can occur, inputs first and the output last, with their probabilities."""
        return {
            tuple(values[i] for values, i in zip(self.values, cell, strict=True)): self._share(self.weights[cell])
            for cell in zip(*(axis.tolist() for axis in np.nonzero(self.weights)), strict=True)
        }

    def probability(self, **values: Hashable) -> Fraction | float:
        """The probability that the columns named have the values given.

        Examples
        --------
        >>> from fernwood import theory
        >>> theory.seven_segment().probability(X1=1, X2=1)
        Fraction(1, 2)
        """
        cell: list[Any] = [slice(None)] * len(self.columns)
        for name, value in values.items():
            i = self.position(name)
            if value not in self.values[i]:
                return self._share(0)
            cell[i] = self.values[i].index(value)
        return self._share(np.sum(self.weights[tuple(cell)]))

    def position(self, column: Column) -> int:
        """The place of a column given by name or by place (the output comes last)."""
        if isinstance(column, str) and column in self.columns:
            return self.columns.index(column)
        whole = isinstance(column, int | np.integer) and not isinstance(column, bool)
        if whole and 0 <= int(column) < len(self.columns):
            return int(column)
        raise ParameterError(
            f"there is no column {shown(column)}; name one of {', '.join(self.columns)} or give its place from 0"
        )

    def mask(self, columns: Column | Iterable[Column]) -> int:
        """A set of columns as the bits of an integer, bit i for the column at place i."""
        listed = [columns] if isinstance(columns, str | int | np.integer) else list(columns)
        return sum({1 << self.position(column) for column in listed})

    def names(self, mask: int) -> tuple[str, ...]:
        """The columns whose bits are set."""
        return tuple(name for i, name in enumerate(self.columns) if mask >> i & 1)

    def marginal(self, mask: int) -> NDArray[Any]:
        """Weights of a set of columns; the axes of all others have length 1."""
        if mask not in self._marginals:
            # Parents share their sums: the tables of small sets come from small tables.
            axis = (~mask & (mask + 1)).bit_length() - 1
            self._marginals[mask] = self.marginal(mask | 1 << axis).sum(axis=axis, keepdims=True)
        return self._marginals[mask]

    def same(self, left: NDArray[Any], right: NDArray[Any]) -> NDArray[np.bool_]:
        """Where two tables of products of weights are the same: exactly, or to rounding where they are floats."""
        within = left == right if self.exact else np.abs(left - right) <= _TOLERANCE * np.maximum(left, right)
        return np.asarray(within, dtype=np.bool_)

    def chances(self, weights: NDArray[Any]) -> NDArray[np.float64]:
        """Weights as probabilities."""
        return np.asarray(weights / self.total, dtype=np.float64)

    def independent(
        self, a: Column | Iterable[Column], b: Column | Iterable[Column], given: Column | Iterable[Column] = ()
    ) -> bool:
        """Whether two sets of columns are independent given a third.

        Examples
        --------
        >>> from fernwood import theory
        >>> xor = theory.xor(2)
        >>> xor.independent("X1", "Y"), xor.independent("X1", "Y", given="X2")
        (True, False)
        """
        return self.independent_masks(self.mask(a), self.mask(b), self.mask(given))

    def independent_masks(self, a: int, b: int, given: int) -> bool:
        """`independent` for columns given as bits: P(a, b, g) P(g) = P(a, g) P(b, g) in every cell."""
        joint = self.marginal(a | b | given) * self.marginal(given)
        return bool(np.all(self.same(joint, self.marginal(a | given) * self.marginal(b | given))))

    def is_enumerable(self, largest: int) -> bool:
        """Whether the tables of all subsets of up to `largest` inputs are few enough to be gone through."""
        return self._subset_cells(largest) <= self._most_cells and self._n_subsets(largest) <= _MOST_SETS

    def check_subsets(self, largest: int) -> None:
        """Refuse a question that needs the tables of too many subsets of up to `largest` inputs."""
        ways_out = "keep fewer inputs (keep) or look at smaller subsets (max_depth)"
        if self._subset_cells(largest) > self._most_cells:
            digits, floats = (" with so many digits", ", or give floats") if self._many_digits else ("", "")
            raise ParameterError(
                f"subsets of up to {largest} of {self.n_inputs} inputs have {self._subset_cells(largest):,} cells, "
                f"more than the {self._most_cells:,} that are enumerated{digits}; {ways_out}{floats}"
            )
        if not self.is_enumerable(largest):
            raise ParameterError(
                f"{self.n_inputs} inputs have {self._n_subsets(largest):,} subsets of up to {largest}, more than the "
                f"{_MOST_SETS:,} that are enumerated; {ways_out}"
            )

    def _n_subsets(self, largest: int) -> int:
        return sum(math.comb(self.n_inputs, size) for size in range(largest + 1))

    def _subset_cells(self, largest: int) -> int:
        by_size = [1]  # the cells of all subsets of a size: elementary symmetric sums of the numbers of values
        for cells in self.shape[:-1]:
            by_size = [a + cells * b for a, b in zip([*by_size, 0], [0, *by_size], strict=True)]
        return self.shape[-1] * sum(by_size[: largest + 1])

    @property
    def _many_digits(self) -> bool:
        return self.weights.dtype == object

    @property
    def _most_cells(self) -> int:
        return WORK_LIMIT // (_MANY_DIGITS + self.total.bit_length() // 64) if self._many_digits else WORK_LIMIT

    def __repr__(self) -> str:
        kind = "exact" if self.exact else "floating"
        cells = math.prod(self.shape)
        return f"<{type(self).__name__} of {self.output} and {', '.join(self.inputs)}: {cells} cells, {kind}>"

    def _share(self, weight: Any) -> Fraction | float:
        return Fraction(int(weight), self.total) if self.exact else float(weight)


def _weights(
    shape: tuple[int, ...], cells: list[tuple[int, ...]], kept: list[Fraction | float], *, exact: bool
) -> tuple[NDArray[Any], int]:
    """The table of weights and their total: whole numbers over it where exact, else probabilities and 1."""
    total = math.lcm(*(p.denominator for p in kept if isinstance(p, Fraction))) if exact else 1
    if total > _LARGEST_TOTAL:
        raise ParameterError(
            f"the probabilities have a common denominator of {math.log10(total):.0f} digits, more than the "
            f"{math.log10(_LARGEST_TOTAL):.0f} that exact ones may have; give fractions of smaller numbers, or floats"
        )
    excess: Fraction | float = sum(kept, start=Fraction(0)) - 1
    size = abs(float(excess))
    if excess != 0 if exact else size > _TOLERANCE:
        raise ParameterError(
            f"the probabilities sum to {float(1 + excess):.12g}, {size:.3g} too {'much' if excess > 0 else 'little'}; "
            "they must sum to one: divide each by the sum"
        )
    fast = np.int64 if total < _LARGEST_FAST_TOTAL else object
    weights = np.zeros(shape, dtype=fast if exact else np.float64)
    for cell, probability in zip(cells, kept, strict=True):
        weights[cell] += int(probability * total) if exact else probability / (1 + excess)
    return weights, total


def check_cells(cells: int) -> None:
    """Refuse a space of outcomes too large to enumerate."""
    if cells > CELL_LIMIT:
        raise ParameterError(
            f"the space of outcomes has {cells:,} cells, more than the {CELL_LIMIT:,} that are enumerated; "
            "keep fewer inputs or values, or study a sample with fernwood's selectors instead"
        )


def _check_length(text: str) -> None:
    """Refuse text that stands for a fraction of more digits than anybody can wait for, as short a text as 1e-999999."""
    if len(text) > _LONGEST_TEXT or re.search(r"e[+-]?[\d_]{3}", text, re.IGNORECASE):
        raise ParameterError(
            f"a probability is {shown(text)}; those given as text have up to {_LONGEST_TEXT} characters, and two "
            "digits in an exponent: give fewer, or a float"
        )


def _sorted(values: set[Hashable]) -> tuple[Hashable, ...]:
    """Values in an order that does not depend on hashing."""
    try:
        return tuple(sorted(values))  # type: ignore[type-var]
    except TypeError:
        return tuple(sorted(values, key=lambda value: (type(value).__name__, str(value))))
