"""All file access goes through `fernwood.files`, so that a test can make any call fail; exceptions have reasons."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

import fernwood

SOURCE = Path(fernwood.__file__).parent

BY_THEMSELVES = {
    "budget.py": "the system's own accounts of memory: no files of anybody",
    "shortage.py": "addresses without a file, to see whether the system would give them",
    "kernels/lean.py": "what the system says is mapped, and whether Numba has a configuration: no files of anybody",
    "kernels/ready.py": "marks beside Numba's compile cache; losing one costs a compilation",
    "report/html.py": "pages that are part of the package, read through importlib",
    "kernels/cuda/card.py": "the source of kernels, part of the package, read through importlib",
    "run/stopping.py": "a word on standard error from a signal handler",
    "cli/__init__.py": "standard output goes to the null device when its reader is gone",
    "sources/parquet.py": "pyarrow reads a source Parquet or Arrow file by its path: through Python it would be slower",
    "sources/hdf5.py": "h5py opens paths by itself",
    "sources/zarr_arrays.py": "zarr opens folders by itself, and its chunks are listed",
    "reduced/annotating.py": "h5py and zarr write into copies, which are synced before they take their names",
    "testing.py": "a suite for formats of other packages: it runs in tests, on temporary directories",
}
"""Modules outside of `files` that touch the disk, and why."""

MODULES = re.compile("shutil|tempfile|fcntl|mmap|glob")
FUNCTIONS = {
    "os": re.compile(
        "open|p?readv?|p?writev?|fsync|fdatasync|renames?|replace|unlink|remove|rmdir|mkdir|makedirs|link|symlink|[lf]?stat|"
        "scandir|listdir|walk|chmod|f?truncate|access|utime"
    ),
    "np": re.compile("load|save|savetxt|loadtxt|fromfile|memmap|genfromtxt"),
    "pa": re.compile("OSFile|input_stream|output_stream|memory_map"),
    "pq": re.compile("read_schema|read_metadata"),
}
METHODS = re.compile(
    "read_bytes|read_text|write_bytes|write_text|unlink|rename|touch|r?mkdir|rmdir|iterdir|r?glob|l?stat|is_file|is_dir|exists|"
    "is_symlink|symlink_to|hardlink_to|chmod|samefile|tofile|File|open_group|consolidate_metadata"
)
"""Of paths, and of libraries that take paths."""


def touches_of_the_disk(text: str) -> list[str]:
    """What of a module's text reads, writes or looks at files by itself."""
    found = []
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Import):
            found += [alias.name for alias in node.names if MODULES.fullmatch(alias.name)]
        elif isinstance(node, ast.ImportFrom) and MODULES.fullmatch(node.module or ""):
            found.append(str(node.module))
        elif isinstance(node, ast.Call) and _touches(node):
            found.append(ast.unparse(node.func))
    return found


def _touches(call: ast.Call) -> bool:
    first = ast.unparse(call.args[0]) if call.args else ""
    if first == "file":
        return False  # open already
    if isinstance(call.func, ast.Name):
        return call.func.id == "open"
    if not isinstance(call.func, ast.Attribute):
        return False
    owner, name, n = ast.unparse(call.func.value), call.func.attr, len(call.args)
    if owner == "pq" and re.fullmatch("read_table|ParquetFile|ParquetWriter", name):
        return "path" in first
    if owner == "pq" and name == "write_table":
        return "path" in ast.unparse(call.args[1])
    if owner in FUNCTIONS:
        return FUNCTIONS[owner].fullmatch(name) is not None
    if name == "replace":
        return n == 1 and not call.keywords  # of a path: a text has two arguments
    if name == "open" and owner != "self":
        return not n or isinstance(call.args[0], ast.Constant)
    return METHODS.fullmatch(name) is not None


def touching() -> dict[str, list[str]]:
    """The modules outside of `files` that touch the disk, and how."""
    modules = {str(path.relative_to(SOURCE)): path.read_text() for path in sorted(SOURCE.rglob("*.py"))}
    found = {name: touches_of_the_disk(text) for name, text in modules.items() if not name.startswith("files/")}
    return {name: touches for name, touches in found.items() if touches}


def test_only_files_touches_the_disk() -> None:
    assert {name: touches for name, touches in touching().items() if name not in BY_THEMSELVES} == {}


def test_no_exception_is_kept_for_nothing() -> None:
    assert BY_THEMSELVES.keys() <= touching().keys()


@pytest.mark.parametrize(
    "line",
    [
        "import shutil",
        "from tempfile import mkdtemp",
        "open(path)",
        "path.open('rb')",
        "path.open(encoding='utf-8')",
        "os.unlink(path)",
        "(folder / name).is_file()",
        "path.replace(other)",
        "np.load(path)",
        "pq.read_table(table_path)",
        "pq.write_table(table, self.path)",
        "pa.OSFile(str(path))",
        "h5py.File(path)",
    ],
)
def test_the_rule_sees_a_touch_of_the_disk(line: str) -> None:
    assert len(touches_of_the_disk(line)) == 1


def test_the_rule_passes_over_what_is_no_file() -> None:
    quiet = "text.replace('a', 'b'); RunDirectory.open(out); os.path.relpath(a, b); replace(x, y=1); np.load(file)"
    assert touches_of_the_disk(quiet) == []
