"""Which rows a tree grows on: all, a bootstrap sample, or a part drawn without replacement (pasting, patches)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from fernwood import seeds
from fernwood.errors import ParameterError
from fernwood.learner.trees import bootstrap
from fernwood.validation import is_integer

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["DrawnRows", "RowSampling"]


class DrawnRows(NamedTuple):
    """Rows that a tree grows on (None: all), in ascending order, and those that are left out."""

    grown: NDArray[np.int32] | None
    left_out: NDArray[np.int32]


@dataclass(frozen=True, slots=True)
class RowSampling:
    """How rows are drawn for a tree.

    Parameters
    ----------
    with_replacement
        Whether a row may be drawn again (bootstrap).
    size
        How many are drawn: a number, a share of the rows, or None for as many as there are.
    once
        Whether the rows are divided in two once and for all: one tree grows on those drawn, the next on the others.
    called
        What the size is called where it is refused.

    Examples
    --------
    >>> drawn = RowSampling(size=0.75).draw(8, 0, 1)
    >>> len(drawn.grown), len(drawn.left_out)
    (6, 2)
    """

    with_replacement: bool = False
    size: int | float | None = None
    once: bool = False
    called: str = "max_samples"

    def __post_init__(self) -> None:
        given: object = self.size
        whole = is_integer(given) and given >= 1
        share = isinstance(given, float) and 0 < given <= 1
        if not (given is None or whole or share):
            raise ParameterError(
                f"{self.called} is {given!r}; give a number of rows from 1 on, a share above 0 and up to 1.0, or None"
            )

    @property
    def leaves_some_out(self) -> bool:
        """Whether there are rows, as a rule, that a tree does not grow on."""
        whole = isinstance(self.size, float) and self.size == 1  # the integer 1 is one row
        return self.with_replacement or not (self.size is None or whole)

    def draw(
        self,
        n_rows: int,
        seed: int,
        *address: int,
        groups: NDArray[np.int32] | None = None,
        state: NDArray[np.uint64] | None = None,
    ) -> DrawnRows:
        """The rows at an address below a seed.

        Parameters
        ----------
        n_rows
        seed, *address
        groups
            Numbers from 0 on; rows of one group stay together.
        state
            Where rows are drawn with replacement, in place of the address.
        """
        if not self.leaves_some_out:
            return DrawnRows(None, np.empty(0, np.int32))
        if groups is not None:
            return self._draw_groups(groups, seed, *address, state=state)
        size = self.number(n_rows)
        if self.with_replacement:
            grown = bootstrap(n_rows, seeds.state(seed, *address) if state is None else state, size)
        else:
            chosen = seeds.generator(seed, *address).choice(n_rows, size, replace=False, shuffle=False)
            grown = np.sort(chosen).astype(np.int32)
        kept = np.ones(n_rows, bool)
        kept[grown] = False
        return DrawnRows(grown, np.flatnonzero(kept).astype(np.int32))

    def _draw_groups(
        self, groups: NDArray[np.int32], seed: int, *address: int, state: NDArray[np.uint64] | None
    ) -> DrawnRows:
        """All rows of the groups drawn, as often as their group was; the share of groups is that of rows."""
        n_groups = int(groups.max()) + 1
        share = self.number(len(groups)) / len(groups)
        drawn = RowSampling(self.with_replacement, share).draw(n_groups, seed, *address, state=state)
        times = np.bincount(np.arange(n_groups) if drawn.grown is None else drawn.grown, minlength=n_groups)[groups]
        return DrawnRows(
            np.repeat(np.arange(len(groups), dtype=np.int32), times), np.flatnonzero(times == 0).astype(np.int32)
        )

    def number(self, n_rows: int) -> int:
        """How many rows are drawn of so many."""
        if self.size is None:
            return n_rows
        if isinstance(self.size, float):
            return max(1, round(self.size * n_rows))
        if self.size > n_rows:
            raise ParameterError(f"{self.called} is {self.size} and there are {n_rows} rows; give at most that many")
        return self.size
