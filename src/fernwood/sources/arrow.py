"""Arrow columns as numbers: the one place that knows what each Arrow type means to Fernwood."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.types as pt

from fernwood.errors import SourceError, printable, shown
from fernwood.shortage import pass_on_shortage
from fernwood.sources.base import Band, Kind
from fernwood.sources.dates import A_SECOND

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

__all__ = ["arrow_band", "arrow_column", "first_line"]


class ArrowColumn(NamedTuple):
    """One column: float32 or float64 values, NaN for missing ones; its kind; the labels of a categorical one."""

    values: NDArray[np.floating]
    kind: Kind
    labels: pa.Array | None = None


def arrow_band(columns: Iterable[tuple[str, pa.Array | pa.ChunkedArray]], n_rows: int) -> Band:
    """A band of named Arrow columns; float32 when every one of them fits that exactly."""
    converted = [arrow_column(name, column) for name, column in columns]
    dtype = np.result_type(np.float32, *{column.values.dtype for column in converted})
    values = np.empty((len(converted), n_rows), dtype)
    for i, column in enumerate(converted):
        values[i] = column.values
    kinds = np.array([column.kind for column in converted], np.uint8)
    return Band(values, kinds, {i: c.labels for i, c in enumerate(converted) if c.labels is not None})


def arrow_column(name: str, column: pa.Array | pa.ChunkedArray) -> ArrowColumn:
    """The values of an Arrow column."""
    try:
        return _converted(name, column)
    except pa.ArrowException as error:
        pass_on_shortage(error)
        raise SourceError(
            f"column {shown(name)} of type {shown(column.type)} cannot be read ({first_line(error)}); "
            "convert it, or leave it out with --drop (drop=)"
        ) from error


def first_line(error: Exception) -> str:
    """What an error of Arrow says first, safe to show."""
    return printable((str(error).splitlines() or ["no reason given"])[0])


def _converted(name: str, column: pa.Array | pa.ChunkedArray) -> ArrowColumn:
    if isinstance(column, pa.ChunkedArray):
        column = column.combine_chunks() if column.num_chunks != 1 else column.chunk(0)
    kind = column.type
    if pt.is_dictionary(kind):
        return _categories(column, column.dictionary.cast(pa.large_string()))
    if pt.is_string(kind) or pt.is_large_string(kind) or pt.is_string_view(kind):
        encoded = column.cast(pa.large_string()).dictionary_encode()
        return _categories(encoded, encoded.dictionary)
    if pt.is_null(kind):
        return ArrowColumn(np.full(len(column), np.nan, np.float32), Kind.NUMBER)
    if pt.is_boolean(kind):
        return ArrowColumn(_floats(column.cast(pa.uint8()), pa.float32()), Kind.BOOLEAN)
    if pt.is_timestamp(kind) or pt.is_duration(kind) or pt.is_time(kind):
        ticks = column.cast(pa.int32() if pt.is_time32(kind) else pa.int64())
        seconds = _floats(ticks, pa.float64()) / A_SECOND[kind.unit]
        return ArrowColumn(seconds, Kind.DATE if pt.is_timestamp(kind) else Kind.NUMBER)
    if pt.is_date(kind):
        return ArrowColumn(_floats(column.cast(pa.timestamp("s")).cast(pa.int64()), pa.float64()), Kind.DATE)
    if pt.is_float16(kind) or pt.is_float32(kind) or (pt.is_integer(kind) and kind.bit_width <= 16):
        return ArrowColumn(_floats(column, pa.float32()), Kind.NUMBER)
    if pt.is_floating(kind) or pt.is_integer(kind) or pt.is_decimal(kind):
        return ArrowColumn(_floats(column, pa.float64()), Kind.NUMBER)
    raise SourceError(
        f"column {shown(name)} is of type {shown(kind)}, which is neither numbers, booleans, dates nor text; "
        "convert it, or leave it out with --drop (drop=)"
    )


def _floats(column: pa.Array, to: pa.DataType) -> NDArray[np.floating]:
    out: NDArray[np.floating] = column.cast(to, safe=False).to_numpy(zero_copy_only=False)
    return out


def _categories(column: pa.DictionaryArray, labels: pa.Array) -> ArrowColumn:
    values = _floats(column.indices, pa.float64())
    distinct = labels.dictionary_encode(null_encoding="encode")
    if len(distinct.dictionary) < len(labels):  # a dictionary may hold a value twice
        present = ~np.isnan(values)
        values[present] = distinct.indices.to_numpy(zero_copy_only=False)[values[present].astype(np.int64)]
        labels = distinct.dictionary
    nulls = np.flatnonzero(pc.is_null(labels).to_numpy(zero_copy_only=False))
    if len(nulls):  # a dictionary may hold a null of its own
        values = np.where(np.isin(values, nulls), np.nan, values)
    return ArrowColumn(values, Kind.CATEGORY, labels)
