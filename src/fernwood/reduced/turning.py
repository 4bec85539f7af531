"""Columns in, batches of rows out, inside a budget: what does not fit waits in scratch files.

bands of whole columns            a scratch file a band, cut by rows          a batch joins its rows of every band
| a a | b b | c |        ->       a a | b b | c                       ->      row 0 … n: a a b b c
"""

from __future__ import annotations

import math
from contextlib import ExitStack
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.ipc

from fernwood.errors import BudgetError
from fernwood.files import FileWriter, opened
from fernwood.sources.base import Progress
from fernwood.sources.typed import decoded

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path
    from typing import TypeAlias

    Column: TypeAlias = pa.Array | pa.ChunkedArray

    from fernwood.sources.base import ProgressCallback, Reader

__all__ = ["row_batches"]

_MOST_BANDS = 200
"""Scratch files that are open at a time."""
_CELL_BYTES = 24
"""Of a cell on its way: as it was read, as Arrow has it, and as it is written."""
_GROUP_BYTES = 2500
"""What Parquet's writer holds of every column of a row group until the file is whole."""
_BATCH_CELLS = 2**20
_SPARE_BYTES = 8 * 10**6


def row_batches(
    reader: Reader,
    names: Sequence[str],
    *,
    beside: Sequence[tuple[str, Column]] = (),
    memory: int,
    scratch: Path,
    look: Callable[[int, Column], None] = lambda _place, _column: None,
    progress: ProgressCallback = lambda _progress: None,
) -> Iterator[pa.RecordBatch]:
    """All columns of a reader, row by row.

    Parameters
    ----------
    reader
    names
        Of its columns.
    beside
        More columns with their names, which are in memory already and come last.
    memory
        Bytes that this may take, what the reader holds included.
    scratch
        A directory for what does not fit.
    look
        Called once for every column, with its place and all of its values, before the first batch comes.
    progress
        Told how many columns were read.

    Yields
    ------
    RecordBatch
        The first one is empty, so that there is a schema before, and without, rows.
    """
    n_columns, n_rows = len(names), reader.n_rows
    room = memory - reader.keeps - reader.caches - _SPARE_BYTES
    height, writing = _batch_height(n_rows, n_columns + len(beside), room)
    a_column = n_rows * _CELL_BYTES + reader.overhead() + 4096
    a_band = a_column * -(-n_columns // _MOST_BANDS)
    if room < max(a_band, writing):
        least = max(a_band, writing) + reader.keeps + _SPARE_BYTES
        # A reader caches up to half of what it may take.
        raise BudgetError("the columns do not fit the memory given", 2 * least if reader.caches else least)
    # All at once where they fit beside the batches; else one band after the other, and the batches when they are done.
    at_once = n_columns * a_column + writing <= room
    width = max(1, room // a_column)
    bands = [(first, min(first + width, n_columns)) for first in range(0, n_columns, width)]

    def read(first: int, last: int) -> pa.Table:
        progress(Progress("reading", first, n_columns, "columns"))
        columns = reader.columns(first, last)
        for place, column in enumerate(columns, first):
            look(place, column)
        return pa.table([_whole(column) for column in columns], names=[str(i) for i in range(first, last)])

    more = [(name, _whole(column)) for name, column in beside]
    if at_once:
        whole = read(0, n_columns)
        yield from _batches(lambda row: [whole.slice(row, height)], names, more, n_rows, height)
        return
    files = []
    for number, (first, last) in enumerate(bands):
        files.append(scratch / f"band-{number:05d}.arrow")
        table = read(first, last)
        with FileWriter(files[-1], sync=False) as sink, pa.ipc.new_file(sink, table.schema) as writer:
            writer.write_table(table, max_chunksize=height)
        del table
        pa.default_memory_pool().release_unused()
    with ExitStack() as stack:
        parts = [pa.ipc.open_file(stack.enter_context(opened(file))) for file in files]

        def rows(row: int) -> list[pa.Table]:
            return [pa.Table.from_batches([part.get_batch(row // height)]) for part in parts]

        yield from _batches(rows, names, more, n_rows, height)


def _batch_height(n_rows: int, n_columns: int, room: int) -> tuple[int, int]:
    """Rows of a batch, and bytes that writing batches takes.

    Each batch is a row group of Parquet, and what the file says of its columns is held to the end: few rows make it
    long, many rows make the batch large.
    """
    cells, groups = n_columns * _CELL_BYTES, n_columns * _GROUP_BYTES * n_rows
    best = max(1, math.isqrt(groups // cells))
    height = max(best, min(_BATCH_CELLS // n_columns, room // 2 // cells))
    return height, cells * best + groups // best


def _whole(column: Column) -> pa.Array:
    """A column in one piece, so that it has one dictionary, and batches of it all have the same rows."""
    if isinstance(column, pa.Array):
        return column
    joined = column.unify_dictionaries().combine_chunks() if column.num_chunks != 1 else column.chunk(0)
    return joined if isinstance(joined, pa.Array) else pa.concat_arrays(joined.chunks)


def _batches(
    rows: Callable[[int], list[pa.Table]],
    names: Sequence[str],
    beside: Sequence[tuple[str, pa.Array]],
    n_rows: int,
    height: int,
) -> Iterator[pa.RecordBatch]:
    headings = [*names, *(name for name, _ in beside)]
    for row in range(0, max(n_rows, 1), height):
        columns = [decoded(column) for part in rows(row) for column in part.columns]
        columns += [decoded(column.slice(row, height)) for _, column in beside]
        batch = pa.record_batch([_whole(column) for column in columns], names=headings)
        if row == 0:
            yield batch.slice(0, 0)
        yield batch
