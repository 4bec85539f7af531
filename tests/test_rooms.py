"""Who may import whom, and how light importing is."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

import fernwood

SOURCE = Path(fernwood.__file__).parent

FREE = {
    *("version", "errors", "seeds", "budget", "shortage", "files", "sealed", "plain_arrays", "plausible", "kernels"),
    *("device", "validation"),
}
"""What every room may import, but for `theory`; see decision 0001."""

FLOW = [
    "sources",
    "store",
    "subspace",
    "learner",
    "importance",
    "relevance",
    "relations",
    "insight",
    "course",
    "result",
    "saved",
    "report",
]

ALLOWED = {
    "version": set(),
    "errors": set(),
    "seeds": {"errors"},
    "budget": {"errors"},
    "validation": {"errors"},
    "shortage": {"budget", "errors"},
    "files": {"errors"},
    "sealed": set(),
    "plain_arrays": set(),
    "plausible": set(),
    "kernels": set(),
    "device": {"budget", "errors", "kernels", "shortage"},
    "work": {"errors", "shortage", "version"},
    "theory": {"errors", "seeds", "kernels"},  # of these, how kernels are compiled; see decision 0036
    **{room: FREE | set(FLOW[:i]) for i, room in enumerate(FLOW)},
    "result": FREE | set(FLOW[: FLOW.index("result")]) | {"report"},  # a result shows itself; see decision 0018
    "run": FREE | {"sources", "store", "theory", "insight", "course", "result", "saved"},
    "reduced": FREE | {"sources", "store", "result", "saved", "run"},
    "differences": FREE | {"result"},
    "comparing": FREE | {"sources", "relevance", "result", "saved", "differences"},
    "search": FREE | set(FLOW[: FLOW.index("report")]) | {"run", "theory", "work"},
    "kept": FREE | {"store", "learner"},
    "estimator": FREE | set(FLOW[: FLOW.index("report")]) | {"run", "theory", "work", "search", "kept"},
    "selectors": FREE | set(FLOW[: FLOW.index("report")]) | {"run", "theory", "work", "search", "kept", "estimator"},
    "models": FREE | set(FLOW[: FLOW.index("report")]) | {"run", "theory", "work", "search", "kept", "estimator"},
    "loading": FREE | {"kept", "models", "selectors"},
    "datasets": FREE | {"sources", "store"},
    "testing": FREE | {"sources", "store"},
    "__main__": {"cli"},
}


def imported_rooms(path: Path) -> set[str]:
    """The rooms that a module imports anywhere in its text, inside functions too."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text())):
        modules = []
        if isinstance(node, ast.Import):
            modules = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: imports are absolute"
            modules = [node.module or ""]
            if node.module == "fernwood":
                modules = [f"fernwood.{alias.name}" for alias in node.names]
        found |= {module.split(".")[1] for module in modules if module.startswith("fernwood.")}
    return found


def modules() -> list[Path]:
    return [path for path in sorted(SOURCE.rglob("*.py")) if path != SOURCE / "__init__.py"]


@pytest.mark.parametrize("path", modules(), ids=lambda path: str(path.relative_to(SOURCE)))
def test_a_module_imports_only_earlier_rooms(path: Path) -> None:
    room = path.relative_to(SOURCE).parts[0].removesuffix(".py")
    if room == "cli":
        return  # the command line may use everything
    assert room in ALLOWED, f"room {room} has no rule yet"
    assert imported_rooms(path) - {room} <= ALLOWED[room]


def test_theory_is_apart_from_what_is_tested_against_it() -> None:
    """The theory has kernels of its own, which are compiled and kept as all others are."""
    text = "".join(path.read_text() for path in sorted((SOURCE / "theory").rglob("*.py")))
    assert set(re.findall(r"fernwood\.kernels[\w.]*", text)) == {"fernwood.kernels.jit"}


def test_the_rule_sees_an_import_against_the_flow(tmp_path: Path) -> None:
    module = tmp_path / "bad.py"
    module.write_text("def f():\n    from fernwood.cli import app\n    import fernwood.store.disk\n")
    assert imported_rooms(module) == {"cli", "store"}


def test_every_public_name_loads() -> None:
    for name in fernwood.__all__:
        assert getattr(fernwood, name) is not None
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = fernwood.nothing


def test_import_is_light() -> None:
    """Under 0.3 s, and neither NumPy nor anything that compiles is loaded."""
    check = (
        "import sys, time; t = time.perf_counter(); import fernwood; t = time.perf_counter() - t; "
        "heavy = {'cupy', 'numpy', 'numba', 'pyarrow', 'scipy', 'sklearn', 'pandas', 'typer'} & set(sys.modules); print(t, *heavy)"
    )
    seconds = []
    for _ in range(3):
        output = subprocess.run(
            [sys.executable, "-c", check], capture_output=True, text=True, check=True
        ).stdout.split()
        assert output[1:] == []
        seconds.append(float(output[0]))
    assert min(seconds) < 0.3


def test_reading_numbers_compiles_nothing() -> None:
    check = "import sys, numpy, fernwood; fernwood.ingest(numpy.eye(3)); print('numba' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", check], capture_output=True, text=True, check=True).stdout == "False\n"


@pytest.mark.parametrize("module", ["fernwood", "fernwood.theory"])
def test_names_that_a_module_does_not_have(module: str) -> None:
    with pytest.raises(AttributeError, match=f"^module '{module}' has no attribute 'nothing'$"):
        import_module(module).nothing  # noqa: B018
    assert "nothing" not in dir(import_module(module))
