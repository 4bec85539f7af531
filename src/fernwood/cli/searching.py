"""A search on the command line: inside a budget, with progress, and its result for people or as JSON."""

from __future__ import annotations

import json
import os
import sys
import time
import warnings
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, NoReturn

import typer

from fernwood.budget import default_budget, parse_size, peak_resident, resident, shown_size
from fernwood.cli.lean import keep_pandas_out, too_small
from fernwood.cli.report import REPORT_NAME
from fernwood.cli.showing import print_table
from fernwood.device import open_card
from fernwood.errors import (
    BudgetError,
    ClusterError,
    DeviceError,
    FernwoodWarning,
    LearnerError,
    ParameterError,
    ShortageError,
    StoreError,
    printable,
    shown,
)
from fernwood.kernels.lean import forget_compiler
from fernwood.run.stopping import Stopped
from fernwood.run.view import ProgressView
from fernwood.shortage import MOST_THREADS

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Self

    from fernwood.result import Result
    from fernwood.run.directory import RunDirectory
    from fernwood.search.forecasting import Forecast
    from fernwood.search.methods import Settings
    from fernwood.search.selection import Selection
    from fernwood.store.base import Store
    from fernwood.work.engine import Engine

__all__ = ["SearchCommand"]

_STOPPED_EARLY = 3
_SLOW_SECONDS, _SLOW_SHARE = 1.0, 0.5
"""A disk is worth a word where threads waited for it for so long, and for such a share of their time."""


class SearchCommand:
    """What `select`, `resume` and `demo` have in common.

    Parameters
    ----------
    memory
        The most that the process may take, as a person writes it; empty for half of what is available.
    jobs
        Threads; 0 is one for every processor.
    quiet, as_json
        Print nothing, or JSON.
    report
        Write the report of a run too.
    call
        What was asked for, as a command that asks for it again.
    scheduler
        The address of a Dask scheduler whose workers do the work; empty for threads of this process.
    how
        What the search is told beside its settings: the device, which is opened here where it has to be there, so that
        what it takes of the process is counted, and that it is not there is said before a table is read.
    """

    def __init__(
        self,
        memory: str,
        jobs: int,
        *,
        quiet: bool = False,
        as_json: bool = False,
        report: bool = False,
        call: str = "",
        scheduler: str = "",
        how: dict[str, Any] | None = None,
    ) -> None:
        if not 0 <= jobs <= MOST_THREADS:
            raise ParameterError(
                f"--jobs is {jobs}; give a number of threads up to {MOST_THREADS}, or 0 for one for every processor"
            )
        self.memory = memory
        self.silent = quiet or as_json
        self.total = parse_size(memory) if memory else default_budget()
        self._n_threads = jobs or os.cpu_count() or 1
        self._as_json = as_json
        self._report = report
        self._call = call
        self._how = how or {}
        self._notes: list[str] = []
        self._reading: dict[str, Any] = {}
        self._started = time.monotonic()
        self._engine: Engine | None = None
        if self._how.get("device") == "cuda" and not scheduler:
            open_card()
        keep_pandas_out()  # before a store is opened
        if scheduler:
            from fernwood.work.cluster import connect

            self._engine = connect(scheduler)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._engine is not None:
            self._engine.close()

    def search(self, store: Store, settings: Settings, seed: int, directory: RunDirectory | None = None) -> Result:
        """Search a store, keep what comes of it in the run, and show it; when stopped early, exit with code 3."""
        if directory is None:
            selection = self._selection(store, settings, seed, None)
        else:
            selection = self._kept_selection(store, settings, seed, directory)
        self._show(selection.result, directory)
        if selection.stopped_by is not None:
            facts = selection.result.facts
            way_on = (
                f"go on with: fernwood resume {printable(str(directory.path))}"
                if directory is not None
                else "nothing is kept to go on with; --out RUN would keep it"
            )
            _leave(f"stopped {facts.how_far}; {way_on}")
        return selection.result

    def _kept_selection(self, store: Store, settings: Settings, seed: int, directory: RunDirectory) -> Selection:
        """Search a store inside of its run, and keep what comes of it there."""
        where = printable(str(directory.path))
        try:
            with directory.working(store, memory=self.total, n_threads=self._n_threads, whole=True, call=self._call):
                try:
                    selection = self._selection(store, settings, seed, directory)
                    directory.check_store()
                    _save(selection.result, directory)
                    if self._report:
                        selection.result.to_html(directory.path / REPORT_NAME)
                except (ClusterError, DeviceError, LearnerError, ShortageError, StoreError) as error:
                    raise type(error)(
                        f"{error}; what was done before is kept: mend that and go on with: fernwood resume {where}"
                    ) from error
        except Stopped:  # before the first round, or while the result was written
            _leave(f"stopped; go on with: fernwood resume {where}")
        return selection

    def forecast(self, store: Store, settings: Settings, seed: int) -> tuple[Forecast, int]:
        """What a search of a store would take, and what the process holds by itself."""
        from fernwood.search.forecasting import forecast

        held = self._loaded(store, settings) + store.fetching_bytes
        with self._inside_budget(held):
            memory = max(self.total - held, 1)
            told = forecast(store, settings, seed, n_threads=self._n_threads, memory=memory, **self._how)
        return told, held

    def _loaded(self, store: Store, settings: Settings) -> int:
        """What the process holds (interpreter, libraries, compiled code), which is part of what the user allows."""
        from fernwood.search.methods import load_method

        load_method(store, settings)
        forget_compiler()
        return resident()

    @contextmanager
    def _inside_budget(self, held: int) -> Iterator[None]:
        """Say of a budget that is too small what would do, the process itself included."""
        try:
            yield
        except BudgetError as error:
            raise too_small(self.total, held, error.least, given=bool(self.memory)) from error

    def _selection(self, store: Store, settings: Settings, seed: int, directory: RunDirectory | None) -> Selection:
        from fernwood.search.methods import select

        held = self._loaded(store, settings) + store.fetching_bytes
        started = time.perf_counter()
        with ProgressView(quiet=self.silent, memory=self.total) as view, warnings.catch_warnings(record=True) as notes:
            warnings.simplefilter("always", FernwoodWarning)
            with self._inside_budget(held):
                selection = select(
                    store,
                    settings,
                    seed,
                    n_threads=self._n_threads,
                    memory=max(self.total - held, 1),
                    directory=directory,
                    progress=view,
                    engine=self._engine,
                    **self._how,
                )
        self._reading = _reading(store, self._n_threads * (time.perf_counter() - started))
        self._notes = [*store.notes, *(str(note.message) for note in notes)]
        if not self.silent:
            for note in notes:
                typer.echo(f"warning: {note.message}", err=True)
        return selection

    def _show(self, result: Result, directory: RunDirectory | None) -> None:
        took = time.monotonic() - self._started
        if self._as_json:
            machine = {
                "seconds": round(took, 2),
                "peak_memory": peak_resident(),
                "memory": self.total,
                **self._reading,
            }
            typer.echo(json.dumps({**result.summary(), "warnings": self._notes, "machine": machine}, indent=1))
            return
        if self.silent:
            return
        if len(result.confirmed) or len(result.tentative):
            print_table(result)
        facts = result.facts
        n_confirmed, n_tentative = len(result.confirmed), len(result.tentative)
        typer.echo(
            f"{n_confirmed:,} confirmed and {n_tentative:,} tentative of {facts.n_columns:,} columns, for the target "
            f"{shown(facts.target)} ({facts.task}, {facts.n_rows:,} rows)"
        )
        slow = _said_of_reading(self._reading)
        for sentence in filter(None, (result.why_nothing(), *result.remarks(), slow)):
            typer.echo(printable(sentence))
        limit = f" of {shown_size(self.total)}{'' if self.memory else ', half of what is available'}"
        if facts.method == "snowball":
            effort = f"false discovery rate {facts.parameters['fdr']:g}, {result.median_draws:g} contexts a column"
        elif facts.method == "boruta":
            effort = f"{facts.n_draws:,} iterations, {result.median_draws:g} a column"
        elif facts.method in ("elimination", "filter"):
            errors = _errors_of(facts.elimination) if facts.elimination else ""
            effort = f"{facts.n_draws:,} calls of the learner{errors}, {result.median_draws:g} a column"
        else:
            what = "ferns " if facts.method == "ferns" else ""
            effort = (
                f"{facts.n_draws:,} draws of {facts.parameters['q']:,} columns, {result.median_draws:g} {what}a column"
            )
        typer.echo(
            f"{effort} (median), seed {facts.seed}; {took:.1f} s, peak memory {shown_size(peak_resident())}{limit}"
        )
        if directory is not None:
            where = printable(str(directory.path))
            typer.echo(f"kept in {where}; decisions for all columns: fernwood export {where} --to csv")
            if self._report:
                typer.echo(f"the report is {printable(str(directory.path / REPORT_NAME))}; open it in a browser")


