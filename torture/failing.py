"""Cases: one step of a life, one call of the disk that fails, and what must hold after it."""

from __future__ import annotations

import gc
import os
import re
from typing import TYPE_CHECKING, NamedTuple

from torture.faulty import FAULTS, Disk, Fault, FaultyDisk, installed
from torture.life import settled
from torture.standing import ABSENT, examined, listed

if TYPE_CHECKING:
    from pathlib import Path

    from torture.life import Life, Said, Step

__all__ = ["Case", "Outcome", "all_cases", "n_descriptors", "spread", "tried"]

_HIDDEN = re.compile(r"(^|/)\.|^tmp/.")


class Case(NamedTuple):
    """A step, and what goes wrong in it."""

    step: str
    fault: Fault

    def __str__(self) -> str:
        return f"{self.step}, {self.fault}"


class Outcome(NamedTuple):
    """What came of a case: whether the fault was met, whether the step passed over it, and what does not hold."""

    met: bool
    passed_over: bool = False
    wrong: tuple[str, ...] = ()


def all_cases(life: Life) -> list[Case]:
    """Every call of every step with everything that can go wrong with it."""
    cases = []
    for step in life.steps:
        if step.prepares:
            continue
        life.restore(step)
        with installed(Disk()) as disk:
            step.run(life.folder)
        for call, n in sorted(disk.counts.items()):
            cases += [Case(step.name, Fault(call, number, what)) for what in FAULTS[call] for number in range(1, n + 1)]
    settled()
    return cases


def spread(cases: list[Case], n: int) -> list[Case]:
    """About n of the cases, all of them of equal distance: every step, call and fault that has many is among them."""
    every = max(len(cases) / n, 1.0)
    return [cases[int(i * every)] for i in range(min(n, len(cases)))]


def tried(life: Life, case: Case) -> Outcome:
    """Do a step on a disk that fails, look at what is left, and do it again on one that does not."""
    step = life.step(case.step)
    life.restore(step)
    n_open, others = n_descriptors(), _others(life.folder, step)
    disk = FaultyDisk(case.fault)
    with installed(disk):
        said = step.run(life.folder)
    if not disk.struck:
        return Outcome(met=False)
    wrong = []
    if said.code != 0 and not said.sentence:
        wrong.append(f"it did not end in one sentence: {said}")
    if "uncaught" in said.error:
        wrong.append(f"an error was left to Python: {said.error!r}")
    wrong += not_old_or_new(life, step, examined(life.folder, step.makes))
    if _others(life.folder, step) != others:
        wrong.append("files that are no part of it were touched")
    if said.code == 0:
        wrong += differences(life, step)
        if leftovers(life, step):
            step.run(life.folder, forced=True)
    else:
        wrong += rerun(life, step)
    left = leftovers(life, step)
    if left and case.fault.call not in ("rmtree", "rmdir") and case.fault.what != "gone":
        wrong.append(f"it is left behind: {left}")
    if n_descriptors() > n_open:
        wrong.append(f"{n_descriptors() - n_open} files stayed open")
    return Outcome(met=True, passed_over=said.code == 0, wrong=tuple(wrong))


def not_old_or_new(life: Life, step: Step, state: dict[str, str]) -> list[str]:
    """What of a state is neither as it was before a step nor as it is after it."""
    before, after = life.before[step.name], life.after[step.name]
    begun = (ABSENT,) if step.begins else ()
    return [
        f"{name} is neither old nor new: {what}"
        for name, what in state.items()
        if what not in (before[name], after[name], *(begun if name.endswith(("/result", "/report")) else ()))
    ]


def differences(life: Life, step: Step) -> list[str]:
    """In what the state differs from that after the step in a life without faults."""
    state, after = examined(life.folder, step.makes), life.after[step.name]
    return [f"{name} differs: {what}, not {after[name]}" for name, what in state.items() if what != after[name]]


def rerun(life: Life, step: Step) -> list[str]:
    """Do a step again, without faults; what is not as it should be then."""
    wrong_now = differences(life, step)
    said: Said = step.run(life.folder, again=True)
    if said.code and "exists" in said.error and not wrong_now:
        said = step.run(life.folder, forced=True)  # it was done, and failed after that
    return [f"doing it again failed: {said}"] if said.code else differences(life, step)


def leftovers(life: Life, step: Step) -> list[str]:
    """Hidden and temporary files that the step in a life without faults does not leave."""
    return sorted(name for name in listed(life.folder) - life.files[step.name] if _HIDDEN.search(name))


def n_descriptors() -> int:
    """How many files this process has open."""
    gc.collect()  # a Parquet file stays open until it is collected
    return len(os.listdir("/proc/self/fd"))  # noqa: PTH208


def _others(folder: Path, step: Step) -> dict[str, tuple[int, int]]:
    """Files that are no part of what a step makes, and no temporary ones, with sizes and times."""
    found = {}
    for path in folder.rglob("*"):
        first = path.relative_to(folder).parts[0]
        if first != "tmp" and not any(name in first for name in step.makes) and path.is_file():
            about = path.stat()
            found[str(path)] = (about.st_size, about.st_mtime_ns)
    return found
