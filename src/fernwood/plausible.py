"""Plain values held against the types that a dataclass says its fields have: for files that strangers may write.

A checksum shows accidents, not lies. What was read is of the right types, all the way down, before it counts.
"""

from __future__ import annotations

import types
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

__all__ = ["fits", "made"]


def made(kind: type[Any], entries: Any) -> Any:
    """The dataclass, or named tuple, that some entries make; a ValueError where one of them is not of its type.

    Entries that are not there have their defaults, where they have one.

    Examples
    --------
    >>> from dataclasses import dataclass
    >>> @dataclass
    ... class Point:
    ...     x: int
    ...     names: list[str]
    >>> made(Point, {"x": 1, "names": ["a"]})
    Point(x=1, names=['a'])
    >>> made(Point, {"x": 1, "names": ["a", 5]})
    Traceback (most recent call last):
    ValueError: names is not what it should be
    """
    if not isinstance(entries, dict):
        raise ValueError(f"there are no entries of a {kind.__name__}")  # noqa: TRY004  (a file is wrong, not a call)
    hints = get_type_hints(kind)
    for name, value in entries.items():
        if name not in hints or not fits(value, hints[name]):
            raise ValueError(f"{ascii(name)[1:-1]} is not what it should be")
    return kind(**entries)


def fits(value: Any, hint: Any) -> bool:
    """Whether a plain value is of a type, with what is in it; whole numbers are also floats, truths are neither.

    Examples
    --------
    >>> fits({"a": [1, 2.5, None]}, dict[str, list[float | None]]), fits(True, int)
    (True, False)
    """
    origin, inner = get_origin(hint), get_args(hint)
    if hint is Any:
        return True
    if origin in (Union, types.UnionType):
        return any(fits(value, one) for one in inner)
    if origin is Literal:
        return type(value) is str and value in inner
    if origin is list:
        return type(value) is list and all(fits(one, inner[0]) for one in value)
    if origin is dict:
        return type(value) is dict and all(fits(k, inner[0]) and fits(v, inner[1]) for k, v in value.items())
    if hint is float:
        return type(value) is float or fits(value, int)
    if hint is int:
        return type(value) is int
    if hint is str:
        return type(value) is str and _is_text(value)
    return type(value) is (type(None) if hint is None else hint)


def _is_text(value: str) -> bool:
    """Whether it can be written as UTF-8: JSON may hold halves of characters."""
    try:
        value.encode()
    except UnicodeEncodeError:
        return False
    return True
