"""Tables changed in ways whose effect on the answer is known, over all searches and models, table after table."""

from __future__ import annotations

import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING

from torture.metamorphic import checking
from torture.metamorphic.methods import MODELS, SEARCHES, THOROUGH
from torture.metamorphic.relations import EXACT
from torture.metamorphic.uncompiled import both_ways
from torture.metamorphic.ways import WAYS
from torture.part import Bar, Part

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from torture.part import Asked

__all__ = ["PART"]

_RATE = 0.1
"""The rate of false discoveries that the searches are asked for."""
_FOUND = 0.99
"""Share of clearly telling columns that a changed table must still show; the others are chance, at these few rows."""
_TASKS = ("classification", "regression")

Case = tuple[str, str]
"""What was tried, and what was wrong with it: nothing, most likely."""


class _Ledger:
    """How many cases of a kind there were, and what was wrong in them."""

    def __init__(self, about: str, unit: str) -> None:
        self._about, self._unit = about, unit
        self._n = 0
        self.wrong: list[str] = []

    def add(self, cases: Iterator[Case]) -> None:
        """Go through some cases."""
        for about, wrong in cases:
            self._n += 1
            if wrong:
                self.wrong.append(f"{about}: {wrong}")

    def bar(self) -> Bar:
        """All of them must have been right."""
        shown = f"; first: {self.wrong[0][:300]}" if self.wrong else ""
        measured = f"{self._n:,} {self._unit}, {len(self.wrong)} differ{shown}"
        return Bar(self._about, "0 differences", measured, not self.wrong)


class _Finds:
    """What thorough searches found in changed tables."""

    def __init__(self) -> None:
        self._n_told = self._n_missing = 0
        self._shares: list[float] = []

    def add(self, seed: int, asked: Asked) -> None:
        """Go through all relations and searches on one table."""
        for relation, name, task in checking.found_cases():
            found = checking.found(relation, name, task, seed)
            self._n_told += found.n_told
            self._n_missing += len(found.missing)
            if found.missing:
                asked.tell(f"{relation}, {name}, {task}, seed {seed}: {', '.join(found.missing)} not found")
            if THOROUGH[name][1]:
                self._shares.append(found.false_share)

    def bars(self) -> list[Bar]:
        """What clearly tells is found, and little else."""
        share = 1 - self._n_missing / self._n_told
        rate = sum(self._shares) / len(self._shares)
        return [
            Bar(
                "columns that clearly tell, found after a change of rows, signs, copies or noise",
                f"{_FOUND:.0%}",
                f"{share:.2%} of {self._n_told:,}",
                share >= _FOUND,
            ),
            Bar(
                "false share of what searches with a rate confirm in the changed tables",
                f"{_RATE:g} on average",
                f"{rate:.3f} over {len(self._shares):,} searches",
                rate <= _RATE,
            ),
        ]


def _exact(seed: int) -> Iterator[Case]:
    for relation, name, task in checking.cases():
        yield f"{relation}, {name}, {task}, seed {seed}", checking.exact(relation, name, task, seed)


def _models(seed: int) -> Iterator[Case]:
    for relation, change in EXACT.items():
        for name, (_, task) in MODELS.items():
            if change.models and task in change.tasks:
                yield f"{relation}, {name}, seed {seed}", checking.models(relation, name, seed)


def _ways(seed: int) -> Iterator[Case]:
    for name, search in SEARCHES.items():
        for task in search.tasks:
            with tempfile.TemporaryDirectory(prefix="torture-") as folder:
                for about in WAYS:
                    wrong = checking.way(about, name, task, seed, Path(folder))
                    yield f"{about}, {name}, {task}, seed {seed}", wrong


def _stops(seed: int) -> Iterator[Case]:
    for name, search in SEARCHES.items():
        for task in search.tasks:
            with tempfile.TemporaryDirectory(prefix="torture-") as folder:
                for stop, wrong in checking.resumed(name, task, seed, Path(folder)):
                    yield f"{name}, {task}, seed {seed}, stop {stop}", wrong


def _plain(seed: int) -> Iterator[Case]:
    for task in _TASKS:
        names = [name for name, search in SEARCHES.items() if task in search.tasks]
        yield f"{task}, seed {seed}", both_ways(names, task, seed)


def _run(asked: Asked) -> Sequence[Bar]:
    ends = time.monotonic() + 60 * asked.minutes
    ledgers = {
        _exact: _Ledger("changes of a table that leave every number of the answer as it is", "cases"),
        _models: _Ledger("the same for what models predict", "cases"),
        _ways: _Ledger("threads, budgets, blocks, stores and files", "runs"),
        _stops: _Ledger("searches stopped at every point, and gone on", "stops"),
        _plain: _Ledger("compiled code and plain Python", "sets of all searches"),
    }
    finds = _Finds()
    seed = asked.seed
    while seed == asked.seed or time.monotonic() < ends:
        for cases, ledger in ledgers.items():
            ledger.add(cases(seed))
        finds.add(seed, asked)
        seed += 1
        n_wrong = sum(len(ledger.wrong) for ledger in ledgers.values())
        asked.tell(f"{seed - asked.seed} tables of each kind, {n_wrong} differences")
    return [*(ledger.bar() for ledger in ledgers.values()), *finds.bars()]


PART = Part("metamorphic", "changes of a table whose effect on the answer is known", 20, _run)
