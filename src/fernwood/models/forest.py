"""Forests of sequential random subspaces: one tree a draw, and the mean of their predictions.

The method is Algorithm 1 of Sutera et al. (2018), with its trees kept. With `alpha=0` it is the random subspace method
(Ho 1998); with all columns in every draw it is a plain forest, random patches with `max_samples` (Louppe 2012).
"""

from __future__ import annotations

import math
import warnings
from abc import abstractmethod
from dataclasses import fields, replace
from typing import TYPE_CHECKING, Any, ClassVar, Literal

import numpy as np
from sklearn.base import ClassifierMixin, RegressorMixin
from sklearn.utils.validation import check_is_fitted

from fernwood import seeds
from fernwood.budget import parse_size
from fernwood.errors import FernwoodWarning, ParameterError
from fernwood.estimator import TableEstimator, class_labels, fit_store, n_threads, new_table
from fernwood.kept.structures import (
    check_classes,
    check_numbers,
    pack_trees,
    put_coding,
    put_trees,
    taken_coding,
    taken_trees,
    unpack_trees,
)
from fernwood.kernels.predicting import add_entries
from fernwood.learner.many import in_order
from fernwood.learner.target import store_target
from fernwood.learner.trees import leaves
from fernwood.relevance.paper import ProbeRule
from fernwood.search.selecting import prepare
from fernwood.search.settings import SubspaceSettings
from fernwood.search.subspace import decide, fit_round, start
from fernwood.store.encode import Coding
from fernwood.validation import one_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Self

    from numpy.typing import ArrayLike, NDArray

    from fernwood.kept.archive import Archive
    from fernwood.learner.trees import Tree
    from fernwood.search.selecting import Prepared
    from fernwood.search.subspace import Draw
    from fernwood.store.base import Store
    from fernwood.store.roles import Task

__all__ = ["SubspaceForestClassifier", "SubspaceForestRegressor", "vote"]

_FEWEST_ROWS, _MOST_ROWS = 128, 8192
"""Rows that follow all trees at a time: enough to hide what a call costs, few enough to share out."""

_PLAIN = ("columns_", "feature_importances_", "found_", "n_iter_")
"""What of a fitted forest is plain, see `fernwood.kept`."""


