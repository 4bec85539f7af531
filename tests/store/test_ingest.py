from __future__ import annotations

import filecmp
import importlib
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, strategies as st

import fernwood
from fernwood.errors import BudgetError, FernwoodWarning, ParameterError, SourceError, StoreError, TargetError
from fernwood.sources.base import Progress
from fernwood.store.spilling import where_workers_see_it

RNG = np.random.default_rng(8)

module = importlib.import_module("fernwood.store.ingest")  # the package has a function of that name


def mixed_frame(n: int = 50) -> pd.DataFrame:
    return pd.DataFrame(
        {
            "height": RNG.standard_normal(n),
            "site": RNG.choice(["north", "south", "east"], n),
            "when": pd.Timestamp("2020-01-01") + pd.to_timedelta(RNG.integers(0, 900, n), "D"),
            "treated": RNG.random(n) < 0.5,
            "weight": RNG.random(n),
            "patient": RNG.integers(0, 9, n).astype(str),
            "disease": RNG.choice(["case", "control"], n),
        }
    )


def same_files(a: Path, b: Path) -> bool:
    names = {path.name for path in a.iterdir()}
    return names == {path.name for path in b.iterdir()} and not filecmp.cmpfiles(a, b, names, shallow=False)[1]


@pytest.mark.parametrize("band_bytes", [1, 30_000, 10**9])
def test_any_split_into_bands_gives_the_same_bytes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, band_bytes: int
) -> None:
    table = np.round(np.random.default_rng(2).standard_normal((300, 50)), 3)
    fernwood.ingest(table, tmp_path / "a.fern", target=np.arange(300) % 2)
    monkeypatch.setattr(module, "_BAND_BYTES", band_bytes)
    fernwood.ingest(table, tmp_path / "b.fern", target=np.arange(300) % 2)
    assert same_files(tmp_path / "a.fern", tmp_path / "b.fern")


