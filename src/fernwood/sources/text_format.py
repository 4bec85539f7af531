"""How a text table is written, as far as a user has to say it. Apart from the reader, which needs compiled code."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import TYPE_CHECKING

from fernwood.errors import ParameterError, shown

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

__all__ = ["COMPRESSED", "MISSING_WORDS", "TextFormat", "is_text_name"]

MISSING_WORDS = ("NA", "N/A", "<NA>", "nan", "NaN", "NAN", "null", "NULL", "Null")
"""What a missing value looks like unless told otherwise, beside an empty cell."""

_SUFFIXES = {".csv", ".tsv", ".tab", ".txt", ".dat"}
COMPRESSED = {".gz": "gzip", ".zst": "zstd", ".bz2": "bz2", ".lz4": "lz4"}


def is_text_name(path: Path) -> bool:
    """Whether a file's name says that it is delimited text."""
    suffixes = [s.lower() for s in path.suffixes]
    if suffixes and suffixes[-1] in COMPRESSED:
        suffixes.pop()
    return bool(suffixes) and suffixes[-1] in _SUFFIXES


@dataclass(frozen=True)
class TextFormat:
    """How a text table is written; None lets the file tell.

    Parameters
    ----------
    delimiter
        The character between cells; None takes the one of tab, semicolon, comma and bar that line 1 has most of.
    header
        Whether the first line holds names; None says yes unless all its cells are numbers or missing.
    decimal
        ``"."`` or ``","``.
    missing
        Words for a missing value, beside an empty cell.
    transposed
        Features in rows: the first cell of a line is the feature's name, the header names samples.
    categorical
        Columns (names, patterns, positions) that are categories even if all their cells look like numbers.
    """

    delimiter: str | None = None
    header: bool | None = None
    decimal: str = "."
    missing: Sequence[str] = MISSING_WORDS
    transposed: bool = False
    categorical: Sequence[str | int] = ()

    def told(self) -> tuple[str, ...]:
        """Names of the fields that differ from their defaults."""
        return tuple(field.name for field in fields(self) if getattr(self, field.name) != field.default)

    def __post_init__(self) -> None:
        if self.delimiter is not None and (len(self.delimiter.encode()) != 1 or self.delimiter in '"\r\n'):
            raise ParameterError(f"delimiter is {shown(self.delimiter)}; give one character, such as ',' or a tab")
        if self.decimal not in {".", ","}:
            raise ParameterError(f"decimal is {shown(self.decimal)}; give '.' or ','")
        if self.decimal == self.delimiter:
            raise ParameterError(
                f"{shown(self.decimal)} cannot be both delimiter and decimal sign; give another delimiter"
            )
