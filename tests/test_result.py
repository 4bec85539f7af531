"""Results: everything derives from one table, and comes back from disk as it was."""

from __future__ import annotations

import io
import json
import pickle
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import fernwood
from fernwood.errors import StoreError
from fernwood.relevance import Decision, Verdicts
from fernwood.result import Facts, Result, result_of
from fernwood.saved import DECISIONS_NAME, INSIGHT_NAME, SUMMARY_NAME, load_result, save_result
from fernwood.sealed import digest, seal
from fernwood.search.selecting import select_by_subspaces
from fernwood.search.settings import SubspaceSettings
from fernwood.sources.names import ListedNames, NumberedNames

FACTS = Facts(
    method="subspace",
    target="y",
    task="classification",
    n_rows=100,
    n_columns=6,
    n_usable=5,
    n_draws=40,
    n_planned=40,
    against="probe",
    seed=3,
    parameters={"q": 2},
    fingerprint="f00d",
    versions={"numpy": "2"},
)
HOSTILE = ['a "quoted" name', "<script>alert(1)</script>", "a, b", "=SUM(A1)", "naïve 漢字", "' OR 1=1 --"]

FILES = (DECISIONS_NAME, INSIGHT_NAME, SUMMARY_NAME)


def result(
    decision: list[int] = [2, 0, 1, 0, 3, 0],  # noqa: B006
    draws: list[int] = [10, 20, 3, 20, 0, 20],  # noqa: B006
    wins: list[int] = [4, 19, 3, 20, 0, 20],  # noqa: B006
    names: list[str] = HOSTILE,
    **facts: Any,
) -> Result:
    return Result(
        ListedNames(pa.array(names, pa.large_string())),
        replace(FACTS, **facts),
        np.array(draws, np.int32),
        np.array([0.25, 0.5, 0.125, 0.25, 0.0, 0.5]),
        np.array(wins, np.int32),
        Verdicts(np.array(decision, np.uint8), np.array(decision, np.uint8), ("ahead", "early", "behind", "never")),
    )


def test_best_first() -> None:
    """Confirmed before tentative before rejected; then by share of wins, score, and place."""
    assert result().order.tolist() == [5, 3, 1, 2, 0, 4]
    tied = replace(result(), score=np.zeros(6))
    assert tied.order.tolist() == [3, 5, 1, 2, 0, 4]


def test_ranks_as_scikit_learn_has_them() -> None:
    assert result().ranking.tolist() == [3, 1, 2, 1, 4, 1]
    nothing = result(decision=[2, 2, 1, 2, 3, 2])
    assert sorted(nothing.ranking.tolist()) == [2, 3, 4, 5, 6, 7]
    assert nothing.ranking[2] == 2


def test_positions_and_counts() -> None:
    found = result()
    assert found.confirmed.tolist() == [1, 3, 5]
    assert found.tentative.tolist() == [2]
    assert found.n_examined == 5
    assert found.median_draws == 20.0
    assert repr(found) == "<Result: 3 confirmed and 1 tentative of 6 columns>"
    assert repr(result(n_draws=30)).endswith("of 6 columns, stopped after 30 of 40 draws>")


def test_the_table() -> None:
    table = result().to_table()
    assert table.column_names == ["column", "position", "decision", "reason", "draws", "score", "wins"]
    assert table.column("column").to_pylist() == [HOSTILE[i] for i in (5, 3, 1, 2, 0, 4)]
    assert table.column("position").to_pylist() == [5, 3, 1, 2, 0, 4]
    assert table.column("decision").to_pylist() == [*3 * ["confirmed"], "tentative", "rejected", "unexamined"]
    assert table.column("reason").to_pylist() == [*3 * ["ahead"], "early", "behind", "never"]
    assert table.column("wins").to_pylist() == [20, 20, 19, 3, 4, 0]
    assert result().to_table(np.array([2, 0])).column("draws").to_pylist() == [3, 10]
    assert "wins" not in result(against="").to_table().column_names
    assert pa.concat_tables(result().tables()).equals(table)


