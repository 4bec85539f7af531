from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, strategies as st

from fernwood.errors import SourceError
from fernwood.sources import names as module
from fernwood.sources.names import (
    LONGEST_NAME,
    ListedNames,
    Names,
    NumberedNames,
    as_position,
    check_names,
    clean_names,
    has_numbers,
    match_names,
)


@pytest.fixture(params=[3, 65_536])
def chunk(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> int:
    """Names are looked through in runs of this length."""
    monkeypatch.setattr(module, "_CHUNK", request.param)
    return int(request.param)


def listed(n: int) -> ListedNames:
    return ListedNames([f"gene_{i}" for i in range(n)])


@pytest.mark.parametrize(("names", "first"), [(listed(10), "gene_0"), (NumberedNames(10), "x0")])
def test_a_sequence_of_names(names: Names, first: str, chunk: int) -> None:
    assert len(names) == 10
    assert names[0] == first
    assert names[-1] == first[:-1] + "9"
    assert list(names) == [first[:-1] + str(i) for i in range(10)]
    assert names.run(2, 4).to_pylist() == [first[:-1] + "2", first[:-1] + "3"]
    with pytest.raises(IndexError):
        names[10]


@pytest.mark.parametrize("names", [listed(10), NumberedNames(10)])
@pytest.mark.parametrize("positions", [[], [4], [2, 3, 4], [9, 0, 5], [3, 3, 1, 9, 3], [0, 2, 4, 6, 8]])
def test_taking_in_any_order(names: Names, positions: list[int], chunk: int) -> None:
    assert names.take(np.array(positions, np.int64)).to_pylist() == [names[i] for i in positions]


def test_finding(chunk: int) -> None:
    names = ListedNames(["a", "b*", "", "é", "x1", "x01", "c"])
    assert [names.find(name) for name in ("a", "b*", "", "é", "c", "C", "d")] == [0, 1, 2, 3, 6, None, None]


def test_finding_numbered_names() -> None:
    names = NumberedNames(12)
    assert [names.find(f"x{i}") for i in (0, 9, 11)] == [0, 9, 11]
    for no_name in ("x12", "x", "x01", "x-1", "y1", "1", "x1 ", "x²", ""):
        assert names.find(no_name) is None, no_name


def test_nearest_hints_only_at_what_is_near() -> None:
    names = ListedNames(["height", "weight", "age"])
    assert names.nearest("hieght") == "; did you mean 'height'?"
    assert names.nearest("zzz") == ""


@pytest.mark.parametrize(
    ("wanted", "positions"),
    [
        (["a1"], [0]),
        ([-1, 0], [0, 5]),
        (["2"], [2]),
        (["-2"], [4]),
        (["a*"], [0, 1]),
        (["?1"], [0, 2]),
        (["*1*"], [0, 2, 3, 4]),
        (["*a*1*x*"], [3]),
        (["[ab]1"], [0, 2]),
        (["[!ab]*"], [3, 5]),
        (["b[1]"], [4]),
        (["xa1x", "a1"], [0, 3]),
        (["7"], [5]),
        ([], []),
    ],
)
def test_matching(wanted: list[str | int], positions: list[int], chunk: int) -> None:
    names = ListedNames(["a1", "a2", "b1", "xa1x", "b[1]", "7"])
    assert match_names(names, wanted, "the column").tolist() == positions


def test_a_pattern_matches_whole_names() -> None:
    names = ListedNames(["x1", "ax1", "x12", "x1\n"])
    assert match_names(names, ["x1?"], "the column").tolist() == [2, 3]
    assert match_names(names, ["x*"], "the column").tolist() == [0, 2, 3]


def test_matching_what_is_not_there() -> None:
    names = ListedNames(["height", "weight"])
    with pytest.raises(SourceError, match=r"the column 'hieght' is no column of the table; did you mean 'height'\?"):
        match_names(names, ["hieght"], "the column")
    with pytest.raises(SourceError, match=r"the column to drop 'z\*' matches no column; give a name, a pattern"):
        match_names(names, ["z*"], "the column to drop")
    with pytest.raises(SourceError, match="'2' is no column"):
        match_names(names, ["2"], "the column")


@pytest.mark.parametrize(
    "name",
    [
        "1_1",
        "1_0",
        " 1",
        "1 ",
        "+1",
        "\uff11",
        "\u0661",
        "-0",
        "--1",
        "01",
        "-01",
        "\u22121",
        "1e0",
        "0x1",
        "1\n",
        "9" * 400,
    ],
)
def test_a_name_that_is_not_there_is_no_position(name: str) -> None:
    """`int` reads most of these, and names such as chrom_position look like them."""
    names = ListedNames([f"c{i}" for i in range(20)])
    assert as_position(name, 20) is None
    with pytest.raises(SourceError, match="is no column of the table"):
        match_names(names, [name], "the column")
    assert match_names(ListedNames(["a", name]), [name], "the column").tolist() == [1]


@pytest.mark.parametrize("given", [True, False, np.True_, 1.0, np.float64(1), None, np.array([1]), b"1", 1 + 0j])
def test_only_whole_numbers_are_positions(given: object) -> None:
    assert as_position(given, 5) is None
    with pytest.raises(SourceError, match="is no column of the table"):
        match_names(listed(5), [given], "the column")  # type: ignore[list-item]


def test_names_that_could_be_positions(chunk: int) -> None:
    assert not has_numbers(ListedNames(["a1", "1_1", "01", "-0", "1\n", "1.0", "x7"]))
    assert has_numbers(ListedNames(["a", "b", "c", "d", "-12"]))
    assert has_numbers(ListedNames(["0", "b"]))


def test_numbers_of_numpy_are_positions() -> None:
    given = [np.int8(-1), np.uint64(1), np.int64(0)]
    assert [as_position(one, 5) for one in given] == [4, 1, 0]


def test_positions() -> None:
    assert [as_position(text, 5) for text in ("0", "4", "-1", "-5", "5", "-6", "", "a", "1.5", 3)] == [
        0, 4, 4, 0, None, None, None, None, None, 3,
    ]  # fmt: skip


BAD = {
    "no name": ["a", "", "b"],
    "65535 bytes": ["a", "é" * 32_768, "b"],
    "line break": ["a", "one\ntwo", "b"],
    "control character": ["a", "one\x00two", "b"],
    "another control": ["a", "one\x85two", "b"],
    "names must differ": ["b", "a", "c", "a"],
}


@pytest.mark.parametrize(("rule", "names"), BAD.items())
def test_bad_names_are_refused_and_can_be_cleaned(rule: str, names: list[str], chunk: int) -> None:
    with pytest.raises(SourceError, match=rule) as refusal:
        check_names(ListedNames(names))
    assert "--clean-names (clean_names=True)" in str(refusal.value)
    assert "\n" not in str(refusal.value)
    cleaned = clean_names(ListedNames(names))
    check_names(cleaned)
    good = [i for i, name in enumerate(names) if names.count(name) == 1 and i != 1]
    assert [cleaned[i] for i in good] == [names[i] for i in good]


def test_the_refusal_says_where() -> None:
    with pytest.raises(SourceError, match=r"column 2 \('a\\nb'\)"):
        check_names(ListedNames(["x", "y", "a\nb"]))
    with pytest.raises(SourceError, match="'x' stands over column 0 and again over column 2"):
        check_names(ListedNames(["x", "y", "x"]))


def test_what_cleaning_does() -> None:
    names = ["a", "", "a", "b\tc", "a (2)", "a", " d ", "column 1"]
    assert list(clean_names(ListedNames(names))) == [
        "a", "column 1", "a (3)", "b c", "a (2)", "a (4)", " d ", "column 1 (2)",
    ]  # fmt: skip


def test_many_equal_names_are_numbered_in_no_time() -> None:
    cleaned = clean_names(ListedNames(["same"] * 30_000))
    assert cleaned[29_999] == "same (30000)"


@given(st.lists(st.text(max_size=6), max_size=12))
def test_cleaned_names_always_pass(names: list[str]) -> None:
    cleaned = clean_names(ListedNames(names))
    check_names(cleaned)
    assert len(cleaned) == len(names)
    assert list(clean_names(cleaned)) == list(cleaned)


@pytest.mark.parametrize(
    "name", ["<script>alert(1)</script>", "../../etc/passwd", "AFFX-BioB-5_at/x", "a\\b", "名前", "a" * LONGEST_NAME]
)
def test_names_of_real_data_pass_as_they_are(name: str) -> None:
    names = ListedNames([name, "other"])
    check_names(names)
    assert list(clean_names(ListedNames([name[:100], "other"]))) == [name[:100], "other"]


def test_numbered_names_need_no_look() -> None:
    names = NumberedNames(10**12)
    check_names(names)
    assert clean_names(names) is names
    assert names[10**12 - 1] == "x999999999999"
