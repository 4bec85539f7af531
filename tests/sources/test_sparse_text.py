"""MatrixMarket, 10x folders and SVMlight: the store that the numbers give, out of core too, and broken files."""

from __future__ import annotations

import gzip
import logging
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.io
import scipy.sparse
from hypothesis import given, settings, strategies as st
from numpy.typing import NDArray
from sklearn.datasets import dump_svmlight_file, load_svmlight_file

import fernwood
from fernwood.errors import BudgetError, SourceError, TargetError
from fernwood.sources import Workspace, open_source
from fernwood.sources.entries import ColumnEntries
from fernwood.sources.sparse_columns import Columns

N, P = 50, 40


def counts() -> scipy.sparse.csr_array:
    """Some whole numbers, some with many digits; rows are cells."""
    table = scipy.sparse.random_array((N, P), density=0.15, random_state=np.random.default_rng(1), format="csr")
    table.data = np.round(table.data * 9) + 1
    table.data[::7] = np.random.default_rng(2).standard_normal(len(table.data[::7])) * 1e-9
    table.indices, table.indptr = (
        table.indices.astype("i4"),
        table.indptr.astype("i4"),
    )  # as scikit-learn 1.6 writes them
    return table


def write_cells(folder: Path, table: scipy.sparse.csr_array, *, packed: bool = False, prefix: str = "") -> Path:
    """A 10x folder: features in rows."""
    folder.mkdir(exist_ok=True)
    lines = [
        f"{j + 1} {i + 1} {v!r}\n" for i, j, v in zip(*table.tocoo().coords, table.tocoo().data.tolist(), strict=True)
    ]
    head = f"%%MatrixMarket matrix coordinate real general\n%metadata: none\n{P} {N} {table.nnz}\n"
    texts = {
        "matrix.mtx": head + "".join(lines),
        "barcodes.tsv": "".join(f"{barcode(i)}\n" for i in range(N)),
        "features.tsv": "".join(f"ENSG{j:05d}\tSYM{j if j != 3 else 7}\tGene Expression\n" for j in range(P)),
    }
    for name, text in texts.items():
        if packed:
            (folder / f"{prefix}{name}.gz").write_bytes(gzip.compress(text.encode()))
        else:
            (folder / f"{prefix}{name}").write_text(text)
    return folder


def barcode(i: int) -> str:
    return f"ACGT{i:04d}-1"


@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize("prefix", ["", "GSM1_"])
def test_a_10x_folder(tmp_path: Path, packed: bool, prefix: str, caplog: pytest.LogCaptureFixture) -> None:
    table = counts()
    folder = write_cells(tmp_path / "cells", table, packed=packed, prefix=prefix)
    with caplog.at_level(logging.INFO, logger="fernwood"):
        store = fernwood.ingest(folder, target=np.arange(N) % 2)
    assert "2 features of" in caplog.text
    wanted = fernwood.ingest(table.toarray(), target=np.arange(N) % 2)
    np.testing.assert_array_equal(store.read(range(P)), wanted.read(range(P)))
    assert [store.names[j] for j in (0, 3, 7, 8)] == ["SYM0", "ENSG00003", "ENSG00007", "SYM8"]
    for j in range(P):
        np.testing.assert_array_equal(store.column(j), table.toarray()[:, j])
    matrix = next(folder.glob("*matrix.mtx*"))
    assert fernwood.ingest(matrix, target=np.arange(N) % 2).fingerprint == store.fingerprint


