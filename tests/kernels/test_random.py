"""The kernels' generator: known words, no bias, and sampling."""

from __future__ import annotations

import numpy as np

from fernwood import seeds
from fernwood.kernels.random import next_bounded, next_unit, next_word, sample_with_replacement, shuffle


def slow_words(state: list[int], n: int) -> list[int]:
    """xoshiro256++ on Python integers."""
    mask = 2**64 - 1
    s = list(state)

    def rotate(x: int, k: int) -> int:
        return ((x << k) | (x >> (64 - k))) & mask

    out = []
    for _ in range(n):
        out.append((rotate((s[0] + s[3]) & mask, 23) + s[0]) & mask)
        t = (s[1] << 17) & mask
        s[2] ^= s[0]
        s[3] ^= s[1]
        s[1] ^= s[2]
        s[0] ^= s[3]
        s[2] ^= t
        s[3] = rotate(s[3], 45)
    return out


def test_words_are_those_of_the_slow_generator() -> None:
    state = seeds.state(0, 1)
    assert [int(next_word(state)) for _ in range(100)] == slow_words(seeds.state(0, 1).tolist(), 100)
    state = np.array([1, 2, 3, 4], np.uint64)
    assert [int(next_word(state)) for _ in range(2)] == [41943041, 58720359]


def test_bounded_integers_are_uniform() -> None:
    """Chi-square with 6 degrees of freedom above 27.9 happens once in ten thousand."""
    state = seeds.state(0, 2)
    found = np.bincount([next_bounded(state, 7) for _ in range(7000)], minlength=7)
    assert len(found) == 7
    assert ((found - 1000) ** 2 / 1000).sum() < 27.9


def test_a_large_bound_has_no_bias() -> None:
    """Below 3·2³⁰, modulo would give the lower third twice the chance; 3000 draws, four standard deviations."""
    state = seeds.state(0, 3)
    low = sum(next_bounded(state, 3 * 2**30) < 2**30 for _ in range(3000))
    assert abs(low - 1000) < 4 * np.sqrt(3000 * 2 / 9)


def test_units_lie_in_range() -> None:
    state = seeds.state(0, 4)
    found = np.array([next_unit(state) for _ in range(2000)])
    assert found.min() >= 0
    assert found.max() < 1
    assert abs(found.mean() - 0.5) < 4 / np.sqrt(12 * 2000)


def test_shuffles_and_samples() -> None:
    values = np.arange(50, dtype=np.int32)
    shuffle(seeds.state(0, 5), values, 50)
    assert sorted(values.tolist()) == list(range(50))
    assert values.tolist() != list(range(50))
    out = np.empty(500, np.int32)
    sample_with_replacement(seeds.state(0, 6), 50, out)
    assert set(out.tolist()) <= set(range(50))
    assert 20 < len(set(out.tolist())) <= 50