@pytest.mark.parametrize("band_bytes", [1, 1000, 2500, 6000])
def test_any_split_of_categories_into_bands_gives_the_same_fingerprint(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, band_bytes: int
) -> None:
    """A run knows its table by it, whatever memory a store was made with."""
    rng = np.random.default_rng(1)
    words = {f"[{i}]": rng.choice([f"[{i}", "'b]", "c"], 50) for i in range(4)}
    frame = pd.DataFrame(words).assign(**{"number]": rng.random(50), "[last": rng.choice(["x", "y"], 50)})
    whole = fernwood.ingest(frame, tmp_path / "a.fern", target=np.arange(50) % 2)
    with where_workers_see_it(fernwood.ingest(frame, target=np.arange(50) % 2)) as spilled:
        assert spilled.fingerprint == whole.fingerprint
    monkeypatch.setattr(module, "_BAND_BYTES", band_bytes)
    assert fernwood.ingest(frame, target=np.arange(50) % 2).fingerprint == whole.fingerprint
    fernwood.ingest(frame, tmp_path / "b.fern", target=np.arange(50) % 2)
    assert same_files(tmp_path / "a.fern", tmp_path / "b.fern")
    monkeypatch.setattr("fernwood.store.spilling._BLOCK_BYTES", band_bytes // 20)
    with where_workers_see_it(fernwood.ingest(frame, target=np.arange(50) % 2)) as spilled:
        assert spilled.fingerprint == whole.fingerprint


def test_bands_get_narrower_when_memory_runs_short(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    table = np.round(np.random.default_rng(2).standard_normal((300, 6000)), 3)
    missing = iter([0, 0])  # a look before anything is read, and the first band
    asked = []

    class Short:
        def __init__(self, *_: int) -> None:
            pass

        def missing(self) -> int:
            return next(missing, 10**9)

    whole = fernwood.ingest(table, tmp_path / "a.fern", target=np.arange(300) % 2, memory="75MB")
    monkeypatch.setattr(module, "Headroom", Short)
    real = module._band
    monkeypatch.setattr(module, "_band", lambda reader, a, b: asked.append(b - a) or real(reader, a, b))
    parts = fernwood.ingest(table, tmp_path / "b.fern", target=np.arange(300) % 2, memory="75MB")
    first, *rest, last = asked
    assert rest
    assert first > max(rest) > first // 3
    assert last <= max(rest)
    assert parts.fingerprint == whole.fingerprint
    assert same_files(tmp_path / "a.fern", tmp_path / "b.fern")


@given(st.integers(1, 40), st.integers(1, 9))
def test_any_split_of_a_text_into_blocks_gives_the_same_store(
    tmp_path_factory: pytest.TempPathFactory, height: int, piece: int
) -> None:
    from fernwood.sources import text

    folder = tmp_path_factory.mktemp("split")
    mixed_frame(23).to_csv(folder / "t.csv", index=False)
    whole = fernwood.ingest(folder / "t.csv", target="disease")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(text.TextSource, "_shares", lambda *_: (height, 10**9))
        patch.setattr(text.TextFeed.__init__, "__defaults__", (piece * 7,))
        parts = fernwood.ingest(folder / "t.csv", target="disease")
    assert parts.fingerprint == whole.fingerprint
    assert parts._table.equals(whole._table)


def test_memory_and_disk_agree(tmp_path: Path) -> None:
    frame = mixed_frame()
    memory = fernwood.ingest(frame, target="disease", weights="weight", groups="patient")
    disk = fernwood.ingest(frame, tmp_path / "s.fern", target="disease", weights="weight", groups="patient")
    assert memory.fingerprint == disk.fingerprint
    np.testing.assert_array_equal(memory.read(np.arange(4)), disk.read(np.arange(4)))
    assert list(memory.names) == list(disk.names) == ["height", "site", "when", "treated"]
    for store in (memory, disk):
        assert store.weights is not None
        assert store.groups is not None
        np.testing.assert_array_equal(store.weights, frame["weight"])
        np.testing.assert_array_equal(store.groups, pd.factorize(frame["patient"])[0])
        assert store.target is not None
        assert store.target.classes == ("case", "control")
        assert store.column("site").tolist() == frame["site"].tolist()
        np.testing.assert_array_equal(store.column("when"), frame["when"].to_numpy("datetime64[us]"))
        np.testing.assert_array_equal(store.column("treated"), frame["treated"])
        assert store.labels("site") == ["east", "north", "south"]
        with pytest.raises(ParameterError, match="'site' is categorical; it has labels, not thresholds"):
            store.thresholds("site")
        with pytest.raises(ParameterError, match="'when' is ordered; it has thresholds, not labels"):
            store.labels("when")


@pytest.mark.parametrize(
    ("target", "task", "classes"),
    [
        (["b", "a", "b", "a"], "classification", ("a", "b")),
        ([True, False, True, True], "classification", (False, True)),
        ([0, 1, 1, 0], "classification", (0, 1)),
        ([0.0, 1.0, 1.0, 0.0], "classification", (0, 1)),
        ([0.0, 1.5, 1.0, 0.0], "regression", ()),
        ([1, 2, 3, 4], "regression", ()),
        (pd.to_datetime(["2020-01-01"] * 3 + ["2020-01-02"]), "regression", ()),
    ],
)
def test_what_the_target_asks_for(target: object, task: str, classes: tuple[object, ...]) -> None:
    given_target = fernwood.ingest(RNG.random((4, 3)), target=pd.Series(target)).target
    assert given_target is not None
    assert (given_target.task, given_target.classes) == (task, classes)


def test_the_rule_for_whole_numbers() -> None:
    """At most 20 different ones, and at most half as many as rows."""
    for n_rows, n_different, task in (
        (60, 20, "classification"),
        (60, 21, "regression"),
        (30, 15, "classification"),
        (30, 16, "regression"),
    ):
        target = fernwood.ingest(np.eye(n_rows), target=np.arange(n_rows) % n_different).target
        assert target is not None
        assert target.task == task


def test_the_task_can_be_told() -> None:
    store = fernwood.ingest(np.eye(4), target=[1, 2, 3, 4], task="classification")
    assert store.target is not None
    assert store.target.classes == (1, 2, 3, 4)
    with pytest.raises(TargetError, match="is text, which regression cannot explain"):
        fernwood.ingest(np.eye(4), target=list("abab"), task="regression")


@pytest.mark.parametrize(
    ("arguments", "error", "sentence"),
    [
        ({"target": [0, 1, np.nan, 0]}, TargetError, "has 1 missing values, the first in row 2"),
        ({"target": [0, 1, np.inf, 0]}, TargetError, "is infinite in row 2"),
        ({"target": [1, 1, 1, 1]}, TargetError, "is 1 in every row; it needs at least two different values"),
        ({"target": list("aaaa")}, TargetError, "is 'a' in every row"),
        ({"target": [0, 1, 1]}, TargetError, "has 3 values and the table has 4 rows"),
        ({"target": "nope"}, TargetError, "there is no target 'nope': neither a column of the table nor a file"),
        ({"target": "X1"}, TargetError, r"did you mean 'x1'\?"),
        ({"target": 17}, TargetError, "there is no target at position 17"),
        ({"target": np.eye(4)}, TargetError, "has 4 columns; it must have one"),
        ({"target": 0, "weights": 0}, TargetError, "cannot be the weights and something else at once"),
        ({"weights": [1, -1, 1, 1]}, TargetError, "none missing, infinite or negative"),
        ({"weights": [0, 0, 0, 0]}, TargetError, "are all zero"),
        ({"groups": [0, 1, np.nan, 1]}, TargetError, "are missing in row 2"),
        ({"drop": ["zz"]}, SourceError, "the column to drop 'zz' is no column of the table"),
        ({"columns": ["q*"]}, SourceError, r"the column 'q\*' matches no column"),
        ({"target": 0, "columns": ["x0"]}, SourceError, "no column is left beside the target"),
        ({"task": "ranking"}, ParameterError, "task is 'ranking'; give 'classification' or 'regression'"),
        ({"bins": 4}, ParameterError, "bins is 4; give a number from 8 to 255"),
        ({"many_categories": "x"}, ParameterError, "give 'error', 'drop' or 'frequency'"),
        ({"memory": "lots"}, ParameterError, "memory is 'lots'"),
        ({"memory": 1000}, BudgetError, "at least .* MB would do"),
    ],
)
def test_bad_arguments_get_one_sentence(arguments: dict[str, object], error: type[Exception], sentence: str) -> None:
    with pytest.raises(error, match=sentence) as caught:
        fernwood.ingest(np.eye(4), **arguments)
    assert "\n" not in str(caught.value)


def test_the_least_budget_it_names_is_enough() -> None:
    table = RNG.standard_normal((2000, 5))
    with pytest.raises(BudgetError) as caught:
        fernwood.ingest(table, memory=1)
    assert fernwood.ingest(table, memory=caught.value.least).n_columns == 5


def test_a_target_file_of_words(tmp_path: Path) -> None:
    (tmp_path / "y.csv").write_text("case\ncontrol\ncase\ncase\n")
    with pytest.raises(TargetError, match="if line 1 of 'y.csv', 'case', is a value and no name, put a name above it"):
        fernwood.ingest(RNG.random((4, 3)), target=tmp_path / "y.csv")
    (tmp_path / "y.csv").write_text("label\ncase\ncontrol\ncase\ncase\n")
    store = fernwood.ingest(RNG.random((4, 3)), target=tmp_path / "y.csv")
    assert store.target is not None
    assert [store.target.classes[i] for i in store.target.values] == ["case", "control", "case", "case"]


@pytest.mark.parametrize("shape", [(4,), (4, 1)])
def test_a_target_file_of_numbers(tmp_path: Path, shape: tuple[int, ...]) -> None:
    np.save(tmp_path / "y.npy", np.array([0, 1, 1, 0]).reshape(shape))
    store = fernwood.ingest(RNG.random((4, 3)), target=str(tmp_path / "y.npy"))
    assert store.target is not None
    assert (store.target.name, store.target.values.tolist()) == ("y", [0, 1, 1, 0])
    (tmp_path / "y.npy").write_bytes(b"\x93NUMPY")
    with pytest.raises(SourceError, match="'y.npy' is not a whole .npy file"):
        fernwood.ingest(RNG.random((4, 3)), target=tmp_path / "y.npy")


def test_infinite_values_are_refused_with_their_place() -> None:
    table = np.zeros((4, 3))
    table[2, 1] = -np.inf
    with pytest.raises(SourceError, match="column 'x1' has -inf in row 2"):
        fernwood.ingest(table)


@pytest.mark.parametrize("policy", ["error", "drop", "frequency"])
def test_columns_of_many_categories(policy: str) -> None:
    words = [f"w{i:03d}" for i in range(300)]
    frame = pd.DataFrame({"id": [*words, *["w007"] * 5, "w005", "w005"], "x": np.arange(307.0) % 9})
    if policy == "error":
        with pytest.raises(SourceError, match="text column 'id' has 300 categories, more than the 254"):
            fernwood.ingest(frame)
        return
    store = fernwood.ingest(frame, many_categories=policy)
    if policy == "drop":
        assert list(store.names) == ["x"]
        return
    codes = store.read([0])[0]
    assert codes[7] == codes[-3] == codes.min()  # the most frequent comes first
    assert len(set(codes.tolist())) > 20


def test_254_categories_fit() -> None:
    frame = pd.DataFrame({"c": [f"w{i:03d}" for i in range(254)] * 2})
    assert fernwood.ingest(frame).n_codes[0] == 254


def test_a_copy_of_the_target_and_an_index_earn_a_warning() -> None:
    target = RNG.integers(0, 2, 30)
    table = np.column_stack((RNG.random(30), 1 - target, np.arange(30) + 5, RNG.random(30)))
    with pytest.warns(FernwoodWarning) as caught:
        store = fernwood.ingest(table, target=target)
    notes = [str(w.message) for w in caught]
    assert notes == store.notes
    assert notes[0].startswith("column 'x1' tells the target exactly, class by class")
    assert notes[1].startswith("column 'x2' numbers the rows one by one")


def test_a_copy_of_a_regression_target_earns_a_warning() -> None:
    target = RNG.standard_normal(400)
    with pytest.warns(FernwoodWarning, match="columns 'x0', 'x2' order the rows as the target does"):
        fernwood.ingest(np.column_stack((target, RNG.random(400), 3 * target)), target=target)


def test_no_warning_without_reason() -> None:
    fernwood.ingest(RNG.random((30, 200)), target=RNG.integers(0, 2, 30))


def test_patterns_and_names_choose_columns() -> None:
    frame = pd.DataFrame(np.eye(5), columns=["a1", "a2", "b1", "b*", "c"])
    assert list(fernwood.ingest(frame, columns=["a*", "c"]).names) == ["a1", "a2", "c"]
    assert list(fernwood.ingest(frame, drop=["b*"]).names) == ["a1", "a2", "b1", "c"]  # the very name, not a pattern
    assert list(fernwood.ingest(frame, columns=["?1", -1], drop=["a1"]).names) == ["b1", "c"]


def test_an_output_that_exists_needs_force(tmp_path: Path) -> None:
    out = tmp_path / "s.fern"
    fernwood.ingest(np.eye(4), out)
    with pytest.raises(StoreError, match="exists; choose another name or replace it with --force"):
        fernwood.ingest(np.eye(5), out)
    assert fernwood.open(out).n_rows == 4
    assert fernwood.ingest(np.eye(5), out, force=True).n_rows == 5
    assert [path.name for path in tmp_path.iterdir()] == ["s.fern"]


def test_force_replaces_stores_only(tmp_path: Path) -> None:
    precious = tmp_path / "thesis"
    precious.mkdir()
    (precious / "chapter1.tex").write_text("years of work")
    with pytest.raises(StoreError, match="is not a store, so it is not replaced"):
        fernwood.ingest(np.eye(4), precious, force=True)
    assert (precious / "chapter1.tex").read_text() == "years of work"


def test_a_failure_leaves_an_old_store_as_it_was(tmp_path: Path) -> None:
    out = tmp_path / "s.fern"
    fernwood.ingest(np.eye(4), out)
    bad = np.eye(4)
    bad[0, 3] = np.inf
    with pytest.raises(SourceError):
        fernwood.ingest(bad, out, force=True)
    fernwood.open(out).verify()
    assert [path.name for path in tmp_path.iterdir()] == ["s.fern"]


def test_no_directory_to_write_into(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="there is no directory"):
        fernwood.ingest(np.eye(4), tmp_path / "no" / "s.fern")


def test_progress_runs_to_the_end() -> None:
    seen: list[Progress] = []
    fernwood.ingest(RNG.random((20, 30)), progress=seen.append)
    assert seen[0].done == 0
    assert (seen[-1].done, seen[-1].total, seen[-1].unit) == (30, 30, "columns")
    assert all(a.done <= b.done for a, b in zip(seen, seen[1:], strict=False))


@pytest.mark.parametrize(
    ("table", "sentence"),
    [
        (np.zeros((1, 3)), "the array has a single row; a table needs at least two"),
        (np.zeros((0, 3)), "the array has no row; a table needs at least two"),
        (np.zeros((3, 0)), "the array has no columns; a table needs some"),
        (pd.DataFrame(index=range(3)), "the data frame has no columns; a table needs some"),
        (np.zeros(3), r"the array has shape \(3,\); a table has two dimensions"),
        (np.zeros((2, 2, 2)), r"the array has shape \(2, 2, 2\); a table has two dimensions"),
    ],
)
def test_tables_without_rows_or_columns(table: object, sentence: str) -> None:
    with pytest.raises(SourceError, match=sentence):
        fernwood.ingest(table)


@pytest.mark.parametrize(
    ("table", "sentence"),
    [
        (np.zeros((3, 3), complex), "the array holds values of type 'complex128', not real numbers; give numbers"),
        ({"a": 1}, "a dict is no table; give a path, an array, a sparse matrix, AnnData or a data frame"),
        (7, "a int is no table"),
        (None, "a NoneType is no table"),
    ],
)
def test_things_that_are_no_table(table: object, sentence: str) -> None:
    with pytest.raises(SourceError, match=sentence):
        fernwood.ingest(table)


def test_a_link_that_leads_to_itself_is_no_store_and_no_place_for_one(tmp_path: Path) -> None:
    path = tmp_path / "s.fern"
    path.symlink_to(path)
    with pytest.raises(StoreError, match="there is no store"):
        fernwood.open(path)
    # From Python 3.13 on the disk is asked first.
    with pytest.raises(StoreError, match="is no name that a store can have; choose a shorter|the disk refused: "):
        fernwood.ingest(np.eye(3), path)


def test_a_name_that_no_file_can_have(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="there is no store"):
        fernwood.open(tmp_path / "a\0b")
    with pytest.raises(StoreError, match=r"'a\\x00b' is no name that a store can have; choose a shorter, plainer one"):
        fernwood.ingest(np.eye(3), "a\0b")
