"""What can go wrong, as types: every message gives the value, the rule and the way out in one sentence."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = [
    "BudgetError",
    "ClusterError",
    "DeviceError",
    "FernwoodError",
    "FernwoodWarning",
    "LearnerError",
    "ParameterError",
    "ShortageError",
    "SourceError",
    "StoreError",
    "TargetError",
    "closest",
    "nearest",
    "printable",
    "shown",
    "shown_apart",
    "shown_value",
]

_SHOWN_LENGTH, _SHOWN_BEFORE = 60, 20
_ALIKE = 0.7


class FernwoodError(Exception):
    """Anything that Fernwood refuses; the command line turns it into one sentence and exit code 2."""


class ParameterError(FernwoodError, ValueError):
    """A parameter outside its rule."""


class SourceError(FernwoodError, ValueError):
    """A table that cannot be read as it is."""


class TargetError(SourceError):
    """A target, or another column with a role, that cannot serve."""


class StoreError(FernwoodError, OSError):
    """A store that is missing, damaged, too new, in the way, or cannot be written."""


class BudgetError(FernwoodError, MemoryError):
    """A memory budget too small for the work; `least` is the smallest that would do, in bytes."""

    def __init__(self, message: str, least: int) -> None:
        super().__init__(message)
        self.least = least


class ShortageError(FernwoodError, MemoryError):
    """Memory that the system did not give, whatever the budget is; what was kept before is whole."""


class LearnerError(FernwoodError, ValueError):
    """A learner that failed on some columns, or whose score is no number; what was done before is kept."""


class ClusterError(FernwoodError, RuntimeError):
    """A cluster that is not there, has no workers, or workers that would not do what is asked."""


class DeviceError(FernwoodError, RuntimeError):
    """A device that is not there, cannot be used, has no more memory or was lost; what was done before is kept."""


class FernwoodWarning(UserWarning):
    """Something that deserves a look but stops nothing."""


def shown(value: object) -> str:
    r"""Text from outside, safe to show on one line: quoted, control characters escaped, cut at sixty.

    Examples
    --------
    >>> shown("height")
    "'height'"
    >>> print(shown("a" + chr(10) + "b"))
    'a\nb'
    """
    text = str(value)
    if len(text) > _SHOWN_LENGTH:
        text = text[: _SHOWN_LENGTH - 1] + "…"
    return f"'{printable(text)}'"


def shown_value(value: object) -> str:
    """What was given for a parameter, as Python writes it: on one line, control characters escaped, cut at sixty.

    Examples
    --------
    >>> shown_value("much"), shown_value(2.5)
    ("'much'", '2.5')
    >>> shown_value(list(range(99)))
    '[0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, …'
    """
    text = " ".join(repr(value).split())
    return printable(text if len(text) <= _SHOWN_LENGTH else text[: _SHOWN_LENGTH - 1] + "…")


def shown_apart(value: object, other: object) -> str:
    """As `shown`; but of a text that would look like another one where both are cut, the part where they differ.

    Examples
    --------
    >>> shown_apart("genes.csv", "gene.csv")
    "'genes.csv'"
    >>> shown_apart("long/" * 20 + "genes.csv", "long/" * 20 + "gene.csv")
    "'…long/long/long/long/long/long/long/long/long/long/genes.csv'"
    """
    text, beside = str(value), str(other)
    if len(text) <= _SHOWN_LENGTH or shown(text) != shown(beside):
        return shown(text)
    same = next((i for i, (a, b) in enumerate(zip(text, beside, strict=False)) if a != b), len(text))
    return shown(f"…{text[min(same - _SHOWN_BEFORE, len(text) - _SHOWN_LENGTH + 1) :]}")


def nearest(name: str, known: Iterable[str]) -> str:
    """A hint for a sentence about a name that is not there: `; did you mean …?`, or nothing.

    Examples
    --------
    >>> nearest("Heigth", ["weight", "height"])
    "; did you mean 'height'?"
    >>> nearest("colour", ["weight", "height"])
    ''
    """
    close = closest(name, known)
    return f"; did you mean {shown_apart(close, name)}?" if close else ""


def closest(name: str, known: Iterable[str]) -> str:
    """Of known names, the one that is most like a name, but for small and capital letters; empty where none is.

    Examples
    --------
    >>> closest("Heigth", ["weight", "height"])
    'height'
    """
    import difflib

    folded: dict[str, str] = {}
    for candidate in known:
        folded.setdefault(candidate.casefold(), candidate)
    close = difflib.get_close_matches(name.casefold(), folded, 1, _ALIKE)
    return folded[close[0]] if close else ""


def printable(text: str) -> str:
    """Text with its control characters escaped, so that a terminal takes it for text."""
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)
