"""Coverage-guided fuzzing with atheris: inputs that reach new lines of Fernwood are kept and changed further.

    python -m torture.fuzzing NAME --seconds 60 --work DIRECTORY

is the process that fuzzes one format; `fuzz` starts it, and starts it again where an input killed it or it has become
large. Fernwood's Python is instrumented; its compiled code runs with bounds checked (NUMBA_BOUNDSCHECK), so that a read
outside of an array is an exception. The corpus that is kept in `tests/properties/corpus` is small: see `keep`.
"""

from __future__ import annotations

import argparse
import faulthandler
import hashlib
import importlib
import itertools
import json
import os
import pkgutil
import re
import resource
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks.provenance import ROOT
from torture.judging import Finding, judge
from torture.target import Target
from torture.targets import target

__all__ = ["CORPUS", "Findings", "Fuzzed", "corpus_of", "found_plainly", "fuzz", "minimised"]

CORPUS = ROOT / "tests" / "properties" / "corpus"
SCRATCH = ROOT / "torture" / "scratch"
_LONGEST_INPUT = 8192
_DEADLY_SECONDS = 30
"""After which an input that is still being used is taken for one that never ends."""
_STUCK_SECONDS = 20
"""After which it is written down where the threads are, before the tool, which may be stuck as well, looks."""
_STARTING_SECONDS = 240
"""What a process may take beside fuzzing itself: to load compiled kernels, and to use inputs kept."""
_ADDRESS_SPACE = 3 * 2**30
"""Bytes of address space that the process may take beyond what it has when it begins."""
_GROWN = 2**31
"""Bytes of address space that a process has come to hold when it makes room for a fresh one: with instrumented code,
and only with it, the tool itself holds on to 60 MB for every table of 200,000 columns."""
_MEASURED = ("Hang", "Memory")
"""Kinds of findings that instrumented code, which is slow and holds on to memory, shows where plain code does not."""
_EACH = 20
"""Of inputs that take no more than others that were harmless, one in so many is measured in a fresh process."""
_TRIES = 300
_KEPT_BYTES, _KEPT_INPUTS = 16_000, 40
"""What is kept of a corpus, at most."""


class Fuzzed(NamedTuple):
    """What fuzzing a format gave.

    Attributes
    ----------
    executions : inputs that were used
    findings : what may not happen, by key: what is known of it
    seconds
    lines : coverage at the end, as libFuzzer counts it
    """

    executions: int
    findings: dict[str, str]
    seconds: float
    lines: int


def corpus_of(name: str) -> Iterator[Path]:
    """The inputs of a format that are kept."""
    return iter(sorted((CORPUS / name).glob("*.bin")))


def fuzz(name: str, seconds: float, seed: int, tell: Callable[[str], None]) -> Fuzzed:
    """Fuzz a format for some time, in processes of their own."""
    work = SCRATCH / "fuzz" / name
    for part in ("inputs", "findings", "deaths"):
        (work / part).mkdir(parents=True, exist_ok=True)
    for old in (*(work / "findings").iterdir(), *(work / "deaths").iterdir()):
        old.unlink()
    subprocess.run([sys.executable, "-m", "fernwood.kernels"], cwd=ROOT, env=_environment(), check=True)
    executions, lines, started, deaths, turns = 0, 0, time.monotonic(), 0, itertools.count(seed)
    while (left := seconds - (time.monotonic() - started)) > 1 or not executions:
        said = _child(name, max(left, 1.0), next(turns), work)
        executions += _figure(r"stat::number_of_executed_units:\s*(\d+)", said) or _figure(r"#(\d+)\s", said)
        lines = max(lines, _figure(r"cov: (\d+)", said))
        dead = len(list((work / "deaths").iterdir()))
        if dead == deaths and left > 5 and "DONE" not in said[-4000:] and "stat::" not in said:
            (work / "findings" / "Start.json").write_text(json.dumps({"about": said[-4000:]}))
            break
        deaths = dead
    findings = {path.stem: json.loads(path.read_text())["about"] for path in sorted((work / "findings").glob("*.json"))}
    findings |= {path.name: f"the process died; the input is {path}" for path in sorted((work / "deaths").iterdir())}
    tell(f"{name}: {executions} inputs, {len(findings)} findings")
    return Fuzzed(executions, findings, time.monotonic() - started, lines)


def _figure(pattern: str, text: str) -> int:
    found = re.findall(pattern, text)
    return int(found[-1]) if found else 0


