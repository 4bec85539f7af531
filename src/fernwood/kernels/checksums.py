"""Checksums of many columns at once: BLAKE2b of eight bytes, a column in every lane of the processor's vectors.

The same numbers as ``hashlib.blake2b(column, digest_size=8)``, little-endian; a call of that for every column of a wide
table takes three times as long. Columns are hashed in groups of `_LANES`: every word of the hash's state is an array
over the lanes, so that one round over all lanes is a loop that compilers turn into vector instructions.
"""

from __future__ import annotations

import numpy as np

from fernwood.kernels.jit import njit, njit_inner

__all__ = ["checksum_columns"]

_LANES = 64
_BLOCK = 128  # bytes that one round of hashing takes in
_WORDS = 16  # of a block
_PARAMETERS = np.uint64(0x01010000 ^ 8)  # no key, a digest of eight bytes
_START = np.array(
    [
        0x6A09E667F3BCC908,
        0xBB67AE8584CAA73B,
        0x3C6EF372FE94F82B,
        0xA54FF53A5F1D36F1,
        0x510E527FADE682D1,
        0x9B05688C2B3E6C1F,
        0x1F83D9ABFB41BD6B,
        0x5BE0CD19137E2179,
    ],
    np.uint64,
)
_ORDER = np.array(  # in which order the words of a block enter, round by round (RFC 7693, section 2.7)
    [
        [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15],
        [14, 10, 4, 8, 9, 15, 13, 6, 1, 12, 0, 2, 11, 7, 5, 3],
        [11, 8, 12, 0, 5, 2, 15, 13, 10, 14, 3, 6, 7, 1, 9, 4],
        [7, 9, 3, 1, 13, 12, 11, 14, 2, 6, 5, 10, 4, 0, 15, 8],
        [9, 0, 5, 7, 2, 4, 10, 15, 14, 1, 11, 12, 6, 8, 3, 13],
        [2, 12, 6, 10, 0, 11, 8, 3, 4, 13, 7, 5, 15, 14, 1, 9],
        [12, 5, 1, 15, 14, 13, 4, 10, 0, 7, 6, 3, 9, 2, 8, 11],
        [13, 11, 7, 14, 12, 1, 3, 9, 5, 0, 15, 4, 8, 6, 2, 10],
        [6, 15, 14, 9, 11, 3, 0, 8, 12, 2, 13, 7, 1, 4, 10, 5],
        [10, 2, 8, 4, 7, 6, 1, 5, 15, 11, 9, 14, 3, 12, 13, 0],
    ],
    np.uint64,
)
_ROUNDS = 12


@njit
def checksum_columns(codes, out):
    """Fill `out` with the checksum of every column.

    Parameters
    ----------
    codes : uint8 array, shape (columns, rows), C order
    out : uint64 array, one a column
    """
    n_columns, size = codes.shape
    state = np.empty((_WORDS, _LANES), np.uint64)
    message = np.empty((_WORDS, _LANES), np.uint64)
    chain = np.empty((8, _LANES), np.uint64)
    block = np.zeros((_LANES, _BLOCK), np.uint8)
    n_blocks = max(1, (size + _BLOCK - 1) // _BLOCK)
    for first in range(0, n_columns, _LANES):
        lanes = min(_LANES, n_columns - first)
        for word in range(8):
            for lane in range(_LANES):
                chain[word, lane] = _START[word]
        for lane in range(_LANES):
            chain[0, lane] ^= _PARAMETERS
        for i in range(n_blocks):
            begin = i * _BLOCK
            end = min(begin + _BLOCK, size)
            _take_in(codes, first, lanes, begin, end, block, message)
            for word in range(8):
                for lane in range(_LANES):
                    state[word, lane] = chain[word, lane]
                    state[word + 8, lane] = _START[word]
            for lane in range(_LANES):
                state[12, lane] ^= np.uint64(end)
            if i == n_blocks - 1:
                for lane in range(_LANES):
                    state[14, lane] = ~state[14, lane]
            for turn in range(_ROUNDS):
                _turn(state, message, _ORDER[turn % 10])
            for word in range(8):
                for lane in range(_LANES):
                    chain[word, lane] ^= state[word, lane] ^ state[word + 8, lane]
        for lane in range(lanes):
            out[first + lane] = chain[0, lane]


@njit(inline="always")
def _take_in(codes, first, lanes, begin, end, block, message):
    """The bytes of a block of every lane as words, zeros behind the end of a column."""
    if end - begin < _BLOCK:
        block[:] = 0
        for lane in range(lanes):
            for i in range(end - begin):
                block[lane, i] = codes[first + lane, begin + i]
    else:
        for lane in range(lanes):
            for i in range(_BLOCK):
                block[lane, i] = codes[first + lane, begin + i]
    words = block.view(np.uint64)
    for word in range(_WORDS):
        for lane in range(_LANES):
            message[word, lane] = words[lane, word]


@njit_inner
def _mixed(a, b, c, d, x, y):
    """Four words of the state after two words of the message."""
    a = a + b + x
    d = d ^ a
    d = (d >> np.uint64(32)) | (d << np.uint64(32))
    c = c + d
    b = b ^ c
    b = (b >> np.uint64(24)) | (b << np.uint64(40))
    a = a + b + y
    d = d ^ a
    d = (d >> np.uint64(16)) | (d << np.uint64(48))
    c = c + d
    b = b ^ c
    b = (b >> np.uint64(63)) | (b << np.uint64(1))
    return a, b, c, d


@njit(inline="always")
def _turn(state, message, order):
    """One round over all lanes: the columns of the 4 × 4 words of the state, then its diagonals."""
    m0, m1, m2, m3, m4, m5, m6, m7 = order[0], order[1], order[2], order[3], order[4], order[5], order[6], order[7]
    m8, m9, m10, m11, m12, m13, m14, m15 = (
        order[8],
        order[9],
        order[10],
        order[11],
        order[12],
        order[13],
        order[14],
        order[15],
    )
    for i in range(_LANES):
        v0, v1, v2, v3 = state[0, i], state[1, i], state[2, i], state[3, i]
        v4, v5, v6, v7 = state[4, i], state[5, i], state[6, i], state[7, i]
        v8, v9, v10, v11 = state[8, i], state[9, i], state[10, i], state[11, i]
        v12, v13, v14, v15 = state[12, i], state[13, i], state[14, i], state[15, i]
        v0, v4, v8, v12 = _mixed(v0, v4, v8, v12, message[m0, i], message[m1, i])
        v1, v5, v9, v13 = _mixed(v1, v5, v9, v13, message[m2, i], message[m3, i])
        v2, v6, v10, v14 = _mixed(v2, v6, v10, v14, message[m4, i], message[m5, i])
        v3, v7, v11, v15 = _mixed(v3, v7, v11, v15, message[m6, i], message[m7, i])
        v0, v5, v10, v15 = _mixed(v0, v5, v10, v15, message[m8, i], message[m9, i])
        v1, v6, v11, v12 = _mixed(v1, v6, v11, v12, message[m10, i], message[m11, i])
        v2, v7, v8, v13 = _mixed(v2, v7, v8, v13, message[m12, i], message[m13, i])
        v3, v4, v9, v14 = _mixed(v3, v4, v9, v14, message[m14, i], message[m15, i])
        state[0, i], state[1, i], state[2, i], state[3, i] = v0, v1, v2, v3
        state[4, i], state[5, i], state[6, i], state[7, i] = v4, v5, v6, v7
        state[8, i], state[9, i], state[10, i], state[11, i] = v8, v9, v10, v11
        state[12, i], state[13, i], state[14, i], state[15, i] = v12, v13, v14, v15
