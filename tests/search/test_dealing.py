"""Shadows: what is dealt anew, and what stays."""

from __future__ import annotations

import numpy as np

from fernwood.search.dealing import Dealer

RNG = np.random.default_rng(0)
CODES = RNG.integers(0, 9, (6, 50)).astype(np.uint8)
SUMS = RNG.integers(0, 2**63, 6).astype(np.uint64)
NONE = np.zeros(6, np.uint64)


def dealt(seed: int = 0, copies: np.ndarray = NONE, **rows: np.ndarray) -> np.ndarray:
    return Dealer(seed, **rows)(CODES.copy(), SUMS, copies)


def test_values_stay_in_their_column() -> None:
    out = dealt()
    np.testing.assert_array_equal(np.sort(out, axis=1), np.sort(CODES, axis=1))
    assert all((a != b).any() for a, b in zip(out, CODES, strict=True))


def test_the_address_is_content_seed_and_copy() -> None:
    for rows in ({}, {"groups": np.arange(50) // 2}):
        first = dealt(**rows)
        np.testing.assert_array_equal(first, dealt(**rows))
        assert (dealt(seed=1, **rows) != first).any(axis=1).all()
        assert (dealt(copies=NONE + np.uint64(1), **rows) != first).any(axis=1).all()
        one = Dealer(0, **rows)(CODES[3:4].copy(), SUMS[3:4], NONE[:1])
        np.testing.assert_array_equal(one[0], first[3])


def test_groups_within_strata() -> None:
    strata, groups = np.arange(50) % 2, np.arange(50) // 5
    out = dealt(strata=strata, groups=groups)
    for s in (0, 1):
        np.testing.assert_array_equal(np.sort(out[:, strata == s], axis=1), np.sort(CODES[:, strata == s], axis=1))
    assert (out != CODES).any(axis=1).all()


def test_names_of_groups_do_not_matter() -> None:
    groups = np.repeat([3, 1, 2, 0, 4], 10)
    np.testing.assert_array_equal(dealt(groups=groups), dealt(groups=groups * 7))
