"""How a run stands, seen from outside: whether a process works on it, how far it is, and what to do next."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Literal

from fernwood.errors import StoreError
from fernwood.files import is_file, locked
from fernwood.run.course import last_started
from fernwood.run.directory import RunDirectory
from fernwood.run.events import EVENTS_NAME, last_events
from fernwood.saved import SUMMARY_NAME, load_result

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["Standing", "standing"]

_OF_A_SIGN = {"time", "process", "stage", "done", "total"}
_LOOKED_AT = 200
_FEWEST = 2
"""Signs of progress in one stage that a rate is told from."""


@dataclass(frozen=True)
class Standing:
    """What can be said of a run without touching it.

    Attributes
    ----------
    state : "working", "done", "stopped" (by a signal), "failed", or "gone": its process ended without a word
    method : of the search
    stage, done, total, unit, detail : how far it is, from its last sign of progress
    seconds_left : at the rate of the last signs; None where nothing can be said
    seconds_silent : since its last sign; not below 0, whatever the clock did
    seconds_since_checkpoint : what a crash of a working run would make it do again; None before the first one
    checkpoint_seconds, checkpoint_bytes : what that one took
    resident, peak : bytes of its process at that time
    why : what a failed run said
    leading : names of a few columns found, the newest or the best
    memory : bytes that its process may hold; 0 where it did not say
    """

    state: Literal["working", "done", "stopped", "failed", "gone"]
    method: str
    stage: str = ""
    done: int = 0
    total: int = 0
    unit: str = ""
    detail: str = ""
    seconds_left: float | None = None
    seconds_silent: float | None = None
    seconds_since_checkpoint: float | None = None
    checkpoint_seconds: float = 0.0
    checkpoint_bytes: int = 0
    resident: int = 0
    peak: int = 0
    why: str = ""
    leading: tuple[str, ...] = ()
    memory: int = 0

    def to_json(self) -> dict[str, Any]:
        """Plain values."""
        return asdict(self)


def standing(path: Path) -> Standing:
    """How the run in a directory stands; nothing in it is changed."""
    run = RunDirectory.open(path)
    with locked(path) as alone:
        works = not alone
    events = last_events(path / EVENTS_NAME, _LOOKED_AT)
    last = events[-1] if events else {}
    signs = [event for event in events if event["event"] == "progress" and event.keys() >= _OF_A_SIGN]
    kept = [event for event in events if event["event"] == "checkpoint"][-1:]
    how_far: dict[str, Any] = {}
    if signs:
        how_far = {name: signs[-1].get(name) for name in ("stage", "done", "total")}
        how_far |= {name: signs[-1].get(name, "") for name in ("unit", "detail")}
        how_far["leading"] = tuple(signs[-1].get("leading", ()))
    began = last_started(path / EVENTS_NAME)
    return Standing(
        state=_state(path, works, last),
        method=run.manifest.method,
        **how_far,
        seconds_left=_seconds_left(signs) if works else None,
        seconds_silent=_since(last.get("time")),
        seconds_since_checkpoint=_since(kept[0].get("time")) if kept else None,
        checkpoint_seconds=kept[0].get("seconds", 0.0) if kept else 0.0,
        checkpoint_bytes=kept[0].get("bytes", 0) if kept else 0,
        resident=last.get("resident", 0),
        peak=last.get("peak", 0),
        why=last.get("why", ""),
        memory=began.get("memory", 0),
    )


def _state(path: Path, works: bool, last: dict[str, Any]) -> Literal["working", "done", "stopped", "failed", "gone"]:
    if works:
        return "working"
    if _is_done(path):
        return "done"
    said = last.get("event")
    if said == "failed":
        return "failed"
    return "stopped" if said in ("stopped", "ended") else "gone"


def _is_done(path: Path) -> bool:
    """Whether there is a result of all that was asked for; one that was cut short is none."""
    try:
        return is_file(path / SUMMARY_NAME) and load_result(path).facts.finished
    except StoreError:
        return False


def _seconds_left(signs: list[dict[str, Any]]) -> float | None:
    """From the signs of the last stage, by the process that works now."""
    same = [sign for sign in signs if (sign["stage"], sign["process"]) == (signs[-1]["stage"], signs[-1]["process"])]
    if len(same) < _FEWEST:
        return None
    first, last = same[0], same[-1]
    took = (datetime.fromisoformat(last["time"]) - datetime.fromisoformat(first["time"])).total_seconds()
    made = last["done"] - first["done"]
    return max(last["total"] - last["done"], 0) * took / made if made > 0 and took > 0 else None


def _since(moment: str | None) -> float | None:
    if moment is None:
        return None
    return max((datetime.now(UTC) - datetime.fromisoformat(moment)).total_seconds(), 0.0)
