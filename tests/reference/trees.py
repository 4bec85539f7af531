"""Trees the slow way: impurities from their definitions, every split tried, a grown tree walked and checked."""

from __future__ import annotations

import math
from collections import Counter

import numpy as np

MISSING = 255


def impurity(y, w, criterion: str) -> float:
    """Weight times impurity."""
    total = float(np.sum(w))
    if total == 0:
        return 0.0
    if criterion == "variance":
        mean = np.sum(w * y) / total
        return float(np.sum(w * (y - mean) ** 2))
    shares = Counter()
    for label, weight in zip(y.tolist(), w.tolist(), strict=False):
        shares[label] += weight / total
    if criterion == "gini":
        return total * (1 - sum(p * p for p in shares.values()))
    return -total * sum(p * math.log2(p) for p in shares.values() if p)


def gain(y, w, branch, criterion: str) -> float:
    return impurity(y, w, criterion) - sum(
        impurity(y[branch == b], w[branch == b], criterion) for b in set(branch.tolist())
    )


def cuts(codes) -> list[np.ndarray]:
    """Every way to cut an ordered column in two, missing values on either side."""
    known = codes != MISSING
    values = sorted(set(codes[known].tolist()))
    out = []
    for v in values:
        branch = (codes > v).astype(int)
        for side in (0, 1):
            ways = np.where(known, branch, side)
            if len(set(ways.tolist())) == 2:
                out.append(ways)
    return out


def subsets(codes) -> list[np.ndarray]:
    """Every way to part the categories in two, missing values on either side."""
    known = codes != MISSING
    values = sorted(set(codes[known].tolist()))
    out = []
    for mask in range(2 ** len(values)):
        left = [v for k, v in enumerate(values) if mask >> k & 1]
        branch = np.where(np.isin(codes, left), 0, 1)
        for side in (0, 1):
            ways = np.where(known, branch, side)
            if len(set(ways.tolist())) == 2:
                out.append(ways)
    return out


def multiways(codes, min_leaf: int) -> list[np.ndarray]:
    """A branch for every category, which has rows enough by itself; missing values join each of them in turn."""
    known = codes != MISSING
    values = sorted(set(codes[known].tolist()))
    if len(values) == 1:
        return cuts(codes)
    if min(Counter(codes[known].tolist()).values(), default=0) < min_leaf:
        return []
    return [np.where(known, codes, v).astype(int) for v in values]


def allowed(ways, min_leaf: int):
    return [way for way in ways if min(Counter(way.tolist()).values()) >= min_leaf]


def best_gain(table, y, w, kinds, settings) -> float:
    """The largest decrease that any allowed split of any column brings, −∞ where there is none."""
    best = -math.inf
    for codes, kind in zip(table, kinds, strict=False):
        ways = (
            cuts(codes)
            if kind != 3
            else (multiways(codes, settings.min_samples_leaf) if settings.categories == "multiway" else subsets(codes))
        )
        for way in allowed(ways, settings.min_samples_leaf):
            best = max(best, gain(y, w, way, settings.criterion))
    return best


def branches_of(tree, node: int, codes) -> np.ndarray:
    out = []
    for code in codes.tolist():
        if code == MISSING:
            out.append(int(tree.missing[node]))
        elif tree.route[node] >= 0:
            out.append(int(tree.routes[tree.route[node], code]))
        else:
            out.append(int(code > tree.cut[node]))
    return np.array(out)


def audit_cut(cut: int, codes, rule: str) -> None:
    """The middle between the codes of the two branches, or any place from the lowest code on and below the highest."""
    known = codes[codes != MISSING].astype(int)
    left, right = known[known <= cut], known[known > cut]
    assert len(left)
    if not len(right):  # on the other side are missing values
        assert len(known) < len(codes)
        assert rule != "cart" or cut == left.max()
    elif rule == "cart":
        assert cut == (left.max() + right.min()) // 2


def audit(tree, codes, y, w, kinds, settings, rows) -> None:
    """Walk a tree with the rows it grew on and hold every node to its definition."""
    every = settings.features(len(codes)) == len(codes)
    visited = 0

    def walk(node: int, here, depth: int) -> None:
        nonlocal visited
        visited += 1
        target, weight = y[here], w[here]
        assert tree.rows[node] == len(here)
        assert np.isclose(tree.weight[node], weight.sum())
        pure = len(set(target.tolist())) == 1
        stop = (
            pure
            or len(here) < settings.min_samples_split
            or len(here) < 2 * settings.min_samples_leaf
            or depth == settings.max_depth
        )
        column = int(tree.column[node])
        if column < 0:
            entries = slice(tree.begin[node], tree.end[node])
            if settings.criterion == "variance":
                close = 1e-9 * (target.max() - target.min()) + 1e-15 * abs(target).max()
                assert abs(tree.entry_value[entries] - np.average(target, weights=weight)) <= close
            else:
                shares = {c: weight[target == c].sum() / weight.sum() for c in set(target.tolist())}
                found = dict(zip(tree.entry_class[entries].tolist(), tree.entry_value[entries].tolist(), strict=False))
                assert found.keys() == shares.keys()
                assert all(math.isclose(found[c], shares[c]) for c in shares)
            if not stop and (every or settings.min_samples_leaf == 1) and settings.rule == "cart":
                assert best_gain(codes[:, here], target, weight, kinds, settings) == -math.inf
            if not stop and settings.min_samples_leaf == 1:
                assert all(len(set(c.tolist())) == 1 for c in codes[:, here])
            return
        assert not stop
        branch = branches_of(tree, node, codes[column, here])
        sizes = Counter(branch.tolist())
        assert set(sizes) == set(range(tree.branches[node]))
        assert min(sizes.values()) >= settings.min_samples_leaf
        if tree.route[node] < 0:
            audit_cut(int(tree.cut[node]), codes[column, here], settings.rule)
        decrease = gain(target, weight, branch, settings.criterion)
        # Of the node, never of the tree: what is little in the tree may be all that there is in a node.
        close = 1e-9 * impurity(target, weight, settings.criterion)
        if settings.criterion != "variance":
            close += 1e-12 * weight.sum()
        assert abs(tree.gain[node] - decrease) < close
        if settings.rule == "cart" and every:
            best = best_gain(codes[:, here], target, weight, kinds, settings)
            # Subsets of many classes are searched along one order only.
            exact = (
                settings.categories == "multiway"
                or 3 not in kinds
                or len(set(target.tolist())) == 2
                or settings.criterion == "variance"
            )
            assert decrease <= best + close
            if exact and not (3 in kinds and (codes[:, here] == MISSING).any()):
                assert decrease > best - close
        for b in range(tree.branches[node]):
            walk(int(tree.child[node]) + b, here[branch == b], depth + 1)

    walk(0, np.asarray(rows), 0)
    assert visited == len(tree.column)


def leaf_of(tree, codes_of_row) -> int:
    node = 0
    while tree.column[node] >= 0:
        node = int(tree.child[node]) + int(branches_of(tree, node, codes_of_row[tree.column[node]].reshape(1))[0])
    return node
