"""Least squares on a basis of covariates: what is left of a target in cells of rows, and of columns on all rows.

Inside a cell, the target y is replaced by r = y − [1 B] β, where β minimises Σ w r² over the rows of the cell. Then
Σ w r f = 0 for every f that [1 B] can express, and so for that part of a column which the covariates explain. The sums
are those of the normal equations, row after row in double precision, so that no thread or library changes a bit.
"""

from __future__ import annotations

import numpy as np

from fernwood.kernels.jit import njit, njit_inner, njit_no_refcount

__all__ = ["divide", "fit_in_cells", "leave_over"]

_PAIRS, _LANES = 32, 64
"""Pairs of components that are looked at together, a lane for each component; lanes never mix."""
_HEIGHT = 128
"""Rows that are laid out together; sums of so many are in single precision, and in double from there on."""
_NOTHING = 1e-7
"""A term that those before it explain but for this share of its squares is left out of a cell."""


@njit(error_model="numpy")
def fit_in_cells(basis, levels, least, rows, start, weights, values, rows_a_term, left, shares):
    """What is left of the target in every cell, by weighted least squares on a constant and terms of the basis.

    All terms are fitted on all rows first, beside a constant for every cell. Then a cell fits again those of the finest
    level that leaves it so many rows for a term. A cell that has no room for the level `least` is left out: nothing is
    left of the target there.

    Parameters
    ----------
    basis : float32 array, shape (rows, terms); coarse terms first, orthonormal by weight
    levels : int64 array; how many terms a level has, in increasing order, the first one none
    least : which of the levels a cell needs
    rows : int64 array; all rows, cell after cell
    start : int64 array; where in `rows` a cell begins, and the end
    weights : float64 array; of all rows
    values : float64 array, shape (rows, targets); orthogonal to the basis by weight
    rows_a_term : rows of a cell for each of its terms
    left : float64 array, shape (targets, places in `rows`); filled
    shares : float32 array; to that of a level, the share of the weight is added that lies in cells of the level
    """
    n_targets, n_terms, n_cells = values.shape[1], basis.shape[1], start.shape[0] - 1
    mean, amount = np.zeros((n_cells, n_terms + n_targets)), np.zeros(n_cells)
    for cell in range(n_cells):
        for i in range(start[cell], start[cell + 1]):
            row = rows[i]
            w = weights[row]
            amount[cell] += w
            for t in range(n_terms):
                mean[cell, t] += w * basis[row, t]
            for k in range(n_targets):
                mean[cell, n_terms + k] += w * values[row, k]
    # Σ w (B − b̄)(B − b̄)ᵀ = 1 − Σ over cells of W b̄ b̄ᵀ, and Σ w (B − b̄)(y − ȳ) = −Σ W b̄ ȳ.
    gram, beta = np.zeros((n_terms, n_terms + n_targets)), np.zeros((n_terms, n_targets))
    for cell in range(n_cells):
        if amount[cell] > 0:
            for t in range(n_terms + n_targets):
                mean[cell, t] /= amount[cell]
            for a in range(n_terms):
                x = amount[cell] * mean[cell, a]
                for b in range(a, n_terms + n_targets):
                    gram[a, b] -= x * mean[cell, b]
    for a in range(n_terms):
        gram[a, a] += 1.0
    _solve(gram, n_terms, np.ones(n_terms), beta)

    most = levels[levels.shape[0] - 1] + 1
    width = most + n_targets
    inner, own, term = np.empty((most, width)), np.empty((most, n_targets)), np.empty(width)
    total = 0.0
    for cell in range(n_cells):
        first, end = start[cell], start[cell + 1]
        for i in range(first, end):
            row = rows[i]
            for k in range(n_targets):
                x = values[row, k] - mean[cell, n_terms + k]
                for t in range(n_terms):
                    x -= (basis[row, t] - mean[cell, t]) * beta[t, k]
                left[k, i] = x
        level = 0
        while level + 1 < levels.shape[0] and (levels[level + 1] + 1) * rows_a_term <= end - first:
            level += 1
        if level < least:
            for i in range(first, end):
                for k in range(n_targets):
                    left[k, i] = 0.0
            continue
        total += amount[cell]
        shares[level] += np.float32(amount[cell])
        n = levels[level] + 1
        for a in range(n):
            for b in range(n + n_targets):
                inner[a, b] = 0.0
        term[0] = 1.0
        for i in range(first, end):
            row = rows[i]
            for a in range(1, n):
                term[a] = basis[row, a - 1] - mean[cell, a - 1]
            for k in range(n_targets):
                term[n + k] = left[k, i]
            for a in range(n):
                x = weights[row] * term[a]
                for b in range(a, n + n_targets):
                    inner[a, b] += x * term[b]
        for a in range(n):
            term[a] = inner[a, a]
        _solve(inner, n, term, own)
        for i in range(first, end):
            row = rows[i]
            for k in range(n_targets):
                x = left[k, i] - own[0, k]
                for a in range(1, n):
                    x -= (basis[row, a - 1] - mean[cell, a - 1]) * own[a, k]
                left[k, i] = x
    for level in range(levels.shape[0]):
        if total > 0:
            shares[level] /= np.float32(total)


