"""Target, weights and groups: what a manifest of a stranger may not say of them, and what a table is told about its own."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import fernwood
from fernwood.errors import TargetError
from fernwood.store.roles import Roles, Target

LABELS, NUMBERS = np.array([0, 1, 0], np.int32), np.array([0.5, 1.5, -2.0])


def classes(values: Any = LABELS, names: Any = ("a", "b"), name: Any = "y", task: Any = "classification") -> Roles:
    return Roles(Target(name, task, values, names))


def numbers(values: Any) -> Roles:
    return Roles(Target("y", "regression", values))


@pytest.mark.parametrize(
    "roles",
    [
        Roles(),
        classes(),
        classes(names=(1, 2.5, True)[:2]),
        numbers(NUMBERS),
        Roles(None, np.array([0.0, 1e300, 5e-324]), np.array([0, 2, 1], np.int32)),
    ],
)
def test_roles_that_can_be(roles: Roles) -> None:
    roles.check(3)
    restored = Roles.restore(roles.to_table(), roles.to_json())
    restored.check(3)
    assert list(restored.row_bytes()) == list(roles.row_bytes())


@pytest.mark.parametrize(
    ("roles", "said"),
    [
        (classes(LABELS[:2]), "of other rows"),
        (numbers(NUMBERS[:, None]), "of other rows"),
        (classes(LABELS.astype(np.int64)), "a target that is none"),
        (classes(np.array([0, 2, 1], np.int32)), "a target that is none"),
        (classes(np.array([0, -1, 1], np.int32)), "a target that is none"),
        (classes(names=("a", "a")), "a target that is none"),
        (classes(names=("a", None)), "classes that are none"),
        (classes(name=5), "without a name"),
        (classes(task="guessing"), "without a name"),
        (numbers(NUMBERS.astype(np.float32)), "a target that is none"),
        (numbers(np.array([0.5, np.nan, 1.0])), "a target that is none"),
        (numbers(np.array([0.5, np.inf, 1.0])), "a target that is none"),
        (Roles(None, np.ones(3, np.float32)), "of another type"),
        (Roles(None, np.ones(4)), "of other rows"),
        (Roles(None, np.array([1.0, -1.0, 0.0])), "weights that are none"),
        (Roles(None, np.array([1.0, np.nan, 0.0])), "weights that are none"),
        (Roles(None, np.array([1.0, np.inf, 0.0])), "weights that are none"),
        (Roles(None, None, np.array([0, 1, 2])), "of another type"),
        (Roles(None, None, np.array([0, 1, 3], np.int32)), "groups that are none"),
        (Roles(None, None, np.array([0, -1, 1], np.int32)), "groups that are none"),
    ],
)
def test_roles_that_cannot_be(roles: Roles, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        roles.check(3)


X = np.arange(12.0).reshape(4, 3)


@pytest.mark.parametrize(
    ("how", "sentence"),
    [
        (
            {"target": [0.5, np.nan, 1, 2]},
            "has 1 missing values, the first in row 1; leave those rows out, or fill them",
        ),
        ({"target": [0.5, 1, -np.inf, 2]}, "is infinite in row 2; mend it"),
        ({"target": ["a"] * 4}, "is 'a' in every row; it needs at least two different values, or classes"),
        ({"target": [2.0**53, 2.0**53 + 2, 0, 1]}, "beyond 2..53, .*; give them as text, or as numbers to explain"),
        ({"target": list("abab"), "task": "regression"}, "is text, which regression cannot explain"),
        ({"weights": [1, np.nan, 1, 1]}, "must be numbers, none missing, infinite or negative; mend the column"),
        ({"weights": [1, -1, 1, 1]}, "must be numbers, none missing, infinite or negative"),
        ({"weights": list("abab")}, "must be numbers, none missing, infinite or negative"),
        ({"weights": [0, 0, 0, 0]}, "are all zero; at least one row must count"),
        ({"groups": [1, np.nan, 1, 2]}, "are missing in row 1; every row needs one"),
        ({"groups": [2.0**53, 2.0**53 + 2, 0, 1]}, "beyond 2..53, which are not told apart; give them as text$"),
    ],
)
def test_a_role_that_does_not_serve_is_told_why(how: dict[str, Any], sentence: str) -> None:
    with pytest.raises(TargetError, match=sentence):
        fernwood.ingest(X, **({"target": [0, 1, 0, 1]} | how))
