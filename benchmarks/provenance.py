"""Where and with what a figure was measured: commit, day, machine and versions. Imports nothing large."""

from __future__ import annotations

import os
import platform
import shutil
import subprocess
from datetime import UTC, datetime
from importlib import metadata
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
_WRITTEN = ("*/results/**", "docs/**", "*.md")
"""Where figures go."""


def provenance(packages: tuple[str, ...]) -> dict[str, Any]:
    """What is written beside every measured figure; `packages` are those whose versions it may depend on."""
    return {
        "commit": _commit(),
        "date": datetime.now(UTC).date().isoformat(),
        "machine": {"processor": platform.machine(), "cores": os.cpu_count(), "system": platform.system(), **_card()},
        "versions": {"python": platform.python_version(), **{name: _version(name) for name in packages}},
    }


def _card() -> dict[str, str]:
    """The GPU and its driver, where there is one."""
    if shutil.which("nvidia-smi") is None:
        return {}
    query = ["nvidia-smi", "--query-gpu=name,driver_version", "--format=csv,noheader"]
    told = subprocess.run(query, capture_output=True, text=True, check=False)
    return {"card": told.stdout.splitlines()[0]} if told.returncode == 0 and told.stdout else {}


def _version(package: str) -> str:
    """As it is installed, or "source" where it runs from its source tree."""
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return "source"


def _commit() -> str:
    if told := os.environ.get("FERNWOOD_COMMIT"):  # a copy of a tree, without its history
        return told
    commit = _git("rev-parse", "--short", "HEAD").strip()
    # What was measured before, and documents, do not change what is measured now.
    changed = _git("status", "--porcelain", "--", ":/", *(f":(exclude,top,glob){path}" for path in _WRITTEN))
    return f"{commit}-dirty" if commit and changed else commit or "unknown"


def _git(*arguments: str) -> str:
    return subprocess.run(["git", *arguments], cwd=ROOT, capture_output=True, text=True, check=False).stdout
