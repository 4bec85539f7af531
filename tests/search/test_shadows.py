"""Shadows: what is dealt anew, and what stays."""

from __future__ import annotations

import numpy as np

from fernwood.search.shadows import deal_shadows, shadow_addresses

RNG = np.random.default_rng(0)
CODES = RNG.integers(0, 9, (6, 50)).astype(np.uint8)
SUMS = RNG.integers(0, 2**63, 6).astype(np.uint64)
NONE = np.zeros(6, np.uint64)


def dealt(codes: np.ndarray = CODES, seed: int = 0, copies: np.ndarray = NONE, rows: np.ndarray | None = None):
    out = np.empty_like(codes)
    deal_shadows(codes, shadow_addresses(SUMS, seed, copies), out, rows)
    return out


def test_values_stay_in_their_column() -> None:
    out = dealt()
    np.testing.assert_array_equal(np.sort(out, axis=1), np.sort(CODES, axis=1))
    assert all((a != b).any() for a, b in zip(out, CODES, strict=True))


def test_the_address_is_content_seed_and_copy() -> None:
    first = dealt()
    np.testing.assert_array_equal(first, dealt())
    assert (dealt(seed=1) != first).any(axis=1).all()
    assert (dealt(copies=NONE + np.uint64(1)) != first).any(axis=1).all()
    one = np.empty((1, 50), np.uint8)
    deal_shadows(CODES[3:4], shadow_addresses(SUMS[3:4], 0, np.uint64(0)), one)
    np.testing.assert_array_equal(one[0], first[3])


def test_rows_that_take_no_part_keep_their_values() -> None:
    rows = np.arange(0, 50, 3, dtype=np.int32)
    out = dealt(rows=rows)
    others = np.setdiff1d(np.arange(50), rows)
    np.testing.assert_array_equal(out[:, others], CODES[:, others])
    np.testing.assert_array_equal(np.sort(out[:, rows], axis=1), np.sort(CODES[:, rows], axis=1))
    changed = CODES.copy()
    changed[:, others] = 0
    np.testing.assert_array_equal(dealt(changed, rows=rows)[:, rows], out[:, rows])


def test_in_place() -> None:
    codes = CODES.copy()
    deal_shadows(codes, shadow_addresses(SUMS, 0, NONE), codes)
    np.testing.assert_array_equal(codes, dealt())
