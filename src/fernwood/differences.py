"""In what two runs differ: their data, method, parameters, seed and versions, each looked at whatever the others say.

`there` is the first of two runs and `here` is the second, in all sentences.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from fernwood.errors import printable, shown

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from fernwood.result import Facts, Result

__all__ = ["Difference", "Pair", "differences_of"]

_NAMED = 10
_NAMED_IN_A_SENTENCE = 3


@dataclass(frozen=True)
class Difference:
    """Something that two runs do not have in common: `what` in a word (data, method, seed, a parameter, …)."""

    what: str
    said: str


class Pair:
    """Two results, and where the columns that both have stand in each.

    Attributes
    ----------
    there, here : the results
    in_both_there, in_both_here : int64 arrays; positions of columns of the same name, in the order of the table here
    only_there, only_here : columns of one table alone: how many, and the names of the first
    """

    def __init__(self, there: Result, here: Result) -> None:
        self.there, self.here = there, here
        known, wanted = (pa.chunked_array([run for _, run in result.names.runs()]) for result in (there, here))
        found = pc.index_in(wanted, value_set=known)
        self.in_both_here = np.flatnonzero(found.is_valid().to_numpy())
        self.in_both_there = found.drop_null().to_numpy().astype(np.int64)

    @cached_property
    def only_there(self) -> tuple[int, list[str]]:
        """Columns of the table there alone."""
        return _alone(self.there, self.in_both_there)

    @cached_property
    def only_here(self) -> tuple[int, list[str]]:
        """Columns of the table here alone."""
        return _alone(self.here, self.in_both_here)


def _alone(result: Result, known: NDArray[np.int64]) -> tuple[int, list[str]]:
    others = np.ones(len(result.draws), bool)
    others[known] = False
    places = np.flatnonzero(others)
    return len(places), list(result.names.take(places[:_NAMED]).to_pylist())


def differences_of(pair: Pair) -> list[Difference]:
    """In what two runs differ, what matters most first."""
    there, here = pair.there.facts, pair.here.facts
    found = _other_data(pair)
    if there.method != here.method:
        found.append(Difference("method", f"method: {there.method} there, {here.method} here"))
    names = there.parameters.keys() & here.parameters.keys()
    if there.method == here.method:
        names = there.parameters.keys() | here.parameters.keys()
    elif there.parameters.get("given") or here.parameters.get("given"):
        names |= {"given"}  # of the data rather than of a method
    for name in sorted(names):
        before, after = there.parameters.get(name), here.parameters.get(name)
        if before != after and not (name == "given" and _same_columns(before, after)):
            found.append(Difference(name, f"{name}: {_plain(before)} there, {_plain(after)} here"))
    if there.seed != here.seed:
        found.append(Difference("seed", f"seed: {there.seed} there, {here.seed} here"))
    for name in sorted(there.versions.keys() | here.versions.keys()):
        before, after = there.versions.get(name), here.versions.get(name)
        if before != after:
            found.append(Difference(f"version of {name}", f"{name}: {_plain(before)} there, {_plain(after)} here"))
    for where, facts in (("there", there), ("here", here)):
        if not facts.finished:
            found.append(Difference("stopped early", f"the run {where} stopped {facts.how_far}"))
    return found


def _same_columns(before: object, after: object) -> bool:
    """Whether two lists of columns have the same ones, in whatever order."""
    return isinstance(before, list) and isinstance(after, list) and set(before) == set(after)


def _other_data(pair: Pair) -> list[Difference]:
    """In what the tables differ; where they do and nothing of it is known, at least that."""
    there, here = pair.there.facts, pair.here.facts
    if there.fingerprint == here.fingerprint:
        return []
    found = []
    if there.n_rows != here.n_rows:
        found.append(Difference("rows", f"rows: {there.n_rows:,} there, {here.n_rows:,} here"))
    found += _other_columns(pair)
    for what in ("target", "task"):
        before, after = getattr(there, what), getattr(here, what)
        if before != after:
            found.append(Difference(what, f"{what}: {_plain(before)} there, {_plain(after)} here"))
    same_rows = there.n_rows == here.n_rows
    found += _other_roles(there, here, same_rows=same_rows)
    known = bool(there.roles and here.roles)
    if same_rows and len(pair.in_both_here):  # else all values are others
        if pair.there.contents is None or pair.here.contents is None:
            known = False
        else:
            found += _other_values(pair)
    if not known and same_rows:
        data = [printable(facts.fingerprint[:8]) for facts in (there, here)]
        also = "" if not found else "also "
        said = f"data: {also}perhaps other values, weights or groups: results of before these were kept do not say"
        found.append(Difference("data", f"{said} ({data[0]} there, {data[1]} here)"))
    elif not found:
        found.append(Difference("data", "data: other rows, or values that stand for the same"))
    return found


def _other_columns(pair: Pair) -> list[Difference]:
    """Columns of one table alone, of which there may be as many as of the other; else another order."""
    n_there, n_here = len(pair.there.draws), len(pair.here.draws)
    if n_there != n_here:
        return [Difference("columns", f"columns: {n_there:,} there, {n_here:,} here")]
    n_other, names = pair.only_there
    if n_other:
        named = f"{_listed(names, n_other)} only there, {_listed(pair.only_here[1], n_other)} only here"
        return [Difference("columns", f"columns: {n_other:,} of {n_there:,} have other names, {named}")]
    if (np.diff(pair.in_both_there) < 0).any():
        return [Difference("order of columns", "order of columns: another one there than here")]
    return []


def _other_roles(there: Facts, here: Facts, *, same_rows: bool) -> list[Difference]:
    """Weights and groups that one of them has, or that are others; a target of other values."""
    found = []
    for what in ("target", "weights", "groups"):
        before, after = there.roles.get(what), here.roles.get(what)
        if before is None or after is None or before == after:
            continue
        if not (before and after):
            said = f"{what}: {'some' if before else 'none'} there, {'some' if after else 'none'} here"
            found.append(Difference(what, said))
        elif same_rows and (what != "target" or there.task == here.task):
            found.append(Difference(what, f"{what}: other values there than here"))
    return found


def _other_values(pair: Pair) -> list[Difference]:
    """Columns of the same name that hold others."""
    assert pair.there.contents is not None  # noqa: S101  (looked at before)
    assert pair.here.contents is not None  # noqa: S101
    other = pair.there.contents[pair.in_both_there] != pair.here.contents[pair.in_both_here]
    n_other = int(np.count_nonzero(other))
    if not n_other:
        return []
    names = list(pair.here.names.take(pair.in_both_here[other][:_NAMED]).to_pylist())
    said = f"values: {n_other:,} of {len(other):,} columns that both have hold others ({_listed(names, n_other)})"
    return [Difference("values", said)]


def _listed(names: list[str], n: int) -> str:
    shown_names = ", ".join(map(shown, names[:_NAMED_IN_A_SENTENCE]))
    return shown_names + (", …" if n > _NAMED_IN_A_SENTENCE else "")


def _plain(value: object) -> str:
    return shown(value) if isinstance(value, str) else shown(repr(value))[1:-1]
