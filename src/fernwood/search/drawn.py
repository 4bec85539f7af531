"""Contexts that were drawn, and the recipe by which anybody draws the same ones again from the same store."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from fernwood import seeds
from fernwood.learner.contexts import Ferns, draw_exploring_ferns, draw_ferns, without_context

if TYPE_CHECKING:
    from collections.abc import Hashable

    from numpy.typing import NDArray

    from fernwood.kernels.examining import Contexts
    from fernwood.learner.contexts import Ground
    from fernwood.search.examining import Examiner

__all__ = ["Drawn", "Recipe"]


class Recipe(NamedTuple):
    """How contexts are drawn.

    Attributes
    ----------
    columns : int32 array; positions of the columns that they are drawn from
    categories : bool array; which of these hold categories
    n_ferns : how many there are
    n_found : where they explore, how many of the columns, the first ones, are found already; None where they do not
    state : of the generator before the first of them
    """

    columns: NDArray[np.int32]
    categories: NDArray[np.bool_]
    n_ferns: int
    n_found: int | None
    state: dict[str, Any]

    @property
    def key(self) -> Hashable:
        """The same for recipes of the same contexts only.

        The state does not tell: a search that is stopped early, and then goes on, draws from other columns at the same
        address.
        """
        return self.columns.tobytes(), self.categories.tobytes(), self.n_ferns, self.n_found, repr(self.state)

    def grown(self, codes: NDArray[np.uint8], ground: Ground, rng: np.random.Generator | None = None) -> Ferns:
        """The contexts, from the codes of the columns; by a generator that is at their state, which then goes on."""
        rng = rng or seeds.resumed(self.state)
        if self.n_found is None:
            return draw_ferns(rng, codes, self.categories, ground, self.n_ferns)
        return draw_exploring_ferns(rng, codes, self.categories, ground, self.n_ferns, self.n_found)


class Drawn(NamedTuple):
    """Contexts that were drawn.

    Attributes
    ----------
    contexts
    uses : the columns that each of them uses, as places in `carried`
    carried : int64 array; ranks of the columns that they are drawn from
    recipe : None where there is no context but that of all rows
    """

    contexts: Contexts
    uses: list[NDArray[np.int64]]
    carried: NDArray[np.int64]
    recipe: Recipe | None

    @classmethod
    def nothing(cls, ground: Ground) -> Drawn:
        """The one context that divides the rows no further: a column by itself."""
        none = np.empty(0, np.int64)
        return cls(without_context(ground), [none], none, None)

    @classmethod
    def ferns(
        cls,
        rng: np.random.Generator,
        examiner: Examiner,
        carried: NDArray[np.int64],
        ground: Ground,
        n_ferns: int,
        *,
        n_found: int | None = None,
        codes: NDArray[np.uint8] | None = None,
    ) -> Drawn:
        """Ferns of some columns, given by rank; of random ones beside the `n_found` first where that is said."""
        state: dict[str, Any] = dict(rng.bit_generator.state)
        recipe = Recipe(examiner.ids[carried], examiner.categories[carried], n_ferns, n_found, state)
        codes = examiner.codes(carried) if codes is None else codes
        return cls(*recipe.grown(codes, ground, rng), carried, recipe)
