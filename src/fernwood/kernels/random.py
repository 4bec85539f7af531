"""Random numbers inside kernels: xoshiro256++, its state four words that the caller owns.

A state comes from `fernwood.seeds.state`, so that every stream has an address. Bounded integers are drawn without bias
by multiplication, drawing again for the few products that would favour some values (Lemire 2019).
"""

from __future__ import annotations

import numpy as np

from fernwood.kernels.jit import njit_no_refcount

__all__ = ["advance", "next_bounded", "next_unit", "next_word", "sample_with_replacement", "shuffle"]

_LOW = np.uint64(0xFFFFFFFF)
_HALF = np.uint64(32)
_S11 = np.uint64(11)
_S17, _S19 = np.uint64(17), np.uint64(19)
_S23, _S41 = np.uint64(23), np.uint64(41)
_S45 = np.uint64(45)
_TWO_32 = np.uint64(2**32)
_UNIT = 2.0**-53


@njit_no_refcount
def advance(s0, s1, s2, s3):
    """The next 64 random bits of a state held in registers, and the state after."""
    total = s0 + s3
    word = ((total << _S23) | (total >> _S41)) + s0
    t = s1 << _S17
    s2 ^= s0
    s3 ^= s1
    s1 ^= s2
    s0 ^= s3
    s2 ^= t
    s3 = (s3 << _S45) | (s3 >> _S19)
    return word, s0, s1, s2, s3


@njit_no_refcount
def next_word(state):
    """The next 64 random bits; `state` is a uint64 array of four, not all zero, and moves on."""
    word, state[0], state[1], state[2], state[3] = advance(state[0], state[1], state[2], state[3])
    return word


@njit_no_refcount
def next_bounded(state, bound):
    """A uniform integer in [0, bound), for a bound of 1 to 2³²."""
    size = np.uint64(bound)
    product = (next_word(state) >> _HALF) * size
    if (product & _LOW) < size:
        least = (_TWO_32 - size) % size
        while (product & _LOW) < least:
            product = (next_word(state) >> _HALF) * size
    return np.int64(product >> _HALF)


@njit_no_refcount
def next_unit(state):
    """A uniform double in [0, 1): 53 random bits."""
    return np.float64(next_word(state) >> _S11) * _UNIT


@njit_no_refcount
def shuffle(state, values, n):
    """Draw the first `n` places of `values` without replacement from all of it, in place (Fisher and Yates)."""
    for i in range(n):
        j = i + next_bounded(state, values.shape[0] - i)
        values[i], values[j] = values[j], values[i]


@njit_no_refcount
def sample_with_replacement(state, bound, out):
    """Fill `out` with uniform integers in [0, bound)."""
    for i in range(out.shape[0]):
        out[i] = next_bounded(state, bound)
