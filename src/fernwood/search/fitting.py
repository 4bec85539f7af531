"""One draw, fitted: its columns come from the store, a random probe joins them, trees grow, and each column is scored.

What a fit does depends on the data, the settings, the seed and the number of the draw, and on nothing else.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, NamedTuple, get_args

import numpy as np

from fernwood import seeds
from fernwood.errors import ParameterError
from fernwood.importance.trees import impurity_decrease, out_of_sample_decrease, permutation_loss
from fernwood.kernels.drawing import deal_probe
from fernwood.learner.rows import DrawnRows, RowSampling
from fernwood.learner.trees import Tree, add_importances, grow_on, lay_out
from fernwood.search.dealing import Dealer
from fernwood.search.subspace import Scores
from fernwood.subspace.candidates import own_addresses
from fernwood.validation import is_integer

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from fernwood.learner.settings import TreeSettings
    from fernwood.learner.target import TreeTarget
    from fernwood.learner.trees import Ground
    from fernwood.store.base import Store

__all__ = ["FitSettings", "Importance", "LaidDraw", "TreeFits"]

Importance = Literal["impurity", "out-of-sample", "permutation"]

# Addresses below the seed; draws have 0.
_FIT, _ROWS, _PERMUTATION, _PATCH = range(1, 5)

_ALL_ROWS = DrawnRows(None, np.empty(0, np.int32))
_BLOCK_BYTES = 2**22
"""Codes of whole columns that are read together, where a draw keeps some of their rows."""


@dataclass(frozen=True, slots=True)
class FitSettings:
    """How a draw is fitted and scored.

    Parameters
    ----------
    tree
        How trees grow.
    n_trees
        Trees that grow on every draw; a column's importance is the mean over them.
    rows
        Which rows a tree grows on.
    importance
        `impurity`: mean decrease of impurity; `out-of-sample`: the same on the rows left out, zero in expectation for
        an irrelevant column; `permutation`: the loss on the rows left out when a column is permuted. For a target of
        numbers all are shares of its variance.
    probe
        Whether a random probe takes part: one of the draw's columns with its values dealt anew to the rows.
    shadows
        How many shadows of every column take part: the column with its values dealt anew, in all draws alike.
    first_shadow
        Which of a column's many shadows is the first that takes part; those from another number on are others.
    keep_trees
        Whether the trees come back with the scores.
    patch
        Rows that a draw sees, drawn anew for each (random patches); None is all. Shadows are dealt among all rows, so
        that they are the same columns in all draws.
    """

    tree: TreeSettings
    n_trees: int = 1
    rows: RowSampling = field(default_factory=RowSampling)
    importance: Importance = "impurity"
    probe: bool = True
    shadows: int = 0
    first_shadow: int = 0
    keep_trees: bool = False
    patch: int | None = None

    def __post_init__(self) -> None:
        if not (is_integer(self.n_trees) and self.n_trees >= 1):
            raise ParameterError(f"n_trees is {self.n_trees!r}; it must be an integer from 1 on")
        if self.importance not in get_args(Importance):
            raise ParameterError(
                f"importance is {self.importance!r}; it must be one of {', '.join(map(repr, get_args(Importance)))}"
            )
        if self.importance != "impurity" and not self.rows.leaves_some_out:
            raise ParameterError(
                f"importance is {self.importance!r}, which is measured on rows that a tree did not grow on, and trees "
                "grow on all rows; give max_samples=0.7, say, or bootstrap=True"
            )


class _Patch(NamedTuple):
    """Rows that a draw sees.

    Attributes
    ----------
    rows : int64 array; rows of the store, in order, or None for all
    target : of these rows
    counted : int32 array; which of them count: the others have weight zero
    groups : int32 array; of those that count, numbered from 0 on, or None
    divided : those that trees grow on and those left out, where that is settled once and for all
    """

    rows: NDArray[np.int64] | None
    target: TreeTarget
    counted: NDArray[np.int32]
    groups: NDArray[np.int32] | None
    divided: DrawnRows | None


class LaidDraw(NamedTuple):
    """A draw that trees can grow on: columns, their shadows and the probe; their addresses; how many columns; rows."""

    ground: Ground
    addresses: NDArray[np.uint64]
    n_columns: int
    patch: _Patch


class TreeFits:
    """Fits draws of a store's columns with trees; a `Learner`, safe to call from many threads.

    Parameters
    ----------
    store
    ids : int64 array
        Positions of the columns that are drawn from; a draw holds ranks in this order.
    target
        The store's, as trees use it.
    settings
    seed
    """

    def __init__(
        self, store: Store, ids: NDArray[np.int64], target: TreeTarget, settings: FitSettings, seed: int
    ) -> None:
        self._store = store
        self._ids = ids
        self._kinds = store.kinds[ids]
        self._addresses = own_addresses(store.checksums[ids])
        self._settings = settings
        self._seed = seed
        # Rows of weight zero take no part: neither in a tree, nor in a score, nor in the probe.
        counted = np.flatnonzero(target.kernel.weights > 0).astype(np.int32)
        self._some_counted = None if len(counted) == store.n_rows else counted
        self._scale = settings.n_trees * (1.0 if target.kernel.classes else _variance(target, counted))
        groups = None if store.groups is None else _numbered(store.groups[counted])
        self._deal = Dealer(seed, groups=groups)
        self._whole = _Patch(None, target, counted, groups, None)
        if settings.importance != "impurity":
            self._check_left_out(self._patch(0))
        if settings.rows.once:
            self._whole = self._whole._replace(divided=self._drawn(self._whole))
        # What trees have in common is done once where neither they nor the rows that they leave out are needed.
        rows = settings.rows
        whole = rows.with_replacement and not rows.once and groups is None
        self._together = settings.importance == "impurity" and not settings.keep_trees
        self._together &= whole or not rows.leaves_some_out

    def _check_left_out(self, patch: _Patch) -> None:
        rows, n_counted, groups = self._settings.rows, len(patch.counted), patch.groups
        n, what = (n_counted, "rows") if groups is None else (int(groups.max()) + 1, "groups of rows")
        if not rows.with_replacement and round(rows.number(n_counted) / n_counted * n) == n:
            raise ParameterError(
                f"max_samples is {rows.size!r}, which is all of the {n} {what}, and importance is "
                f"{self._settings.importance!r}, which is measured on rows left out; give fewer, or bootstrap=True"
            )

    def __call__(self, columns: NDArray[np.int64], draw: int) -> Scores:
        """Importances of these columns, in the order given, of their shadows, and of the probe."""
        patch = self._patch(draw)
        codes, kinds, addresses = self._read(columns, patch)
        if self._settings.probe:
            state = self._states(draw)[-1]
            addresses[-1] = state[0]
            kinds[-1] = kinds[deal_probe(state, codes, patch.counted)]
        return self.fit(self._laid(codes, kinds, addresses, len(columns), patch), draw)

    def lay(self, columns: NDArray[np.int64]) -> LaidDraw:
        """Columns and their shadows without a probe, on all rows, as what many fits can grow on."""
        return self._laid(*self._read(columns, self._whole), len(columns), self._whole)

    def fit(self, laid: LaidDraw, draw: int) -> Scores:
        """The fit of number `draw` on columns that are laid out."""
        ground, _, n, patch = laid
        n_trees, n_shadows = self._settings.n_trees, n * self._settings.shadows
        states, bags = self._states(draw), None
        if self._settings.rows.with_replacement:
            bags = seeds.numbered_states(draw, n_trees, self._seed, _ROWS)
        total = np.zeros(len(ground.codes))
        trees = []
        if self._together:
            size = self._settings.rows.number(len(patch.counted))
            add_importances(ground, states[:n_trees], total, bags, size)
        else:
            for number in range(n_trees):
                rows = self._rows(patch, draw, number, None if bags is None else bags[number])
                tree = grow_on(ground, states[number], rows.grown)
                total += self._importance(tree, laid, rows, (draw, number))
                if self._settings.keep_trees:
                    trees.append(tree)
        total /= self._scale
        probe = float(total[-1]) if self._settings.probe else 0.0
        return Scores(total[:n], probe, tuple(trees), total[n : n + n_shadows].reshape(-1, n))

    def _states(self, draw: int) -> NDArray[np.uint64]:
        """One for every tree, and for the probe behind them."""
        return seeds.numbered_states(draw, self._settings.n_trees + self._settings.probe, self._seed, _FIT)

    def _patch(self, draw: int) -> _Patch:
        """The rows that a draw sees."""
        if self._settings.patch is None:
            return self._whole
        _, target, counted, groups, divided = self._whole
        size = RowSampling(size=self._settings.patch)
        drawn = size.draw(len(counted), self._seed, _PATCH, draw, groups=groups).grown
        assert drawn is not None  # noqa: S101  (a number of rows is always drawn)
        rows = counted[drawn].astype(np.int64)
        if divided is not None and divided.grown is not None:
            grown = np.isin(rows, divided.grown)
            divided = DrawnRows(np.flatnonzero(grown).astype(np.int32), np.flatnonzero(~grown).astype(np.int32))
        here = None if groups is None else _numbered(groups[drawn])
        return _Patch(rows, target.take(rows), np.arange(len(rows), dtype=np.int32), here, divided)

    def _read(
        self, columns: NDArray[np.int64], patch: _Patch
    ) -> tuple[NDArray[np.uint8], NDArray[np.uint8], NDArray[np.uint64]]:
        """Codes, kinds and addresses of columns and their shadows, with room for the probe behind them."""
        n = len(columns)
        n_shadows = self._settings.shadows
        size = n * (1 + n_shadows) + self._settings.probe
        codes = np.empty((size, patch.target.n_rows), np.uint8)
        kinds, addresses = np.empty(size, np.uint8), np.empty(size, np.uint64)
        kinds[:n], addresses[:n] = self._kinds[columns], self._addresses[columns]
        copies = self._settings.first_shadow + np.arange(n_shadows, dtype=np.uint64)
        shadows = slice(n, n * (1 + n_shadows))
        kinds[shadows] = np.tile(kinds[:n], n_shadows)
        addresses[shadows] = self._deal.addresses(np.tile(addresses[:n], n_shadows), np.repeat(copies, n))
        if patch.rows is None:
            self._store.read(self._ids[columns], codes[:n])
            if self._some_counted is None and not self._deal.in_pieces:  # in place, which needs no further room
                codes[shadows].reshape(n_shadows, n, codes.shape[1])[:] = codes[:n]
                self._deal.at(codes[shadows], addresses[shadows])
                return codes, kinds, addresses
            for copy in range(n_shadows):
                codes[n * (copy + 1) : n * (copy + 2)] = self._dealt(codes[:n], addresses[:n], copies[copy])
            return codes, kinds, addresses
        # Whole columns come a few at a time, and leave the rows of the patch behind.
        step = max(1, _BLOCK_BYTES // self._store.n_rows)
        for some in np.split(np.arange(n), np.arange(step, n, step)):
            whole = self._store.read(self._ids[columns[some]])
            codes[some] = whole[:, patch.rows]
            for copy in range(n_shadows):
                codes[n * (copy + 1) + some] = self._dealt(whole, addresses[some], copies[copy])[:, patch.rows]
        return codes, kinds, addresses

    def _dealt(self, codes: NDArray[np.uint8], addresses: NDArray[np.uint64], copy: np.uint64) -> NDArray[np.uint8]:
        """Shadows of columns: the rows that count dealt anew."""
        copies = np.repeat(copy, len(codes))
        if self._some_counted is None:
            return self._deal(codes.copy(), addresses, copies)
        out = codes.copy()
        out[:, self._some_counted] = self._deal(np.ascontiguousarray(codes[:, self._some_counted]), addresses, copies)
        return out

    def _laid(
        self,
        codes: NDArray[np.uint8],
        kinds: NDArray[np.uint8],
        addresses: NDArray[np.uint64],
        n_columns: int,
        patch: _Patch,
    ) -> LaidDraw:
        ground = lay_out(codes, patch.target, self._settings.tree, kinds, addresses)
        return LaidDraw(ground, addresses, n_columns, patch)

    def _rows(self, patch: _Patch, draw: int, number: int, bag: NDArray[np.uint64] | None) -> DrawnRows:
        if not self._settings.rows.leaves_some_out:
            return _ALL_ROWS
        if patch.divided is None:
            return self._drawn(patch, draw, number, bag=bag)
        grown, left_out = patch.divided
        turn = (draw * self._settings.n_trees + number) % 2
        return patch.divided if turn == 0 or grown is None else DrawnRows(left_out, grown)

    def _drawn(self, patch: _Patch, *address: int, bag: NDArray[np.uint64] | None = None) -> DrawnRows:
        counted = patch.counted
        drawn = self._settings.rows.draw(len(counted), self._seed, _ROWS, *address, groups=patch.groups, state=bag)
        return DrawnRows(None if drawn.grown is None else counted[drawn.grown], counted[drawn.left_out])

    def _importance(self, tree: Tree, laid: LaidDraw, rows: DrawnRows, address: tuple[int, int]) -> NDArray[np.float64]:
        kind, codes, target = self._settings.importance, laid.ground.codes, laid.patch.target
        if kind == "impurity":
            return impurity_decrease(tree, len(codes))
        if not len(rows.left_out):
            return np.zeros(len(codes))  # a bootstrap sample of every row, with very few rows: nothing was measured
        if kind == "out-of-sample":
            return out_of_sample_decrease(tree, codes, target, self._settings.tree, rows.left_out)
        return permutation_loss(
            tree,
            codes,
            target,
            rows.left_out,
            seed=self._seed,
            address=(_PERMUTATION, *address),
            addresses=laid.addresses,
        )


def _numbered(groups: NDArray[np.int32]) -> NDArray[np.int32]:
    """Groups numbered from 0 on."""
    return np.unique(groups, return_inverse=True)[1].astype(np.int32)


def _variance(target: TreeTarget, rows: NDArray[np.int32]) -> float:
    """The variance of a target of numbers, as kernels have it."""
    values, weights = target.kernel.values[rows], target.kernel.weights[rows]
    mean = np.average(values, weights=weights)
    return float(np.average((values - mean) ** 2, weights=weights))
