"""PLINK's binary genotypes: `.bed` with the variants of `.bim` and the people of `.fam` beside it.

A genotype is the number of copies of allele A1 (the fifth column of `.bim`): 0, 1, 2 or missing. In variant-major
order, the only one that PLINK has written since version 1, a column is a run of bytes: bands are read as they lie and
unpacked into codes by a kernel; decision 0022 says why bed-reader does not do it.
"""

from __future__ import annotations

import io
from contextlib import contextmanager
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.csv

from fernwood.errors import SourceError, shown
from fernwood.files import FileReader, is_file, opened, size_of
from fernwood.kernels.genotypes import unpack_genotypes
from fernwood.kernels.ready import load_compiled
from fernwood.shortage import pass_on_shortage
from fernwood.sources.arrow import first_line
from fernwood.sources.base import Band, Reader, Source, Workspace
from fernwood.sources.beside import RowTable
from fernwood.sources.levels import LevelBand
from fernwood.sources.names import ListedNames
from fernwood.sources.text_format import MISSING_WORDS
from fernwood.sources.typed import typed_columns

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from numpy.typing import NDArray

    from fernwood.sources.table_form import TableForm

__all__ = ["PlinkSource", "open_plink", "phenotypes"]

_MAGIC = b"\x6c\x1b"
_HEADER = 3
_BY_VARIANT = 1
_FAM = ("family", "sample", "father", "mother", "sex", "phenotype")
_COUNTS = np.array([0, 1, 2], np.float32)
_PIECE = 2**24


def open_plink(path: Path, _: TableForm) -> PlinkSource:
    """The genotypes of a `.bed` file."""
    return PlinkSource(path)


