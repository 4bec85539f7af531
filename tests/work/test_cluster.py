"""Workers of a Dask cluster: the same answer, whoever dies, hangs or is short of memory; and what is refused."""

from __future__ import annotations

import errno
import os
import signal
import socket
import subprocess
import time
from pathlib import Path
from typing import Any

import joblib
import numpy as np
import pytest

import fernwood
from fernwood.datasets import make_madelon
from fernwood.errors import ClusterError, FernwoodWarning, ShortageError, StoreError
from fernwood.saved import load_result
from fernwood.search.methods import select
from fernwood.search.snowball_settings import SnowballSettings
from fernwood.search.working import Crew, Item, Site, perform
from fernwood.work import cluster as module
from fernwood.work.choosing import engine_here
from fernwood.work.cluster import DaskEngine, connect
from tests.cli.conftest import COMMAND
from tests.work.conftest import HereEngine
from tests.work.errands import (
    complains,
    dies_elsewhere,
    dies_once,
    doubled,
    doubled_slowly,
    hangs_once,
    lacks_memory_elsewhere,
)

MADELON = make_madelon(500, 150, class_sep=3.0, random_state=0)
SETTINGS = SnowballSettings(n_contexts=64)

pytest.importorskip("distributed", reason="Dask is not installed; pip install 'fernwood[dask]'")


@pytest.fixture
def engine(cluster: Any) -> DaskEngine:
    cluster.wait_for_workers(2, timeout=60)
    return DaskEngine(cluster)


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> fernwood.Store:
    path = tmp_path_factory.mktemp("cluster") / "madelon.fern"
    return fernwood.ingest(MADELON.data, path, target=MADELON.target)


def test_results_come_in_the_order_of_the_items(engine: DaskEngine) -> None:
    items = [bytes([i]) for i in range(100)]
    assert list(engine.run(doubled, items)) == [item + item for item in items]
    assert (engine.bytes_sent, engine.n_rounds, engine.n_again, engine.n_workers) == (100, 1, 0, 2)


def test_workers_that_come_later_count_in_the_next_round(engine: DaskEngine, monkeypatch: pytest.MonkeyPatch) -> None:
    """On a queue of jobs, most workers come when the search has begun."""
    monkeypatch.setattr(engine, "_threads", lambda: {"a": 1, "b": 3})
    assert list(engine.run(doubled, [b"a"])) == [b"aa"]
    assert engine.n_workers == 4


def test_items_that_somebody_cancels(engine: DaskEngine, monkeypatch: pytest.MonkeyPatch) -> None:
    """As a client does that restarts the cluster."""
    import distributed

    def cancelled(*_: object, **__: object) -> None:
        raise distributed.CancelledError("restarted")

    monkeypatch.setattr(distributed, "wait", cancelled)
    with pytest.raises(ClusterError, match=r"the Dask scheduler is gone \(CancelledError\)"):
        list(engine.run(doubled_slowly, [b"a"]))


def test_a_search_has_the_answer_of_threads(engine: DaskEngine, store: fernwood.Store) -> None:
    on_threads = select(store, SETTINGS, 0, n_threads=2).result
    on_workers = select(store, SETTINGS, 0, engine=engine).result
    assert len(on_threads.confirmed) > 10
    np.testing.assert_array_equal(on_threads.p, on_workers.p)
    assert on_threads.summary() == on_workers.summary()
    assert engine.bytes_sent / engine.n_rounds < 10**6


def test_joblib_names_the_cluster(cluster: Any) -> None:
    """The client of joblib's context does the work; in a worker's own process there are threads."""
    on_threads = fernwood.FernSelector(scans=50, random_state=0).fit(MADELON.data, MADELON.target)
    with joblib.parallel_config("dask", client=cluster):
        assert isinstance(engine_here(None), DaskEngine)
        on_workers = fernwood.FernSelector(scans=50, random_state=0).fit(MADELON.data, MADELON.target)
    np.testing.assert_array_equal(on_threads.support_, on_workers.support_)
    np.testing.assert_array_equal(on_threads.importances_, on_workers.importances_)
    assert cluster.submit(_engine_of_a_worker, pure=False).result(timeout=60) == "threads"


