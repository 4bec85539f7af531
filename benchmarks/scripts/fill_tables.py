"""Bring the tables of figures of documents up to the last results: fill_tables.py DOCUMENTS."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from benchmarks.documents import recorded, rows_of, with_figures

measured = recorded()
for document in map(Path, sys.argv[1:]):
    lines = document.read_text(encoding="utf-8").splitlines()
    for row in rows_of(lines):
        lines[row.line] = with_figures(lines[row.line], row, measured[row.case][-1])
    document.write_text("\n".join(lines) + "\n", encoding="utf-8")
