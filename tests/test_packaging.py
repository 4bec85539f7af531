"""What people install: the wheel and the sdist are whole, and hold nothing that was lying about."""

from __future__ import annotations

import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from torture.packages import contents, wrong_in_sdist, wrong_in_wheel
from torture.versions import lowest

ROOT = Path(__file__).resolve().parent.parent


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with both, as the build backend makes them, without a network."""
    pytest.importorskip("hatchling", reason="hatchling is not installed: pip install 'fernwood[dev]'")
    out = tmp_path_factory.mktemp("dist")
    command = [sys.executable, "-m", "hatchling", "build", "-d", str(out)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return out


def test_the_wheel(built: Path) -> None:
    (wheel,) = built.glob("*.whl")
    names = contents(wheel)
    assert wrong_in_wheel(names, ROOT / "src" / "fernwood") == []
    page = {f"fernwood/report/page/report.{kind}" for kind in ("css", "html", "js")}
    assert {"fernwood/py.typed", "fernwood/kernels/cuda/examining.cu", *page} <= set(names)


def test_the_sdist(built: Path) -> None:
    (sdist,) = built.glob("*.tar.gz")
    assert wrong_in_sdist(contents(sdist), sdist) == []


def test_what_would_be_wrong(tmp_path: Path) -> None:
    source = tmp_path / "fernwood"
    source.mkdir()
    (source / "py.typed").touch()
    wrong = wrong_in_wheel(["fernwood/a.nbi", "fernwood-1.dist-info/METADATA", "fernwood-1.dist-info/RECORD"], source)
    assert wrong == [
        "LICENSE is missing",
        "entry_points.txt is missing",
        "fernwood/py.typed is missing",
        "fernwood/a.nbi is a leftover",
    ]
    large = tmp_path / "it.tar.gz"
    large.write_bytes(bytes(5_000_000))
    needed = ["LICENSE", "pyproject.toml", "README.md", "src/fernwood/py.typed", "tests/conftest.py"]
    assert wrong_in_sdist([*needed, ".venv-min/tests/a.py", "notes.txt"], large) == [
        ".venv-min/tests/a.py is a leftover",
        ".venv-min/tests/a.py is of no known folder",
        "notes.txt is of no known folder",
        "it has 5,000,000 bytes, more than 4,000,000",
    ]


def test_every_library_has_a_lowest_version() -> None:
    """`make test-min` pins them; an upper bound or none at all could not be tested."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    pins = lowest(project)
    assert len(pins) >= len(project["dependencies"]) + 8
    with pytest.raises(ValueError, match="numpy has no lowest version: give one with >="):
        lowest({**project, "dependencies": ["numpy"]})
