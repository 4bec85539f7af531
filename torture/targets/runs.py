"""Run directories: manifests, checkpoints and events that lie to resume, results that lie to report and export."""

from __future__ import annotations

import io
import json
import tempfile
from collections.abc import Mapping
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq

from fernwood.errors import FernwoodError
from fernwood.run.directory import RunDirectory
from fernwood.saved import DECISIONS_NAME, INSIGHT_NAME, SUMMARY_NAME
from fernwood.sealed import digest, seal
from fernwood.sources.place import Url
from torture.commands import run_command
from torture.edits import edited_array, edited_bytes, edited_json, edited_table
from torture.target import Choices, Target, making
from torture.targets.stores import files_of, small_frame, write_files

_METHODS = {
    "snowball": ["--max-contexts", "8"],
    "subspace": ["--draws", "12"],
    "ferns": ["--scans", "20"],
    "boruta": ["--max-iter", "6"],
    "elimination": ["--estimator", "tree"],
    "filter": ["--estimator", "tree"],
}
_FIXED = ("--seed", "1", "--jobs", "1", "--quiet")
_RESULT = (SUMMARY_NAME, DECISIONS_NAME, INSIGHT_NAME)


@cache
def base_run(method: str) -> dict[str, bytes]:
    """The files of a small run of a method, from its beginning to its end."""
    with tempfile.TemporaryDirectory() as folder:
        table = Path(folder) / "t.parquet"
        pq.write_table(small_frame().drop_columns(["w", "g"]), table)
        run = Path(folder) / "r.run"
        code = run_command(
            ["select", str(table), "--target", "y", "--method", method, "--out", str(run), *_FIXED, *_METHODS[method]]
        )
        if code:
            raise RuntimeError(f"the run of {method} ended with {code}")
        return files_of(run)


def _sealed(document: Any) -> bytes:
    try:
        plain = {k: v for k, v in document.items() if k != "checksum"} if isinstance(document, dict) else None
        return json.dumps(document).encode() if plain is None else seal(plain)
    except (RecursionError, UnicodeError):
        return b"[" * 100_000


def _edited_archive(data: bytes, choices: Choices) -> bytes:
    """A checkpoint with one of its arrays edited."""
    with np.load(io.BytesIO(data), allow_pickle=False) as parts:
        arrays = {name: parts[name] for name in parts.files}
    name = choices.one_of(sorted(arrays))
    if choices.number(8) == 0:
        del arrays[name]
    else:
        arrays[name] = edited_array(arrays[name], choices)
    file = io.BytesIO()
    np.savez(file, **arrays)
    return file.getvalue()


def _resume(data: bytes, folder: Path) -> None:
    run = folder / "r.run"
    with making():
        write_files(run, _begun(Choices(data)))
    with suppress(FernwoodError):
        run_command(["status", str(run)])
    directory = RunDirectory.open(run)
    with suppress(FernwoodError):
        if isinstance(directory.store_path, Url):
            return  # it would go there, as docs/trust.md says
    run_command(["resume", str(run), "--jobs", "1", "--quiet"])


def _begun(choices: Choices) -> dict[str, bytes]:
    """The files of a run without its result, after some edits."""
    files = dict(base_run(choices.one_of(list(_METHODS))))
    for name in _RESULT:
        files.pop(name, None)
    checkpoints = [name for name in files if name.endswith(".npz")]
    for _ in range(1 + choices.number(3)):
        match choices.number(6):
            case 0 | 1:
                files["run.json"] = _sealed(edited_json(json.loads(files["run.json"]), choices))
            case 2 | 3 if checkpoints:
                name = choices.one_of(checkpoints)
                files[name] = _edited_archive(files[name], choices)
            case 4:
                lines = files["events.jsonl"].split(b"\n")
                place = choices.number(len(lines))
                event = edited_json(json.loads(lines[place] or b"{}"), choices)
                lines[place] = json.dumps(event).encode() if choices.number(8) else edited_bytes(lines[place], choices)
                files["events.jsonl"] = b"\n".join(lines)
            case _:
                name = choices.one_of(["run.json", "events.jsonl", *checkpoints])
                files[name] = edited_bytes(files[name], choices)
    return files


def _report(data: bytes, folder: Path) -> None:
    run = folder / "r.run"
    with making():
        write_files(run, _ended(Choices(data)))
    run_command(["status", str(run)])
    run_command(["report", str(run), "--output", str(folder / "report.html"), "--quiet"])
    match len(data) % 3:
        case 0:
            run_command(["export", str(run), "--to", "csv", "--output", str(folder / "d.csv"), "--quiet"])
        case 1:
            run_command(["compare", str(run), str(run)])
        case _:
            run_command(["export", str(run), "--table", str(folder / "t.csv"), "--quiet"])


def _ended(choices: Choices) -> dict[str, bytes]:
    """The files of a run with its result, after some edits."""
    files = dict(base_run(choices.one_of(list(_METHODS))))
    summary = json.loads(files[SUMMARY_NAME])
    insight = json.loads(files[INSIGHT_NAME])
    table = pq.read_table(io.BytesIO(files[DECISIONS_NAME]))
    for _ in range(1 + choices.number(4)):
        match choices.number(4):
            case 0:
                summary = edited_json(summary, choices)
            case 1:
                insight = edited_json(insight, choices)
            case 2:
                table = edited_table(table, choices)
            case _:
                lines = files["events.jsonl"].split(b"\n")
                place = choices.number(len(lines))
                lines[place] = json.dumps(edited_json(json.loads(lines[place] or b"{}"), choices)).encode()
                files["events.jsonl"] = b"\n".join(lines)
    files[INSIGHT_NAME] = _sealed(insight)
    file = io.BytesIO()
    pq.write_table(table, file)
    files[DECISIONS_NAME] = file.getvalue()
    if isinstance(summary, dict) and isinstance(summary.get("files"), dict) and choices.number(8) != 7:
        summary["files"] = {name: digest(files[name]) for name in (DECISIONS_NAME, INSIGHT_NAME)}
    files[SUMMARY_NAME] = _sealed(summary)
    return files


def _seeds() -> Mapping[str, bytes]:
    rng = np.random.default_rng(9)
    return {f"edits-{i}": bytes([i % 6]) + rng.bytes(3 + i) for i in range(48)}


TARGETS = {
    "run": Target("run", "run directories and checkpoints", _resume, _seeds),
    "result": Target("result", "results, as report, export and compare read them", _report, _seeds),
}
