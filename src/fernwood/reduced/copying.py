"""Some columns of a source, written as a table, inside a budget."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fernwood.reduced.turning import row_batches
from fernwood.reduced.writing import said_of_disk
from fernwood.sources.base import Workspace

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import numpy as np
    import pyarrow as pa
    from numpy.typing import NDArray

    from fernwood.reduced.writing import Output
    from fernwood.sources.base import ProgressCallback, Source

__all__ = ["copy_columns"]


def copy_columns(
    source: Source,
    positions: NDArray[np.int64],
    names: Sequence[str],
    out: Output,
    *,
    memory: int,
    beside: Sequence[tuple[str, pa.Array]] = (),
    look: Callable[[int, pa.Array | pa.ChunkedArray], None] = lambda _place, _column: None,
    progress: ProgressCallback = lambda _progress: None,
) -> int:
    """Write the columns at these positions under these names, in that order, and say how many rows there are.

    See `fernwood.reduced.turning.row_batches` for the other parameters. Nothing is written before all columns were
    read and looked at.
    """
    n_rows = 0
    with said_of_disk(out.title), out.scratch() as scratch:
        workspace = Workspace(memory, scratch, progress)
        with source.reading(positions, workspace) as reader:
            batches = row_batches(
                reader, names, beside=beside, memory=memory, scratch=scratch, look=look, progress=progress
            )
            with out.writing(next(batches).schema) as writer:
                for batch in batches:
                    writer.write_batch(batch)
                    n_rows += batch.num_rows
    return n_rows
