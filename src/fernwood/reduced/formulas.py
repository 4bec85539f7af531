"""Text that a spreadsheet would run: a name or a category of a CSV file that begins as a formula does.

Programs get every name as it is; that is the default. For people who open the file in a spreadsheet, an apostrophe in
front keeps such a cell text, as it does when it is typed there.
"""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from fernwood.errors import shown

__all__ = ["Formulas"]

_BEGINS = r"^[=+\-@\t\r\n＝＋－＠]"
_NUMBER = r"^[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?$"


class Formulas:
    """Looks at the cells of a table on its way to a CSV file.

    Parameters
    ----------
    guard
        Whether cells that begin as a formula get an apostrophe in front.

    Attributes
    ----------
    n : cells seen so far that begin so, headings among them
    first : the first of them

    Examples
    --------
    >>> formulas = Formulas(guard=True)
    >>> formulas.passed(pa.table({"=1+2": ["a", "@b", "-5"]})).to_pydict()
    {"'=1+2": ['a', "'@b", '-5']}
    >>> formulas.n
    2
    """

    def __init__(self, *, guard: bool = False) -> None:
        self._guard = guard
        self.n, self.first = 0, ""

    def passed(self, table: pa.Table, *, headings: bool = True) -> pa.Table:
        """The table as it is to be written; its headings are counted where they are."""
        names = pa.array(table.column_names, pa.large_string())
        for place, field in enumerate(table.schema):
            column = table.column(place)
            if pa.types.is_dictionary(field.type):
                if not any(_mask(chunk.dictionary) is not None for chunk in column.chunks):
                    continue
                column = column.cast(field.type.value_type)
            seen = self._seen(column)
            if self._guard and seen is not column:
                table = table.set_column(place, pa.field(field.name, seen.type), seen)
        seen = self._seen(names) if headings else names if not self._guard else _guarded(names, _mask(names))
        return table.rename_columns(seen.to_pylist()) if self._guard else table

    def _seen(self, cells: Any) -> Any:
        mask = _mask(cells)
        if mask is None:
            return cells
        self.first = self.first or cells.filter(mask)[0].as_py()
        self.n += pc.sum(mask).as_py()
        return _guarded(cells, mask)

    @property
    def said(self) -> str:
        """What a user should know; empty where there is nothing."""
        if not self.n or self._guard:
            return ""
        such = f"{self.n:,} cells such as {shown(self.first)} begin" if self.n > 1 else f"{shown(self.first)} begins"
        return f"{such} as a formula does, which a spreadsheet would run; --spreadsheet puts an apostrophe in front"


def _mask(cells: Any) -> Any:
    """Which cells begin as a formula, and are no number; None where none is, or where there is no text."""
    if not (pa.types.is_string(cells.type) or pa.types.is_large_string(cells.type)):
        return None
    begins = pc.and_(pc.match_substring_regex(cells, _BEGINS), pc.invert(pc.match_substring_regex(cells, _NUMBER)))
    begins = pc.fill_null(begins, False)
    return begins if pc.any(begins).as_py() else None


def _guarded(cells: Any, mask: Any) -> Any:
    if mask is None:
        return cells
    apostrophe, nothing = pa.scalar("'", cells.type), pa.scalar("", cells.type)
    return pc.if_else(mask, pc.binary_join_element_wise(apostrophe, cells, nothing), cells)
