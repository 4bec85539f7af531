"""Ways to the same answer: threads, budgets, blocks, stores and files, and stops on the way, none of which may show."""

from __future__ import annotations

from contextlib import ExitStack
from functools import partial
from typing import TYPE_CHECKING, Any
from unittest.mock import patch

import fernwood
from fernwood.errors import BudgetError
from fernwood.run.directory import RunDirectory, RunManifest
from fernwood.search.methods import select
from fernwood.store.writer import DiskWriter
from torture.metamorphic.methods import SEARCHES, answer_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from fernwood.result import Result
    from torture.metamorphic.tables import Table

__all__ = ["WAYS", "stopped_everywhere"]

_SEED = 5


def _threads(name: str, table: Table, _: Path) -> Result:
    return answer_of(name, table.store(), n_threads=3)


def _least_memory(name: str, table: Table, _: Path) -> Result:
    """In the least that the search says it can do with."""
    store = table.store()
    try:
        return answer_of(name, store, memory=1)
    except BudgetError as error:
        return answer_of(name, store, memory=error.least)


def _small_blocks(name: str, table: Table, _: Path) -> Result:
    """A few columns at a time, wherever columns come in blocks."""
    n_rows = len(table.frame)
    with ExitStack() as stack:
        for where in ("run.plan", "search.filter", "search.fitting"):
            stack.enter_context(patch(f"fernwood.{where}._BLOCK_BYTES", 5 * n_rows))
        return answer_of(name, table.store(), n_threads=2)


def _on_disk(name: str, table: Table, folder: Path) -> Result:
    """In a store of narrow shards, opened again."""
    narrow = partial(DiskWriter, shard_bytes=3 * len(table.frame))
    with patch("fernwood.store.ingest.DiskWriter", narrow):
        table.store(folder / "t.fern")
    return answer_of(name, fernwood.open(folder / "t.fern"))


def _from_parquet(name: str, table: Table, folder: Path) -> Result:
    table.frame.to_parquet(folder / "t.parquet")
    return answer_of(name, fernwood.ingest(folder / "t.parquet", **table.roles()))


def _from_text(name: str, table: Table, folder: Path) -> Result:
    # "none" is a category here, and no word for missing values.
    table.frame.to_csv(folder / "t.csv", index=False)
    return answer_of(name, fernwood.ingest(folder / "t.csv", missing=[""], **table.roles()))


WAYS: dict[str, Callable[[str, Table, Path], Result]] = {
    "threads": _threads,
    "the least memory": _least_memory,
    "small blocks": _small_blocks,
    "a store on disk": _on_disk,
    "a Parquet file": _from_parquet,
    "a text file": _from_text,
}


def stopped_everywhere(name: str, table: Table, folder: Path) -> Iterator[tuple[int, Result]]:
    """Stop a search at every point where it can be, one after another, and go on to the end from each."""
    store, settings = table.store(), SEARCHES[name].settings
    stop = 0
    while True:
        manifest = RunManifest(settings.method, settings.to_json(), _SEED, store.fingerprint, "")
        run = RunDirectory.of_memory(folder / f"run {stop}", manifest)
        if not _is_stopped(store, name, run, stop):
            return
        yield stop, answer_of(name, store, directory=run)
        stop += 1


def _is_stopped(store: Any, name: str, run: RunDirectory, stop: int) -> bool:
    left = stop

    def interrupt(_: Any) -> None:
        nonlocal left
        if not left:
            raise KeyboardInterrupt
        left -= 1

    return select(store, SEARCHES[name].settings, _SEED, directory=run, progress=interrupt).stopped_by is not None