def _environment() -> dict[str, str]:
    return {
        **os.environ,
        "NUMBA_BOUNDSCHECK": "1",
        "NUMBA_CACHE_DIR": str(SCRATCH / "checked-kernels"),
        "PYTHONPATH": os.pathsep.join([str(ROOT), str(ROOT / "src"), os.environ.get("PYTHONPATH", "")]),
    }


def _child(name: str, seconds: float, seed: int, work: Path) -> str:
    current = work / "current.bin"
    current.unlink(missing_ok=True)
    command = [sys.executable, "-m", "torture.fuzzing", name, "--seconds", f"{seconds:.0f}", "--seed", str(seed)]
    with (work / "said.txt").open("w+b") as said:
        child = subprocess.Popen(
            [*command, "--work", str(work)], cwd=ROOT, env=_environment(), stdout=said, stderr=said
        )
        try:
            child.wait(timeout=seconds + _STARTING_SECONDS)
        except subprocess.TimeoutExpired:  # an input that never ends, or a machine with no time for it
            child.kill()
            child.wait()
            if current.is_file():  # else it never came to an input, which is a finding of its own
                current.replace(work / "deaths" / f"endless-{seed}")
        said.seek(0)
        return said.read().decode("utf-8", "replace")


# In the process that fuzzes -------------------------------------------------------------------------------------------


def main() -> None:
    """Fuzz one format until the time is over; atheris ends the process."""
    parser = argparse.ArgumentParser(prog="python -m torture.fuzzing", description=__doc__)
    parser.add_argument("name")
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--work", type=Path, required=True)
    parser.add_argument("--keep", action="store_true", help="instead of fuzzing, keep a small corpus of what was found")
    parser.add_argument(
        "--plainly", type=Path, metavar="FILE", help="instead of fuzzing, judge one input; 1: a finding"
    )
    arguments = parser.parse_args()
    if arguments.keep:
        keep(arguments.name, arguments.work)
        return
    if arguments.plainly:
        sys.exit(found_plainly(target(arguments.name), arguments.plainly.read_bytes()))
    import atheris

    with _instrumented():
        fuzzed = target(arguments.name)
        begin = {f"seed-{name}": data for name, data in fuzzed.seeds().items()}
        begin |= {path.stem: path.read_bytes() for path in corpus_of(arguments.name)}
        for data in begin.values():  # modules that are loaded on the way are instrumented as well
            judge(fuzzed, data)
    inputs = arguments.work / "inputs"
    for data in begin.values():
        (inputs / hashlib.sha1(data).hexdigest()).write_bytes(data)
    _limit_memory()
    findings = Findings(fuzzed, arguments.work / "findings")
    flags = {
        "max_total_time": max(1, int(arguments.seconds)),
        "timeout": _DEADLY_SECONDS,
        "report_slow_units": _DEADLY_SECONDS,  # what takes too much of the processor's time is a finding of ours
        "rss_limit_mb": 4096,
        "max_len": _LONGEST_INPUT,
        "seed": arguments.seed,
        "print_final_stats": 1,
        "artifact_prefix": f"{arguments.work / 'deaths'}/",
        "verbosity": 1,
    }
    atheris.Setup([sys.argv[0], *(f"-{k}={v}" for k, v in flags.items()), str(inputs)], findings.look)
    atheris.Fuzz()


def _instrumented() -> AbstractContextManager[Any]:
    """While modules are imported: all of Fernwood but for kernels, which are compiled from their own bytecode."""
    import atheris

    from fernwood import kernels

    for module in pkgutil.iter_modules(kernels.__path__):
        if not module.name.startswith("__"):
            importlib.import_module(f"{kernels.__name__}.{module.name}")
    instrumented: AbstractContextManager[Any] = atheris.instrument_imports(include=["fernwood"])
    return instrumented


def _limit_memory() -> None:
    """An allocation of terabytes is an error at once, and a finding."""
    if held := _address_space():
        resource.setrlimit(resource.RLIMIT_AS, (held + _ADDRESS_SPACE,) * 2)


def _address_space() -> int:
    """Bytes of address space that the process takes; 0 where the system does not say."""
    pages = Path("/proc/self/statm")
    return int(pages.read_text().split()[0]) * resource.getpagesize() if pages.is_file() else 0


