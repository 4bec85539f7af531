"""Who examines columns, and that the answer does not depend on it; with a card that is none (see `stand_in`)."""

from __future__ import annotations

import logging
from itertools import count
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import pytest

import fernwood
from fernwood.datasets import make_madelon
from fernwood.errors import DeviceError, ParameterError
from fernwood.run import plan
from fernwood.search import devices, forecasting, on_device
from fernwood.search.rolling import select_by_snowball
from fernwood.search.snowball_settings import SnowballSettings
from tests.search.stand_in import StandIn, put_in_place

if TYPE_CHECKING:
    from fernwood.result import Result
    from fernwood.store.base import Store

SMALL = SnowballSettings(n_contexts=6, n_confirming=6, max_waves=2, max_contexts=6)


@pytest.fixture
def card(monkeypatch: pytest.MonkeyPatch) -> StandIn:
    return put_in_place(monkeypatch)


@pytest.fixture(scope="module")
def stores() -> dict[str, Store]:
    rng = np.random.default_rng(3)
    made = make_madelon(200, 40, n_copies=2, class_sep=3.0, random_state=0)
    x, y = made.data, made.target
    holes = np.where(rng.random(x.shape) < 0.05, np.nan, x)
    letters = pd.DataFrame({f"c{i}": pd.Categorical(rng.choice(list("abcdefgh")[: 2 + i % 6], 200)) for i in range(30)})
    letters["told"] = pd.Categorical(np.where(rng.random(200) < 0.8, y.astype(str), "none"))
    return {
        "two classes": fernwood.ingest(x, target=y),
        "five classes": fernwood.ingest(x, target=np.digitize(x[:, 0], [-2, -1, 0, 1]), task="classification"),
        "numbers": fernwood.ingest(x, target=x[:, 0] + x[:, 1], task="regression"),
        "weights": fernwood.ingest(x, target=y, weights=rng.integers(0, 4, 200).astype(float)),
        "missing values": fernwood.ingest(holes, target=y),
        "categories": fernwood.ingest(letters, target=y),
        "groups": fernwood.ingest(x, target=np.repeat(y[::5], 5)[:200], groups=np.repeat(np.arange(40), 5)),
        "weights in groups": fernwood.ingest(
            x,
            target=np.repeat(y[::5], 5)[:200],
            groups=np.repeat(np.arange(40), 5),
            weights=rng.gamma(1.0, size=200),
        ),
    }


def answer(store: Store, settings: SnowballSettings = SMALL, **how: Any) -> Result:
    return select_by_snowball(store, settings, 0, n_threads=2, **how)[0]