def test_annotations_are_matched_by_barcode(tmp_path: Path) -> None:
    folder = write_cells(tmp_path / "cells", counts())
    order = np.random.default_rng(0).permutation(N)
    rows = "".join(f"{barcode(i)},{'T' if i % 3 else 'B'},P{i // 10},{i / 2}\n" for i in order)
    meta = tmp_path / "meta.csv"
    meta.write_text(",type,patient,depth\n" + rows)
    store = fernwood.ingest(folder, target=f"{meta}:type", groups=f"{meta}:patient", weights=f"{meta}:depth")
    assert store.target is not None
    assert store.target.classes == ("B", "T")
    np.testing.assert_array_equal(store.target.values, (np.arange(N) % 3 > 0).astype(int))
    np.testing.assert_array_equal(store.groups, np.arange(N) // 10)
    np.testing.assert_array_equal(store.weights, np.arange(N) / 2)
    lines = tmp_path / "types.tsv"  # no header
    lines.write_text("".join(f"{barcode(i)}\t{'T' if i % 3 else 'B'}\n" for i in order))
    assert fernwood.ingest(folder, target=str(lines)).target.values.tolist() == store.target.values.tolist()
    lines.write_text("".join(f"{barcode(i)}\tT\n" for i in order[1:]))
    with pytest.raises(TargetError, match=f"'{barcode(order[0])}' of 'matrix.mtx' is not in 'types.tsv'"):
        fernwood.ingest(folder, target=str(lines))


def test_a_column_in_row_order(tmp_path: Path) -> None:
    folder = write_cells(tmp_path / "cells", counts())
    (tmp_path / "types.csv").write_text("type\n" + "".join("T cell\n" if i % 3 else "B cell\n" for i in range(N)))
    np.save(tmp_path / "y.npy", np.arange(N) % 3 > 0)
    for file in ("types.csv", "y.npy"):
        store = fernwood.ingest(folder, target=str(tmp_path / file))
        assert store.target is not None
        np.testing.assert_array_equal(store.target.values, np.arange(N) % 3 > 0)


@pytest.mark.parametrize("ending", [".mtx", ".mtx.gz"])
def test_a_plain_matrix(tmp_path: Path, ending: str) -> None:
    table = counts()
    scipy.io.mmwrite(tmp_path / "t.mtx", table)
    path = tmp_path / f"t{ending}"
    if ending == ".mtx.gz":
        path.write_bytes(gzip.compress((tmp_path / "t.mtx").read_bytes()))
    assert fernwood.ingest(path).fingerprint == fernwood.ingest(table.toarray()).fingerprint
    turned = fernwood.ingest(path, transposed=True)
    assert turned.fingerprint == fernwood.ingest(table.T.toarray()).fingerprint
    scipy.io.mmwrite(tmp_path / "p.mtx", table, field="pattern")
    assert (tmp_path / "p.mtx").read_text().startswith("%%MatrixMarket matrix coordinate pattern")
    ones = (table.toarray() != 0).astype(float)
    assert fernwood.ingest(tmp_path / "p.mtx").fingerprint == fernwood.ingest(ones).fingerprint


@pytest.mark.parametrize("base", [0, 1])
@pytest.mark.parametrize("query", [False, True])
@pytest.mark.parametrize("ending", [".svm", ".svmlight", ".libsvm.gz"])
def test_svmlight_is_read_as_scikit_learn_reads_it(tmp_path: Path, base: int, query: bool, ending: str) -> None:
    dense = counts().toarray()
    dense[0, 0] = 1.0
    table = scipy.sparse.csr_array(dense)
    labels, queries = np.linspace(-1, 1, N), np.arange(N) // 5
    plain = tmp_path / "t.svm"
    dump_svmlight_file(
        table, labels, str(plain), zero_based=base == 0, query_id=queries if query else None, comment="made here"
    )
    path = tmp_path / f"t{ending}"
    if ending.endswith(".gz"):
        path.write_bytes(gzip.compress(plain.read_bytes()))
    else:
        plain.rename(path)
    matrix, y, qid = load_svmlight_file(str(path), query_id=True) if query else (*load_svmlight_file(str(path)), None)
    store = fernwood.ingest(path, target="label", groups="qid" if query else None)
    assert store.target is not None
    np.testing.assert_array_equal(store.target.values, y)
    for j in range(P):
        np.testing.assert_array_equal(store.column(j), matrix[:, [j]].toarray().ravel())
    if query:
        np.testing.assert_array_equal(store.groups, qid)
    else:
        with pytest.raises(TargetError, match="no groups 'qid'"):
            fernwood.ingest(path, groups="qid")


def test_svmlight_lines_of_every_kind(tmp_path: Path) -> None:
    path = tmp_path / "t.svm"
    path.write_text("# a table\n\n+1 1:0.5 3:2 # one\r\n-1\t2:1e-3\n1#none\n\n0.12345678901234567890 qid:4 3:1.5")
    store = fernwood.ingest(path, target="label")
    assert store.target is not None
    assert store.target.values.tolist() == [1, -1, 1, 0.12345678901234567890]
    assert [store.column(j).tolist() for j in range(3)] == [[0.5, 0, 0, 0], [0, 1e-3, 0, 0], [2, 0, 0, 1.5]]


def pieces(monkeypatch: pytest.MonkeyPatch, size: int) -> None:
    """Let text come in small pieces."""
    monkeypatch.setattr("fernwood.sources.feed.PIECE_BYTES", size)
    from fernwood.sources.feed import TextFeed

    monkeypatch.setattr(TextFeed.__init__, "__defaults__", (size,))


@pytest.mark.parametrize("size", [64, 97, 1000])
def test_small_pieces_of_text_change_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, size: int) -> None:
    table = counts()
    folder = write_cells(tmp_path / "cells", table)
    dump_svmlight_file(table, np.arange(N) % 2, str(tmp_path / "t.svm"), zero_based=False)
    whole = [fernwood.ingest(p).fingerprint for p in (folder, tmp_path / "t.svm")]
    # The header must be in the first piece.
    pieces(monkeypatch, size)
    assert fernwood.ingest(tmp_path / "t.svm").fingerprint == whole[1]
    pieces(monkeypatch, max(size, 80))
    assert fernwood.ingest(folder).fingerprint == whole[0]