def _engine_of_a_worker() -> str:
    return "threads" if engine_here(2) is None else "workers"


def test_a_worker_that_is_killed_in_the_middle(engine: DaskEngine, cluster: Any, store: fernwood.Store) -> None:
    expected = select(store, SETTINGS, 1).result
    victim = next(iter(cluster.run(os.getpid).values()))
    rounds = []

    def kill(progress: Any) -> None:
        rounds.append(progress)
        if len(rounds) == 2:
            os.kill(victim, signal.SIGKILL)

    got = select(store, SETTINGS, 1, engine=engine, progress=kill).result
    assert len(rounds) > 3
    np.testing.assert_array_equal(expected.p, got.p)
    assert expected.summary() == got.summary()


def test_items_of_a_worker_that_dies_are_done_again(engine: DaskEngine, tmp_path: Path) -> None:
    items = [str(tmp_path / name).encode() for name in ("a", "deadly", "b", "c")]
    done = list(engine.run(dies_once, items))
    assert (tmp_path / "deadly").exists()
    assert os.getpid() not in done


def test_an_item_that_no_worker_survives_is_done_here(engine: DaskEngine, cluster: Any) -> None:
    me = str(os.getpid()).encode()
    with pytest.warns(FernwoodWarning, match="again and again; this part of the work is done here"):
        assert list(engine.run(lacks_memory_elsewhere, [me])) == [os.getpid()]
    with pytest.warns(FernwoodWarning, match="again and again"):
        assert list(engine.run(dies_elsewhere, [me])) == [os.getpid()]
    assert engine.n_again == 2
    cluster.wait_for_workers(2, timeout=60)


def test_an_item_that_hangs_is_given_to_another(
    engine: DaskEngine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "_PATIENCE_S", 1.0)
    items = [str(tmp_path / name).encode() for name in ("a", "slow", "b", "c")]
    started = time.monotonic()
    assert list(engine.run(hangs_once, items)) == [False] * 4
    assert time.monotonic() - started < 20
    assert engine.n_again >= 1
    assert len(engine._slow) == 1
    # The slow one is asked nothing while the other is there.
    assert list(engine.run(doubled, [b"x"] * 6)) == [b"xx"] * 6
    (tmp_path / "woken").touch()  # for the tests that come next


def test_a_complaint_is_passed_on(engine: DaskEngine) -> None:
    with pytest.raises(ValueError, match="nothing to be done with this"):
        list(engine.run(complains, [b"this"]))


# What is refused ------------------------------------------------------------------------------------------------------


def test_want_of_memory_is_not_called_a_missing_scheduler(monkeypatch: pytest.MonkeyPatch) -> None:
    def short(*_: object, **__: object) -> Any:
        raise OSError(errno.ENOMEM, "Cannot allocate memory")

    with pytest.raises(ShortageError, match="the system gives no more memory"):
        module._within_time(short, "tcp://127.0.0.1:9")
    monkeypatch.setattr(module.socket, "create_connection", short)
    with pytest.raises(ShortageError, match="the system gives no more memory"):
        connect("tcp://127.0.0.1:9")


def test_a_scheduler_that_is_not_there() -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        address = f"tcp://127.0.0.1:{free.getsockname()[1]}"
    started = time.monotonic()
    with pytest.raises(ClusterError, match="no Dask scheduler answers at 'tcp://127.*start one with `dask scheduler`"):
        connect(address)
    assert time.monotonic() - started < 10


def test_somebody_else_listens_there(monkeypatch: pytest.MonkeyPatch) -> None:
    """A port that takes connections and never answers."""
    assert module._CONNECTING_S + 1 < 10
    monkeypatch.setattr(module, "_CONNECTING_S", 1)
    with socket.socket() as mute:
        mute.bind(("127.0.0.1", 0))
        mute.listen()
        started = time.monotonic()
        with pytest.raises(ClusterError, match="no Dask scheduler answers"):
            connect(f"tcp://127.0.0.1:{mute.getsockname()[1]}")
        assert time.monotonic() - started < 5


