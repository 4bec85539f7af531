"""The few that suffice: none can be left out, little is lost, and what left has its stand-ins."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, strategies as st

import fernwood
from fernwood.errors import ParameterError
from fernwood.importance.out_of_bag import Left
from fernwood.relations import Minimal
from fernwood.result import Result
from fernwood.run import driving
from fernwood.run.directory import RunDirectory, RunManifest
from fernwood.run.driving import SearchProgress, drive
from fernwood.run.events import EVENTS_NAME, last_events
from fernwood.run.standing import standing
from fernwood.run.stopping import Stopped, ask_to_stop
from fernwood.saved import load_result, save_result
from fernwood.search.methods import select, settings_of
from fernwood.search.reducing import _Ground
from fernwood.search.reduction import Few, Reduction, ReductionState
from fernwood.search.settings import SubspaceSettings
from fernwood.search.snowball_settings import SnowballSettings

QUICK: dict[str, Any] = {"n_contexts": 64, "n_confirming": 64, "goal": "minimal"}


@pytest.fixture(
    scope="module", autouse=True, params=[50, pytest.param(200, marks=pytest.mark.long)], ids="{} trees".format
)
def n_trees(request: pytest.FixtureRequest) -> Iterator[None]:
    """A quarter of the trees, and in the long part all of them."""
    with pytest.MonkeyPatch.context() as changed:
        changed.setattr("fernwood.search.reducing._N_TREES", request.param)
        yield


def exact(share: Callable[[frozenset[int]], float], importance: np.ndarray | None = None) -> Callable[..., Left]:
    """Trees that know: the same loss in all rows."""

    def left(places: np.ndarray) -> Left:
        told = np.ones(len(places)) if importance is None else importance[places]
        value = share(frozenset(places.tolist()))
        return Left(np.full(50, value), value, told)

    return left


def few_that_suffice(left: Callable[..., Left], n_columns: int, slack: float) -> Few:
    loop = Reduction(left, n_columns, slack)
    state, stopped_by, _ = drive(loop)
    if stopped_by is not None:
        raise stopped_by
    return loop.few(state)


class TestFewThatSuffice:
    @given(st.data())
    def test_none_can_be_left_out_and_little_is_lost(self, data: st.DataObject) -> None:
        """Groups of columns that tell the same; more than one group may be needed."""
        n = data.draw(st.integers(1, 40))
        group = np.array(data.draw(st.lists(st.integers(0, 4), min_size=n, max_size=n)))
        worth = np.array([0.0, 0.01, 0.1, 0.2, 0.3])
        importance = np.array(data.draw(st.lists(st.integers(0, 3), min_size=n, max_size=n)), float)

        def share(places: frozenset[int]) -> float:
            return 0.9 - worth[sorted({int(group[i]) for i in places})].sum()

        few = few_that_suffice(exact(share, importance), n, 0.02)
        kept = frozenset(few.kept.tolist())
        everything = share(frozenset(range(n)))
        assert share(kept) - everything <= 0.02 + 1e-12
        assert few.left.share == share(kept)
        if len(kept) > 1:
            assert all(share(kept - {i}) - everything > 0.02 for i in kept)
        assert (np.diff(importance[few.kept]) <= 0).all()

    def test_small_losses_do_not_add_up(self) -> None:
        few = few_that_suffice(exact(lambda places: 0.5 - 0.015 * len(places)), 10, 0.02)
        assert len(few.kept) == 9

    def test_many_leave_at_once(self) -> None:
        """Of 400 columns two are needed: not one fit for every column."""
        importance = np.arange(400) % 7.0
        few = few_that_suffice(exact(lambda places: 1 - 0.4 * len(places & {3, 77}), importance), 400, 0.02)
        assert set(few.kept.tolist()) == {3, 77}
        assert few.n_fits < 200

    def test_where_nothing_is_told_all_stay(self) -> None:
        few = few_that_suffice(exact(lambda _: 1.02), 8, 0.02)
        assert len(few.kept) == 8
        assert few.n_fits == 1
        assert few.blind
        assert not few_that_suffice(exact(lambda _: 0.98), 1, 0.02).blind

    @pytest.mark.parametrize(("spread", "n_kept"), [(1.0, 1), (0.01, 2)])
    def test_few_rows_widen_the_slack_to_one_standard_error(self, spread: float, n_kept: int) -> None:
        """Either column is missed by 0.06, give or take 0.14 or 0.0014."""

        def left(places: np.ndarray) -> Left:
            missed = 0.06 + spread * np.tile([0.7, -0.7], 13) if len(places) < 2 else np.zeros(26)
            return Left(0.5 + missed, float(0.5 + missed.mean()), np.ones(len(places)))

        assert len(few_that_suffice(left, 2, 0.02).kept) == n_kept

    def test_a_signal_is_heard_between_fits(self) -> None:
        fits = []

        def left(places: np.ndarray) -> Left:
            fits.append(len(places))
            if len(fits) == 3:
                ask_to_stop(15)
            return Left(np.full(9, 0.5), 0.5, np.ones(len(places)))

        with pytest.raises(Stopped):
            few_that_suffice(left, 30, 0.02)
        assert len(fits) == 3


def copies(n_rows: int = 600, seed: int = 0) -> pd.DataFrame:
    """Three columns that tell, with two noisy copies each (f0, f1, f2; g0, …; h0, …), and 20 of noise."""
    rng = np.random.default_rng(seed)
    table = {}
    for name in "fgh":
        truth = rng.standard_normal(n_rows)
        for number in range(3):
            table[f"{name}{number}"] = truth + 0.1 * rng.standard_normal(n_rows)
    for number in range(20):
        table[f"noise{number}"] = rng.standard_normal(n_rows)
    return pd.DataFrame(table)


def search(x: Any, y: Any, seed: int = 0, n_threads: int = 1, **settings: Any) -> Result:
    store = fernwood.ingest(x, target=y)
    return select(store, SnowballSettings(**QUICK | settings), seed, n_threads=n_threads).result


def named(result: Result) -> dict[str, Any]:
    assert result.minimal is not None
    return result.minimal.named(result.names.__getitem__)


@pytest.fixture(scope="module")
def answer(n_trees: None) -> Result:
    table = copies()
    y = 1.0 * table["f0"] + 1.5 * table["g1"] - 1.2 * table["h2"]
    return search(table, y)


def test_one_of_each_copy_is_kept_and_stands_in_for_the_others(answer: Result) -> None:
    few = named(answer)
    assert {name[0] for name in few["kept"]} == {"f", "g", "h"}
    assert len(few["kept"]) == 3
    assert len(answer.confirmed) == 9
    assert set(few["stand_ins"]) == {f"{a}{b}" for a in "fgh" for b in range(3)} - set(few["kept"])
    for name, others in few["stand_ins"].items():
        assert others[0][0] == name[0]
    assert few["open_kept"] - few["open_all"] <= 0.02


def test_the_answer_is_told_everywhere(answer: Result, tmp_path: Path) -> None:
    kept = set(named(answer)["kept"])
    table = answer.to_table().to_pandas().set_index("column")
    assert set(table.index[table["minimal"]]) == kept
    assert (table.loc[list(kept), "decision"] == "confirmed").all()
    left = table[(table["decision"] == "confirmed") & ~table["minimal"]]
    assert len(left) == 6
    assert left["stand_ins"].map(len).min() >= 1
    assert "3 of the 9 confirmed columns suffice" in " ".join(answer.remarks())
    rank = answer.ranking
    assert set(np.flatnonzero(rank == 1)) == set(answer.selected.tolist())
    assert rank[[i for i in answer.confirmed if i not in answer.selected]].max() == 7
    save_result(answer, tmp_path)
    again = load_result(tmp_path)
    assert again.minimal == answer.minimal
    assert again.summary() == answer.summary()


def test_threads_and_the_order_of_columns_change_nothing(answer: Result) -> None:
    table = copies()
    y = 1.0 * table["f0"] + 1.5 * table["g1"] - 1.2 * table["h2"]
    assert named(search(table, y, n_threads=2)) == named(answer)
    turned = named(search(table[table.columns[::-1]], y))
    assert turned["kept"] == named(answer)["kept"]
    assert turned["open_kept"] == pytest.approx(named(answer)["open_kept"], rel=1e-12)


def test_classes_categories_missing_values_weights_and_groups() -> None:
    table = copies(500, 1)
    table["word"] = np.where(table["f0"] > 0.3, "high", np.where(table["f0"] < -0.3, "low", "middle"))
    table.loc[::9, "g0"] = np.nan
    y = np.where(table["f1"] > 0, "yes", "no")
    weights = np.where(np.arange(500) % 10 == 0, 0.0, 1.0 + np.arange(500) % 3)
    store = fernwood.ingest(table, target=y, weights=weights, groups=np.arange(500) // 2)
    result = select(store, SnowballSettings(**QUICK), 0).result
    few = named(result)
    assert few["kept"] == ["f1"]
    assert few["stand_ins"]["word"] == ["f1"]


def test_of_many_rows_some_are_looked_at(monkeypatch: pytest.MonkeyPatch) -> None:
    """Which, the seed says; the few that suffice are the same here, and the same whoever draws."""
    table = copies(500, 2)
    whole = named(search(table, table["f0"] > 0))
    monkeypatch.setattr("fernwood.search.reducing._MOST_ROWS", 300)
    some = [named(search(table, table["f0"] > 0, n_threads=n)) for n in (1, 2)]
    assert some[0]["kept"] == whole["kept"] == ["f0"]
    assert some[0] == some[1] != whole


def by_batch(n_rows: int, seed: int = 0) -> pd.DataFrame:
    """One column that tells, `f`; `late` is about the same, but for the first third of the rows."""
    rng = np.random.default_rng(seed)
    table = pd.DataFrame({f"noise{i}": rng.standard_normal(n_rows) for i in range(8)})
    table["f"] = rng.standard_normal(n_rows)
    same = np.arange(n_rows) >= n_rows // 3
    table["late"] = np.where(same, table["f"] + 0.1 * rng.standard_normal(n_rows), rng.standard_normal(n_rows))
    return table


@pytest.mark.parametrize("grouped", [False, True])
def test_stand_ins_do_not_depend_on_where_rows_stand(grouped: bool) -> None:
    table = by_batch(3000)
    for rows in (np.arange(3000), np.random.default_rng(1).permutation(3000)):
        some = table.iloc[rows].reset_index(drop=True)
        groups = rows // 250 if grouped else None
        store = fernwood.ingest(some, target=-some["f"], groups=groups)
        few = named(select(store, SnowballSettings(**QUICK), 0).result)
        assert few["kept"] == ["f"]
        assert few["stand_ins"]["late"] == ["f"]  # a correlation of 0.67


def test_stand_ins_of_a_rare_value_are_looked_for_in_all_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    """Six carriers of 10 000, of whom one or none is among the rows that other columns are related on."""
    rng = np.random.default_rng(0)
    table = by_batch(10_000)
    table["rare"] = np.isin(np.arange(10_000), rng.permutation(10_000)[:6]).astype(float)
    table["copy"] = np.where(table["rare"] == 1, "carrier", "none")
    store = fernwood.ingest(table, target=table["f"] + table["noise0"])
    names = list(table.columns)
    kept = np.array([names.index("f"), names.index("copy")])
    found = [_Ground(store, np.arange(len(names)), kept[:0], 0, 1).standing_in(names.index("rare"), kept)]
    monkeypatch.setattr("fernwood.search.reducing._FEWEST_UNLIKE", 0)
    found += [_Ground(store, np.arange(len(names)), kept[:0], 0, 1).standing_in(names.index("rare"), kept)]
    assert [some.tolist() for some in found] == [[names.index("copy")], []]


def test_a_column_of_one_value_and_missing_ones_has_no_stand_ins() -> None:
    x = np.random.default_rng(0).standard_normal((200, 2))
    x[:, 1] = np.where(x[:, 0] > 0, 1, np.nan)
    store = fernwood.ingest(x, target=x[:, 0] ** 2)
    assert _Ground(store, np.arange(2), np.empty(0, np.int64), 0, 1).standing_in(1, np.array([0])).tolist() == []


def test_covariates_stay_and_are_no_candidates() -> None:
    """y is told by f and g; given f, only g is worth keeping."""
    table = copies(500, 2)
    result = search(table, table["f0"] + table["g0"], given=["f0", "f1", "f2"])
    assert {name[0] for name in named(result)["kept"]} == {"g"}


def test_random_subspaces_take_the_goal_too() -> None:
    table = copies()
    store = fernwood.ingest(table, target=(table["f0"] + table["g0"] > 0).astype(int))
    result = select(store, SubspaceSettings(goal="minimal"), 0).result
    assert {name[0] for name in named(result)["kept"]} == {"f", "g"}
    assert len(named(result)["kept"]) <= 3


def test_one_confirmed_column_that_tells_all_is_not_said_to_tell_nothing() -> None:
    table = copies()[[*(f"noise{i}" for i in range(20)), "f0"]]
    result = search(table, table["f0"] > 0)
    few = result.minimal
    assert few is not None
    assert (len(few.kept), few.n_fits, few.blind) == (1, 1, False)
    assert few.open_all < 0.1
    assert (
        few.said
        == f"the one confirmed column is kept: trees leave {100 * few.open_all:.1f} % of the target open with it"
    )
    assert few.said in result.remarks()


def few(kept: int = 3, left_out: int = 0, **about: Any) -> Minimal:
    stand_ins: dict[int, list[int]] = {kept + i: [] for i in range(left_out)}
    return Minimal(
        list(range(kept)), stand_ins, **{"open_all": 0.25, "open_kept": 0.26, "tolerance": 0.02, "n_fits": 9} | about
    )


@pytest.mark.parametrize(
    ("minimal", "said"),
    [
        (few(), "all 3 confirmed columns are kept: without any one of them, trees leave clearly more"),
        (few(open_all=0.99, blind=True), "trees leave 99.0 % of the target open with all of them, not clearly less than"),
        (few(1, n_fits=1), "the one confirmed column is kept: trees leave 25.0 % of the target open with it"),
        (few(left_out=2), "3 of the 5 confirmed columns suffice: trees leave 26.0 % of the target open with them, 25.0 % with all"),
        (few(left_out=600, n_passed_over=103), "3 of the 603 confirmed columns suffice: "),
        (few(left_out=600, n_passed_over=103), "25.0 % with the best 500, which took part"),
    ],
)  # fmt: skip
def test_what_is_said_of_the_few(minimal: Minimal, said: str) -> None:
    assert said in minimal.said


def test_what_earlier_versions_kept_of_the_few_is_understood() -> None:
    place = {f"x{i}": i for i in range(9)}
    for minimal in (few(), few(1, n_fits=1), few(left_out=2), few(n_fits=1, blind=True)):
        entries = minimal.named("x{}".format)
        assert Minimal.from_names(entries, place) == minimal
        for later in ("blind", "n_passed_over"):
            del entries[later]
        assert Minimal.from_names(entries, place) == minimal


def test_of_rows_of_one_class_nothing_can_be_judged(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of very many rows some are drawn; a class of a few rows may be in none of them."""
    monkeypatch.setattr("fernwood.search.reducing._MOST_ROWS", 60)
    table = copies(2000)
    case = np.arange(2000) % 200 == 0
    table[["f0", "g0"]] += 9 * case[:, None]
    result = search(table, case)
    assert result.minimal is not None
    assert result.minimal.blind
    assert len(result.minimal.kept) == len(result.confirmed) > 1
    assert "none can be judged" in result.minimal.said


