"""What a search is for: all columns that matter, or the few of them that suffice."""

from __future__ import annotations

from typing import Literal, get_args

import numpy as np

from fernwood.errors import ParameterError
from fernwood.validation import one_of

__all__ = ["Goal", "check_goal"]

Goal = Literal["all-relevant", "minimal"]


def check_goal(goal: object, slack: object) -> None:
    """Refuse a goal that is not known, and a slack that is not a share.

    Examples
    --------
    >>> check_goal("minimal", 0.02)
    """
    one_of("goal", goal, get_args(Goal))
    if not (isinstance(slack, (int, float, np.number)) and 0 <= slack < 1):
        raise ParameterError(
            f"slack is {slack!r}; it is the share of the target that fewer columns may leave open beyond all: give a "
            "number from 0 to below 1, such as 0.02"
        )
