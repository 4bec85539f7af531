"""What a wheel and an sdist hold, and what is wrong with that."""

from __future__ import annotations

import re
import tarfile
import zipfile
from pathlib import Path, PurePosixPath

__all__ = ["contents", "wrong_in_sdist", "wrong_in_wheel"]

_LARGEST_SDIST = 4_000_000
_LEFTOVERS = re.compile(
    r"(^|/)(__pycache__|\.venv[^/]*|\.git|scratch|site|\.[a-z]+_cache|\.hypothesis|\.coverage[^/]*)(/|$)"
    r"|\.(py[co]|nb[ic]|fern|run|so)(/|$)"
)
_SDIST = {"pyproject.toml", "PKG-INFO", ".gitignore", "mkdocs.yml", "Makefile", "LICENSE"}
_SDIST |= {f"{name}.md" for name in ("README", "CHANGELOG", "CONTRIBUTING", "SECURITY")}
_SDIST |= {"src", "tests", "benchmarks", "experiments", "torture", "docs"}


def contents(package: Path) -> list[str]:
    """The files of a wheel or an sdist, the latter without the folder that all of them are in."""
    if package.suffix == ".whl":
        with zipfile.ZipFile(package) as wheel:
            return sorted(wheel.namelist())
    with tarfile.open(package) as sdist:
        return sorted(member.name.partition("/")[2] for member in sdist.getmembers() if member.isfile())


def wrong_in_wheel(names: list[str], source: Path) -> list[str]:
    """What a wheel lacks of the package at `source`, and what it has beyond it.

    Examples
    --------
    >>> wrong_in_wheel(["fernwood/__init__.py", "tests/test_it.py"], Path("nowhere"))[-1]
    'tests/test_it.py is no part of fernwood'
    """
    inside = [name for name in names if ".dist-info/" not in name]
    about = {PurePosixPath(name).name for name in names if ".dist-info/" in name}
    asked = {f"fernwood/{path.relative_to(source).as_posix()}" for path in source.rglob("*") if path.is_file()}
    asked = {name for name in asked if not _LEFTOVERS.search(name)}
    lacking = asked - set(inside) | {"METADATA", "RECORD", "LICENSE", "entry_points.txt"} - about
    return [
        *(f"{name} is missing" for name in sorted(lacking)),
        *_leftovers(names),
        *(f"{name} is no part of fernwood" for name in inside if not name.startswith("fernwood/")),
    ]


def wrong_in_sdist(names: list[str], package: Path) -> list[str]:
    """What an sdist has that it should not, and whether it is far too large."""
    size = package.stat().st_size
    lacking = {"LICENSE", "pyproject.toml", "README.md", "src/fernwood/py.typed", "tests/conftest.py"} - set(names)
    return [
        *(f"{name} is missing" for name in sorted(lacking)),
        *_leftovers(names),
        *(f"{name} is of no known folder" for name in names if name.partition("/")[0] not in _SDIST),
        *([f"it has {size:,} bytes, more than {_LARGEST_SDIST:,}"] if size > _LARGEST_SDIST else []),
    ]


def _leftovers(names: list[str]) -> list[str]:
    return [f"{name} is a leftover" for name in names if _LEFTOVERS.search(name)]
