"""Tests for sources of other packages: subclass `SourceContract`, say how to make a table, and run pytest.

Nothing here is used when Fernwood runs, and pytest is not imported: its tests are plain methods.
"""

from __future__ import annotations

import tracemalloc
from typing import TYPE_CHECKING

import numpy as np

from fernwood.errors import BudgetError
from fernwood.sources.base import Band, Kind, Workspace

if TYPE_CHECKING:
    from collections.abc import Iterator
    from contextlib import AbstractContextManager
    from pathlib import Path

    from numpy.typing import NDArray

    from fernwood.sources.base import Reader, Source

__all__ = ["SourceContract"]

_ROOMY = 2**28
_SLACK = 2**20
"""Bytes that a reader may take beyond what it says: objects of the interpreter."""


class SourceContract:
    """What every source must do, as tests.

    Name the subclass ``Test…`` and write `make_source`; where a format does not hold any number, `make_values` too.
    Every method gets pytest's ``tmp_path``.

    Attributes
    ----------
    holds_missing : bool
        Whether the format has missing values; False leaves out the tests of them.

    Examples
    --------
    A source of arrays passes:

    >>> import pathlib, tempfile
    >>> from fernwood.sources import open_source
    >>> class TestArrays(SourceContract):
    ...     def make_source(self, folder, values):
    ...         return open_source(values)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     for name, test in TestArrays().every_test():
    ...         test(pathlib.Path(folder))
    """

    holds_missing: bool = True

    def make_source(self, folder: Path, values: NDArray[np.float64]) -> Source:
        """Write a table of these values, shape (rows, columns), NaN for missing ones, and open it.

        A table with a target or row names beside its columns is fine: `values` are the columns.
        """
        raise NotImplementedError("say how to make a source: def make_source(self, folder, values)")

    def make_values(self, n_rows: int, n_columns: int) -> NDArray[np.float64]:
        """Numbers that the format can hold, none missing; by default a third is zero and others have a fraction."""
        rng = np.random.default_rng(n_rows)
        values = np.round(rng.standard_normal((n_rows, n_columns)), 3)
        values[rng.random(values.shape) < 1 / 3] = 0
        return values

    def every_test(self) -> Iterator[tuple[str, object]]:
        """Every test by name, as pytest finds them."""
        for name in dir(self):
            if name.startswith("test_"):
                yield name, getattr(self, name)

    def test_it_says_what_it_is(self, tmp_path: Path) -> None:
        """Names, one a column and each found again; a title; its size."""
        source = self._new(tmp_path, self.make_values(23, 17))
        names = list(source.names)
        _check(len(names) == len(source.names) == 17, f"{len(names)} names for 17 columns")
        _check(len(set(names)) == 17 and all(names), f"names must differ and not be empty: {names}")
        for i in (0, 5, 16):
            found = source.names.find(names[i])
            _check(found == i, f"names.find({names[i]!r}) is {found}, not {i}")
            _check(source.names[i] == names[i], f"names[{i}] is not what iterating gives")
        _check(source.names.find("no such column") is None, "names.find must give None for what is not there")
        _check(bool(source.title.strip()), "title is what to call the table in a sentence")
        _check(source.n_bytes > 0, "n_bytes is the size of the table")

    def test_bands_are_the_values_however_they_are_cut(self, tmp_path: Path) -> None:
        """Rows, types and values of bands of one column, of some and of all."""
        values = self.make_values(23, 17)
        source = self._new(tmp_path, values)
        with self._reading(source, np.arange(17), tmp_path) as reader:
            _check(reader.n_rows == 23, f"n_rows is {reader.n_rows}, not 23")
            for cut in (1, 4, 17):
                for start in range(0, 17, cut):
                    stop = min(start + cut, 17)
                    _same(reader.band(start, stop), values[:, start:stop])

    def test_columns_come_as_they_are_asked_for(self, tmp_path: Path) -> None:
        """In any order, some of them, and again and again."""
        values = self.make_values(23, 17)
        source = self._new(tmp_path, values)
        for columns in ([16], [3, 4, 5], [9, 2, 2, 16, 0, 1], list(range(16, -1, -1))):
            with self._reading(source, np.array(columns), tmp_path) as reader:
                _same(reader.band(0, len(columns)), values[:, columns])
                _same(reader.band(len(columns) - 1, len(columns)), values[:, columns[-1:]])

    def test_any_list_of_columns_in_any_parts(self, tmp_path: Path) -> None:
        """At random: columns in any order or in order, some of them again; parts of them; little memory or much."""
        values = self.make_values(300, 40)
        source = self._new(tmp_path, values)
        least = self._least(source, tmp_path)
        for seed in range(12):
            rng = np.random.default_rng(seed)
            columns = rng.integers(0, 40, rng.integers(1, 60))
            if seed % 3 == 1:
                columns = np.sort(columns)
            elif seed % 3 == 2:
                columns = np.minimum(np.cumsum(rng.integers(0, 3, len(columns))), 39)
            memory = (_ROOMY, least, 3 * least)[seed % 4 % 3]
            with self._reading(source, columns, tmp_path, memory) as reader:
                for _ in range(4):
                    start = int(rng.integers(0, len(columns)))
                    stop = int(rng.integers(start, len(columns))) + 1
                    wanted = values[:, columns[start:stop]]
                    _same(reader.band(start, stop), wanted)
                    if reader.stored() is not None:
                        _same(reader.sparse_band(start, stop).dense(), wanted)
                    arrows = [column.to_numpy(zero_copy_only=False) for column in reader.columns(start, stop)]
                    np.testing.assert_array_equal(np.array(arrows, np.float64), wanted.T)

    def test_missing_values_are_nan(self, tmp_path: Path) -> None:
        """Some missing, a column with nothing else, and none."""
        if not self.holds_missing:
            return
        values = self.make_values(23, 17)
        values[np.random.default_rng(1).random(values.shape) < 0.2] = np.nan
        values[:, 3] = np.nan
        values[:, 4] = 1
        with self._reading(self._new(tmp_path, values), np.arange(17), tmp_path) as reader:
            _same(reader.band(0, 17), values)

    def test_a_band_stays_as_it_is(self, tmp_path: Path) -> None:
        """Reading on does not change a band that was given away, and bands can be read again."""
        values = self.make_values(23, 17)
        with self._reading(self._new(tmp_path, values), np.arange(17), tmp_path) as reader:
            first = reader.band(0, 8)
            _same(reader.band(8, 16), values[:, 8:16])
            _same(first, values[:, :8])
            _same(reader.band(0, 8), values[:, :8])

    def test_it_can_be_opened_again(self, tmp_path: Path) -> None:
        """One source is read twice, also while it is being read."""
        values = self.make_values(23, 17)
        source = self._new(tmp_path, values)
        with (
            self._reading(source, np.array([1, 2]), tmp_path) as one,
            self._reading(source, np.array([2, 0]), tmp_path) as other,
        ):
            _same(one.band(0, 2), values[:, [1, 2]])
            _same(other.band(0, 2), values[:, [2, 0]])
        with self._reading(source, np.array([5]), tmp_path) as reader:
            _same(reader.band(0, 1), values[:, [5]])

    def test_columns_as_arrow_arrays(self, tmp_path: Path) -> None:
        """What leaves again, for `fernwood apply`."""
        values = self.make_values(23, 17)
        if self.holds_missing:
            values[2, 1] = np.nan
        with self._reading(self._new(tmp_path, values), np.array([1, 0]), tmp_path) as reader:
            columns = reader.columns(0, 2)
        for place, column in zip((1, 0), columns, strict=True):
            wanted = [None if np.isnan(value) else value for value in values[:, place].tolist()]
            found = column.to_pylist()
            _check(found == wanted, f"columns() gives {found[:3]}… where {wanted[:3]}… are expected")

    def test_memory_is_kept_to(self, tmp_path: Path) -> None:
        """What NumPy allocates while a table is opened and a band is read, beside what the reader says."""
        values = self.make_values(700, 300)
        source = self._new(tmp_path, values)
        with self._reading(source, np.arange(300), tmp_path) as reader:  # what is loaded once is not counted
            reader.band(0, 10)
        memory = self._least(source, tmp_path)
        tracemalloc.start()
        try:
            with self._reading(source, np.arange(300), tmp_path, memory) as reader:
                _, opening = tracemalloc.get_traced_memory()
                says = reader.keeps + reader.caches
                cached = f"caches are {reader.caches} of a workspace of {memory} bytes, more than half"
                _check(reader.caches <= memory // 2 + _SLACK, cached)
                tracemalloc.reset_peak()
                band = reader.band(100, 200)
                _, peak = tracemalloc.get_traced_memory()
                says += 100 * reader.overhead() + 100 * 700 * 8
                _same(band, values[:, 100:200])
        finally:
            tracemalloc.stop()
        _check(opening <= memory + _SLACK, f"opening took {opening} bytes of a workspace of {memory}")
        _check(peak <= says + _SLACK, f"a band took {peak} bytes where the reader says {says}")

    def test_scratch_files_go(self, tmp_path: Path) -> None:
        """Nothing is left of what a reader wrote, also when reading ends early."""
        source = self._new(tmp_path, self.make_values(700, 300))
        scratch = tmp_path / "scratch"
        scratch.mkdir(exist_ok=True)
        memory = self._least(source, tmp_path)
        try:
            with self._reading(source, np.arange(300), scratch, memory) as reader:
                reader.band(0, 1)
                raise KeyError
        except KeyError:
            pass
        left = [path.name for path in scratch.iterdir()]
        _check(not left, f"scratch files are left behind: {left}")

    def test_what_is_beside_fits(self, tmp_path: Path) -> None:
        """A table that describes the rows has as many of them, and the names of rows are among its columns."""
        source = self._new(tmp_path, self.make_values(23, 17))
        if source.beside is None:
            _check(not source.row_ids, "row_ids are columns of what stands beside the table, and nothing does")
            return
        n_beside = len(source.beside.names)
        with self._reading(source.beside, np.arange(n_beside), tmp_path) as reader:
            _check(reader.n_rows == 23, f"{reader.n_rows} rows stand beside 23")
            _check(reader.band(0, n_beside).values.shape == (n_beside, 23), "the band beside has another shape")
        for name in source.row_ids:
            _check(source.beside.names.find(name) is not None, f"row_ids has {name!r}, which is not beside the table")

    def test_it_becomes_the_store_of_its_values(self, tmp_path: Path) -> None:
        """All the way in: the codes are those of the same numbers in an array."""
        from fernwood.store import ingest

        values = self.make_values(41, 29)
        if self.holds_missing:
            values[3:5, 2] = np.nan
        ours, plain = ingest(self._new(tmp_path, values)), ingest(values)
        np.testing.assert_array_equal(ours.read(range(29)), plain.read(range(29)))
        np.testing.assert_array_equal(ours.checksums, plain.checksums)

    def _new(self, folder: Path, values: NDArray[np.float64]) -> Source:
        """The source of a table in a folder of its own."""
        number = sum(1 for _ in folder.glob("table-*"))
        own = folder / f"table-{number}"
        own.mkdir()
        return self.make_source(own, values)

    @staticmethod
    def _reading(
        source: Source, columns: NDArray[np.int64], folder: Path, memory: int = _ROOMY
    ) -> AbstractContextManager[Reader]:
        return source.reading(columns.astype(np.int64), Workspace(memory, folder, lambda _: None))

    def _least(self, source: Source, folder: Path) -> int:
        """A small workspace that the source does not refuse."""
        memory = 2**16
        try:
            with self._reading(source, np.arange(len(source.names)), folder, memory):
                return memory
        except BudgetError as error:
            return int(error.least)


def _check(holds: bool, otherwise: str) -> None:
    if not holds:
        raise AssertionError(otherwise)


def _same(band: Band, values: NDArray[np.float64]) -> None:
    """Whether a band holds these values, shape (rows, columns), as ordered numbers."""
    found = band.values
    _check(found.shape == values.T.shape, f"a band of shape {found.shape} where {values.T.shape} is expected")
    _check(found.dtype in (np.float32, np.float64), f"values of type {found.dtype}: give float32 or float64")
    _check(bool(found.flags.c_contiguous), "every column of a band is contiguous: give values in C order")
    _check(len(band.kinds) == len(found), f"{len(band.kinds)} kinds for {len(found)} columns")
    _check(set(band.kinds.tolist()) <= {Kind.NUMBER, Kind.BOOLEAN}, "numbers must be of kind NUMBER")
    np.testing.assert_array_equal(found, values.T)
