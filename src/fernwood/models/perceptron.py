"""The thermal perceptron (Frean 1992): a linear threshold that settles whether or not it can separate the classes."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

from fernwood import seeds
from fernwood.errors import ParameterError, TargetError
from fernwood.estimator import forget_fit
from fernwood.kept.saving import Savable
from fernwood.kept.structures import check_classes, check_numbers
from fernwood.kernels.perceptron import train_perceptron

if TYPE_CHECKING:
    from typing import Self

    from numpy.typing import NDArray

    from fernwood.kept.archive import Archive

__all__ = ["ThermalPerceptron"]

_ORDER = 30  # the address of the order of rows below the seed


class ThermalPerceptron(ClassifierMixin, Savable, BaseEstimator):  # type: ignore[misc]
    """A linear threshold unit, trained by the thermal perceptron rule.

    Rows on the wrong side move the weights, those far from the threshold exponentially less, and all of them less as
    the temperature falls. The weights therefore settle near few errors where no hyperplane separates the classes. More
    than two classes are told apart one against all others.

    Parameters
    ----------
    temperature : float
        The temperature at first, in the unit of the weighted sum.
    decay : float
        The factor by which it falls after every epoch.
    coldest : float
        Training ends when the temperature is below it: after 1897 epochs with the numbers that are set.
    learning_rate : float
        The rate at first; it falls in proportion to the temperature.
    standardize : bool
        Whether columns are centred and divided by their standard deviation, so that a temperature means the same for
        every table. Bits of which half are set become −1 and 1.
    random_state : int, NumPy generator or None
        Rows come in a new random order in every epoch.

    Attributes
    ----------
    classes_ : array; the classes, in order
    coef_ : float64 array, shape (1 or classes, columns); weights of the columns as they were given
    intercept_ : float64 array, shape (1 or classes,)
    n_iter_ : int; the most epochs that were needed. One without an error is the last: others would change nothing
    n_updates_ : int; weights looked at in a full training, rows × (columns + 1) × epochs of the schedule × thresholds:
        the cost that Stracuzzi and Utgoff (2004) count
    n_features_in_, feature_names_in_

    References
    ----------
    M. Frean (1992). A "thermal" perceptron learning rule. Neural Computation 4(6).

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> import fernwood
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = fernwood.ThermalPerceptron(random_state=0).fit(X[::2], y[::2])
    >>> bool(model.score(X[1::2], y[1::2]) > 0.9)
    True
    """

    _plain = ("classes_", "coef_", "intercept_", "n_iter_", "n_updates_")

    def __init__(
        self,
        temperature: float = 2.0,
        decay: float = 0.999,
        coldest: float = 0.3,
        learning_rate: float = 1.0,
        *,
        standardize: bool = True,
        random_state: int | np.random.Generator | np.random.RandomState | None = None,
    ) -> None:
        self.temperature = temperature
        self.decay = decay
        self.coldest = coldest
        self.learning_rate = learning_rate
        self.standardize = standardize
        self.random_state = random_state

    def fit(self, X: Any, y: Any) -> Self:  # noqa: N803
        """Train on a table of numbers without missing values, and one class a row."""
        epochs = self._epochs()
        seed = seeds.entropy(self.random_state)
        forget_fit(self)
        table, labels = validate_data(self, X, y, dtype=np.float64)
        check_classification_targets(labels)
        self.classes_, numbers = np.unique(labels, return_inverse=True)
        if len(self.classes_) < 2:
            raise TargetError(
                f"the target is {self.classes_[0]!r} in every row, one class; ThermalPerceptron needs at least two"
            )
        rows = np.ones((len(table), 1 + table.shape[1]))  # in C order, whatever that of the table is
        rows[:, 1:] = table
        centre, scale = np.zeros(table.shape[1]), np.ones(table.shape[1])
        if self.standardize:
            centre, scale = _standardize(rows[:, 1:])
        told_apart = [1] if len(self.classes_) == 2 else range(len(self.classes_))
        schedule = float(self.temperature), float(self.decay), float(self.learning_rate)
        found = np.zeros((len(told_apart), rows.shape[1]))
        taken = 0
        for one, number in enumerate(told_apart):
            target = np.where(numbers == number, 1.0, -1.0)
            state, order = seeds.state(seed, _ORDER, one), np.arange(len(rows))
            taken = max(taken, train_perceptron(rows, target, schedule, epochs, order, state, found[one]))
        self.coef_ = found[:, 1:] / scale
        self.intercept_ = found[:, 0] - self.coef_ @ centre
        self.n_iter_ = taken
        self.n_updates_ = epochs * len(rows) * (table.shape[1] + 1) * len(found)
        return self

    def _epochs(self) -> int:
        """How often the temperature can fall before it is below the coldest, and the first epoch."""
        for name in ("temperature", "coldest", "learning_rate"):
            value = getattr(self, name)
            if not (_is_number(value) and 0 < value < math.inf):
                raise ParameterError(f"{name} is {value!r}; give a number above 0")
        if not (_is_number(self.decay) and 0 < self.decay < 1):
            raise ParameterError(f"decay is {self.decay!r}; the temperature is to fall: give a number between 0 and 1")
        if not isinstance(self.standardize, (bool, np.bool_)):
            raise ParameterError(f"standardize is {self.standardize!r}; give True or False")
        if self.coldest > self.temperature:
            raise ParameterError(
                f"coldest is {self.coldest} and temperature {self.temperature}; training starts at the temperature: "
                "give a lower one as coldest"
            )
        return 1 + math.floor(math.log(self.coldest / self.temperature) / math.log(self.decay))

    def _take(self, archive: Archive) -> None:  # noqa: ARG002
        n_classes = check_classes(self.classes_)
        n_thresholds = 1 if n_classes == 2 else n_classes
        check_numbers(self.coef_, np.float64, n_thresholds, self.n_features_in_)
        check_numbers(self.intercept_, np.float64, n_thresholds)

    def decision_function(self, X: Any) -> NDArray[np.float64]:  # noqa: N803
        """The weighted sum of every row and class; of two classes one, above 0 where the second is likelier."""
        check_is_fitted(self)
        table = validate_data(self, X, dtype=np.float64, order="C", reset=False)
        fields = table @ self.coef_.T + self.intercept_
        return np.asarray(fields[:, 0] if len(self.classes_) == 2 else fields)

    def predict(self, X: Any) -> NDArray[Any]:  # noqa: N803
        """The class of every row; of more than two, that of the largest weighted sum."""
        fields = self.decision_function(X)
        places = (fields > 0).astype(np.intp) if fields.ndim == 1 else fields.argmax(axis=1)
        return np.asarray(self.classes_[places])


def _standardize(table: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Centre columns and divide them by their standard deviation, in place; both, infinite for constant columns.

    Columns are divided by a power of two, so that no difference is too large, taken from one of their values, and
    divided by the largest that is then left: it is no matter how far from zero they lie, nor in which unit they are.
    """
    exponent = np.frexp(np.abs(table).max(axis=0))[1]
    np.ldexp(table, -exponent, out=table)
    origin = table[0].copy()
    table -= origin
    reach = np.abs(table).max(axis=0)
    constant = reach == 0
    reach[constant] = 1.0
    table /= reach
    mean = table.mean(axis=0)
    table -= mean
    spread = table.std(axis=0)
    spread[constant] = np.inf
    table /= spread
    return np.ldexp(origin + mean * reach, exponent), np.ldexp(spread * reach, exponent)


def _is_number(value: object) -> bool:
    return isinstance(value, (int, float, np.number)) and not isinstance(value, bool)
