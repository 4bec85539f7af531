"""Scenes with many processes: readers beside a writer, two writers of one name, two of one run, onlookers.

Every scene gives what it counted, and what it saw that must not be.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import NamedTuple

import fernwood
from torture.crowd import seen_of
from torture.forking import Child, Ended, Forker, environment
from torture.jobs import answer_of, check_tidy, write_table

__all__ = ["SCENES", "Crowd", "Seen"]

_PATIENCE_S = 120.0
_LONG = ("--method", "subspace", "--q", "6", "--trees", "10", "--seed", "1", "--jobs", "2", "--quiet", "--draws")


class Seen(NamedTuple):
    """What a scene counted, and what was wrong."""

    counts: Counter[str]
    faults: list[str]


class Crowd:
    """The folder and the processes of scenes."""

    def __init__(self, folder: Path, forker: Forker) -> None:
        self.folder, self.forker = folder, forker
        self.tables = [folder / "a.csv", folder / "b.csv"]
        self.known: dict[str, str] = {}
        for seed, table in enumerate(self.tables):
            write_table(table, n_rows=150, n_columns=40 + seed, seed=seed)
            fernwood.ingest(table, table.with_suffix(".fern"), target="y").close()
            self.known.update([seen_of(table.with_suffix(".fern"))])

    def child(self, function: str, *arguments: object) -> Child:
        """A function of `torture.crowd` in a process of its own."""
        plain = [str(one) if isinstance(one, Path) else one for one in arguments]
        return self.forker.call(f"torture.crowd:{function}", *plain, cwd=self.folder)

    def command(self, *arguments: object) -> Child:
        """A command in a process of its own."""
        return self.forker.fernwood(*arguments, cwd=self.folder)


def readers_beside_a_writer(crowd: Crowd, seconds: float) -> Seen:
    """Threads and processes read a store that another process replaces all the time: whole, or gone for an instant."""
    store = crowd.folder / "read.fern"
    shutil.copytree(crowd.tables[0].with_suffix(".fern"), store)
    readers = [crowd.child("read_again", store, crowd.known, seconds, 3) for _ in range(2)]
    writer = crowd.child("replace_again", [str(table) for table in crowd.tables], store, seconds)
    seen, faults = _told(readers, seconds, ("whole", "gone"))
    wrote, more = _told([writer], seconds, ("done",))
    faults += more + [f"{what}: none" for what, n in (("whole", seen["whole"]), ("done", wrote["done"])) if not n]
    return Seen(seen + wrote, faults + _tidy(crowd, store))


def two_writers_of_a_name(crowd: Crowd, seconds: float) -> Seen:
    """Two processes replace one store all the time, and a third reads it: neither is refused."""
    store = crowd.folder / "twice.fern"
    shutil.copytree(crowd.tables[0].with_suffix(".fern"), store)
    reader = crowd.child("read_again", store, crowd.known, seconds, 1)
    writers = [crowd.child("replace_again", [str(table)], store, seconds) for table in crowd.tables]
    seen, faults = _told([reader], seconds, ("whole", "gone"))
    wrote, more = _told(writers, seconds, ("done",))
    if not wrote["done"]:
        more.append("nothing was written")
    return Seen(seen + wrote, faults + more + _tidy(crowd, store))


def two_new_stores_of_a_name(crowd: Crowd, seconds: float) -> Seen:
    """Two ingests to a name that is free, at the same time: one has it, the other is refused."""
    seen: Counter[str] = Counter()
    faults: list[str] = []
    for _ in range(max(int(seconds), 1)):
        store = crowd.folder / "new.fern"
        asked = [("ingest", table, "--target", "y", "--out", store, "--quiet") for table in crowd.tables]
        ended = [_end(child) for child in [crowd.command(*one) for one in asked]]
        winners = [number for number, one in enumerate(ended) if one.code == 0]
        if len(winners) == 1:
            wanted = fernwood.open(crowd.tables[winners[0]].with_suffix(".fern")).fingerprint
            if seen_of(store)[0] != wanted:
                faults.append("the store is not that of the one who was told so")
            seen["one has the name"] += 1
        else:
            faults.append(f"{len(winners)} were told that the name is theirs")
        faults += [one.err for one in ended if one.code and not (one.code == 2 and "exists; choose" in one.err)]
        faults += _tidy(crowd, store)
        shutil.rmtree(store)
    return Seen(seen, faults)


def two_writers_of_a_run(crowd: Crowd, seconds: float) -> Seen:
    """A run that is worked on refuses everybody else, goes on unharmed, and can be looked at all the time."""
    store, run = crowd.tables[0].with_suffix(".fern"), crowd.folder / "r"
    draws = int(2000 * max(seconds, 1))
    whole = _end(crowd.command("select", store, "--out", crowd.folder / "whole", *_LONG, draws))
    first = crowd.command("select", store, "--out", run, *_LONG, draws)
    while not (run / "checkpoint.npz").is_file() and first.wait(0.01) is None:
        pass
    looks = crowd.child("look_again", run, seconds)
    seen: Counter[str] = Counter()
    faults = [] if whole.code == 0 else [whole.err]
    while first.wait(0.0) is None:
        second = _end(crowd.command("resume", run, "--quiet"))
        if second.code == 2 and "another process works on the run 'r'; wait for it, or stop it" in second.err:
            seen["refused"] += 1
        elif first.wait(1.0) is None:
            faults.append(f"the second ended with {second.code}: {second.err}")
        forced = _end(crowd.command("export", run, "--to", "csv"))
        if forced.code != 0 and "holds no result yet" not in forced.err:
            faults.append(f"export: {forced.err}")
    if _end(first).code or not seen["refused"]:
        faults.append(f"the first ended with {_end(first).code}, {seen['refused']} were refused: {_end(first).err}")
    looked, more = _told([looks], seconds, ("working", "done", "result", "report", "not yet"))
    if answer_of(run) != answer_of(crowd.folder / "whole"):
        faults.append("the answer differs")
    shutil.rmtree(run)
    shutil.rmtree(crowd.folder / "whole")
    return Seen(seen + looked, faults + more)


def onlookers_of_a_result(crowd: Crowd, seconds: float) -> Seen:
    """A result that is written again and again, by a run that is stopped and gone on with, is whole for onlookers."""
    store, run = crowd.tables[0].with_suffix(".fern"), crowd.folder / "r"
    _end(crowd.command("select", store, "--out", run, *_LONG, 20))
    looks = [crowd.child("look_again", run, seconds) for _ in range(2)]
    seen: Counter[str] = Counter()
    while looks[0].wait(0.0) is None:
        again = _end(crowd.command("resume", run, "--quiet"))
        seen["written"] += again.code == 0
    looked, faults = _told(looks, seconds, ("working", "done", "result", "report"))
    shutil.rmtree(run)
    return Seen(seen + looked, faults)


def readers_of_one_cache(crowd: Crowd, seconds: float) -> Seen:
    """Processes that read a store at a URL share what they fetched; one of them is killed on the way."""
    store = crowd.tables[1].with_suffix(".fern")
    url = f"local://{store.resolve()}"
    readers = [crowd.child("read_again", url, crowd.known, seconds, 2) for _ in range(3)]
    readers.pop().wait(seconds / 3)
    killed = crowd.child("read_again", url, crowd.known, seconds, 2)
    killed.wait(seconds / 3)
    killed.kill()
    seen, faults = _told(readers, seconds, ("whole",))
    return Seen(seen, faults if seen["whole"] else [*faults, "nothing was read"])


def threads_of_kernels(crowd: Crowd, seconds: float) -> Seen:
    """Every selector on 1, 2 and 5 threads with Python's allocator checking what is written beyond its blocks."""
    store = crowd.tables[0].with_suffix(".fern")
    program = f"from torture.crowd import fit_again; fit_again({str(store)!r}, {seconds})"
    done = subprocess.run(
        [sys.executable, "-X", "faulthandler", "-c", program],
        env={**environment(), "PYTHONMALLOC": "debug"},
        capture_output=True,
        text=True,
        check=False,
        timeout=_PATIENCE_S + 4 * seconds,
    )
    if done.returncode:
        return Seen(Counter(), [f"code {done.returncode}: {done.stderr[-800:]}"])
    return _judged([json.loads(done.stdout)], ("same",))


