"""What our scikit-learn classes share: any table becomes a store, under scikit-learn's checks and ours.

>>> import numpy as np
>>> from sklearn.base import BaseEstimator
>>> estimator = BaseEstimator()
>>> fit_store(estimator, np.arange(12.0).reshape(4, 3) % 5, ["a", "b", "a", "b"], task="classification")
<MemoryStore: 4 rows, 3 columns>
>>> estimator.n_features_in_
3
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from joblib import effective_n_jobs
from sklearn.base import BaseEstimator
from sklearn.utils import check_array, check_consistent_length
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import validate_data

from fernwood.errors import ParameterError, TargetError, shown, shown_value
from fernwood.kept.saving import Savable
from fernwood.search.checks import check_rows, check_table
from fernwood.shortage import MOST_THREADS
from fernwood.sources.arrays import array_band
from fernwood.sources.frames import collected, is_frame
from fernwood.store.base import Store
from fernwood.store.ingest import ingest
from fernwood.store.roles import Roles, make_groups, make_target
from fernwood.validation import is_integer

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray
    from sklearn.utils import Tags

    from fernwood.store.roles import Task

__all__ = ["TableEstimator", "class_labels", "fit_store", "forget_fit", "n_threads", "new_table"]

_LABELS = "biuUS"
"""Types that can be nothing but classes; `check_table` has a sentence for too many of them."""


class TableEstimator(Savable, BaseEstimator):  # type: ignore[misc]
    """An estimator that takes tables with missing values, sparse ones too, needs a target, and can be saved."""

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.allow_nan = True
        tags.target_tags.required = True
        return tags


def fit_store(
    estimator: Any,
    X: Any,  # noqa: N803
    y: Any,
    *,
    sample_weight: Any = None,
    groups: Any = None,
    task: Task | None = None,
    memory: int | str | None = None,
    least_columns: int = 2,
    given: Sequence[str | int] = (),
) -> Store:
    """The store that an estimator is fitted on, checked; `n_features_in_` and `feature_names_in_` are set.

    Nothing of an earlier fit is left then.

    Parameters
    ----------
    estimator
        Gets the attributes, as scikit-learn sets them. A store has names by itself: it sets no `feature_names_in_`.
    X
        A `Store`; a data frame, whose text, categories, booleans and dates stay what they are; a SciPy sparse matrix;
        or anything like an array of numbers. NaN is missing.
    y
        The target, one value for every row; of a store, None means its own target.
    sample_weight
        A weight for every row; of a store, None means its own weights.
    groups
        A group for every row, such as its patient; of a store, None means its own groups.
    task : {"classification", "regression"}, optional
        What the target asks for; by default as `fernwood.ingest` tells it.
    memory
        What making the store may take; see `fernwood.ingest`.
    least_columns
        How many columns must not be constant; a search needs something to choose from.
    given
        Covariates, see `fernwood.ingest`.

    Notes
    -----
    Peak memory: a byte a cell for the store, and what `fernwood.ingest` takes; nothing for a store, and none of `X` is
    copied unless it is a sparse matrix of another format than CSC.
    """
    forget_fit(estimator)
    if isinstance(X, Store):
        estimator.n_features_in_ = X.n_columns
        store = _in_roles(estimator, X, y, sample_weight, groups, task)
    else:
        target = _checked_target(estimator, y, task)  # first: checking a target alone takes feature names away
        table = _checked_table(estimator, X, reset=True)
        check_consistent_length(table, target)
        check_rows(len(target))
        weights = _checked_weights(sample_weight, len(target))
        if groups is not None:
            check_consistent_length(table, groups)
            groups = np.asarray(groups)
        store = ingest(table, target=target, task=task, weights=weights, groups=groups, memory=memory, given=given)
    check_table(store, least_columns)
    return store


def forget_fit(estimator: Any) -> None:
    """Take away what an earlier fit left: fitting again with other parameters may not set all of it.

    By scikit-learn's custom these are the attributes whose names end in an underscore, and those that `_hidden` names.
    """
    hidden = getattr(estimator, "_hidden", ())
    for name in [name for name in vars(estimator) if name in hidden or (name[-1] == "_" and name[:2] != "__")]:
        delattr(estimator, name)


def new_table(estimator: Any, X: Any) -> Any:  # noqa: N803
    """A table to predict from, checked as scikit-learn does: the columns that the estimator was fitted on."""
    if isinstance(X, Store):
        return X
    if is_frame(X) and not hasattr(estimator, "feature_names_in_"):
        return collected(X)  # columns are found by name, wherever they stand
    return _checked_table(estimator, X, reset=False)


def class_labels(store: Store, y: Any) -> NDArray[Any]:
    """The classes of a store's target in order, of the type that `y` has; None: of the type that the store keeps."""
    if y is not None:
        return np.unique(np.asarray(y))
    return np.array(store.target.classes if store.target is not None else ())


