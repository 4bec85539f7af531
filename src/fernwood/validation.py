"""Checks of single parameters, each with one sentence for what is refused."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeGuard

import numpy as np

from fernwood.errors import ParameterError, shown_value

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = ["a_share", "at_least", "is_integer", "one_of"]


def one_of(name: str, value: object, allowed: Iterable[str]) -> None:
    """Refuse a value that is none of those allowed."""
    if not isinstance(value, str) or value not in tuple(allowed):
        raise ParameterError(f"{name} is {shown_value(value)}; it must be one of {', '.join(map(repr, allowed))}")


def is_integer(value: object) -> TypeGuard[int]:
    """Whether a value is a whole number by type; True and False are none."""
    return isinstance(value, (int, np.integer)) and not isinstance(value, bool)


def at_least(name: str, value: object, least: int, other: str = "") -> None:
    """Refuse what is not an integer from `least` on; `other` says what else may be given."""
    if not (is_integer(value) and value >= least):
        raise ParameterError(f"{name} is {shown_value(value)}; it must be an integer from {least} on{other}")


def a_share(name: str, value: object) -> None:
    """Refuse what is not a number from 0 to 1."""
    if not (isinstance(value, (int, float, np.number)) and 0 <= value <= 1):
        raise ParameterError(f"{name} is {shown_value(value)}; it is a share: give a number from 0 to 1")
