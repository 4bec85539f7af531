"""Data frames as sources: pandas, polars, Arrow tables and whatever else narwhals understands."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from fernwood.errors import SourceError, shown
from fernwood.sources.arrays import array_band
from fernwood.sources.arrow import arrow_band
from fernwood.sources.base import Band, Reader, Source, Workspace
from fernwood.sources.names import ListedNames

if TYPE_CHECKING:
    from collections.abc import Iterator

    import narwhals as nw
    import numpy as np
    from numpy.typing import NDArray

__all__ = ["FrameSource", "is_frame"]


def is_frame(table: object) -> bool:
    """Whether narwhals takes the object for an eager data frame."""
    import narwhals as nw

    return isinstance(nw.from_native(table, pass_through=True), nw.DataFrame | nw.LazyFrame)


class FrameSource(Source):
    """A data frame; column names of other types than text become text."""

    def __init__(self, table: Any) -> None:
        import narwhals as nw

        self.title = "the data frame"
        labels = list(getattr(table, "columns", [])) if hasattr(table, "iloc") else None
        if labels is not None and any(not isinstance(label, str) for label in labels):
            table = table.set_axis([str(label) for label in labels], axis=1)
        try:
            frame = nw.from_native(table)
            if isinstance(frame, nw.LazyFrame):
                frame = frame.collect()
            names = frame.columns
        except nw.exceptions.DuplicateError as error:
            twice = next((name for i, name in enumerate(labels or []) if name in (labels or [])[:i]), "?")
            raise SourceError(
                f"the data frame has two columns named {shown(twice)}; names must differ: rename one"
            ) from error
        self._frame = frame
        self.names = ListedNames(names)
        self.n_bytes = int(frame.estimated_size())

    @contextmanager
    def reading(self, columns: NDArray[np.int64], workspace: Workspace) -> Iterator[Reader]:  # noqa: ARG002
        """Open the frame to read some columns."""
        yield _FrameReader(self._frame, columns)


class _FrameReader(Reader):
    def __init__(self, frame: nw.DataFrame[Any], columns: NDArray[np.int64]) -> None:
        self._frame = frame
        self._columns = columns
        self.n_rows = len(frame)

    def overhead(self) -> int:
        return self.n_rows * 24

    def band(self, start: int, stop: int) -> Band:
        positions = self._columns[start:stop].tolist()
        part = self._frame[:, positions]
        dtypes = set(part.schema.values())
        if len(dtypes) == 1 and next(iter(dtypes)).is_numeric() and not next(iter(dtypes)).is_decimal():
            block = part.to_numpy()
            if block.dtype.kind in "iuf":
                return array_band(block, "the data frame")
        return arrow_band(((name, self._arrow(part, name)) for name in part.columns), self.n_rows)

    @staticmethod
    def _arrow(part: nw.DataFrame[Any], name: str) -> pa.ChunkedArray:
        try:
            return part.get_column(name).to_arrow()
        except (pa.ArrowInvalid, pa.ArrowTypeError, OverflowError) as error:
            raise SourceError(
                f"column {shown(name)} mixes types ({str(error).splitlines()[0]}); give it one type, numbers or text"
            ) from error
