"""PLINK genotypes: the same store as the numbers give, the people beside it, and every broken file in one sentence."""

from __future__ import annotations

import gzip
import hashlib
import sys
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings, strategies as st
from numpy.typing import NDArray

import fernwood
from fernwood.errors import SourceError, TargetError
from fernwood.kernels.checksums import checksum_columns
from fernwood.sources.levels import MOST_LEVELS, LevelBand
from fernwood.sources.plink import PlinkSource
from fernwood.store import Store

MISSING = -127
N, P = 61, 90  # people are no multiple of four


def genotypes(n_rows: int = N, n_columns: int = P) -> NDArray[np.int8]:
    """All patterns of counts, with holes, a constant and an all-missing variant."""
    rng = np.random.default_rng(3)
    table = rng.binomial(2, rng.uniform(0.02, 0.98, n_columns), (n_rows, n_columns)).astype(np.int8)
    table[rng.random(table.shape) < 0.03] = MISSING
    table[:, 1], table[:, 2], table[:, 3] = MISSING, 2, 0
    table[:, 4] = rng.choice([0, 2], n_rows)
    table[:, 5] = rng.choice([1, 2], n_rows)
    return table


def write_plink(path: Path, table: NDArray[np.int8], *, ids: list[str] | None = None, fam: str | None = None) -> Path:
    """The three files, the bytes put together here."""
    n_rows, n_columns = table.shape
    bits = np.full((n_columns, -(-n_rows // 4) * 4), 0, np.uint8)
    bits[:, :n_rows] = np.select([table.T == 2, table.T == MISSING, table.T == 1], [0, 1, 2], 3)
    quads = bits.reshape(n_columns, -1, 4)
    packed = quads[..., 0] | quads[..., 1] << 2 | quads[..., 2] << 4 | quads[..., 3] << 6
    path.write_bytes(b"\x6c\x1b\x01" + packed.tobytes())
    ids = ids or [f"rs{i}" for i in range(n_columns)]
    path.with_suffix(".bim").write_text("".join(f"1\t{name}\t0\t{i}\tA\tG\n" for i, name in enumerate(ids)))
    path.with_suffix(".fam").write_text(
        fam or "".join(f"F{i // 2} I{i} 0 0 {i % 3} {i % 2 + 1}\n" for i in range(n_rows))
    )
    return path


def as_floats(table: NDArray[np.int8]) -> NDArray[np.float64]:
    return np.where(table == MISSING, np.nan, table)


def same(a: Store, b: Store) -> None:
    np.testing.assert_array_equal(a.read(range(a.n_columns)), b.read(range(b.n_columns)))
    np.testing.assert_array_equal(a.checksums, b.checksums)
    np.testing.assert_array_equal(a.n_missing, b.n_missing)
    np.testing.assert_array_equal(a.n_codes, b.n_codes)
    for i in range(a.n_columns):
        np.testing.assert_array_equal(a.column(i), b.column(i))
        np.testing.assert_array_equal(a.thresholds(i), b.thresholds(i))


@pytest.mark.parametrize("n_rows", [61, 62, 63])
def test_genotypes_of_more_people_than_there_are(tmp_path: Path, n_rows: int) -> None:
    """Four people share a byte, so that the size of the file alone would let up to three of them pass."""
    path = write_plink(tmp_path / "cohort.bed", genotypes(64))
    lines = path.with_suffix(".fam").read_text().splitlines(keepends=True)
    path.with_suffix(".fam").write_text("".join(lines[:n_rows]))
    with pytest.raises(SourceError, match=rf"has genotypes of more people than the {n_rows} of its .fam; copy all"):
        fernwood.ingest(path)


@pytest.mark.parametrize("n_rows", [60, 61, 62, 63])
def test_the_store_is_that_of_the_numbers(tmp_path: Path, n_rows: int) -> None:
    table = genotypes(n_rows)
    path = write_plink(tmp_path / "cohort.bed", table, ids=[f"x{i}" for i in range(P)])
    target = np.arange(n_rows) % 2
    for out in (None, tmp_path / "a.fern"):
        ours = fernwood.ingest(path, out, target=target)
        plain = fernwood.ingest(as_floats(table), out and tmp_path / "b.fern", target=target)
        same(ours, plain)
        assert ours.fingerprint == plain.fingerprint
    assert (tmp_path / "a.fern/codes.npy").read_bytes() == (tmp_path / "b.fern/codes.npy").read_bytes()
    assert (tmp_path / "a.fern/columns.parquet").read_bytes() == (tmp_path / "b.fern/columns.parquet").read_bytes()


def test_small_bands_give_the_same_store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = write_plink(tmp_path / "cohort.bed", genotypes())
    whole = fernwood.ingest(path)
    monkeypatch.setattr(sys.modules["fernwood.store.ingest"], "_BAND_BYTES", 40_000)
    assert fernwood.ingest(path).fingerprint == whole.fingerprint


def test_bed_reader_agrees(tmp_path: Path) -> None:
    bed_reader = pytest.importorskip("bed_reader")
    table = genotypes()
    bed_reader.to_bed(tmp_path / "theirs.bed", table)
    mine = write_plink(tmp_path / "mine.bed", table)
    assert mine.read_bytes() == (tmp_path / "theirs.bed").read_bytes()
    store = fernwood.ingest(tmp_path / "theirs.bed")
    with bed_reader.open_bed(tmp_path / "theirs.bed") as theirs:
        values = theirs.read(dtype="float64")
        assert list(store.names) == theirs.sid.tolist()
    for i in range(P):
        np.testing.assert_array_equal(store.column(i), values[:, i])


@pytest.mark.parametrize(("n_levels", "n_counts"), [(2, 2), (MOST_LEVELS + 1, MOST_LEVELS + 2)])
def test_counts_that_do_not_fit_the_levels(n_levels: int, n_counts: int) -> None:
    sentence = rf"{n_levels} levels with counts of shape \(1, {n_counts}\) are no band of levels"
    with pytest.raises(ValueError, match=sentence):
        LevelBand(np.zeros((1, 3), np.uint8), np.zeros((1, n_counts), np.int64), np.arange(n_levels, dtype=np.float32))


def test_columns_are_chosen_in_any_order(tmp_path: Path) -> None:
    table = genotypes()
    source = PlinkSource(write_plink(tmp_path / "cohort.bed", table))
    columns = np.array([7, 8, 9, 3, 3, 89, 0])
    with source.reading(columns, None) as reader:  # type: ignore[arg-type]
        band = reader.band(1, 7)
        assert isinstance(band, LevelBand)
        np.testing.assert_array_equal(band.values, as_floats(table)[:, columns[1:]].T)
        assert reader.columns(0, 1)[0].to_pylist() == [None if v == MISSING else v for v in table[:, 7].tolist()]


def test_people_are_beside(tmp_path: Path) -> None:
    table = genotypes(8)
    fam = "".join(
        f"F{i} I{i} {'D' if i else 0} 0 {sex} {phenotype}\n"
        for i, (sex, phenotype) in enumerate(zip([1, 2, 0, 1, 2, 1, 2, 5], [1, 2, 1, 2, 1, 2, 1, 2], strict=True))
    )
    path = write_plink(tmp_path / "cohort.bed", table, fam=fam)
    store = fernwood.ingest(path, target="phenotype", groups="family", given=["sex"])
    assert store.target is not None
    assert store.target.task == "classification"
    assert store.target.classes == (1, 2)
    assert store.groups is not None
    assert store.groups.tolist() == list(range(8))
    np.testing.assert_array_equal(store.column("sex"), [1, 2, np.nan, 1, 2, 1, 2, np.nan])
    assert store.n_columns == P + 1


@pytest.mark.parametrize(
    ("phenotype", "values"),
    [
        (["1", "2", "0", "-9"], [1, 2, None, None]),
        (["0", "1.5", "-9", "NA"], [0, 1.5, None, None]),
        (["0", "3", "1", "2"], [0, 3, 1, 2]),
        (["case", "control", "-9", "case"], ["case", "control", None, "case"]),
    ],
)
def test_missing_phenotypes(tmp_path: Path, phenotype: list[str], values: list[object]) -> None:
    fam = "".join(f"F{i}\tI{i}\t0\t0\t1\t{word}\n" for i, word in enumerate(phenotype))
    source = PlinkSource(write_plink(tmp_path / "cohort.bed", genotypes(4), fam=fam))
    assert source.beside is not None
    assert source.beside.table.column("phenotype").to_pylist() == values
    if None in values:
        with pytest.raises(TargetError, match="missing values, the first in row"):
            fernwood.ingest(tmp_path / "cohort.bed", target="phenotype")


def test_a_quantitative_phenotype_asks_for_regression(tmp_path: Path) -> None:
    fam = "".join(f"F{i} I{i} 0 0 1 {i * 1.5}\n" for i in range(30))
    store = fernwood.ingest(write_plink(tmp_path / "cohort.bed", genotypes(30), fam=fam), target="phenotype")
    assert store.target is not None
    assert store.target.task == "regression"


PEOPLE = [(f"F{i // 2}", f"I{i}") for i in range(12)]
SHUFFLED = [PEOPLE[i] for i in np.random.default_rng(0).permutation(12)] + [("F99", "I99")]


@pytest.mark.parametrize(
    "text",
    [
        "".join(f"{f} {i} {int(i[1:]) % 3 + 3}\n" for f, i in SHUFFLED),
        "FID  IID    PHENO\n" + "".join(f"  {f:<6} {i:<6}  {int(i[1:]) % 3 + 3}\n" for f, i in SHUFFLED),
        "#FID\tIID\tPHENO\n" + "".join(f"{f}\t{i}\t{int(i[1:]) % 3 + 3}\n" for f, i in SHUFFLED),
        "#IID,PHENO\n" + "".join(f"{i},{int(i[1:]) % 3 + 3}\n" for _, i in SHUFFLED),
        "pheno\n" + "".join(f"{int(i[1:]) % 3 + 3}\n" for _, i in PEOPLE),
    ],
    ids=["spaces", "aligned", "tabs", "samples alone", "one column in order"],
)
def test_a_phenotype_file_is_matched_by_names(tmp_path: Path, text: str) -> None:
    path = write_plink(tmp_path / "cohort.bed", genotypes(12))
    (tmp_path / "pheno.txt").write_text(text)
    store = fernwood.ingest(path, tmp_path / "a.fern", target=str(tmp_path / "pheno.txt"), task="regression")
    assert store.target is not None
    assert store.target.name == "pheno"
    assert store.target.values.tolist() == [3, 4, 5] * 4
    assert {p.name for p in (tmp_path / "a.fern").iterdir()} == {
        "codes.npy",
        "columns.parquet",
        "rows.parquet",
        "manifest.json",
    }


@pytest.mark.parametrize("name", ["people.pheno", "people.csv.gz", "people.parquet"])
def test_phenotypes_in_other_files(tmp_path: Path, name: str) -> None:
    path = write_plink(tmp_path / "cohort.bed", genotypes(12))
    heights = [float(i[1:]) + 0.5 for _, i in SHUFFLED]
    if name.endswith(".parquet"):
        columns = {"f": [f for f, _ in SHUFFLED], "i": [i for _, i in SHUFFLED], "height": heights}
        pq.write_table(pa.table(columns), tmp_path / name)
    else:
        between = " " if name.endswith(".pheno") else ","
        lines = [between.join([f, i, str(h)]) + "\n" for (f, i), h in zip(SHUFFLED, heights, strict=True)]
        text = "".join([between.join(["f", "i", "height"]) + "\n", *lines]).encode()
        (tmp_path / name).write_bytes(gzip.compress(text) if name.endswith(".gz") else text)
    store = fernwood.ingest(path, target=f"{tmp_path / name}:height")
    assert store.target is not None
    assert store.target.values.tolist() == [i + 0.5 for i in range(12)]


def test_one_column_of_several(tmp_path: Path) -> None:
    path = write_plink(tmp_path / "cohort.bed", genotypes(12))
    pheno = tmp_path / "pheno.txt"
    pheno.write_text("FID IID height bmi\n" + "".join(f"{f} {i} {i[1:]} -9\n" for f, i in SHUFFLED))
    store = fernwood.ingest(path, target=f"{pheno}:height")
    assert store.target is not None
    assert (store.target.name, store.target.values.tolist()) == ("height", list(range(12)))
    with pytest.raises(TargetError, match=r"has 2 columns behind the names of rows; say which one as 'pheno.txt:bmi'"):
        fernwood.ingest(path, target=str(pheno))
    with pytest.raises(TargetError, match=r"'pheno.txt' has no column 'heigth'; did you mean 'height'\?"):
        fernwood.ingest(path, target=f"{pheno}:heigth")
    with pytest.raises(TargetError, match="'bmi' has 12 missing values"):
        fernwood.ingest(path, target=f"{pheno}:bmi")


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        (
            "".join(f"{f} {i} 1.5\n" for f, i in PEOPLE[1:]),
            "'F0' 'I0' of 'cohort.bed' is not in 'pheno.txt', given as the target; every row needs a line there",
        ),
        ("".join(f"{f} {i} 1.5\n" for f, i in [*PEOPLE, PEOPLE[3]]), "'F1' 'I3' stands twice in 'pheno.txt'"),
        ("a b c\nd e f\n", "no line of 'pheno.txt' begins with a row's name such as 'F0' 'I0'"),
    ],
)
def test_phenotype_files_that_do_not_match(tmp_path: Path, text: str, sentence: str) -> None:
    path = write_plink(tmp_path / "cohort.bed", genotypes(12))
    (tmp_path / "pheno.txt").write_text(text)
    with pytest.raises(TargetError, match=sentence):
        fernwood.ingest(path, target=str(tmp_path / "pheno.txt"))


@pytest.mark.parametrize(
    ("fam", "sentence"),
    [
        (b"\xff\xfe 1\n" * 12, "'cohort.fam' is not UTF-8 text; convert the file to UTF-8"),
        (b"F0 I0 0 0 1 1\nalone\n", "line 2 of 'cohort.fam' has 1 word where at least two are expected; write"),
    ],
)
def test_people_that_are_no_text(tmp_path: Path, fam: bytes, sentence: str) -> None:
    path = write_plink(tmp_path / "cohort.bed", genotypes(12))
    path.with_suffix(".fam").write_bytes(fam)
    with pytest.raises(SourceError, match=sentence):
        fernwood.ingest(path)


def test_samples_of_two_families_need_their_families(tmp_path: Path) -> None:
    fam = "".join(f"F{i} I{i // 2} 0 0 1 1\n" for i in range(12))
    path = write_plink(tmp_path / "cohort.bed", genotypes(12), fam=fam)
    (tmp_path / "pheno.txt").write_text("".join(f"I{i} {i}.5\n" for i in range(6)))
    sentence = "'pheno.txt' names samples without their families, and a sample of 'cohort.bed' stands in more than one"
    with pytest.raises(TargetError, match=f"^{sentence}; give both$"):
        fernwood.ingest(path, target=str(tmp_path / "pheno.txt"))


def test_names_that_stand_twice_are_cleaned(tmp_path: Path) -> None:
    path = write_plink(tmp_path / "cohort.bed", genotypes(8)[:, :3], ids=[".", "rs1", "."])
    with pytest.raises(SourceError, match="'.' stands over column 0 and again over column 2.*--clean-names"):
        fernwood.ingest(path)
    assert list(fernwood.ingest(path, clean_names=True).names) == [".", "rs1", ". (2)"]


def test_a_bim_with_spaces(tmp_path: Path) -> None:
    path = write_plink(tmp_path / "cohort.bed", genotypes(8)[:, :3])
    path.with_suffix(".bim").write_text("1 a 0 1 A G\n1  b 0 2 A G\n1 c 0 3 A G\n")
    assert list(fernwood.ingest(path).names) == ["a", "b", "c"]


def test_bad_files(tmp_path: Path) -> None:
    path = write_plink(tmp_path / "cohort.bed", genotypes())
    good = path.read_bytes()

    def refused(sentence: str) -> None:
        with pytest.raises(SourceError, match=sentence):
            fernwood.ingest(path)

    for bad in (good[:-1], good + b"\0"):
        path.write_bytes(bad)
        refused(
            f"has {len(bad)} bytes where the 61 people of its .fam and the 90 variants of its .bim take {len(good)}"
        )
    path.write_bytes(good[:2] + b"\0" + good[3:])
    refused("individual-major order.*plink --make-bed")
    for bad in (b"chr1\t100\t200\n", b"\x6c\x1b"):
        path.write_bytes(bad)
        refused("does not begin as PLINK's binary genotypes do")
    path.write_bytes(good)
    for ending in (".bim", ".fam"):
        path.with_suffix(ending).rename(tmp_path / "away")
        refused(f"'cohort{ending}', which names the .* is not beside it; keep .bed, .bim and .fam together")
        (tmp_path / "away").rename(path.with_suffix(ending))
    path.with_suffix(".fam").write_text("alone\n")
    refused("line 1 of 'cohort.fam' has 1 word")
    path.with_suffix(".bim").write_text("1\trs0\t0\t1\tA\tG\n1\trs1\n")
    path.with_suffix(".fam").write_text("a b 0 0 0 0\n")
    refused("'cohort.bim' cannot be read as lines of 6 cells")
    with pytest.raises(SourceError, match="transposed says how a text file is written"):
        fernwood.ingest(path, transposed=True)


@settings(max_examples=30)
@given(st.integers(0, 300), st.integers(0, 140), st.integers(0, 2**32))
def test_checksums_are_those_of_hashlib(n_rows: int, n_columns: int, seed: int) -> None:
    codes = np.random.default_rng(seed).integers(0, 256, (n_columns, n_rows), dtype=np.uint8)
    out = np.empty(n_columns, np.uint64)
    checksum_columns(codes, out)
    wanted = [int.from_bytes(hashlib.blake2b(c.tobytes(), digest_size=8).digest(), "little") for c in codes]
    assert out.tolist() == wanted
