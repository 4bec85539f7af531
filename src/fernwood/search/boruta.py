"""Boruta as a search: an iteration fits columns beside their shadows, counts hits, and decides.

What an iteration does depends on its number, the seed and the decisions before it, and on nothing else.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any, ClassVar, Literal, NamedTuple, Protocol, cast, get_args

import numpy as np

from fernwood.errors import ParameterError, shown
from fernwood.learner.ferns import check_depth
from fernwood.learner.settings import TreeSettings
from fernwood.relevance.boruta import BorutaRule
from fernwood.relevance.decision import Decision
from fernwood.relevance.paper import Evidence, Null
from fernwood.relevance.shadows import false_discoveries
from fernwood.run.driving import SearchProgress
from fernwood.search.checkpoints import evidence_of, whole_number
from fernwood.search.plain import plain_value, plain_weights, with_weights
from fernwood.search.selection import most_important
from fernwood.validation import at_least, one_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from fernwood.relevance.decision import Verdicts
    from fernwood.relevance.tested import ShadowRule

__all__ = ["BorutaLoop", "BorutaSettings", "BorutaState", "FixedShadowsLoop", "Importances", "most_shadows"]

_FEWEST_SHADOWS, _FEWEST_FIXED = 5, 200
"""Shadows that take part in an iteration at least, drawn anew or fixed; few columns have several each."""
_TREE_DEPTH, _FERN_DEPTH = 5, 7
_FEWEST_ITERATIONS, _STANDS = 20, 10
"""Iterations on fixed shadows, and how many of them must leave the answer as it is before the search ends."""
_NONE_YET = np.empty(0)


Correction = Literal["fixed-shadows"]
ImportanceName = Literal["model", "permutation"]
LearnerName = Literal["extra", "cart", "ferns"]


@dataclass(frozen=True, slots=True, eq=False)
class BorutaSettings:
    """Boruta (Kursa and Rudnicki 2010): what to do.

    Parameters
    ----------
    alpha, perc, two_step
        See `fernwood.relevance.boruta.BorutaRule`.
    max_iter
        Iterations after which what is undecided stays so.
    n_estimators
        Trees or ferns in an iteration; "auto" makes so many that a column is looked at about a hundred times.
    correction
        None is the published algorithm; `fixed-shadows` keeps shadows as they are and tests columns against all of
        them at the error rate alpha, see `FixedShadowsLoop`.
    importance
        `model`: what the model says by itself, of trees the mean decrease of impurity; `permutation`: the loss on rows
        left out when a column is permuted.
    learner, max_depth, max_features
        How our trees grow, see `fernwood.learner.settings.TreeSettings`; K is of all columns and shadows together. With
        the learner `ferns`, random ferns grow instead, `max_depth` deep. "auto" is 5 for trees and 7 for ferns.
    class_weight
        A weight for every class, or ``"balanced"``; of our trees.
    estimator
        A scikit-learn estimator in place of our trees.

    Examples
    --------
    >>> BorutaSettings(max_iter=50).to_json()["max_iter"]
    50
    """

    method: ClassVar[str] = "boruta"

    alpha: float = 0.05
    perc: float = 100
    two_step: bool = True
    max_iter: int = 100
    n_estimators: int | Literal["auto"] = "auto"
    correction: Correction | None = None
    importance: ImportanceName = "model"
    learner: LearnerName = "extra"
    max_depth: int | Literal["auto"] | None = "auto"
    max_features: int | float | Literal["sqrt", "log2"] | None = "sqrt"
    class_weight: Mapping[Any, float] | Literal["balanced"] | None = None
    estimator: Any = None

    def __post_init__(self) -> None:
        self.rule()
        at_least("max_iter", self.max_iter, 1)
        if self.n_estimators != "auto":
            at_least("n_estimators", self.n_estimators, 1, ", or 'auto'")
        if self.correction is not None:
            one_of("correction", self.correction, get_args(Correction))
        one_of("importance", self.importance, get_args(ImportanceName))
        one_of("learner", self.learner, get_args(LearnerName))
        if self.max_depth == "auto":
            object.__setattr__(self, "max_depth", _FERN_DEPTH if self.learner == "ferns" else _TREE_DEPTH)
        if self.learner == "ferns":
            self._check_ferns()
        else:
            self.tree("classification")
        if self.estimator is not None and not (
            hasattr(self.estimator, "fit") and hasattr(self.estimator, "get_params")
        ):
            raise ParameterError(
                f"estimator is {shown(repr(self.estimator))}, which is no scikit-learn estimator; give one, or None "
                "for our own trees"
            )

    def _check_ferns(self) -> None:
        check_depth(self.max_depth, "max_depth")
        for name, value in (("max_features", "sqrt"), ("class_weight", None), ("estimator", None)):
            if getattr(self, name) != value:
                raise ParameterError(
                    f"{name} is {shown(repr(getattr(self, name)))} and the learner is 'ferns', which grow without it; "
                    f"leave {name} out, or the learner"
                )

    @property
    def kernels(self) -> tuple[str, ...]:
        """The families of kernels that a search needs."""
        return ("ferns" if self.learner == "ferns" else "trees",)

    def rule(self) -> BorutaRule:
        """What decides, where shadows are drawn anew."""
        return BorutaRule(self.alpha, self.perc, self.two_step)

    def tree(self, task: str) -> TreeSettings:
        """How trees grow, for a target of classes or numbers."""
        criterion: Literal["gini", "variance"] = "variance" if task == "regression" else "gini"
        learner = cast('Literal["extra", "cart"]', self.learner)
        depth = cast("int | None", self.max_depth)
        # Many branches tell a lot by chance: the best shadow would be that of a column of categories, for all columns.
        return TreeSettings(learner, criterion, self.max_features, depth, categories="subset")

    def to_json(self) -> dict[str, Any]:
        """Plain values; class weights as a list of pairs, and an estimator as text."""
        entries = {field.name: plain_value(getattr(self, field.name)) for field in fields(self)}
        entries["class_weight"] = plain_weights(self.class_weight)
        entries["estimator"] = None if self.estimator is None else repr(self.estimator)
        return entries

    @classmethod
    def from_json(cls, entries: dict[str, Any]) -> BorutaSettings:
        """The settings that `to_json` wrote; those of a run with an estimator are not all there."""
        if entries.get("estimator") is not None:
            raise ParameterError(
                f"the run was made with {shown(entries['estimator'])}, which a run does not keep; go on by calling fit "
                "with run_dir"
            )
        return cls(**with_weights(entries))


def most_shadows(n_columns: int, correction: Correction | None) -> int:
    """Shadows of every column, of so many: one, but more of few columns.

    Examples
    --------
    >>> most_shadows(1000, None), most_shadows(2, None), most_shadows(50, "fixed-shadows")
    (1, 3, 4)
    """
    return -(-(_FEWEST_SHADOWS if correction is None else _FEWEST_FIXED) // n_columns)


class Importances(Protocol):
    """Anything that tells how important columns are beside their shadows: a forest, an estimator, a test's oracle."""

    def __call__(
        self, columns: NDArray[np.int64], iteration: int, n_shadows: int, first_shadow: int
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Importances of columns, and of as many shadows of each as said, numbered from `first_shadow` on.

        The second array has the shape (shadows of a column, columns).
        """


class BorutaState(NamedTuple):
    """All that the next iteration needs.

    Attributes
    ----------
    iteration : how many were made
    evidence : iterations that a column was in, sum of its importances, its hits; of fixed shadows also their sums
    decision : of every column
    changed : how many iterations were made when the columns confirmed last changed
    best : float64 array; what an importance had to be above for a hit, in every iteration
    """

    iteration: int
    evidence: Evidence
    decision: NDArray[np.uint8]
    changed: int = 0
    best: NDArray[np.float64] = _NONE_YET


class Chances(NamedTuple):
    """The p and q of every column and whether p is modelled, where a search has them."""

    p: NDArray[np.float64] | None = None
    q: NDArray[np.float64] | None = None
    modelled: NDArray[np.bool_] | None = None


class _ShadowLoop(ABC):
    """What both loops share.

    Parameters
    ----------
    importances
    n_columns
    max_iter
        Iterations after which what is undecided stays so.
    n_fixed
        Shadows of every column whose importances are added up.
    n_decoys
        Columns, the last ones, that take part but are not judged; see `fernwood.search.decoys`.
    """

    against: ClassVar[str]

    def __init__(
        self, importances: Importances, n_columns: int, max_iter: int, n_fixed: int = 0, n_decoys: int = 0
    ) -> None:
        self._importances = importances
        self._n_columns, self._n_judged = n_columns, n_columns - n_decoys
        self._max_iter = max_iter
        self._n_fixed = n_fixed

    def start(self) -> BorutaState:
        """Before the first iteration, nothing is decided."""
        undecided = np.full(self._n_judged, Decision.TENTATIVE, np.uint8)
        return BorutaState(0, Evidence.none(self._n_columns, self._n_fixed), undecided)

    def step(self, state: BorutaState) -> BorutaState:
        """One more iteration."""
        evidence, decision, best = self._iterate(state)
        same = np.array_equal(decision == Decision.CONFIRMED, state.decision == Decision.CONFIRMED)
        number = state.iteration + 1
        changed = state.changed if same else number
        return BorutaState(number, evidence, decision, changed, np.append(state.best, best))

    def progress(self, state: BorutaState) -> SearchProgress:
        """How far it is: done when nothing is left to decide, or at the last iteration."""
        total = state.iteration if self._is_done(state) else self._max_iter
        found = int(np.count_nonzero(state.decision == Decision.CONFIRMED))
        examined = int(np.count_nonzero(state.evidence.draws[: self._n_judged]))
        return SearchProgress("searching", state.iteration, total, "iterations", found, examined, self._n_judged)

    def pack(self, state: BorutaState) -> Mapping[str, NDArray[Any]]:
        """The state as named arrays."""
        numbers = {"iteration": np.array(state.iteration), "changed": np.array(state.changed)}
        return {**numbers, "decision": state.decision, "best": state.best, **state.evidence._asdict()}

    def unpack(self, arrays: Mapping[str, NDArray[Any]]) -> BorutaState:
        """The state from a checkpoint."""
        iteration = whole_number(arrays["iteration"], self._max_iter)
        evidence = evidence_of(arrays, self.start().evidence)
        decision = arrays["decision"]
        if decision.shape != (self._n_judged,) or decision.dtype != np.uint8 or decision.max() > max(Decision):
            raise ValueError("the checkpoint's decisions cannot be")
        if evidence.draws.max() != iteration:
            raise ValueError("the checkpoint's iterations do not add up")
        best = arrays.get("best", _NONE_YET)  # the first checkpoints had none
        if best.ndim != 1 or best.dtype != np.float64 or len(best) > iteration or not np.isfinite(best).all():
            raise ValueError("the checkpoint's best shadows cannot be")
        return BorutaState(iteration, evidence, decision, whole_number(arrays["changed"], iteration), best)

    def leading(self, state: BorutaState) -> NDArray[np.int64]:
        """Ranks of a few columns confirmed, the most important."""
        return most_important(state.evidence, np.flatnonzero(state.decision == Decision.CONFIRMED))

    def compared_with(self, state: BorutaState) -> Null:
        """What mean importances are held against, for a picture: the best shadow of every iteration."""
        return Null(state.best, len(state.best))

    @abstractmethod
    def _iterate(self, state: BorutaState) -> tuple[Evidence, NDArray[np.uint8], float]:
        """The evidence and the decisions after one more iteration, and what the importances in it were held against."""

    @abstractmethod
    def _is_done(self, state: BorutaState) -> bool:
        """Whether another iteration would tell nothing new."""

    @abstractmethod
    def verdicts(self, state: BorutaState) -> Verdicts:
        """Decisions and reasons."""

    @abstractmethod
    def tested(self, state: BorutaState) -> Chances:
        """The p and q of every column."""


class BorutaLoop(_ShadowLoop):
    """The published algorithm: shadows are drawn anew in every iteration, and rejected columns leave. A `Loop`.

    Parameters
    ----------
    importances, n_columns, rule
    max_iter
        Iterations after which what is undecided stays so.
    """

    against = "best shadow"

    def __init__(self, importances: Importances, n_columns: int, rule: BorutaRule, max_iter: int) -> None:
        super().__init__(importances, n_columns, max_iter)
        self._rule = rule

    def _iterate(self, state: BorutaState) -> tuple[Evidence, NDArray[np.uint8], float]:
        columns = np.flatnonzero(state.decision != Decision.REJECTED)
        n_shadows = most_shadows(len(columns), None)
        # Every iteration has numbers of shadows for itself, as many as it can need.
        importance, shadows = self._importances(columns, state.iteration, n_shadows, state.iteration * _FEWEST_SHADOWS)
        best = self._rule.best(shadows)
        evidence = state.evidence.with_draws([(columns, importance, best)])
        return evidence, self._rule.decide(evidence.wins, state.iteration + 1, state.decision), best

    def _is_done(self, state: BorutaState) -> bool:
        return not (state.decision == Decision.TENTATIVE).any()

    def verdicts(self, state: BorutaState) -> Verdicts:
        """Decisions and reasons."""
        return self._rule.verdicts(state.decision)

    def tested(self, _: BorutaState) -> Chances:
        """Nothing: tests are of hits against the best shadow, which gives columns no p that holds for the table."""
        return Chances()


class FixedShadowsLoop(_ShadowLoop):
    """Boruta with one fixed permutation a shadow, columns judged against all shadows, which keeps the error rate.

    A column that says nothing is then one more shadow: what chance gave it stays in all iterations, and so does what
    chance gave the shadows. No column leaves early, since those that stay would be the lucky ones. Iterations make
    importances sharper; the search ends when ten of them, and twenty in all, confirm the same columns.

    Parameters
    ----------
    importances, n_columns
    rule
        Judges mean importances.
    max_iter
        Iterations after which the search ends in any case.
    n_fixed
        Shadows of every column, as `most_shadows` says.
    n_decoys
        Columns, the last ones, that take part but are not judged; see `fernwood.search.decoys`.
    """

    against = "shadows"

    def __init__(
        self, importances: Importances, n_columns: int, rule: ShadowRule, max_iter: int, n_fixed: int, n_decoys: int = 0
    ) -> None:
        super().__init__(importances, n_columns, max_iter, n_fixed, n_decoys)
        self._rule = rule

    def _iterate(self, state: BorutaState) -> tuple[Evidence, NDArray[np.uint8], float]:
        columns = np.arange(self._n_columns)
        importance, shadows = self._importances(columns, state.iteration, self._n_fixed, 0)
        best = float(shadows.max())
        evidence = state.evidence.with_draws([(columns, importance, best)])
        evidence = evidence.with_shadows([(columns, shadows)])
        return evidence, self._rule.judge(evidence).decision, best

    def compared_with(self, state: BorutaState) -> Null:
        """What mean importances are held against: those of the shadows."""
        return self._rule.compared_with(state.evidence)

    def _is_done(self, state: BorutaState) -> bool:
        return state.iteration >= max(_FEWEST_ITERATIONS, state.changed + _STANDS)

    def verdicts(self, state: BorutaState) -> Verdicts:
        """Decisions and reasons."""
        return self._rule.judge(state.evidence)

    def tested(self, state: BorutaState) -> Chances:
        """The p and q of every column."""
        chances = self._rule.chances(state.evidence)
        return Chances(chances, false_discoveries(chances), self._rule.modelled(state.evidence))