@pytest.mark.parametrize("name", ["two classes", "five classes", "numbers", "weights", "missing values", "groups"])
@pytest.mark.parametrize("stays", [True, False])
def test_numbers_as_covariates(
    name: str, stays: bool, stores: dict[str, Store], card: StandIn, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = SnowballSettings(n_contexts=6, n_confirming=6, max_waves=2, max_contexts=6, given=(5, 17))
    expected = answer(stores[name], settings)
    if not stays:
        monkeypatch.setattr(plan, "_FEWEST_WORK_BYTES", 1)
        monkeypatch.setattr(plan, "_WORK_SHARE", 0.99)
        monkeypatch.setattr(on_device, "_SENT_BYTES", 5000)
    assert_same(answer(stores[name], settings, device="cuda", device_memory=None if stays else 500_000), expected)
    assert card.limits


def assert_same(one: Result, other: Result) -> None:
    for field in ("p", "q", "draws"):
        assert np.array_equal(np.asarray(getattr(one, field)), np.asarray(getattr(other, field)))
    assert np.array_equal(one.verdicts.decision, other.verdicts.decision)


QUICK = ["two classes", "numbers", "missing values", "categories", "groups"]
LONG = ["five classes", "weights", "weights in groups"]
"""Tables that are sent part by part in the long part only: what is theirs is seen where they stay, or of other tables."""


@pytest.mark.parametrize(
    ("name", "stays"),
    [
        *((name, stays) for name in QUICK for stays in (True, False)),
        *((name, True) for name in LONG),
        *(pytest.param(name, False, marks=pytest.mark.long) for name in LONG),
    ],
)
def test_the_answer_is_that_of_the_processor(
    name: str, stays: bool, stores: dict[str, Store], card: StandIn, monkeypatch: pytest.MonkeyPatch
) -> None:
    expected = answer(stores[name])
    if not stays:
        monkeypatch.setattr(plan, "_FEWEST_WORK_BYTES", 1)
        monkeypatch.setattr(plan, "_WORK_SHARE", 0.99)
        monkeypatch.setattr(on_device, "_SENT_BYTES", 5000)  # some twenty columns at a time
    assert_same(answer(stores[name], device="cuda", device_memory=None if stays else 500_000), expected)
    assert card.limits
    assert (card.n_sent == 0) == (stays and "groups" not in name)  # shadows of groups are dealt by the host


def test_rows_that_are_sampled(card: StandIn, stores: dict[str, Store]) -> None:
    settings = SnowballSettings(n_contexts=8, n_confirming=8, max_waves=2, max_contexts=8, max_rows=120)
    expected = answer(stores["two classes"], settings)
    assert_same(answer(stores["two classes"], settings, device="cuda"), expected)
    assert len(card.limits) == 2
    assert sum(card.limits) <= 8 * 10**9


def test_device_memory_is_the_limit(card: StandIn, stores: dict[str, Store]) -> None:
    answer(stores["two classes"], device="cuda", device_memory=2 * 10**9)
    assert card.limits == [2 * 10**9]
    with pytest.raises(ParameterError, match=r"device_memory is 1.0 MB, too little .*; give at least 536.9 MB"):
        answer(stores["two classes"], device="cuda", device_memory=10**6)


def test_small_tables_stay_with_the_processor(card: StandIn, stores: dict[str, Store]) -> None:
    answer(stores["two classes"], device="auto")
    assert card.limits == []


@pytest.mark.parametrize("lost_at", [0, 3, 9, "last"])
def test_a_card_that_is_lost(
    lost_at: int | str,
    card: StandIn,
    stores: dict[str, Store],
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    expected = answer(stores["two classes"])
    monkeypatch.setattr(devices, "_FEWEST_CELLS", 0)
    real, calls = on_device.gains_of, count()
    monkeypatch.setattr(on_device, "gains_of", lambda *asked: (next(calls), real(*asked))[1])
    answer(stores["two classes"], device="cuda")
    least = next(calls) - 1 if lost_at == "last" else lost_at  # the last of all looks for partners, behind all waves
    calls = count()

    def failing(*asked: Any) -> Any:
        if next(calls) >= least:
            raise DeviceError("the card is gone; search with device='cpu'")
        return real(*asked)

    monkeypatch.setattr(on_device, "gains_of", failing)
    with caplog.at_level(logging.WARNING):
        assert_same(answer(stores["two classes"], device="auto"), expected)
    assert [record.getMessage() for record in caplog.records] == ["the card is gone; the CPU goes on"]
    with pytest.raises(DeviceError, match="the card is gone"):
        answer(stores["two classes"], device="cuda")


def test_a_card_that_has_no_room_for_the_table(
    card: StandIn, stores: dict[str, Store], monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    expected = answer(stores["two classes"])
    monkeypatch.setattr(devices, "_FEWEST_CELLS", 0)

    def nothing(*_: Any) -> Any:
        raise DeviceError("the card has no memory left; give it less to hold")

    monkeypatch.setattr(card.cupy, "empty", nothing)
    with caplog.at_level(logging.WARNING):
        assert_same(answer(stores["two classes"], device="auto"), expected)
    assert len(caplog.records) == 1


def test_a_card_with_little_shared_memory(card: StandIn, stores: dict[str, Store]) -> None:
    card.shared_bytes = 48 * 1024
    assert_same(answer(stores["two classes"], device="cuda"), answer(stores["two classes"]))
    with pytest.raises(
        DeviceError, match=r"200 rows that are weighed.* 49,152 bytes a block; search with device='cpu'"
    ):
        answer(stores["numbers"], device="cuda")


@pytest.mark.parametrize(("device", "least"), [("cuda", 10**9), ("auto", 0), ("auto", 10**9)])
def test_a_forecast_covers_the_card(
    device: str, least: int, card: StandIn, stores: dict[str, Store], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(devices, "_FEWEST_CELLS", least)
    monkeypatch.setattr(forecasting, "card_if_any", lambda: card)
    told = forecasting.forecast(stores["two classes"], SMALL, 0, device=device)
    if device == "auto" and least:
        assert told.card is None
    else:
        assert told.card == plan.plan_card(200, 40, int(0.9 * 8 * 10**9))
        assert told.card.stays
