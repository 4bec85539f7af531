"""Fuzzing: every format that Fernwood reads, coverage-guided, for ten minutes each."""

from __future__ import annotations

import importlib.util
from collections.abc import Sequence

from torture.fuzzing import corpus_of, fuzz
from torture.part import NOT_RUN, Asked, Bar, Part
from torture.targets import NAMES, target

_MINUTES = 10.0


def run(asked: Asked) -> Sequence[Bar]:
    """Fuzz the formats that are asked for, one after the other."""
    if importlib.util.find_spec("atheris") is None:
        about = "atheris is not installed here: pip install 'fernwood[torture]'"
        return [Bar("fuzzing", f"{_MINUTES:g} minutes a format, 0 open findings", about, met=False)]
    return [_fuzzed(name, asked) for name in NAMES]


def _fuzzed(name: str, asked: Asked) -> Bar:
    about, asked_for = f"fuzzing {target(name).title}", f"{_MINUTES:g} minutes, 0 open findings"
    if name not in asked.only:
        return Bar(about, asked_for, NOT_RUN, met=False)
    done = fuzz(name, asked.minutes * 60, asked.seed, asked.tell)
    kept = len(list(corpus_of(name)))
    told = f"{done.executions:,} inputs in {done.seconds / 60:.1f} minutes, {len(done.findings)} findings, {kept} kept"
    for key, finding in done.findings.items():
        asked.tell(f"{name}: {key}\n{finding}")
    if done.findings:
        told += f": {', '.join(sorted(done.findings))}"
    enough = done.executions > 0 and not done.findings
    return Bar(about, asked_for, told, met=enough)


PART = Part("fuzz", "every format that is read, coverage-guided", _MINUTES, run, pieces=NAMES)
