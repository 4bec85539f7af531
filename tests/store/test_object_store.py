"""Searches of a store in an object store: the answer of the disk, and every byte fetched about once."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import fernwood
from fernwood.datasets import make_madelon
from fernwood.errors import StoreError
from fernwood.store import objects, remote
from tests.object_store import BUCKET, object_store, put

MOST_FETCHED = 1.2


@pytest.fixture(scope="module")
def environment() -> Iterator[dict[str, str]]:
    with object_store() as environment:
        yield environment


@pytest.fixture
def there(environment: dict[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    """The object store, and a place for temporary caches."""
    (tmp_path / "tmp").mkdir()
    environment = {**environment, "TMPDIR": str(tmp_path / "tmp")}
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    for name in ("FERNWOOD_CACHE", "FERNWOOD_CACHE_SIZE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr("tempfile.tempdir", None)
    monkeypatch.setattr(remote, "BLOCK_BYTES", 2**15)
    return environment


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("stores") / "s.fern"
    table = make_madelon(300, 2000, class_sep=2.0, shuffle=True, random_state=1)
    fernwood.ingest(table.data, path, target=table.target)
    return path


@pytest.mark.parametrize("in_memory", [True, False])
def test_the_answer_of_the_disk_for_every_byte_once(
    folder: Path, there: dict[str, str], in_memory: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not in_memory:  # a table that is larger than the budget is swept over again and again
        monkeypatch.setattr("fernwood.search.keeping.FileStore", ())
    selector = fernwood.SnowballSelector(random_state=3, n_jobs=2)
    with fernwood.open(folder) as here:
        expected = selector.fit(here).result_
    with fernwood.open(put(folder, f"s3://{BUCKET}/once.fern")) as store:
        result = selector.fit(store).result_
        fetched, n_bytes, read = store.bytes_fetched, store.n_bytes, store.bytes_read
    assert len(expected.confirmed) > 5
    np.testing.assert_array_equal(result.confirmed, expected.confirmed)
    np.testing.assert_array_equal(result.draws, expected.draws)
    assert read > (1 if in_memory else 3) * 2000 * 300 - 1
    assert fetched <= MOST_FETCHED * n_bytes


WORKER = """
import json, sys, time
from pathlib import Path
import numpy as np
import fernwood
from fernwood.store import remote

remote.BLOCK_BYTES = 2**15
url, turn, go = sys.argv[1], int(sys.argv[2]), Path(sys.argv[3])
with fernwood.open(url) as store:
    store.read([0])
    go.with_suffix(f".{turn}").touch()
    while not go.exists():
        time.sleep(0.01)
    rng, total = np.random.default_rng(turn), 0
    for _ in range(3):
        for some in np.array_split(rng.permutation(store.n_columns), 40):
            store.expect(some)
            total += int(store.read(some).astype(np.int64).sum())
    print(json.dumps({"fetched": store.bytes_fetched, "total": total, "checksums": int(store.checksums.sum() >> 1)}))
"""


def start(url: str, turn: int, go: Path) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", WORKER, url, str(turn), str(go)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def ready(go: Path, turns: int) -> None:
    until = time.monotonic() + 60
    while len(list(go.parent.glob(f"{go.stem}.[0-9]"))) < turns:
        assert time.monotonic() < until
        time.sleep(0.02)


def test_processes_share_what_was_fetched(folder: Path, there: dict[str, str], tmp_path: Path) -> None:
    url, go = put(folder, f"s3://{BUCKET}/shared.fern"), tmp_path / "go"
    workers = [start(url, turn, go) for turn in range(2)]
    ready(go, 2)
    go.touch()
    told: list[dict[str, Any]] = []
    for worker in workers:
        out, err = worker.communicate(timeout=120)
        assert worker.returncode == 0, err
        told.append(json.loads(out))
    with fernwood.open(folder) as here:
        total = 3 * int(here.read(np.arange(here.n_columns)).astype(np.int64).sum())
        assert [one["total"] for one in told] == [total, total]
        assert sum(one["fetched"] for one in told) <= MOST_FETCHED * here.n_bytes
    assert min(one["fetched"] for one in told) > 0
    assert [path for root in (tmp_path / "tmp").iterdir() for path in root.iterdir()] == []


def test_a_killed_process_leaves_others_whole_and_nothing_behind(
    folder: Path, there: dict[str, str], tmp_path: Path
) -> None:
    url, go = put(folder, f"s3://{BUCKET}/killed.fern"), tmp_path / "go"
    with fernwood.open(folder) as here:
        expected = here.read(np.arange(here.n_columns))
    with fernwood.open(url) as store:
        store.read([5])
        worker = start(url, 0, go)
        ready(go, 1)
        go.touch()
        time.sleep(0.2)
        worker.send_signal(signal.SIGKILL)
        worker.communicate()
        np.testing.assert_array_equal(store.read(np.arange(store.n_columns)), expected)
    assert [path for root in (tmp_path / "tmp").iterdir() for path in root.iterdir()] == []


FORKING = """
import os, sys
import numpy as np
import fernwood
from fernwood.store import remote

