"""Examining columns on a card: contexts and tables laid out for it, and its kernels called."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from fernwood.kernels.cuda.card import Card
    from fernwood.kernels.examining import Contexts
    from fernwood.kernels.telling import Chances

__all__ = ["HEIGHT", "CardContexts", "Pairs", "gains_of", "lay_out", "packed", "scores_of", "sums_of", "tile_height"]

HEIGHT = 4096
"""Rows in shared memory together, as on the host: numbers are added up tile by tile, in fours that begin with each."""
_STRIDE, _LANES, _CODES = 40, 32, 256
_WARPS = 8
_HELD_BYTES = 2**29
"""Sums that are held from tile to tile, of all blocks: of more contexts than have room, some at a time."""


class CardContexts(NamedTuple):
    """Some contexts as the kernels of a card take them; arrays on the card.

    Attributes
    ----------
    rows : uint32 array, shape (tiles, contexts, …); offsets in a tile of the rows of a part, parts beginning at fours
    start, count : uint32 arrays, shape (tiles, contexts, parts); where the rows of a part begin, and how many there are
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
    n_contexts, n_rows = contexts.rows.shape
    n_parts = contexts.size.shape[1]
    height = tile_height(card, n_rows, counts=contexts.counts)
    at_once = n_contexts
    if n_rows > height:
        a_context = card.n_multiprocessors * n_parts * _LANES * 8
        at_once = max(1, min(n_contexts, _HELD_BYTES // a_context))
    for first in range(0, n_contexts, at_once):
        yield _laid_out(card, contexts, slice(first, min(first + at_once, n_contexts)), height)


def _laid_out(card: Card, contexts: Contexts, some: slice, height: int) -> CardContexts:
    cp = card.cupy
    rows, size = contexts.rows[some], contexts.size[some]
    (n_contexts, n_rows), n_parts = rows.shape, size.shape[1]
    n_tiles = -(-n_rows // height)
    numbers = np.diff(contexts.start[some].astype(np.int64), axis=1)
    count = np.empty((n_tiles, n_contexts, n_parts), np.int64)
    start = np.zeros_like(count)
    pitch = min(n_rows, height) + 3 * n_parts + 3 & ~3
    offsets = np.zeros((n_tiles, n_contexts, pitch), np.uint32)
    weight = np.zeros(offsets.shape if contexts.weight.size else (0,), np.float32)
    for c in range(n_contexts):
        part = np.repeat(np.arange(n_parts), numbers[c])
        tile = rows[c] // np.uint32(height)
        count[:, c] = np.bincount(tile * np.int64(n_parts) + part, minlength=n_tiles * n_parts).reshape(-1, n_parts)
        start[:, c, 1:] = np.cumsum(count[:, c, :-1] + 3 & ~3, axis=1)
        # Rows of a part are in order, so that those of a tile follow each other.
        order = np.argsort(tile, kind="stable") if n_tiles > 1 else slice(None)
        before = np.cumsum(count[:, c].reshape(-1)) - count[:, c].reshape(-1)
        key = (tile * np.int64(n_parts) + part)[order]
        to = start[:, c].reshape(-1)[key] + np.arange(n_rows) - before[key]
        offsets[tile[order], c, to] = (rows[c] % np.uint32(height))[order] * np.uint32(_STRIDE)
        if weight.size:
            weight[tile[order], c, to] = contexts.weight[some][c][order]
    return CardContexts(
        cp.asarray(offsets),
        cp.asarray(start.astype(np.uint32)),
        cp.asarray(count.astype(np.uint32)),
        cp.asarray(size),
        cp.asarray(weight),
        n_rows,
        height,
        contexts.n_classes,
    )


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
