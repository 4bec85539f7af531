"""Every public name of the theory has an example in its documentation, and the examples run."""

from __future__ import annotations

import doctest
from importlib import import_module
from pathlib import Path

import pytest

from fernwood import theory

MODULES = sorted(path.stem for path in Path(theory.__file__).parent.glob("*.py"))


@pytest.mark.parametrize("name", MODULES)
def test_examples_run(name: str) -> None:
    module = theory if name == "__init__" else import_module(f"fernwood.theory.{name}")
    assert doctest.testmod(module).failed == 0


@pytest.mark.parametrize("name", [name for name in theory.__all__ if callable(getattr(theory, name))])
def test_every_public_name_has_an_example(name: str) -> None:
    assert ">>>" in (getattr(theory, name).__doc__ or "")
