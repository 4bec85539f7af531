"""SnowballSelector as scikit-learn's users meet it."""

from __future__ import annotations

import json
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
from fernwood.selectors import base
from tests.fake_cupy import install

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


def fits(monkeypatch: pytest.MonkeyPatch, **changes: object) -> list[dict[str, object]]:
    """What the search is told about devices when a selector is fitted; it is done on the processor all the same."""
    told: list[dict[str, object]] = []
    search = base.select

    def selecting(*arguments: object, **how: object) -> object:
        told.append({name: how.pop(name) for name in ("device", "device_memory") if name in how})
        return search(*arguments, **how)

    monkeypatch.setattr(base, "select", selecting)
    monkeypatch.setattr(base, "open_card", lambda: told.append({"opened": True}))
    quick(n_contexts=4, max_waves=1, **changes).fit(TABLE.data, TABLE.target)
    return told


def test_the_search_is_told_of_a_device_that_was_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    assert fits(monkeypatch) == [{}]
    assert fits(monkeypatch, device_memory="1GB") == [{}]
    assert fits(monkeypatch, device="auto") == [{"device": "auto", "device_memory": None}]
    told = fits(monkeypatch, device="cuda", device_memory="40GB")
    assert told == [{"opened": True}, {"device": "cuda", "device_memory": 40 * 10**9}]


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"device": "gpu"}, "device is 'gpu'; give 'cpu', 'cuda', or 'auto'"),
        ({"device": "cuda", "device_memory": "lots"}, "device_memory is 'lots'; give a positive size"),
    ],
)
def test_a_device_that_is_none_is_refused_before_the_table_is_read(changes: dict[str, object], said: str) -> None:
    with pytest.raises(fernwood.ParameterError, match=said):
        quick(**changes).fit("no table", None)


def test_without_a_device_one_sentence_says_why(monkeypatch: pytest.MonkeyPatch) -> None:
    install(monkeypatch, None)
    with pytest.raises(
        fernwood.DeviceError, match=r"^CuPy is not installed; .*, or search on the processor: device='cpu'"
    ):
        quick(device="cuda").fit(TABLE.data, TABLE.target)


def test_what_a_card_takes_of_the_host_is_part_of_the_budget(monkeypatch: pytest.MonkeyPatch) -> None:
    """A card that takes 300 MB when it is opened leaves 300 MB less to the search."""
    taken = [0]
    budgets = []
    monkeypatch.setattr(base, "resident", lambda: 10**9 + taken[0])
    monkeypatch.setattr(base, "open_card", lambda: taken.__setitem__(0, 3 * 10**8))

    def selecting(*_: object, memory: int, **__: object) -> object:
        budgets.append(memory)
        raise fernwood.ShortageError("enough")

    monkeypatch.setattr(base, "select", selecting)
    for device in ("cpu", "auto", "cuda"):
        with pytest.raises(fernwood.ShortageError):
            quick(device=device, memory="1GB").fit(TABLE.data, TABLE.target)
    assert budgets == [10**9, 10**9, 7 * 10**8]


def test_a_device_is_no_part_of_the_answer(tmp_path: Path) -> None:
    """It is cloned and kept as a parameter, but neither in what a run was asked for nor in what asks for it again."""
    asked = quick(device="auto", device_memory="2GB", run_dir=tmp_path / "r")
    assert {name: clone(asked).get_params()[name] for name in ("device", "device_memory")} == {
        "device": "auto",
        "device_memory": "2GB",
    }
    call = asked._call(7)
    assert "device" not in call
    assert "random_state=7" in call
    assert "device" not in json.dumps(asked._settings().to_json())
