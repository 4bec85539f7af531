"""Run benchmark cases and append what they measured to ``benchmarks/results/``.

    python benchmarks/run.py                      all cases but those of `make bench-scale`
    python benchmarks/run.py ingest-npy read      some
    python benchmarks/run.py --list

This process imports nothing large: a child inherits the high-water mark of its parent, so whatever is to have its peak
memory measured must be started by a small one.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))

from benchmarks.cases import CASES, SCALE_CASES  # noqa: E402
from benchmarks.provenance import provenance  # noqa: E402

if TYPE_CHECKING:
    from collections.abc import Callable

_PACKAGES = ("fernwood", "numpy", "pyarrow", "numba")


@dataclass(frozen=True)
class Run:
    """What one child process took."""

    seconds: float
    cpu_seconds: float
    peak_bytes: int
    output: str


class Bench:
    """What a case may use: a scratch directory of its own, and measured child processes."""

    def __init__(self, scratch: Path) -> None:
        self.scratch = scratch

    def fernwood(self, *arguments: str, one_core: bool = False) -> Run:
        """Run the command line."""
        return self.measure(str(Path(sys.executable).with_name("fernwood")), *arguments, one_core=one_core)

    def fernwood_killed(self, after: float, ready: Callable[[], bool], *arguments: str) -> bool:
        """Run the command line and kill it some seconds after something is so; whether it still ran then."""
        command = [str(Path(sys.executable).with_name("fernwood")), *arguments]
        with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE) as child:
            while child.poll() is None and not ready():
                time.sleep(0.02)
            try:
                _, trouble = child.communicate(timeout=after)
            except subprocess.TimeoutExpired:
                child.kill()
                return True
        if child.returncode:
            raise RuntimeError(f"{' '.join(command)} ended with {child.returncode}: {trouble.decode().strip()}")
        return False

    def script(self, name: str, *arguments: str, one_core: bool = False) -> Run:
        """Run a script of ``benchmarks/scripts``."""
        return self.measure(sys.executable, str(HERE / "scripts" / name), *arguments, one_core=one_core)

    def measure(self, *command: str, one_core: bool = False) -> Run:
        """Run a command to its end, with its own time and peak resident size."""
        cores = os.sched_getaffinity(0) if hasattr(os, "sched_getaffinity") else None
        if one_core and cores:
            os.sched_setaffinity(0, {max(cores)})
        try:
            started = time.perf_counter()
            with tempfile.TemporaryFile() as output, tempfile.TemporaryFile() as errors:
                child = subprocess.Popen(command, stdout=output, stderr=errors)
                _, status, usage = os.wait4(child.pid, 0)
                seconds = time.perf_counter() - started
                child.returncode = os.waitstatus_to_exitcode(status)
                output.seek(0)
                errors.seek(0)
                text, trouble = output.read().decode(), errors.read().decode()
        finally:
            if cores:
                os.sched_setaffinity(0, cores)
        if child.returncode:
            raise RuntimeError(f"{' '.join(command)} ended with {child.returncode}: {trouble.strip()}")
        peak = usage.ru_maxrss * (1 if sys.platform == "darwin" else 1024)
        return Run(seconds, usage.ru_utime + usage.ru_stime, peak, text)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("cases", nargs="*", metavar="CASE", help="cases to run; by default all")
    parser.add_argument("--list", action="store_true", help="list the cases")
    parser.add_argument("--scratch", type=Path, default=HERE / "scratch", help="where tables are made")
    parser.add_argument("--results", type=Path, default=HERE / "results" / "foundation.jsonl")
    arguments = parser.parse_args()
    known = CASES | SCALE_CASES
    if arguments.list:
        for name, case in known.items():
            print(f"{name:<22}{(getattr(case, 'func', case).__doc__ or '').splitlines()[0]}")
        return
    unknown = set(arguments.cases) - set(known)
    if unknown:
        parser.error(f"no such case: {', '.join(sorted(unknown))}; --list shows them")
    arguments.scratch.mkdir(parents=True, exist_ok=True)
    arguments.results.parent.mkdir(parents=True, exist_ok=True)
    failed = False
    for name in arguments.cases or CASES:
        with tempfile.TemporaryDirectory(prefix=f"{name}-", dir=arguments.scratch) as scratch:
            figures, bars = known[name](Bench(Path(scratch)))
        line = {
            "case": name,
            "figures": {key: round(value, 6) if isinstance(value, float) else value for key, value in figures.items()},
            "bars": bars,
            **provenance(_PACKAGES),
        }
        with arguments.results.open("a", encoding="utf-8") as file:
            file.write(json.dumps(line) + "\n")
        print(f"{name}")
        for key, value in figures.items():
            print(f"    {key:<34}{value:,.3f}" if isinstance(value, float) else f"    {key:<34}{value:,}")
        for bar, met in bars.items():
            print(f"    {'met   ' if met else 'MISSED'}  {bar}")
            failed |= not met
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
