"""Table 1 of the paper on random subspaces with trees, computed again beside what was printed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, NamedTuple

from fernwood.theory.convergence import expected_iterations

if TYPE_CHECKING:
    from fernwood.theory.convergence import Scenario

__all__ = ["TableRow", "table1"]

# Scenario, p, q, r, and the entries for RS and SRS as the paper prints them (truncated, or to an order of magnitude).
_PRINTED: tuple[tuple[Scenario, int, int, int, str, str], ...] = (
    ("chaining", 10_000, 100, 1, "100", "100"),
    ("chaining", 10_000, 100, 2, "10100", "200"),
    ("chaining", 10_000, 100, 3, ">1e6", "301"),
    ("chaining", 10_000, 100, 5, ">1e10", "506"),
    ("chaining", 100_000, 100, 3, ">1e9", "3028"),
    ("clique", 10_000, 100, 1, "100", "100"),
    ("clique", 10_000, 100, 2, "30300", "10302"),
    ("clique", 10_000, 100, 3, "5e6", "1e6"),
    ("clique", 10_000, 100, 4, "9e8", "1e8"),
    ("clique", 10_000, 1_000, 4, "83785", "11635"),
    ("marginal", 10_000, 100, 10, "291", "312"),
    ("marginal", 10_000, 100, 50, "448", "757"),
    ("marginal", 10_000, 100, 90, "506", "2797"),
    ("marginal", 10_000, 100, 100, "1123", "16187"),
    ("marginal", 25_000, 100, 50, "1123", "1900"),
)


class TableRow(NamedTuple):
    """One row of Table 1: expected iterations without memory (`rs`) and with it (`srs`), computed and printed.

    Examples
    --------
    >>> row = table1()[1]
    >>> row.scenario, round(row.rs), row.rs_printed
    ('chaining', 10100, '10100')
    """

    scenario: str
    p: int
    q: int
    r: int
    rs: float
    rs_printed: str
    srs: float
    srs_printed: str
    misprints: tuple[Literal["rs", "srs"], ...]


def table1() -> list[TableRow]:
    """All rows of Table 1; `misprints` names the entries that the paper's own model does not give.

    Examples
    --------
    >>> [(row.r, round(row.rs, 3), row.rs_printed) for row in table1() if row.misprints]
    [(100, 516.661, '1123')]
    """
    rows = []
    for scenario, p, q, r, rs_printed, srs_printed in _PRINTED:
        rs, srs = (expected_iterations(scenario, p, q, r, alpha) for alpha in (0, 1))
        entries: tuple[tuple[Literal["rs", "srs"], float, str], ...] = (
            ("rs", rs, rs_printed),
            ("srs", srs, srs_printed),
        )
        wrong = tuple(name for name, value, printed in entries if not _agrees(value, printed))
        rows.append(TableRow(scenario, p, q, r, rs, rs_printed, srs, srs_printed, wrong))
    return rows


def _agrees(value: float, printed: str) -> bool:
    """Whether a number is within one unit of the last digit printed, or beyond the bound printed."""
    if printed.startswith(">"):
        return value > float(printed[1:])
    exponent = printed.partition("e")[2]
    return abs(value - float(printed)) < 10.0 ** int(exponent or 0)