class _SubspaceForest(TableEstimator):
    """What both forests do: draw, grow, keep the trees, and let them vote."""

    _task: ClassVar[Task]

    def __init__(
        self,
        q: int | None = None,
        alpha: float = 0.5,
        n_iter: int = 100,
        learner: Literal["extra", "cart", "random"] = "extra",
        max_features: float | Literal["sqrt", "log2"] | None = None,
        *,
        rule: Literal["probe", "importance"] = "probe",
        weighted: bool = False,
        criterion: Literal["entropy", "gini", "variance"] = "variance",
        max_depth: int | None = None,
        min_samples_leaf: int = 1,
        min_samples_split: int = 2,
        categories: Literal["multiway", "subset"] = "multiway",
        bootstrap: bool = False,
        max_samples: float | None = None,
        round_size: int = 10,
        memory: int | str | None = None,
        n_jobs: int | None = None,
        random_state: int | np.random.Generator | np.random.RandomState | None = None,
    ) -> None:
        self.q = q
        self.alpha = alpha
        self.n_iter = n_iter
        self.learner = learner
        self.max_features = max_features
        self.rule = rule
        self.weighted = weighted
        self.criterion = criterion
        self.max_depth = max_depth
        self.min_samples_leaf = min_samples_leaf
        self.min_samples_split = min_samples_split
        self.categories = categories
        self.bootstrap = bootstrap
        self.max_samples = max_samples
        self.round_size = round_size
        self.memory = memory
        self.n_jobs = n_jobs
        self.random_state = random_state

    def fit(self, X: Any, y: Any = None, sample_weight: ArrayLike | None = None) -> Self:  # noqa: N803
        """Grow the forest.

        Parameters
        ----------
        X
            A `Store`, a data frame, a SciPy sparse matrix, or anything like an array of numbers; NaN is missing.
        y
            What to predict, one value for every row; of a store, None means its own target.
        sample_weight : optional
            The weight of every row; rows of weight zero take no part.
        """
        settings = self._settings()
        seed, threads = seeds.entropy(self.random_state), n_threads(self.n_jobs)
        budget = None if self.memory is None else parse_size(self.memory)
        store = fit_store(self, X, y, sample_weight=sample_weight, task=self._task, memory=self.memory)
        held = 0 if store is X else store.n_bytes
        prepared = prepare(store, settings, seed, n_threads=threads, memory=budget, held=held, keep_trees=True)
        _warn_of_too_few_draws(self.alpha, prepared)
        self._note_target(store, y)
        self._grow(store, prepared)
        return self

    @abstractmethod
    def _note_target(self, store: Store, y: Any) -> None:
        """Keep what leads from the leaves of trees back to `y`."""

    def _settings(self) -> SubspaceSettings:
        """What to do; a parameter outside its rule gets one sentence before any data is read."""
        one_of("rule", self.rule, ("probe", "importance"))
        if str(self.learner) == "ferns":
            raise ParameterError(
                "learner is 'ferns', and this forest is of trees; use RandomFernsClassifier, or learner='extra'"
            )
        names = [field.name for field in fields(SubspaceSettings) if hasattr(self, field.name)]
        settings = SubspaceSettings(**{name: getattr(self, name) for name in names}, n_trees=1, patch_rows=None)
        settings.fitting(self._task)
        # Nothing is carried with alpha=0, so that no probe is needed: trees then see exactly the draw.
        return settings if settings.alpha else replace(settings, rule="importance")

    def _grow(self, store: Store, prepared: Prepared) -> None:
        """Run the search, and keep its trees and what it found."""
        ids, search = prepared.ids, prepared.search
        state = start(search)
        draws: list[Draw] = []
        while state.n_draws < prepared.n_draws:
            fitted = fit_round(search, state, prepared.n_draws - state.n_draws)
            state = decide(search, state, fitted)
            draws += fitted
        self._keep(store, ids, draws)
        importance = state.evidence.mean_importance()
        self.feature_importances_ = np.zeros(store.n_columns)
        # Added up before they are put in the order of the table, on which their sum would depend in its last bit.
        self.feature_importances_[ids] = importance / max(importance.sum(), np.finfo(float).tiny)
        compared = self.alpha > 0 or self.rule != "probe"
        self.found_ = np.sort(ids[state.found]) if compared else ids[:0]
        self.n_iter_ = state.n_draws

    def _keep(self, store: Store, ids: NDArray[np.int64], draws: list[Draw]) -> None:
        """Let all trees count the same way.

        Columns are places among those that any tree splits on, the probe last; classes, which trees number as they
        first appear, are numbered in their own order.
        """
        grown = [(np.append(ids[draw.columns], -1), tree) for draw in draws for tree in draw.scores.trees]
        used = [np.unique(columns[tree.column[tree.column >= 0]]) for columns, tree in grown]
        split_on = np.unique(np.concatenate(used))
        self.columns_ = split_on[split_on >= 0]
        self.trees_ = [_recounted(tree, columns, self.columns_) for columns, tree in grown]
        if self._task == "classification":
            places = store_target(store).classes.astype(np.int32)
            self.trees_ = [tree._replace(entry_class=places[tree.entry_class]) for tree in self.trees_]
        self._coding = Coding.of(store, self.columns_)

    def __getstate__(self) -> dict[str, Any]:
        """Few large arrays: a pickle that is mapped into memory opens its file once for every one."""
        state: dict[str, Any] = super().__getstate__()
        return {**state, "trees_": pack_trees(self.trees_)} if "trees_" in state else state

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__({**state, "trees_": unpack_trees(state["trees_"])} if "trees_" in state else state)

    def _put(self, archive: Archive) -> None:
        put_trees(archive, self.trees_)
        put_coding(archive, self._coding)

    def _take(self, archive: Archive) -> None:
        check_numbers(self.columns_, np.int64, None)
        n_columns = len(self.columns_)
        self._coding = taken_coding(archive, n_columns)
        self.trees_ = taken_trees(archive, n_columns + 1, self._n_outputs())  # the last is the probe

    @abstractmethod
    def _n_outputs(self) -> int:
        """How many numbers a leaf may tell."""

    def _vote(self, X: Any, n_outputs: int) -> NDArray[np.float64]:  # noqa: N803
        check_is_fitted(self)
        codes = self._coding.codes(new_table(self, X), n_blank=1)
        return vote(self.trees_, codes, n_outputs, n_threads(self.n_jobs))


