"""Memory as a number: sizes as people write them, and what the process holds right now."""

from __future__ import annotations

import os
import re
import resource
import sys
from pathlib import Path

from fernwood.errors import ParameterError

__all__ = [
    "Headroom",
    "available",
    "default_budget",
    "parse_size",
    "peak_resident",
    "resident",
    "shown_size",
]

_UNITS = {
    "": 1,
    "b": 1,
    "k": 10**3,
    "kb": 10**3,
    "m": 10**6,
    "mb": 10**6,
    "g": 10**9,
    "gb": 10**9,
    "t": 10**12,
    "tb": 10**12,
    "kib": 2**10,
    "mib": 2**20,
    "gib": 2**30,
    "tib": 2**40,
}
_STATM = Path("/proc/self/statm")
_MEMINFO = Path("/proc/meminfo")
_CGROUP = Path("/sys/fs/cgroup")


def parse_size(size: float | str, what: str = "memory") -> int:
    """Bytes of a size such as ``"512MB"``, ``"1.5 GiB"`` or ``268435456``; MB is 10⁶ bytes, MiB is 2²⁰.

    `what` is the parameter that a sentence about it names.

    Examples
    --------
    >>> parse_size("256MB"), parse_size("1GiB"), parse_size(1000)
    (256000000, 1073741824, 1000)
    """
    if isinstance(size, str):
        match = re.fullmatch(r"\s*([0-9]+(?:\.[0-9]*)?)\s*([A-Za-z]*)\s*", size)
        unit = _UNITS.get(match[2].lower()) if match else None
        bytes_ = float(match[1]) * unit if match and unit else 0.0
    else:
        bytes_ = float(size)
    if not 1 <= bytes_ < 2**62:
        raise ParameterError(f"{what} is {size!r}; give a positive size such as '512MB', '2GiB' or a number of bytes")
    return int(bytes_)


def shown_size(size: float) -> str:
    """A size for people, in decimal units.

    Examples
    --------
    >>> shown_size(999), shown_size(1_250_000), shown_size(3e9)
    ('999 B', '1.2 MB', '3.0 GB')
    """
    for unit, factor in (("TB", 1e12), ("GB", 1e9), ("MB", 1e6), ("kB", 1e3)):
        if size >= factor:
            return f"{size / factor:.1f} {unit}"
    return f"{int(size)} B"


def resident() -> int:
    """Bytes of this process that are resident now (on macOS the peak so far, which is never less)."""
    if _STATM.exists():
        return int(_STATM.read_bytes().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    return peak_resident()


def peak_resident() -> int:
    """The highest resident size of this process so far, in bytes."""
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak * 1024


def available() -> int:
    """Bytes that the machine, or the container, could still give to a process without swapping."""
    free = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    if _MEMINFO.exists():
        for line in _MEMINFO.read_text().splitlines():
            if line.startswith("MemAvailable:"):
                free = int(line.split()[1]) * 1024
    limit, used = _CGROUP / "memory.max", _CGROUP / "memory.current"
    if limit.exists() and used.exists() and (most := limit.read_text().strip()) != "max":
        free = min(free, max(int(most) - int(used.read_text()), 0))
    return free


def default_budget() -> int:
    """The budget when none is given: half of what is available."""
    return available() // 2


class Headroom:
    """How near the process comes to a limit while work goes on in steps, so that later steps can be smaller in time.

    What a step takes is planned; what libraries load late, and how well threads and an allocator get along, is not.

    Parameters
    ----------
    budget : bytes that may become resident beyond what is resident now
    margin : bytes below the limit that should stay free

    Examples
    --------
    >>> Headroom(10**12, 10**6).missing()
    0
    """

    def __init__(self, budget: int, margin: int) -> None:
        self._most = resident() + budget - margin
        self._before = peak_resident()

    def missing(self) -> int:
        """Bytes of the margin that were taken so far; what was resident before the work began does not count."""
        peak = peak_resident()
        return max(peak - self._most, 0) if peak > self._before else 0
