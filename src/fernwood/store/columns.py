"""What a store knows of a column beside its codes, and how a band of source columns becomes codes and that record."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from fernwood.errors import SourceError, StoreError, shown
from fernwood.sources.base import Band, Kind, SparseBand
from fernwood.sources.levels import LevelBand
from fernwood.store.contents import column_contents
from fernwood.store.grid import Grids, unpack_grids
from fernwood.store.quantise import Quantised, quantise, thresholds

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

__all__ = [
    "COLUMN_SCHEMA",
    "KIND_NAMES",
    "MAX_CATEGORIES",
    "CodedBand",
    "ManyCategories",
    "QuantisedBand",
    "Scale",
    "check_records",
    "check_schema",
    "code_band",
    "codes_checksum",
    "completed",
    "kinds_of",
    "record_grid",
    "record_scale",
    "settle_categories",
]

MAX_CATEGORIES = 254
"""The most categories a column may have."""

ManyCategories = Literal["error", "drop", "frequency"]
"""What to do with a text column of more categories: refuse it, leave it out, or order its categories by frequency."""

_LISTS = ("steps", "labels")
_LONGEST_LIST, _WORD_BITS = 256, 64

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
        # The rest is not there in stores of before it was kept.
        ("position", pa.int64()),  # in the table that the store was made from, where it has one there
        ("from_end", pa.int64()),  # the same, counted from the end: −1 is the last column of the table
        ("content", pa.uint32()),  # stands for what the column holds, as `column_contents` has it
    ]
)
_LATER = ("position", "from_end", "content")


class CodedBand(NamedTuple):
    """The codes of some columns, shape (columns, rows), and their records, of `COLUMN_SCHEMA`."""

    codes: NDArray[np.uint8]
    records: pa.RecordBatch


class Scale(NamedTuple):
    """What the codes of a column stand for.

    Attributes
    ----------
    kind
    edges : float64 array; of an ordered column the bounds of its codes in source units, one more than there are codes,
        from its lowest value to its highest; empty where no value is there
    labels : of a column of categories, one for each code; empty of others
    """

    kind: Kind
    edges: NDArray[np.float64]
    labels: list[str]


def codes_checksum(codes: NDArray[np.uint8]) -> int:
    """The checksum of one column's codes; it is also the column's address for random numbers."""
    return int.from_bytes(hashlib.blake2b(codes.data, digest_size=8).digest(), "little")


def check_schema(schema: pa.Schema) -> None:
    """Refuse, with a ValueError, records that lack a field, or have it in another type."""
    for field in COLUMN_SCHEMA:
        places = schema.get_all_field_indices(field.name)
        if not places and field.name in _LATER:
            continue
        if len(places) != 1 or schema.field(places[0]).type != field.type:
            raise ValueError(f"the field {field.name} is not there, or of another type")


def check_records(records: pa.Table) -> None:
    """Refuse, with a ValueError, values of records that `QuantisedBand.recorded` never writes."""
    for name, column in zip(records.column_names, records.columns, strict=True):
        if column.null_count and name != "labels" and name not in _LATER:
            raise ValueError(f"the field {name} is missing of a column")
        if name in _LISTS:
            longest = pc.max(pc.list_value_length(column)).as_py() or 0
            if longest > _LONGEST_LIST or any(chunk.flatten().null_count for chunk in column.chunks):
                raise ValueError(f"the field {name} is too long, or has gaps")
        if name == "kind" and not pc.all(pc.is_in(column, pa.array(KIND_NAMES)), min_count=0).as_py():
            raise ValueError("a column is of no kind")
        if name == "shift" and (pc.max(column).as_py() or 0) >= _WORD_BITS:
            raise ValueError("a grid is none")


def completed(records: pa.Table) -> pa.Table:
    """Records with all fields of `COLUMN_SCHEMA`, in that order; what an older store does not have is unknown."""
    for field in COLUMN_SCHEMA:
        if field.name not in records.column_names:
            records = records.append_column(field, pa.nulls(len(records), field.type))
    return records.select(COLUMN_SCHEMA.names).cast(COLUMN_SCHEMA)


def kinds_of(names: pa.ChunkedArray) -> NDArray[np.uint8]:
    """Kinds, as `Kind` numbers, of the names kept in the records."""
    coded = names.combine_chunks().dictionary_encode()
    numbers = np.array([KIND_NAMES.index(name) for name in coded.dictionary.to_pylist()], np.uint8)
    return np.asarray(numbers[coded.indices.to_numpy()])


def _column_checksums(codes: NDArray[np.uint8]) -> NDArray[np.uint64]:
    return np.array([codes_checksum(column) for column in codes], np.uint64)


class QuantisedBand(NamedTuple):
    """The codes of some columns, and what their records are made of."""

    quantised: Quantised
    names: pa.Array
    kinds: NDArray[np.uint8]
    labels: dict[int, pa.Array]
    checksums: Callable[[NDArray[np.uint8]], NDArray[np.uint64]] = _column_checksums

    def recorded(self, positions: NDArray[np.int64] | None = None, n_table: int = 0) -> CodedBand:
        """The codes and their records, with a checksum of every column.

        Parameters
        ----------
        positions
            Where the columns stand in the table that they are from; None for columns that stand beside it.
        n_table
            How many columns that table has.
        """
        codes, grids = self.quantised.codes, self.quantised.grids
        checksums = self.checksums(codes)
        nowhere = pa.nulls(len(codes), pa.int64())
        list_of_labels = pa.large_list(pa.large_string())
        labels = pa.nulls(len(codes), list_of_labels)
        if self.labels:
            of_column = [self.labels.get(i) for i in range(len(codes))]
            labels = pa.array([None if of is None else of.to_pylist() for of in of_column], list_of_labels)
        records = pa.record_batch(
            [
                self.names,
                pa.array(KIND_NAMES, pa.string()).take(pa.array(self.kinds)),
                pa.array(self.quantised.n_codes.astype(np.uint8)),
                pa.array(self.quantised.n_missing),
                pa.array(checksums),
                pa.array(self.quantised.exact),
                pa.array(grids.shift),
                pa.array(grids.origin),
                pa.LargeListArray.from_arrays(pa.array(grids.offsets), pa.array(grids.steps)),
                labels,
                nowhere if positions is None else pa.array(positions),
                nowhere if positions is None else pa.array(positions - n_table),
                pa.array(column_contents(checksums, self.kinds, grids, self.labels)),
            ],
            schema=COLUMN_SCHEMA,
        )
        return CodedBand(codes, records)


def code_band(band: Band | SparseBand, names: pa.Array, bins: int) -> QuantisedBand:
    """Turn source values into codes.

    Parameters
    ----------
    band
        The source's columns, their categories settled (`settle_categories`).
    names
        Their names.
    bins
        Quantile bins of columns with more than 255 distinct values.
    """
    if isinstance(band, LevelBand):
        from fernwood.store.checksums import many_checksums
        from fernwood.store.levels import quantised_levels  # compiled code, which numbers do without

        return QuantisedBand(quantised_levels(band), names, band.kinds, band.labels, many_checksums)
    _refuse_infinite(band, names)
    # Settled categories are their places in order, 0 to at most 253, all in use: the quantiser keeps them as they are.
    if isinstance(band, SparseBand):
        from fernwood.store.checksums import many_checksums

        return QuantisedBand(_quantise_sparse(band, bins), names, band.kinds, band.labels, many_checksums)
    return QuantisedBand(quantise(band.values, bins), names, band.kinds, band.labels)


def settle_categories(
    band: Band | SparseBand, names: pa.Array, policy: ManyCategories
) -> tuple[Band | SparseBand, pa.Array]:
    """Number the categories of every text column by the order of their labels; deal with columns of too many.

    Returns
    -------
    Band, Arrow array
        The band with the labels in use, in order, and values that are places among them; and the names that remain.
    """
    if isinstance(band, SparseBand) or not band.labels:
        return band, names
    values, kinds = band.values, band.kinds.copy()
    settled: dict[int, pa.Array] = {}
    dropped: list[int] = []
    for i, labels in band.labels.items():
        present = ~np.isnan(values[i])
        used, place, counts = np.unique(values[i, present], return_inverse=True, return_counts=True)
        words = labels.take(pa.array(used.astype(np.int64))).to_pylist()
        order = sorted(range(len(words)), key=lambda k: words[k])
        if len(words) <= MAX_CATEGORIES:
            settled[i] = pa.array([words[k] for k in order], pa.large_string())
        elif policy == "drop":
            dropped.append(i)
        elif policy == "frequency":
            # The most frequent one is 0; equally frequent ones stay in the order of their labels.
            order = sorted(order, key=lambda k: -counts[k])
            kinds[i] = Kind.NUMBER
        else:
            raise SourceError(
                f"text column {shown(names[i])} has {len(words)} categories, more than the {MAX_CATEGORIES} that codes "
                "can hold; leave such columns out with --many-categories drop, or order them by frequency "
                "with --many-categories frequency"
            )
        rank = np.empty(len(words))
        rank[order] = np.arange(len(words))
        values[i, present] = rank[place]
    if dropped:
        keep = np.delete(np.arange(len(values)), dropped)
        settled = {int(np.searchsorted(keep, i)): labels for i, labels in settled.items()}
        values, kinds, names = values[keep], kinds[keep], names.take(pa.array(keep))
    return Band(values, kinds, settled), names


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
    grid = unpack_grids(grids)[0] if length > 0 else np.empty(0)
    if len(steps) > length or not np.isfinite(grid).all() or (grid[:-1] > grid[1:]).any():
        raise StoreError(f"the bins of column {shown(record['name'])} are none; make the store again")
    return grid


def record_scale(record: dict[str, Any]) -> Scale:
    """What the codes of a column stand for, from its record."""
    kind = Kind(KIND_NAMES.index(record["kind"]))
    if record["labels"] is not None:
        return Scale(kind, np.empty(0), list(record["labels"]))
    grid = record_grid(record)
    if len(grid) and record["exact"]:
        grid = np.concatenate([grid[:1], thresholds(grid, exact=True), grid[-1:]])
    return Scale(kind, grid, [])


def _quantise_sparse(band: SparseBand, bins: int) -> Quantised:
    from fernwood.store.sparse import quantise_sparse  # loads compiled code, which dense tables do without

    return quantise_sparse(band, bins)


def _refuse_infinite(band: Band | SparseBand, names: pa.Array) -> None:
    infinite = np.isinf(band.values if isinstance(band, Band) else band.stored)
    if not infinite.any():
        return
    if isinstance(band, Band):
        column, row = np.argwhere(infinite)[0].tolist()
        value = band.values[column, row]
    else:
        place = int(infinite.argmax())
        column, row = int(np.searchsorted(band.starts, place, side="right")) - 1, int(band.rows[place])
        value = band.stored[place]
    raise SourceError(
        f"column {shown(names[column])} has {value} in row {row}; infinite values have no place "
        "among bins: make it missing, or leave the column out with --drop (drop=)"
    )
