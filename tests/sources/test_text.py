from __future__ import annotations

import gzip
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, strategies as st

import fernwood
from fernwood.errors import ParameterError, SourceError
from fernwood.sources import Kind, Workspace, open_source, text as module
from fernwood.sources.base import Band
from fernwood.sources.scratch import ColumnBlocks
from fernwood.sources.table_form import TableForm
from fernwood.sources.text_format import TextFormat


def read(path: Path, columns: list[int] | None = None, memory: int = 2**26, **form: Any) -> tuple[list[str], Band]:
    """Names and values of a text table, read by the source alone."""
    source = open_source(path, TableForm(**form))
    wanted = np.array(columns if columns is not None else range(len(source.names)), np.int64)
    with source.reading(wanted, Workspace(memory, path.parent, lambda _: None)) as reader:
        return source.names.take(wanted).to_pylist(), reader.band(0, len(wanted))


def written(folder: Path, text: str | bytes, name: str = "table.csv") -> Path:
    path = folder / name
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return path


def test_numbers_under_a_header(tmp_path: Path) -> None:
    names, band = read(written(tmp_path, "a,b\n1,2.5\n-3,NA\n"))
    assert names == ["a", "b"]
    np.testing.assert_array_equal(band.values, [[1, -3], [2.5, np.nan]])
    assert band.kinds.tolist() == [Kind.NUMBER, Kind.NUMBER]


@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize("last", [True, False])
@pytest.mark.parametrize("blank", ["", "blank"])
def test_line_ends(tmp_path: Path, end: str, last: bool, blank: str) -> None:
    lines = ["a,b", "1,2", "3,4"]
    text = (end * (2 if blank else 1)).join(lines) + (end if last else "")
    names, band = read(written(tmp_path, (end if blank else "") + text))
    assert names == ["a", "b"]
    np.testing.assert_array_equal(band.values, [[1, 3], [2, 4]])


def test_a_table_of_numbers_has_no_header_unless_told(tmp_path: Path) -> None:
    path = written(tmp_path, "1,NA\n2,5\n3,6\n")
    names, band = read(path)
    assert names == ["x0", "x1"]
    np.testing.assert_array_equal(band.values, [[1, 2, 3], [np.nan, 5, 6]])
    names, band = read(path, header=True)
    assert names == ["1", "NA"]
    np.testing.assert_array_equal(band.values, [[2, 3], [5, 6]])


def test_text_under_no_header(tmp_path: Path) -> None:
    names, band = read(written(tmp_path, "a,1\nb,2\n"), header=False)
    assert names == ["x0", "x1"]
    assert band.labels[0].to_pylist() == ["a", "b"]


def test_long_numbers_do_not_make_a_header(tmp_path: Path) -> None:
    names, band = read(written(tmp_path, "1.234567890123456789,2\n3,4\n"))
    assert names == ["x0", "x1"]
    assert band.values[0, 0] == 1.234567890123456789


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
def test_delimiters_are_told_from_the_first_line(tmp_path: Path, delimiter: str) -> None:
    names, band = read(written(tmp_path, delimiter.join(["a", '"b,;\t|"', "c"]) + "\n" + delimiter.join("123") + "\n"))
    assert names == ["a", "b,;\t|", "c"]
    np.testing.assert_array_equal(band.values, [[1], [2], [3]])


@pytest.mark.parametrize("delimiter", [":", " ", "/", "\x01", "~"])
def test_any_other_delimiter_when_told(tmp_path: Path, delimiter: str) -> None:
    names, band = read(
        written(tmp_path, delimiter.join("abc") + "\n" + delimiter.join("123") + "\n"), delimiter=delimiter
    )
    assert names == list("abc")
    np.testing.assert_array_equal(band.values, [[1], [2], [3]])


def test_detection_looks_at_the_name_too(tmp_path: Path) -> None:
    assert read(written(tmp_path, "a,b,c\td\n1\t2\n", "t.tsv"))[0] == ["a,b,c", "d"]
    assert read(written(tmp_path, "a b\n1 2\n", "t.txt"))[0] == ["a", "b"]
    assert read(written(tmp_path, "a b\n1\n", "t.csv"))[0] == ["a b"]


