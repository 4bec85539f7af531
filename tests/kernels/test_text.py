"""The text kernels against the slow reader of tests/reference, whole and in any pieces."""

from __future__ import annotations

import math
import struct
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import pytest
from hypothesis import example, given, strategies as st

from fernwood.kernels.text import (
    CELL_FIELDS,
    FULL,
    HUNGRY,
    LONG_NUMBER,
    PLAIN_TEXT,
    QUOTED_TEXT,
    SKIP,
    TOO_FEW,
    TOO_MANY,
    Dialect,
    copy_cells,
    count_cells,
    parse_cells,
)
from tests.reference.delimited import Cell, Ragged, number_of, parse

MISSING = ("NA", "nan", "null")


def dialect(delimiter: str = ",", decimal: str = ".", missing: Sequence[str] = MISSING) -> Dialect:
    words = [word.encode() for word in missing]
    ends = np.cumsum([len(word) for word in words], dtype=np.int64)
    numbers_too = any(c.isdigit() for word in missing for c in word)
    return Dialect(
        ord(delimiter), ord('"'), ord(decimal), np.frombuffer(b"".join(words), np.uint8).copy(), ends, numbers_too
    )


class Outcome(NamedTuple):
    rows: list[list[Cell]]
    ragged: Ragged | None


def pieces(data: bytes, cuts: Sequence[int]) -> list[bytes]:
    edges = [0, *sorted({cut for cut in cuts if 0 < cut < len(data)}), len(data)]
    return [data[a:b] for a, b in zip(edges, edges[1:], strict=False)]


def run_kernel(
    text: str,
    n_columns: int,
    how: Dialect,
    *,
    cuts: Sequence[int] = (),
    height: int = 4,
    capacity: int = 5,
    decimal: str = ".",
) -> Outcome:
    """Feed a text to `parse_cells` piece by piece and gather what it says of every cell."""
    waiting = pieces(text.encode(), cuts)
    held, final = b"", False
    slots = np.arange(n_columns)
    values = np.full((height, n_columns), -1.0)
    cells = np.empty((capacity, CELL_FIELDS), np.int64)
    state = np.array([0, 0, 0, 1, 0], np.int64)
    rows: list[list[Cell]] = []
    block: dict[tuple[int, int], Cell] = {}
    held, final = waiting.pop(0), not waiting
    while True:
        buffer = np.frombuffer(held, np.uint8)
        outcome = parse_cells(buffer, final, how, slots, state, values, cells)
        for row, slot, begin, end, line, looks in cells[: state[4]].tolist():
            assert begin <= end <= len(held)
            raw = held[begin:end].decode().strip(" ")
            block[row, slot] = as_cell(raw, line, looks, decimal)
        state[4] = 0
        done = outcome in (TOO_FEW, TOO_MANY) or (outcome == HUNGRY and final)
        if done or state[1] == height:
            rows += [[block.get((r, c)) or settled(values[r, c]) for c in range(n_columns)] for r in range(state[1])]
            block.clear()
            if not done:
                state[1] = 0
        if done:
            return Outcome(rows, Ragged(int(state[3]), int(state[2])) if outcome in (TOO_FEW, TOO_MANY) else None)
        assert outcome in (HUNGRY, FULL)
        if outcome == HUNGRY:
            held = held[state[0] :] + waiting.pop(0)
            final = not waiting
            state[0] = 0


def as_cell(raw: str, line: int, looks: int, decimal: str) -> Cell:
    if looks == LONG_NUMBER:
        return Cell(line, "number", number_of(raw, decimal))
    assert looks in (PLAIN_TEXT, QUOTED_TEXT)
    return Cell(line, "quoted" if looks == QUOTED_TEXT else "text", raw)


def settled(value: float) -> Cell:
    return Cell(0, "missing", None) if math.isnan(value) else Cell(0, "number", float(value))


def told(rows: list[list[Cell]]) -> list[list[tuple[object, ...]]]:
    """Cells to compare: bits of numbers, texts with their lines."""

    def one(cell: Cell) -> tuple[object, ...]:
        if cell.kind == "number":
            return ("number", struct.pack("<d", cell.value))
        return ("missing",) if cell.kind == "missing" else cell

    return [[one(cell) for cell in row] for row in rows]


def assert_same(text: str, *, delimiter: str = ",", decimal: str = ".", **how: object) -> None:
    reference = parse(text, delimiter, decimal, MISSING)
    if reference is None:
        return  # how many columns the text has is not settled
    n_columns = len(reference.rows[0]) if reference.rows else 1
    got = run_kernel(text, n_columns, dialect(delimiter, decimal), decimal=decimal, **how)
    assert told(got.rows) == told(reference.rows)
    assert got.ragged == reference.ragged


