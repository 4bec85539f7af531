"""Mutants: what is mutated, what is left alone, and that the list of equivalent ones is of mutants that exist."""

from __future__ import annotations

import ast

import pytest

from torture.mutant_runs import tasks
from torture.mutating import mutants
from torture.parts.mutants import equivalents


@pytest.mark.parametrize(
    ("source", "wanted"),
    [
        ("x = a < b", ["x = a <= b", "x = a >= b"]),
        ("x = a and b", ["x = a or b"]),
        ("x = not a", ["x = a"]),
        ("x = 3", ["x = 4", "x = 2"]),
        ("x = 0.0", ["x = 1.0"]),
        ("x = True", ["x = False"]),
        ("x = 'word'", ["x = ''"]),
        ("x = f(a, side='left')", ["x = f(a)", "x = f(a, side='right')"]),
        ("x = np.minimum(a, b)", ["x = np.maximum(a, b)"]),
        ("x = a if c else b", ["x = b if c else a"]),
        ("x[i] = a", ["pass"]),
        ("x += a", ["pass", "x -= a"]),
        ("f(a)", ["pass"]),
        ("if c:\n    raise e", ["if not c:", "pass"]),
        ("def f() -> None:\n    return a", ["return None"]),
    ],
)
def test_what_is_mutated(source: str, wanted: list[str]) -> None:
    assert [mutant.becomes for mutant in mutants(source)] == wanted


@pytest.mark.parametrize(
    "source",
    [
        '"""A docstring."""',
        "__all__ = ['a', 'b']",
        "if TYPE_CHECKING:\n    x = 1",
        "x: Literal['a', 1]",
        "@dataclass(frozen=True)\nclass A(B):\n    x: int",
        "def f(a: Literal[1]) -> Literal[2]:\n    'What it does.'",
    ],
)
def test_what_is_left_alone(source: str) -> None:
    assert list(mutants(source)) == []


def test_every_mutant_is_one_change_of_the_room() -> None:
    found = tasks()
    assert len(found) > 500
    for task in found[::7]:
        ast.parse(task.mutant.text)
        assert task.mutant.was != task.mutant.becomes
    assert {task.mutant.place for task in found} >= {
        "",
        "tail_chances",
        "_TestingRule.judge",
        "Evidence.mean_importance",
    }


def test_mutants_listed_as_equivalent_exist_and_say_why() -> None:
    """Whether they do survive is for `python -m torture mutants` to say."""
    listed = equivalents()
    assert set(listed) <= {task.named for task in tasks()}
    assert all(len(why.split()) > 3 for why in listed.values())