def vote(trees: Sequence[Tree], codes: NDArray[np.uint8], n_outputs: int, n_threads: int = 1) -> NDArray[np.float64]:
    """The mean, over trees that grew on the same columns, of what the leaf of every row says.

    Every row adds up the trees in their order, so the answer is the same for any number of threads.

    Parameters
    ----------
    trees
    codes : uint8 array, shape (columns, rows)
    n_outputs
        How many classes there are; 1 for numbers.
    n_threads

    Returns
    -------
    float64 array, shape (rows, outputs)
        Shares of classes, or the target's values as kernels have them.

    Notes
    -----
    Peak memory: the result.

    Examples
    --------
    >>> from fernwood import seeds
    >>> from fernwood.learner.settings import TreeSettings
    >>> from fernwood.learner.target import class_target
    >>> from fernwood.learner.trees import grow
    >>> codes = np.array([[0, 0, 1, 1]], np.uint8)
    >>> tree = grow(codes, class_target([0, 0, 1, 1]), TreeSettings(), state=seeds.state(0))
    >>> vote([tree, tree], codes, 2)[:, 1].tolist()
    [0.0, 0.0, 1.0, 1.0]
    """
    n_rows = codes.shape[1]
    out = np.zeros((n_rows, n_outputs))
    size = min(max(-(-n_rows // (4 * n_threads)), _FEWEST_ROWS), _MOST_ROWS)

    def block(first: int) -> None:
        rows = np.arange(first, min(first + size, n_rows), dtype=np.int32)
        for tree in trees:
            add_entries(tree, leaves(tree, codes, rows), out[first : first + size])

    for _ in in_order(block, range(0, n_rows, size), n_threads):
        pass
    out /= len(trees)
    return out


def _warn_of_too_few_draws(alpha: float, prepared: Prepared) -> None:
    """Say so where no column can be drawn often enough to be found and carried."""
    search = prepared.search
    drawn = prepared.n_draws * search.q / search.n_columns
    if alpha and isinstance(search.rule, ProbeRule) and drawn <= search.rule.least_draws:
        enough = math.ceil(2 * (search.rule.least_draws + 1) * search.n_columns / search.q)
        warnings.warn(
            f"n_iter is {prepared.n_draws}, so that a column is drawn {drawn:.1f} times on average, and the rule "
            f"'probe' finds none before it is drawn {search.rule.least_draws + 1} times; give n_iter={enough}, say, "
            "or a larger q",
            FernwoodWarning,
            stacklevel=3,
        )


def _recounted(tree: Tree, columns: NDArray[np.int64], split_on: NDArray[np.int64]) -> Tree:
    """A tree whose columns are places in `split_on`; the probe, −1 among `columns`, is the one after the last.

    New rows have no value of the probe. Since it says nothing about the target, they all take its larger branch, which
    more rows have taught.
    """
    inner = tree.column >= 0
    ids = columns[tree.column]
    probed = inner & (ids < 0)
    place = np.where(probed, len(split_on), np.searchsorted(split_on, ids))
    missing = tree.missing.copy()
    for node in np.flatnonzero(probed).tolist():
        first = tree.child[node]
        missing[node] = tree.rows[first : first + tree.branches[node]].argmax()
    return tree._replace(column=np.where(inner, place, -1).astype(np.int32), missing=missing)


class SubspaceForestClassifier(ClassifierMixin, _SubspaceForest):  # type: ignore[misc]
    """A forest of sequential random subspaces that predicts classes.

    Parameters
    ----------
    q : int, optional
        Columns in a draw; by default one in 80, at least 50, and no more than make 64 MB.
    alpha : float
        Share of a draw that is kept for columns found before; 0 is the random subspace method.
    n_iter : int
        Draws, each with one tree.
    learner : {"extra", "cart", "random"}
        `extra`: one random threshold for every column that is looked at; `cart`: the best one; `random`: a random
        threshold of one random column.
    max_features : int, float, "sqrt", "log2" or None
        How many columns of the draw are looked at in a node; None: all.
    rule : {"probe", "importance"}
        When a column counts as found: drawn more than 5 times, and more important than a random probe in 95 % of its
        draws; or any importance at all, which is sound with infinitely many rows only.
    weighted : bool
        Whether found columns are carried in proportion to their mean importance instead of evenly.
    criterion : {"gini", "entropy"}
        Impurity.
    max_depth, min_samples_leaf, min_samples_split
        As in scikit-learn.
    categories : {"multiway", "subset"}
        Whether a categorical column splits into a branch for every category, or into two.
    bootstrap, max_samples
        Whether rows are drawn with replacement for a tree, and how many, a number or a share; by default all rows,
        each once.
    class_weight : dict, "balanced" or None
        Weights of classes, as in scikit-learn.
    round_size : int
        Draws that see the same found columns, and may run side by side; 1 is the sequence of the paper.
    memory : int or str, optional
        What making a store of `X` may take; see `fernwood.ingest`.
    n_jobs : int, optional
        Threads. The answer does not depend on them.
    random_state : int, NumPy generator or None
        The same integer gives the same forest.

    Attributes
    ----------
    classes_ : array
        The classes, in order.
    feature_importances_ : array
        Mean decrease of impurity of every column, over the draws that it was in; they sum to 1.
    found_ : array
        Positions of the columns found by the rule; none with ``alpha=0`` and the rule `probe`, since no probe takes
        part then.
    trees_ : list
        The trees. Their columns are places in `columns_`; the place after the last is the random probe.
    columns_ : array
        Positions of the columns that any tree splits on: all that predicting needs.
    n_iter_, n_features_in_, feature_names_in_
        As scikit-learn defines them; a `Store` gives no `feature_names_in_`.

    Notes
    -----
    Peak memory of fitting: a byte a cell for the store (nothing where `X` is one), and two draws of q bytes a row for
    every thread. Of predicting: a byte for every row and column of `columns_`, and 8 for every row and class.

    Randomness follows the content of columns, not their order, and bins are cut by order alone: permuted columns and
    increasing transforms of them change no prediction. Rows given twice are not the same as rows of weight two, for the
    content of a column is another then: they give forests of the same kind from other random numbers.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> import fernwood
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> forest = fernwood.SubspaceForestClassifier(q=10, random_state=0).fit(X[::2], y[::2])
    >>> bool(forest.score(X[1::2], y[1::2]) > 0.9)
    True
    """

    _task = "classification"
    _plain = (*_PLAIN, "classes_")
    _hidden = ("_coding",)

    def __init__(
        self,
        q: int | None = None,
        alpha: float = 0.5,
        n_iter: int = 100,
        learner: Literal["extra", "cart", "random"] = "extra",
        max_features: float | Literal["sqrt", "log2"] | None = None,
        *,
        rule: Literal["probe", "importance"] = "probe",
        weighted: bool = False,
        criterion: Literal["entropy", "gini"] = "gini",
        max_depth: int | None = None,
        min_samples_leaf: int = 1,
        min_samples_split: int = 2,
        categories: Literal["multiway", "subset"] = "multiway",
        bootstrap: bool = False,
        max_samples: float | None = None,
        class_weight: Mapping[Any, float] | Literal["balanced"] | None = None,
        round_size: int = 10,
        memory: int | str | None = None,
        n_jobs: int | None = None,
        random_state: int | np.random.Generator | np.random.RandomState | None = None,
    ) -> None:
        super().__init__(
            q,
            alpha,
            n_iter,
            learner,
            max_features,
            rule=rule,
            weighted=weighted,
            criterion=criterion,
            max_depth=max_depth,
            min_samples_leaf=min_samples_leaf,
            min_samples_split=min_samples_split,
            categories=categories,
            bootstrap=bootstrap,
            max_samples=max_samples,
            round_size=round_size,
            memory=memory,
            n_jobs=n_jobs,
            random_state=random_state,
        )
        self.class_weight = class_weight

    def _note_target(self, store: Store, y: Any) -> None:
        self.classes_ = class_labels(store, y)

    def _n_outputs(self) -> int:
        return check_classes(self.classes_)

    def predict_proba(self, X: Any) -> NDArray[np.float64]:  # noqa: N803
        """The mean share of every class in the leaves of a row, shape (rows, classes)."""
        check_is_fitted(self)
        return self._vote(X, len(self.classes_))

    def predict_log_proba(self, X: Any) -> NDArray[np.float64]:  # noqa: N803
        """The logarithms of `predict_proba`; −∞ for a class that no leaf of a row has."""
        with np.errstate(divide="ignore"):
            return np.log(self.predict_proba(X))

    def predict(self, X: Any) -> NDArray[Any]:  # noqa: N803
        """The most likely class of every row; of equally likely ones, the first in `classes_`."""
        shares = self.predict_proba(X)
        return np.asarray(self.classes_[shares.argmax(axis=1)])


class SubspaceForestRegressor(RegressorMixin, _SubspaceForest):  # type: ignore[misc]
    """A forest of sequential random subspaces that predicts numbers.

    Parameters and attributes are those of `SubspaceForestClassifier`, where everything else is said too, but that the
    one `criterion` is `variance`, and that there are no classes and no weights of them.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> import fernwood
    >>> X, y = load_diabetes(return_X_y=True)
    >>> forest = fernwood.SubspaceForestRegressor(q=5, random_state=0).fit(X[::2], y[::2])
    >>> bool(forest.score(X[1::2], y[1::2]) > 0.3)
    True
    """

    _task = "regression"
    _plain = (*_PLAIN, "_centre", "_unit")
    _hidden = ("_coding", "_centre", "_unit")

    def _note_target(self, store: Store, y: Any) -> None:  # noqa: ARG002
        target = store_target(store)
        self._centre, self._unit = target.centre, target.unit

    def _take(self, archive: Archive) -> None:
        scale: tuple[Any, ...] = self._centre, self._unit  # as a file has them
        if not all(isinstance(number, float) and math.isfinite(number) for number in scale):
            raise ValueError("a target in no unit")
        super()._take(archive)

    def _n_outputs(self) -> int:
        return 1

    def predict(self, X: Any) -> NDArray[np.float64]:  # noqa: N803
        """The mean over trees of the target's mean in the leaf of every row, in the units of the target."""
        shares = self._vote(X, 1)[:, 0]
        return np.asarray(self._centre + self._unit * shares)