class Findings:
    """Judges inputs, and writes down the first, made small, of every kind of finding."""

    def __init__(self, fuzzed: Target, directory: Path) -> None:
        self._target, self._directory, self._current = fuzzed, directory, directory.with_name("current.bin")
        self._known = {path.stem for path in directory.glob("*.json")}
        self._begun = _address_space()
        self._harmless = dict.fromkeys(_MEASURED, 0.0)
        self._looks = 0

    def look(self, data: bytes) -> None:
        """Judge an input."""
        # For whoever finds that the process does not end, and where each thread is then.
        self._current.write_bytes(data)
        faulthandler.dump_traceback_later(_STUCK_SECONDS)
        try:
            finding = judge(self._target, data)
        finally:
            faulthandler.cancel_dump_traceback_later()
        if _address_space() > self._begun + _GROWN:
            os.kill(os.getpid(), signal.SIGUSR1)  # libFuzzer ends after this input, and prints its figures
        if finding is None or finding.key in self._known:
            return
        measured = finding.kind in _MEASURED
        if measured and not self._counts(finding):
            return
        self._known.add(finding.key)
        small = data if measured else minimised(self._target, data, finding)
        (self._directory / f"{finding.key}.bin").write_bytes(small)
        about: dict[str, Any] = {**finding._asdict(), "input": small.hex()[:400]}
        (self._directory / f"{finding.key}.json").write_text(json.dumps(about, indent=1))

    def _counts(self, finding: Finding) -> bool:
        """Whether time or memory are a finding: a fresh process says so of the largest so far, and of some others."""
        figure = float(finding.about.split()[0])
        self._looks += 1
        if figure <= self._harmless[finding.kind] and self._looks % _EACH:
            return False
        if self._shows_plainly():
            return True
        self._harmless[finding.kind] = max(figure, self._harmless[finding.kind])
        return False

    def _shows_plainly(self) -> bool:
        """Whether the input at hand is a finding in a fresh process as well, whose code is not instrumented."""
        command = [sys.executable, "-m", "torture.fuzzing", self._target.name, "--plainly", str(self._current)]
        try:
            done = subprocess.run([*command, "--work", str(self._directory)], timeout=_STARTING_SECONDS, check=False)
        except subprocess.TimeoutExpired:
            return True
        return done.returncode != 0


def found_plainly(fuzzed: Target, data: bytes) -> bool:
    """Whether an input is a finding; what a first use loads and keeps is no part of what is measured."""
    for seed in fuzzed.seeds().values():
        judge(fuzzed, seed)
    finding = judge(fuzzed, data)
    print(finding.about if finding else "no finding")
    return finding is not None


def minimised(fuzzed: Target, data: bytes, finding: Finding) -> bytes:
    """A shorter input with the same finding: parts are left out, large ones first, as long as it shows."""
    size, tries = max(1, len(data) // 2), 0
    while tries < _TRIES:
        at, shorter = 0, False
        while at < len(data) and tries < _TRIES:
            tried = data[:at] + data[at + size :]
            tries += 1
            found = judge(fuzzed, tried)
            if found is not None and found.key == finding.key:
                data, shorter = tried, True
            else:
                at += size
        if size == 1 and not shorter:
            break
        size = max(1, size // 2)
    return data


def keep(name: str, work: Path) -> None:
    """Keep a small corpus: of what fuzzing found, the smallest inputs that reach something new, in few bytes."""
    import atheris

    small = work / "small"
    small.mkdir(exist_ok=True)
    for old in small.iterdir():
        old.unlink()
    with _instrumented():
        fuzzed = target(name)
        for data in fuzzed.seeds().values():
            judge(fuzzed, data)
    child = os.fork()
    if child == 0:
        atheris.Setup(
            [sys.argv[0], "-merge=1", str(small), str(work / "inputs")], lambda data: judge(fuzzed, data) and None
        )
        atheris.Fuzz()
    os.waitpid(child, 0)
    chosen = sorted(small.iterdir(), key=lambda path: (path.stat().st_size, path.name))
    (CORPUS / name).mkdir(parents=True, exist_ok=True)
    for old in (CORPUS / name).glob("reach-*.bin"):
        old.unlink()
    taken = 0
    for path in chosen[:_KEPT_INPUTS]:
        taken += path.stat().st_size
        if taken > _KEPT_BYTES:
            break
        (CORPUS / name / f"reach-{path.name[:12]}.bin").write_bytes(path.read_bytes())


if __name__ == "__main__":
    main()
