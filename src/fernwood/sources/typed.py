"""Bands as Arrow arrays: numbers, booleans, dates and words again, so that columns can leave as what they came as."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from fernwood.errors import SourceError, shown
from fernwood.sources.base import Kind
from fernwood.sources.dates import dates_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from fernwood.sources.base import Band

__all__ = ["decoded", "exact_columns", "typed_columns"]

_LONGEST_FLOAT = 8


def typed_columns(band: Band, dtype: np.dtype[np.generic] | None = None) -> list[pa.Array]:
    """The columns of a band, missing values being null.

    Parameters
    ----------
    band
    dtype
        The type that all numbers of the source have, which doubles hold exactly; without it they are floating-point
        numbers.

    Examples
    --------
    >>> from fernwood.sources.base import Band
    >>> typed_columns(Band.of_numbers(np.array([[1.0, np.nan]])), np.dtype(np.int8))[0].type
    DataType(int8)
    """
    return [_typed(band, place, dtype) for place in range(len(band.values))]


def _typed(band: Band, place: int, dtype: np.dtype[np.generic] | None) -> pa.Array:
    values = band.values[place]
    missing = np.isnan(values)
    filled = np.where(missing, 0, values) if missing.any() else values
    kind = Kind(band.kinds[place])
    if kind == Kind.CATEGORY:
        return pa.DictionaryArray.from_arrays(pa.array(filled.astype(np.int32), mask=missing), band.labels[place])
    if kind == Kind.BOOLEAN:
        return pa.array(filled == 1, mask=missing)
    if kind == Kind.DATE:
        return pa.array(dates_of(values))
    return pa.array(filled if dtype is None else filled.astype(dtype), mask=missing)


def exact_columns(values: NDArray[np.generic]) -> list[pa.Array]:
    """Columns of an array of numbers or booleans, shape (columns, rows), in the machine's order of bytes, as they are.

    Doubles would merge whole numbers beyond 2⁵³. The columns may share the memory of the array.

    Examples
    --------
    >>> exact_columns(np.array([[2**63 - 1, 2**53 + 1]]))[0].to_pylist() == [2**63 - 1, 2**53 + 1]
    True
    """
    if values.dtype.kind != "f":
        return [pa.array(column) for column in values]
    if values.dtype.itemsize > _LONGEST_FLOAT:
        raise SourceError(
            f"the values are of type {shown(values.dtype)}, which no table is written with; save them as float64"
        )
    return [pa.array(column, mask=np.isnan(column)) for column in values]


def decoded(column: pa.Array | pa.ChunkedArray) -> pa.Array | pa.ChunkedArray:
    """A column without a dictionary: every row has its word."""
    kind: pa.DataType = column.type
    return column.cast(kind.value_type) if pa.types.is_dictionary(kind) else column
