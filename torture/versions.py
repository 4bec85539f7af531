"""The lowest versions that pyproject.toml allows, as exact pins for pip.

    python -m torture.versions      a line for every library that Fernwood runs with

What only tests and builds need is not pinned: nobody who uses Fernwood has it.
"""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import TYPE_CHECKING, Any

from packaging.requirements import Requirement

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

__all__ = ["lowest"]

_EXTRA = "all"
_HANDED_OVER = ("pandas", "polars")
"""Among what tests need, the libraries whose tables people hand over: their versions are tested as well."""


def lowest(project: dict[str, Any]) -> list[str]:
    """Pins for a `[project]` table.

    Examples
    --------
    >>> extras = {"plot": ["matplotlib>=3.9"], "all": ["it[plot]"], "dev": ["pandas>=2.2.2", "ruff>=0.8"]}
    >>> lowest({"name": "it", "dependencies": ["numpy>=2.0,<3"], "optional-dependencies": extras})
    ['matplotlib==3.9', 'numpy==2.0', 'pandas==2.2.2']
    """
    extras = project["optional-dependencies"]
    handed_over = (line for line in extras["dev"] if Requirement(line).name in _HANDED_OVER)
    asked = [*project["dependencies"], *_spelled_out(extras[_EXTRA], project), *handed_over]
    return sorted(f"{one.name}=={_bound(one)}" for one in map(Requirement, asked))


def _spelled_out(lines: Iterable[str], project: dict[str, Any]) -> Iterator[str]:
    """Requirements, with those of the project's own extras in place of their names."""
    for line in lines:
        one = Requirement(line)
        if one.name != project["name"]:
            yield line
        for extra in one.extras if one.name == project["name"] else ():
            yield from _spelled_out(project["optional-dependencies"][extra], project)


def _bound(one: Requirement) -> str:
    bounds = [part.version for part in one.specifier if part.operator == ">="]
    if len(bounds) != 1:
        raise ValueError(f"{one} has no lowest version: give one with >=, so that it can be tested")
    return bounds[0]


if __name__ == "__main__":
    text = Path(__file__).resolve().parent.parent.joinpath("pyproject.toml").read_text(encoding="utf-8")
    print("\n".join(lowest(tomllib.loads(text)["project"])))
