"""What our selectors share: a table comes in, a search runs, a table of decisions and scikit-learn's mask come out."""

from __future__ import annotations

import warnings
from abc import abstractmethod
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.feature_selection import SelectorMixin
from sklearn.utils.validation import check_is_fitted

from fernwood import seeds
from fernwood.budget import default_budget, parse_size, resident
from fernwood.device import open_card
from fernwood.errors import FernwoodWarning, ParameterError
from fernwood.estimator import TableEstimator, fit_store, n_threads
from fernwood.files import FileWriter, read_file, scratch_directory
from fernwood.run.directory import RunDirectory, RunManifest
from fernwood.run.view import ProgressView
from fernwood.saved import DECISIONS_NAME, INSIGHT_NAME, SUMMARY_NAME, load_result, save_result
from fernwood.search.methods import select, settings_on
from fernwood.selectors.callbacks import AskedToStop, CallbackSupport, Tasks, both, with_callbacks
from fernwood.store.base import Store
from fernwood.work.choosing import engine_here

if TYPE_CHECKING:
    import os
    from collections.abc import Callable
    from typing import Self

    from numpy.typing import NDArray

    from fernwood.kept.archive import Archive
    from fernwood.result import Result
    from fernwood.run.driving import SearchProgress
    from fernwood.search.methods import Settings
    from fernwood.store.roles import Task

__all__ = ["SearchSelector"]

_ELSEWHERE = {
    "progress": False,
    "verbose": 0,
    "run_dir": None,
    "n_jobs": None,
    "device": "cpu",
    "device_memory": None,
}
"""Parameters that the answer does not depend on, as they are by default."""
_RESULT_FILES = (SUMMARY_NAME, DECISIONS_NAME, INSIGHT_NAME)


