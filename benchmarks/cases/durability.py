"""Runs that cannot be lost: killed at random instants and resumed, and what it costs to be able to."""

from __future__ import annotations

import json
import random
import shutil
import statistics
import time
from datetime import datetime
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from pathlib import Path

    from benchmarks.run import Bench

_SEED = 300
_COLUMNS = 300_000
_KILLS = 50
_LONG = 60.0
_MOST_LOST = 30.0
_MOST_SHARE = 0.02
_APART = 10.0
_PAIRS = 2
_SUBSPACE = ("--method", "subspace", "--q", "500", "--seed", str(_SEED), "--jobs", "2")
_SNOWBALL = ("--goal", "minimal", "--memory", "512MB", "--seed", str(_SEED), "--jobs", "2")


class Kill(NamedTuple):
    """What a kill cost: seconds since the last checkpoint, or since the process began where it wrote none."""

    lost: float
    searched: float
    """The same without what it takes to start."""
    stage: str


def scale_kills(bench: Bench) -> tuple[dict[str, Any], dict[str, bool]]:
    """A run of a minute is killed at random instants, 50 times in all, and resumed: `fernwood select`, `resume`.

    Chains: a run is started and killed, resumed and killed, until it comes to its end, and its export is compared with
    that of a run in one go. Kills come at random, ten seconds apart on average, from when a process searches (a first
    process: from when it starts). Chains of random subspaces, as many draws as take a minute here, and of the snowball
    with goal "minimal" take turns.
    """
    store = bench.scratch / "kills.fern"
    bench.script("make_madelon.py", str(store), str(_COLUMNS), str(_SEED))
    draws = _draws_of_a_minute(bench, store)
    ways = {"subspace": (*_SUBSPACE, "--draws", str(draws)), "snowball": _SNOWBALL}
    whole, seconds = {}, {}
    for name, options in ways.items():
        run = bench.scratch / f"{name}.run"
        seconds[name] = bench.fernwood("select", str(store), "--out", str(run), "--quiet", *options).seconds
        whole[name] = bench.fernwood("export", str(run), "--to", "csv").output
    kills: list[Kill] = []
    identical: list[bool] = []
    started = time.perf_counter()
    while len(kills) < _KILLS:
        name = list(ways)[len(identical) % len(ways)]
        run = bench.scratch / "killed.run"
        chain = _chain(bench, store, run, ways[name], len(identical), _KILLS - len(kills))
        kills += chain
        identical.append(bench.fernwood("export", str(run), "--to", "csv").output == whole[name])
        lost = ", ".join(f"{kill.lost:.1f}" for kill in chain)
        print(
            f"    chain {len(identical)} ({name}): {len(chain)} kills, lost {lost} s; equal: {identical[-1]}",
            flush=True,
        )
        shutil.rmtree(run)
    figures = {
        "kills": len(kills),
        "chains": len(identical),
        "chains_identical": sum(identical),
        "seconds_subspace": seconds["subspace"],
        "seconds_snowball": seconds["snowball"],
        "draws": draws,
        "seconds_lost_most": max(kill.lost for kill in kills),
        "seconds_lost_median": statistics.median(kill.lost for kill in kills),
        "seconds_lost_searching_most": max(kill.searched for kill in kills),
        "kills_while_starting": sum(kill.stage == "" for kill in kills),
        "kills_while_searching": sum(kill.stage == "searching" for kill in kills),
        "kills_while_reducing": sum(kill.stage in ("reducing", "relating") for kill in kills),
        "seconds_of_chains": time.perf_counter() - started,
    }
    return figures, {
        "50 kills": len(kills) == _KILLS,
        "identical result every time": all(identical),
        "≤ 30 s of work lost each": figures["seconds_lost_most"] <= _MOST_LOST,
    }


def _draws_of_a_minute(bench: Bench, store: Path) -> int:
    """As many draws as take a minute, told from two runs of few."""
    few, more = 100, 500
    took = {
        n: bench.fernwood("select", str(store), "--quiet", *_SUBSPACE, "--draws", str(n)).seconds for n in (few, more)
    }
    a_draw = (took[more] - took[few]) / (more - few)
    return int(more + max(_LONG - took[more], 0) / a_draw) // 20 * 20