def test_entries_go_to_a_scratch_file_and_back(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("fernwood.sources.entries._FEWEST", 8)
    table = counts()
    folder = write_cells(tmp_path / "cells", table)
    source = open_source(folder)
    columns = np.array([5, 6, 7, 0, 39, 5, 12])
    for memory in (3 * 2**20 + 8 * P + 1200, 2**26):
        with source.reading(columns, Workspace(memory, tmp_path, lambda _: None)) as reader:
            spilled = list(tmp_path.glob("scratch-*.bin"))
            assert bool(spilled) == (memory < 2**26)
            assert (reader.caches == 0) == bool(spilled)
            for cut in (1, 2, 7):
                parts = [reader.band(i, min(i + cut, 7)).values for i in range(0, 7, cut)]
                np.testing.assert_array_equal(np.concatenate(parts), table.toarray()[:, columns].T)
        assert not list(tmp_path.glob("scratch-*.bin"))


@pytest.mark.parametrize(
    ("value", "dtype"), [("7", np.float32), ("0.1", np.float64), ("16777217", np.float64), ("1e300", np.float64)]
)
def test_single_precision_where_it_is_exact(tmp_path: Path, value: str, dtype: type) -> None:
    (tmp_path / "t.svm").write_text(f"1 1:2 2:1\n2 2:{value}\n")
    source = open_source(tmp_path / "t.svm")
    with source.reading(np.array([0, 1]), Workspace(2**26, tmp_path, lambda _: None)) as reader:
        band = reader.band(0, 2)
    assert band.values.dtype == dtype
    assert band.values[1].tolist() == [1, float(value)]


@pytest.mark.parametrize("capacity", [2**26, 2])
@pytest.mark.parametrize("apart", [False, True])
@pytest.mark.parametrize(
    ("entries", "total"),
    [
        ([16777216, 1], 16777217),
        ([2**31, 2**31, 3], 2**32 + 3),
        ([3e38, 3e38], 6e38),
        ([0.5, 2**-30], 0.5 + 2**-30),
        ([1, 2, 4], 7),
        ([16777217, -16777217], 0),
    ],
)
def test_repeated_entries_are_summed_exactly(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, entries: list[float], total: float, apart: bool, capacity: int
) -> None:
    """Each of the entries may fit single precision where their sum does not."""
    monkeypatch.setattr(ColumnEntries, "__init__", with_capacity(capacity))
    lines = [f"2 2 {value!r}" for value in entries]
    lines[1:1] = ["1 1 5", "3 2 1"] if apart else []
    lines += ["1 2 2"]
    text = "%%MatrixMarket matrix coordinate real general\n" + f"3 2 {len(lines)}\n" + "\n".join(lines) + "\n"
    (tmp_path / "t.mtx").write_text(text)
    source = open_source(tmp_path / "t.mtx")
    with source.reading(np.array([1, 0, 1]), Workspace(2**26, tmp_path, lambda _: None)) as reader:
        for column in (reader.band(0, 3).values[0], reader.band(2, 3).values[0], reader.columns(0, 1)[0]):
            assert np.asarray(column, float).tolist() == [2, total, float(apart)]
    assert fernwood.ingest(tmp_path / "t.mtx").column(1).tolist() == [2, total, float(apart)]


def with_capacity(capacity: int) -> Any:
    """How entries are made that sort so many at a time at most."""
    made = ColumnEntries.__init__

    def make(self: ColumnEntries, n_columns: int, directory: Path, memory: int) -> None:
        made(self, n_columns, directory, memory)
        self._capacity = capacity
        self._room = self._new_room(2**16)

    return make


def laid_out(columns: Columns) -> np.ndarray:
    n_columns = len(columns.starts) - 1
    return scipy.sparse.csc_array((columns.values, columns.rows, columns.starts), shape=(7, n_columns)).toarray()


@settings(max_examples=40)
@given(
    st.integers(1, 9),
    st.lists(st.tuples(st.integers(0, 6), st.integers(0, 8)), max_size=120, unique=True),
    st.integers(8, 64),
)
def test_entries_in_any_order(n_columns: int, cells: list[tuple[int, int]], capacity: int) -> None:
    cells = [(i, j) for i, j in cells if j < n_columns]
    dense = np.zeros((7, n_columns))
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        entries = ColumnEntries(n_columns, Path(folder), 10**7)
        entries._capacity = capacity
        entries._room = entries._new_room(4)
        for k, (i, j) in enumerate(cells):
            dense[i, j] = k + 1
            room = entries.room()
            room.rows[0], room.columns[0], room.values[0] = i, j, k + 1
            entries.take(1)
        entries.finish()
        np.testing.assert_array_equal(laid_out(entries.read(0, n_columns)), dense)
        for j in range(n_columns):
            np.testing.assert_array_equal(laid_out(entries.read(j, j + 1))[:, 0], dense[:, j])
        np.testing.assert_array_equal(entries.counts, (dense != 0).sum(axis=0))
        entries.close()
        assert not list(Path(folder).iterdir())


def test_a_budget_too_small_is_refused_with_what_would_do(tmp_path: Path) -> None:
    folder = write_cells(tmp_path / "cells", counts())
    with pytest.raises(BudgetError, match="at least") as raised:
        fernwood.ingest(folder, memory="1MB")
    assert fernwood.ingest(folder, memory=raised.value.least).n_columns == P


def refused(path: Path, sentence: str) -> None:
    with pytest.raises(SourceError, match=sentence):
        fernwood.ingest(path)


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("1 2 3\n", "line 1 of 't.mtx' is no MatrixMarket header"),
        ("%%MatrixMarket matrix array real general\n2 2\n1\n2\n3\n4\n", "holds a matrix that is 'array real general'"),
        ("%%MatrixMarket matrix coordinate complex general\n2 2 0\n", "'coordinate complex general'"),
        ("%%MatrixMarket matrix coordinate real symmetric\n2 2 0\n", "symmetry='general'"),
        ("%%MatrixMarket matrix coordinate real general\n2 x 1\n", "no line of rows, columns and entries"),
        ("%%MatrixMarket matrix coordinate real general\n% only\n", "no line of rows, columns and entries"),
        ("%%MatrixMarket matrix coordinate real general\n2 2 2\n1 1 1\n", "has 1 entries where its header says 2"),
        ("%%MatrixMarket matrix coordinate real general\n2 2 0\n1 1 1\n", "has 1 entries where its header says 0"),
        ("%%MatrixMarket matrix coordinate real general\n2 2 1\n\n3 1 1\n", "line 4 of 't.mtx' is '3 1 1', outside of the 2 × 2"),
        ("%%MatrixMarket matrix coordinate real general\n2 2 1\n0 1 1\n", "'0 1 1', outside.*counted from 1"),
        ("%%MatrixMarket matrix coordinate real general\n2 2 1\n1 1\n", "line 3 of 't.mtx' is '1 1' where a row, a column and a value"),
        ("%%MatrixMarket matrix coordinate real general\n2 2 1\n1 1 x\n", "'1 1 x' where"),
        ("%%MatrixMarket matrix coordinate pattern general\n2 2 1\n1 1 1\n", "'1 1 1' where a row and a column are"),
    ],
)  # fmt: skip
def test_broken_matrices(tmp_path: Path, text: str, sentence: str) -> None:
    (tmp_path / "t.mtx").write_text(text)
    refused(tmp_path / "t.mtx", sentence)


