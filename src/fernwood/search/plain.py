"""Settings as plain values, as a run keeps them in JSON."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["plain_text", "plain_value", "plain_weights", "with_weights"]


def plain_value(value: Any) -> Any:
    """A value as JSON has it, where it is one of NumPy's."""
    return value.item() if isinstance(value, np.generic) else value


def plain_weights(weights: Mapping[Any, float] | str | None) -> Any:
    """Weights of classes as JSON has them: a list of pairs, since keys of JSON are text.

    Examples
    --------
    >>> plain_weights({1: 2}), plain_weights("balanced")
    ([[1, 2.0]], 'balanced')
    """
    if weights is None or isinstance(weights, str):
        return weights
    return [[plain_value(label), float(weight)] for label, weight in weights.items()]


def with_weights(entries: dict[str, Any]) -> dict[str, Any]:
    """Entries from JSON, with the weights of classes as `plain_weights` found them."""
    given = dict(entries)
    if isinstance(given.get("class_weight"), list):
        given["class_weight"] = dict(given["class_weight"])
    return given


def plain_text(value: Any) -> Any:
    """A plain value as it is; anything else as text without an address in memory.

    Examples
    --------
    >>> plain_text(5), plain_text(len)
    (5, 'len()')
    """
    if value is None or isinstance(value, (str, int, float)):
        return value
    text = getattr(value, "__qualname__", None) or repr(value)
    return f"{type(value).__name__} object" if " at 0x" in text else text + ("()" if callable(value) else "")
