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
    groups = np.arange(50) // 5
    strata = groups % 2
    out = dealt(strata=strata, groups=groups)
    for s in (0, 1):
        np.testing.assert_array_equal(np.sort(out[:, strata == s], axis=1), np.sort(CODES[:, strata == s], axis=1))
    assert (out != CODES).any(axis=1).all()


def test_names_of_groups_do_not_matter() -> None:
    groups = np.repeat([3, 1, 2, 0, 4], 10)
    np.testing.assert_array_equal(dealt(groups=groups), dealt(groups=groups * 7))


def test_counts_are_kept_where_groups_that_exchange_places_are_of_equal_size() -> None:
    rows = np.arange(60)
    for groups, kept in ((rows // 5, True), (np.minimum(rows, 30), False), (np.maximum(rows - 40, 0) // 2, False)):
        assert Dealer(0, groups=groups).keeps_counts == kept
    assert Dealer(0, groups=np.append(np.arange(20), np.repeat(np.arange(20, 40), 2))).keeps_counts  # two blocks
    assert Dealer(0, strata=rows % 7).keeps_counts


def test_columns_are_told_apart_by_how_alike_groups_are() -> None:
    """As the ratio of the sums' squares over groups to that of rows, where groups are of equal size."""
    groups = np.arange(600) // 5
    values = RNG.standard_normal((200, 600)) + RNG.random((200, 1)) * 2 * RNG.standard_normal((200, 120))[:, groups]
    values = (values - values.mean(axis=1, keepdims=True)) / values.std(axis=1, keepdims=True)
    together = (values.reshape(200, 120, 5).sum(axis=2) ** 2).sum(axis=1) / 600
    np.testing.assert_array_equal(Dealer(0, groups=groups).tied(values), np.rint(4 * np.log2(together)).astype(int))
