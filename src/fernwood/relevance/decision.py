"""What a rule says of a column: a decision, and the reason for it."""

from __future__ import annotations

from enum import IntEnum
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

__all__ = ["Decision", "Verdicts", "first_that_holds"]


class Decision(IntEnum):
    """What was decided about a column, best first."""

    CONFIRMED = 0
    TENTATIVE = 1
    REJECTED = 2
    UNEXAMINED = 3

    @property
    def word(self) -> str:
        """As tables and files spell it."""
        return self.name.lower()


class Verdicts(NamedTuple):
    """Decisions about many columns, and why.

    Attributes
    ----------
    decision : uint8 array of `Decision`
    reason : uint8 or uint16 array of places in `reasons`
    reasons : sentences without a subject, such as "above the probe in fewer than 95 % of its draws"
    """

    decision: NDArray[np.uint8]
    reason: NDArray[np.uint8] | NDArray[np.uint16]
    reasons: tuple[str, ...]


def first_that_holds(
    cases: Sequence[NDArray[np.bool_]], decisions: Sequence[Decision], reasons: tuple[str, ...]
) -> Verdicts:
    """Verdicts by cases: the first that holds decides; where none does, the last decision and reason stand.

    Examples
    --------
    >>> told = first_that_holds([np.array([True, False])], [Decision.CONFIRMED, Decision.REJECTED], ("yes", "no"))
    >>> [told.reasons[place] for place in told.reason]
    ['yes', 'no']
    """
    reason = np.select(cases, range(len(cases)), len(cases)).astype(np.uint8)
    return Verdicts(np.array(decisions, np.uint8)[reason], reason, reasons)
