"""SVMlight and libsvm files: a label, perhaps a query, and the entries of a row on every line.

The first index is 0 where any line has it and 1 otherwise, as scikit-learn decides. Labels and queries are beside the
table; its columns are sorted out of core (`entries.py`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from fernwood.errors import SourceError, shown
from fernwood.kernels.entries import BROKEN, LARGEST_INDEX, LONG_FIELDS, OUTSIDE, UNSORTED, parse_svmlight
from fernwood.kernels.text import FULL, HUNGRY
from fernwood.sources.beside import RowTable
from fernwood.sources.entry_text import EntryTextSource, long_numbers

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray

    from fernwood.sources.base import Workspace
    from fernwood.sources.entries import ColumnEntries, Entries
    from fernwood.sources.table_form import TableForm

__all__ = ["SvmlightSource", "open_svmlight"]

_ROWS_AT_A_TIME = 4096


def open_svmlight(path: Path, _: TableForm) -> SvmlightSource:
    """The table of an SVMlight file."""
    return SvmlightSource(path)


class SvmlightSource(EntryTextSource):
    """A file of labelled sparse rows; opening it reads it once, for its labels and its width."""

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        labels, smallest, largest = self._scan()
        self.n_rows = len(labels)
        self._base = min(smallest, 1)
        self.names = self.numbered(max(largest - self._base + 1, 0))
        columns = {"label": pa.array(labels[:, 0])}
        if not np.isnan(labels[:, 1]).all():
            columns["qid"] = pa.array(labels[:, 1], mask=np.isnan(labels[:, 1]))
        self.beside = RowTable(pa.table(columns), f"the labels of {self.title}")

    def _scan(self) -> tuple[NDArray[np.float64], int, int]:
        """Label and query of every row, and the smallest and the largest index."""
        state = _new_state()
        labels = np.empty((_ROWS_AT_A_TIME, 2))
        longs = np.empty((_ROWS_AT_A_TIME, LONG_FIELDS), np.int64)
        nothing = np.empty(1, np.int32), np.empty(1, np.int32), np.empty(1)
        nowhere = np.empty(0, np.int64)
        parts = []
        with self.feeding() as feed:
            state[0] = feed.start
            while True:
                state[3] = 0
                outcome = int(parse_svmlight(feed.text, feed.final, 0, nowhere, state, labels, *nothing, longs))
                told = longs[: state[3]]
                if len(told):
                    labels[-1 - told[:, 0], 0] = long_numbers(feed.text, told)
                # FULL may mean the numbers pointed out: only before a line are all labels and queries whole.
                if outcome == FULL and state[5] == len(labels) and state[6] == 0:
                    parts.append(labels.copy())
                    state[5] = 0
                elif outcome == HUNGRY and not feed.final:
                    feed.advance(int(state[0]))
                    state[0] = 0
                elif outcome == HUNGRY:
                    parts.append(labels[: state[5]].copy())
                    return np.concatenate(parts), int(state[8]), int(state[9])
                elif outcome != FULL:
                    self._refuse(outcome, int(state[1]), feed.text[state[0] :])

    def read(self, entries: ColumnEntries, place_of: NDArray[np.int64], workspace: Workspace) -> None:
        """Read the entries of the columns that have a place."""
        state = _new_state()
        labels = np.empty((_ROWS_AT_A_TIME, 2))
        with self.feeding() as feed:
            state[0] = feed.start

            def parse(room: Entries, longs: NDArray[np.int64]) -> int:
                if state[5] == len(labels) and state[6] == 0:  # read before; only their room is needed
                    state[5] = 0
                return int(parse_svmlight(feed.text, feed.final, self._base, place_of, state, labels, *room, longs))

            outcome = self.feed_entries(feed, entries, state, parse, workspace)
            if outcome:
                self._refuse(outcome, int(state[1]), feed.text[state[0] :])

    def _refuse(self, outcome: int, line: int, text: NDArray[np.uint8]) -> None:
        word = shown((text[:200].tobytes().decode(errors="replace").split() or [""])[0])
        if outcome == UNSORTED:
            raise SourceError(
                f"line {line} of {self.title} has {word} behind an index that is not smaller; "
                "indices of a line must increase: sort them"
            )
        if outcome in {BROKEN, OUTSIDE}:
            raise SourceError(
                f"line {line} of {self.title} has {word} where a label, then index:value pairs are expected "
                f"(indices to {LARGEST_INDEX}, plain numbers); mend the line"
            )


def _new_state() -> NDArray[np.int64]:
    state = np.zeros(10, np.int64)
    state[1], state[8], state[9] = 1, LARGEST_INDEX, -1
    return state
