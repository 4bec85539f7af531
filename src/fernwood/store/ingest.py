"""Ingest: any table becomes a store, inside a memory budget, whole or not at all."""

from __future__ import annotations

import errno
import threading
import warnings
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from queue import Empty, SimpleQueue
from typing import TYPE_CHECKING, Any, get_args

import numpy as np
import pyarrow.compute as pc

from fernwood.budget import Headroom, default_budget, parse_size, shown_size
from fernwood.errors import (
    BudgetError,
    FernwoodWarning,
    ParameterError,
    SourceError,
    StoreError,
    shown,
)
from fernwood.files import appearing_directory, exists, is_link, scratch_directory
from fernwood.shortage import check_threads, saying_shortage
from fernwood.sources import open_source
from fernwood.sources.base import Progress, Workspace
from fernwood.sources.names import check_names, clean_names as cleaned
from fernwood.sources.place import Url, as_place
from fernwood.sources.table_form import TableForm
from fernwood.sources.text_format import MISSING_WORDS
from fernwood.store.columns import ManyCategories, code_band, settle_categories
from fernwood.store.disk import DiskStore
from fernwood.store.given import GivenRoles
from fernwood.store.manifest import is_store
from fernwood.store.quantise import MAX_CODES, bin_count
from fernwood.store.roles import Roles, Task
from fernwood.store.suspects import Suspects
from fernwood.store.writer import RECORDS_A_GROUP, DiskWriter, MemoryWriter
from fernwood.version import __version__

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from typing import Self

    from numpy.typing import NDArray

    from fernwood.sources.base import Band, ProgressCallback, Reader, Source, SparseBand
    from fernwood.store.base import Store
    from fernwood.store.columns import CodedBand

__all__ = ["ingest"]

_FEWEST_BINS, _MOST_BINS = 8, MAX_CODES
_BAND_BYTES = 48 * 10**6
"""Bands larger than this are not faster."""
_SPARE_BYTES = 8 * 10**6
"""For what is not counted: interpreter objects, Arrow's odds and ends."""
_MARGIN_BYTES = 5 * 10**6
"""What stays free where bands can be narrower: libraries load late, and reading, coding and writing may meet badly."""
_RECORD_BYTES = 8 * MAX_CODES + 160
"""The longest record of a column: its grid, and the rest."""
_PARTING_S = 2.0
"""How long a band that is being written is waited for where the others will not come."""
_WAIT_S = 0.5
"""How long a signal may go unheard while a band is being written."""
_STORED_BYTES = 44
"""What a value of a sparse band takes at most: its row and itself as it is read, sorted, and as it is."""


