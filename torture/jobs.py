"""Small searches by every method, and what of their runs must be the same however often they were broken off."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np

__all__ = ["METHODS", "answer_of", "check_tidy", "write_table"]

_BAYES = ("--estimator", "naive-bayes", "--cv", "3")
METHODS: dict[str, tuple[str, ...]] = {
    "snowball": ("--method", "snowball"),
    "snowball-minimal": ("--method", "snowball", "--goal", "minimal", "--max-contexts", "40"),
    "subspace-srs": ("--method", "subspace", "--draws", "60", "--q", "6", "--rule", "probe", "--trees", "2"),
    "subspace-rs": ("--method", "subspace", "--draws", "60", "--q", "6", "--alpha", "0", "--trees", "2"),
    "subspace-mirror": ("--method", "subspace", "--draws", "40", "--q", "8", "--rule", "mirror", "--round-size", "5"),
    "ferns": ("--method", "ferns", "--scans", "20", "--depth", "3"),
    "ferns-blind": ("--method", "ferns", "--scans", "20", "--depth", "3", "--blind", "--rule", "max-shadow"),
    "boruta": ("--method", "boruta", "--max-iter", "15", "--trees", "20"),
    "boruta-ferns": ("--method", "boruta", "--max-iter", "12", "--trees", "30", "--learner", "ferns"),
    "elimination-rve": ("--method", "elimination", "--n-relevant", "2", *_BAYES),
    "elimination-rvers": ("--method", "elimination", *_BAYES),
    "elimination-binary": ("--method", "elimination", "--search", "binary", *_BAYES),
    "filter": ("--method", "filter", *_BAYES),
}
"""Options of `fernwood select`: every method, and ways in which a method keeps different things."""

_RESULT = ("decisions.parquet", "insight.json", "result.json")


def write_table(path: Path, n_rows: int = 120, n_columns: int = 30, seed: int = 0) -> None:
    """Write a CSV of numbers, a column of words and a target ``y`` that a few columns tell."""
    rng = np.random.default_rng(seed)
    x = rng.standard_normal((n_rows, n_columns)).round(3)
    y = (x[:, 1] + x[:, min(4, n_columns - 1)] > 0).astype(int)
    words = np.array(["ash", "birch", "cedar"])[rng.integers(0, 3, n_rows)]
    lines = [",".join([*(f"g{i}" for i in range(n_columns)), "wood", "y"])]
    rows = zip(x.tolist(), words, y, strict=True)
    lines += [",".join([*map(str, row), word, "case" if case else "control"]) for row, word, case in rows]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


def answer_of(run: Path) -> dict[str, bytes]:
    """What a finished run says: files by name, byte for byte; the manifest without where the store is."""
    answer = {name: (run / name).read_bytes() for name in _RESULT}
    manifest: dict[str, Any] = json.loads((run / "run.json").read_bytes())
    for name in ("store", "checksum"):
        del manifest[name]
    return {**answer, "run.json": json.dumps(manifest).encode()}


def check_tidy(folder: Path) -> None:
    """Nothing half written is left, in a directory or below it."""
    left = [str(path.relative_to(folder)) for path in folder.rglob("*") if ".partial" in path.name]
    if left:
        raise AssertionError(f"left behind: {', '.join(sorted(left))}")
