"""What selectors around a learner share: its table, how rows are split, and scikit-learn's metadata routing."""

from __future__ import annotations

from abc import abstractmethod
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import is_classifier, is_regressor
from sklearn.metrics import check_scoring
from sklearn.model_selection import check_cv
from sklearn.utils import get_tags
from sklearn.utils.metadata_routing import MetadataRouter, MethodMapping, process_routing
from sklearn.utils.validation import column_or_1d

from fernwood import seeds
from fernwood.errors import ParameterError, shown
from fernwood.estimator import fit_store, new_table
from fernwood.learner.subsets import RowParams, evaluation_of
from fernwood.sealed import digest
from fernwood.selectors.base import SearchSelector
from fernwood.store.base import Store

if TYPE_CHECKING:
    from typing import Self

    from sklearn.utils import Tags

    from fernwood.kept.archive import Archive
    from fernwood.learner.subsets import Evaluation
    from fernwood.search.elimination import EliminationSettings
    from fernwood.search.filter import FilterSettings
    from fernwood.search.trying import Trying
    from fernwood.store.roles import Task

__all__ = ["LearnerSelector"]


class LearnerSelector(SearchSelector):
    """A selector that asks a learner how good selections are; subclasses have the parameters below, too."""

    estimator: Any
    cv: Any
    scoring: Any

    @abstractmethod
    def _settings(self) -> EliminationSettings | FilterSettings:
        """What the answer depends on, of the parameters."""

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None, groups: Any = None, **params: Any) -> Self:  # noqa: N803
        """Search for columns that the learner does well with.

        Parameters
        ----------
        X : array, data frame, sparse matrix or Store
            Of a store the learner gets the values that the store has, as numbers.
        y : array, one value a row; None for a store that has a target
        sample_weight : array, one weight a row, optional
            For fitting, and for scoring where the score takes weights; with scikit-learn's metadata routing for those
            that request it.
        groups : array, optional
            Rows that belong together, for the splitter.
        **params
            More, which scikit-learn's metadata routing hands to the estimator, the score and the splitter.
        """
        if self.estimator is None:
            raise ParameterError("estimator is None; give the learner, which a file does not keep (set_params)")
        if isinstance(self.estimator, str):
            raise ParameterError(
                f"estimator is {shown(self.estimator)}; names are for the command line: give the estimator itself"
            )
        settings = self._settings()
        seed = seeds.entropy(self.random_state)
        task = self.task or _task_of(self.estimator)
        store = fit_store(self, X, y, sample_weight=sample_weight, groups=groups, task=task, memory=self.memory)
        if isinstance(X, Store):
            return self._search(settings, seed, store, held=0)
        given = {"sample_weight": sample_weight, "groups": groups, **params}
        given = {name: value for name, value in given.items() if value is not None}
        target = column_or_1d(y)
        evaluation = self._evaluation(new_table(self, X), target, settings, seed, given)
        marks = {"rows": _mark(evaluation)}
        return self._search(settings, seed, store, held=store.n_bytes, marks=marks, evaluation=evaluation)

    def _evaluation(self, table: Any, y: Any, settings: Trying, seed: int, given: dict[str, Any]) -> Evaluation:
        from sklearn import get_config

        how: dict[str, Any] = {
            "cv": self.cv,
            "scoring": self.scoring,
            "seed": seed,
            "holdout": getattr(settings, "holdout", None),
        }
        if not get_config()["enable_metadata_routing"]:
            extra = sorted(given.keys() - {"sample_weight", "groups"})
            if extra:
                raise TypeError(
                    f"fit got {extra[0]!r}, which only metadata routing could hand on; enable it with "
                    "sklearn.set_config(enable_metadata_routing=True)"
                )
            return evaluation_of(settings.estimator, table, y, **how, **given)
        routed = process_routing(self, "fit", **given)
        params = RowParams(routed.estimator.fit, routed.scorer.score, routed.splitter.split)
        return evaluation_of(settings.estimator, table, y, **how, params=params)

    def get_metadata_routing(self) -> MetadataRouter:
        """What fitting hands on to the estimator, the score and the splitter; see scikit-learn's user guide."""
        router = MetadataRouter(owner=self)
        fit = MethodMapping().add(caller="fit", callee="fit")
        score = MethodMapping().add(caller="fit", callee="score")
        split = MethodMapping().add(caller="fit", callee="split")
        router.add(estimator=self.estimator, method_mapping=fit)
        router.add(scorer=check_scoring(self.estimator, self.scoring), method_mapping=score)
        router.add(splitter=check_cv(self.cv, classifier=is_classifier(self.estimator)), method_mapping=split)
        return router

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse, tags.input_tags.allow_nan = self._takes()
        return tags

    def _takes(self) -> tuple[bool, bool]:
        """Whether the learner takes sparse tables, and missing values; one that was not saved left that behind."""
        if self.estimator is None and hasattr(self, "_takes_"):
            return self._takes_
        own = get_tags(self.estimator).input_tags
        return own.sparse, own.allow_nan

    def _put(self, archive: Archive) -> None:
        super()._put(archive)
        archive.entries["takes"] = list(self._takes())

    def _take(self, archive: Archive) -> None:
        sparse, missing = archive.entries["takes"]
        self._takes_ = bool(sparse), bool(missing)
        super()._take(archive)


def _task_of(estimator: Any) -> Task | None:
    """What an estimator is for, as far as it says so."""
    if is_classifier(estimator):
        return "classification"
    return "regression" if is_regressor(estimator) else None


def _mark(evaluation: Evaluation) -> str:
    """Stands for the splits of the rows, which a run that goes on must have again."""
    splits = [*evaluation.splits, *([evaluation.held_out] if evaluation.held_out else [])]
    return digest(b"".join(np.concatenate([split.train, [-1], split.test]).tobytes() for split in splits))