def n_threads(n_jobs: int | None) -> int:
    """How many threads `n_jobs` means, as joblib counts: None is 1 or what the context says, −1 all processors.

    Examples
    --------
    >>> n_threads(None), n_threads(3)
    (1, 3)
    """
    if n_jobs is None or (is_integer(n_jobs) and n_jobs and n_jobs <= MOST_THREADS):
        return int(effective_n_jobs(n_jobs))
    raise ParameterError(
        f"n_jobs is {shown_value(n_jobs)}; give a number of threads from 1 to {MOST_THREADS}, −1 for all processors, "
        "or None"
    )


def _checked_table(estimator: Any, X: Any, *, reset: bool) -> Any:  # noqa: N803
    """A table that scikit-learn has nothing against; the estimator's features are set, or compared."""
    if is_frame(X):
        frame = collected(X)
        validate_data(estimator, frame, reset=reset, skip_check_array=True)
        return frame
    if isinstance(X, np.memmap) and X.ndim == 2 and X.size and X.dtype.kind in "biuf":
        # Looked at band by band later: a look at all of it now would make all of it resident.
        validate_data(estimator, X, reset=reset, skip_check_array=True)
        return X
    with np.errstate(invalid="ignore"):  # it adds all values up first: 1e308 and -1e308 are no mistake
        return validate_data(
            estimator, X, reset=reset, accept_sparse="csc", dtype="numeric", ensure_all_finite="allow-nan"
        )


def _checked_target(estimator: Any, y: Any, task: Task | None) -> NDArray[Any]:
    if y is None:
        raise TargetError(
            f"{type(estimator).__name__} requires y to be passed, but the target y is None; give one value a row"
        )
    with np.errstate(invalid="ignore"):
        target: NDArray[Any] = validate_data(estimator, y=y, y_numeric=task == "regression")
    if task == "classification" and target.dtype.kind not in _LABELS:
        check_classification_targets(target)
    return target


def _checked_weights(sample_weight: Any, n_rows: int) -> NDArray[np.float64] | None:
    if sample_weight is None:
        return None
    weights: NDArray[np.float64] = check_array(
        sample_weight, ensure_2d=False, dtype=np.float64, input_name="sample_weight", allow_nd=True
    )
    if weights.shape != (n_rows,):
        raise ParameterError(f"sample_weight has shape {weights.shape}; give one number for each of the {n_rows} rows")
    if (weights < 0).any():
        raise ParameterError(f"a weight in sample_weight is {weights.min():g}; weights must be numbers from zero on")
    if not weights.any():
        raise ParameterError("sample_weight is zero in every row; give at least one row a weight above zero")
    return weights


def _in_roles(estimator: Any, store: Store, y: Any, sample_weight: Any, groups: Any, task: Task | None) -> Store:
    """A store with its own target, weights and groups, or with those given."""
    check_rows(store.n_rows)
    own = store.roles
    if y is None and own.target is None:
        raise TargetError("the store has no target and y is None; give y, or make the store with a target")
    own_task = own.target.task if own.target else None
    if y is None and task in (None, own_task) and sample_weight is None and groups is None:
        return store
    target, weights = own.target, _checked_weights(sample_weight, store.n_rows)
    if y is not None:
        values = _checked_target(estimator, y, task)
        if len(values) != store.n_rows:
            raise TargetError(f"y has {len(values)} values and the store has {store.n_rows} rows; they must agree")
        target = make_target(array_band(values[:, None], "y"), "target", task)
    elif target is not None and task not in (None, target.task):
        raise TargetError(
            f"the target {shown(target.name)} of the store asks for {target.task} and {type(estimator).__name__} does "
            f"{task}; take the other estimator, or give y"
        )
    together = own.groups
    if groups is not None:
        if len(groups) != store.n_rows:
            raise ParameterError(f"groups has {len(groups)} values; give one for each of the {store.n_rows} rows")
        together = make_groups(array_band(np.asarray(groups)[:, None], "groups"), "groups")
    return store.with_roles(Roles(target, own.weights if weights is None else weights, together))
