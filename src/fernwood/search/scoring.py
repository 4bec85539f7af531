"""Scores of some columns of a store, given by position: all that a worker needs, and nothing as long as the table."""

from __future__ import annotations

import math
import threading
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import numpy as np

from fernwood.kernels.components import fill_components
from fernwood.search.components import UNMARKED, Components
from fernwood.search.leftover import divide

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from fernwood.kernels.examining import Contexts
    from fernwood.search.dealing import Dealer
    from fernwood.search.leftover import Leftover
    from fernwood.store.base import Store

__all__ = ["Columns", "Scorer"]

_Number = TypeVar("_Number", bound=np.generic)

_TIED_AT_ONCE, _LEFT_AT_ONCE = 64, 256
_EVEN_ENOUGH = 4  # as a power of two
_KINDS_APART = 4096  # more than all kinds that differ by components and spread


class Columns(NamedTuple):
    """Some columns of a store.

    Attributes
    ----------
    positions : int array
    categories : bool array; which of them hold categories
    kept : int16 array; where the components of a column are kept, −1 where they are not
    """

    positions: NDArray[np.signedinteger[Any]]
    categories: NDArray[np.bool_]
    kept: NDArray[np.int16]

    def part(self, part: slice) -> Columns:
        """Some of them."""
        return Columns(self.positions[part], self.categories[part], self.kept[part])