def test_the_summary_is_plain() -> None:
    summary = result().summary()
    assert json.loads(json.dumps(summary)) == summary
    assert summary["confirmed"] == [HOSTILE[i] for i in (5, 3, 1)]
    assert summary["tentative"] == [HOSTILE[2]]
    assert summary["counts"] == {"confirmed": 3, "tentative": 1, "rejected": 1, "unexamined": 1}
    assert (summary["finished"], summary["columns_examined"], summary["nothing_found"]) == (True, 5, "")
    assert summary["seed"] == 3


# When nothing is found ----------------------------------------------------------------------------------------------

NOTHING = {"decision": [2, 2, 2, 2, 3, 2], "wins": [4, 9, 2, 10, 0, 12]}


def test_something_found_needs_no_reason() -> None:
    assert result().why_nothing() == ""


def test_nothing_in_all_draws() -> None:
    assert result(**NOTHING).why_nothing() == (
        "no column is confirmed: 5 of 5 usable columns were examined, in 20 draws each (median), and the best, 'a, b', "
        "was above the probe in 67 % of its 3; more rows, more trees a draw or a smaller q make weak columns visible"
    )


def test_nothing_yet() -> None:
    said = result(**NOTHING, n_draws=30).why_nothing()
    assert said.endswith("a smaller q make weak columns visible, or let the search finish")


def test_nothing_without_a_probe() -> None:
    said = result(**NOTHING, against="").why_nothing()
    assert said.endswith(
        "in 20 draws each (median); more rows, more trees a draw or a smaller q make weak columns visible"
    )


def test_nothing_but_tentative_columns() -> None:
    said = result(decision=[2, 2, 1, 2, 3, 2]).why_nothing()
    assert "and the best, 'a, b', was above the probe in 100 % of its 3" in said
    assert said.endswith("; 1 tentative: ahead, but after too few draws; let the search make more draws")


def test_nothing_examined() -> None:
    said = result(decision=6 * [3], draws=6 * [0], wins=6 * [0], n_draws=0).why_nothing()
    assert said == (
        "no column is confirmed: 0 of 5 usable columns were examined, in 0 draws each (median); "
        "let the search make more draws"
    )


# On disk ------------------------------------------------------------------------------------------------------------


def same(first: Result, second: Result) -> bool:
    tables = [each.to_table(np.arange(len(each.draws))) for each in (first, second)]
    plain = [
        table.set_column(3, "r", table.column("reason").cast(pa.string())).set_column(
            2, "d", table.column("decision").cast(pa.string())
        )
        for table in tables
    ]
    return plain[0].equals(plain[1]) and first.summary() == second.summary()


@pytest.mark.parametrize("against", ["probe", ""])
def test_a_result_comes_back(tmp_path: Path, against: str) -> None:
    saved = result(against=against, wins=[4, 19, 3, 20, 0, 20] if against else 6 * [0])
    save_result(saved, tmp_path)
    loaded = load_result(tmp_path)
    assert same(saved, loaded)
    assert loaded.ranking.tolist() == saved.ranking.tolist()
    assert sorted(path.name for path in tmp_path.iterdir()) == list(FILES)
    files = [(tmp_path / name).read_bytes() for name in FILES]
    save_result(loaded, tmp_path)
    assert same(load_result(tmp_path), saved)
    save_result(saved, tmp_path)
    assert [(tmp_path / name).read_bytes() for name in FILES] == files


def test_a_result_of_many_columns_comes_back(tmp_path: Path) -> None:
    """More than one piece, and reasons that appear in the second piece only."""
    n_columns = 70_000
    rng = np.random.default_rng(0)
    decision = np.sort(rng.choice([0, 2, 3], n_columns, p=[0.0005, 0.999, 0.0005]))[::-1].astype(np.uint8)
    saved = Result(
        NumberedNames(n_columns),
        replace(FACTS, n_columns=n_columns, n_usable=n_columns),
        rng.integers(1, 9, n_columns).astype(np.int32),
        rng.random(n_columns),
        np.zeros(n_columns, np.int32),
        Verdicts(decision, decision, ("ahead", "early", "behind", "never")),
    )
    save_result(saved, tmp_path)
    assert same(saved, load_result(tmp_path))