def test_of_very_many_confirmed_columns_the_best_take_part(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("fernwood.search.reducing._MOST_COLUMNS", 4)
    table = copies()
    result = search(table, 1.0 * table["f0"] + 1.5 * table["g1"] - 1.2 * table["h2"])
    assert result.minimal is not None
    assert result.minimal.n_passed_over == len(result.confirmed) - 4 == 5
    assert "with the best 4, which took part" in result.minimal.said


def test_nothing_confirmed_is_nothing_to_reduce() -> None:
    rng = np.random.default_rng(0)
    result = search(rng.standard_normal((100, 30)), rng.standard_normal(100))
    assert result.minimal is None
    assert result.selected.tolist() == []


def test_a_stop_keeps_what_is_relevant() -> None:
    table = copies()
    store = fernwood.ingest(table, target=table["f0"] + 0.1 * np.sin(np.arange(600.0)))
    seen = []

    def stop(progress: Any) -> None:
        seen.append(progress.stage)
        if progress.stage == "reducing":
            raise KeyboardInterrupt

    result, stopped_by = select(store, SnowballSettings(**QUICK), 0, progress=stop)
    assert isinstance(stopped_by, KeyboardInterrupt)
    assert result.minimal is None
    assert len(result.confirmed) == 3


def test_the_selector_selects_the_few() -> None:
    table = copies()
    selector = fernwood.SnowballSelector(goal="minimal", random_state=0).fit(table, table["f0"] + table["g0"])
    assert selector.support_.sum() == len(selector.result_.minimal.kept) == 2
    assert selector.transform(table).shape == (600, 2)


def test_settings_go_through_json() -> None:
    settings = SnowballSettings(goal="minimal", slack=0.05)
    assert settings_of("snowball", settings.to_json()) == settings


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"goal": "few"}, "goal is 'few'; it must be one of 'all-relevant', 'minimal'"),
        ({"slack": 1.0}, "slack is 1.0; it is the share of the target"),
        ({"slack": "much"}, "slack is 'much'"),
    ],
)
@pytest.mark.parametrize("kind", [SnowballSettings, SubspaceSettings])
def test_bad_input_is_refused(kind: type, wrong: dict[str, Any], said: str) -> None:
    with pytest.raises(ParameterError, match=said):
        kind(**wrong)


