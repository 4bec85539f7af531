"""Which tables meet which methods and ways: a fixed part of all that there are, or another part for every seed."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import pytest

from tests.differential.methods import METHODS, MODELS, Given, Method, answer
from tests.differential.seeds import FIXED, rotating
from tests.differential.tables import KINDS, Table, make_table
from tests.differential.ways import WAYS, plain, stored

__all__ = ["EVERYTHING", "Case", "both_parts", "cases", "expected", "long_part"]

EVERYTHING: dict[str, Method] = {**METHODS, **MODELS}
_WAYS_EACH = 4
"""Ways in for every method and kind of table in the long part."""


class Case(NamedTuple):
    method: str
    way: str
    kind: str

    def __str__(self) -> str:
        return "-".join(self)

    def fits(self, table: Table) -> bool:
        """Whether the way takes such a table; a learner of the user's is given no sparse one."""
        method, way = EVERYTHING[self.method], WAYS[self.way]
        taken = method.takes_stores or not (way.is_store or self.way == "polars-lazy")
        return taken and method.takes(table) and way.takes(table) and not (method.own_values and way.is_sparse)

    @property
    def from_store(self) -> bool:
        """Whether a learner of the user's gets the values that a store has, of four bytes each, and not its own."""
        return EVERYTHING[self.method].own_values and WAYS[self.way].is_store


@functools.lru_cache(maxsize=256)
def _expected(method: str, kind: str, seed: int, *, from_store: bool) -> dict[str, Any]:
    table = make_table(kind, seed)
    new = table.frame if method in MODELS else None
    given = Given(stored(table)) if from_store else plain(table)
    return answer(EVERYTHING[method].estimator, given, new)


def expected(case: Case, seed: int) -> dict[str, Any]:
    """What the plain way says, a frame or a store made of it; neighbours in the list of cases share it."""
    return _expected(case.method, case.kind, seed, from_store=case.from_store)


def _quick() -> list[Case]:
    """Every way meets one in three of the kinds of table, with one method after another."""
    names = list(EVERYTHING)
    # Shadows are read by lists of columns with repeats, which only stores outside of memory have to put together.
    out = [Case("snowball", way, kind) for way in ("disk", "shards", "url", "blocks") for kind in ("rare", "single")]
    for w, way in enumerate(WAYS):
        for k, kind in enumerate(KINDS):
            table = make_table(kind, FIXED)
            if (w + k) % 3 or WAYS[way].slow:
                continue
            first = 7 * w + 3 * k
            for i in range(len(names)):
                case = Case(names[(first + i) % len(names)], way, kind)
                if case.fits(table) and case not in out:
                    out.append(case)
                    break
    return sorted(out, key=lambda case: (case.kind, case.method))


def _long(seed: int) -> list[Case]:
    """Every method meets every kind of table, each on some of the ways."""
    rng, out = np.random.default_rng(seed), []
    for kind in KINDS:
        table = make_table(kind, seed)
        for method in EVERYTHING:
            fitting = [case for way in WAYS if (case := Case(method, way, kind)).fits(table) and not WAYS[way].slow]
            chosen = rng.permutation(len(fitting))[:_WAYS_EACH]
            out += [fitting[i] for i in sorted(chosen)]
    for way in (name for name, of in WAYS.items() if of.slow):
        some = [
            case
            for method in METHODS
            for kind in KINDS
            if (case := Case(method, way, kind)).fits(make_table(kind, seed))
        ]
        out += [some[i] for i in rng.choice(len(some), 2, replace=False)]
    return out


def both_parts(parameters: Sequence[tuple[str, ...]]) -> list[Any]:
    """Parameters with the fixed seed before them, and again with the rotating one in the long part."""
    return [pytest.param(FIXED, *some, id="-".join(some)) for some in parameters] + long_part(parameters)


def long_part(parameters: Sequence[tuple[str, ...]]) -> list[Any]:
    """Parameters with the rotating seed before them, of what takes too long to be done whenever tests are."""
    seed = rotating()
    return [pytest.param(seed, *some, id=f"{'-'.join(some)}-long", marks=pytest.mark.long) for some in parameters]


def cases() -> list[Any]:
    """Cases of both parts, as parameters: a seed and a case."""
    seed = rotating()
    quick = [pytest.param(FIXED, case, id=str(case)) for case in _quick()]
    return quick + [pytest.param(seed, case, id=f"{case}-long", marks=pytest.mark.long) for case in _long(seed)]
