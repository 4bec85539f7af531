from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, strategies as st
from hypothesis.extra import numpy as hnp
from numpy.typing import NDArray

from fernwood.store import quantise as module
from fernwood.store.grid import unpack_grids
from fernwood.store.quantise import MISSING, bin_count, encode, quantise, representatives, thresholds
from tests.reference.quantiser import codes as reference_codes

RNG = np.random.default_rng(20)


def shapes_of_data(n: int) -> dict[str, NDArray[np.float64]]:
    """Columns of the sorts that people have."""
    normal = RNG.standard_normal(n)
    return {
        "continuous": normal,
        "rounded": np.round(normal, 2),
        "zero-inflated": np.where(RNG.random(n) < 0.6, 0.0, normal),
        "mostly one value": np.where(RNG.random(n) < 0.98, 1.0, normal),
        "two heavy values": np.choose(RNG.integers(0, 3, n), [np.zeros(n), np.ones(n), normal]),
        "counts": RNG.poisson(RNG.gamma(0.3, 300, n)).astype(float),
        "heavy tail": RNG.standard_cauchy(n),
        "huge and tiny": np.exp(RNG.uniform(-700, 700, n)) * RNG.choice([-1, 1], n),
        "denormal": np.cumsum(RNG.integers(1, 3, n)) * 5e-324,
        "near the largest": RNG.uniform(-1, 1, n) * np.finfo(float).max,
        "far from zero": 1e15 + np.round(1000 * normal),
        "with holes": np.where(RNG.random(n) < 0.2, np.nan, normal),
        "few values": RNG.integers(0, 7, n).astype(float),
        "constant": np.full(n, 3.5),
        "all missing": np.full(n, np.nan),
        "one value and holes": np.where(RNG.random(n) < 0.5, np.nan, 2.0),
    }


DATA = {(n, name): column for n in (1, 7, 255, 256, 300, 1500) for name, column in shapes_of_data(n).items()}


def check(column: NDArray[np.floating], bins: int) -> None:
    quantised = quantise(column[None], bins)
    codes, exact = quantised.codes[0], bool(quantised.exact[0])
    grid = unpack_grids(quantised.grids)[0]
    values = column.astype(float)
    present = ~np.isnan(values)
    n_codes = int(quantised.n_codes[0])

    assert codes.tolist() == reference_codes(values.tolist(), bins)
    assert exact == (len(np.unique(values[present])) <= 255)
    assert quantised.n_missing[0] == np.count_nonzero(~present)
    assert (codes[~present] == MISSING).all()
    assert set(codes[present].tolist()) == set(range(n_codes))
    edges = thresholds(grid, exact)
    assert len(edges) == max(n_codes - 1, 0)
    bounds = np.concatenate(([-np.inf], edges, [np.inf]))
    inside = codes[present].astype(int)
    assert (bounds[inside] < values[present]).all()
    assert (values[present] <= bounds[inside + 1]).all()
    centres = representatives(grid, exact)
    assert len(centres) == n_codes
    assert np.isfinite(centres).all()
    if exact:
        np.testing.assert_array_equal(centres[inside], values[present])
    else:
        assert n_codes <= bins
        assert grid[0] <= values[present].min() <= values[present].max() <= grid[-1]
    np.testing.assert_array_equal(encode(column[None], quantised.grids, quantised.exact)[0], codes)


@pytest.mark.parametrize("bins", [8, 41, 255])
@pytest.mark.parametrize("key", DATA, ids=lambda key: f"{key[1]}-{key[0]}")
def test_codes_equal_the_reference_and_lie_between_thresholds(key: tuple[int, str], bins: int) -> None:
    check(DATA[key], bins)
    with np.errstate(over="ignore"):
        narrow = DATA[key].astype(np.float32)
    if np.isfinite(narrow[~np.isnan(narrow)]).all():
        check(narrow, bins)


@given(
    hnp.arrays(
        st.sampled_from([np.float32, np.float64]),
        st.tuples(st.integers(0, 4), st.integers(0, 600)),
        elements=st.floats(width=32, allow_infinity=False),
        fill=st.floats(-4, 4, width=32),
    )
)
def test_any_block_equals_its_columns_one_by_one(values: NDArray[np.floating]) -> None:
    together = quantise(values, 32)
    for i, column in enumerate(values):
        alone = quantise(column[None], 32)
        np.testing.assert_array_equal(alone.codes[0], together.codes[i])
        np.testing.assert_array_equal(unpack_grids(alone.grids)[0], unpack_grids(together.grids)[i])


@pytest.mark.parametrize("transform", [np.exp, lambda x: x**3 + 5 * x, lambda x: 1e6 + 3 * x])
@pytest.mark.parametrize("name", ["continuous", "rounded", "zero-inflated", "two heavy values", "with holes"])
def test_increasing_transforms_change_no_code(name: str, transform) -> None:
    column = DATA[1500, name]
    np.testing.assert_array_equal(quantise(transform(column)[None], 41).codes, quantise(column[None], 41).codes)


def test_blocks_of_the_sort_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    values = np.stack([DATA[1500, name] for name in shapes_of_data(2)])
    whole = quantise(values, 41)
    monkeypatch.setattr(module, "_CELLS_AT_A_TIME", 1)
    single = quantise(values, 41)
    for a, b in zip(whole[:4] + whole.grids, single[:4] + single.grids, strict=True):
        np.testing.assert_array_equal(a, b)


def test_any_nan_is_missing() -> None:
    """NaN has many bit patterns, some with the sign bit set."""
    bits = np.array([0x7FC00000, 0xFFC00000, 0x7FC00001, 0x3F800000, 0xFF800001], np.uint32)
    assert quantise(bits.view(np.float32)[None], 8).codes[0].tolist() == [255, 255, 255, 0, 255]


def test_a_heavy_value_has_a_bin_of_its_own() -> None:
    column = DATA[1500, "zero-inflated"]
    codes = quantise(column[None], 41).codes[0]
    zero = set(codes[column == 0].tolist())
    assert len(zero) == 1
    assert not zero & set(codes[column != 0].tolist())


def test_bins_are_even() -> None:
    sizes = np.bincount(quantise(DATA[1500, "continuous"][None], 41).codes[0])
    assert len(sizes) == 41
    assert sizes.max() - sizes.min() <= 1


def test_bin_counts() -> None:
    assert [bin_count(n) for n in (4, 767, 768, 1000, 6120, 10**7)] == [24, 31, 32, 41, 255, 255]
