"""Stores at a URL: the same codes, fetched once, from a cache that is bounded and shared and goes when it should."""

from __future__ import annotations

import gc
import os
import pickle
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pytest

import fernwood
from fernwood.errors import ParameterError, StoreError
from fernwood.store import objects, remote

pytest.importorskip("fsspec", reason="stores at a URL need fsspec: pip install 'fernwood[remote]'")

from tests.store.remote_files import BLOCK, N_COLUMNS, N_ROWS, CountedFiles, opened, put


def caches_in(tmp_path: Path) -> list[Path]:
    return [path for root in (tmp_path / "tmp").iterdir() for path in root.iterdir()]


def test_it_is_the_store_that_is_there(url: str, folder: Path, codes: np.ndarray) -> None:
    with fernwood.open(folder) as here, opened(url) as there:
        assert there.fingerprint == here.fingerprint
        assert there.n_bytes == here.n_bytes
        assert list(there.names) == list(here.names)
        np.testing.assert_array_equal(there.read(np.arange(N_COLUMNS)[::-1]), codes[::-1])
        np.testing.assert_array_equal(there.checksums, here.checksums)
        np.testing.assert_array_equal(there.target.values, here.target.values)
        there.verify()


def test_every_byte_is_fetched_once_however_often_it_is_read(url: str, codes: np.ndarray) -> None:
    rng = np.random.default_rng(1)
    with opened(url) as store:
        for _ in range(5):
            order = rng.permutation(N_COLUMNS)
            for some in np.array_split(order, 23):
                store.expect(some)
                np.testing.assert_array_equal(store.read(some), codes[some])
        assert store.checksums.shape == (N_COLUMNS,)
        assert store.target is not None
        fetched = store.bytes_fetched
        parts = CountedFiles.parts()
        assert len(parts) == len(set(parts))
        assert sum(part[2] for part in CountedFiles.asked) == fetched <= store.n_bytes
        assert store.bytes_read >= 5 * codes.size


def test_a_part_of_the_columns_fetches_a_part_of_the_store(url: str) -> None:
    with opened(url) as store:
        store.read([3])
        assert [part[1:] for part in CountedFiles.parts("codes")] == [(0, BLOCK)]


def test_the_cache_goes_with_its_last_holder(url: str, tmp_path: Path, codes: np.ndarray) -> None:
    first, second = opened(url), opened(url)
    first.read([0])
    first.read([399])
    second.read([0])
    second.read([399])
    assert len(CountedFiles.parts("codes")) == 2
    assert len(caches_in(tmp_path)) == 1
    assert caches_in(tmp_path)[0].parent.stat().st_mode & 0o777 == 0o700
    first.close()
    assert len(caches_in(tmp_path)) == 1
    second.close()
    assert caches_in(tmp_path) == []
    np.testing.assert_array_equal(first.read([7]), codes[[7]])  # and comes again
    del first
    gc.collect()
    assert caches_in(tmp_path) == []