digits = st.text("0123456789", min_size=1, max_size=25)
signs = st.sampled_from(["", "+", "-"])
exponents = st.one_of(
    st.just(""), st.builds("{}{}{}".format, st.sampled_from("eE"), signs, st.integers(0, 330).map(str))
)


def spellings(decimal: str) -> st.SearchStrategy[str]:
    """Numbers as people and programs write them."""
    whole = digits
    fraction = st.builds((f"{{}}{decimal}{{}}").format, digits, digits)
    bare = st.builds((f"{decimal}{{}}").format, digits) | st.builds((f"{{}}{decimal}").format, digits)
    floats = st.floats(allow_nan=False, allow_infinity=False)
    printed = st.one_of(floats.map(repr), floats.map("{:.17g}".format), floats.map("{:.25f}".format))
    built = st.builds("{}{}{}".format, signs, whole | fraction | bare, exponents)
    return built | printed.map(lambda text: text.replace(".", decimal))


quoted = st.text('ab "\n\r,;.1', max_size=8).map(lambda text: '"' + text.replace('"', '""') + '"')
words = st.sampled_from(
    ["", "NA", "nan", "null", "NAN", "N", "NA.", "abc", "é", "-", "+", ".", "e5", "1e", "1.2.3", "-.e1"]
)
padding = st.text(" ", max_size=2)


@st.composite
def tables(draw: st.DrawFn, delimiter: str = ",", decimal: str = ".") -> str:
    n_columns = draw(st.integers(1, 4))
    cell = st.builds("{}{}{}".format, padding, spellings(decimal) | quoted | words, padding)
    rows = draw(st.lists(st.lists(cell, min_size=n_columns, max_size=n_columns), max_size=6))
    ends = st.sampled_from(["\n", "\r\n", "\n\n", "\r\n\r\n"])
    text = "".join(delimiter.join(row) + draw(ends) for row in rows)
    return text.rstrip("\r\n") if draw(st.booleans()) else text


cut_places = st.lists(st.integers(0, 120), max_size=12)


@given(tables(), cut_places, st.integers(1, 5), st.integers(1, 7))
def test_tables_in_any_pieces(text: str, cuts: list[int], height: int, capacity: int) -> None:
    assert_same(text, cuts=cuts, height=height, capacity=capacity)


@given(tables(delimiter=";", decimal=","), cut_places)
def test_decimal_comma(text: str, cuts: list[int]) -> None:
    assert_same(text, delimiter=";", decimal=",", cuts=cuts)


@given(st.text('019.eE+- ,"\r\nNA', max_size=60), cut_places, st.integers(1, 3), st.integers(1, 3))
@example('1,"a\n', [3], 1, 1)
@example("1,2\r\n\r\n3,4\r", [4, 5, 6, 9], 1, 1)
@example("1,\n2,", [2, 3, 4], 1, 1)
@example(',"', [], 1, 1)
@example("\r1\r2\n3", [1], 1, 1)
def test_any_text_at_all(text: str, cuts: list[int], height: int, capacity: int) -> None:
    assert_same(text, cuts=cuts, height=height, capacity=capacity)


@given(st.text('01 \n\r"a', max_size=40), cut_places)
def test_spaces_between_cells(text: str, cuts: list[int]) -> None:
    assert_same(text, delimiter=" ", cuts=cuts)


def test_every_single_cut() -> None:
    text = 'a, 1.5 ,"x ""y"",\r\nz"\r\n\r\nNA,-12345678901234567890e-3,"" \r\nb,,+7e2'
    for cut in range(len(text) + 1):
        assert_same(text, cuts=[cut])
    assert_same(text, cuts=range(len(text)))


NUMBERS = [
    "0", "-0", "+0", "-0.0", "0e5", "00012", "007.50", "1e22", "1e23", "123456789012345e22", "9007199254740992",
    "9007199254740993", "9007199254740993e1", "90071992547409921e-1", "9007199254740991e22", "9007199254740993e22",
    "0.1", "0.30000000000000004", "1.7976931348623157e308", "5e-324", "2.2250738585072011e-308", "1e-400",
    "123456789012345678", "1234567890123456789", "12345678901234567890", "18446744073709551615",
    "18446744073709551616", "99999999999999999999999", "0." + "0" * 30 + "1", "1" + "0" * 30, "0" * 40 + "1.5",
    "1." + "0" * 40, "1." + "3" * 60, "3" * 60 + ".5e-20", ".5", "5.", "-.5e-3", "1E+05", "1e-05", "1e00000000005",
    "0.000000000000000000000000000000e99", "7450580596923828125e-27", "8.5e-22", "8.5e-23",
]  # fmt: skip