def ingest(
    source: Any,
    out: str | os.PathLike[str] | None = None,
    *,
    target: Any = None,
    task: Task | None = None,
    weights: Any = None,
    groups: Any = None,
    given: Sequence[str | int] = (),
    columns: Sequence[str | int] | None = None,
    drop: Sequence[str | int] | None = None,
    memory: int | str | None = None,
    bins: int | None = None,
    many_categories: ManyCategories = "error",
    clean_names: bool = False,
    delimiter: str | None = None,
    header: bool | None = None,
    decimal: str = ".",
    missing: Sequence[str] = MISSING_WORDS,
    transposed: bool = False,
    categorical: Sequence[str | int] = (),
    layer: str | None = None,
    dataset: str | None = None,
    key: str | None = None,
    empty_chunks: bool = False,
    force: bool = False,
    progress: ProgressCallback | None = None,
) -> Store:
    """Turn a table into a column store.

    Parameters
    ----------
    source
        A path (CSV and other delimited text, also compressed; Parquet, one file or a folder of parts; Arrow IPC or
        Feather; ``.npy``; AnnData, HDF5 and Zarr; PLINK ``.bed``; a 10x folder or ``.mtx``; SVMlight), a NumPy array, a
        SciPy sparse matrix, an AnnData object, or a data frame.
    out
        The store directory to make, by custom ``NAME.fern``; None keeps the store in memory.
    target
        What the columns are to explain: a column by name or position, a path to a file with one column or
        ``FILE:COLUMN``, or an array. A file that names rows as the table does (PLINK, 10x) is matched by their names.
    task : {"classification", "regression"}, optional
        What the target asks for. By default text, booleans and up to 20 different whole numbers (at most half as many
        as rows) ask for classification, everything else for regression.
    weights, groups
        The weight of every row, and the group (patient, batch) that it belongs to, given like the target.
    given
        Covariates of searches to come. Those that describe the rows beside the table (``obs`` of AnnData, a ``.fam``
        file) go into the store as columns; those that are columns of the table are there anyway, cut into 255 bins
        unless `bins` says otherwise.
    columns, drop
        Columns to keep, or to leave out: names, shell patterns (``"gene_*"``) or positions.
    memory
        How much memory this call may take beyond what the process holds already, such as ``"512MB"``; by default half
        of what the machine has available.
    bins
        Quantile bins of columns with more than 255 distinct values, 8 to 255; by default one for every 24 rows.
    many_categories : {"error", "drop", "frequency"}
        What to do with text columns of more than 254 categories.
    clean_names
        Rename columns whose names are empty, repeated, too long or hold control characters, instead of refusing them.
    delimiter, header, decimal, missing, transposed, categorical
        How a text file is written; see `fernwood.sources.text_format.TextFormat`.
    layer, dataset, key, empty_chunks
        What of a file is the table; see `fernwood.sources.table_form.TableForm`.
    force
        Replace a store that is there already.
    progress
        Called with a `Progress` now and then.

    Returns
    -------
    Store

    Raises
    ------
    SourceError, TargetError, StoreError, BudgetError, ParameterError
        With one sentence that says what is wrong; nothing is left behind.

    Notes
    -----
    Peak memory stays below `memory`; what is too large is turned from rows to columns in a scratch file beside the
    store, which needs 8 bytes a cell of disk while a text file, or an array of many rows in row order, is read, and
    of a sparse table that is stored by rows what its values and their rows take.

    Examples
    --------
    >>> import fernwood, numpy as np
    >>> store = fernwood.ingest(np.arange(12.0).reshape(4, 3), target=[0, 1, 0, 1])
    >>> store
    <MemoryStore: 4 rows, 3 columns>
    >>> store.read([2])
    array([[0, 1, 2, 3]], dtype=uint8)
    """
    _check_choices(task, bins, many_categories)
    budget = default_budget() if memory is None else parse_size(memory)
    form = TableForm(
        *(delimiter, header, decimal, _listed(missing), transposed, _listed(categorical)),
        *(layer, dataset, key, empty_chunks),
    )
    path = None if out is None else _on_disk(out)
    if path is not None:
        _check_output(path, force)
    table = open_source(source, form)
    if len(table.names) == 0:
        raise SourceError(f"{table.title} has no columns; a table needs some")
    if clean_names:
        table.names = cleaned(table.names)
    check_names(table.names)
    job = _Job(table, budget, bins, many_categories, progress or _silent)
    plan = GivenRoles(table, target=target, weights=weights, groups=groups, task=task, given=_listed(given))
    wanted = plan.candidates(None if columns is None else _listed(columns), None if drop is None else _listed(drop))
    with saying_shortage(), _disk_troubles(path):
        if path is None:
            with scratch_directory() as scratch:
                store: Store = job.to_memory(plan, wanted, scratch)
        else:
            with appearing_directory(path, replace=force) as directory:
                job.to_disk(plan, wanted, directory)
                _check_output(path, force)  # others may have made one meanwhile
            store = DiskStore(path)
    for note in store.notes:
        warnings.warn(note, FernwoodWarning, stacklevel=2)
    return store