def test_broken_folders(tmp_path: Path) -> None:
    folder = write_cells(tmp_path / "cells", counts())
    codes, features = (folder / "barcodes.tsv").read_text(), (folder / "features.tsv").read_text()
    (folder / "barcodes.tsv").write_text(codes.replace(barcode(9), barcode(4)))
    refused(folder, f"the barcode '{barcode(4)}' stands on line 5 of 'barcodes.tsv' and again on line 10")
    (folder / "barcodes.tsv").write_text(codes + "X-1\n")
    refused(folder, "'matrix.mtx' has 50 columns and 'barcodes.tsv' has 51 lines")
    (folder / "barcodes.tsv").write_text(codes)
    (folder / "features.tsv").write_text(features.split("\n", 1)[1])
    refused(folder, "'matrix.mtx' has 40 rows and 'features.tsv' has 39 lines")
    (folder / "features.tsv").unlink()
    refused(folder, r"'matrix.mtx' has no features.tsv \(or genes.tsv\) beside it")
    (folder / "genes.tsv").write_text(features)
    assert fernwood.ingest(folder).n_columns == P
    with pytest.raises(SourceError, match="transposed says how a text file is written, and 'cells' is none"):
        fernwood.ingest(folder, transposed=True)


@pytest.mark.parametrize(
    ("line", "sentence"),
    [
        ("1 2:1 2:3", "line 3 of 't.svm' has '2:3' behind an index that is not smaller"),
        ("1 3:1 2:3", "line 3 of 't.svm' has '2:3' behind an index that is not smaller"),
        ("x 1:1", "line 3 of 't.svm' has 'x' where a label"),
        ("1,2 1:1", "line 3 of 't.svm' has '1,2' where a label"),
        ("1 1:", "has '1:' where a label, then index:value pairs"),
        ("1 1:a", "has '1:a' where"),
        ("1 a:1", "has 'a:1' where"),
        ("1 -1:1", "has '-1:1' where"),
        ("1 1", "has '1' where"),
        ("1 1:1 qid:2", "has 'qid:2' where"),
        ("1 99999999999999999999:1", "has '99999999999999999999:1' where"),
    ],
)
def test_broken_svmlight(tmp_path: Path, line: str, sentence: str) -> None:
    (tmp_path / "t.svm").write_text(f"1 1:1\n# fine\n{line}\n")
    refused(tmp_path / "t.svm", sentence)