@njit_inner
def _solve(gram, n, before, beta):
    """Solve normal equations by elimination; `gram` has the right sides behind its `n` columns and is overwritten.

    Rows are not exchanged: coarse terms are first, and a term that they explain but for next to nothing of `before`,
    its sum of squares, takes no part.
    """
    for a in range(n):
        if gram[a, a] <= _NOTHING * before[a]:
            gram[a, a] = 0.0
            continue
        for c in range(a + 1, n):
            x = gram[a, c] / gram[a, a]
            for b in range(c, n + beta.shape[1]):
                gram[c, b] -= x * gram[a, b]
    for a in range(n - 1, -1, -1):
        for k in range(beta.shape[1]):
            x = gram[a, n + k]
            for b in range(a + 1, n):
                x -= gram[a, b] * beta[b, k]
            beta[a, k] = x / gram[a, a] if gram[a, a] > 0 else 0.0


@njit(error_model="numpy")
def leave_over(codes, owner, table, basis, levels, strata, amounts, weights, spread, out):
    """What is left of pairs of components after every level of a basis whose terms are orthonormal.

    Of a component φ with mean zero in every stratum, e = φ − Bβ with β = Σ w φ B is left, and the sums of v e₁²,
    v e₁e₂ and v e₂² over the rows say how much; v is how much the target spreads there.

    Parameters
    ----------
    codes : uint8 array, shape (columns, rows)
    owner : int64 array; the column of every pair
    table : float32 array, shape (pairs, 256, 2); what codes stand for
    basis : float32 array, shape (rows, terms); with mean zero in every stratum, and orthonormal, both by weight
    levels : int64 array; as for `fit_in_cells`
    strata : int32 array; of the rows
    amounts : float64 array; the weight of every stratum
    weights, spread : float64 arrays; of the rows
    out : float64 array, shape (pairs, levels, 3); filled
    """
    n_pairs, n_rows, n_terms, n_strata = owner.shape[0], codes.shape[1], basis.shape[1], amounts.shape[0]
    tile = np.empty((_HEIGHT, _LANES), np.float32)
    mean, beta = np.empty((n_strata, _LANES)), np.empty((n_terms, _LANES))
    means, betas = np.empty((n_strata, _LANES), np.float32), np.empty((n_terms, _LANES), np.float32)
    few, part = np.empty(_LANES, np.float32), np.empty((3, _PAIRS), np.float32)
    sums = np.empty((levels.shape[0], 3, _PAIRS))
    for first in range(0, n_pairs, _PAIRS):
        mean[:] = 0
        beta[:] = 0
        sums[:] = 0
        for low in range(0, n_rows, _HEIGHT):
            high = min(low + _HEIGHT, n_rows)
            _lay_out(codes, owner, table, first, low, high, tile)
            for i in range(low, high):
                w, s = weights[i], strata[i]
                for j in range(_LANES):
                    mean[s, j] += w * tile[i - low, j]
            for t in range(n_terms):
                few[:] = 0
                for i in range(low, high):
                    b = np.float32(weights[i]) * basis[i, t]
                    for j in range(_LANES):
                        few[j] += b * tile[i - low, j]
                for j in range(_LANES):
                    beta[t, j] += few[j]
        for s in range(n_strata):
            for j in range(_LANES):
                means[s, j] = mean[s, j] / amounts[s] if amounts[s] > 0 else 0.0
        for t in range(n_terms):
            for j in range(_LANES):
                betas[t, j] = beta[t, j]
        for low in range(0, n_rows, _HEIGHT):
            high = min(low + _HEIGHT, n_rows)
            _lay_out(codes, owner, table, first, low, high, tile)
            for i in range(low, high):
                s = strata[i]
                for j in range(_LANES):
                    tile[i - low, j] -= means[s, j]
            done = 0
            for level in range(levels.shape[0]):
                for i in range(low, high):
                    for t in range(done, levels[level]):
                        b = basis[i, t]
                        for j in range(_LANES):
                            tile[i - low, j] -= b * betas[t, j]
                done = levels[level]
                part[:] = 0
                for i in range(low, high):
                    v = np.float32(spread[i])
                    for j in range(_PAIRS):
                        x, y = tile[i - low, j], tile[i - low, _PAIRS + j]
                        part[0, j] += v * x * x
                        part[1, j] += v * x * y
                        part[2, j] += v * y * y
                for k in range(3):
                    for j in range(_PAIRS):
                        sums[level, k, j] += part[k, j]
        for j in range(min(_PAIRS, n_pairs - first)):
            for level in range(levels.shape[0]):
                for k in range(3):
                    out[first + j, level, k] = sums[level, k, j]


@njit_inner
def _lay_out(codes, owner, table, first, low, high, tile):
    """The components of some pairs for the rows from `low` to `high`: first components, and then second ones."""
    for j in range(_PAIRS):
        pair = min(first + j, owner.shape[0] - 1)
        column, values = codes[owner[pair]], table[pair]
        for i in range(low, high):
            tile[i - low, j] = values[column[i], 0]
            tile[i - low, _PAIRS + j] = values[column[i], 1]


@njit_no_refcount
def divide(scores, left, shares):
    """Scores over what is left of columns in contexts, on average over the levels of their cells; in place.

    Parameters
    ----------
    scores : float32 array, shape (columns, contexts, 2)
    left : float32 array, shape (columns, levels, 2)
    shares : float32 array, shape (contexts, levels)
    """
    for j in range(scores.shape[0]):
        for c in range(scores.shape[1]):
            for k in range(2):
                over = np.float32(0)
                for level in range(shares.shape[1]):
                    over += left[j, level, k] * shares[c, level]
                if over > 0:
                    scores[j, c, k] /= over
