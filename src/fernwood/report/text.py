"""Text of other people on a page: names, numbers and shares, short enough and safe to show.

Escaping for HTML is the template's and `svg.element`'s work, always; here text becomes readable.
"""

from __future__ import annotations

import math
import unicodedata

from fernwood.budget import shown_size

__all__ = ["count_of", "cut", "number", "readable", "share", "size", "span"]

_JOINERS = {"\u200c", "\u200d", "\u200e", "\u200f"}
"""Marks inside ordinary text: joined emoji, and the direction of a word; they turn nothing else around."""
_BLINK, _MINUTE, _HOUR, _DAY = 0.095, 59.95, 3600, 86_400
_UNITS = ((_HOUR - 0.5, 1, 60, ("min", "s")), (_DAY - 30, 60, _HOUR, ("h", "min")), (math.inf, _HOUR, _DAY, ("d", "h")))
"""For times below so many seconds: how long the small unit and the big one are, and their names."""


def readable(text: str) -> str:
    r"""Text without control characters and without marks that turn the text after them around.

    Examples
    --------
    >>> print(readable("a" + chr(10) + "b" + chr(0x202E)))
    a\nb\u202e
    >>> readable("حمض"), readable("👩‍🔬")
    ('حمض', '👩\u200d🔬')
    """
    hidden = {"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"}
    return "".join(
        c.encode("unicode_escape").decode() if unicodedata.category(c) in hidden and c not in _JOINERS else c
        for c in text
    )


def cut(text: str, most: int) -> str:
    """Text of at most so many characters, where pictures have no more room; the middle goes.

    Examples
    --------
    >>> cut("ENSG00000141510", 9), cut("age", 9)
    ('ENSG…1510', 'age')
    """
    text = readable(text)
    if len(text) <= most:
        return text
    ahead = (most - 1) // 2
    return f"{text[:ahead]}…{text[len(text) - (most - 1 - ahead) :]}"


def number(value: float) -> str:
    """A number for people, with three figures that count.

    Examples
    --------
    >>> number(1234567), number(0.0312499), number(3.2e-12), number(0), number(2e18)
    ('1,234,567', '0.0312', '3.2e-12', '0', '2e+18')
    """
    if value != value:
        return "–"
    if abs(value) >= 1e12:
        return f"{value:.3g}"
    if value == round(value):
        return f"{round(value):,}"
    if abs(value) < 1e-4:
        return f"{value:.1e}"
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.3g}"


def share(value: float) -> str:
    """A share in percent.

    Examples
    --------
    >>> share(0.1), share(0.123), share(0.0004)
    ('10 %', '12.3 %', '0.04 %')
    """
    return f"{float(f'{100 * value:.3g}'):g} %"


def count_of(n: int, word: str, plural: str = "") -> str:
    """A count with its word.

    Examples
    --------
    >>> count_of(1, "column"), count_of(2000, "column"), count_of(0, "column")
    ('1 column', '2,000 columns', 'no columns')
    """
    return f"{n:,} {word}" if n == 1 else f"{f'{n:,}' if n else 'no'} {plural or word + 's'}"


def span(seconds: float) -> str:
    """A time for people.

    Examples
    --------
    >>> span(0.042), span(0.42), span(75), span(7300), span(200_000)
    ('42 ms', '0.4 s', '1 min 15 s', '2 h 2 min', '2 d 8 h')
    """
    if seconds < _BLINK:
        return f"{1000 * seconds:.0f} ms"
    if seconds < _MINUTE:
        return f"{seconds:.1f} s"
    small, big, (first, second) = next((small, big, names) for end, small, big, names in _UNITS if seconds < end)
    whole = round(seconds / small)
    return f"{whole * small // big} {first} {whole * small % big // small} {second}"


def size(n_bytes: float) -> str:
    """A size for people, without a zero after the point.

    Examples
    --------
    >>> size(512_000_000), size(1_250_000_000)
    ('512 MB', '1.2 GB')
    """
    return shown_size(n_bytes).replace(".0 ", " ")
