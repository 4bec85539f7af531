"""The long tests, in the order in which they are run."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from torture.part import Part

NAMES: tuple[str, ...] = (
    "faults",
    "power",
    "kills",
    "memory",
    "crowds",
    "soak",
    "fuzz",
    "hostile",
    "metamorphic",
    "bounds",
    "mutants",
    "coverage",
    "supply",
)


def part(name: str) -> Part:
    """A long test by its name; its module is imported only now."""
    found: Part = import_module(f"torture.parts.{name}").PART
    return found
