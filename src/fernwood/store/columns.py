"""What a store knows of a column beside its codes, and how a band of source columns becomes codes and that record."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np
import pyarrow as pa

from fernwood.errors import SourceError, shown
from fernwood.sources.base import Kind
from fernwood.store.grid import Grids, unpack_grids
from fernwood.store.quantise import MISSING, quantise

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from fernwood.sources.base import Band

__all__ = [
    "COLUMN_SCHEMA",
    "KIND_NAMES",
    "MAX_CATEGORIES",
    "ManyCategories",
    "code_band",
    "codes_checksum",
    "kinds_of",
    "record_grid",
]

MAX_CATEGORIES = 254
"""The most categories a column may have."""

ManyCategories = Literal["error", "drop", "frequency"]
"""What to do with a text column of more categories: refuse it, leave it out, or order its categories by frequency."""

KIND_NAMES = ("number", "boolean", "date", "category")

COLUMN_SCHEMA = pa.schema(
    [
        ("name", pa.large_string()),
        ("kind", pa.string()),
        ("codes", pa.uint8()),  # how many are in use, beside the one for missing values
        ("missing", pa.int64()),  # how many values are
        ("checksum", pa.uint64()),  # of the codes
        ("exact", pa.bool_()),  # the grid holds the values themselves, not thresholds between two bounds
        ("shift", pa.uint8()),  # the grid, as `grid.py` packs it
        ("origin", pa.int64()),
        ("steps", pa.large_list(pa.uint64())),
        (
            "labels",
            pa.large_list(pa.large_string()),
        ),  # of categories, in the order of their codes; null otherwise
    ]
)


class CodedBand(NamedTuple):
    """The codes of some columns, shape (columns, rows), and their records, of `COLUMN_SCHEMA`."""

    codes: NDArray[np.uint8]
    records: pa.RecordBatch


def codes_checksum(codes: NDArray[np.uint8]) -> int:
    """The checksum of one column's codes; it is also the column's address for random numbers."""
    return int.from_bytes(hashlib.blake2b(codes.data, digest_size=8).digest(), "little")


def kinds_of(names: pa.ChunkedArray | pa.Array) -> NDArray[np.uint8]:
    """Kinds, as `Kind` numbers, of the names kept in the records."""
    return np.array([KIND_NAMES.index(name) for name in names.to_pylist()], np.uint8)


def code_band(band: Band, names: pa.Array, bins: int, many_categories: ManyCategories) -> CodedBand:
    """Turn source values into codes.

    Parameters
    ----------
    band
        The source's columns.
    names
        Their names.
    bins
        Quantile bins of columns with more than 255 distinct values.
    many_categories
        What to do with text columns of more than 254 categories.
    """
    values = band.values
    categories, values, dropped = _settle_categories(band, names, many_categories)
    if dropped:
        keep = np.array([i for i in range(len(values)) if i not in dropped], np.int64)
        place = {int(old): new for new, old in enumerate(keep)}
        categories = {place[i]: c for i, c in categories.items()}
        values, names = values[keep], names.take(pa.array(keep))
        kinds = band.kinds[keep]
    else:
        kinds = band.kinds.copy()
    for i in np.flatnonzero(kinds == Kind.CATEGORY):
        if i not in categories:  # ordered by frequency
            kinds[i] = Kind.NUMBER
    _refuse_infinite(values, names)
    ordered = np.array([i for i in range(len(values)) if i not in categories], np.int64)
    quantised = quantise(values if len(ordered) == len(values) else values[ordered], bins)
    codes = quantised.codes
    n_codes: NDArray[np.int64] = quantised.n_codes
    n_missing, exact = quantised.n_missing, quantised.exact
    grids = quantised.grids
    if categories:
        codes = np.empty(values.shape, np.uint8)
        codes[ordered] = quantised.codes
        n_codes, n_missing, exact = (_spread(a, ordered, len(values)) for a in (n_codes, n_missing, exact))
        for i, category in categories.items():
            codes[i] = category.codes
            n_codes[i] = len(category.labels)
            exact[i] = True
            n_missing[i] = np.count_nonzero(category.codes == MISSING)
        lengths = _spread(grids.lengths, ordered, len(values))
        offsets = np.concatenate(([0], np.cumsum(np.maximum(lengths - 1, 0))))
        grids = Grids(
            _spread(grids.shift, ordered, len(values)),
            _spread(grids.origin, ordered, len(values)),
            lengths,
            offsets,
            grids.steps,
        )
    label_lists = [categories[i].labels if i in categories else None for i in range(len(values))]
    records = pa.record_batch(
        [
            names,
            pa.array([KIND_NAMES[k] for k in kinds], pa.string()),
            pa.array(n_codes.astype(np.uint8)),
            pa.array(n_missing),
            pa.array([codes_checksum(column) for column in codes], pa.uint64()),
            pa.array(exact),
            pa.array(grids.shift),
            pa.array(grids.origin),
            pa.LargeListArray.from_arrays(pa.array(grids.offsets), pa.array(grids.steps)),
            pa.array(label_lists, pa.large_list(pa.large_string())),
        ],
        schema=COLUMN_SCHEMA,
    )
    return CodedBand(codes, records)


def record_grid(record: dict[str, object]) -> NDArray[np.float64]:
    """The grid of an ordered column, in source units, from its record."""
    steps = np.asarray(record["steps"], np.uint64)
    length = 0 if record["codes"] == 0 else len(steps) + 1
    grids = Grids(
        np.array([record["shift"]], np.uint8),
        np.array([record["origin"]], np.int64),
        np.array([length]),
        np.array([0, len(steps)]),
        steps,
    )
    return unpack_grids(grids)[0]


class _Categories(NamedTuple):
    codes: NDArray[np.uint8]
    labels: list[str]


def _settle_categories(
    band: Band, names: pa.Array, policy: ManyCategories
) -> tuple[dict[int, _Categories], NDArray[np.floating], set[int]]:
    """Codes of categorical columns, values with frequency ranks put in, and columns to leave out."""
    categories: dict[int, _Categories] = {}
    dropped: set[int] = set()
    values = band.values
    for i, labels in band.labels.items():
        present = ~np.isnan(values[i])
        used, inverse, counts = np.unique(values[i, present], return_inverse=True, return_counts=True)
        words = labels.take(pa.array(used.astype(np.int64))).to_pylist()
        by_word = sorted(range(len(words)), key=lambda k: words[k])
        if len(words) <= MAX_CATEGORIES:
            rank = np.empty(len(words), np.uint8)
            rank[by_word] = np.arange(len(words), dtype=np.uint8)
            codes = np.full(values.shape[1], MISSING, np.uint8)
            codes[present] = rank[inverse]
            categories[i] = _Categories(codes, [words[k] for k in by_word])
        elif policy == "drop":
            dropped.add(i)
        elif policy == "frequency":
            # The most frequent category is 0; equally frequent ones stand in the order of their labels.
            by_count = sorted(by_word, key=lambda k: -counts[k])
            rank_of = np.empty(len(words))
            rank_of[by_count] = np.arange(len(words))
            if values is band.values:
                values = values.astype(np.float64)
            values[i, present] = rank_of[inverse]
        else:
            raise SourceError(
                f"text column {shown(names[i])} has {len(words)} categories, more than the {MAX_CATEGORIES} that codes can hold; "
                "leave such columns out with --many-categories drop, or order them with --many-categories frequency"
            )
    return categories, values, dropped


def _spread(part: NDArray[Any], where: NDArray[np.int64], n: int) -> NDArray[Any]:
    out = np.zeros(n, part.dtype)
    out[where] = part
    return out


def _refuse_infinite(values: NDArray[np.floating], names: pa.Array) -> None:
    infinite = np.isinf(values)
    if infinite.any():
        column, row = np.argwhere(infinite)[0]
        raise SourceError(
            f"column {shown(names[int(column)])} has {values[column, row]} in row {row}; infinite values have no place among "
            "bins: make it missing, or leave the column out with --drop (drop=)"
        )