def _reading(store: Store, thread_seconds: float) -> dict[str, Any]:
    """What was asked of the disk, and the share of the threads' time that they waited for it."""
    from fernwood.store import FileStore

    if not isinstance(store, FileStore):
        return {}
    share = store.seconds_reading / max(thread_seconds, 1e-9)
    reading = {
        "bytes_read": store.bytes_read,
        "seconds_reading": round(store.seconds_reading, 2),
        "share_reading": round(min(share, 1.0), 3),
    }
    fetched = getattr(store, "bytes_fetched", None)
    return reading if fetched is None else {**reading, "bytes_fetched": fetched}


def _said_of_reading(reading: dict[str, Any]) -> str:
    """That the disk is what a search waited for, where it was."""
    if not reading or reading["seconds_reading"] < _SLOW_SECONDS or reading["share_reading"] < _SLOW_SHARE:
        return ""
    if "bytes_fetched" in reading:
        return (
            f"the search waited for its store for {100 * reading['share_reading']:.0f} % of its time, and fetched "
            f"{shown_size(reading['bytes_fetched'])}; a copy on disk, or FERNWOOD_CACHE, would shorten the next one"
        )
    rate = reading["bytes_read"] / reading["seconds_reading"]
    return (
        f"the search waited for the disk for {100 * reading['share_reading']:.0f} % of its time: it gives "
        f"{shown_size(rate)}/s to a thread, and a faster one would shorten the search"
    )


def _errors_of(elimination: dict[str, Any]) -> str:
    """The error with all columns, and that of the last selection."""
    trace = elimination["trace"]
    accepted = [error for error, taken in zip(trace["error"], trace["accepted"], strict=True) if taken]
    return f", error {accepted[0]:.4g} with all columns and {accepted[-1]:.4g} at the end" if accepted else ""


def _save(result: Result, directory: RunDirectory) -> None:
    from fernwood.saved import save_result

    try:
        save_result(result, directory.path)
    except OSError as error:
        raise StoreError(
            f"the result of {shown(directory.path.name)} cannot be written: {error.strerror or error}"
        ) from error


def _leave(sentence: str) -> NoReturn:
    sys.stderr.write(f"fernwood: {sentence}\n")
    raise typer.Exit(_STOPPED_EARLY)