def test_one_column_in_a_csv_is_still_split_at_commas(tmp_path: Path) -> None:
    with pytest.raises(SourceError, match="line 2 of 'table.csv' has more cells than the header has names"):
        read(written(tmp_path, "a\n1,2\n"))
    with pytest.raises(SourceError, match="line 3 of 'table.csv' has more"):
        read(written(tmp_path, "a\n1,5\n1;2\n"), decimal=",")


@pytest.mark.parametrize("bad", [",,", "", '"', "\n", "é"])
def test_bad_delimiters(bad: str) -> None:
    with pytest.raises(ParameterError, match="delimiter is .*; give one character"):
        TextFormat(delimiter=bad)


def test_decimal_signs_are_two_and_not_the_delimiter() -> None:
    with pytest.raises(ParameterError, match=r"decimal is '·'; give '.' or ','"):
        TextFormat(decimal="·")
    with pytest.raises(ParameterError, match="',' cannot be both"):
        TextFormat(decimal=",", delimiter=",")


def test_decimal_comma(tmp_path: Path) -> None:
    names, band = read(written(tmp_path, 'a;b;c\n1,5;"2,25";-,5e1\n;3;1234567890123456789,5\n'), decimal=",")
    assert names == ["a", "b", "c"]
    np.testing.assert_array_equal(band.values, [[1.5, np.nan], [2.25, 3], [-5, 1234567890123456789.5]])


@pytest.mark.parametrize("cell", ["1.234", '"1.234"', "1.234,5"])
def test_a_point_is_no_decimal_comma(tmp_path: Path, cell: str) -> None:
    with pytest.raises(SourceError, match="mixes text and numbers: line 3 has '1.234"):
        read(written(tmp_path, f"a;b\n1;2\n{cell};3\n"), decimal=",")


@pytest.mark.parametrize(("name", "codec"), [("t.csv.gz", "gzip"), ("t.csv.zst", "zstd"), ("t.tsv.bz2", "bz2")])
def test_compressed(tmp_path: Path, name: str, codec: str) -> None:
    path = tmp_path / name
    text = b"a\tb\n" + b"1\t2\n" * 5000
    with pa.CompressedOutputStream(pa.OSFile(str(path), "wb"), codec) as stream:
        stream.write(text)
    names, band = read(path)
    assert names == ["a", "b"]
    assert band.values.shape == (2, 5000)
    assert (band.values == [[1], [2]]).all()


def test_gzip_of_several_members(tmp_path: Path) -> None:
    path = written(tmp_path, gzip.compress(b"a,b\n1,2\n") + gzip.compress(b"3,4\n"), "t.csv.gz")
    np.testing.assert_array_equal(read(path)[1].values, [[1, 3], [2, 4]])


