"""Examining columns on a card: contexts and tables laid out for it, and its kernels called."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from fernwood.kernels.examining import Contexts

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from fernwood.kernels.cuda.card import Card
    from fernwood.kernels.telling import Chances

__all__ = ["HEIGHT", "CardContexts", "Pairs", "gains_of", "lay_out", "packed", "scores_of", "sums_of", "tile_height"]

HEIGHT = 4096
"""Rows in shared memory together, as on the host: numbers are added up tile by tile, in fours that begin with each."""
_STRIDE, _LANES, _CODES, _LAST = 40, 32, 256, 0x8000
_WARPS = 8
_HELD_BYTES = 2**29
"""Sums that are held from tile to tile, of all blocks: of more contexts than have room, some at a time."""


class CardContexts(NamedTuple):
    """Some contexts as the kernels of a card take them; arrays on the card.

    Attributes
    ----------
    rows : array, shape (tiles, contexts, …); those of a context in a tile, part after part, each beginning at a four.
        Where they are counted, uint16, places, see `_counted`; where they are weighed, uint32, offsets
    start : uint32 array, shape (tiles, contexts, parts); where the rows of a part begin; none where they are counted
    count : uint32 array; how many rows a part has, of the same shape; or how many sixteens, shape (tiles, contexts)
    size : float32 array, shape (contexts, parts)
    weight : float32 array like `rows`; empty where rows are counted
    n_rows, height : how many there are, and how many of them are in a tile
    n_classes
    """

    rows: Any
    start: Any
    count: Any
    size: Any
    weight: Any
    n_rows: int
    height: int
    n_classes: int


class Pairs(NamedTuple):
    """Pairs of components of some columns; arrays on the card.

    Attributes
    ----------
    codes : uint8 array, shape (columns, …); rows of a column, padded to a multiple of 16
    place : int64 array; which of `codes` a pair is of
    which : int32 array; where in `tables` it is
    addresses : uint64 array or None; where a shadow of the column is dealt
    tables : int32 array, shape (…, 256), of two steps side by side; or float32 array, shape (…, 256, 2)
    unit : float32 array, shape (…, 2); the lengths of steps
    begin : int64 array; the first pair of every column, and the end
    leading : uint8 array; how many of the components of a pair are leading
    """

    codes: Any
    place: Any
    which: Any
    addresses: Any
    tables: Any
    unit: Any
    begin: Any
    leading: Any


def packed(steps: NDArray[np.int16]) -> NDArray[np.int32]:
    """Two steps of 8 bits side by side as a card adds them up: the second sixteen bits up.

    Examples
    --------
    >>> packed(np.array([[-3, 5]], np.int8).view(np.int16)).tolist()
    [[327677]]
    """
    both = np.ascontiguousarray(steps).view(np.int8).reshape(*steps.shape, 2).astype(np.int32)
    return both[..., 0] + (both[..., 1] << 16)


def tile_height(card: Card, n_rows: int, *, counts: bool) -> int:
    """How many of so many rows a block of a card holds together; 0 where it has too little shared memory for any.

    Rows that are counted may be cut anywhere; those that are weighed may not, since their sums would have other bits.

    Examples
    --------
    >>> from types import SimpleNamespace
    >>> small = SimpleNamespace(shared_bytes=101_376)
    >>> tile_height(small, 5000, counts=True), [tile_height(small, n, counts=False) for n in (800, 5000)]
    (1712, [800, 0])
    """
    wanted = min(HEIGHT, n_rows + 3 & ~3)
    room = max(card.shared_bytes - _table_bytes(counts=counts), 0) // _STRIDE & ~3
    return min(wanted, room) if counts or room >= wanted else 0


def _table_bytes(*, counts: bool) -> int:
    return _CODES * _LANES * (4 if counts else 8)


def lay_out(card: Card, contexts: Contexts) -> Iterator[CardContexts]:
    """Contexts brought to a card; some at a time where their sums have to be held for many rows."""
    n_contexts, n_rows = len(contexts.rows), contexts.n_rows
    n_parts = contexts.size.shape[1]
    height = tile_height(card, n_rows, counts=contexts.counts)
    at_once = n_contexts
    if n_rows > height:
        a_context = card.n_multiprocessors * n_parts * _LANES * 8
        at_once = max(1, min(n_contexts, _HELD_BYTES // a_context))
    for first in range(0, n_contexts, at_once):
        yield _laid_out(card, contexts, slice(first, min(first + at_once, n_contexts)), height)


def _laid_out(card: Card, contexts: Contexts, some: slice, height: int) -> CardContexts:
    make = _counted if contexts.counts else _weighed
    rows, size = contexts.rows[some], contexts.size[some]
    part = Contexts(rows, contexts.start[some], size, contexts.weight[some], contexts.n_classes, contexts.n_times)
    arrays = make(part, height)
    places, begin, count, heavy = (card.cupy.asarray(array) for array in arrays)
    on_card = card.cupy.asarray(size)
    return CardContexts(places, begin, count, on_card, heavy, contexts.n_rows, height, contexts.n_classes)


def _counted(contexts: Contexts, height: int) -> tuple[NDArray[Any], ...]:
    """Rows in fours, and a part in one at least: where a part has no more, the first row of the tile stands in.

    The first row of a part's last four has bit 15 set, and in bits 12 to 14 how many rows are to be taken away again.
    """
    n_contexts, n_parts = contexts.size.shape
    n_tiles = -(-contexts.rows.shape[1] // height)
    # Sixteen rows are looked up together, and twice as many are fetched ahead.
    pitch = (min(contexts.rows.shape[1], height) + 4 * n_parts + 15 & ~15) + 32
    places = np.zeros((n_tiles, n_contexts, pitch), np.uint16)
    sixteens = np.empty((n_tiles, n_contexts), np.uint32)
    for c in range(n_contexts):
        tile, place, key, number, rank = _by_tile(contexts, c, height)
        fours = np.maximum(number + 3 >> 2, 1)
        ends = np.cumsum(fours, axis=1)
        places[tile, c, 4 * (ends - fours).reshape(-1)[key] + rank] = place
        missing = 4 * fours - number
        at = np.arange(n_tiles)[:, None], c, 4 * (ends - 1)
        places[at] |= (_LAST | missing << 12).astype(np.uint16)
        sixteens[:, c] = ends[:, -1] + 3 >> 2
    return places, np.empty(0, np.uint32), sixteens, np.empty(0, np.float32)


def _weighed(contexts: Contexts, height: int) -> tuple[NDArray[Any], ...]:
    """Rows as offsets in a tile, parts beginning at fours, with their weights beside them."""
    n_contexts, n_parts = contexts.size.shape
    n_tiles = -(-contexts.n_rows // height)
    counts = np.empty((n_tiles, n_contexts, n_parts), np.uint32)
    starts = np.zeros_like(counts)
    pitch = contexts.n_times * min(contexts.n_rows, height) + 3 * n_parts + 3 & ~3
    offsets = np.zeros((n_tiles, n_contexts, pitch), np.uint32)
    weight = np.zeros(offsets.shape, np.float32)
    for c in range(n_contexts):
        tile, place, key, number, rank = _by_tile(contexts, c, height)
        start = np.cumsum(number + 3 & ~3, axis=1)
        starts[:, c, 1:], counts[:, c] = start[:, :-1], number
        to = starts[:, c].reshape(-1)[key] + rank
        offsets[tile, c, to] = place * np.uint32(_STRIDE)
        in_tiles = np.argsort(contexts.rows[c] // np.uint32(height), kind="stable")
        weight[tile, c, to] = contexts.weight[c][in_tiles]
    return offsets, starts, counts, weight


class _ByTile(NamedTuple):
    """The rows of a context, tile by tile and there part by part.

    Attributes
    ----------
    tile, place : of every row: its tile, and its place there
    key : of every row: the number of its tile and part
    number : int64 array, shape (tiles, parts); rows of a part in a tile
    rank : of every row: how many rows of its part are before it in the tile
    """

    tile: NDArray[np.uint32]
    place: NDArray[np.uint32]
    key: NDArray[np.int64]
    number: NDArray[np.int64]
    rank: NDArray[np.int64]


def _by_tile(contexts: Contexts, c: int, height: int) -> _ByTile:
    n_places, n_parts = contexts.rows.shape[1], contexts.size.shape[1]
    n_tiles = -(-contexts.n_rows // height)
    part = np.repeat(np.arange(n_parts), np.diff(contexts.start[c].astype(np.int64)))
    tile, place = np.divmod(contexts.rows[c], np.uint32(height))
    key = tile * np.int64(n_parts) + part
    # Rows of a part are in order, so that those of a tile follow each other.
    order = np.argsort(tile, kind="stable") if n_tiles > 1 else slice(None)
    number = np.bincount(key, minlength=n_tiles * n_parts)
    rank = np.arange(n_places) - (np.cumsum(number) - number)[key[order]]
    return _ByTile(tile[order], place[order], key[order], number.reshape(n_tiles, n_parts), rank)


def gains_of(card: Card, pairs: Pairs, contexts: CardContexts) -> Any:
    """What pairs of components gain in contexts; float32 array on the card, shape (contexts, pairs, 2)."""
    cp = card.cupy
    n_tiles, n_contexts, pitch = contexts.rows.shape
    n_parts, n_pairs = contexts.size.shape[1], len(pairs.place)
    counts = contexts.weight.size == 0
    shared = _table_bytes(counts=counts) + contexts.height * _STRIDE
    # As on the host, one class that is weighed is a target of numbers.
    classes = contexts.n_classes if contexts.n_classes == 2 or (contexts.n_classes == 1 and not counts) else 0
    threads = 32 * _WARPS
    grid = min(-(-n_pairs // _LANES), card.blocks_at_once(shared, threads))
    held = cp.empty(grid * n_contexts * n_parts * _LANES * 2 if n_tiles > 1 else 0, np.int32)
    kept = cp.empty(grid * _WARPS * contexts.n_classes * _LANES * 2 if classes == 0 else 0, np.float32)
    gains = cp.empty((n_contexts, n_pairs, 2), np.float32)
    kernel = card.kernel(f"examine<{str(counts).lower()}, {classes}>", shared)
    arguments = (
        pairs.codes,
        np.int64(pairs.codes.shape[1]),
        np.int32(contexts.n_rows),
        np.int32(contexts.height),
        pairs.place,
        pairs.which,
        np.int64(n_pairs),
        np.uint64(0) if pairs.addresses is None else pairs.addresses,
        pairs.tables,
        pairs.unit,
        contexts.rows,
        np.int64(pitch),
        contexts.start,
        contexts.count,
        contexts.size,
        contexts.weight,
        np.int32(n_contexts),
        np.int32(n_parts),
        np.int32(contexts.n_classes),
        held,
        kept,
        gains,
    )
    if n_pairs:
        kernel((grid,), (threads,), arguments, shared_mem=shared)
    return gains


def scores_of(card: Card, pairs: Pairs, gains: Any) -> Any:
    """Scores of columns; float32 array on the card, shape (columns, contexts, 2)."""
    n_contexts, n_pairs, _ = gains.shape
    n_columns = len(pairs.begin) - 1
    out = card.cupy.empty((n_columns, n_contexts, 2), np.float32)
    if out.size:
        sizes = np.int64(n_pairs), pairs.begin, pairs.leading, np.int64(n_columns), np.int32(n_contexts)
        blocks = -(-n_columns * n_contexts // 256)
        card.kernel("scores_of")((blocks,), (256,), (gains, *sizes, out))
    return out


def sums_of(card: Card, pairs: Pairs, gains: Any, chances: Chances) -> Any:
    """Sums of 1/p over contexts, by column; float64 array on the card."""
    n_contexts, n_pairs, _ = gains.shape
    n_columns = len(pairs.begin) - 1
    out = card.cupy.empty(n_columns, np.float64)
    if n_columns:
        by_chance = [card.cupy.asarray(part) for part in chances]
        sizes = np.int64(n_pairs), pairs.begin, pairs.leading, np.int64(n_columns), np.int32(n_contexts)
        card.kernel("sums_of")((-(-n_columns // 256),), (256,), (gains, *sizes, *by_chance, out))
    return out
