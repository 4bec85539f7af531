"""Shadows: values dealt anew to the rows, all of them or in pieces."""

from __future__ import annotations

import numpy as np
import pytest

from fernwood.kernels.dealing import deal_pieces, permute_codes
from fernwood.search.exchange import exchange_of
from tests.reference import dealing as slow

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
    out = np.full_like(codes, 99)
    deal_pieces(codes, addresses, exchange_of(stratum, group), out)
    return out


def sized(*sizes: int) -> np.ndarray:
    """Groups of these sizes, their rows in a random order."""
    return RNG.permutation(np.repeat(np.arange(len(sizes)), sizes))


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


def test_values_stay_in_their_stratum() -> None:
    stratum, group = RNG.integers(0, 3, 60), RNG.integers(0, 12, 60)
    codes = (RNG.integers(0, 60, (20, 60)) + 60 * stratum).astype(np.uint8)
    out = dealt(codes, stratum, group, np.arange(20, dtype=np.uint64))
    assert (out // 60 == stratum).all()
    assert (out != codes).mean() > 0.8


@pytest.mark.parametrize(
    ("stratum", "group"),
    [
        (np.zeros(100, int), sized(*[1] * 9, *[2] * 9, *[4] * 9, 7, 30)),
        (np.zeros(90, int), sized(*range(1, 13), 12)),
        (np.repeat([0, 1, 2], 30), np.repeat(np.arange(30), 3)),
        (np.repeat([1, 0], [60, 20]), np.repeat(np.arange(14), [4, 8, 4, 2, 10, 2, 20, 10, 5, 5, 2, 2, 2, 4])),
        (RNG.integers(0, 2, 120), np.arange(120) // 6),
        (RNG.integers(0, 3, 80), RNG.integers(0, 15, 80)),
    ],
    ids=["mixed", "all different", "equal", "in strata", "across strata", "anyhow"],
)
def test_shadows_are_what_the_definition_gives(stratum: np.ndarray, group: np.ndarray) -> None:
    exchange = exchange_of(stratum, group)
    members = [exchange.parts[a:b] for a, b in zip(exchange.group[:-1], exchange.group[1:], strict=True)]
    named = [int(group[exchange.rows[exchange.piece[pieces[0]]]]) for pieces in members]
    blocks = [named[a:b] for a, b in zip(exchange.block[:-1], exchange.block[1:], strict=True)]
    assert sorted(exchange.rows.tolist()) == list(range(len(group)))
    assert sorted(named) == sorted(set(group.tolist()))
    likely = RNG.random((40, 1)) < 0.5
    codes = RNG.integers(0, 200, (40, len(group))).astype(np.uint8)
    codes = np.where(likely, codes[:, group] // 2 + codes // 20, codes).astype(np.uint8)
    addresses = RNG.integers(0, 2**63, 40).astype(np.uint64)
    out = np.full_like(codes, 99)
    deal_pieces(codes, addresses, exchange, out)
    for column, address, made in zip(codes, addresses.tolist(), out, strict=True):
        assert (made == slow.dealt(column, stratum, group, blocks, address)).all()


def test_groups_stay_alike_whatever_their_sizes() -> None:
    """Where rows of a group are equal, so are they in every shadow: no group is cut over two."""
    group = sized(*range(1, 20), 60)
    codes = np.tile(group.astype(np.uint8), (200, 1))
    out = dealt(codes, np.zeros(len(group), int), group, np.arange(200, dtype=np.uint64))
    for g in range(20):
        assert (out[:, group == g] == out[:, group == g][:, :1]).all()


def test_groups_take_the_same_place_in_all_strata() -> None:
    stratum, group = np.arange(80) % 2, np.arange(80) // 4
    out = dealt(np.tile(group.astype(np.uint8), (50, 1)), stratum, group, np.arange(50, dtype=np.uint64))
    assert (out.reshape(50, 20, 4) == out.reshape(50, 20, 4)[:, :, :1]).all()


@pytest.mark.parametrize("icc", [0.0, 0.3, 0.9])
def test_sums_over_groups_vary_as_those_of_columns(icc: float) -> None:
    """2000 columns, groups of 2, 5 and 20 in one block: the variance of a sum within 15 %, five standard errors."""
    sizes = np.array([2, 2, 2, 5, 5, 5, 20])
    group = np.repeat(np.arange(7), sizes)
    values = np.sqrt(icc) * RNG.standard_normal((2000, 7))[:, group]
    values += np.sqrt(1 - icc) * RNG.standard_normal((2000, len(group)))
    codes = np.clip(128 + 40 * values, 0, 254).astype(np.uint8)
    out = dealt(codes, np.zeros(len(group), int), group, np.arange(2000, dtype=np.uint64))
    before, after = (((x - 127.5) @ (group[:, None] == np.arange(7))).var(axis=0) for x in (codes, out))
    of_size = {n: (after[sizes == n].mean() / before[sizes == n].mean()) for n in (2, 5, 20)}
    # So few groups tell little about how alike their rows are, and as not less than not at all: large ones vary more.
    most = {0.0: 3.0, 0.3: 1.3, 0.9: 1.15}[icc]
    assert min(of_size.values()) > 0.85, of_size
    assert max(of_size.values()) < most, of_size


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