class _Job:
    """One table on its way into one store."""

    def __init__(
        self,
        table: Source,
        budget: int,
        bins: int | None,
        many_categories: ManyCategories,
        progress: ProgressCallback,
    ) -> None:
        self._table = table
        self._budget = budget
        self._headroom = Headroom(budget, _MARGIN_BYTES)
        self._bins = bins
        self._many_categories = many_categories
        self._progress = progress

    def to_memory(self, plan: GivenRoles, wanted: NDArray[np.int64], scratch: Path) -> Store:
        # The codes stay, so they come off the budget that bands may use.
        n_kept = len(wanted) + plan.n_covariates
        with self._reading(plan, wanted, scratch, n_kept) as (reader, roles, bins):
            writer = MemoryWriter(reader.n_rows, n_kept)
            notes = self._fill(writer.append, reader, roles, wanted, bins, plan, kept=reader.n_rows * n_kept)
        self._refuse_nothing(writer.n_columns)
        return writer.finish(roles, notes)

    def to_disk(self, plan: GivenRoles, wanted: NDArray[np.int64], directory: Path) -> None:
        with self._reading(plan, wanted, directory, n_kept=0) as (reader, roles, bins):
            writer = DiskWriter(directory, reader.n_rows, bins)
            try:
                notes = self._fill(writer.append, reader, roles, wanted, bins, plan, kept=0)
                self._refuse_nothing(writer.n_columns)
                source = self._table.title.strip("'")
                writer.finish(roles, notes, source, self._table.n_bytes, f"fernwood {__version__}")
            finally:
                writer.abandon()

    @contextmanager
    def _reading(
        self, plan: GivenRoles, wanted: NDArray[np.int64], scratch: Path, n_kept: int
    ) -> Iterator[tuple[Reader, Roles, int]]:
        """The table as it is read, its roles, and how many bins there are; of `n_kept` columns the codes stay."""
        columns = np.concatenate((plan.positions, wanted))
        least_coding = _coding_bytes(0, len(wanted))
        workspace = Workspace(max(self._budget - least_coding, 1), scratch, self._progress)
        with ExitStack() as stack:
            try:
                reader = stack.enter_context(self._table.reading(columns, workspace))
            except BudgetError as error:
                raise self._too_small(error.least + least_coding) from error
            if reader.n_rows < 2:
                has = ("no row", "a single row")[reader.n_rows]
                raise SourceError(f"{self._table.title} has {has}; a table needs at least two")
            # Before roles are read: a small file may have more rows than the budget has room for in one column.
            next(self._bands(reader, len(plan.positions), len(wanted), reader.n_rows * n_kept), None)
            yield reader, plan.settle(reader, workspace), self._bins or bin_count(reader.n_rows)

    def _fill(
        self,
        append: Callable[[Any], None],
        reader: Reader,
        roles: Roles,
        wanted: NDArray[np.int64],
        bins: int,
        plan: GivenRoles,
        kept: int,
    ) -> list[str]:
        """Move the candidates, which the reader has behind the roles, and covariates into the store; the notes."""
        suspects = Suspects(roles.target, bins)
        first = len(plan.positions)

        with _Behind(append) as behind:
            for start, stop, n_bins in self._in_bins(self._bands(reader, first, len(wanted), kept), wanted, plan, bins):
                self._progress(Progress("storing", start, len(wanted), "columns"))
                positions = wanted[start:stop]
                every = self._table.names.take(positions)
                band, names = settle_categories(
                    _band(reader, first + start, first + stop), every, self._many_categories
                )
                if len(names) < len(every):
                    positions = positions[pc.is_in(every, value_set=names).to_numpy(zero_copy_only=False)]
                suspects.look_at_values(band, names)
                coded = code_band(band, names, n_bins).recorded(positions, len(self._table.names))
                suspects.look_at_codes(coded)
                behind.append(coded)
        if plan.n_covariates:
            workspace = Workspace(self._budget - kept, Path(), self._progress)  # some columns: no scratch is needed
            band, names = settle_categories(*plan.covariates(reader.n_rows, workspace), "error")
            append(code_band(band, names, self._bins or MAX_CODES).recorded())
        self._progress(Progress("storing", len(wanted), len(wanted), "columns"))
        return suspects.notes()

    def _in_bins(
        self, bands: Iterable[tuple[int, int]], wanted: NDArray[np.int64], plan: GivenRoles, bins: int
    ) -> Iterator[tuple[int, int, int]]:
        """Bands, and the bins of each; a covariate is a band by itself, in as many bins as there can be.

        What a covariate does inside a bin is not accounted for.
        """
        fine = [] if self._bins else np.flatnonzero(np.isin(wanted, plan.covariates_inside)).tolist()
        for start, stop in bands:
            for place in fine:
                if start <= place < stop:
                    if start < place:
                        yield start, place, bins
                    yield place, place + 1, MAX_CODES
                    start = place + 1
            if start < stop:
                yield start, stop, bins

    def _bands(self, reader: Reader, first: int, n_columns: int, kept: int) -> Iterator[tuple[int, int]]:
        """Where bands of the candidates, which the reader has from `first` on, begin and end."""
        stored = reader.stored()
        if stored is None:
            a_column = reader.n_rows * (8 + 1 + 1 + 1) + reader.overhead() + 4 * _RECORD_BYTES
            start = 0
            while start < n_columns:
                stop = min(start + self._room(reader, n_columns, kept, a_column) // a_column, n_columns)
                yield start, stop
                start = stop
            return
        sizes = reader.n_rows * (1 + 1 + 1) + 4 * _RECORD_BYTES + _STORED_BYTES * stored[first:]
        largest = int(sizes.max())
        ends = np.cumsum(sizes)
        start = 0
        while start < n_columns:
            before = int(ends[start - 1]) if start else 0
            room = self._room(reader, n_columns, kept, largest)
            stop = int(np.searchsorted(ends, before + room, side="right"))
            yield start, stop
            start = stop

    def _room(self, reader: Reader, n_columns: int, kept: int, a_column: int) -> int:
        """Bytes for a band: what fits beside coding, what the reader holds and what is kept; a column at least."""
        coding = _coding_bytes(reader.n_rows, n_columns) + kept
        room = self._budget - coding - reader.keeps - reader.caches
        if room < a_column:
            least = coding + reader.keeps + a_column
            # A reader caches up to half of its workspace: of a larger budget, half of what is more.
            half = least - _coding_bytes(0, n_columns)
            raise self._too_small(least + (half if reader.caches else min(half, reader.would_cache)))
        # Never by more than half: what else the process does at the same time must not make bands of a column each.
        spared = min(_MARGIN_BYTES + self._headroom.missing(), room // 2)
        return max(min(room - spared, _BAND_BYTES), a_column)

    def _too_small(self, least: int) -> BudgetError:
        return BudgetError(
            f"a memory budget of {shown_size(self._budget)} is too small for {self._table.title}; "
            f"at least {shown_size(least * 1.01)} would do",
            int(least * 1.01),
        )

    def _refuse_nothing(self, n_columns: int) -> None:
        if n_columns == 0:
            raise SourceError(f"no column of {self._table.title} is left beside the target; keep at least one")


class _Behind:
    """Appends bands on a thread of its own, one at a time and in order, so that the next one is coded meanwhile.

    A daemon: whoever stops an ingest does not wait for a disk that hangs.
    """

    def __init__(self, append: Callable[[CodedBand], None]) -> None:
        self._append = append
        self._bands: SimpleQueue[CodedBand | None] = SimpleQueue()
        self._outcomes: SimpleQueue[BaseException | None] = SimpleQueue()
        self._writing = False
        self._thread = threading.Thread(target=self._work, name="fernwood-write", daemon=True)

    def _work(self) -> None:
        while (coded := self._bands.get()) is not None:
            try:
                self._append(coded)
            except BaseException as error:  # noqa: BLE001  (raised again where the band came from)
                self._outcomes.put(error)
            else:
                self._outcomes.put(None)
            del coded

    def append(self, coded: CodedBand) -> None:
        """Wait for the band before, and let this one be written."""
        self._settle()
        self._bands.put(coded)
        self._writing = True

    def _settle(self) -> None:
        if self._writing:
            error = self._outcome()
            self._writing = False
            if error is not None:
                raise error

    def _outcome(self) -> BaseException | None:
        """How the band being written ended. Ctrl-C a moment before a wait would not end it, so it has to be short."""
        while True:
            alive = self._thread.is_alive()
            with suppress(Empty):
                return self._outcomes.get(timeout=_WAIT_S)
            if not alive:
                return MemoryError("the thread that writes has ended without a word")

    def __enter__(self) -> Self:
        check_threads()
        self._thread.start()
        return self

    def __exit__(self, failed: type[BaseException] | None, *_: object) -> None:
        try:
            if failed is None:
                self._settle()
        finally:
            self._bands.put(None)
            self._thread.join(_PARTING_S)


def _band(reader: Reader, start: int, stop: int) -> Band | SparseBand:
    return reader.band(start, stop) if reader.stored() is None else reader.sparse_band(start, stop)


def _coding_bytes(n_rows: int, n_columns: int) -> int:
    """What turning bands into a store takes beside them: a group of records being written, and a block being sorted."""
    return _SPARE_BYTES + 3 * _RECORD_BYTES * min(RECORDS_A_GROUP, n_columns) + 64 * max(n_rows, 2**17)


def _listed(given: Sequence[Any] | str | int) -> tuple[Any, ...]:
    """One text is a list of one, not of its letters; so is one position."""
    return (given,) if isinstance(given, str | int | np.integer) else tuple(given)


def _check_choices(task: Task | None, bins: int | None, many_categories: ManyCategories) -> None:
    if task is not None and task not in get_args(Task):
        raise ParameterError(f"task is {shown(task)}; give 'classification' or 'regression'")
    if many_categories not in get_args(ManyCategories):
        raise ParameterError(f"many_categories is {shown(many_categories)}; give 'error', 'drop' or 'frequency'")
    if bins is not None and bins not in range(_FEWEST_BINS, _MOST_BINS + 1):
        raise ParameterError(f"bins is {bins}; give a number from {_FEWEST_BINS} to {_MOST_BINS}")


def _on_disk(out: str | os.PathLike[str]) -> Path:
    place = as_place(out)
    if isinstance(place, Url):
        raise StoreError(
            f"a store is made on disk, and {shown(place)} is a URL; make it here, and copy the directory there"
        )
    try:
        return place.resolve() if is_link(place) else place
    except (OSError, ValueError, RuntimeError) as error:  # the last of these: links that lead nowhere but to themselves
        raise StoreError(f"{shown(place)} is no name that a store can have; choose a shorter, plainer one") from error


def _check_output(path: Path, force: bool) -> None:
    if exists(path) and not force:
        raise StoreError(f"{shown(path)} exists; choose another name or replace it with --force (force=True)")
    if exists(path) and not is_store(path) and exists(path) and not is_store(path):  # not just being replaced by others
        raise StoreError(f"{shown(path)} exists and is not a store, so it is not replaced; choose another name")


@contextmanager
def _disk_troubles(path: Path | None) -> Iterator[None]:
    """What the disk says, as one sentence."""
    try:
        yield
    except OSError as error:
        if isinstance(error, StoreError) or error.errno in (None, errno.ENOMEM):
            raise
        where = shown(path.parent.resolve().name or "/") if path is not None else "the scratch directory"
        if error.errno in {errno.ENOSPC, errno.EDQUOT}:
            raise StoreError(
                f"no space left on the device that holds {where}; free some, or write the store elsewhere"
            ) from error
        what = shown(error.filename) if error.filename else where
        raise StoreError(f"the disk refused: {error.strerror} ({what})") from error


def _silent(_: Progress) -> None:
    pass
