"""The selected columns of a table: of the one that a run was made on, or of another, checked against it."""

from __future__ import annotations

from fernwood.reduced.applying import Applied, apply_run
from fernwood.reduced.tables import chosen_columns, reduced_table, store_of
from fernwood.reduced.writing import StandardOutput, TableFile

__all__ = [
    "Applied",
    "StandardOutput",
    "TableFile",
    "apply_run",
    "chosen_columns",
    "reduced_table",
    "store_of",
]
