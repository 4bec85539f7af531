"""Shadows: columns with their values dealt anew to the rows."""

from __future__ import annotations

import numpy as np

from fernwood.kernels.jit import njit, njit_inner, njit_no_refcount
from fernwood.kernels.random import advance

__all__ = ["deal_pieces", "permute_codes", "shuffle_whole"]

_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_MIX_1, _MIX_2 = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)
_S27, _S30, _S31 = np.uint64(27), np.uint64(30), np.uint64(31)
_LOW, _HALF, _TWO_32 = np.uint64(0xFFFFFFFF), np.uint64(32), np.uint64(2**32)


@njit
def permute_codes(codes, addresses, out):
    """The codes of every column dealt anew to the rows; the deal is drawn at the column's address, a uint64."""
    state = np.empty(4, np.uint64)
    for j in range(codes.shape[0]):
        _spread(addresses[j], state)
        for i in range(codes.shape[1]):
            out[j, i] = codes[j, i]
        shuffle_whole(state, out[j])


@njit
def deal_pieces(codes, addresses, rows, piece, stratum, out):
    """The codes of every column dealt anew in pieces of rows that stay together, within strata that keep theirs.

    The pieces of a stratum are put end to end in a random order, and the rows of a piece in a random order as well.
    Where pieces are of equal size, each takes the place of a whole other one.

    Parameters
    ----------
    codes : uint8 array, shape (columns, rows)
    addresses : uint64 array; one a column
    rows : int64 array; the rows, stratum by stratum and piece by piece
    piece : int64 array; where in `rows` a piece begins, and the end
    stratum : int64 array; with which piece a stratum begins, and the end
    out : uint8 array, filled; not `codes` itself
    """
    state = np.empty(4, np.uint64)
    order = np.empty(piece.shape[0] - 1, np.int64)
    inside = np.empty(rows.shape[0], np.int64)
    for j in range(codes.shape[0]):
        _spread(addresses[j], state)
        place = 0
        for s in range(stratum.shape[0] - 1):
            pieces = order[stratum[s] : stratum[s + 1]]
            for k in range(pieces.shape[0]):
                pieces[k] = stratum[s] + k
            shuffle_whole(state, pieces)
            for k in pieces:
                members = inside[: piece[k + 1] - piece[k]]
                for i in range(members.shape[0]):
                    members[i] = rows[piece[k] + i]
                shuffle_whole(state, members)
                for row in members:
                    out[j, rows[place]] = codes[j, row]
                    place += 1


@njit_no_refcount
def shuffle_whole(state, values):
    """All places dealt anew (Fisher and Yates); each half of a random word serves one place.

    As `random.next_bounded` draws, with the state in registers: shadows are dealt anew in every pass.
    """
    s0, s1, s2, s3 = state[0], state[1], state[2], state[3]
    half = word = np.uint64(0)
    for i in range(values.shape[0] - 1, 0, -1):
        size = np.uint64(i + 1)
        while True:
            if half:
                word >>= _HALF
            else:
                word, s0, s1, s2, s3 = advance(s0, s1, s2, s3)
            half ^= np.uint64(1)
            product = (word & _LOW) * size
            if (product & _LOW) >= size:
                break
            least = (_TWO_32 - size) % size
            if (product & _LOW) >= least:
                break
        other = np.int64(product >> _HALF)
        values[i], values[other] = values[other], values[i]
    state[0], state[1], state[2], state[3] = s0, s1, s2, s3


@njit_inner
def _spread(word, state):
    """One word spread over the four of a state (splitmix64)."""
    for k in range(4):
        word += _GOLDEN
        mixed = (word ^ (word >> _S30)) * _MIX_1
        mixed = (mixed ^ (mixed >> _S27)) * _MIX_2
        state[k] = mixed ^ (mixed >> _S31)
