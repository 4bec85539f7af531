"""Contexts as the kernels of a card take them, laid out on the host."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

from fernwood.kernels.cuda import examining
from fernwood.kernels.cuda.examining import HEIGHT, lay_out, packed, tile_height
from fernwood.learner.contexts import divided
from fernwood.learner.target import class_target, value_target

CARD = SimpleNamespace(cupy=SimpleNamespace(asarray=np.asarray), n_multiprocessors=100, shared_bytes=232_448)
SMALL_CARD = SimpleNamespace(**{**vars(CARD), "shared_bytes": 48 * 1024})


@pytest.mark.parametrize("n_rows", [5, 90, HEIGHT, HEIGHT + 1, 3 * HEIGHT + 77])
def test_rows_that_are_weighed_are_in_their_part_in_order(n_rows: int) -> None:
    rng = np.random.default_rng(n_rows)
    contexts = divided(value_target(rng.standard_normal(n_rows)), rng.integers(0, 5, (4, n_rows)))
    (laid,) = lay_out(CARD, contexts)
    n_tiles = -(-n_rows // HEIGHT)
    assert laid.rows.shape[:2] == (n_tiles, 4)
    assert (laid.start % 4 == 0).all()
    for c in range(4):
        for part in range(contexts.size.shape[1]):
            rows, weights = [], []
            for tile in range(n_tiles):
                start, count = int(laid.start[tile, c, part]), int(laid.count[tile, c, part])
                rows.append(laid.rows[tile, c, start : start + count] // 40 + tile * HEIGHT)
                weights.append(laid.weight[tile, c, start : start + count])
            here = slice(int(contexts.start[c, part]), int(contexts.start[c, part + 1]))
            assert np.concatenate(rows).tolist() == contexts.rows[c, here].tolist()
            assert np.array_equal(np.concatenate(weights), contexts.weight[c, here])


@pytest.mark.parametrize("n_rows", [5, 16, 90, HEIGHT, HEIGHT + 1, 3 * HEIGHT + 77])
def test_rows_that_are_counted_are_in_their_part(n_rows: int) -> None:
    """As a card follows them: fours until one is the last of its part, less the rows that fill it up."""
    rng = np.random.default_rng(n_rows)
    contexts = divided(class_target(np.arange(n_rows) % 3), rng.integers(0, 5, (4, n_rows)))
    (laid,) = lay_out(CARD, contexts)
    n_parts = contexts.size.shape[1]
    for c in range(4):
        of_parts: list[list[int]] = [[] for _ in range(n_parts)]
        for tile in range(len(laid.rows)):
            part, rows = 0, []
            fours = laid.rows[tile, c, : 16 * int(laid.count[tile, c])].reshape(-1, 4)
            assert laid.rows.shape[2] >= 16 * int(laid.count[tile, c]) + 32
            for four in fours.tolist():
                rows += [row & 0xFFF for row in four]
                if four[0] & 0x8000:
                    n_filling = four[0] >> 12 & 7
                    assert rows[len(rows) - n_filling :] == [0] * n_filling
                    of_parts[part] += [row + tile * HEIGHT for row in rows[: len(rows) - n_filling]]
                    part, rows = part + 1, []
            assert part == n_parts
        for part, rows in enumerate(of_parts):
            here = slice(int(contexts.start[c, part]), int(contexts.start[c, part + 1]))
            assert rows == contexts.rows[c, here].tolist()


def test_sums_that_have_no_room_come_some_contexts_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(examining, "_HELD_BYTES", 100 * 2 * 32 * 8 * 3)  # of three contexts of two parts
    contexts = divided(class_target(np.arange(HEIGHT + 8) % 2), np.zeros((8, HEIGHT + 8), np.int64))
    assert [len(some.size) for some in lay_out(CARD, contexts)] == [3, 3, 2]


def test_two_steps_in_a_word() -> None:
    both = np.array([[-128, 127], [5, -6], [0, -1], [-1, 0]], np.int8)
    words = packed(both.view(np.int16)[:, 0]).astype(np.int64)
    total = int(words.sum())
    first = (total & 0xFFFF) - (0x10000 if total & 0x8000 else 0)
    assert [first, (total - first) >> 16] == both.astype(int).sum(axis=0).tolist()


def test_a_card_with_little_shared_memory() -> None:
    assert tile_height(CARD, 10**6, counts=True) == tile_height(CARD, 10**6, counts=False) == HEIGHT
    assert tile_height(SMALL_CARD, 10**6, counts=True) == (48 * 1024 - 32 * 1024) // 40 // 4 * 4
    assert tile_height(SMALL_CARD, 10, counts=True) == 12
    contexts = divided(class_target(np.arange(1000) % 2), np.zeros((1, 1000), np.int64))
    (laid,) = lay_out(SMALL_CARD, contexts)
    assert laid.count.tolist() == [[26], [26], [12]]
    assert len(laid.rows) == 3
    assert tile_height(SMALL_CARD, 1000, counts=False) == 0