SCENES = (
    readers_beside_a_writer,
    two_writers_of_a_name,
    two_new_stores_of_a_name,
    two_writers_of_a_run,
    onlookers_of_a_result,
    readers_of_one_cache,
    threads_of_kernels,
)


def _end(child: Child) -> Ended:
    ended = child.wait(_PATIENCE_S)
    if ended is None:
        return child.kill()._replace(err=f"no end after {_PATIENCE_S:g} s")
    return ended


def _told(children: list[Child], seconds: float, fine: tuple[str, ...]) -> tuple[Counter[str], list[str]]:
    """What children counted, and what of it must not be."""
    counts, faults = [], []
    for child in children:
        ended = child.wait(_PATIENCE_S + seconds)
        if ended is None or ended.code:
            faults.append("it hung" if ended is None else f"code {ended.code}: {ended.err[-800:]}")
            child.kill()
        else:
            counts.append(json.loads(ended.out))
    seen = _judged(counts, fine)
    return seen.counts, faults + seen.faults


def _judged(counts: list[dict[str, int]], fine: tuple[str, ...]) -> Seen:
    seen: Counter[str] = Counter()
    for one in counts:
        seen.update(one)
    return Seen(seen, [f"{n} × {what}" for what, n in seen.items() if what not in fine])


def _tidy(crowd: Crowd, store: Path) -> list[str]:
    """After one more ingest, the store is whole and nothing is left beside it."""
    last = _end(crowd.command("ingest", crowd.tables[0], "--target", "y", "--out", store, "--force", "--quiet"))
    try:
        check_tidy(crowd.folder)
    except AssertionError as error:
        return [str(error)]
    fingerprint, codes = seen_of(store)
    return (
        [] if last.code == 0 and crowd.known[fingerprint] == codes else [f"afterwards: {last.err or 'another store'}"]
    )