class SearchSelector(CallbackSupport, SelectorMixin, TableEstimator):  # type: ignore[misc]
    """A selector that runs a search; subclasses have the parameters below, and say what their settings are."""

    task: Task | None
    memory: int | str | None
    n_jobs: int | None
    random_state: int | np.random.Generator | np.random.RandomState | None
    progress: bool | Callable[[SearchProgress], None]
    verbose: int
    run_dir: str | os.PathLike[str] | None

    @abstractmethod
    def _settings(self) -> Settings:
        """What the answer depends on, of the parameters; refused in one sentence where one is out of its rule."""

    def _how(self) -> dict[str, Any]:
        """What the search is told beside its settings, and the answer does not depend on; refused in the same way."""
        return {}

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None, groups: Any = None) -> Self:  # noqa: N803
        """Find the relevant columns.

        Parameters
        ----------
        X : array, data frame, sparse matrix or Store
        y : array, one value a row; None for a store that has a target
        sample_weight : array, one weight a row, optional
        groups : array, optional
            Rows that belong together, such as those of one patient: they stay so wherever rows are dealt or drawn.
        """
        settings, how = self._settings(), self._how()
        seed = seeds.entropy(self.random_state)
        store = fit_store(
            self,
            X,
            y,
            sample_weight=sample_weight,
            groups=groups,
            task=self.task,
            memory=self.memory,
            given=getattr(settings, "given", ()),
        )
        return self._search(settings, seed, store, held=0 if store is X else store.n_bytes, **how)

    @with_callbacks
    def _search(
        self, settings: Settings, seed: int, store: Store, held: int, *, marks: dict[str, str] | None = None, **how: Any
    ) -> Self:
        """Run the search that the settings are for and keep what it finds.

        `marks` stand in the manifest for what the answer depends on beside settings and data; `how` goes to the search.
        """
        threads = n_threads(self.n_jobs)
        settings = settings_on(store, settings)
        # What the table takes already is not available any more.
        budget = held + default_budget() if self.memory is None else parse_size(self.memory)
        allowed, tasks = resident() - held + budget, Tasks.of(self)
        if how.get("device") == "cuda":
            before = resident()
            open_card()
            budget -= resident() - before  # what a card takes of the host is part of it
        with ExitStack() as stack:
            directory = None
            if self.run_dir is not None:
                parameters = {**settings.to_json(), **(marks or {})}
                manifest = RunManifest.of(store, settings.method, parameters, seed, place="")
                directory = RunDirectory.of_memory(Path(self.run_dir), manifest)
                stack.enter_context(directory.working(store, memory=allowed, n_threads=threads, call=self._call(seed)))
            result, stopped_by = select(
                store,
                settings,
                seed,
                n_threads=threads,
                memory=max(budget - store.fetching_bytes, 1),
                held=held,
                directory=directory,
                progress=both(self._progress(stack, allowed), tasks),
                engine=engine_here(self.n_jobs),
                **how,
            )
        self._keep(result)
        if tasks is not None:
            tasks.end()
        if stopped_by is not None and not isinstance(stopped_by, AskedToStop):
            raise stopped_by
        return self

    def _progress(self, stack: ExitStack, allowed: int) -> Callable[[SearchProgress], None] | None:
        """What is called with the progress: a view of it, or a function; `allowed` are the bytes it may hold."""
        verbose: object = self.verbose
        if not (isinstance(verbose, (int, np.integer)) and verbose >= 0):
            raise ParameterError(f"verbose is {verbose!r}; give 0, or 1 to show progress")
        if callable(self.progress):
            shown = stack.enter_context(ProgressView(memory=allowed)) if self.verbose else None
            return both(self.progress, shown)
        if not isinstance(self.progress, (bool, np.bool_)):
            raise ParameterError(f"progress is {self.progress!r}; give True, False, or a function to call")
        return stack.enter_context(ProgressView(memory=allowed)) if self.progress or self.verbose else None

    def _call(self, seed: int) -> str:
        """What was asked for, as Python."""
        kind, parameters = type(self), self.get_params(deep=False)
        again = kind(**parameters | {"random_state": seed} | {k: v for k, v in _ELSEWHERE.items() if k in parameters})
        return f"from fernwood import {kind.__name__}\n\n{again!r}.fit(X, y)"

    def _keep(self, result: Result) -> None:
        if result.course is not None and not result.course.call:
            result = replace(result, course=replace(result.course, call=self._call(result.facts.seed)))
        self.result_ = result
        self.support_ = np.zeros(len(result.draws), bool)
        self.support_[result.selected] = True
        self.tentative_ = np.zeros(len(result.draws), bool)
        self.tentative_[result.tentative] = True
        self.importances_ = result.score
        if result.p is not None and result.q is not None:
            self.pvalues_, self.qvalues_ = result.p, result.q
        self.ranking_ = result.ranking

    def _put(self, archive: Archive) -> None:
        with scratch_directory() as folder:
            save_result(self.result_, folder)
            for name in _RESULT_FILES:
                archive.members[name] = read_file(folder / name)

    def _take(self, archive: Archive) -> None:
        with scratch_directory() as folder:
            for name in _RESULT_FILES:
                with FileWriter(folder / name, sync=False) as file:
                    file.write(archive.members[name])
            result = load_result(folder)
        if len(result.draws) != self.n_features_in_:
            raise ValueError("a result about other columns")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", FernwoodWarning)  # said when it was fitted
            self._keep(result)

    def transform(self, X: Any) -> Any:  # noqa: N803
        """The selected columns of a table, in the form that `set_output` asks for."""
        if isinstance(X, Store):
            raise ParameterError(
                "X is a store, which transform does not copy; read the columns with "
                "store.read(selector.get_support(indices=True)), or give the table itself"
            )
        return super().transform(X)

    def _repr_html_inner(self) -> str:
        """What notebooks show: scikit-learn's diagram, and below it what was found."""
        diagram: str = super()._repr_html_inner()
        return f"{diagram}{self.result_._repr_html_()}" if hasattr(self, "result_") else diagram

    def _repr_mimebundle_(self, **how: Any) -> dict[str, str]:
        shown: dict[str, str] = super()._repr_mimebundle_(**how)
        return {**shown, "text/html": self._repr_html_inner()} if "text/html" in shown else shown

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[np.object_]:
        """The names of the selected columns; of a store that it was fitted on, the store's.

        Parameters
        ----------
        input_features : names of all columns, optional
            As scikit-learn takes them; they must be those that it was fitted on, where these have names.
        """
        if input_features is not None or hasattr(self, "feature_names_in_"):
            named: NDArray[np.object_] = super().get_feature_names_out(input_features)
            return named
        chosen = np.flatnonzero(self._get_support_mask())
        return np.array(self.result_.names.take(chosen).to_pylist(), object)

    def _get_support_mask(self) -> NDArray[np.bool_]:
        check_is_fitted(self)
        return self.support_
