"""Following rows down a tree, and what the splits of a tree are worth on rows that it did not grow on."""

from __future__ import annotations

import math

import numpy as np

from fernwood.kernels.jit import njit, njit_inner, njit_no_refcount

__all__ = [
    "add_entries",
    "add_gains",
    "branch_of",
    "fair_decrease",
    "fair_decreases",
    "find_leaves",
    "find_leaves_permuted",
]

_MISSING = 255
_UNLIKELY = 1e-30
"""Beside the likeliest; what is beyond adds nothing to a double."""


@njit_no_refcount
def add_gains(column, gain, weight, out):
    """Add to every column the gains of the nodes that it splits, as shares of a weight."""
    for node in range(column.shape[0]):
        if column[node] >= 0:
            out[column[node]] += gain[node]
    for j in range(out.shape[0]):
        out[j] /= weight


@njit_no_refcount
def branch_of(nodes, node, code):
    """The node that a code leads to from a node that is no leaf."""
    child = np.int64(nodes.child[node])
    if code == _MISSING:
        return child + nodes.missing[node]
    if nodes.route[node] >= 0:
        return child + nodes.routes[nodes.route[node], code]
    return child + (1 if code > nodes.cut[node] else 0)


@njit_inner
def _walk(nodes, codes, rows, permuted, others, out):
    column = nodes.column
    for i in range(rows.shape[0]):
        node = 0
        while column[node] >= 0:
            row = others[i] if column[node] == permuted else rows[i]
            node = branch_of(nodes, node, codes[column[node], row])
        out[i] = node


@njit
def find_leaves(nodes, codes, rows):
    """The leaf of each of some rows; `codes` is uint8, shape (columns, rows of the table)."""
    return find_leaves_permuted(nodes, codes, rows, -1, rows)


@njit
def find_leaves_permuted(nodes, codes, rows, permuted, others):
    """`find_leaves` where row i of `rows` takes its code of the column `permuted` from row i of `others`."""
    out = np.empty(rows.shape[0], np.int32)
    _walk(nodes, codes, rows, permuted, others, out)
    return out


@njit_no_refcount
def add_entries(nodes, leaves, out):
    """Add the entries of the leaf of every row to `out`, shape (rows, classes) or (rows, 1)."""
    for i in range(leaves.shape[0]):
        for k in range(nodes.begin[leaves[i]], nodes.end[leaves[i]]):
            out[i, nodes.entry_class[k]] += nodes.entry_value[k]


@njit
def _expected_term(n, n_class, n_branch):
    """E[f(H)], f(x) = x log₂ x, H the rows of a class among `n_branch` of `n` rows drawn at random.

    Chances are taken from the likeliest number outwards, and divided by their sum: logarithms of factorials of many
    rows would leave less of what is looked for than it is.
    """
    first, last = max(0, n_branch + n_class - n), min(n_class, n_branch)
    middle = min(max(np.int64((n_class + 1.0) * (n_branch + 1.0) / (n + 2.0)), first), last)
    least, others = n - n_class - n_branch, 0.0
    expected, whole = middle * math.log2(max(middle, 1.0)), 1.0
    chance, h = 1.0, middle
    while h < last and chance > _UNLIKELY:
        chance *= (n_class - h) * (n_branch - h) / ((h + 1.0) * (least + h + 1.0))
        h += 1
        expected += chance * h * math.log2(np.float64(h))
        whole += chance
    chance, h = 1.0, middle
    while h > first and chance > _UNLIKELY:
        chance *= h * (least + h) / ((n_class - h + 1.0) * (n_branch - h + 1.0))
        h -= 1
        others += chance * h * math.log2(max(h, 1.0))
        whole += chance
    return (expected + others) / whole


