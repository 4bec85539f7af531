"""The theory's commands: words that name a distribution, and files of samples."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from torture.commands import run_command
from torture.target import Choices, Target

_COMMANDS = ("importance", "decomposition", "relevance", "found", "convergence")


def _use(data: bytes, folder: Path) -> None:
    choices = Choices(data[:2])
    command, flags = choices.one_of(_COMMANDS), choices.number(256)
    if flags & 1:
        path = folder / "t.csv"
        path.write_bytes(data[2:])
        given = [str(path), "--target", "y"]
    else:
        word = data[2:].decode("utf-8", "replace")
        # A word that begins with a dash is an option, and one with a dot may be a file of this machine.
        given = [word.lstrip("-").replace("/", "_").replace(".", "_") or "xor"]
    more = {"found": ["-q", "2"], "convergence": ["--alpha", "0"]}.get(command, [])
    run_command(["theory", command, *given, *more, *(["--json"] if flags & 2 else [])])


def _seeds() -> Mapping[str, bytes]:
    words = ["xor", "xor:3", "chain:3:1/4", "clique:2", "noisy-copies:2:0.1", "masking:1/5", "seven-segment", "xor:x"]
    seeds = {f"word-{i}": bytes([i % 5, 0]) + word.encode() for i, word in enumerate(words)}
    table = b"a,b,y\n0,0,0\n0,1,1\n1,0,1\n1,1,0\n"
    return {**seeds, **{f"file-{i}": bytes([i, 1]) + table for i in range(5)}}


TARGETS = {"theory": Target("theory", "the theory's commands", _use, _seeds)}