def test_a_cache_that_is_named_stays_and_serves_again(
    url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with opened(url, cache=tmp_path / "mine") as store:
        store.read(np.arange(N_COLUMNS))
    CountedFiles.asked.clear()
    monkeypatch.setenv("FERNWOOD_CACHE", str(tmp_path / "mine"))
    with opened(url) as store:
        store.read(np.arange(N_COLUMNS))
        assert CountedFiles.parts("codes") == []
    assert caches_in(tmp_path) == []


def test_what_a_dead_process_left_is_removed(url: str, tmp_path: Path) -> None:
    root = tmp_path / "tmp" / f"fernwood-{os.getuid()}"
    (root / "dead").mkdir(parents=True, mode=0o700)
    root.chmod(0o700)
    (root / "dead" / "holders").touch()
    (root / ".retired-1").mkdir()
    (root / ".retired-1" / "partial-3").touch()
    with opened(url) as store:
        store.read([0])
        assert [path.name for path in caches_in(tmp_path)] == [store._key]


def test_a_directory_of_others_is_not_trusted(url: str, tmp_path: Path) -> None:
    (tmp_path / "tmp" / f"fernwood-{os.getuid()}").symlink_to(tmp_path)
    with pytest.raises(StoreError, match="is not a directory of yours alone.*FERNWOOD_CACHE"):
        opened(url).read([0])


def test_a_cache_that_cannot_be_made_is_told(url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv("FERNWOOD_CACHE", str(tmp_path / "file" / "cache"))
    with pytest.raises(StoreError, match=r"no cache can be kept in .*: .*; name another directory with FERNWOOD_CACHE"):
        opened(url).read([0])


def held_blocks(tmp_path: Path) -> list[Path]:
    return [path for place in caches_in(tmp_path) for path in place.rglob("*") if path.name.isdigit()]


@pytest.mark.parametrize("threads", [1, 4])
def test_a_small_cache_stays_small_and_reads_right(
    url: str, tmp_path: Path, codes: np.ndarray, threads: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    most = 16
    store = opened(url, cache_size=most * BLOCK)
    wrong: list[str] = []

    def work(seed: int) -> None:
        rng = np.random.default_rng(seed)
        for _ in range(40 // threads):
            some = rng.permutation(N_COLUMNS)[: rng.integers(1, 30)]
            store.expect(some)
            if not (store.read(some) == codes[some]).all():
                wrong.append("codes")
            if len(held_blocks(tmp_path)) > most:
                wrong.append("bound")

    workers = [threading.Thread(target=work, args=(seed,)) for seed in range(threads)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert wrong == []
    assert len(held_blocks(tmp_path)) > 6
    parts = CountedFiles.parts()
    assert len(parts) > len(set(parts))  # blocks were pushed out, and came again
    store.close()


def test_rooms_may_differ(url: str, codes: np.ndarray) -> None:
    with opened(url) as large, opened(url, cache_size=16 * BLOCK) as small:
        large.read(np.arange(N_COLUMNS))
        fetched = len(CountedFiles.parts("codes"))
        np.testing.assert_array_equal(small.read(np.arange(N_COLUMNS)), codes)
        assert len(CountedFiles.parts("codes")) == fetched


def test_what_stays_saves_its_share_of_every_sweep(url: str) -> None:
    """A cache that kept what was used last would save nothing of a sweep."""
    with opened(url, cache_size=24 * BLOCK) as store:
        for _ in range(4):
            for i in range(N_COLUMNS):
                store.read([i])
        fetched = [part[1] for part in CountedFiles.parts("codes")]
        counts = np.unique(fetched, return_counts=True)[1]
        assert (counts == 1).sum() >= 5
        assert counts.max() == 4  # a block that passes through serves all of its columns


@pytest.mark.parametrize("size", ["0MB", "7kB", "many"])
def test_a_cache_that_is_too_small_is_refused(url: str, size: str) -> None:
    with pytest.raises(ParameterError, match="cache_size is '.*; give "):
        opened(url, cache_size=size).read([0])


def test_a_full_disk_is_told(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    class Usage:
        free = 2 * BLOCK

    monkeypatch.setattr("shutil.disk_usage", lambda _: Usage)
    with pytest.raises(StoreError, match="has 2.0 kB free, too little for a cache; name a directory on another"):
        opened(url).read([0])


def test_half_of_the_free_disk_at_most(url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    class Usage:
        free = 2 * BLOCK * 12

    monkeypatch.setattr("shutil.disk_usage", lambda _: Usage)
    with opened(url) as store, opened(url) as other:
        for i in range(N_COLUMNS):
            store.read([i])
            Usage.free = BLOCK
            other.read([-i + N_COLUMNS - 1])
        assert 6 < len(held_blocks(tmp_path)) <= 12


def test_threads_and_holders_fetch_a_block_once(url: str, codes: np.ndarray) -> None:
    CountedFiles.pause = 0.02
    stores = [opened(url), opened(url)]
    wrong: list[int] = []

    def work(i: int) -> None:
        some = np.arange(0, 60)
        if not (stores[i % 2].read(some) == codes[some]).all():
            wrong.append(i)

    workers = [threading.Thread(target=work, args=(i,)) for i in range(8)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert wrong == []
    parts = CountedFiles.parts("codes")
    assert len(parts) == len(set(parts)) == 7
    assert CountedFiles.at_once[1] <= 2 * objects.AT_ONCE
    for store in stores:
        store.close()


def test_half_a_block_is_never_read(url: str, tmp_path: Path, codes: np.ndarray) -> None:
    with opened(url, cache=tmp_path / "mine") as store:
        first = store._blocks.first["codes.npy"]
        place = store._held_cache().path
        (place / f"partial-{first}").write_bytes(b"half")  # of a writer that was killed
        np.testing.assert_array_equal(store.read([0]), codes[[0]])
        assert not list(place.glob("partial-*"))


def test_expected_columns_are_fetched_meanwhile(url: str) -> None:
    with opened(url) as store:
        CountedFiles.pause = 0.05
        store.expect(np.arange(20))
        for thread in [thread for thread in threading.enumerate() if thread.name == "fernwood-ahead"]:
            thread.join(10)
        ahead = CountedFiles.parts("codes")
        assert len(ahead) == 3
        assert CountedFiles.at_once[1] == 2
        store.read(np.arange(20))
        assert CountedFiles.parts("codes") == ahead


def test_a_fault_while_fetching_ahead_is_met_by_whoever_reads(url: str, codes: np.ndarray) -> None:
    with opened(url) as store:
        CountedFiles.fault = lambda *_: (_ for _ in ()).throw(ConnectionResetError())
        store.expect(np.arange(20))
        for thread in [thread for thread in threading.enumerate() if thread.name == "fernwood-ahead"]:
            thread.join(10)
        CountedFiles.fault = None
        np.testing.assert_array_equal(store.read(np.arange(20)), codes[:20])


def test_want_of_memory_while_fetching_ahead_ends_no_thread(url: str, codes: np.ndarray) -> None:
    """A traceback was printed for each, and after two nothing was fetched ahead any more."""
    with opened(url) as store:
        CountedFiles.fault = lambda *_: (_ for _ in ()).throw(MemoryError())
        for _ in range(3):
            store.expect(np.arange(20))
            for thread in [thread for thread in threading.enumerate() if thread.name == "fernwood-ahead"]:
                thread.join(10)
        CountedFiles.fault = None
        assert store._held_cache()._n_threads == 0
        np.testing.assert_array_equal(store.read(np.arange(20)), codes[:20])


def test_a_process_that_is_sent_the_store_opens_it_once(url: str) -> None:
    with opened(url) as store:
        sent = pickle.dumps(store)
    assert len(sent) < 2000
    one, again = pickle.loads(sent), pickle.loads(sent)
    assert one is again
    one.read([0])
    one.close()
    again.read([0])
    assert len(CountedFiles.parts("codes")) == 1  # the cache stays from one task to the next
    remote._AT_WORK.clear()


def test_a_store_that_was_replaced_is_not_opened_for_another(url: str, tmp_path: Path) -> None:
    with opened(url) as store:
        sent = pickle.dumps(store)
    fernwood.ingest(np.random.default_rng(5).random((N_ROWS, 3)), tmp_path / "other.fern")
    CountedFiles.store.clear()
    put(tmp_path / "other.fern", url)
    with pytest.raises(StoreError, match="was replaced since it was opened elsewhere; open it again"):
        pickle.loads(sent)


def test_other_versions_have_other_caches(url: str, folder: Path, tmp_path: Path) -> None:
    with opened(url, cache=tmp_path / "mine") as store:
        store.read([0])
        key = store._key
    put(folder, url)
    with opened(url, cache=tmp_path / "mine") as store:
        assert store._key != key


def test_marks_tell_versions_apart_and_ask_nobody(url: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with opened(url) as store:
        mark = store.mark()
        assert mark["codes.npy"][0] == (folder / "codes.npy").stat().st_size
        put(folder, url)
        monkeypatch.setattr(CountedFiles, "info", None)
        assert store.mark() == mark
    monkeypatch.undo()
    with opened(url) as store:
        assert store.mark() != mark


def test_a_file_url_is_a_path(folder: Path) -> None:
    assert isinstance(fernwood.open(folder.as_uri()), fernwood.store.DiskStore)
    with pytest.raises(ParameterError, match="cache_size is for stores at a URL, and .* is on disk"):
        fernwood.open(folder, cache_size="1GB")


def test_disks_need_no_fsspec(folder: Path) -> None:
    check = "import sys, fernwood; fernwood.open(sys.argv[1]).read([0]); print('fsspec' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", check, folder], capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"