# Runs ---------------------------------------------------------------------------------------------------------------


def redundant(n: int = 60) -> Reduction:
    """Of many columns three kinds are needed, and the losses of rows are no round numbers."""
    kind = np.random.default_rng(3).integers(0, 12, n)

    def left(places: np.ndarray) -> Left:
        share = 1 - 0.3 * len({0, 1, 2} & set(kind[places].tolist())) + 1e-4 * (n - len(places)) / n
        rows = share + 0.001 * np.sin(np.arange(40.0) * places.sum())
        return Left(rows, float(rows.mean()), np.cos(places * 1.7) ** 2)

    def stands_in(place: int, kept: np.ndarray) -> np.ndarray:
        return kept[: place % 4]

    return Reduction(left, n, 0.02, stands_in)


def states(loop: Reduction) -> list[ReductionState]:
    """From the start to the end."""
    found = [loop.start()]
    while (now := loop.progress(found[-1])).done < now.total:
        found.append(loop.step(found[-1]))
    return found


def test_any_state_goes_through_a_checkpoint_to_the_same_end() -> None:
    loop = redundant()
    whole = states(loop)
    assert {state.stage for state in whole} == {0, 1, 2, 3}
    assert len(whole) > 40
    end = loop.pack(whole[-1])
    assert len(end["stand_ins"]) == 60 - len(end["kept"])
    for number, state in enumerate(whole):
        again = redundant().unpack({name: array.copy() for name, array in loop.pack(state).items()})
        for _ in whole[number + 1 :]:
            again = loop.step(again)
        assert {name: array.tobytes() for name, array in loop.pack(again).items()} == {
            name: array.tobytes() for name, array in end.items()
        }