class PlinkSource(Source):
    """A `.bed` file; people are rows, variants are columns, and `.fam` is beside them."""

    row_ids = ("family", "sample")

    def __init__(self, path: Path) -> None:
        self.title = shown(path.name)
        self._path = path
        self.n_bytes = size_of(path)
        with FileReader(path) as file:
            _check_magic(file.read(min(_HEADER, file.size), 0), self.title)
        people = _people(_companion(path, ".fam", "people"))
        self.names = ListedNames(_variants(_companion(path, ".bim", "variants")))
        self._n_rows = people.num_rows
        self.beside = RowTable(people, shown(path.with_suffix(".fam").name))
        load_compiled("genotypes", "checksums")
        wanted = _HEADER + len(self.names) * (-(-self._n_rows // 4))
        if self.n_bytes != wanted:
            raise SourceError(
                f"{self.title} has {self.n_bytes} bytes where the {self._n_rows} people of its .fam and the "
                f"{len(self.names)} variants of its .bim take {wanted}; copy all three files again, together"
            )

    def mended(self, values: NDArray[np.floating]) -> NDArray[np.floating]:
        """Numbers of a phenotype file with PLINK's own codes for missing ones taken out."""
        return phenotypes(values)

    @contextmanager
    def reading(self, columns: NDArray[np.int64], workspace: Workspace) -> Iterator[Reader]:  # noqa: ARG002
        """Open the file to read some variants."""
        with FileReader(self._path) as file:
            yield _PlinkReader(file, columns, self._n_rows, self.title)


class _PlinkReader(Reader):
    def __init__(self, file: FileReader, columns: NDArray[np.int64], n_rows: int, title: str) -> None:
        self._file = file
        self._title = title
        self._columns = columns
        self._stride = -(-n_rows // 4)
        self._packed = np.empty((0, self._stride), np.uint8)
        self.n_rows = n_rows

    def overhead(self) -> int:
        return self._stride + 64

    def band(self, start: int, stop: int) -> Band:
        wanted = self._columns[start:stop]
        if len(self._packed) < len(wanted):  # the same memory every time: new memory costs page faults
            self._packed = np.empty((len(wanted), self._stride), np.uint8)
        packed = self._packed[: len(wanted)]
        breaks = np.flatnonzero(np.diff(wanted) != 1) + 1
        for first, last in zip([0, *breaks.tolist()], [*breaks.tolist(), len(wanted)], strict=True):
            if first < last:
                place = _HEADER + int(wanted[first]) * self._stride
                self._file.read_into(packed[first:last].data.cast("B"), place)
        # Of the last four people some may be none: PLINK leaves their bits empty, and the size of a file says nothing.
        if self.n_rows % 4 and (packed[:, -1] >> (2 * (self.n_rows % 4))).any():
            raise SourceError(
                f"{self._title} has genotypes of more people than the {self.n_rows} of its .fam; copy all three files "
                "again, together"
            )
        codes = np.empty((len(wanted), self.n_rows), np.uint8)
        counts = np.empty((len(wanted), len(_COUNTS) + 1), np.int64)
        unpack_genotypes(packed, codes, counts)
        return LevelBand(codes, counts, _COUNTS)

    def columns(self, start: int, stop: int) -> list[pa.Array | pa.ChunkedArray]:
        return typed_columns(self.band(start, stop), np.dtype(np.int8))


def _check_magic(head: bytes, title: str) -> None:
    if head[:2] != _MAGIC or len(head) < _HEADER:
        raise SourceError(
            f"{title} does not begin as PLINK's binary genotypes do (6c 1b 01); a table of genome intervals is also "
            "called .bed: give the file that `plink --make-bed` wrote"
        )
    if head[2] != _BY_VARIANT:
        raise SourceError(
            f"{title} is in individual-major order, which PLINK stopped writing in 2009; write it again by variant "
            "with `plink --make-bed`"
        )


def _companion(path: Path, ending: str, what: str) -> Path:
    beside = path.with_suffix(ending)
    if not is_file(beside):
        raise SourceError(
            f"{shown(beside.name)}, which names the {what} of {shown(path.name)}, is not beside it; "
            "keep .bed, .bim and .fam together under one name"
        )
    return beside


def _variants(path: Path) -> pa.Array:
    """The second column of a `.bim` file; of many millions of lines, only that is ever in memory."""
    with opened(path) as file:
        first = file.readline(_PIECE)
    if b"\t" not in first:
        return pa.array([line[1] for line in _split_lines(path)], pa.large_string())
    width = first.count(b"\t") + 1
    read = pa.csv.ReadOptions(
        column_names=[str(i) for i in range(width)], block_size=_PIECE // 4, use_threads=False, encoding="utf8"
    )
    parse = pa.csv.ParseOptions(delimiter="\t", quote_char=False, ignore_empty_lines=True)
    convert = pa.csv.ConvertOptions(
        include_columns=["1"], column_types={"1": pa.large_string()}, strings_can_be_null=False
    )
    try:
        with opened(path) as file, pa.csv.open_csv(file, read, parse, convert) as batches:
            runs = [batch.column(0) for batch in batches]
    except (pa.ArrowInvalid, OSError) as error:
        pass_on_shortage(error)
        raise SourceError(
            f"{shown(path.name)} cannot be read as lines of {width} cells ({first_line(error)}); write it again"
        ) from error
    return pa.concat_arrays(runs) if runs else pa.array([], pa.large_string())


def _people(path: Path) -> pa.Table:
    lines = list(_split_lines(path))
    words = [[line[i] if i < len(line) else "0" for line in lines] for i in range(len(_FAM))]
    # Only the phenotype may be left out; PLINK's zeros stand for people and sexes that are not known.
    family, sample, father, mother, sex, phenotype = words
    return pa.table(
        {
            "family": pa.array(family, pa.large_string()),
            "sample": pa.array(sample, pa.large_string()),
            "father": pa.array([None if word == "0" else word for word in father], pa.large_string()),
            "mother": pa.array([None if word == "0" else word for word in mother], pa.large_string()),
            "sex": pa.array([int(word) if word in ("1", "2") else None for word in sex], pa.int8()),
            "phenotype": _phenotype_column(phenotype),
        }
    )


def _phenotype_column(words: list[str]) -> pa.Array:
    """Numbers where all that is there are numbers, words otherwise."""
    present = [None if word in MISSING_WORDS else word for word in words]
    try:
        numbers = np.array([np.nan if word is None else float(word) for word in present])
    except ValueError:
        return pa.array([None if word == "-9" else word for word in present], pa.large_string())
    numbers = phenotypes(numbers)
    return pa.array(numbers, mask=np.isnan(numbers))


def phenotypes(values: NDArray[np.floating]) -> NDArray[np.floating]:
    """Phenotypes with PLINK's codes for missing ones as NaN: −9 always, and 0 where all others are 1 and 2.

    Examples
    --------
    >>> phenotypes(np.array([1.0, 2.0, 0.0, -9.0]))
    array([ 1.,  2., nan, nan])
    >>> phenotypes(np.array([0.0, 1.5, -9.0]))
    array([0. , 1.5, nan])
    """
    values = np.where(values == -9, np.nan, values)
    cases = np.isnan(values) | np.isin(values, (0, 1, 2))
    return np.where(values == 0, np.nan, values) if cases.all() else values


def _split_lines(path: Path) -> Iterator[list[str]]:
    """The words of every line that has any, at least two."""
    with io.TextIOWrapper(opened(path), encoding="utf-8", newline="\n") as file:
        try:
            for number, line in enumerate(file, 1):
                words = line.split()
                if len(words) == 1:
                    raise SourceError(
                        f"line {number} of {shown(path.name)} has 1 word where at least two are expected; write the "
                        "file again"
                    )
                if words:
                    yield words
        except UnicodeDecodeError as error:
            raise SourceError(f"{shown(path.name)} is not UTF-8 text; convert the file to UTF-8") from error
