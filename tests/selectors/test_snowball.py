"""SnowballSelector as scikit-learn's users meet it."""

from __future__ import annotations

import pickle
from pathlib import Path

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import parametrize_with_checks

import fernwood
from fernwood import SnowballSelector

TABLE = fernwood.datasets.make_madelon(400, 80, class_sep=2.0, random_state=2)
REPEATED = "rows given twice are more evidence; weights say how much a row counts, not how many rows there are"


def quick(**changes: object) -> SnowballSelector:
    return SnowballSelector(n_contexts=32, random_state=0).set_params(**changes)


@pytest.mark.filterwarnings("ignore::fernwood.FernwoodWarning", "ignore:No features were selected")
@parametrize_with_checks(
    [SnowballSelector(n_contexts=8, max_waves=2)],
    expected_failed_checks=lambda _: {
        "check_sample_weight_equivalence_on_dense_data": REPEATED,
        "check_sample_weight_equivalence_on_sparse_data": REPEATED,
    },
)
def test_scikit_learn(estimator, check) -> None:
    check(estimator)


def test_what_is_fitted() -> None:
    selector = quick().fit(TABLE.data, TABLE.target)
    assert selector.support_[:20].sum() >= 16
    assert selector.support_[20:].sum() <= 2
    assert (selector.pvalues_ <= selector.qvalues_).all()
    assert (selector.qvalues_[selector.support_] <= 0.1).all()
    assert (selector.ranking_[selector.support_] == 1).all()
    assert selector.importances_ == pytest.approx(-np.log10(selector.pvalues_))
    assert selector.transform(TABLE.data).shape == (400, selector.support_.sum())
    assert selector.result_.facts.method == "snowball"


def test_a_larger_rate_finds_no_less() -> None:
    strict, lax = (quick(fdr=fdr).fit(TABLE.data, TABLE.target).support_.sum() for fdr in (0.001, 0.3))
    assert strict <= lax


def test_in_a_pipeline_cloned_and_pickled() -> None:
    pipeline = make_pipeline(quick(), LogisticRegression())
    assert cross_val_score(pipeline, TABLE.data, TABLE.target, cv=3).mean() > 0.5
    selector = quick().fit(TABLE.data, TABLE.target)
    assert (clone(selector).fit(TABLE.data, TABLE.target).support_ == selector.support_).all()
    assert (pickle.loads(pickle.dumps(selector)).pvalues_ == selector.pvalues_).all()


def test_a_run_directory(tmp_path: Path) -> None:
    first = quick(run_dir=tmp_path / "r").fit(TABLE.data, TABLE.target)
    again = quick(run_dir=tmp_path / "r", n_jobs=2).fit(TABLE.data, TABLE.target)
    assert (first.pvalues_ == again.pvalues_).all()
    with pytest.raises(fernwood.ParameterError, match="fdr"):
        quick(run_dir=tmp_path / "r", fdr=0.2).fit(TABLE.data, TABLE.target)


def test_a_store_and_a_budget(tmp_path: Path) -> None:
    store = fernwood.ingest(TABLE.data, tmp_path / "s.fern", target=TABLE.target)
    plain = quick().fit(TABLE.data, TABLE.target)
    assert (quick(memory="400MB").fit(store).pvalues_ == plain.pvalues_).all()
    with pytest.raises(fernwood.BudgetError, match="at least"):
        quick(memory="1MB").fit(store)
