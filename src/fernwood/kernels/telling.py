"""What scores tell: about 1/p in every context, and the sum of that over contexts.

A score is about a scaled chi-square variable; its cube root is about normal (Wilson and Hilferty 1931). Cube root and
exponential are written out in additions, multiplications and divisions of single precision, in one order, so that
every processor, and every device, gives the same bits.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from fernwood.kernels.jit import njit_no_refcount

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["Chances", "add_up", "tell"]

_AT_ONCE = 512
_THIRD, _THIRD_OF_BIAS = np.float32(1 / 3), np.int32(709_921_077)
"""A third of the bits of a number, and this, are the bits of about its cube root."""
_SMALLEST = np.float32(1e-30)
_HIGHEST = np.float32(12)
"""Standard deviations beyond which one context tells no more."""
_ZERO, _HALF, _ONE = np.float32(0), np.float32(0.5), np.float32(1)
_PER_LN2 = np.float32(1.44269504)
_LN2_HIGH, _LN2_LOW = np.float32(0.693359375), np.float32(-2.12194440e-4)
"""The logarithm of two in two parts, the first of few bits, so that a whole number times it is exact."""
_T7, _T6, _T5 = np.float32(1 / 5040), np.float32(1 / 720), np.float32(1 / 120)
_T4, _T3, _T2 = np.float32(1 / 24), np.float32(1 / 6), np.float32(1 / 2)
_MANTISSA = np.int32(23)


class Chances(NamedTuple):
    """What chance does to scores; float32 arrays of shape (contexts, scores).

    Attributes
    ----------
    scale : the mean of a score by chance
    middle, width : mean and standard deviation of the cube root of a score in units of `scale`; an infinite width where
        every score is nothing
    """

    scale: NDArray[np.float32]
    middle: NDArray[np.float32]
    width: NDArray[np.float32]


def tell(scores: NDArray[np.float32], chances: Chances, out: NDArray[np.float32]) -> None:
    """About 1/p of every column in every context: the mean over the scores that a column has there.

    Parameters
    ----------
    scores : float32 array, shape (columns, contexts, scores)
    chances
    out : float32 array, shape (columns, contexts), C order; filled
    """
    n_columns, n_contexts, n_scores = scores.shape
    a_column = n_contexts * n_scores
    if n_columns == 0 or a_column == 0:
        return
    # Many numbers together, whole columns: short loops would be all overhead.
    together = max(1, _AT_ONCE // a_column)
    scale, middle, width = (np.tile(part.reshape(-1), together) for part in chances)
    share, told = np.empty((2, together * a_column), np.float32)
    power = np.empty(together * a_column, np.int32)
    # The kernel takes numbers for bits and back: another type of the same array is cheap to make here.
    bits, root = share.view(np.int32), told.view(np.int32)
    _tell(scores.reshape(-1), n_scores, scale, middle, width, share, bits, told, root, power, out.reshape(-1))


@njit_no_refcount
def _tell(scores, n_scores, scale, middle, width, share, bits, told, root, power, out):
    """exp(z²/2) for the z of every score, and the mean over the scores of a column in a context.

    `bits` are those of `share`, `root` those of `told`. A few loops over short arrays, none of which reads what it
    writes as another type: those run in vectors.
    """
    times = _ONE / np.float32(n_scores)
    place = 0
    for first in range(0, scores.shape[0], scale.shape[0]):
        n = min(scale.shape[0], scores.shape[0] - first)
        for i in range(n):
            part = scores[first + i] / scale[i]
            share[i] = part if part > _SMALLEST else _SMALLEST  # noqa: FURB136  (no number, and it is nothing)
        for i in range(n):
            root[i] = np.int32(np.float32(bits[i]) * _THIRD) + _THIRD_OF_BIAS
        for i in range(n):
            x, y = share[i], told[i]
            # Twice the step of Halley, which makes of an error its cube.
            cube = y * y * y
            y = y * ((cube + (x + x)) / ((cube + cube) + x))
            cube = y * y * y
            y = y * ((cube + (x + x)) / ((cube + cube) + x))
            z = (y - middle[i]) / width[i]
            z = min(max(z, _ZERO), _HIGHEST)
            share[i] = _HALF * z * z
        for i in range(n):
            x = share[i]
            whole = np.int32(x * _PER_LN2 + _HALF)
            power[i] = whole << _MANTISSA
            many = np.float32(whole)
            r = (x - many * _LN2_HIGH) - many * _LN2_LOW
            series = _T3 + r * (_T4 + r * (_T5 + r * (_T6 + r * _T7)))
            told[i] = _ONE + (r + r * r * (_T2 + r * series))
        for i in range(n):
            root[i] += power[i]
        for at in range(0, n, n_scores):
            total = _ZERO
            for k in range(1, n_scores):
                total += told[at + k]
            out[place] = (total + told[at]) * times
            place += 1


@njit_no_refcount
def add_up(told, out):
    """The sum of every column over its contexts, in their order and in double precision; `out` is filled."""
    for j in range(told.shape[0]):
        total = 0.0
        for c in range(told.shape[1]):
            total += np.float64(told[j, c])
        out[j] = total
