"""Nothing that is read can run: the source has no way to make code, or objects of any class, from bytes."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

SOURCE = Path(__file__).parents[2] / "src" / "fernwood"

UNSAFE_MODULES = {"pickle", "cPickle", "_pickle", "cloudpickle", "dill", "marshal", "shelve", "code", "codeop"}
"""Modules that make objects of any class, or code, from bytes or text."""
UNSAFE_CALLS = {"eval", "exec", "compile", "__import__", "os.system", "os.popen", "joblib.load", "joblib.dump"}
NETWORK = {"socket", "http", "http.client", "urllib.request", "urllib3", "requests", "ftplib", "smtplib", "aiohttp"}


def modules() -> list[Path]:
    return sorted(SOURCE.rglob("*.py"))


def imported(tree: ast.AST) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (name.name for name in node.names)
        elif isinstance(node, ast.ImportFrom) and node.level == 0:
            yield node.module or ""
            yield from (f"{node.module}.{name.name}" for name in node.names)


def calls(tree: ast.AST) -> Iterator[tuple[str, ast.Call]]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            yield ast.unparse(node.func), node


def problems(text: str) -> list[str]:
    """What of a module could turn data into code."""
    tree = ast.parse(text)
    found = [
        name for name in imported(tree) if name in UNSAFE_MODULES | NETWORK or name.split(".")[0] in UNSAFE_MODULES
    ]
    for name, call in calls(tree):
        if name in UNSAFE_CALLS:
            found.append(name)
        if name.rpartition(".")[2] in {"load", "read_array"} and name.partition(".")[0] in {"np", "numpy"}:
            pickled = [ast.unparse(word.value) for word in call.keywords if word.arg == "allow_pickle"]
            found += [] if pickled == ["False"] else [name]
        found += [name for word in call.keywords if word.arg == "shell" and ast.unparse(word.value) != "False"]
    return found


@pytest.mark.parametrize(
    "text",
    [
        "import pickle",
        "from pickle import loads",
        "import numpy as np\nnp.load('a.npy')",
        "np.load('a', allow_pickle=True)",
        "np.lib.format.read_array(file)",
        "eval('1')",
        "import os\nos.system('ls')",
        "subprocess.run('ls', shell=True)",
        "from urllib import request\nimport urllib.request",
        "import socket",
    ],
)
def test_what_would_be_found(text: str) -> None:
    assert problems(text)


def test_no_module_makes_code_from_data_or_reaches_out() -> None:
    paths = modules()
    assert len(paths) > 200
    found = {path.name: problems(path.read_text(encoding="utf-8")) for path in paths}
    # Whether a scheduler that the user named answers.
    assert {name: what for name, what in found.items() if what} == {"cluster.py": ["socket"]}
