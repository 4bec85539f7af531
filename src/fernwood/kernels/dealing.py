"""Shadows: columns with their values dealt anew to the rows."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from fernwood.kernels.jit import njit, njit_inner, njit_no_refcount
from fernwood.kernels.random import advance, next_bounded, next_unit

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["LIKELY", "Exchange", "deal_pieces", "permute_codes", "shuffle_whole"]

_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_MIX_1, _MIX_2 = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)
_S27, _S30, _S31 = np.uint64(27), np.uint64(30), np.uint64(31)
LIKELY = 0.2
"""How alike the rows of a group are assumed to be where it is asked how much a group says about just that."""
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


class Exchange(NamedTuple):
    """Which groups of rows exchange their values, and which rows of theirs do so with which.

    The rows of a group in one stratum are a piece. Pieces of a block that lie in the same stratum follow each other, in
    the order of their groups::

        block           A               B
        stratum         0       1       1
        pieces          0 1 2   3 4 5   6 7        groups 0, 1 and 2 have rows in both strata, 3 and 4 in one
        pieces of group 0       3                  they exchange places 0, 1, 2 and 3, 4, 5 in the same way

    Attributes
    ----------
    rows : int64 array; the rows, piece by piece
    piece : int64 array; where in `rows` a piece begins, and the end
    stratum : int64 array; of every piece
    n_strata : int
    run : int64 array; for every piece, the number of the pieces of one block and stratum that it belongs to
    first : int64 array; the first piece of every run
    group : int64 array; where in `parts` the pieces of a group begin, and the end
    parts : int64 array; pieces, group by group
    block : int64 array; the first group of every block, and the end
    uneven : bool; whether groups of a block have different numbers of rows
    """

    rows: NDArray[np.int64]
    piece: NDArray[np.int64]
    stratum: NDArray[np.int64]
    n_strata: int
    run: NDArray[np.int64]
    first: NDArray[np.int64]
    group: NDArray[np.int64]
    parts: NDArray[np.int64]
    block: NDArray[np.int64]
    uneven: bool


@njit
def deal_pieces(codes, addresses, exchange, out):
    """Every column permuted in groups: the rows of a group take the values of the rows of one other group.

    In a block, every group takes the place of another one, in all strata of both. Its values are cut to length, or
    repeated in turn, where the other has fewer or more rows; they come in a random order.

    Parameters
    ----------
    codes : uint8 array, shape (columns, rows)
    addresses : uint64 array; one a column
    exchange : Exchange
    out : uint8 array, filled; not `codes` itself
    """
    rows, piece, group, block = exchange.rows, exchange.piece, exchange.group, exchange.block
    state = np.empty(4, np.uint64)
    order = np.empty(group.shape[0] - 1, np.int64)
    inside = np.empty(rows.shape[0], np.int64)
    place = np.empty(exchange.first.shape[0], np.int64)
    sums, middle = np.empty((2, piece.shape[0])), np.empty((2, exchange.n_strata))
    for j in range(codes.shape[0]):
        _spread(addresses[j], state)
        likeness = _likeness(codes[j], exchange, sums, middle) if exchange.uneven else 0.0
        for run in range(place.shape[0]):
            place[run] = exchange.first[run]
        for b in range(block.shape[0] - 1):
            groups = order[block[b] : block[b + 1]]
            for k in range(groups.shape[0]):
                groups[k] = block[b] + k
            shuffle_whole(state, groups)
            for g in groups:
                for part in range(group[g], group[g + 1]):
                    source = exchange.parts[part]
                    run = exchange.run[source]
                    to = place[run]
                    place[run] += 1
                    last = exchange.first[run + 1] if run + 1 < place.shape[0] else piece.shape[0] - 1
                    others = rows[piece[exchange.first[run]] : piece[last]]
                    givers, takers = rows[piece[source] : piece[source + 1]], rows[piece[to] : piece[to + 1]]
                    _hand_over(state, codes[j], givers, takers, others, likeness, inside, out[j])


@njit_inner
def _likeness(codes, exchange, sums, middle):
    """How alike the codes of a piece are: what two of its rows have in common, as a share of the variance; 0 at least.

    Pieces count by how well they would tell were the share 0.2, so that one very large group does not decide it; codes
    are taken about the mean of their stratum.

    Parameters
    ----------
    codes : uint8 array; of a column
    exchange : Exchange
    sums, middle : float64 arrays, shape (2, pieces) and (2, strata); overwritten
    """
    rows, piece, stratum = exchange.rows, exchange.piece, exchange.stratum
    middle[:] = 0
    for p in range(stratum.shape[0]):
        total, squares = 0.0, 0.0
        for i in range(piece[p], piece[p + 1]):
            code = np.float64(codes[rows[i]])
            total += code
            squares += code * code
        sums[0, p], sums[1, p] = total, squares
        n = np.float64(piece[p + 1] - piece[p])
        weight = 1 / (LIKELY + (1 - LIKELY) / n)
        middle[0, stratum[p]] += weight * total / n
        middle[1, stratum[p]] += weight
    common, whole, weights, unknown = 0.0, 0.0, 0.0, 0.0
    for p in range(stratum.shape[0]):
        n = np.float64(piece[p + 1] - piece[p])
        if n < 2:
            continue
        weight = 1 / (LIKELY + (1 - LIKELY) / n)
        told = middle[1, stratum[p]]
        mean = middle[0, stratum[p]] / told
        total, squares = sums[0, p], sums[1, p]
        about = squares - 2 * mean * total + n * mean * mean
        beside = (total - n * mean) ** 2 - about
        common += weight * weight * beside / (n * (n - 1))
        whole += weight * weight * about / n
        # The mean is in part made of these rows, by which all come too near to each other.
        unknown += weight * weight / told
        weights += weight * weight
    if whole <= 0:
        return 0.0
    lost = unknown / weights
    share = common / whole
    return min(max(share + lost * (1 - share), 0.0), 1.0)


@njit_inner
def _hand_over(state, codes, givers, takers, others, likeness, inside, out):
    """The values of some rows to others, in a random order; where they are too few, some again and some of any rows."""
    n, wanted = givers.shape[0], takers.shape[0]
    members = inside[:n]
    for i in range(n):
        members[i] = givers[i]
    shuffle_whole(state, members)
    if wanted > n:
        members = inside[:wanted]
        known = n + _repeats(state, n, wanted, likeness)
        for i in range(n, known):
            members[i] = members[i - n]
        for i in range(known, wanted):
            members[i] = others[next_bounded(state, others.shape[0])]
        shuffle_whole(state, members)
    for i in range(wanted):
        out[takers[i]] = codes[members[i]]


@njit_inner
def _repeats(state, n, wanted, likeness):
    """How many values of a group of `n` rows come again where more are wanted; the others are those of any rows.

    The sum over a group is to vary as over one that has as many rows by nature: as ρ · wanted² + (1 − ρ) · wanted,
    where rows of a group correlate by ρ. With repeated values it varies more, with those of any rows less.
    """
    aim = likeness * wanted * wanted + (1 - likeness) * wanted
    low, high = 0, wanted - n
    if _variance(high, n, wanted, likeness) <= aim:
        return high
    while high - low > 1:
        middle = (low + high) // 2
        if _variance(middle, n, wanted, likeness) <= aim:
            low = middle
        else:
            high = middle
    least, most = _variance(low, n, wanted, likeness), _variance(high, n, wanted, likeness)
    return high if least + next_unit(state) * (most - least) < aim else low


@njit_inner
def _variance(repeats, n, wanted, likeness):
    """Of the sum over a group whose values come once, some of them again, and the rest from any rows."""
    known = n + repeats
    times, more = known // n, known % n
    squares = n * times * times + more * (2 * times + 1)
    return likeness * known * known + (1 - likeness) * squares + (wanted - known)


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
