"""What a long test is: a name, how it is run, and bars that its figures meet or miss."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Sequence


NOT_RUN = "not run"


class Asked(NamedTuple):
    """What a run of a part is told.

    Attributes
    ----------
    minutes : how long to go on, where a part can go on for ever
    seed : where its random choices begin; a failure names the seed that shows it again
    tell : called with a line for whoever waits
    only : the pieces to run, of a part that has pieces
    """

    minutes: float
    seed: int
    tell: Callable[[str], None]
    only: Collection[str] = ()


class Bar(NamedTuple):
    """One line of the table: what was asked for, what was measured (or that it was not run), whether that is enough."""

    about: str
    asked: str
    measured: str
    met: bool


class Part(NamedTuple):
    """A long test.

    Attributes
    ----------
    name : on the command line
    title : what it does, in a few words
    minutes : how long its full size goes on
    run : does it; a part that finds something wrong says so in a bar that is not met, with what shows it again
    pieces : what can be run alone, each with a bar of its own
    """

    name: str
    title: str
    minutes: float
    run: Callable[[Asked], Sequence[Bar]]
    pieces: tuple[str, ...] = ()
