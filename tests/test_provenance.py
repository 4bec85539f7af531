"""Which commit a figure was measured on."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from benchmarks import provenance


def test_a_tree_differs_from_its_commit_by_code_and_not_by_figures(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def git(*arguments: str) -> str:
        me = ("-c", "user.name=n", "-c", "user.email=e")
        return subprocess.run(["git", *me, *arguments], cwd=tmp_path, capture_output=True, text=True, check=True).stdout

    def told() -> str:
        return str(provenance.provenance(())["commit"])

    monkeypatch.setattr(provenance, "ROOT", tmp_path)
    monkeypatch.delenv("FERNWOOD_COMMIT", raising=False)
    assert told() == "unknown"
    git("init", "-q")
    for name in ("src/code.py", "docs/page.md", "torture/results/a.json", "README.md"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("1\n")
    git("add", ".")
    git("commit", "-qm", "first")
    head = git("rev-parse", "--short", "HEAD").strip()
    for name in ("docs/page.md", "torture/results/a.json", "torture/results/new.json", "README.md"):
        (tmp_path / name).write_text("2\n")
    assert told() == head
    (tmp_path / "src" / "new.py").write_text("1\n")
    assert told() == f"{head}-dirty"
    monkeypatch.setenv("FERNWOOD_COMMIT", "elsewhere")
    assert told() == "elsewhere"
