"""`FilterSelector`: scikit-learn's checks, the prefix that is kept, runs that go on, and bad input."""

from __future__ import annotations

from importlib.metadata import version
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.linear_model import LinearRegression
from sklearn.model_selection import PredefinedSplit
from sklearn.naive_bayes import BernoulliNB, GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import parametrize_with_checks

import fernwood
from fernwood.errors import LearnerError, ParameterError
from fernwood.learner.subsets import CrossValidated, evaluation_of
from fernwood.relevance.decision import Decision
from fernwood.search.filter import FilterSettings, rank_columns
from fernwood.search.methods import settings_of
from fernwood.selectors import FilterSelector

X = np.random.default_rng(0).standard_normal((150, 25))
Y = (X[:, 3] + X[:, 7] + 0.5 * X[:, 20] > 0).astype(int)


FAILURES = {
    "check_sample_weight_equivalence_on_dense_data": "folds are of rows: a row that is repeated may be in two of them"
}
if version("scikit-learn").startswith("1.6."):
    FAILURES["check_sample_weight_equivalence_on_sparse_data"] = (
        "asked of selectors whose learner takes no sparse table"
    )


@pytest.mark.filterwarnings("ignore::fernwood.errors.FernwoodWarning")
@parametrize_with_checks([FilterSelector(GaussianNB(), cv=2)], expected_failed_checks=lambda _: FAILURES)
def test_scikit_learn_checks(estimator: object, check: object) -> None:
    check(estimator)


def test_the_best_prefix_of_the_ranking_is_kept() -> None:
    selector = FilterSelector(GaussianNB(), random_state=0).fit(X, Y)
    ranked = rank_columns(fernwood.ingest(X, target=Y))
    plain = CrossValidated(evaluation_of(GaussianNB(), X, Y, cv=5, scoring=None))
    errors = [plain(np.sort(ranked.columns[: k + 1])) for k in range(25)]
    kept = ranked.columns[: int(np.argmin(errors)) + 1]
    assert 1 < len(kept) < 25
    assert set(np.flatnonzero(selector.support_)) == set(kept)
    assert (selector.n_features_, selector.n_calls_) == (len(kept), 25)
    np.testing.assert_array_equal(selector.importances_[ranked.columns], ranked.ratios)
    assert (np.diff(selector.importances_[np.argsort(selector.ranking_, kind="stable")[len(kept) :]]) <= 0).all()
    reasons = selector.result_.to_table().column("reason").to_pylist()
    assert reasons[0] == f"among the {len(kept)} of the highest gain ratio, whose error is the lowest"
    order = np.random.default_rng(1).permutation(25)
    permuted = FilterSelector(GaussianNB(), random_state=0).fit(X[:, order], Y)
    np.testing.assert_array_equal(permuted.support_, selector.support_[order])


def test_few_columns_may_be_tried() -> None:
    selector = FilterSelector(GaussianNB(), max_columns=4, random_state=0).fit(X, Y)
    assert selector.n_calls_ == 4
    decisions = selector.result_.verdicts.decision
    assert np.count_nonzero(decisions == Decision.UNEXAMINED) == 21


def test_tables_of_other_kinds() -> None:
    whole = FilterSelector(GaussianNB(), random_state=0).fit(X, Y)
    frame = pd.DataFrame(X, columns=[f"c{i}" for i in range(25)])
    named = FilterSelector(GaussianNB(), random_state=0).fit(frame, Y)
    np.testing.assert_array_equal(named.support_, whole.support_)
    assert named.get_feature_names_out()[0] == f"c{np.flatnonzero(whole.support_)[0]}"
    store = fernwood.ingest(X, target=Y)
    np.testing.assert_array_equal(FilterSelector(GaussianNB(), random_state=0).fit(store).support_, whole.support_)
    bits = sparse.csr_array((X > 0).astype(float))
    assert FilterSelector(BernoulliNB(), random_state=0).fit(bits, Y).support_[3]
    numbers = FilterSelector(LinearRegression(), random_state=0).fit(X, X[:, 5] + 0.5 * X[:, 9])
    assert numbers.support_[[5, 9]].all()
    half = PredefinedSplit(np.where(np.arange(150) < 75, -1, 0))
    assert make_pipeline(FilterSelector(GaussianNB(), cv=half), GaussianNB()).fit(X, Y).score(X, Y) > 0.85


def test_a_run_that_was_stopped_goes_on(tmp_path: Path) -> None:
    whole = FilterSelector(GaussianNB(), random_state=0).fit(X, Y)
    told = []

    def stop(progress) -> None:
        told.append(progress)
        if progress.done == 9:
            raise KeyboardInterrupt

    selector = FilterSelector(GaussianNB(), random_state=0, run_dir=tmp_path / "run", progress=stop)
    with pytest.raises(KeyboardInterrupt):
        selector.fit(X, Y)
    assert not selector.result_.facts.finished
    told.clear()
    again = selector.set_params(progress=told.append).fit(X, Y)
    assert told[0].done >= 9
    np.testing.assert_array_equal(again.support_, whole.support_)


def test_settings_of_a_run() -> None:
    settings = FilterSettings("tree", cv=4, max_columns=7)
    again = settings_of("filter", settings.to_json())
    assert again.to_json() == settings.to_json()
    for changes in ({"estimator": GaussianNB()}, {"estimator": "tree", "cv": PredefinedSplit([0, 1])}):
        with pytest.raises(ParameterError, match="which a run does not keep; go on by calling fit with run_dir"):
            settings_of("filter", FilterSettings(**changes).to_json())


class Fails(GaussianNB):
    def fit(self, *_: object, **__: object):
        raise RuntimeError("no luck today")


def test_what_cannot_be() -> None:
    for changes, words in (
        ({"estimator": 5}, "estimator is '5', which is no scikit-learn estimator"),
        ({"estimator": "tree"}, "estimator is 'tree'; names are for the command line: give the estimator itself"),
        ({"max_columns": 0}, "max_columns is 0; it must be an integer from 1 on, or None for all"),
        ({"cv": 200}, "cv is 200 and the table has 150 rows"),
        ({"scoring": "no such score"}, "scoring is 'no such score', which does not serve"),
        ({"progress": 3}, "progress is 3; give True, False, or a function to call"),
    ):
        with pytest.raises(ParameterError, match=words):
            FilterSelector(**{"estimator": GaussianNB(), **changes}).fit(X, Y)
    with pytest.raises(LearnerError, match="Fails failed with 1 columns: RuntimeError: no luck today"):
        FilterSelector(Fails()).fit(X, Y)
