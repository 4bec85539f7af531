"""One tree, grown by the gain ratio until its leaves are pure, as C4.5 grows it before pruning (Quinlan 1993)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from sklearn.base import ClassifierMixin, clone
from sklearn.utils import _safe_indexing
from sklearn.utils.validation import check_is_fitted

from fernwood import seeds
from fernwood.errors import ParameterError
from fernwood.estimator import TableEstimator, class_labels, fit_store, new_table
from fernwood.kept.structures import check_classes, check_numbers, put_coding, put_trees, taken_coding, taken_trees
from fernwood.kernels.ready import ensure_compiled
from fernwood.learner.settings import TreeSettings
from fernwood.learner.target import store_target
from fernwood.learner.trees import grow_on, lay_out, predict_shares
from fernwood.sources.base import Kind
from fernwood.store.encode import Coding
from fernwood.subspace.candidates import candidates

if TYPE_CHECKING:
    from typing import Self

    from numpy.typing import NDArray

    from fernwood.kept.archive import Archive
    from fernwood.learner.subsets import Evaluation, SubsetErrors
    from fernwood.learner.target import TreeTarget
    from fernwood.learner.trees import Tree
    from fernwood.store.base import Store

__all__ = ["GainRatioTreeClassifier"]

_TREE = 31  # the address of the tree below the seed


class GainRatioTreeClassifier(ClassifierMixin, TableEstimator):  # type: ignore[misc]
    """A decision tree by the gain ratio, without pruning: what C4.5 grows first.

    Every column offers its best split: numbers in two at a threshold, categories with a branch each. Of the columns
    that gain at least as much information as they do on average, the one wins whose gain is the largest share of what
    the split itself tells. Nodes are split until they are pure or no column can.

    Parameters
    ----------
    nominal : bool
        Whether every column holds categories, also where they are written as numbers. Columns of more than 255 values
        are numbers all the same.
    max_depth, min_samples_leaf, min_samples_split
        As in scikit-learn; of a split with many branches, every one needs enough rows.
    memory : int or str, optional
        What making a store of `X` may take; see `fernwood.ingest`.
    random_state : int, NumPy generator or None
        Among equal splits of a column, each has equal chance. Among equal columns the first in the order of their
        checksums wins, so that a column that no split used can go and the tree stays.

    Attributes
    ----------
    classes_ : array; the classes, in order
    columns_ : int64 array; positions of the columns that the tree splits on
    tree_ : Tree; flat arrays, whose columns are places in `columns_`
    n_features_in_, feature_names_in_

    Notes
    -----
    As in release 8, a threshold pays for being chosen among many: log₂ of their number over the rows of the node is
    taken from its gain, and a column that then gains nothing cannot split. A difference from C4.5: missing values take
    the branch where they gain most, as a whole.

    References
    ----------
    J. R. Quinlan (1993). C4.5: Programs for machine learning.

    J. R. Quinlan (1996). Improved use of continuous attributes in C4.5. Journal of Artificial Intelligence Research 4.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> import fernwood
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> tree = fernwood.GainRatioTreeClassifier(random_state=0).fit(X[::2], y[::2])
    >>> bool(tree.score(X[1::2], y[1::2]) > 0.85)
    True
    """

    _plain = ("classes_", "columns_")
    _hidden = ("_coding",)

    def __init__(
        self,
        nominal: bool = False,
        max_depth: int | None = None,
        min_samples_leaf: int = 1,
        min_samples_split: int = 2,
        *,
        memory: int | str | None = None,
        random_state: int | np.random.Generator | np.random.RandomState | None = None,
    ) -> None:
        self.nominal = nominal
        self.max_depth = max_depth
        self.min_samples_leaf = min_samples_leaf
        self.min_samples_split = min_samples_split
        self.memory = memory
        self.random_state = random_state

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:  # noqa: N803
        """Grow the tree.

        Parameters
        ----------
        X
            A `Store`, a data frame, a SciPy sparse matrix, or anything like an array of numbers; NaN is missing.
        y
            The class of every row; of a store, None means its own target.
        sample_weight : optional
            The weight of every row; rows of weight zero take no part.
        """
        soil = self._soil(X, y, sample_weight)
        grown = soil.tree(np.ones(len(soil.ids), bool))
        used = np.unique(grown.column[grown.column >= 0])
        self.columns_ = soil.ids[used]
        places = np.where(grown.column >= 0, np.searchsorted(used, grown.column), -1).astype(np.int32)
        self.tree_ = grown._replace(column=places)
        self._coding = Coding.of(soil.store, self.columns_)
        return self

    def _soil(self, X: Any, y: Any, sample_weight: Any) -> _Soil:  # noqa: N803
        if not isinstance(self.nominal, (bool, np.bool_)):
            raise ParameterError(f"nominal is {self.nominal!r}; give True or False")
        settings = TreeSettings(
            "cart", "gain-ratio", None, self.max_depth, self.min_samples_leaf, self.min_samples_split
        )
        seed = seeds.entropy(self.random_state)
        store = fit_store(
            self, X, y, sample_weight=sample_weight, task="classification", memory=self.memory, least_columns=0
        )
        self.classes_ = class_labels(store, y)
        ensure_compiled("trees")
        ids = candidates(store)
        kinds = store.kinds[ids]
        if self.nominal:
            kinds = np.where(Coding.of(store, ids).exact, np.uint8(Kind.CATEGORY), kinds)
        return _Soil(store, ids, store.read(ids), kinds, store_target(store), settings, seed)

    def _put(self, archive: Archive) -> None:
        put_trees(archive, [self.tree_])
        put_coding(archive, self._coding)

    def _take(self, archive: Archive) -> None:
        check_numbers(self.columns_, np.int64, None)
        n_columns = len(self.columns_)
        self._coding = taken_coding(archive, n_columns)
        self.tree_ = taken_trees(archive, n_columns + 1, check_classes(self.classes_))[0]

    def predict_proba(self, X: Any) -> NDArray[np.float64]:  # noqa: N803
        """The share of every class in the leaf of a row, shape (rows, classes)."""
        check_is_fitted(self)
        codes = self._coding.codes(new_table(self, X), n_blank=1)
        return predict_shares(self.tree_, codes, len(self.classes_))

    def predict_log_proba(self, X: Any) -> NDArray[np.float64]:  # noqa: N803
        """The logarithms of `predict_proba`; −∞ for a class that the leaf of a row has not."""
        with np.errstate(divide="ignore"):
            return np.log(self.predict_proba(X))

    def predict(self, X: Any) -> NDArray[Any]:  # noqa: N803
        """The most frequent class in the leaf of every row; of equally frequent ones, the first in `classes_`."""
        places = self.predict_proba(X).argmax(axis=1)
        return np.asarray(self.classes_[places])

    def subset_errors(self, evaluation: Evaluation) -> SubsetErrors | None:
        """Errors of subsets of columns, which are coded once and not for every subset; see `fernwood.learner.subsets`.

        None where the score is not the accuracy, or fitting needs more than weights.
        """
        if not evaluation.by_accuracy or set(evaluation.params.fit) - {"sample_weight"}:
            return None
        return _TreeErrors(evaluation)


class _Soil(NamedTuple):
    """What a tree grows on: the codes of the usable columns of a store, in the order in which they are looked at."""

    store: Store
    ids: NDArray[np.int64]
    codes: NDArray[np.uint8]
    kinds: NDArray[np.uint8]
    target: TreeTarget
    settings: TreeSettings
    seed: int

    def tree(self, chosen: NDArray[np.bool_]) -> Tree:
        """A tree on some of the columns; its classes are numbered in their own order, its columns as they are here."""
        places = np.flatnonzero(chosen)
        codes, kinds = self.codes, self.kinds
        if len(places) < len(chosen):
            codes, kinds = codes[places], kinds[places]
        if not len(places):  # nothing to split on: a leaf
            codes, kinds = np.zeros((1, self.store.n_rows), np.uint8), np.zeros(1, np.uint8)
        ground = lay_out(codes, self.target, self.settings, kinds)
        # The order of columns is that of their checksums: a column that no split used can go, and the tree stays.
        grown = grow_on(ground._replace(rules=ground.rules._replace(first=1)), seeds.state(self.seed, _TREE))
        classes = self.target.classes.astype(np.int32)
        inner = grown.column >= 0
        column = np.where(inner, np.append(places, 0)[grown.column], -1).astype(np.int32)
        return grown._replace(column=column, entry_class=classes[grown.entry_class])


class _TreeErrors:
    """The errors of subsets by trees that grow on codes made once for every split; a `SubsetErrors`."""

    def __init__(self, evaluation: Evaluation) -> None:
        self.n_columns = evaluation.n_columns
        self._evaluation = evaluation
        self._sides = []
        weights = evaluation.params.fit.get("sample_weight")
        for train, test in evaluation.splits:
            model = clone(evaluation.estimator)
            part = None if weights is None else np.asarray(weights)[train]
            soil = model._soil(_safe_indexing(evaluation.table, train), evaluation.y[train], part)  # noqa: SLF001
            coding = Coding.of(soil.store, soil.ids)
            table = new_table(model, _safe_indexing(evaluation.table, test))
            self._sides.append((soil, coding.codes(table, n_blank=1), model.classes_, evaluation.y[test]))

    def __call__(self, columns: NDArray[np.int64]) -> float:
        """The error on columns given by position."""
        wanted = np.zeros(self.n_columns, bool)
        wanted[columns] = True
        scores = []
        for soil, codes, classes, truth in self._sides:
            shares = predict_shares(soil.tree(wanted[soil.ids]), codes, len(classes))
            scores.append(np.mean(classes[shares.argmax(axis=1)] == truth))
        return self._evaluation.error(scores)