@pytest.mark.parametrize(
    ("wrong", "sentence"),
    [
        ({"kept": np.array([3, 2])}, "columns cannot be what is left"),
        ({"kept": np.array([3, 60])}, "columns are none of this table"),
        ({"kept": np.empty(0, np.int64)}, "columns cannot be what is left"),
        ({"kept": np.arange(4.0)}, "columns are none of this table"),
        ({"counts": np.array([4, 0, 0, 0, -1])}, "number of draws is none of this search"),
        ({"counts": np.array([2, 1, 1, 0])}, "columns cannot be what is left"),
        ({"counts": np.array([2, 1, 1, 1, 59])}, "best column cannot be"),
        ({"now_importance": np.ones(7)}, "columns and what they tell do not fit"),
        ({"now_rows": np.full(40, np.nan)}, "losses cannot be"),
        ({"all_rows": np.ones(39)}, "columns and what they tell do not fit"),
        ({"all_share": np.ones(2)}, "losses cannot be"),
        ({"stand_ins": np.zeros((60, 3), np.int64)}, "stand-ins cannot be"),
        ({"stand_ins": np.zeros((2, 2), np.int64)}, "stand-ins cannot be"),
    ],
)
def test_states_that_no_reduction_has(wrong: dict[str, np.ndarray], sentence: str) -> None:
    loop = redundant()
    arrays = loop.pack(states(loop)[-4])
    loop.unpack(arrays)
    with pytest.raises(ValueError, match=f"^the checkpoint's {sentence}$"):
        loop.unpack({**arrays, **wrong})