@pytest.mark.parametrize("address", ["nonsense", "tcp://", "tcp://host", "tcp://host:notaport", ""])
def test_an_address_that_is_none(address: str) -> None:
    with pytest.raises(ClusterError, match="give an address with its port, such as tcp"):
        connect(address)


def test_workers_with_another_fernwood(cluster: Any) -> None:
    cluster.wait_for_workers(2, timeout=60)
    worker = next(iter(cluster.nthreads()))
    cluster.run(_pretend, "0.0.1", workers=[worker])
    try:
        with pytest.raises(ClusterError, match=r"has Fernwood 0\.0\.1 and this is .*; install fernwood=="):
            DaskEngine(cluster)
    finally:
        cluster.run(_pretend, fernwood.__version__, workers=[worker])


def _pretend(version: str) -> None:
    import fernwood.version

    fernwood.version.__version__ = version


def test_a_worker_that_came_later_with_another_fernwood() -> None:
    with pytest.raises(ClusterError, match=r"was asked by '0\.0\.1'; install the same on both"):
        perform(Item("0.0.1", Site("m.fern", "", "snowball", "{}", 0), "survey", None))


def test_a_store_that_workers_do_not_see(engine: DaskEngine, tmp_path: Path) -> None:
    store = fernwood.ingest(MADELON.data[:, :30], tmp_path / "m.fern", target=MADELON.target)
    (tmp_path / "m.fern").rename(tmp_path / "moved.fern")
    with pytest.raises(StoreError, match="a worker cannot open the store: .*on a shared disk or at a URL"):
        select(store, SETTINGS, 0, engine=engine)


def test_another_store_at_the_same_place(here: HereEngine, tmp_path: Path) -> None:
    store = fernwood.ingest(MADELON.data[:, :30], tmp_path / "m.fern", target=MADELON.target)
    fernwood.ingest(MADELON.data[:, 30:60], tmp_path / "m.fern", target=MADELON.target, force=True)
    crew = Crew(here, store, SETTINGS, 0)
    with pytest.raises(StoreError, match="a worker finds another store at .* than the one that is searched"):
        list(crew.ask("survey", [None]))


# The command line -----------------------------------------------------------------------------------------------------


@pytest.fixture
def scheduler(cluster: Any) -> str:
    cluster.wait_for_workers(2, timeout=60)
    return cluster.scheduler_info(n_workers=0)["address"]


def fernwood_command(*arguments: object) -> subprocess.CompletedProcess[str]:
    return subprocess.run([*COMMAND, *map(str, arguments)], capture_output=True, text=True, timeout=200)


def test_the_coordinator_is_killed_and_resumed(scheduler: str, store: Any, tmp_path: Path) -> None:
    """Begun on a cluster, killed, and resumed there: the decisions of one go on threads."""
    whole = fernwood_command("select", store.path, "--seed", 0, "--out", tmp_path / "whole", "--quiet")
    assert whole.returncode == 0, whole.stderr
    run = tmp_path / "killed"
    begun = subprocess.Popen(
        [*COMMAND, *map(str, ("select", store.path, "--seed", 0, "--out", run, "--scheduler", scheduler))],
        stderr=subprocess.PIPE,
        text=True,
    )
    while begun.poll() is None and not (run / "run.json").exists():
        time.sleep(0.01)
    time.sleep(1.0)
    begun.kill()
    _, said = begun.communicate()
    assert (run / "run.json").exists(), said
    resumed = fernwood_command("resume", run, "--scheduler", scheduler, "--quiet")
    assert resumed.returncode == 0, resumed.stderr
    one, other = (load_result(tmp_path / name).to_table() for name in ("whole", "killed"))
    assert len(one) == 150
    assert one.equals(other)


def test_methods_that_stay_in_one_process(store: Any) -> None:
    told = fernwood_command(
        "select", store.path, "--method", "filter", "--estimator", "tree", "--scheduler", "tcp://127.0.0.1:1"
    )
    assert told.returncode == 2
    assert "--scheduler is given and --method is filter" in told.stderr
