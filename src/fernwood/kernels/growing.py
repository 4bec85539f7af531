"""Growing a tree: nodes are split, depth first, until they are pure, too small or too deep; the result is flat arrays.

The rows of a node are a stretch of one array, ordered by class. Splitting a node puts the rows of its branches one
behind the other, each in the order they had:

    rows     | 4  9 17 | 2  8 11 30 |          two classes in the node
    branch   | 0  1  0 | 1  1  0  1 |
    then     | 4 17 | 11 |   and   | 9 | 2  8 30 |
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from fernwood.kernels.impurity import COARSE, GAIN_RATIO, HEAVY, MEAN, ROW, UNIT, WHOLE, make_measure
from fernwood.kernels.jit import njit, njit_inner
from fernwood.kernels.predicting import add_gains
from fernwood.kernels.random import next_bounded
from fernwood.kernels.scale import look, make_seen
from fernwood.kernels.splitting import find_split, make_work, weigh_ratios
from fernwood.kernels.tables import CART, make_table

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from fernwood.kernels.histograms import Target
    from fernwood.kernels.impurity import Measure

__all__ = ["Nodes", "add_forest", "column_ratios", "grow_tree"]

_MISSING = 255
_FEW_ROWS = 4096
"""Nodes of at most so many have a measure of their own, whose grids are as fine as their entropies allow."""


class Nodes(NamedTuple):
    """A tree. Node 0 is the root; the branches of a node are neighbours and come after it.

    Attributes
    ----------
    column : int32 array; the column that splits a node, −1 in a leaf
    cut : uint8 array; codes up to it go to the first branch, others to the second, where there is no route
    missing : uint8 array; the branch of missing values
    route : int32 array; the row of `routes` that leads codes to branches, −1 where a cut does
    child : int32 array; the first branch of a node, −1 in a leaf
    branches : int32 array; how many branches a node has
    rows : int32 array; how many rows it grew on
    weight : float64 array; their weight
    gain : float64 array; decrease of weight times impurity
    begin, end : int32 arrays; the entries of a leaf
    entry_class : int32 array; the class of an entry (0 for numbers)
    entry_value : float64 array; the share of that class in its leaf, or the mean of the target
    routes : uint8 array, shape (routes, 256); the branch of every code
    """

    column: NDArray[np.int32]
    cut: NDArray[np.uint8]
    missing: NDArray[np.uint8]
    route: NDArray[np.int32]
    child: NDArray[np.int32]
    branches: NDArray[np.int32]
    rows: NDArray[np.int32]
    weight: NDArray[np.float64]
    gain: NDArray[np.float64]
    begin: NDArray[np.int32]
    end: NDArray[np.int32]
    entry_class: NDArray[np.int32]
    entry_value: NDArray[np.float64]
    routes: NDArray[np.uint8]


@njit
def _make_nodes(n_rows, n_routes):
    size = 2 * n_rows
    return Nodes(
        np.empty(size, np.int32),
        np.empty(size, np.uint8),
        np.empty(size, np.uint8),
        np.empty(size, np.int32),
        np.empty(size, np.int32),
        np.empty(size, np.int32),
        np.empty(size, np.int32),
        np.empty(size),
        np.empty(size),
        np.empty(size, np.int32),
        np.empty(size, np.int32),
        np.empty(n_rows, np.int32),
        np.empty(n_rows),
        np.empty((n_routes, 256), np.uint8),
    )


@njit_inner
def _start_node(node, n_rows, weight, nodes):
    """Write a node that is neither split nor has entries yet."""
    nodes.column[node] = -1
    nodes.cut[node] = 0
    nodes.missing[node] = 0
    nodes.route[node] = -1
    nodes.child[node] = -1
    nodes.branches[node] = 0
    nodes.rows[node] = n_rows
    nodes.weight[node] = weight
    nodes.gain[node] = 0.0
    nodes.begin[node] = 0
    nodes.end[node] = 0


@njit
def _by_class(labels, rows):
    """The rows ordered by class, otherwise in the order they are in."""
    most = 0
    for row in rows:
        most = max(most, labels[row])
    places = np.zeros(most + 2, np.int64)
    for row in rows:
        places[labels[row] + 1] += 1
    for k in range(most + 1):
        places[k + 1] += places[k]
    out = np.empty(rows.shape[0], np.int32)
    for row in rows:
        out[places[labels[row]]] = row
        places[labels[row]] += 1
    return out


@njit_inner
def _find_runs(target, rows, ends):
    """Set `ends` to where the runs of the classes end; how many there are, 1 for numbers."""
    if not target.classes:
        ends[0] = rows.shape[0]
        return 1
    n_runs = 0
    for i in range(1, rows.shape[0]):
        if target.labels[rows[i]] != target.labels[rows[i - 1]]:
            ends[n_runs] = i
            n_runs += 1
    ends[n_runs] = rows.shape[0]
    return n_runs + 1


@njit_inner
def _end_node(seen, rows, ends, measure, node, n_entries, nodes):
    """Write the entries of a leaf; how many entries there are then."""
    nodes.begin[node] = n_entries
    begin = 0
    for end in ends:
        size = 0.0
        if seen.classes and not seen.weighted:
            size = np.float64(end - begin)
        elif seen.classes:
            for i in range(begin, end):
                size += seen.weights[rows[i]]
        nodes.entry_class[n_entries] = seen.labels[rows[begin]]
        nodes.entry_value[n_entries] = size / measure.node[WHOLE] if seen.classes else measure.node[MEAN]
        n_entries += 1
        begin = end
    nodes.end[node] = n_entries
    return n_entries


@njit_inner
def _widen_cut(codes, rows, cut):
    """The middle between a cut and the next code above it in the node."""
    above = 256
    for row in rows:
        code = np.int64(codes[row])
        if cut < code < above and code != _MISSING:
            above = code
    return cut if above == 256 else (cut + above) // 2


@njit_inner
def _part_rows(codes, rows, what, route, scratch, sizes):
    """Order rows by branch, stably; set the sizes of the branches, and `what[2]` to the branch of missing values."""
    if what[3] == 0:
        return _part_in_two(codes, rows, what, scratch, sizes)
    n_branches = what[3]
    sizes[:n_branches] = 0
    for row in rows:
        code = codes[row]
        if code != _MISSING:
            sizes[route[code]] += 1
    largest = 0
    for k in range(n_branches):
        if sizes[k] > sizes[largest]:
            largest = k
    if what[2] < 0:
        what[2] = largest
    n_known = 0
    for k in range(n_branches):
        n_known += sizes[k]
    sizes[what[2]] += rows.shape[0] - n_known
    begin = 0
    for k in range(n_branches):
        size = sizes[k]
        sizes[k] = begin
        begin += size
    for row in rows:
        code = codes[row]
        branch = what[2] if code == _MISSING else np.int64(route[code])
        scratch[sizes[branch]] = row
        sizes[branch] += 1
    for i in range(rows.shape[0]):
        rows[i] = scratch[i]
    for k in range(n_branches - 1, 0, -1):
        sizes[k] -= sizes[k - 1]
    for code in range(256):
        if route[code] == 255:
            route[code] = largest
    return n_branches


@njit_inner
def _part_in_two(codes, rows, what, scratch, sizes):
    """`_part_rows` by a cut; every row is written to both sides, and the place moves on in one of them only."""
    cut = np.uint8(what[1])
    missing_left = what[2] == 0
    left, right = np.uint64(0), np.uint64(0)
    for i in range(rows.shape[0]):
        row = rows[i]
        code = codes[np.uint32(row)]
        goes = np.uint64((code <= cut) | (missing_left & (code == _MISSING)))
        rows[left] = row
        scratch[right] = row
        left += goes
        right += np.uint64(1) - goes
    n_left = np.int64(left)
    for i in range(np.int64(right)):
        rows[n_left + i] = scratch[i]
    sizes[0], sizes[1] = n_left, rows.shape[0] - n_left
    if what[2] < 0:
        what[2] = 1 if sizes[1] > sizes[0] else 0
    return 2


class _Room(NamedTuple):
    """Room for nodes.

    Of those that are still to be split: number, first row, row behind the last, depth; and the unit of their weights.
    Of the one that is: the target as it sees it, and the measures for few rows and for more.
    """

    seen: Target
    few: Measure
    many: Measure
    heavy: NDArray[np.float64]
    stack: NDArray[np.int64]
    ends: NDArray[np.int64]
    sizes: NDArray[np.int64]
    scratch: NDArray[np.int32]


@njit
def _make_room(n_rows, target, table, rules):
    many = make_measure(rules.criterion, n_rows, target.weighted)
    few = many if n_rows <= _FEW_ROWS else make_measure(rules.criterion, _FEW_ROWS, target.weighted)
    return _Room(
        make_seen(target, table.n_plain < table.order.shape[0] or rules.criterion == GAIN_RATIO),
        few,
        many,
        np.empty(n_rows + 256),
        np.empty((n_rows + 256, 4), np.int64),
        np.empty(n_rows + 1, np.int64),
        np.empty(256, np.int64),
        np.empty(n_rows, np.int32),
    )


@njit
def grow_tree(columns, order, categories, target, rules, chosen, state):
    """Grow a tree.

    Parameters
    ----------
    columns : uint8 array, shape (columns, rows of the table)
    order : int32 array
        The columns in the order in which they are looked at, but for their kind.
    categories : bool array
        Whether a column holds categories.
    target : Target
        Classes without gaps are no requirement. Weights are positive.
    rules : Rules
    chosen : int32 array
        The rows to grow on, repeats allowed.
    state : uint64 array of four
        Moves on.

    Returns
    -------
    Nodes
        Arrays cut to size.
    """
    n_rows = chosen.shape[0]
    table = make_table(columns, order, categories, rules)
    rows = _by_class(target.labels, chosen) if target.classes else chosen.copy()
    work = make_work(n_rows, table, target, rules)
    nodes = _make_nodes(n_rows, n_rows if table.n_plain + table.n_gaps < table.order.shape[0] else 0)
    room = _make_room(n_rows, target, table, rules)
    sizes = _split_all((table, target, rules), rows, work, room, nodes, state)
    return _cut_to_size(nodes, sizes)


@njit
def add_forest(columns, order, categories, target, rules, chosen, bag_size, bag_states, states, out):
    """Grow trees one after the other, and add up the importances of their columns; no tree is kept.

    Each tree and its importances are those of `grow_tree` and `add_gains`; what trees share is made once.

    Parameters
    ----------
    columns, order, categories, target, rules
        See `grow_tree`.
    chosen : int32 array
        The rows to grow on, or to draw bags from, ascending.
    bag_size : int
        How many rows are drawn for a tree, with replacement, where bags are drawn.
    bag_states : uint64 array, shape (trees or 0, 4)
        Where bags are drawn; with no rows, every tree grows on all of `chosen`.
    states : uint64 array, shape (trees, 4)
        All states move on.
    out : float64 array; one a column
    """
    bagged = bag_states.shape[0] > 0
    n_rows = bag_size if bagged else chosen.shape[0]
    table = make_table(columns, order, categories, rules)
    work = make_work(n_rows, table, target, rules)
    nodes = _make_nodes(n_rows, n_rows if table.n_plain + table.n_gaps < table.order.shape[0] else 0)
    room = _make_room(n_rows, target, table, rules)
    times, bag = np.empty(chosen.shape[0], np.int32), chosen
    if bagged:
        bag = np.empty(n_rows, np.int32)
    of_tree = np.empty(out.shape[0])
    for k in range(states.shape[0]):
        if bagged:
            _draw_bag(bag_states[k], chosen, times, bag)
        for i in range(work.drawn.shape[0]):
            work.drawn[i] = i
        rows = _by_class(target.labels, bag) if target.classes else bag.copy()
        n_nodes, _, _ = _split_all((table, target, rules), rows, work, room, nodes, states[k])
        of_tree[:] = 0.0
        add_gains(nodes.column[:n_nodes], nodes.gain[:n_nodes], nodes.weight[0], of_tree)
        for j in range(out.shape[0]):
            out[j] += of_tree[j]


@njit_inner
def _draw_bag(state, chosen, times, bag):
    """Draw rows with replacement, as `sample_with_replacement` does, in ascending order."""
    times[:] = 0
    for _ in range(bag.shape[0]):
        times[next_bounded(state, chosen.shape[0])] += 1
    n = 0
    for i in range(chosen.shape[0]):
        for _ in range(times[i]):
            bag[n] = chosen[i]
            n += 1


@njit
def column_ratios(columns, order, categories, target, rules, chosen, state):
    """The gain ratio of every column on its own, at its best split of the rows; 0 where it has none.

    Parameters and their order are those of `grow_tree`; the rules ask for the gain ratio and all columns.
    """
    n_rows = chosen.shape[0]
    table = make_table(columns, order, categories, rules)
    rows = _by_class(target.labels, chosen)
    work = make_work(n_rows, table, target, rules)
    room = _make_room(n_rows, target, table, rules)
    runs = room.ends[: _find_runs(target, rows, room.ends)]
    look(target, room.seen, rows, runs, 0.0, room.many, work.counts.values)
    room.many.node[ROW] = _mean_weight(target, rows)
    tried, _, _ = weigh_ratios((table, room.seen, rules, room.many), rows, runs, work, state)
    out = np.zeros(columns.shape[0])
    for i in range(tried):
        if work.gains[i] > -np.inf:
            out[table.order[work.drawn[i]]] = work.ratios[i]
    return out


@njit_inner
def _mean_weight(target, rows):
    """What a row of the tree weighs on average."""
    total = np.float64(rows.shape[0])
    if target.weighted:
        total = 0.0
        for row in rows:
            total += target.weights[row]
    return total / rows.shape[0]


@njit_inner
def _split_all(what_grows, rows, work, room, nodes, state):
    """Split nodes until none is left; how many nodes, entries and routes there are then."""
    table, target, rules = what_grows
    split, seen, stack, ends, sizes = work.split, room.seen, room.stack, room.ends, room.sizes
    what = split.what
    fewest = max(rules.min_split, 2 * rules.min_leaf)
    stack[0, 0], stack[0, 1], stack[0, 2], stack[0, 3] = 0, 0, rows.shape[0], 0
    room.heavy[0] = 0.0
    height, n_nodes, n_entries, n_routes = 1, 1, 0, 0
    room.few.node[ROW] = room.many.node[ROW] = _mean_weight(target, rows)
    while height > 0:
        height -= 1
        node, begin, end, depth = stack[height, 0], stack[height, 1], stack[height, 2], stack[height, 3]
        here = rows[begin:end]
        n_runs = _find_runs(target, here, ends)
        runs = ends[:n_runs]
        measure = room.few if end - begin <= _FEW_ROWS else room.many
        pure = look(target, seen, here, runs, room.heavy[height], measure, work.counts.values)
        _start_node(node, end - begin, measure.node[WHOLE] * measure.node[HEAVY], nodes)
        what[0] = -1
        if not (end - begin < fewest or depth == rules.max_depth or pure):
            find_split(table, seen, rules, measure, here, runs, work, state)
        if what[0] < 0:
            n_entries = _end_node(seen, here, runs, measure, node, n_entries, nodes)
            continue
        place = table.order[what[0]]
        codes = table.columns[place]
        if rules.rule == CART and what[3] == 0:
            what[1] = _widen_cut(codes, here, what[1])
        n_branches = _part_rows(codes, here, what, split.route, room.scratch, sizes)
        nodes.column[node] = place
        nodes.missing[node] = what[2]
        nodes.gain[node] = split.gain[0] / measure.node[COARSE] * measure.node[UNIT]
        nodes.child[node] = n_nodes
        nodes.branches[node] = n_branches
        if what[3] > 0:
            nodes.route[node] = n_routes
            for code in range(256):
                nodes.routes[n_routes, code] = split.route[code]
            n_routes += 1
        else:
            nodes.cut[node] = what[1]
        for k in range(n_branches):
            stack[height, 0], stack[height, 1] = n_nodes, begin
            stack[height, 2], stack[height, 3] = begin + sizes[k], depth + 1
            room.heavy[height] = measure.node[HEAVY]
            begin += sizes[k]
            n_nodes += 1
            height += 1
    return n_nodes, n_entries, n_routes


@njit
def _cut_to_size(nodes, sizes):
    n_nodes, n_entries, n_routes = sizes
    return Nodes(
        nodes.column[:n_nodes].copy(),
        nodes.cut[:n_nodes].copy(),
        nodes.missing[:n_nodes].copy(),
        nodes.route[:n_nodes].copy(),
        nodes.child[:n_nodes].copy(),
        nodes.branches[:n_nodes].copy(),
        nodes.rows[:n_nodes].copy(),
        nodes.weight[:n_nodes].copy(),
        nodes.gain[:n_nodes].copy(),
        nodes.begin[:n_nodes].copy(),
        nodes.end[:n_nodes].copy(),
        nodes.entry_class[:n_entries].copy(),
        nodes.entry_value[:n_entries].copy(),
        nodes.routes[:n_routes].copy(),
    )