@pytest.mark.parametrize("compress", [gzip.compress, lambda raw: pa.Codec("zstd").compress(raw, asbytes=True)])
def test_cut_off_compression_is_told(tmp_path: Path, compress: Any) -> None:
    whole = compress(b"a,b\n" + b"".join(b"%d,%d\n" % (i, i * i) for i in range(5000)))
    name = "t.csv.gz" if compress is gzip.compress else "t.csv.zst"
    with pytest.raises(SourceError, match="'t.csv.(gz|zst)' cannot be read to its end"):
        read(written(tmp_path, whole[: len(whole) // 2], name))


def test_byte_order_mark(tmp_path: Path) -> None:
    assert read(written(tmp_path, "\ufeffa,b\n1,2\n"))[0] == ["a", "b"]
    names, band = read(written(tmp_path, "\ufeff1,2\n3,4\n"))
    assert names == ["x0", "x1"]
    np.testing.assert_array_equal(band.values, [[1, 3], [2, 4]])


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "latin-1"])
def test_other_encodings_are_refused(tmp_path: Path, encoding: str) -> None:
    text = "\ufeffñame,b\n1,2\n" if encoding == "utf-16-le" else "ñame,b\n1,2\n"
    with pytest.raises(SourceError, match="convert the file to UTF-8"):
        read(written(tmp_path, text.encode(encoding)))


def test_the_line_that_is_not_utf8(tmp_path: Path) -> None:
    with pytest.raises(SourceError, match="line 3 of 'table.csv' is not UTF-8"):
        read(written(tmp_path, b"a,b\n1,x\n2,\xf1\n"))


def test_words_for_missing_values(tmp_path: Path) -> None:
    words = ["", "NA", "N/A", "<NA>", "nan", "NaN", "NAN", "null", "NULL", "Null", " NA ", '"NA"', '""']
    text = "a,b\n" + "".join(f"{word},x\n" for word in words) + "1,NA\n"
    _, band = read(written(tmp_path, text))
    np.testing.assert_array_equal(band.values[0], [np.nan] * len(words) + [1])
    assert np.isnan(band.values[1]).tolist() == [False] * len(words) + [True]


def test_other_words_for_missing_values(tmp_path: Path) -> None:
    path = written(tmp_path, "a,b\n-9,?\n1,y\n,NA\n")
    _, band = read(path, missing=("?", "-9"))
    np.testing.assert_array_equal(band.values[0][1:], [1, np.nan])
    assert band.labels[1].to_pylist() == ["y", "NA"]
    assert np.isnan(band.values[1]).tolist() == [True, False, False]


def test_a_number_may_be_a_word_for_missing(tmp_path: Path) -> None:
    _, band = read(written(tmp_path, "a,b\n-9,1\n1,-9\n3,2\n"), missing=("-9",))
    np.testing.assert_array_equal(band.values, [[np.nan, 1, 3], [1, np.nan, 2]])


def test_categories(tmp_path: Path) -> None:
    _, band = read(written(tmp_path, 'a,b\nred,1\n"light, ""blue""",2\nred,3\n,4\n'))
    assert band.kinds.tolist() == [Kind.CATEGORY, Kind.NUMBER]
    assert band.labels[0].to_pylist() == ["red", 'light, "blue"']
    np.testing.assert_array_equal(band.values[0], [0, 1, 0, np.nan])


def test_codes_that_are_categories_when_told(tmp_path: Path) -> None:
    path = written(tmp_path, "id,a,b\n007,1,2\n7,1,true\n,3,false\n007,3,2020-01-01\n")
    _, band = read(path, categorical=("id", 2))
    assert band.kinds.tolist() == [Kind.CATEGORY, Kind.NUMBER, Kind.CATEGORY]
    assert band.labels[0].to_pylist() == ["007", "7"]
    np.testing.assert_array_equal(band.values[0], [0, 1, np.nan, 0])
    assert band.labels[2].to_pylist() == ["2", "true", "false", "2020-01-01"]


def test_categorical_columns_that_are_not_there(tmp_path: Path) -> None:
    with pytest.raises(SourceError, match="the categorical column 'z' is no column"):
        read(written(tmp_path, "a,b\n1,2\n"), categorical=("z",))


def test_dates(tmp_path: Path) -> None:
    _, band = read(written(tmp_path, "a,b\n1970-01-02,1970-01-01T00:01\n,1970-01-01 00:00:00.25\n1969-12-31,NA\n"))
    assert band.kinds.tolist() == [Kind.DATE, Kind.DATE]
    np.testing.assert_array_equal(band.values, [[86400, np.nan, -86400], [60, 0.25, np.nan]])


def test_a_date_that_does_not_exist(tmp_path: Path) -> None:
    with pytest.raises(SourceError, match=r"line 3 of 'table.csv' has '2021-02-30' in column 'a', which is no date"):
        read(written(tmp_path, "a,b\n2021-02-28,1\n2021-02-30,2\n"))


def test_booleans(tmp_path: Path) -> None:
    _, band = read(written(tmp_path, "a,b\nTrue,false\nFALSE,\ntrue,no\n"))
    assert band.kinds.tolist() == [Kind.BOOLEAN, Kind.CATEGORY]
    np.testing.assert_array_equal(band.values[0], [1, 0, 1])


@pytest.mark.parametrize(
    ("cells", "mixture", "line", "cell"),
    [
        (["1", "2", "x"], "text and numbers", 4, "x"),
        (["x", "2", "3"], "text and numbers", 2, "x"),
        (["2020-01-01", "5", ""], "dates and numbers", 2, "2020-01-01"),
        (["2020-01-01", "x", ""], "text and dates", 2, "2020-01-01"),
        (["true", "1", "0"], "text and numbers", 2, "true"),
    ],
)
def test_mixtures_are_refused(tmp_path: Path, cells: list[str], mixture: str, line: int, cell: str) -> None:
    path = written(tmp_path, "a,b\n" + "".join(f"{c},1\n" for c in cells))
    with pytest.raises(SourceError, match=rf"column 'a' of 'table.csv' mixes {mixture}: line {line} has '{cell}'"):
        read(path)
    if mixture == "text and numbers":
        _, band = read(path, missing=(cell,))
        assert band.kinds[0] == Kind.NUMBER
    _, band = read(path, categorical=("a",))
    assert band.kinds[0] == Kind.CATEGORY


@pytest.mark.parametrize("cell", ["inf", "-Inf", "Infinity", "1e999", "-1" + "0" * 400, '"inf"'])
def test_infinite_values_are_refused_with_their_line(tmp_path: Path, cell: str) -> None:
    with pytest.raises(SourceError, match="line 3 of 'table.csv' has .* in column 'b'; infinite values"):
        read(written(tmp_path, f"a,b\n1,2\n3,{cell}\n"))


@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize(
    ("lines", "message"),
    [
        (["a,b,c", "1,2,3", "4,5"], "line 3 of 'table.csv' has 2 cells where 3 are expected"),
        (["a,b,c", "1,2,3", "4,5,6,7"], "line 3 of 'table.csv' has more than the 3 cells"),
        (["a,b,c", "1,2,3,4", "1,2,3,4"], "line 2 of 'table.csv' has more cells than the header has names"),
        (["a,b,c", "1,2", "1,2,3"], "line 2 of 'table.csv' has 2 cells where 3 are expected"),
        (["", "a,b,c", "", "1,2,3", "", "x"], "line 6 of 'table.csv' has 1 cells where 3 are expected"),
        (['a,"b\nb",c', "1,2,3", "4"], "line 4 of 'table.csv' has 1 cells where 3 are expected"),
        (["a,b,c", '"x\n\ny",2,3', "4"], "line 5 of 'table.csv' has 1 cells where 3 are expected"),
        (["1,2,3", "1,2,3", "4,5"], "line 3 of 'table.csv' has 2 cells where 3 are expected"),
        (["a,b,c", "1,2,3", '"x"y,5,6'], "quote that opens on line 3"),
        (["a,b,c", "1,2,3", '"x,5,6'], "quote that opens on line 3"),
    ],
)
def test_line_numbers_of_ragged_lines(tmp_path: Path, lines: list[str], message: str, end: str) -> None:
    with pytest.raises(SourceError, match=message):
        read(written(tmp_path, end.join(lines) + end))


@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_line_numbers_of_cells(tmp_path: Path, end: str) -> None:
    with pytest.raises(SourceError, match="line 4 of 'table.csv' has 'inf'"):
        read(written(tmp_path, end.join(["a,b", '"x\ny",2', "z,inf", ""])))


TRANSPOSED = "id\ts1\ts2\ts3\ngene/1\t1\t2\tNA\nlabel\tx\ty\tx\ngene2\t4\t5.5\t6\n"


def test_transposed(tmp_path: Path) -> None:
    names, band = read(written(tmp_path, TRANSPOSED, "t.tsv"), transposed=True)
    assert names == ["gene/1", "label", "gene2"]
    assert band.kinds.tolist() == [Kind.NUMBER, Kind.CATEGORY, Kind.NUMBER]
    np.testing.assert_array_equal(band.values, [[1, 2, np.nan], [0, 1, 0], [4, 5.5, 6]])
    assert band.labels[1].to_pylist() == ["x", "y"]


def test_transposed_without_header(tmp_path: Path) -> None:
    names, band = read(written(tmp_path, "a\t1\t2\nb\t3\t4\n", "t.tsv"), transposed=True, header=False)
    assert names == ["a", "b"]
    np.testing.assert_array_equal(band.values, [[1, 2], [3, 4]])


def test_transposed_whose_samples_are_numbered(tmp_path: Path) -> None:
    path = written(tmp_path, "id\t1\t2\na\t3\t4\n", "t.tsv")
    with pytest.raises(SourceError, match="line 1 of 't.tsv' has numbers .* Say --header or --no-header"):
        read(path, transposed=True)
    assert read(path, transposed=True, header=False)[0] == ["id", "a"]
    assert read(path, transposed=True, header=True)[0] == ["a"]


def test_transposed_features_in_another_order(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = written(tmp_path, "".join(f"f{i}\t{i}\t{i * i}\n" for i in range(50)), "t.tsv")
    wanted = [40, 3, 4, 5, 17, 0]
    for height, limit in ((1, None), (7, None), (7, 0), (7, 100), (1000, 0)):
        monkeypatch.setattr(module.TextSource, "_shares", lambda *_, height=height: (height, 10**9))
        if limit is not None:
            monkeypatch.setattr(module, "ColumnBlocks", lambda n, where, _, limit=limit: ColumnBlocks(n, where, limit))
        names, band = read(path, wanted, transposed=True, header=False)
        assert names == [f"f{i}" for i in wanted]
        np.testing.assert_array_equal(band.values, [[i, i * i] for i in wanted])
        assert [p.name for p in tmp_path.iterdir()] == ["t.tsv"]


def test_transposed_codes_that_are_categories(tmp_path: Path) -> None:
    path = written(tmp_path, "id\ts1\ts2\nzip\t01\t1\na\t1\tNA\nb\t1.5\t12345678901234567890\n", "t.tsv")
    _, band = read(path, transposed=True, categorical=("zip",))
    assert band.kinds.tolist() == [Kind.CATEGORY, Kind.NUMBER, Kind.NUMBER]
    assert band.labels[0].to_pylist() == ["01", "1"]
    np.testing.assert_array_equal(band.values[1:], [[1, np.nan], [1.5, 12345678901234567890.0]])


def test_transposed_leaves_out_what_is_dropped(tmp_path: Path) -> None:
    path = written(tmp_path, TRANSPOSED, "t.tsv")
    store = fernwood.ingest(path, transposed=True, target="label", drop=["gene/1"])
    assert list(store.names) == ["gene2"]
    assert store.target is not None
    assert store.target.classes == ("x", "y")
    store = fernwood.ingest(path, transposed=True, target=2, columns=["gene*", "label"])
    assert list(store.names) == ["gene/1", "label"]
    np.testing.assert_array_equal(store.column("gene/1"), [1, 2, np.nan])


def test_a_mixture_in_a_dropped_line_is_no_matter(tmp_path: Path) -> None:
    path = written(tmp_path, "id\ts1\ts2\ts3\nnote\t1\tx\t2\na\t1\t2\t2\ny\t0\t1\t0\n", "t.tsv")
    store = fernwood.ingest(path, transposed=True, target="y", drop=["note"])
    assert list(store.names) == ["a"]
    with pytest.raises(SourceError, match="column 'note' of 't.tsv' mixes text and numbers: line 2 has 'x'"):
        fernwood.ingest(path, transposed=True, target="y")


def test_transposed_ragged_line(tmp_path: Path) -> None:
    with pytest.raises(SourceError, match="line 3 of 't.tsv' has 2 cells where 3 are expected"):
        read(written(tmp_path, "id\ts1\ts2\na\t1\t2\nb\t1\n", "t.tsv"), transposed=True)


def test_only_text_is_transposed(tmp_path: Path) -> None:
    np.save(tmp_path / "a.npy", np.eye(3))
    with pytest.raises(SourceError, match="transposed says how a text file is written, and 'a.npy' is none"):
        read(tmp_path / "a.npy", transposed=True)


MIXED = (
    'number,"quoted, name",word,date,flag,"multi\nline"\n'
    + "".join(
        f'{i * 1.37!r},"{i},5",w{i % 7}," 2020-01-{i % 28 + 1:02d}",{"true" if i % 3 else "False"},"a ""{i % 5}""\nb"\n'
        for i in range(60)
    )
    + "12345678901234567890,NA,,NA,,\n"
)


def in_pieces(monkeypatch: pytest.MonkeyPatch, piece: int, most_cells: int) -> None:
    monkeypatch.setattr(module, "TextFeed", partial(module.TextFeed, piece=piece))
    monkeypatch.setattr(module, "_MOST_CELLS", most_cells)


@given(piece=st.integers(4, 200), most_cells=st.integers(1, 50), transposed=st.booleans())
def test_any_piece_gives_the_same_table(
    tmp_path_factory: pytest.TempPathFactory, piece: int, most_cells: int, transposed: bool
) -> None:
    path = written(tmp_path_factory.mktemp("pieces"), MIXED)
    form: dict[str, Any] = {"delimiter": ","}
    if transposed:
        form |= {"transposed": True, "header": True, "categorical": tuple(range(60))}
    names, whole = read(path, **form)
    with pytest.MonkeyPatch.context() as patch:
        in_pieces(patch, piece, most_cells)
        names_again, again = read(path, **form)
    assert names_again == names
    np.testing.assert_array_equal(again.values, whole.values)
    assert again.kinds.tolist() == whole.kinds.tolist()
    assert {i: labels.to_pylist() for i, labels in again.labels.items()} == {
        i: labels.to_pylist() for i, labels in whole.labels.items()
    }


@given(
    values=st.lists(st.one_of(st.none(), st.integers(-9, 99)), max_size=30),
    header=st.sampled_from([None, "w", '"w, ""w"""']),
    end=st.sampled_from(["\n", "\r\n"]),
    piece=st.integers(4, 70),
)
def test_one_column_with_missing_rows_anywhere_in_any_piece(
    tmp_path_factory: pytest.TempPathFactory, values: list[int | None], header: str | None, end: str, piece: int
) -> None:
    lines = [header] if header else []
    lines += ["" if value is None else str(value) for value in [*values, 7]]  # blank lines at the end are no rows
    path = written(tmp_path_factory.mktemp("column"), end.join(lines))
    with pytest.MonkeyPatch.context() as patch:
        in_pieces(patch, piece, 3)
        _, band = read(path, delimiter=",")
    np.testing.assert_array_equal(band.values, [[np.nan if value is None else value for value in [*values, 7]]])


@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize("piece", [4, 5, 7, 11, 64, 2**20])
def test_line_numbers_do_not_depend_on_pieces(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, piece: int, end: str
) -> None:
    in_pieces(monkeypatch, piece, 3)
    with pytest.raises(SourceError, match="line 7 of"):
        read(written(tmp_path, end.join(["", "a,b", "", "1,2", '"3\n4",x', "5", ""])), delimiter=",")


def test_a_quote_that_is_never_closed_ends_in_a_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("fernwood.sources.feed._LONGEST_CELL", 2**10)
    in_pieces(monkeypatch, 2**8, 8)
    with pytest.raises(SourceError, match="a cell of more than 1024 bytes: a quote that is never closed"):
        read(written(tmp_path, 'a,b\n"1,2\n' + "3,4\n" * 1000), delimiter=",")


@pytest.mark.parametrize("text", ["\n\n\n", "  \n", "\ufeff", "\r\n"])
def test_files_of_nothing(tmp_path: Path, text: str) -> None:
    with pytest.raises(SourceError, match="'table.csv' is empty"):
        read(written(tmp_path, text))


@pytest.mark.parametrize("text", ["a,b\n", "a,b", "a,b\r\n\r\n", '"a","b"\n\n'])
def test_a_header_only(tmp_path: Path, text: str) -> None:
    with pytest.raises(SourceError, match="'table.csv' has a header but no rows"):
        read(written(tmp_path, text))
