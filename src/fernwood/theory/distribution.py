"""Distributions: the joint law of a few discrete inputs and one output, and all that can be asked of it."""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from fernwood.errors import ParameterError, printable, shown, shown_value
from fernwood.theory.table import CELL_LIMIT, Table, as_probability, check_cells

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterable, Sequence

    from numpy.typing import NDArray

    from fernwood.theory.importance import Decomposition
    from fernwood.theory.search import ConditioningChain, Found
    from fernwood.theory.table import Column, Outcome, Probability

__all__ = ["Distribution"]


class Distribution(Table):
    """A discrete joint distribution of inputs and an output.

    Parameters
    ----------
    outcomes
        The probability of every outcome that can occur; an outcome is a tuple with one value per column.
    columns
        Names of the columns; by default X1, X2, … and, last, Y.
    output
        Which column is the output; by default the last one.

    Examples
    --------
    >>> coin = Distribution({(0, 0): "1/2", (1, 1): "1/2"})
    >>> coin.inputs, coin.output, coin.exact
    (('X1',), 'Y', True)
    >>> coin.mutual_information("X1", "Y")
    1.0
    """

    @classmethod
    def from_function(
        cls,
        function: Callable[..., Hashable | Mapping[Hashable, Probability]],
        inputs: Mapping[str, Mapping[Hashable, Probability]],
        output: str = "Y",
    ) -> Distribution:
        """The distribution of independent inputs and a function of them.

        Parameters
        ----------
        function
            Takes one value per input, in order; returns the output, or its probabilities as a mapping.
        inputs
            For every input the probabilities of its values.
        output
            Name of the output.

        Examples
        --------
        >>> coin = {0: "1/2", 1: "1/2"}
        >>> both = Distribution.from_function(lambda a, b: a and b, {"A": coin, "B": coin})
        >>> both.probability(Y=1)
        Fraction(1, 4)
        """
        check_cells(math.prod(len(law) for law in inputs.values()))
        outcomes: dict[Outcome, Fraction | float] = {}
        laws = [[(value, as_probability(chance)) for value, chance in law.items()] for law in inputs.values()]
        for combination in itertools.product(*laws):
            values = tuple(value for value, _ in combination)
            chance = math.prod((chance for _, chance in combination), start=Fraction(1))
            result = function(*values)
            for value, share in (result if isinstance(result, Mapping) else {result: 1}).items():
                outcome = (*values, value)
                outcomes[outcome] = outcomes.get(outcome, 0) + chance * as_probability(share)
        return cls(outcomes, (*inputs, output), output)

    @classmethod
    def from_frame(cls, frame: Any, output: str, columns: Sequence[str] | None = None) -> Distribution:
        """The distribution of the rows of a data frame (pandas, polars, Arrow, …), every row counting the same.

        Parameters
        ----------
        frame
            A data frame; its values are taken as categories.
        output
            Name of the output column.
        columns
            Which inputs to keep; by default all other columns.

        Examples
        --------
        >>> import pandas as pd
        >>> Distribution.from_frame(pd.DataFrame({"a": [0, 0, 1], "y": [0, 1, 1]}), output="y").probability(a=0)
        Fraction(2, 3)
        """
        import narwhals as nw

        try:
            table = nw.from_native(frame, eager_only=True)
        except nw.exceptions.DuplicateError:
            raise ParameterError("two columns of the frame share a name; give every column its own") from None
        inputs = [name for name in table.columns if name != output] if columns is None else list(columns)
        missing = [name for name in (*inputs, output) if name not in table.columns]
        if missing:
            known = printable(", ".join(table.columns[:20]))
            raise ParameterError(f"there is no column {shown(missing[0])} in the frame; its columns are {known}")
        if not len(table):
            raise ParameterError("the frame has no rows; give at least one sample")
        counts: dict[Outcome, int] = {}
        for row in table.select([*inputs, output]).iter_rows():
            # Not-a-number differs from itself; here it is a value like any other, and the same as a missing one.
            outcome = tuple(None if value != value else value for value in row)
            counts[outcome] = counts.get(outcome, 0) + 1
        return cls({row: Fraction(count, len(table)) for row, count in counts.items()}, [*inputs, output], output)

    def keep(self, columns: Iterable[Column]) -> Distribution:
        """The distribution of some of the inputs and the output.

        Examples
        --------
        >>> from fernwood import theory
        >>> theory.xor(3).keep(["X1", "X2"]).inputs
        ('X1', 'X2')
        """
        places = [self.position(column) for column in columns]
        kept: dict[Outcome, Fraction | float] = {}
        for outcome, probability in self.outcomes().items():
            part = (*(outcome[i] for i in places), outcome[-1])
            kept[part] = kept.get(part, 0) + probability
        return Distribution(kept, (*(self.columns[i] for i in places), self.output))

    def with_irrelevant(self, n: int = 1) -> Distribution:
        """The same with `n` fair coins that have nothing to do with anything as further inputs.

        Examples
        --------
        >>> from fernwood import theory
        >>> theory.xor(2).with_irrelevant().relevance()
        {'X1': 'strong', 'X2': 'strong', 'N1': 'irrelevant'}
        """
        self._check_added("n", n, 2)
        outcomes = {
            (*outcome[:-1], *coins, outcome[-1]): probability / 2**n
            for outcome, probability in self.outcomes().items()
            for coins in itertools.product((0, 1), repeat=n)
        }
        return Distribution(outcomes, (*self.inputs, *(f"N{i + 1}" for i in range(n)), self.output))

    def with_copies(self, column: Column, copies: int = 1, noise: Probability = 0) -> Distribution:
        """The same with copies of an input; with probability `noise` a copy shows one of the other values instead.

        Examples
        --------
        >>> from fernwood import theory
        >>> theory.xor(2).with_copies("X1").relevance()
        {'X1': 'weak', 'X2': 'strong', 'X1.1': 'weak'}
        """
        place, chance = self.position(column), as_probability(noise)
        if chance > 1:
            raise ParameterError(f"noise is {printable(str(noise))}; it is a probability: give a number from 0 to 1")
        values = self.values[place]
        if chance and len(values) < 2:
            raise ParameterError(f"noise is {noise}, but {self.columns[place]} has one value only; give noise 0")
        self._check_added("copies", copies, len(values))
        other = chance / (len(values) - 1) if chance else chance
        shares = [other**wrong * (1 - chance) ** (copies - wrong) for wrong in range(copies + 1)]
        outcomes: dict[Outcome, Fraction | float] = {}
        for outcome, probability in self.outcomes().items():
            for shown_values in itertools.product(values, repeat=copies):
                wrong = sum(value != outcome[place] for value in shown_values)
                if not wrong or chance:
                    outcomes[(*outcome[:-1], *shown_values, outcome[-1])] = probability * shares[wrong]
        names = (f"{self.columns[place]}.{i + 1}" for i in range(copies))
        return Distribution(outcomes, (*self.inputs, *names, self.output))

    # The questions, each answered in the module of its name ----------------------------------------------------------

    def entropy(self, columns: Column | Iterable[Column] | None = None, given: Column | Iterable[Column] = ()) -> float:
        """Entropy in bits of the columns (by default the output); see `fernwood.theory.information`."""
        from fernwood.theory.information import entropy

        return entropy(self, self.output if columns is None else columns, given)

    def mutual_information(
        self, a: Column | Iterable[Column], b: Column | Iterable[Column], given: Column | Iterable[Column] = ()
    ) -> float:
        """(Conditional) mutual information in bits; see `fernwood.theory.information`."""
        from fernwood.theory.information import mutual_information

        return mutual_information(self, a, b, given)

    def relevance(self) -> dict[str, str]:
        """'strong', 'weak' or 'irrelevant' for every input; see `fernwood.theory.relevance`."""
        from fernwood.theory.relevance import relevance

        return relevance(self)

    def degree(self, column: Column) -> int | None:
        """Size of the smallest conditioning that makes an input relevant, None where none does."""
        from fernwood.theory.relevance import degree

        return degree(self, column)

    def minimal_conditionings(self, column: Column) -> list[tuple[str, ...]]:
        """All conditionings that make an input relevant and of which no part does."""
        from fernwood.theory.relevance import minimal_conditionings

        return minimal_conditionings(self, column)

    def markov_boundaries(self) -> list[tuple[str, ...]]:
        """All smallest sets of inputs that leave nothing to learn from the others."""
        from fernwood.theory.relevance import markov_boundaries

        return markov_boundaries(self)

    def is_strictly_positive(self) -> bool:
        """Whether every combination of input values can occur.

        Examples
        --------
        >>> from fernwood import theory
        >>> theory.xor(2).is_strictly_positive(), theory.seven_segment().is_strictly_positive()
        (True, False)
        """
        return bool(np.all(self.marginal((1 << self.n_inputs) - 1) > 0))

    def has_composition(self, *, output_only: bool = False) -> bool:
        """Whether independence of two sets implies independence of their union; see `fernwood.theory.relevance`."""
        from fernwood.theory.relevance import has_composition

        return has_composition(self, output_only=output_only)

    def importances(
        self, max_features: int = 1, max_depth: int | None = None, subspace: int | None = None
    ) -> dict[str, float]:
        """Exact importances of an infinite forest on infinite data; see `fernwood.theory.importance`."""
        from fernwood.theory.importance import importances

        return importances(self, max_features, max_depth, subspace)

    def decomposition(self, max_depth: int | None = None) -> Decomposition:
        """Importances at K = 1 by column, by degree and by conditioning; see `fernwood.theory.importance`."""
        from fernwood.theory.importance import decomposition

        return decomposition(self, max_depth)

    def found(self, max_features: int, alpha: Probability, q: int) -> Found:
        """Which inputs a sequential random subspace search finds in the end; see `fernwood.theory.search`."""
        from fernwood.theory.search import found

        return found(self, max_features, alpha, q)

    def conditioning_chain(self, column: Column) -> ConditioningChain:
        """A smallest conditioning of an input, in the order a search can find it; see `fernwood.theory.search`."""
        from fernwood.theory.search import conditioning_chain

        return conditioning_chain(self, column)

    def one_tree_suffices(self) -> bool:
        """Whether one tree with K = p finds all strongly relevant inputs; see `fernwood.theory.search`."""
        from fernwood.theory.search import one_tree_suffices

        return one_tree_suffices(self)

    @cached_property
    def dependent_given(self) -> tuple[NDArray[np.bool_], ...]:
        """For every input, whether it tells something about the output given each set of the others (as bits)."""
        from fernwood.theory.relevance import dependences

        return dependences(self)

    def _check_added(self, name: str, n: int, n_values: int) -> None:
        """Refuse to add more inputs than can be enumerated, without working out how many cells that would be."""
        cells = math.prod(self.shape)
        most = next(n for n in itertools.count() if cells * max(2, n_values) ** (n + 1) > CELL_LIMIT)
        if not 0 <= n <= most:
            too_many = f"so many make too many cells, more than the {CELL_LIMIT:,} that are enumerated"
            rule = "inputs are added, and none taken away" if n < 0 else too_many
            raise ParameterError(f"{name} is {shown_value(n)}; {rule}: give a number from 0 to {most}")
