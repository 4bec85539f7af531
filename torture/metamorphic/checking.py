"""Whether a relation holds for a search or a model: what differs, in words; nothing where it holds."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from fernwood.search.methods import select
from torture.metamorphic.methods import MODELS, SEARCHES, THOROUGH, answer_of, decisions, model_answer
from torture.metamorphic.relations import EXACT, FOUND
from torture.metamorphic.tables import make_table
from torture.metamorphic.ways import WAYS, stopped_everywhere

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from fernwood.result import Result
    from torture.metamorphic.relations import Relation
    from torture.metamorphic.tables import Table

__all__ = ["Found", "cases", "differs", "exact", "found", "found_cases", "models", "resumed", "way"]

_MORE_ROWS = 400


@functools.lru_cache(maxsize=64)
def _plain(name: str, task: str, seed: int) -> dict[str, Any]:
    """What a search says of a table as it is."""
    return decisions(answer_of(name, make_table(task, seed).store()))


def differs(first: dict[str, Any], second: dict[str, Any]) -> str:
    """Where two answers differ, in the columns of the first; empty where they do not."""
    for column, said in first.items():
        if second.get(column) != said:
            return f"{column}: {said} is now {second.get(column)}"
    return ""


def _changed(relation: Relation, task: str, seed: int) -> Table:
    return relation.change(make_table(task, seed), np.random.default_rng(seed + 1000))


def exact(relation: str, name: str, task: str, seed: int) -> str:
    """What a relation changes in the answer of a search, which it should not."""
    other = _changed(EXACT[relation], task, seed)
    return differs(_plain(name, task, seed), decisions(answer_of(name, other.store()), other.was))


def models(relation: str, name: str, seed: int) -> str:
    """What a relation changes in what a model says, which it should not."""
    task = MODELS[name][1]
    other = _changed(EXACT[relation], task, seed)
    first, second = model_answer(name, make_table(task, seed)), model_answer(name, other)
    if task == "regression" and relation.startswith("target"):
        del first["rows"], second["rows"]  # they are in the units of the target
    for about in ("feature_importances_", "shadow_importances_"):
        if about in first:
            second[about] = {column: second[about][column] for column in first[about]}
    return "" if first == second else f"{[about for about in first if first[about] != second[about]]} differ"


class Found(NamedTuple):
    """What a search found in a changed table.

    Attributes
    ----------
    missing : columns that clearly tell, and were not found
    n_told : how many there are of them
    false_share : of what was found
    """

    missing: list[str]
    n_told: int
    false_share: float


def found(relation: str, name: str, task: str, seed: int) -> Found:
    """What a thorough search finds in a changed table of more rows, and finds in vain."""
    table = make_table(task, seed, n_rows=_MORE_ROWS, n_columns=40)
    other = FOUND[relation].change(table, np.random.default_rng(seed + 1000))
    confirmed = set(_named(select(other.store(), THOROUGH[name][0], seed).result))
    missing = [column for column in other.told if column not in confirmed]
    return Found(missing, len(other.told), len(confirmed - set(other.told)) / max(len(confirmed), 1))


def found_cases() -> list[tuple[str, str, str]]:
    """Every relation that leaves columns found, thorough search and task that belong together."""
    return [
        (about, name, task)
        for about, relation in FOUND.items()
        for name in THOROUGH
        for task in SEARCHES[name].tasks
        if relation.holds_for(SEARCHES[name], task)
    ]


def _named(result: Result) -> list[str]:
    return list(result.names.take(result.confirmed).to_pylist())


def way(about: str, name: str, task: str, seed: int, folder: Path) -> str:
    """What another way to the answer changes in it."""
    return differs(_plain(name, task, seed), decisions(WAYS[about](name, make_table(task, seed), folder)))


def resumed(name: str, task: str, seed: int, folder: Path) -> Iterator[tuple[int, str]]:
    """Where a search was stopped, and what going on from there changed."""
    for stop, result in stopped_everywhere(name, make_table(task, seed), folder):
        yield stop, differs(_plain(name, task, seed), decisions(result))


def cases() -> list[tuple[str, str, str]]:
    """Every relation that leaves all numbers as they are, search and task that belong together."""
    return [
        (about, name, task)
        for about, relation in EXACT.items()
        for name, search in SEARCHES.items()
        for task in search.tasks
        if relation.holds_for(search, task)
    ]