@pytest.mark.parametrize("spelling", NUMBERS)
def test_numbers_are_pythons(spelling: str) -> None:
    got = run_kernel(f"{spelling},{spelling}\n", 2, dialect()).rows[0]
    assert told([got]) == [[("number", struct.pack("<d", float(spelling)))] * 2]


@given(st.integers(-(10**15), 10**15), st.integers(-15, 7))
def test_short_numbers_are_settled_in_the_kernel(mantissa: int, exponent: int) -> None:
    text = np.frombuffer(f"{mantissa}e{exponent}".encode(), np.uint8)
    values, state = np.empty((1, 1)), np.array([0, 0, 0, 1, 0], np.int64)
    assert parse_cells(text, True, dialect(), np.arange(1), state, values, np.empty((1, CELL_FIELDS), int)) == HUNGRY
    assert state[4] == 0
    assert values[0, 0] == float(f"{mantissa}e{exponent}")


def test_a_number_may_be_a_word_for_missing() -> None:
    text = "-9, -9 ,-9.0,9,-99\n"
    reference = parse(text, missing=("NA", "-9"))
    assert [cell.kind for cell in reference.rows[0]] == ["missing", "missing", "number", "number", "number"]
    assert told(run_kernel(text, 5, dialect(missing=("NA", "-9"))).rows) == told(reference.rows)


@pytest.mark.parametrize("text", ["1_000", "0x10", "inf", "Infinity", "1e5.5", "1 2", "--1", "1-", "١", "1,5"])
def test_what_is_no_number_is_pointed_out(text: str) -> None:
    (cell,) = run_kernel(text + "\n", 1, dialect(";")).rows[0]
    assert cell == (1, "text", text)


@pytest.mark.parametrize("text", ['"', '"a', 'a,"', '1,"x\n\n', '"a""'])
def test_a_cell_whose_quote_stays_open_ends_with_the_text(text: str) -> None:
    data = np.frombuffer(text.encode(), np.uint8)
    state, cells = np.array([0, 0, 0, 1, 0], np.int64), np.empty((5, CELL_FIELDS), np.int64)
    n_columns = 2 if "," in text else 1
    values = np.empty((4, n_columns))
    assert parse_cells(data, False, dialect(), np.arange(n_columns), state.copy(), values, cells) == HUNGRY
    assert parse_cells(data, True, dialect(), np.arange(n_columns), state, values, cells) == HUNGRY
    assert state[:3].tolist() == [len(data), 1, 0]
    assert cells[state[4] - 1, [3, 5]].tolist() == [len(data), QUOTED_TEXT]


def test_slots_choose_and_order_columns() -> None:
    text = np.frombuffer(b"1,2,3,NA\n4,x,6,7\n", np.uint8)
    slots = np.array([1, SKIP, 0, -2 - 2])
    values, cells = np.full((2, 3), -1.0), np.empty((8, CELL_FIELDS), np.int64)
    state = np.array([0, 0, 0, 1, 0], np.int64)
    assert parse_cells(text, True, dialect(), slots, state, values, cells) == HUNGRY
    np.testing.assert_array_equal(values, [[3, 1, np.nan], [6, 4, np.nan]])
    assert cells[: state[4]].tolist() == [[0, 2, 6, 8, 1, PLAIN_TEXT], [1, 2, 15, 16, 2, PLAIN_TEXT]]


@given(tables() | st.text('01 ,"\n\r', max_size=40), cut_places)
def test_counting_the_first_line(text: str, cuts: list[int]) -> None:
    text = text.lstrip("\r\n")
    if not text:
        return
    wanted = len(parse(text, missing=MISSING).rows[0])
    waiting = pieces(text.encode(), cuts)
    held = waiting.pop(0)
    state = np.zeros(2, np.int64)
    while not count_cells(np.frombuffer(held, np.uint8), not waiting, dialect(), state):
        if not waiting:
            break
        held = held[state[0] :] + waiting.pop(0)
        state[0] = 0
    assert state[1] == wanted


@given(st.lists(st.text(" ab\n", max_size=6).map(str.encode), max_size=8))
def test_copying_cells(raw: list[bytes]) -> None:
    text = np.frombuffer(b",".join(raw) + b",", np.uint8)
    ends = np.cumsum([len(cell) + 1 for cell in raw], dtype=np.int64) - 1
    begins = ends - np.array([len(cell) for cell in raw], np.int64)
    out = np.zeros(len(text), np.uint8)
    offsets = copy_cells(text, begins, ends, out)
    got = [out[a:b].tobytes() for a, b in zip(offsets[:-1], offsets[1:], strict=True)]
    assert got == [cell.strip(b" ") for cell in raw]
