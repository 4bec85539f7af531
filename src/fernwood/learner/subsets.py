"""How good a learner is on a subset of the columns: any scikit-learn estimator, any score, rows split once for all.

An error is a number of which less is better, in the unit of the score: 1 − score, and −score for scores whose name
begins with ``neg_``, which are losses turned round. So the error of an accuracy is the share of rows that are wrong,
that of R² the share left unexplained, that of ``neg_mean_squared_error`` the mean squared error itself.
"""

from __future__ import annotations

import inspect
from copy import deepcopy
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import numpy as np

from fernwood import seeds
from fernwood.errors import LearnerError, ParameterError, printable, shown
from fernwood.shortage import is_shortage

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from numpy.typing import NDArray

__all__ = ["CrossValidated", "Evaluation", "RowParams", "Split", "SubsetErrors", "evaluation_of", "subset_errors"]

# Addresses below the seed, beside those of the searches.
_MODEL, _SPLITS = 40, 41
_NONE: Mapping[str, Any] = {}
_LONGEST_LINE = 300


class Split(NamedTuple):
    """Rows to fit on, and rows to score on, by position."""

    train: NDArray[np.int64]
    test: NDArray[np.int64]


class RowParams(NamedTuple):
    """What fitting, scoring and splitting are given beside the table, such as weights; arrays have a value a row."""

    fit: Mapping[str, Any] = _NONE
    score: Mapping[str, Any] = _NONE
    split: Mapping[str, Any] = _NONE


class SubsetErrors(Protocol):
    """Anything that tells how good a learner is on some of the columns: cross-validation, tables, a test's oracle."""

    n_columns: int

    def __call__(self, columns: NDArray[np.int64]) -> float:
        """The error on columns given by position, in order; less is better."""


@dataclass(frozen=True, eq=False)
class Evaluation:
    """What subsets of columns are tried on, the same for all of them.

    Attributes
    ----------
    estimator : scikit-learn estimator, cloned for every fit; where it is random, its seeds are set
    table : array, sparse matrix or data frame that it takes, all columns
    y : target
    splits : rows to fit and to score on
    scorer : called as ``scorer(fitted, table, y)``; more is better
    is_loss : whether the scorer is a loss turned round
    params : what fitting and scoring are given beside it
    held_out : rows to fit on and rows that no split has, where some are held out
    """

    estimator: Any
    table: Any
    y: NDArray[Any]
    splits: Sequence[Split]
    scorer: Callable[..., Any]
    is_loss: bool = False
    params: RowParams = field(default_factory=RowParams)
    held_out: Split | None = None

    @property
    def n_columns(self) -> int:
        """Columns of the table."""
        return int(self.table.shape[1])

    @property
    def by_accuracy(self) -> bool:
        """Whether the score is the share of rows that are right: a classifier's own, or that by name, without more."""
        from sklearn.base import ClassifierMixin
        from sklearn.metrics import accuracy_score, check_scoring

        if self.params.score:
            return False
        if type(self.scorer) is type(check_scoring(self.estimator, None)):
            return getattr(type(self.estimator), "score", None) is ClassifierMixin.score
        inner = getattr(self.scorer, "_score_func", None)
        return inner is accuracy_score and repr(self.scorer) == repr(check_scoring(self.estimator, "accuracy"))

    def error(self, scores: Iterable[float]) -> float:
        """The error that the scores on the splits make together."""
        mean = float(np.mean(list(scores)))
        return -mean if self.is_loss else 1 - mean

    def on_held_out(self) -> Evaluation | None:
        """The same on the rows held out, if some are."""
        return None if self.held_out is None else replace(self, splits=(self.held_out,), held_out=None)


