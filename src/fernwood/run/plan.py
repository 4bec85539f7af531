"""Memory planned before a search begins: what its parts take, and how many threads fit into the budget."""

from __future__ import annotations

from typing import NamedTuple

from fernwood.budget import shown_size
from fernwood.errors import BudgetError, ParameterError

__all__ = ["CardPlan", "SearchPlan", "block_width", "padded", "plan_card", "plan_draws", "plan_layout", "plan_waves"]

_LEDGER_BYTES, _DECIDING_BYTES, _WAVE_LEDGER_BYTES = 85, 49, 65
"""For every column of the table: kinds, checksums, order, and the evidence twice over; and what deciding takes."""
_ROW_BYTES = 400
"""For every row in a worker: its target, its place in the tree that grows, and the nodes of that tree."""
_SPARE_BYTES, _WAVE_SPARE_BYTES = 14 * 10**6, 8 * 10**6
"""For what is not counted: interpreter objects, thread stacks, buffers of reads, what Arrow keeps of records, and for
methods that draw columns what scores are gathered in."""


_BLOCK_BYTES, _MOST_BLOCK_BYTES, _LANES = 2**21, 2**25, 32
"""Codes that a thread of the snowball looks at together: few enough to stay in a cache; of very many rows so many
columns all the same, while they take no more than so much."""
_MOST_COLUMNS = 2048
"""More columns than this save nothing, and what is worked out for each of them is larger than a short column."""
_MAKING_BYTES = 48
"""For every row while a context is made."""
_HEIGHT, _HELD_BYTES = 4096, 2**21
"""Rows that are laid out together in lanes; of more than that, sums that are held from tile to tile."""
_MANY_ROWS, _TARGET_BYTES = 65_536, 40
"""Of more rows than that, what target and weights take for every row."""
_PATCH_BLOCK_BYTES = 2**22
_COMPONENT_BYTES, _TABLE_BYTES = 4500, 5 * 10**6
"""For every column of a block: how often its codes occur, and its scores; and what codes stand for, in any case."""
_FEWEST_SHADOWS, _MOST_SHADOWS = 1000, 20_000
_SHADOW_BYTES, _SHADOWS_A_COLUMN = 200, 4
"""For what covariates leave of every shadow, of which there are more without context."""


_WORK_SHARE, _MOST_WORK_BYTES, _FEWEST_WORK_BYTES = 0.25, 2**31, 2**27
"""Of a card's memory, for what is not the table: gains of the columns that are examined together, and contexts."""


class CardPlan(NamedTuple):
    """What a search takes of a card, in bytes.

    Attributes
    ----------
    budget : that it may take
    table : of the codes of all columns
    work : for everything else, at most
    """

    budget: int
    table: int
    work: int

    @property
    def stays(self) -> bool:
        """Whether all codes stay on the card; otherwise they stream through it."""
        return self.table + self.work <= self.budget


class SearchPlan(NamedTuple):
    """What a search takes, in bytes beyond what the process holds already.

    Attributes
    ----------
    ledger : for all columns of the table, whatever the draws
    round_ : scores of the draws of one round, or contexts and shadows of one wave
    worker : codes, and trees or components, of one thread
    n_threads : that fit into the budget
    held : by the table itself, where it was brought into memory under the same budget
    at_rest : beside the ledger while threads are at rest, to decide about all columns, or to make contexts
    spare : for what is not counted
    sample_kept : whether a sample of rows that a snowball looks at stays in memory; it is in `ledger` then
    """

    ledger: int
    round_: int
    worker: int
    n_threads: int
    held: int = 0
    sample_kept: bool = False
    at_rest: int = 0
    spare: int = _SPARE_BYTES

    @property
    def total(self) -> int:
        """All of it at once."""
        return sum(size for _, size in self.parts())

    @property
    def least(self) -> int:
        """What one thread would take."""
        return self._replace(n_threads=1).total

    def parts(self) -> list[tuple[str, int]]:
        """What it takes, part by part; what is not there is left out."""
        threads = f"{self.n_threads} threads, {shown_size(self.worker)} each" if self.n_threads > 1 else "one thread"
        parts = [
            ("the table in memory", self.held),
            ("ledger of all columns", self.ledger),
            ("what threads share", self.round_),
            (threads, self.n_threads * self.worker),
            ("more than that, while threads rest", max(self.at_rest - self.round_ - self.n_threads * self.worker, 0)),
            ("to spare", self.spare),
        ]
        return [part for part in parts if part[1]]


