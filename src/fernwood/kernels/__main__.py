"""Compile every kernel for the types it is called with: ``python -m fernwood.kernels``.

Run in a child process the first time, so that the compiler's memory is never part of a run's budget.
"""

from __future__ import annotations

import numpy as np

from fernwood.kernels.ready import mark_compiled
from fernwood.kernels.text import CELL_FIELDS, Dialect, copy_cells, count_cells, parse_cells


def _compile_text() -> None:
    text = np.frombuffer(b'1,"a"\n', np.uint8).copy()
    dialect = Dialect(ord(","), ord('"'), ord("."), np.frombuffer(b"NA", np.uint8).copy(), np.array([2]), False)
    cells = np.empty((4, CELL_FIELDS), np.int64)
    count_cells(text, True, dialect, np.zeros(2, np.int64))
    state = np.zeros(5, np.int64)
    parse_cells(text, True, dialect, np.arange(2), state, np.empty((2, 2)), cells)
    copy_cells(text, cells[: state[4], 2].copy(), cells[: state[4], 3].copy(), np.empty(16, np.uint8))


if __name__ == "__main__":
    _compile_text()
    mark_compiled()