remote.BLOCK_BYTES = 2**13  # many more than are fetched ahead
with fernwood.open(sys.argv[1]) as here, fernwood.open(sys.argv[2]) as store:
    expected = here.read(np.arange(here.n_columns))
    store.read([0])
    store.expect(np.arange(store.n_columns))
    child = os.fork()
    if child == 0:
        same = (store.read(np.arange(store.n_columns)) == expected).all()
        os._exit(0 if same and store.bytes_fetched > 0 else 1)
    assert os.waitpid(child, 0)[1] == 0
    assert (store.read(np.arange(store.n_columns)) == expected).all()
"""


def test_a_process_that_forks_while_it_fetches(folder: Path, there: dict[str, str]) -> None:
    url = put(folder, f"s3://{BUCKET}/forked.fern")
    command = [sys.executable, "-W", "ignore::DeprecationWarning", "-c", FORKING, str(folder), url]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr


WORKERS = """
import json, sys
import fernwood, joblib
from joblib.externals.loky import get_reusable_executor

selector = fernwood.SnowballSelector(max_contexts=0, random_state=3, n_jobs=2)
with fernwood.open(sys.argv[1]) as here:
    alone = selector.fit(here).result_.confirmed.tolist()
with fernwood.open(sys.argv[2]) as there, joblib.parallel_config("loky", n_jobs=2):
    together = selector.fit(there).result_.confirmed.tolist()
get_reusable_executor().shutdown()
print(json.dumps({"alone": alone, "together": together}))
"""


def test_workers_open_the_store_themselves(folder: Path, there: dict[str, str], tmp_path: Path) -> None:
    url = put(folder, f"s3://{BUCKET}/workers.fern")
    done = subprocess.run(
        [sys.executable, "-c", WORKERS, str(folder), url], capture_output=True, text=True, timeout=250, check=False
    )
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    assert len(told["alone"]) > 5
    assert told["together"] == told["alone"]
    assert [path for root in (tmp_path / "tmp").glob("fernwood-*") for path in root.iterdir()] == []


def test_objects_that_are_overwritten_are_refused(folder: Path, there: dict[str, str], tmp_path: Path) -> None:
    import fsspec

    url = put(folder, f"s3://{BUCKET}/changed.fern")
    with fernwood.open(url) as store:
        store.read([0])
        files, root = fsspec.core.url_to_fs(url)
        data = bytearray((folder / "codes.npy").read_bytes())
        data[-1] ^= 1
        files.pipe_file(f"{root}/codes.npy", bytes(data))
        with pytest.raises(StoreError, match=r"'codes.npy' of 's3://bucket/changed.fern' was replaced or removed"):
            store.read([1999])


def test_what_is_not_there_is_told(there: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(StoreError, match="'s3://bucket/table.csv' is no store: there is no manifest.json below it"):
        fernwood.open(f"s3://{BUCKET}/table.csv")
    with pytest.raises(StoreError, match="'s3://nobody/s.fern' is no store"):
        fernwood.open("s3://nobody/s.fern")
    monkeypatch.setattr(objects, "_PAUSES", ())
    monkeypatch.setenv("AWS_MAX_ATTEMPTS", "1")
    with pytest.raises(StoreError, match=r"'s3://bucket/s.fern' cannot be read \(EndpointConnectionError\); check the"):
        fernwood.open(f"s3://{BUCKET}/s.fern", options={"endpoint_url": "http://127.0.0.1:1"})