def plan_draws(
    n_rows: int,
    n_columns: int,
    n_classes: int,
    q: int,
    round_size: int,
    n_threads: int,
    budget: int | None,
    *,
    held: int = 0,
    way_out: str = ", or a smaller q",
    beside: int = 0,
    n_rows_whole: int | None = None,
    copies: float = 2,
    column_bytes: int = _LEDGER_BYTES,
) -> SearchPlan:
    """The plan for a search that fits draws of q columns; threads are fewer than wished where the budget is small.

    Parameters
    ----------
    n_rows, n_columns, n_classes
        Of the table; 1 class for a target of numbers.
    q, round_size
        Columns in a draw, and draws in a round.
    n_threads
        How many are wished for.
    budget
        Bytes, or None for no limit.
    held
        Bytes of it that the table takes.
    way_out
        What else would do where the budget is too small, at the end of the sentence.
    beside
        Bytes that a thread takes beside codes and trees.
    n_rows_whole
        Rows of the table, where a draw sees `n_rows` of them.
    copies
        How often the codes of a draw are there at a time.
    column_bytes
        What the ledger takes for every column.

    Examples
    --------
    >>> plan_draws(1000, 20_000, 2, 250, 20, n_threads=8, budget=32_000_000).n_threads
    8
    """
    ledger = column_bytes * n_columns
    # Two runs of numbers for every column of a draw, and as many draws again in flight between threads.
    round_ = 2 * 16 * q * round_size
    # The best threshold of a column is found over 256 codes by class.
    worker = int(copies * (q + 1) * n_rows) + _ROW_BYTES * n_rows + 8 * 256 * n_classes + beside
    if n_rows_whole is not None:
        # Target and weights of all rows, and in a worker columns as they come, their shadows, and how rows are drawn.
        round_ += 2 * _TARGET_BYTES * n_rows_whole
        worker += 3 * max(_PATCH_BLOCK_BYTES, n_rows_whole) + 16 * n_rows_whole
    plan = SearchPlan(ledger, round_, worker, n_threads, held, at_rest=_DECIDING_BYTES * n_columns)
    return _within(plan, budget, f"for {n_columns:,} columns and draws of {q:,} x {n_rows:,} codes", way_out)


def plan_waves(
    n_rows: int,
    n_columns: int,
    n_classes: int,
    n_contexts: int,
    n_laid_out: int,
    n_threads: int,
    budget: int | None,
    *,
    held: int = 0,
    sample: tuple[int, int] | None = None,
    counts: bool = False,
    in_place: bool = False,
    basis: tuple[int, int, int] | None = None,
) -> SearchPlan:
    """The plan for a snowball, whose threads examine a block of columns each in all contexts of a wave.

    The parameters are those of `plan_draws`; `n_contexts` is the most contexts whose scores are kept together, and
    `n_laid_out` how many of them divide the rows at a time. `sample` is how many rows waves look at, where they do not
    look at all, and how many contexts divide those at a time; it is kept in memory where that leaves all threads.
    `counts` is whether rows are counted, and not weighed; `in_place`, whether shadows are dealt where columns are read.
    `basis` is how many terms the basis of covariates has, how many levels, and how often a row is in a context.

    Examples
    --------
    >>> plan_waves(1000, 20_000, 2, 256, 256, n_threads=8, budget=320_000_000).n_threads
    8
    """
    ledger = _WAVE_LEDGER_BYTES * n_columns
    # Place and weight of every row in contexts, and what they tell of shadows.
    n_shadows = min(max(n_columns, _FEWEST_SHADOWS), _MOST_SHADOWS)
    n_terms, n_levels, times = (0, 0, 1) if basis is None else basis
    round_ = max((4 if counts else 8) * a * b * times for a, b in ((n_rows, n_laid_out), sample or (0, 0)))
    round_ += 4 * n_shadows * n_contexts + _TARGET_BYTES * max(n_rows - _MANY_ROWS, 0)
    if basis is not None:
        # The basis while it is made; what it leaves of the target, and of columns and shadows.
        round_ += n_rows * (12 * n_terms + 32 * times)
        ledger += 8 * n_levels * n_columns + (8 * n_levels + _SHADOW_BYTES) * _SHADOWS_A_COLUMN * n_shadows
    # A block of codes with the components of its columns, and 64 lanes of numbers for every row of a tile.
    width = min(block_width(n_rows), n_shadows)
    tile = (64 if counts else 4 * 64) * min(n_rows, _HEIGHT) + (_HELD_BYTES if n_rows > _HEIGHT else 0)
    worker = ((1 if in_place else 2) * n_rows + _COMPONENT_BYTES) * width + _TABLE_BYTES + tile + 256 * n_classes
    at_rest, spare = round_ + _MAKING_BYTES * n_rows, _WAVE_SPARE_BYTES
    plan = SearchPlan(ledger, round_, worker, n_threads, held, at_rest=at_rest, spare=spare)
    if sample is not None:
        kept = plan._replace(ledger=ledger + sample[0] * n_columns, sample_kept=True)
        if budget is None or kept.total <= budget:
            return kept
    return _within(plan, budget, f"for {n_columns:,} columns of {n_rows:,} rows")