class CrossValidated:
    """The plain way: fit a clone on every split, and score it. A `SubsetErrors`.

    Parameters
    ----------
    evaluation
    n_jobs
        Splits that are fitted at once, on threads unless joblib's context says otherwise.

    Notes
    -----
    Peak memory: the columns asked for, twice, for every split that is fitted at once.

    Examples
    --------
    >>> from sklearn.naive_bayes import GaussianNB
    >>> x = np.random.default_rng(0).standard_normal((60, 4))
    >>> errors = CrossValidated(evaluation_of(GaussianNB(), x, x[:, 2] > 0, cv=3, scoring=None))
    >>> errors(np.array([2])) < 0.2 < errors(np.array([0, 1]))
    True
    """

    def __init__(self, evaluation: Evaluation, n_jobs: int = 1) -> None:
        self.n_columns = evaluation.n_columns
        self._evaluation = evaluation
        self._n_jobs = n_jobs

    def __call__(self, columns: NDArray[np.int64]) -> float:
        """The error on columns given by position."""
        from joblib import Parallel, delayed
        from sklearn.utils import _safe_indexing

        part = _safe_indexing(self._evaluation.table, columns, axis=1)
        scores = Parallel(n_jobs=self._n_jobs, prefer="threads")(
            delayed(_score)(self._evaluation, part, split) for split in self._evaluation.splits
        )
        return self._evaluation.error(scores)


def subset_errors(evaluation: Evaluation, n_jobs: int = 1) -> SubsetErrors:
    """The errors of subsets, by the learner's own fast path where it has one, or else the plain way.

    A learner's own is its method ``subset_errors(evaluation)``, which gives a `SubsetErrors`, or None where it cannot.

    Examples
    --------
    >>> from sklearn.linear_model import LinearRegression
    >>> x = np.random.default_rng(0).standard_normal((60, 3))
    >>> errors = subset_errors(evaluation_of(LinearRegression(), x, x[:, 0], cv=3, scoring=None))
    >>> round(errors(np.array([0, 2])), 6) + 0.0
    0.0
    """
    from fernwood.learner.bayes import fast_errors

    own = getattr(evaluation.estimator, "subset_errors", fast_errors)
    return own(evaluation) or CrossValidated(evaluation, n_jobs)


def evaluation_of(
    estimator: Any,
    table: Any,
    y: Any,
    *,
    cv: Any,
    scoring: Any,
    seed: int = 0,
    sample_weight: Any = None,
    groups: Any = None,
    params: RowParams | None = None,
    holdout: Any = None,
) -> Evaluation:
    """What a learner's subsets of columns are tried on: the rows split once, the score made ready.

    Parameters
    ----------
    estimator
        A scikit-learn classifier or regressor.
    table, y
        What it is fitted on.
    cv
        Folds, a splitter, or an iterable of splits, as scikit-learn takes them; a number of folds keeps groups
        together.
    scoring
        A name or a function as scikit-learn takes them; None is the estimator's own score.
    seed
        For every `random_state` of the estimator and of the splitter that is None.
    sample_weight
        Given to fitting, and to scoring where the score takes weights.
    groups
        Given to the splitter.
    params
        More of both, already routed.
    holdout
        A share of the rows to hold out, or a splitter whose first split says which; None holds out none.

    Examples
    --------
    >>> from sklearn.naive_bayes import GaussianNB
    >>> x = np.random.default_rng(0).standard_normal((60, 4))
    >>> [len(split.test) for split in evaluation_of(GaussianNB(), x, x[:, 2] > 0, cv=4, scoring=None).splits]
    [15, 15, 15, 15]
    """
    model = _with_seeds(estimator, seed)
    routed = params or RowParams()
    scorer = _scorer(model, scoring)
    if sample_weight is not None:
        _check_sum(sample_weight)
        routed = _with_weights(routed, model, scorer, sample_weight)
    if groups is not None:
        routed = routed._replace(split={**routed.split, "groups": groups})
    y = np.asarray(y)
    splits, held_out = _all_splits(model, table, y, cv, holdout, routed.split, seed)
    is_loss = isinstance(scoring, str) and scoring.startswith("neg_")
    return Evaluation(model, table, y, splits, scorer, is_loss, routed, held_out)