def _chain(bench: Bench, store: Path, run: Path, options: tuple[str, ...], number: int, most: int) -> list[Kill]:
    """Start a run, kill and resume it until it comes to its end; what every kill cost."""
    chance = random.Random(f"{_SEED}/{number}")
    command = ("select", str(store), "--out", str(run), "--quiet", *options)
    kills: list[Kill] = []
    while len(kills) < most:
        began = time.time()

        def ready(began: float = began) -> bool:
            return not kills or bool(_events(run, began))

        if not bench.fernwood_killed(chance.expovariate(1 / _APART), ready, *command):
            return kills
        if not (run / "run.json").is_file():  # killed before there was a run: there is nothing to go on with
            continue
        kills.append(_cost(run, began, time.time()))
        command = ("resume", str(run), "--quiet", "--jobs", "2")
    bench.fernwood(*command)
    return kills


def _cost(run: Path, began: float, ended: float) -> Kill:
    """What a kill cost, by the events of the process that began at a time."""
    mine = _events(run, began)
    last = max((moment for event, moment in mine if event["event"] == "checkpoint"), default=0.0)
    stage = next((event["stage"] for event, _ in reversed(mine) if event["event"] == "progress"), "")
    searching_since = mine[0][1] if mine else ended
    return Kill(ended - (last or began), ended - (last or searching_since), stage)


def _events(run: Path, began: float) -> list[tuple[dict[str, Any], float]]:
    """Events with their times, from the first sign of progress of the process that began at a time."""
    events = run / "events.jsonl"
    if not events.is_file():
        return []
    lines = [json.loads(line) for line in events.read_text().splitlines() if line.endswith("}")]
    timed = [(event, datetime.fromisoformat(event["time"]).timestamp()) for event in lines]
    mine = [(event, moment) for event, moment in timed if moment >= began]
    first = next((place for place, (event, _) in enumerate(mine) if event["event"] == "progress"), len(mine))
    return mine[first:]


def scale_checkpoints(bench: Bench) -> tuple[dict[str, Any], dict[str, bool]]:
    """What checkpoints cost: the same runs with a run directory and without, side by side, and what events say."""
    store = bench.scratch / "checkpoints.fern"
    bench.script("make_madelon.py", str(store), str(_COLUMNS), str(_SEED))
    figures: dict[str, Any] = {}
    shares = []
    for name, options in {"subspace": (*_SUBSPACE, "--draws", "1000"), "snowball": _SNOWBALL}.items():
        command = ("select", str(store), "--quiet", *options)
        run = bench.scratch / "checkpoints.run"
        without, beside = [], []
        for _ in range(_PAIRS):
            without.append(bench.fernwood(*command))
            beside.append(bench.fernwood(*command, "--out", str(run), "--force"))
            events = [json.loads(line) for line in (run / "events.jsonl").read_text().splitlines()]
            kept = [event for event in events if event["event"] == "checkpoint"]
            shares.append(sum(event["seconds"] for event in kept) / beside[-1].seconds)
        figures |= {
            f"{name}_checkpoints": len(kept),
            f"{name}_checkpoint_bytes": max(event["bytes"] for event in kept),
            f"{name}_seconds_a_checkpoint": statistics.median(event["seconds"] for event in kept),
            f"{name}_share_of_time_most": max(shares[-_PAIRS:]),
            f"{name}_seconds": statistics.median(one.seconds for one in beside),
            f"{name}_seconds_without": statistics.median(one.seconds for one in without),
            f"{name}_cpu_ratio": sum(one.cpu_seconds for one in beside) / sum(one.cpu_seconds for one in without),
        }
    return figures, {"checkpoints ≤ 2 % of the time of a run": max(shares) <= _MOST_SHARE}


DURABILITY_CASES = {"scale-kills": scale_kills, "scale-checkpoints": scale_checkpoints}
