"""Random ferns that predict classes, after Kursa (2014, 2017)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from fernwood import seeds
from fernwood.errors import ParameterError
from fernwood.estimator import TableEstimator, class_labels, fit_store, n_threads, new_table
from fernwood.kept.structures import check_classes, check_numbers, put_coding, put_ferns, taken_coding, taken_ferns
from fernwood.kernels.ferns import Trunks
from fernwood.kernels.ready import ensure_compiled
from fernwood.learner.ferns import (
    Ferns,
    check_depth,
    draw_columns,
    fern_rows,
    grow,
    new_tally,
    new_votes,
    total_scores,
    warn_of_empty_leaves,
)
from fernwood.learner.many import in_order
from fernwood.search.dealing import Dealer
from fernwood.store.encode import Coding
from fernwood.subspace.candidates import candidates
from fernwood.validation import at_least

if TYPE_CHECKING:
    from typing import Self

    from numpy.typing import NDArray

    from fernwood.kept.archive import Archive
    from fernwood.kernels.ferns import Tally
    from fernwood.learner.ferns import FernRows
    from fernwood.store.base import Store

__all__ = ["RandomFernsClassifier"]

_FERNS = 20  # the address of ferns below the seed
_SPLITS = ("least", "width", "subset")
_FERNS_A_BLOCK = 128
"""Ferns that share a read of their columns, and a seed sequence."""


class RandomFernsClassifier(ClassifierMixin, TableEstimator):  # type: ignore[misc]
    """Random ferns: classes scored by the leaves of many random sequences of splits.

    A fern draws `depth` columns and a random split of each, which divide the rows into 2^depth leaves, and scores a
    class in a leaf by how much more often a bag of rows has it there than elsewhere. The scores of all ferns are added.

    Parameters
    ----------
    n_ferns : int
        How many ferns there are.
    depth : int
        Splits of a fern, 1 to 16.
    importances : bool
        Whether the importance of every column is measured, and that of its shadow.
    memory : int or str, optional
        What making a store of `X` may take; see `fernwood.ingest`.
    n_jobs : int, optional
        Threads. The answer does not depend on them.
    random_state : int, NumPy generator or None
        The same integer gives the same ferns.

    Attributes
    ----------
    classes_ : array
        The classes, in order.
    oob_scores_ : array, shape (rows, classes)
        The mean score of every row over the ferns whose bags it was not in; NaN for a row that was in all of them, or
        whose weight in a store is zero.
    oob_error_ : float
        The share of rows with such a score whose class has not the highest; NaN where there are none.
    feature_importances_, shadow_importances_ : arrays, with ``importances=True``
        By how much the score of a row's class falls, out of the bag, when a column is permuted, formula (6); and the
        same of its shadow, formula (7). Means over the ferns that use the column, 0 where none does.
    columns_ : array
        Positions of the columns that any fern splits on: all that predicting needs.
    ferns_ : Ferns
        Splits, whose columns are places in `columns_`, and scores.
    n_features_in_, feature_names_in_
        As scikit-learn defines them; a `Store` gives no `feature_names_in_`.

    Notes
    -----
    Scores compare classes as if all were equally frequent (formula (5)), so that rare classes are not lost; a leaf that
    no row of the bag is in speaks for the rarest. Numbers are split between the codes of two random rows, which are
    ranks; categories by random subsets; missing values go to either side by chance.

    Peak memory: a byte a cell for the store (nothing where `X` is one); the columns of 128 ferns for every thread; and
    8 bytes for every fern, leaf and class, 2 MB for 1000 ferns of depth 7 and two classes, 1 GB at depth 16.

    References
    ----------
    M. B. Kursa (2014). rFerns: An implementation of the random ferns method for general-purpose machine learning.
    Journal of Statistical Software 61(10).

    M. B. Kursa (2017). Embedded all relevant feature selection with random ferns. ISMIS.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> import fernwood
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> ferns = fernwood.RandomFernsClassifier(random_state=0).fit(X[::2], y[::2])
    >>> bool(ferns.score(X[1::2], y[1::2]) > 0.9), ferns.oob_error_ < 0.1
    (True, True)
    """

    _maybe = ("feature_importances_", "shadow_importances_")
    _plain = ("classes_", "columns_", "oob_error_", "oob_scores_", *_maybe)
    _hidden = ("_coding",)

    def __init__(
        self,
        n_ferns: int = 1000,
        depth: int = 7,
        *,
        importances: bool = False,
        memory: int | str | None = None,
        n_jobs: int | None = None,
        random_state: int | np.random.Generator | np.random.RandomState | None = None,
    ) -> None:
        self.n_ferns = n_ferns
        self.depth = depth
        self.importances = importances
        self.memory = memory
        self.n_jobs = n_jobs
        self.random_state = random_state

    def fit(self, X: Any, y: Any = None) -> Self:  # noqa: N803
        """Grow the ferns.

        Parameters
        ----------
        X
            A `Store`, a data frame, a SciPy sparse matrix, or anything like an array of numbers; NaN is missing.
        y
            The class of every row; of a store, None means its own target.
        """
        check_depth(self.depth)
        at_least("n_ferns", self.n_ferns, 1)
        if not isinstance(self.importances, (bool, np.bool_)):
            raise ParameterError(f"importances is {self.importances!r}; give True or False")
        seed, threads = seeds.entropy(self.random_state), n_threads(self.n_jobs)
        store = fit_store(self, X, y, task="classification", memory=self.memory)
        rows = fern_rows(store)
        warn_of_empty_leaves(self.depth, len(rows.labels))
        ensure_compiled("ferns")
        self.classes_ = class_labels(store, y)[rows.classes]
        self._grow(store, rows, seed, threads)
        return self

    def _grow(self, store: Store, rows: FernRows, seed: int, threads: int) -> None:
        """Grow all ferns block by block, and keep them in the order of classes."""
        ids = candidates(store)
        kinds, checksums = store.kinds[ids], store.checksums[ids]
        deal = Dealer(seed, groups=None if store.groups is None else rows.units)
        tally = new_tally(len(ids))
        votes = new_votes(len(rows.labels), len(rows.classes))

        def block(first: int) -> tuple[Ferns, NDArray[np.int32], Tally | None, NDArray[np.float64]]:
            states = seeds.states(_FERNS_A_BLOCK, seed, _FERNS, first)[: self.n_ferns - first]
            drawn = draw_columns(states, len(ids), self.depth)
            used, places = np.unique(drawn, return_inverse=True)
            field = rows.field(store.read(ids[used]), kinds[used])
            shadows = partial = None
            if self.importances:
                partial = new_tally(len(used))
                shadows = deal(field.codes.copy(), checksums[used], np.zeros(len(used), np.uint64))
            said = np.zeros_like(votes)
            here = np.asarray(places, np.int32).reshape(drawn.shape)
            ferns = grow(field, here, states, votes=said, tally=partial, shadows=shadows)
            return Ferns(ferns.trunks._replace(column=drawn), ferns.scores), used, partial, said

        blocks: list[Ferns] = []
        for ferns, used, partial, said in in_order(block, range(0, self.n_ferns, _FERNS_A_BLOCK), threads):
            blocks.append(ferns)
            votes += said
            if partial is not None:
                tally.often[used] += partial.often
                tally.importance[used] += partial.importance
                tally.shadow[used] += partial.shadow
        self._keep(store, ids, blocks)
        self._judge(store, ids, rows, votes, tally)

    def _keep(self, store: Store, ids: NDArray[np.int64], blocks: list[Ferns]) -> None:
        """All ferns as one, whose columns are places among those that any of them splits on."""
        least, width, subset = (np.concatenate([getattr(b.trunks, name) for b in blocks]) for name in _SPLITS)
        drawn = ids[np.concatenate([ferns.trunks.column for ferns in blocks])]
        self.columns_, places = np.unique(drawn, return_inverse=True)
        trunks = Trunks(places.reshape(drawn.shape).astype(np.int32), least, width, subset)
        self.ferns_ = Ferns(trunks, np.concatenate([ferns.scores for ferns in blocks]))
        self._coding = Coding.of(store, self.columns_)

    def _judge(
        self, store: Store, ids: NDArray[np.int64], rows: FernRows, votes: NDArray[np.float64], tally: Tally
    ) -> None:
        """What rows out of the bags say: of the ferns, and of the columns."""
        voted = votes[:, -1] > 0
        chosen = votes[voted, :-1].argmax(axis=1)
        self.oob_error_ = float(np.mean(chosen != rows.labels[voted])) if voted.any() else float("nan")
        self.oob_scores_ = np.full((store.n_rows, len(rows.classes)), np.nan)
        counted = np.arange(store.n_rows) if rows.kept is None else rows.kept
        self.oob_scores_[counted[voted]] = votes[voted, :-1] / votes[voted, -1:]
        if self.importances:
            times = np.maximum(tally.often, 1)
            self.feature_importances_, self.shadow_importances_ = np.zeros((2, store.n_columns))
            self.feature_importances_[ids] = tally.importance / times
            self.shadow_importances_[ids] = tally.shadow / times

    def _put(self, archive: Archive) -> None:
        put_ferns(archive, self.ferns_)
        put_coding(archive, self._coding)

    def _take(self, archive: Archive) -> None:
        check_numbers(self.columns_, np.int64, None)
        self._coding = taken_coding(archive, len(self.columns_))
        self.ferns_ = taken_ferns(archive, len(self.columns_), check_classes(self.classes_))

    def _mean_scores(self, X: Any) -> NDArray[np.float64]:  # noqa: N803
        check_is_fitted(self)
        codes = self._coding.codes(new_table(self, X))
        scores = total_scores(self.ferns_, codes, len(self.classes_), n_threads(self.n_jobs))
        return scores / len(self.ferns_.scores)

    def decision_function(self, X: Any) -> NDArray[np.float64]:  # noqa: N803
        """The mean score of every class, shape (rows, classes); of two classes, the second's less the first's."""
        scores = self._mean_scores(X)
        two = len(self.classes_) == 2
        return np.asarray(scores[:, 1] - scores[:, 0]) if two else scores

    def predict_proba(self, X: Any) -> NDArray[np.float64]:  # noqa: N803
        """The exponentials of the mean scores, made to sum to 1: the ferns' geometric mean, all classes being equal.

        Ferns that saw little say little, so that these are nearer to each other than shares of rows would be.
        """
        scores = self._mean_scores(X)
        odds = np.exp(scores - scores.max(axis=1, keepdims=True))
        return np.asarray(odds / odds.sum(axis=1, keepdims=True))

    def predict(self, X: Any) -> NDArray[Any]:  # noqa: N803
        """The class of the highest score of every row, formula (1); of equal ones, the first in `classes_`."""
        places = self._mean_scores(X).argmax(axis=1)
        return np.asarray(self.classes_[places])
