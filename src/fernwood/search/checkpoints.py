"""What checkpoints of searches have in common: numbers and evidence, believed only where they can be."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from fernwood.relevance.paper import Evidence

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

__all__ = ["check_like", "evidence_of", "whole_number"]


def evidence_of(arrays: Mapping[str, NDArray[Any]], blank: Evidence) -> Evidence:
    """The evidence in a checkpoint of a search that began with `blank`; ValueError where it cannot be.

    Examples
    --------
    >>> blank = Evidence.none(3)
    >>> evidence_of(blank._asdict(), blank).draws.tolist()
    [0, 0, 0]
    """
    check_like(arrays, blank._asdict())
    evidence = Evidence(**{name: arrays[name] for name in Evidence._fields})
    if not (np.isfinite(evidence.importance).all() and np.isfinite(evidence.shadow).all()):
        raise ValueError("the checkpoint's scores cannot be")
    if evidence.draws.min() < 0 or evidence.wins.min() < 0 or (evidence.wins > evidence.draws).any():
        raise ValueError("the checkpoint's wins cannot be")
    return evidence


def check_like(arrays: Mapping[str, NDArray[Any]], blank: Mapping[str, NDArray[Any]]) -> None:
    """Refuse arrays of a checkpoint that are not of the shapes and types that the search begins with.

    Examples
    --------
    >>> check_like({"a": np.zeros(3)}, {"a": np.ones(3)})
    """
    for name, like in blank.items():
        if arrays[name].shape != like.shape or arrays[name].dtype != like.dtype:
            raise ValueError(f"the checkpoint's {name} are of another shape or type")


def whole_number(number: NDArray[Any], most: int) -> int:
    """A number from a checkpoint, of draws or the like, up to so many; ValueError where it cannot be.

    Examples
    --------
    >>> whole_number(np.array(3), 5)
    3
    """
    if number.shape != () or number.dtype.kind != "i" or not 0 <= number <= most:
        raise ValueError("the checkpoint's number of draws is none of this search")
    return int(number)
