"""Shadows: values dealt anew to the rows, all of them or in pieces."""

from __future__ import annotations

import numpy as np
import pytest

from fernwood.kernels.dealing import deal_pieces, permute_codes

RNG = np.random.default_rng(0)


def test_shadows_are_permutations_by_address() -> None:
    codes = np.tile(RNG.integers(0, 30, 200).astype(np.uint8), (4, 1))
    out = np.empty_like(codes)
    permute_codes(codes, np.array([1, 2, 1, 3], np.uint64), out)
    assert (np.sort(out, axis=1) == np.sort(codes, axis=1)).all()
    assert (out[0] == out[2]).all()
    assert (out[0] != out[1]).any()
    assert (out[1] != out[3]).any()
    again = codes.copy()
    permute_codes(again, np.array([1, 2, 1, 3], np.uint64), again)
    assert (again == out).all()


def test_every_row_is_as_likely_at_every_place() -> None:
    """4000 permutations of 8: the largest of 64 deviations beyond five standard errors, once in 27 000 seeds."""
    out = np.empty((4000, 8), np.uint8)
    permute_codes(np.tile(np.arange(8, dtype=np.uint8), (4000, 1)), np.arange(4000, dtype=np.uint64) * 7919, out)
    counts = np.array([np.bincount(out[:, i], minlength=8) for i in range(8)])
    assert (abs(counts - 500) < 5 * np.sqrt(4000 / 8 * 7 / 8)).all()


def dealt(codes: np.ndarray, stratum: np.ndarray, group: np.ndarray, addresses: np.ndarray) -> np.ndarray:
    rows = np.lexsort((group, stratum))
    new_stratum = np.r_[True, np.diff(stratum[rows]) != 0]
    new_piece = new_stratum | np.r_[True, np.diff(group[rows]) != 0]
    piece = np.append(np.flatnonzero(new_piece), len(rows))
    starts = np.searchsorted(piece, np.append(np.flatnonzero(new_stratum), len(rows)))
    out = np.full_like(codes, 99)
    deal_pieces(codes, addresses, rows, piece, starts, out)
    return out


def test_groups_of_equal_size_change_places_whole() -> None:
    group = RNG.permutation(np.repeat(np.arange(10), 3))
    codes = np.tile(group.astype(np.uint8), (200, 1))
    out = dealt(codes, np.zeros(30, int), group, np.arange(200, dtype=np.uint64))
    for column in out:
        came_from = [set(column[group == g].tolist()) for g in range(10)]
        assert all(len(one) == 1 for one in came_from)
        assert sorted(one.pop() for one in came_from) == list(range(10))
    counts = np.bincount(out[:, group == 0].ravel(), minlength=10) / 3  # every group comes to the first as often
    assert (abs(counts - 20) < 5 * np.sqrt(20)).all()


def test_strata_keep_their_values() -> None:
    stratum, group = RNG.integers(0, 3, 60), RNG.integers(0, 12, 60)
    codes = RNG.integers(0, 200, (20, 60)).astype(np.uint8)
    out = dealt(codes, stratum, group, np.arange(20, dtype=np.uint64))
    for s in range(3):
        assert (np.sort(out[:, stratum == s], axis=1) == np.sort(codes[:, stratum == s], axis=1)).all()
    assert (out != codes).mean() > 0.8


def test_the_rows_of_a_group_change_places_too() -> None:
    codes = np.tile(np.arange(6, dtype=np.uint8), (3000, 1))
    out = dealt(codes, np.zeros(6, int), np.repeat([0, 1], 3), np.arange(3000, dtype=np.uint64))
    counts = np.bincount(out[:, 0], minlength=6)
    assert (abs(counts - 500) < 5 * np.sqrt(3000 / 6 * 5 / 6)).all()


@pytest.mark.parametrize("address", [1, 2**63])
def test_pieces_of_one_row_are_a_plain_permutation_of_all(address: int) -> None:
    codes = np.arange(40, dtype=np.uint8)[None]
    out = dealt(codes, np.zeros(40, int), np.arange(40), np.array([address], np.uint64))
    assert sorted(out[0].tolist()) == list(range(40))
    assert (out != codes).mean() > 0.7
