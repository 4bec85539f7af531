"""Parts of a table that stand side by side and name their rows: all are brought into the row order of the first."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from fernwood.errors import SourceError, nearest, shown
from fernwood.shortage import pass_on_shortage
from fernwood.sources.arrow import first_line
from fernwood.sources.typed import decoded

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from numpy.typing import NDArray

    from fernwood.sources.parquet import Part

__all__ = ["KeyedPart", "RowOrders"]


class RowOrders:
    """The names of rows, from a column that every part has, and where each part has them.

    Parameters
    ----------
    parts, paths
        The open parts and their files.
    key
        The column that names the rows.
    """

    def __init__(self, parts: Sequence[Part], paths: Sequence[Path], key: str) -> None:
        self.key = key
        self.keys = _keys(parts[0], paths[0], key)
        self.orders: list[NDArray[np.int64] | None] = [None]
        for part, path in zip(parts[1:], paths[1:], strict=True):
            self.orders.append(self._order(_keys(part, path, key, self.keys.type), path, paths[0]))

    @property
    def nbytes(self) -> int:
        """Bytes that all of this takes."""
        return int(self.keys.nbytes) + sum(order.nbytes for order in self.orders if order is not None)

    def _order(self, keys: pa.Array, path: Path, first: Path) -> NDArray[np.int64] | None:
        """Where a part has the rows of the first; None where it has them in the same order."""
        if keys.equals(self.keys):
            return None
        for here, there, lacking, having in ((self.keys, keys, path, first), (keys, self.keys, first, path)):
            found = pc.index_in(here, value_set=there)
            if found.null_count:
                absent = here[pc.index(pc.is_null(found), pa.scalar(True)).as_py()]
                raise SourceError(
                    f"{shown(having.name)} has a row {shown(absent)} in its column {shown(self.key)} and "
                    f"{shown(lacking.name)} has none; parts that are joined must have the same rows"
                )
        order: NDArray[np.int64] = pc.index_in(self.keys, value_set=keys).to_numpy().astype(np.int64)
        return order


def _keys(part: Part, path: Path, key: str, dtype: pa.DataType | None = None) -> pa.Array:
    """The column of a part that names its rows: all there, each once."""
    if key not in part.names:
        raise SourceError(
            f"{shown(path.name)} has no column {shown(key)}, by which the parts are to be joined"
            f"{nearest(key, part.names) or '; every part needs it'}"
        )
    column = part.read([part.names.index(key)]).column(0).combine_chunks()
    if pa.types.is_dictionary(column.type):  # a word for every row takes no more memory than words that all differ
        _check_differ(column.indices, column.dictionary, path, key)
    keys = decoded(column)
    try:
        # Arrow may keep the words of two files in two types.
        keys = keys.cast(dtype or (pa.large_string() if pa.types.is_string(keys.type) else keys.type))
    except pa.ArrowException as error:
        pass_on_shortage(error)
        raise SourceError(
            f"column {shown(key)} of {shown(path.name)} is of another type than in the first part "
            f"({first_line(error)}); write it alike in all parts"
        ) from error
    if keys.null_count:
        row = pc.index(pc.is_null(keys), pa.scalar(True)).as_py()
        raise SourceError(f"column {shown(key)} of {shown(path.name)} is missing in row {row}; every row needs a key")
    _check_differ(keys, None, path, key)
    return keys


def _check_differ(keys: pa.Array, words: pa.Array | None, path: Path, key: str) -> None:
    """Refuse a key that stands twice; keys may be places among words."""
    if pc.count_distinct(keys).as_py() == len(keys) - keys.null_count:
        return
    counts = keys.drop_null().value_counts()
    twice = counts.field("values")[pc.index(pc.greater(counts.field("counts"), 1), pa.scalar(True)).as_py()]
    raise SourceError(
        f"the key {shown(twice if words is None else words[twice.as_py()])} stands more than once in column "
        f"{shown(key)} of {shown(path.name)}; keys of rows must differ"
    )


class KeyedPart:
    """A part without its key, its rows in the order of the first part."""

    def __init__(self, part: Part, key: str, order: NDArray[np.int64] | None) -> None:
        self._part = part
        self._order = None if order is None else pa.array(order)
        self._places = [i for i, name in enumerate(part.names) if name != key]
        self.names = [part.names[i] for i in self._places]
        self.n_rows = part.n_rows

    def read(self, positions: list[int]) -> pa.Table:
        """Columns at some positions."""
        table = self._part.read([self._places[i] for i in positions])
        return table if self._order is None else table.take(self._order)

    def text_bytes(self, positions: list[int]) -> int:
        """The most that the words of one of these columns take; twice, where rows are moved."""
        return self._part.text_bytes([self._places[i] for i in positions]) * (1 if self._order is None else 2)

    def close(self) -> None:
        """Close the file."""
        self._part.close()