@pytest.mark.parametrize("name", FILES)
def test_damage_is_noticed(tmp_path: Path, name: str) -> None:
    save_result(result(), tmp_path)
    path = tmp_path / name
    data = path.read_bytes()
    damaged = [data[:i] + bytes([data[i] ^ 0x11]) + data[i + 1 :] for i in range(0, len(data), 5)]
    for bytes_ in (*damaged, b"", data[:-9], data + b" "):
        path.write_bytes(bytes_)
        with pytest.raises(StoreError, match="the result in .* is damaged; make it again with `fernwood resume`"):
            load_result(tmp_path)


def test_half_of_a_newer_result_is_noticed(tmp_path: Path) -> None:
    """A process that died between the two files leaves the table of one result and the summary of another."""
    save_result(result(), tmp_path)
    old = (tmp_path / SUMMARY_NAME).read_bytes()
    save_result(result(draws=[11, 20, 3, 20, 0, 20]), tmp_path)
    (tmp_path / SUMMARY_NAME).write_bytes(old)
    with pytest.raises(StoreError, match="is damaged"):
        load_result(tmp_path)


def test_what_is_no_result(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="holds no result yet; let the run get on with `fernwood resume`"):
        load_result(tmp_path)
    save_result(result(), tmp_path)
    (tmp_path / SUMMARY_NAME).write_bytes(seal({"format": "fernwood result", "version": 2}))
    with pytest.raises(StoreError, match="holds a result of another Fernwood; read it with that one"):
        load_result(tmp_path)


def forge(directory: Path, name: str, data: bytes, **entries: Any) -> None:
    """Other bytes in a file, or other entries in the summary, with checksums that fit: a lie, not an accident."""
    (directory / name).write_bytes(data)
    summary = json.loads((directory / SUMMARY_NAME).read_bytes()) | entries
    del summary["checksum"]
    summary["files"][name] = digest(data)
    (directory / SUMMARY_NAME).write_bytes(seal(summary))


def assert_lie(directory: Path, why: str) -> None:
    with pytest.raises(StoreError, match="is damaged; make it again with `fernwood resume`") as refused:
        load_result(directory)
    assert str(refused.value.__cause__) == why


def retyped(table: pa.Table, name: str, values: Any) -> bytes:
    """The decisions with another column in the place of one."""
    file = io.BytesIO()
    pq.write_table(table.set_column(table.column_names.index(name), name, pa.array(values)), file)
    return file.getvalue()


@pytest.mark.parametrize(
    ("name", "values", "why"),
    [
        ("position", [0, 1, 2, 3, 4, 4], "a position is missing or stands twice"),
        ("score", [1, 2, 3, 4, 5, 6], "score is of another type, or has gaps"),
        ("score", [1.0, None, 3.0, 4.0, 5.0, 6.0], "score is of another type, or has gaps"),
    ],
)
def test_decisions_that_lie(tmp_path: Path, name: str, values: list[Any], why: str) -> None:
    save_result(result(), tmp_path)
    forge(tmp_path, DECISIONS_NAME, retyped(pq.read_table(tmp_path / DECISIONS_NAME), name, values))
    assert_lie(tmp_path, why)


def test_a_summary_of_other_columns_lies(tmp_path: Path) -> None:
    save_result(result(), tmp_path)
    decisions = (tmp_path / DECISIONS_NAME).read_bytes()
    forge(tmp_path, DECISIONS_NAME, decisions)
    assert same(result(), load_result(tmp_path))  # the forger's hand alone is not what is refused
    forge(tmp_path, DECISIONS_NAME, decisions, n_columns=7)
    assert_lie(tmp_path, "decisions about other columns")
    forge(tmp_path, DECISIONS_NAME, decisions, n_columns=6, n_draws=-1)
    assert_lie(tmp_path, "facts that are none")


