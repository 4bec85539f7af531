"""Hostile edits of what is well formed: JSON, Arrow tables, arrays and bytes, as choices say.

Files that carry checksums are edited before these are taken: what is below must hold against a liar, not only against
an accident.
"""

from __future__ import annotations

import copy
from typing import Any

import numpy as np
import pyarrow as pa

from torture.target import Choices

__all__ = ["HOSTILE_NAMES", "HOSTILE_VALUES", "edited_array", "edited_bytes", "edited_json", "edited_table"]

HOSTILE_NAMES = (
    "",
    " ",
    ".",
    "..",
    "../outside/precious.txt",
    "/etc/passwd",
    "..\\..\\x",
    "a/b",
    "a\x00b",
    "line\nbreak",
    "\x1b[31mred\x1b]0;title\x07",
    "\u202egnp.exe",
    "\x9b31m",
    "<script>alert(1)</script>",
    '"><img src=x onerror=alert(1)>',
    "{{ 7 * 7 }}{% raw %}",
    "=1+2",
    "@SUM(1)",
    "+1",
    "-1",
    "%s%n%p",
    "\ud800",
    "名前",
    "n" * 300,
    "__class__",
    "file:///etc/passwd",
    "s3://bucket/x",
)
HOSTILE_VALUES: tuple[Any, ...] = (
    None,
    True,
    False,
    0,
    1,
    -1,
    2,
    255,
    256,
    2**31 - 1,
    2**31,
    2**32,
    2**53,
    2**63 - 1,
    2**63,
    2**64,
    10**30,
    -(2**63),
    0.5,
    -0.0,
    1e308,
    5e-324,
    float("nan"),
    float("inf"),
    float("-inf"),
    "",
    "x",
    "1",
    [],
    [[]],
    [0],
    [None],
    ["x", "x"],
    {},
    {"a": 1},
    {"name": "x"},
    *HOSTILE_NAMES,
)
_DEEP = 150
_NUMPY_TYPES = ("?", "u1", "i1", "i4", "i8", "u8", "f4", "f8", "c16", "U3", "S3", "M8[us]")
_EXTREMES = (0, 1, -1, 2, 255, 256, 2**31 - 1, -(2**31), 2**31, 2**53, 2**63 - 1, -(2**63), 2**64 - 1)
_ARROW_TYPES = (
    pa.null(),
    pa.bool_(),
    pa.uint8(),
    pa.int32(),
    pa.int64(),
    pa.uint64(),
    pa.float32(),
    pa.float64(),
    pa.string(),
    pa.large_string(),
    pa.binary(),
    pa.list_(pa.int64()),
    pa.large_list(pa.uint64()),
    pa.large_list(pa.large_string()),
    pa.dictionary(pa.int8(), pa.string()),
    pa.timestamp("us"),
    pa.struct([("a", pa.int64())]),
)


def edited_json(document: Any, choices: Choices) -> Any:
    """A document with one value replaced, left out, doubled, or put in the place of another."""
    document = copy.deepcopy(document)
    places = list(_places(document))
    if not places:
        return choices.one_of(HOSTILE_VALUES)
    holder, key = choices.one_of(places)
    match choices.number(6):
        case 0 | 1:
            holder[key] = copy.deepcopy(choices.one_of(HOSTILE_VALUES))
        case 2:
            other, from_key = choices.one_of(places)
            holder[key] = copy.deepcopy(other[from_key])
        case 3:
            del holder[key]
        case 4 if isinstance(holder, list):
            holder.extend(copy.deepcopy(holder[: 1 + choices.number(3)]))
        case 4:
            holder[choices.one_of(HOSTILE_NAMES)] = copy.deepcopy(holder[key])
        case _:
            holder[key] = _deep(choices.number(2))
    return document


def _places(document: Any) -> Any:
    """Everything in a document that can be replaced: its holder, and the key there."""
    if isinstance(document, dict):
        for key, value in document.items():
            yield document, key
            yield from _places(value)
    elif isinstance(document, list):
        for key, value in enumerate(document):
            yield document, key
            yield from _places(value)


def _deep(kind: int) -> Any:
    deep: Any = []
    for _ in range(_DEEP if kind else 50):
        deep = [deep]
    return deep


def edited_array(array: np.ndarray, choices: Choices) -> np.ndarray:
    """An array with values, a type or a shape that it should not have."""
    array = np.array(array)
    match choices.number(7):
        case 0 | 1 | 2 if array.size and array.dtype.kind in "biuf":
            flat = array.reshape(-1)
            place = choices.number(array.size)
            flat[place] = _extreme(choices, array.dtype)
            return flat.reshape(array.shape)
        case 3 if array.dtype.kind in "biuf":
            with np.errstate(all="ignore"):
                return array.astype(choices.one_of(_NUMPY_TYPES[:8]))
        case 3:
            return np.zeros(array.shape, choices.one_of(_NUMPY_TYPES))
        case 4:
            return array.reshape(-1)[: choices.number(array.size + 1)]
        case 5:
            return array.reshape(choices.one_of([(1, -1), (-1, 1), (1, 1, -1), (-1,)])) if array.size else array[None]
        case _:
            return np.concatenate([array.reshape(-1), array.reshape(-1)[: 1 + choices.number(4)]])


def _extreme(choices: Choices, dtype: np.dtype[Any]) -> Any:
    if dtype.kind == "f":
        return choices.one_of((0.0, -1.0, 1e300, -1e300, 5e-324, np.nan, np.inf, -np.inf, 0.5, 2.0**53))
    number = choices.one_of(_EXTREMES)
    if dtype.kind == "b":
        return bool(number)
    about = np.iinfo(dtype)
    return min(max(number, about.min), about.max)


def edited_table(table: pa.Table, choices: Choices) -> pa.Table:
    """An Arrow table with a column or a value that it should not have."""
    if not table.num_columns:
        return table
    place = choices.number(table.num_columns)
    field = table.schema.field(place)
    match choices.number(7):
        case 0 | 1 | 2:
            values = table.column(place).to_pylist()
            if values:
                values[choices.number(len(values))] = choices.one_of([*HOSTILE_VALUES, [0] * 300, [2**64 - 1], [None]])
            try:
                return table.set_column(place, field, pa.array(values, field.type))
            except (pa.ArrowException, TypeError, ValueError, OverflowError):
                return table
        case 3:
            column = pa.nulls(len(table), choices.one_of(_ARROW_TYPES))
            return table.set_column(place, field.name, column)
        case 4:
            return table.remove_column(place)
        case 5:
            return table.slice(choices.number(len(table) + 1))
        case _:
            names = list(table.column_names)
            names[place] = choices.one_of([*names, "x", "../x"])
            return table.rename_columns(names)


def edited_bytes(data: bytes, choices: Choices) -> bytes:
    """Bytes with some of them changed, cut off, put in, or said twice."""
    place = choices.number(len(data) + 1)
    match choices.number(5):
        case 0 | 1:
            new = choices.bytes(8) or b"\xff"
            return data[:place] + new + data[place + len(new) :]
        case 2:
            return data[:place]
        case 3:
            return data[:place] + choices.bytes(16) + data[place:]
        case _:
            n = 1 + choices.number(64)
            return data[:place] + data[place : place + n] + data[place:]
