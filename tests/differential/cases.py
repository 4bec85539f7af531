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
        """Whether the answer is that of a store: a learner of the user's gets its values, of four bytes each.

        Covariates that a fit names are cut more finely than a store cuts them that was made without knowing.
        """
        method = EVERYTHING[self.method]
        return (method.own_values or bool(getattr(method.estimator, "given", ()))) and WAYS[self.way].is_store


_table = functools.lru_cache(maxsize=64)(make_table)
"""Tables that are only looked at; one that is fitted is made anew."""


@functools.lru_cache(maxsize=256)
def _expected(method: str, kind: str, seed: int, *, from_store: bool) -> dict[str, Any]:
    table = make_table(kind, seed)
    new = table.frame if method in MODELS else None
    given = Given(stored(table)) if from_store else plain(table)
    return answer(EVERYTHING[method].estimator, given, new)


def expected(case: Case, seed: int) -> dict[str, Any]:
    """What the plain way says, a frame or a store made of it; neighbours in the list of cases share it."""
    return _expected(case.method, case.kind, seed, from_store=case.from_store)


def _fixed() -> tuple[list[Case], list[Case]]:
    """Every way meets one in three of the kinds of table, with one method after another: a quick part, and the rest.

    The quick part has every second of them, and one of every method.
    """
    names = list(EVERYTHING)
    # Shadows are read by lists of columns with repeats, which only stores outside of memory have to put together.
    quick = [Case("snowball", way, kind) for way in ("disk", "shards", "url", "blocks") for kind in ("rare", "single")]
    rest: list[Case] = []
    met: set[str] = set()
    for w, way in enumerate(WAYS):
        for k, kind in enumerate(KINDS):
            table = _table(kind, FIXED)
            if (w + k) % 3 or WAYS[way].slow:
                continue
            first = 7 * w + 3 * k
            for i in range(len(names)):
                case = Case(names[(first + i) % len(names)], way, kind)
                if case.fits(table) and case not in quick:
                    in_quick = (w + k) % 6 == 0 or case.method not in met
                    (quick if in_quick else rest).append(case)
                    met.add(case.method)
                    break
    return sorted(quick, key=_by_kind), sorted(rest, key=_by_kind)


def _by_kind(case: Case) -> tuple[str, str]:
    """Neighbours share what is expected."""
    return case.kind, case.method


def _long(seed: int) -> list[Case]:
    """Every method meets every kind of table, each on some of the ways."""
    rng, out = np.random.default_rng(seed), []
    for kind in KINDS:
        table = _table(kind, seed)
        for method in EVERYTHING:
            fitting = [case for way in WAYS if (case := Case(method, way, kind)).fits(table) and not WAYS[way].slow]
            chosen = rng.permutation(len(fitting))[:_WAYS_EACH]
            out += [fitting[i] for i in sorted(chosen)]
    for way in (name for name, of in WAYS.items() if of.slow):
        some = [
            case for method in METHODS for kind in KINDS if (case := Case(method, way, kind)).fits(_table(kind, seed))
        ]
        out += [some[i] for i in rng.choice(len(some), 2, replace=False)]
    return out


def both_parts(parameters: Sequence[tuple[str, ...]], *, of: int = 1, first: int = 0) -> list[Any]:
    """Parameters with the fixed seed before them, and again with the rotating one in the long part.

    The quick part has one in `of` of the fixed ones, from the `first` on; the others are left to the long part.
    """
    fixed = [
        pytest.param(FIXED, *some, id="-".join(some), marks=[pytest.mark.long] * ((i - first) % of != 0))
        for i, some in enumerate(parameters)
    ]
    return fixed + long_part(parameters)


def long_part(parameters: Sequence[tuple[str, ...]]) -> list[Any]:
    """Parameters with the rotating seed before them, of what takes too long to be done whenever tests are."""
    seed = rotating()
    return [pytest.param(seed, *some, id=f"{'-'.join(some)}-long", marks=pytest.mark.long) for some in parameters]


def cases() -> list[Any]:
    """Cases of both parts, as parameters: a seed and a case."""
    seed = rotating()
    quick, rest = _fixed()
    return [
        *(pytest.param(FIXED, case, id=str(case)) for case in quick),
        *(pytest.param(FIXED, case, id=str(case), marks=pytest.mark.long) for case in rest),
        *(pytest.param(seed, case, id=f"{case}-long", marks=pytest.mark.long) for case in _long(seed)),
    ]