def plan_card(n_rows: int, n_columns: int, budget: int) -> CardPlan:
    """What a search of so many columns takes of a card, of which it may take so much.

    Examples
    --------
    >>> plan_card(1000, 10**7, 140 * 10**9).stays, plan_card(1000, 10**7, 8 * 10**9).stays
    (True, False)
    """
    work = int(min(_WORK_SHARE * budget, _MOST_WORK_BYTES))
    if work < _FEWEST_WORK_BYTES:
        raise ParameterError(
            f"device_memory is {shown_size(budget)}, too little to examine columns with; "
            f"give at least {shown_size(_FEWEST_WORK_BYTES / _WORK_SHARE)}"
        )
    return CardPlan(budget, n_columns * padded(n_rows), work)


def padded(n_rows: int) -> int:
    """Bytes of a column of so many rows on a card.

    Examples
    --------
    >>> padded(1000), padded(1008)
    (1008, 1008)
    """
    return n_rows + 15 & ~15


def plan_layout(
    n_rows: int, n_columns: int, budget: int | None, *, held: int = 0, n_shadows: int = 0, way_out: str = ""
) -> SearchPlan:
    """The plan for a table that is laid out as numbers, for estimators that take no store.

    Examples
    --------
    >>> plan_layout(100, 1000, 10**8).total
    15924000
    """
    cells = n_rows * n_columns * (1 + n_shadows)
    # The table and the codes that it is made of; what the codes of every column stand for; the table once more, which
    # estimators make.
    plan = SearchPlan(4 * 256 * n_columns, 5 * cells, 4 * cells, 1, held)
    shadows = " and their shadows" if n_shadows else ""
    what = f"to lay out {n_columns:,} columns of {n_rows:,} rows{shadows} for an estimator"
    return _within(plan, budget, what, way_out)


def block_width(n_rows: int) -> int:
    """How many columns of so many rows a thread of the snowball looks at together.

    Examples
    --------
    >>> block_width(300), block_width(10_000), block_width(10**6), block_width(10**8)
    (2048, 209, 32, 1)
    """
    return min(max(1, _BLOCK_BYTES // n_rows, min(_LANES, _MOST_BLOCK_BYTES // n_rows)), _MOST_COLUMNS)


def _within(plan: SearchPlan, budget: int | None, what: str, way_out: str = "") -> SearchPlan:
    """The plan with as many threads as the budget allows; none at all is refused."""
    if budget is None or plan.total <= budget:
        return plan
    fitting = (budget - plan._replace(n_threads=0, at_rest=0).total) // plan.worker
    least = plan.least
    if fitting < 1 or budget < least:
        raise BudgetError(
            f"a memory budget of {shown_size(budget)} is too small {what}; "
            f"at least {shown_size(least)} would do{way_out}",
            least,
        )
    return plan._replace(n_threads=min(plan.n_threads, int(fitting)))