BINS = {"edges": [0.0, 1.0, 2.0], "categories": [], "rows": [3, 4], "lines": {"a": [0.5, 0.5]}}


@pytest.mark.parametrize(
    ("part", "lie"), [("edges", [0.0, 1.0]), ("rows", [3]), ("lines", {"a": [0.5]}), ("lines", {})]
)
def test_insight_that_lies(tmp_path: Path, part: str, lie: Any) -> None:
    save_result(result(), tmp_path)
    insight = json.loads((tmp_path / INSIGHT_NAME).read_bytes())
    profile = {"effect": "rises", "strength": 0.5, "kind": "number", "missing": 0, **BINS}
    insight["profiles"] = {HOSTILE[3]: profile}
    forge(tmp_path, INSIGHT_NAME, json.dumps(insight).encode())
    assert load_result(tmp_path).insight.profiles[3].rows == [3, 4]
    profile[part] = lie
    forge(tmp_path, INSIGHT_NAME, json.dumps(insight).encode())
    assert_lie(tmp_path, "a profile of different lengths")
    del profile[part]
    insight["history"]["done"] = [1]
    forge(tmp_path, INSIGHT_NAME, json.dumps(insight).encode())
    assert_lie(tmp_path, "a history of different lengths")


def test_scores_or_chances_are_needed() -> None:
    store = fernwood.ingest(np.arange(6.0).reshape(3, 2))
    verdicts = Verdicts(np.zeros(2, np.uint8), np.zeros(2, np.uint8), ("ahead",))
    with pytest.raises(ValueError, match="a result needs scores, or chances to make them of"):
        result_of(store, np.arange(2), FACTS, verdicts, draws=np.ones(2, np.int32))


# From a store -------------------------------------------------------------------------------------------------------


def test_unusable_columns_say_so() -> None:
    store = fernwood.ingest(np.array([[1.0, 0.0, 3.0], [1.0, 1.0, 4.0], [1.0, 0.0, 5.0]]))
    verdicts = Verdicts(np.array([0, 2], np.uint8), np.array([0, 1], np.uint8), ("ahead", "behind"))
    counts = np.array([4, 5], np.int32)
    spread = result_of(store, np.array([2, 1]), FACTS, verdicts, draws=counts, score=counts / 8, wins=counts)
    table = spread.to_table(np.arange(3))
    assert table.column("decision").to_pylist() == ["unexamined", "rejected", "confirmed"]
    assert table.column("reason").to_pylist() == [
        "constant, or all values missing: it cannot tell rows apart",
        "behind",
        "ahead",
    ]
    assert table.column("draws").to_pylist() == [0, 5, 4]


@pytest.mark.parametrize("named", [True, False])
def test_a_pickled_result_stands_alone(tmp_path: Path, named: bool) -> None:
    rng = np.random.default_rng(0)
    numbers = rng.standard_normal((40, 6))
    table = pa.table({name: numbers[:, i] for i, name in enumerate(HOSTILE)}) if named else numbers
    store = fernwood.ingest(table, tmp_path / "s.fern", target=rng.integers(0, 2, 40))
    found = select_by_subspaces(store, SubspaceSettings(n_iter=4, n_trees=1, rule="probe"), 0).result
    data = pickle.dumps(found)
    store.close()
    del store
    for path in (tmp_path / "s.fern").iterdir():
        path.unlink()
    copy = pickle.loads(data)
    assert copy.to_table().column("position").to_pylist() == found.order.tolist()
    assert sorted(copy.to_table().column("column").to_pylist()) == sorted(
        HOSTILE if named else [f"x{i}" for i in range(6)]
    )


def test_results_are_compared_by_their_tables() -> None:
    first, second = result(), result()
    assert first == first
    assert first != second
    assert first.to_table().equals(second.to_table())
    assert len({first, second}) == 2


def test_decisions_are_ordered_best_first() -> None:
    assert [decision.word for decision in sorted(Decision)] == ["confirmed", "tentative", "rejected", "unexamined"]