@njit
def fair_decrease(tables, criterion, values):
    """The decrease of rows times impurity at one split, less what dealing the rows out at random would bring.

    Parameters
    ----------
    tables : float64 array, shape (branches, classes)
        Rows of every class in every branch. For `variance`: rows, sums and sums of squares in every branch, of values
        from near their mean.
    criterion : int
    values : bool
        Whether the target is numbers.
    """
    n_branches, n_classes = tables.shape
    if values:
        rows, total, squares, between, used = 0.0, 0.0, 0.0, 0.0, 0
        for b in range(n_branches):
            if tables[b, 0] > 0.0:
                rows += tables[b, 0]
                total += tables[b, 1]
                squares += tables[b, 2]
                between += tables[b, 1] * tables[b, 1] / tables[b, 0]
                used += 1
        if used < 2:
            return 0.0
        centre = total * total / rows
        return (between - centre) - (used - 1) * (squares - centre) / (rows - 1.0)
    n = tables.sum()
    if n < 2.0:
        return 0.0
    decrease = 0.0
    branches = tables.sum(axis=1)
    for c in range(n_classes):
        size = tables[:, c].sum()
        if size == 0.0:
            continue
        for b in range(n_branches):
            branch = branches[b]
            if branch == 0.0:
                continue
            h = tables[b, c]
            if criterion == 1:
                mean = branch * size / n
                spread = mean * (1.0 - size / n) * (n - branch) / (n - 1.0)
                decrease += (h * h - (spread + mean * mean)) / branch
            else:
                term = h * math.log2(h) if h > 0.0 else 0.0
                decrease += term - _expected_term(np.int64(n), np.int64(size), np.int64(branch))
    return decrease


@njit
def fair_decreases(nodes, codes, target, rows, criterion, n_columns):
    """`fair_decrease` of every split on some rows, added up by column and divided by the number of rows.

    Rows are dealt out from node to node, in their order, and only the classes that a node has are counted in it: memory
    grows with rows, not with nodes times classes.
    """
    column, child = nodes.column, nodes.child
    values = not target.classes
    n_labels = 0
    if target.classes:
        for row in rows:
            n_labels = max(n_labels, np.int64(target.labels[row]) + 1)
    place = np.full(n_labels, -1, np.int32)  # of a class among those of the node
    here, dealt = rows.copy(), np.empty_like(rows)
    branch = np.empty(rows.shape[0], np.uint8)
    begin, end = np.zeros(column.shape[0], np.int32), np.zeros(column.shape[0], np.int32)
    end[0] = rows.shape[0]
    out = np.zeros(n_columns)
    for node in range(column.shape[0]):
        first, last = begin[node], end[node]
        if column[node] < 0 or first == last:
            continue
        n_present = 3
        if not values:
            n_present = 0
            for i in range(first, last):
                label = target.labels[here[i]]
                if place[label] < 0:
                    place[label] = n_present
                    n_present += 1
        centre = 0.0
        if values:  # squares of values that are far from zero would leave little of what they differ in
            for i in range(first, last):
                centre += target.values[here[i]] / (last - first)
        tables = np.zeros((nodes.branches[node], n_present))
        sizes = np.zeros(nodes.branches[node], np.int32)
        for i in range(first, last):
            row = here[i]
            b = branch_of(nodes, node, codes[column[node], row]) - child[node]
            branch[i] = b
            sizes[b] += 1
            if values:
                y = target.values[row] - centre
                tables[b, 0] += 1.0
                tables[b, 1] += y
                tables[b, 2] += y * y
            else:
                tables[b, place[target.labels[row]]] += 1.0
        out[column[node]] += fair_decrease(tables, criterion, values)
        if not values:
            for i in range(first, last):
                place[target.labels[here[i]]] = -1
        start = first
        for b in range(nodes.branches[node]):
            begin[child[node] + b] = end[child[node] + b] = start
            start += sizes[b]
        for i in range(first, last):
            to = child[node] + branch[i]
            dealt[end[to]] = here[i]
            end[to] += 1
        here[first:last] = dealt[first:last]
    return out / rows.shape[0]
