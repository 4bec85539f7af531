"""Data frames as sources: pandas, polars, Arrow tables and whatever else narwhals understands."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from fernwood.errors import SourceError, shown
from fernwood.shortage import pass_on_shortage
from fernwood.sources.arrays import array_band
from fernwood.sources.arrow import arrow_band, first_line
from fernwood.sources.base import Band, Reader, Source, Workspace
from fernwood.sources.names import ListedNames
from fernwood.sources.repeating import RepeatingReader, distinct

if TYPE_CHECKING:
    from collections.abc import Iterator

    import narwhals as nw
    from numpy.typing import NDArray

    from fernwood.sources.names import Names

__all__ = ["FrameSource", "collected", "is_frame"]


def is_frame(table: object) -> bool:
    """Whether narwhals takes the object for a data frame."""
    import narwhals as nw

    try:
        return isinstance(nw.from_native(table, pass_through=True), nw.DataFrame | nw.LazyFrame)
    except nw.exceptions.DuplicateError:
        return True


def collected(table: Any) -> Any:
    """The data frame itself, or that which a lazy one stands for."""
    import narwhals as nw

    try:
        frame = nw.from_native(table, pass_through=True)
    except nw.exceptions.DuplicateError:
        return table
    return frame.collect().to_native() if isinstance(frame, nw.LazyFrame) else table


class FrameSource(Source):
    """A data frame; column names of other types than text become text."""

    def __init__(self, table: Any) -> None:
        import narwhals as nw

        self.title = "the data frame"
        table, names = _with_plain_names(table)
        self._frame = nw.from_native(_in_own_order(collected(table)), eager_only=True)
        self.names = ListedNames(names if names is not None else self._frame.columns)
        self.n_bytes = int(self._frame.estimated_size())

    @contextmanager
    def reading(self, columns: NDArray[np.int64], workspace: Workspace) -> Iterator[Reader]:  # noqa: ARG002
        """Open the frame to read some columns."""
        once, places = distinct(columns)
        reader = _FrameReader(self._frame, once, self.names)
        yield reader if len(once) == len(columns) else RepeatingReader(reader, places)


def _with_plain_names(table: Any) -> tuple[Any, list[str] | None]:
    """Columns numbered where their names are no text or stand twice, which narwhals refuses, and the names."""
    if hasattr(table, "iloc"):
        names = [str(label) for label in table.columns]
        plain = len(set(names)) == len(names) and all(isinstance(label, str) for label in table.columns)
        return (table, None) if plain else (table.set_axis([str(i) for i in range(len(names))], axis=1), names)
    if isinstance(table, pa.Table):
        names = table.column_names
        plain = len(set(names)) == len(names)
        return (table, None) if plain else (table.rename_columns([str(i) for i in range(len(names))]), names)
    return table, None


def _in_own_order(table: Any) -> Any:
    """Numbers of pandas in the machine's order of bytes: neither pandas nor Arrow picks columns of the other."""
    types = table.dtypes.items() if hasattr(table, "iloc") else ()
    swapped = {name: kind.newbyteorder("=") for name, kind in types if isinstance(kind, np.dtype) and not kind.isnative}
    return table.astype(swapped) if swapped else table


class _FrameReader(Reader):
    def __init__(self, frame: nw.DataFrame[Any], columns: NDArray[np.int64], names: Names) -> None:
        self._frame = frame
        self._names = names
        self._columns = columns
        self._kinds = list(frame.schema.values())
        self.n_rows = len(frame)

    def overhead(self) -> int:
        return self.n_rows * 24

    def band(self, start: int, stop: int) -> Band:
        import narwhals as nw

        positions = self._columns[start:stop].tolist()
        part = self._frame[:, positions]
        kinds = {self._kinds[i] for i in positions}
        if len(kinds) == 1 and all(kind.is_numeric() and not isinstance(kind, nw.Decimal) for kind in kinds):
            block = part.to_numpy()
            if block.dtype.kind in "iuf":
                return array_band(block, "the data frame")
        names = (self._names[i] for i in positions)
        columns = ((name, self._arrow(part, i, name)) for i, name in enumerate(names))
        return arrow_band(columns, self.n_rows)

    @staticmethod
    def _arrow(part: nw.DataFrame[Any], i: int, name: str) -> pa.ChunkedArray:
        try:
            return part[:, i].to_arrow()
        except (pa.ArrowException, TypeError, ValueError, OverflowError, NotImplementedError) as error:
            pass_on_shortage(error)
            raise SourceError(
                f"column {shown(name)} has a type of its own, or mixes types ({first_line(error)}); "
                "give it one type, numbers or text"
            ) from error