def _check_sum(weights: Any) -> None:
    """Refuse weights that no learner could add up."""
    amounts = np.asarray(weights, np.float64)
    with np.errstate(over="ignore"):
        total = amounts.sum()
    if not np.isfinite(total):
        raise ParameterError(
            f"the weights reach {amounts.max():g}, and their sum is beyond the largest number; divide them by one, "
            "such as the largest"
        )


def _score(evaluation: Evaluation, part: Any, split: Split) -> float:
    """The score of one fit."""
    from sklearn.base import clone
    from sklearn.utils import _safe_indexing

    rows_of, y, params = _safe_indexing, evaluation.y, evaluation.params
    model = clone(evaluation.estimator)
    try:
        model.fit(rows_of(part, split.train), y[split.train], **_of_rows(params.fit, split.train, len(y)))
        score = evaluation.scorer(
            model, rows_of(part, split.test), y[split.test], **_of_rows(params.score, split.test, len(y))
        )
    except Exception as error:  # whatever a learner raises
        if is_shortage(error):
            raise
        cause = f"{type(error).__name__}: {_first_line(error)}"
        raise LearnerError(f"{type(model).__name__} failed with {part.shape[1]:,} columns: {cause}") from error
    if not isinstance(score, (int, float, np.number)) or not np.isfinite(score):
        raise LearnerError(
            f"the score of {type(model).__name__} with {part.shape[1]:,} columns is {shown(score)}; a score must be a "
            "number: give another scoring, or another cv"
        )
    return float(score)


def _of_rows(params: Mapping[str, Any], rows: NDArray[np.int64], n_rows: int) -> dict[str, Any]:
    """Parameters for some of the rows; what has not a value a row stays whole."""
    from sklearn.utils import _safe_indexing

    def part(value: Any) -> Any:
        has_rows = hasattr(value, "__len__") and not isinstance(value, (str, dict)) and len(value) == n_rows
        return _safe_indexing(value, rows) if has_rows else value

    return {name: part(value) for name, value in params.items()}


def _with_seeds(estimator: Any, seed: int) -> Any:
    """A clone whose every `random_state` that is None is a number below the seed."""
    from sklearn.base import clone

    if not (hasattr(estimator, "fit") and hasattr(estimator, "get_params")):
        raise ParameterError(
            f"estimator is {shown(repr(estimator))}, which is no scikit-learn estimator; give a classifier or regressor"
        )
    model = clone(estimator)
    given = model.get_params(deep=True)
    names = sorted(name for name in given if name.rpartition("__")[2] == "random_state" and given[name] is None)
    drawn = seeds.generator(seed, _MODEL).integers(2**31, size=len(names)).tolist()
    return model.set_params(**dict(zip(names, drawn, strict=True)))


def _scorer(model: Any, scoring: Any) -> Callable[..., Any]:
    from sklearn.metrics import check_scoring

    if scoring is not None and not isinstance(scoring, str) and not callable(scoring):
        raise ParameterError(f"scoring is {shown(repr(scoring))}; give one name or one function, or None")
    try:
        scorer: Callable[..., Any] = check_scoring(model, scoring)
    except (ValueError, TypeError) as error:
        raise ParameterError(f"scoring is {shown(scoring)}, which does not serve: {_first_line(error)}") from error
    return scorer


def _with_weights(params: RowParams, model: Any, scorer: Callable[..., Any], sample_weight: Any) -> RowParams:
    from sklearn.pipeline import Pipeline
    from sklearn.utils.validation import has_fit_parameter

    steps = model.steps if isinstance(model, Pipeline) else []
    name, last = (f"{steps[-1][0]}__sample_weight", steps[-1][1]) if steps else ("sample_weight", model)
    if not has_fit_parameter(last, "sample_weight"):
        raise ParameterError(
            f"sample_weight is given and {type(model).__name__}.fit takes none; leave it out, or give another estimator"
        )
    given = {"sample_weight": np.asarray(sample_weight)}
    # What computes the score: a metric inside scikit-learn's scorer, the estimator's own score, or the user's function.
    inner = getattr(scorer, "_score_func", None)
    if inner is None:
        inner = model.score if hasattr(scorer, "_estimator") else scorer
    takes = "sample_weight" in inspect.signature(inner).parameters
    fit = {**params.fit, name: given["sample_weight"]}
    return params._replace(fit=fit, score={**params.score, **(given if takes else {})})


