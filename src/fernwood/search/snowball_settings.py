"""What the answer of a snowball depends on, beside the data and the seed."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Literal, NamedTuple

from fernwood.errors import ParameterError
from fernwood.relevance.tested import check_fdr
from fernwood.search.goal import check_goal
from fernwood.search.plain import plain_value
from fernwood.validation import at_least

if TYPE_CHECKING:
    from collections.abc import Sequence

    from fernwood.search.goal import Goal

__all__ = ["RACING", "ROUNDS", "Effort", "SnowballSettings"]

ROUNDS = 5
"""The most rounds of confirmation."""
RACING = 0.9
"""A column races on where its evidence is above so many of the shadows, and so does a shadow."""
_WAVE_SHARE = 0.5
"""The share of the false discovery rate at which columns are found: every wave is one more look at the same rows."""
_FIRST_LEG = 0.25
"""The share of a wave's contexts in which all columns are examined; after that, those that race on."""
_FEWEST_SAMPLED = 100


class Effort(NamedTuple):
    """How much a snowball examines.

    Attributes
    ----------
    wave, idle : contexts in which a column is examined, on average, in a wave, and in one that follows an idle wave
    rounds : of confirmation, at most
    """

    wave: float
    idle: float
    rounds: int


@dataclass(frozen=True, slots=True)
class SnowballSettings:
    """What the answer of a snowball depends on, beside the data and the seed.

    Parameters
    ----------
    fdr
        The false discovery rate: the share of false columns among those confirmed, on average, at most.
    n_contexts
        Contexts of a wave.
    max_waves
        The most waves there are.
    n_idle
        Waves without a new column that end the search.
    n_confirming
        Contexts of a round of confirmation; there are at most five.
    max_contexts
        Contexts of random columns, to meet columns that tell nothing but together (an exclusive or). "auto" explores
        only while fewer than three are found, in three contexts for every column that fits into one, 2048 at most.
    given
        Covariates, by name, pattern or position in the table: in every context, and no candidates.
    goal, slack
        Whether few columns are sought that suffice, and what they may leave open; see `fernwood.search.reducing`.
    max_rows
        Rows that waves look at, where there are more: a sample, see `fernwood.search.sampling`; or "all".
    """

    method: ClassVar[str] = "snowball"

    fdr: float = 0.1
    n_contexts: int = 128
    max_waves: int = 12
    n_idle: int = 2
    n_confirming: int = 256
    max_contexts: int | Literal["auto"] = "auto"
    given: Sequence[str | int] = ()
    goal: Goal = "all-relevant"
    slack: float = 0.02
    max_rows: int | Literal["all"] = 50_000

    def __post_init__(self) -> None:
        check_fdr(self.fdr)
        check_goal(self.goal, self.slack)
        for name in ("n_contexts", "max_waves", "n_idle", "n_confirming"):
            at_least(name, getattr(self, name), 1)
        if self.max_contexts != "auto":
            at_least("max_contexts", self.max_contexts, 0, ", or 'auto'")
        if self.max_rows != "all":
            at_least("max_rows", self.max_rows, _FEWEST_SAMPLED, ", or 'all'")
        given: object = self.given
        # What can be gone through once only would name no columns the next time.
        other = isinstance(given, str | bytes | Mapping | Iterator) or getattr(given, "ndim", 1) != 1
        if other or not isinstance(given, Iterable):
            raise ParameterError(f"given is {given!r}; give a list of columns, such as ['age', 'site']")
        object.__setattr__(self, "given", tuple(given))

    @property
    def kernels(self) -> tuple[str, ...]:
        """The families of kernels that a search needs."""
        families = ("snowball", "trees") if self.goal == "minimal" else ("snowball",)
        return (*families, "covariates") if self.given else families

    @property
    def level(self) -> float:
        """The rate at which columns are found, and confirmed: every wave is one more look at the same rows."""
        return _WAVE_SHARE * self.fdr

    @property
    def effort(self) -> Effort:
        """How much there is to examine."""
        n_first = self.first_leg
        racing = 1 - RACING
        return Effort(n_first + racing * (self.n_contexts - n_first), racing * self.n_contexts, ROUNDS)

    @property
    def first_leg(self) -> int:
        """Contexts of a wave in which all columns are examined."""
        return max(1, round(_FIRST_LEG * self.n_contexts))

    def to_json(self) -> dict[str, Any]:
        """Plain values."""
        plain = {name: plain_value(value) for name, value in asdict(self).items()}
        return plain | {"given": [plain_value(column) for column in self.given]}

    @classmethod
    def from_json(cls, entries: dict[str, Any]) -> SnowballSettings:
        """The settings that `to_json` wrote."""
        return cls(**entries)
