"""How kernels are compiled that only use arrays which others own.

Numba counts who holds an array, by an atomic instruction whenever a function takes one and another when it lets go. A
function that gets some forty arrays in named tuples, once for every node of a tree, would spend more time on counting
than on a small node. A borrower does not count: it makes no arrays and returns none, and its caller holds those it
uses until it is done. Slices are borrowed too.
"""

from __future__ import annotations

from numba import njit

__all__ = ["borrowing"]

borrowing = njit(nogil=True, cache=True, error_model="numpy", _nrt=False)  # type: ignore[call-overload]
"""Decorates a kernel that makes no arrays and returns none; a division by zero is no error in it."""