def _all_splits(
    model: Any, table: Any, y: NDArray[Any], cv: Any, holdout: Any, params: Mapping[str, Any], seed: int
) -> tuple[tuple[Split, ...], Split | None]:
    """The splits of the rows, and before them the rows held out, if some are."""
    if holdout is None:
        return tuple(_splits(model, table, y, cv, params, seed)), None
    from sklearn.utils import _safe_indexing

    splitter = _share(model, float(holdout), params, seed) if isinstance(holdout, (float, np.floating)) else holdout
    first = _splits(model, table, y, splitter, params, seed, "holdout")[0]
    kept = Split(np.sort(first.train), np.sort(first.test))  # in the order of the table, as without
    rows = kept.train
    inner = _splits(model, _safe_indexing(table, rows), y[rows], cv, _of_rows(params, rows, len(y)), seed)
    if max(max(split.train.max(), split.test.max()) for split in inner) >= len(rows):
        raise ParameterError(
            f"cv is {shown(cv)}, which names rows of the whole table; leave out holdout, or give folds or a splitter "
            "that splits what it is given"
        )
    return tuple(Split(rows[split.train], rows[split.test]) for split in inner), kept


def _share(model: Any, share: float, params: Mapping[str, Any], seed: int) -> Any:
    """A splitter that holds out a share of the rows: of every class, or of whole groups."""
    from sklearn.base import is_classifier
    from sklearn.model_selection import GroupShuffleSplit, ShuffleSplit, StratifiedShuffleSplit

    kind = GroupShuffleSplit if params.get("groups") is not None else ShuffleSplit
    if kind is ShuffleSplit and is_classifier(model):
        kind = StratifiedShuffleSplit
    return kind(1, test_size=share, random_state=int(seeds.generator(seed, _SPLITS, 1).integers(2**31)))


def _first_line(error: Exception) -> str:
    """What a learner of others said, without the lines below it; it may quote any text of the table."""
    line = next((line.strip() for line in str(error).splitlines() if line.strip()), "no message")
    return printable(line if len(line) <= _LONGEST_LINE else f"{line[:_LONGEST_LINE]}…")


def _splits(
    model: Any, table: Any, y: NDArray[Any], cv: Any, params: Mapping[str, Any], seed: int, name: str = "cv"
) -> list[Split]:
    from sklearn.base import is_classifier
    from sklearn.model_selection import GroupKFold, StratifiedGroupKFold, check_cv

    stratified, n_rows = is_classifier(model), len(y)
    if isinstance(cv, (int, np.integer)) and not 2 <= cv <= n_rows:
        raise ParameterError(f"cv is {cv} and the table has {n_rows:,} rows; give from 2 folds to one for every row")
    try:
        if isinstance(cv, (int, np.integer)) and params.get("groups") is not None:
            splitter = StratifiedGroupKFold(int(cv)) if stratified else GroupKFold(int(cv))
        else:
            splitter = check_cv(cv, y, classifier=stratified)
        if getattr(splitter, "random_state", 0) is None:
            splitter = deepcopy(splitter)
            splitter.random_state = int(seeds.generator(seed, _SPLITS).integers(2**31))
        splits = list(splitter.split(table, y, **params))
    except (ValueError, TypeError) as error:
        raise ParameterError(
            f"{name} is {shown(cv)}, which does not split {n_rows:,} rows: {_first_line(error)}"
        ) from error
    if not splits:
        raise ParameterError(f"{name} is {shown(cv)}, which makes no split; give at least one")
    return [Split(np.asarray(train, np.int64), np.asarray(test, np.int64)) for train, test in splits]