class Scorer:
    """Scores columns and their shadows on the rows that count.

    Parameters
    ----------
    store
    rows : int64 array or None
        The rows that count, where some do not.
    weights : float64 array
        Of those rows.
    deal
        Makes shadows.
    squares : float64 array, optional
        How much each of those rows adds to the variance of a score by chance; by default, the squares of the weights.
    leftover
        What covariates leave of columns, where there are numbers among them.

    Attributes
    ----------
    store, rows, weights, deal, leftover
    n_rows : that count
    components_of : scores columns by their components, and keeps those
    """

    def __init__(
        self,
        store: Store,
        rows: NDArray[np.int64] | None,
        weights: NDArray[np.float64],
        deal: Dealer,
        squares: NDArray[np.float64] | None = None,
        leftover: Leftover | None = None,
    ) -> None:
        self.store = store
        self.rows = slice(None) if rows is None else rows
        self.n_rows = store.n_rows if rows is None else len(rows)
        self.weights = weights
        self.deal = deal
        self.leftover = leftover
        self.components_of = Components(weights, squares)
        self._rooms = threading.local()

    @property
    def in_place(self) -> bool:
        """Whether all rows count, and shadows are dealt without regard to groups and covariates."""
        return isinstance(self.rows, slice) and not self.deal.in_pieces

    def codes(self, positions: NDArray[np.signedinteger[Any]]) -> NDArray[np.uint8]:
        """The codes of some columns, for the rows that count."""
        return np.ascontiguousarray(self.store.read(positions)[:, self.rows])

    def weighed(
        self, positions: NDArray[np.signedinteger[Any]], addresses: NDArray[np.uint64] | None
    ) -> NDArray[np.uint8]:
        """Codes that the components of columns, or of their shadows dealt at addresses, are worked out from."""
        codes = self.codes(positions)
        return codes if addresses is None or self._weighed_alike else self.deal.at(codes, addresses)

    @property
    def _weighed_alike(self) -> bool:
        """Whether codes weigh as much in a shadow as in its column: rows weigh the same, and no value comes to more."""
        return not self.components_of.unequal and self.deal.keeps_counts

    def read_into(self, positions: NDArray[np.signedinteger[Any]], out: NDArray[np.uint8]) -> None:
        """As `codes`, into an array."""
        if isinstance(self.rows, slice):
            self.store.read(positions, out)
        else:
            out[:] = self.store.read(positions)[:, self.rows]

    def survey(
        self, positions: NDArray[np.signedinteger[Any]], categories: NDArray[np.bool_]
    ) -> tuple[NDArray[np.int64], NDArray[np.uint64]]:
        """Of which kind every column is, and its mark: the same where codes occur equally often.

        Columns of a kind have scores of about the same distribution by chance: as many components, codes that are about
        equally spread (from sixteen equal ones on, the distribution hardly depends on them), and about the same
        dependence on groups and strata.
        """
        return self.surveyed(self.codes(positions), categories)

    def surveyed(
        self, codes: NDArray[np.uint8], categories: NDArray[np.bool_]
    ) -> tuple[NDArray[np.int64], NDArray[np.uint64]]:
        """What `survey` says of columns with these codes."""
        told = self.components_of.survey(codes, categories)
        spread = np.minimum(np.rint(np.log2(told.evenness)), _EVEN_ENOUGH)
        kind = np.asarray(np.rint(4 * np.log2(told.n_pairs)) * 16 + spread, np.int64)
        if self.deal.in_pieces:
            kind += _KINDS_APART * self._tied(codes, categories)
        if not self._weighed_alike:  # shadows have components of their own, so that none are to be kept
            told.marks[:] = UNMARKED
        return kind, told.marks

    def _tied(self, codes: NDArray[np.uint8], categories: NDArray[np.bool_]) -> NDArray[np.int64]:
        """How columns depend on groups and strata; a few at a time, since numbers take eight times what codes do."""
        table = np.empty((len(codes), 256, 2), np.float32)
        part = np.zeros(len(codes), np.int64)
        amounts = self.components_of.amounts(codes)
        fill_components(amounts, categories, np.arange(len(codes)), part, table)
        tied = np.empty(len(codes), np.int64)
        for few in range(0, len(codes), _TIED_AT_ONCE):
            chosen = slice(few, few + _TIED_AT_ONCE)
            values = np.stack([t[c, 0] for t, c in zip(table[chosen], codes[chosen], strict=True)])
            tied[chosen] = self.deal.tied(values)
        return tied

    def keep(self, positions: NDArray[np.signedinteger[Any]], categories: NDArray[np.bool_], at_once: int) -> None:
        """Keep the components of some columns, for columns that say where theirs are kept; read so many at once."""
        amounts = np.empty((len(positions), 256))
        order = np.argsort(positions, kind="stable")
        for first in range(0, len(order), at_once):  # in very many rows, codes hardly ever occur equally often
            places = order[first : first + at_once]
            amounts[places] = self.components_of.amounts(self.codes(positions[places]))
        self.components_of.keep(amounts, categories)

    def scores(
        self, columns: Columns, contexts: Contexts, addresses: NDArray[np.uint64] | None = None
    ) -> NDArray[np.float32]:
        """Scores of columns, or of their shadows that are dealt at addresses, in contexts.

        They are in a buffer that the next call from the same thread fills anew: asking the system for room of this size
        again and again takes longer than scoring a column in a few contexts.
        """
        n = len(columns.positions)
        codes = self.store.read(columns.positions, self._room("codes", (n, self.store.n_rows), np.uint8))
        if not isinstance(self.rows, slice):
            codes = np.ascontiguousarray(codes[:, self.rows])
        if addresses is not None:
            codes = self.deal.at(codes, addresses)
        scores = self._room("scores", (n, len(contexts.rows), 2), np.float32)
        scores[:] = 0
        self.components_of.add_scores(codes, columns.categories, columns.kept, contexts, scores)
        if self.leftover is None:
            return scores
        return divide(scores, self.left_of(columns, addresses, codes), contexts)

    def left_of(
        self, columns: Columns, addresses: NDArray[np.uint64] | None, codes: NDArray[np.uint8] | None = None
    ) -> NDArray[np.float32]:
        """What covariates leave of columns, or of their shadows that are dealt at addresses, see `Leftover.known`.

        `codes` are those of the columns, or shadows, where they are at hand.
        """
        assert self.leftover is not None  # noqa: S101  (there are covariates)
        positions = columns.positions
        new = self.leftover.unknown(positions, addresses)
        for first in range(0, len(new), _LEFT_AT_ONCE):
            some = new[first : first + _LEFT_AT_ONCE]
            dealt = None if addresses is None else addresses[some]
            if codes is None:
                held = self.codes(positions[some])
                held = held if dealt is None else self.deal.at(held, dealt)
            else:
                held = codes[some]
            self.leftover.learn(positions[some], dealt, held, columns.categories[some], self.components_of)
        return self.leftover.known(positions, addresses)

    def _room(self, name: str, shape: tuple[int, ...], dtype: type[_Number]) -> NDArray[_Number]:
        """An array of this shape in a buffer that the thread keeps."""
        size = math.prod(shape)
        room: NDArray[_Number] | None = getattr(self._rooms, name, None)
        if room is None or len(room) < size:
            room = np.empty(size, dtype)
            setattr(self._rooms, name, room)
        return room[:size].reshape(shape)