def test_a_file_without_entries(tmp_path: Path) -> None:
    (tmp_path / "t.svm").write_text("1\n2\n")
    refused(tmp_path / "t.svm", "has no columns")


def as_dense(path: Path) -> NDArray[np.float64]:
    store = fernwood.ingest(path)
    return np.array([store.column(j) for j in range(store.n_columns)]).T


def test_an_empty_column_is_zeros(tmp_path: Path) -> None:
    (tmp_path / "t.svm").write_text("1 5:2\n2\n")
    np.testing.assert_array_equal(as_dense(tmp_path / "t.svm"), [[0, 0, 0, 0, 2], [0, 0, 0, 0, 0]])


def test_barcodes_that_are_no_text(tmp_path: Path) -> None:
    folder = write_cells(tmp_path / "cells", counts())
    (folder / "barcodes.tsv").write_bytes(b"\xff\xfe" * N)
    with pytest.raises(SourceError, match=r"'barcodes.tsv' cannot be read as text \(.*\); copy it again"):
        fernwood.ingest(folder)


def test_labels_of_many_rows_are_read_in_parts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    table, labels = counts(), np.arange(N) % 3
    dump_svmlight_file(table, labels, str(tmp_path / "t.svm"))
    whole = fernwood.ingest(tmp_path / "t.svm", target="label")
    monkeypatch.setattr("fernwood.sources.svmlight._ROWS_AT_A_TIME", 7)
    parts = fernwood.ingest(tmp_path / "t.svm", target="label")
    assert parts.fingerprint == whole.fingerprint
    assert parts.target is not None
    assert [parts.target.classes[i] for i in parts.target.values] == labels.tolist()


@pytest.mark.parametrize("long", ["all", "some", "none"])
@pytest.mark.parametrize("at_a_time", [1, 2, 7, 4096])
@pytest.mark.parametrize("size", [64, 2**20])
def test_every_row_keeps_its_query(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, long: str, at_a_time: int, size: int
) -> None:
    """Labels of many digits are pointed out by the kernel, and may fill their list in the middle of a line."""
    n = 4 * at_a_time + 1
    is_long = {"all": np.ones(n, bool), "some": np.arange(n) % 3 > 0, "none": np.zeros(n, bool)}[long]
    words = [f"0.{10**21 + i}" if many else str(i) for i, many in enumerate(is_long.tolist())]
    lines = [
        f"{word} qid:{i // 2}{' 1:1' if i % 2 else ''}{' # all' if i % 5 == 0 else ''}" for i, word in enumerate(words)
    ]
    (tmp_path / "t.svm").write_text("\n".join([*lines, "0 qid:9 2:1"]))
    monkeypatch.setattr("fernwood.sources.svmlight._ROWS_AT_A_TIME", at_a_time)
    pieces(monkeypatch, size)
    store = fernwood.ingest(tmp_path / "t.svm", target="label", groups="qid", task="regression")
    assert store.target is not None
    assert store.target.values.tolist() == [*(float(word) for word in words), 0]
    assert store.groups is not None
    queries = [*(i // 2 for i in range(n)), 9]
    np.testing.assert_array_equal(store.groups, np.unique(queries, return_inverse=True)[1])
    assert store.column(0).tolist() == [*(i % 2 for i in range(n)), 0]