@pytest.mark.parametrize("settings", [SnowballSettings(**QUICK), SubspaceSettings(goal="minimal")])
def test_a_run_killed_while_it_reduces_goes_on_to_the_same_answer(
    settings: SnowballSettings | SubspaceSettings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A copy of the directory is what a kill at that instant leaves."""
    monkeypatch.setattr(driving, "_LEAST_SECONDS", 0.0)
    monkeypatch.setattr(driving, "_SHARE_FOR_CHECKPOINTS", 1e9)
    table = copies(250)
    store = fernwood.ingest(table, target=(table["f0"] + table["g0"] > 0).astype(int))
    run = RunDirectory.of_memory(tmp_path / "r", RunManifest.of(store, settings.method, settings.to_json(), 0, ""))
    stages = []

    def copy(now: SearchProgress) -> None:
        if now.stage != "searching":
            shutil.copytree(run.path, tmp_path / f"{len(stages)}")
            stages.append(now.stage)

    with run.working(store):
        whole = select(store, settings, 0, directory=run, progress=copy).result
    assert whole.minimal is not None
    assert {"reducing", "relating"} == set(stages)
    assert len(stages) > 5
    for number in (1, len(stages) // 2, stages.index("relating")):
        killed = RunDirectory.open(tmp_path / f"{number}")
        assert standing(killed.path).stage == stages[number]
        before = len(last_events(killed.path / EVENTS_NAME, 1000))
        with killed.working(store):
            again = select(store, settings, 0, directory=killed).result
        assert again.to_table() == whole.to_table()
        assert again.summary() == whole.summary()
        told = last_events(killed.path / EVENTS_NAME, 1000)[before:]
        assert not [event for event in told if event.get("stage") == "searching" and event["done"] < event["total"]]


def test_a_stop_while_it_reduces_can_be_gone_on_with(tmp_path: Path) -> None:
    table = copies(250)
    store = fernwood.ingest(table, target=table["f0"] + table["g0"])
    settings = SnowballSettings(**QUICK)
    run = RunDirectory.of_memory(tmp_path / "r", RunManifest.of(store, settings.method, settings.to_json(), 0, ""))

    def stop(now: SearchProgress) -> None:
        if now.stage == "reducing" and now.done == 2:
            raise KeyboardInterrupt

    with run.working(store):
        early, stopped_by = select(store, settings, 0, directory=run, progress=stop)
        save_result(early, run.path)
    assert isinstance(stopped_by, KeyboardInterrupt)
    assert not early.facts.finished
    assert "stopped before it knew which few columns suffice" in repr(early)
    stands = standing(run.path)
    assert (stands.state, stands.stage, stands.done) == ("stopped", "reducing", 2)
    with run.working(store):
        late, _ = select(store, settings, 0, directory=run)
        save_result(late, run.path)
    assert standing(run.path).state == "done"
    assert late.to_table() == select(store, settings, 0).result.to_table()
