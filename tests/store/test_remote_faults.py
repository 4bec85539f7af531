"""What can go wrong between a URL and here: tried again where that helps, and one sentence where it does not."""

from __future__ import annotations

import sys
import threading
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import numpy as np
import pytest

from fernwood.errors import ShortageError, StoreError
from fernwood.sources.place import Url
from fernwood.store import objects

pytest.importorskip("fsspec", reason="stores at a URL need fsspec: pip install 'fernwood[remote]'")

from tests.store.remote_files import CountedFiles, opened


class NoCredentialsError(Exception):
    """As the library for s3:// has it, where nothing says who asks."""


class Times:
    """A fault that happens so many times."""

    def __init__(self, n: int, error: Exception | bytes, name: str = "codes.npy") -> None:
        self.left, self._error, self._name = n, error, name

    def __call__(self, name: str, start: int) -> bytes | None:
        if name != self._name or not self.left:
            return None
        self.left -= 1
        if isinstance(self._error, bytes):
            return self._error
        raise self._error


PASSING = [ConnectionResetError(104, "reset"), TimeoutError(), RuntimeError("500"), b"short"]


@pytest.mark.parametrize("error", PASSING, ids=repr)
def test_what_passes_is_tried_again(url: str, codes: np.ndarray, error: Exception | bytes) -> None:
    with opened(url) as store:
        CountedFiles.fault = Times(3, error)
        np.testing.assert_array_equal(store.read([5, 300]), codes[[5, 300]])


@pytest.mark.parametrize(
    ("error", "sentence"),
    [
        (ConnectionResetError(104, "x"), r"cannot be read \(connection reset by peer\); check the address and the net"),
        (RuntimeError("counted://me:secret@bucket"), r"cannot be read \(RuntimeError\); check the address"),
        (b"short", "does not send as many bytes as are asked for; look after the network"),
        (PermissionError(13, "secret"), "may not be read with the credentials at hand; give others where"),
        (NoCredentialsError("secret"), "may not be read with the credentials at hand; give others where"),
        (FileNotFoundError("x"), "'codes.npy' of 'counted://bucket/s.fern' was replaced or removed since"),
    ],
    ids=repr,
)
def test_what_stays_is_one_sentence(url: str, error: Exception | bytes, sentence: str) -> None:
    secret = url.replace("://", "://me:secret@")
    CountedFiles.store.update({f"/me:secret@{path[1:]}": file for path, file in list(CountedFiles.store.items())})
    with opened(secret) as store:
        CountedFiles.fault = Times(99, error)
        with pytest.raises(StoreError, match=sentence) as caught:
            store.read([0])
        assert "secret" not in str(caught.value)
        assert "counted://bucket/s.fern" in str(caught.value)


@pytest.mark.parametrize("error", [PermissionError(), NoCredentialsError()], ids=repr)
def test_refusals_are_not_tried_again(url: str, error: Exception) -> None:
    with opened(url) as store:
        CountedFiles.fault = Times(99, error)
        with pytest.raises(StoreError):
            store.read([0])
        assert CountedFiles.fault.left == 98


BEHIND = FileNotFoundError("counted://bucket/s.fern")
BEHIND.__cause__ = MemoryError()  # as fsspec has it for http://, whatever goes wrong


@pytest.mark.parametrize("error", [MemoryError(), RuntimeError("can't start new thread"), BEHIND], ids=repr)
def test_want_of_memory_is_not_the_network(url: str, error: Exception) -> None:
    with opened(url) as store:
        CountedFiles.fault = Times(99, error)
        with pytest.raises(ShortageError, match="the system gives no more memory"):
            store.read([0])
        assert CountedFiles.fault.left == 98


def test_records_that_cannot_be_fetched_are_not_called_damaged(url: str) -> None:
    with opened(url) as store:
        CountedFiles.fault = Times(99, PermissionError(), "columns.parquet")
        with pytest.raises(StoreError, match="may not be read with the credentials"):
            _ = store.checksums


@pytest.mark.parametrize("when", ["before", "meanwhile"])
def test_versions_are_never_mixed(url: str, codes: np.ndarray, tmp_path: Path, when: str) -> None:
    """The same size, other codes: an object that was overwritten."""
    path = url.removeprefix("counted:/") + "/codes.npy"
    other = bytes(CountedFiles.store[path].getvalue()[:128]) + bytes(codes.size)

    def overwrite(*_: object) -> None:
        CountedFiles.fault = None
        CountedFiles().pipe_file(path, other)

    with opened(url) as store:
        store.read([0])
        if when == "before":
            overwrite()
        else:
            CountedFiles.fault = overwrite
        with pytest.raises(StoreError, match="'codes.npy' of .* was replaced or removed since the store was opened"):
            store.read([300])
        np.testing.assert_array_equal(store.read([1]), codes[[1]])  # what is here is of the first version
        with pytest.raises(StoreError, match="was replaced since it was opened; open it again"):
            store.verify()


def test_an_object_that_became_shorter_is_another_version(url: str) -> None:
    path = url.removeprefix("counted:/") + "/codes.npy"
    with opened(url) as store:
        CountedFiles().pipe_file(path, b"")
        with pytest.raises(StoreError, match="was replaced or removed"):
            store.read([300])


@pytest.mark.parametrize("name", ["codes.npy", "columns.parquet", "rows.parquet"])
def test_missing_and_cut_off_objects_are_found_on_opening(url: str, name: str) -> None:
    path = url.removeprefix("counted:/") + f"/{name}"
    data = CountedFiles.store[path].getvalue()
    CountedFiles().pipe_file(path, data[:-1])
    with pytest.raises(StoreError, match=f"'{name}' of 'counted://bucket/s.fern' has {len(data) - 1} bytes where"):
        opened(url)
    CountedFiles().rm_file(path)
    with pytest.raises(StoreError, match=f"'counted://bucket/s.fern' lacks its file '{name}'"):
        opened(url)


@pytest.mark.parametrize("address", ["counted://bucket/table.csv", "counted://nothing/s.fern", "memory://x.fern"])
def test_what_is_no_store_is_told(url: str, address: str) -> None:
    with pytest.raises(StoreError, match=f"'{address}' is no store: there is no manifest.json below it; give"):
        opened(address)


def test_damaged_manifests_are_told(url: str) -> None:
    CountedFiles().pipe_file(url.removeprefix("counted:/") + "/manifest.json", b"{")
    with pytest.raises(StoreError, match="the manifest of 'counted://bucket/s.fern' is damaged"):
        opened(url)


def test_a_missing_library_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(StoreError, match="begins with nope://, which fsspec does not know"):
        opened("nope://bucket/s.fern")
    with monkeypatch.context() as patch:
        patch.setitem(sys.modules, "gcsfs", None)
        with pytest.raises(
            StoreError, match=r"needs a library for gs:// that is not installed \(.*gcsfs.*\); pip inst"
        ):
            opened("gs://bucket/s.fern")
    with monkeypatch.context() as patch:
        for module in [name for name in sys.modules if name.split(".")[0] == "fsspec"]:
            patch.setitem(sys.modules, module, None)
        with pytest.raises(StoreError, match=r"fsspec is not installed; pip install 'fernwood\[remote\]'"):
            opened("s3://bucket/s.fern")


def test_a_cache_that_vanishes_is_told(url: str) -> None:
    with opened(url) as store:
        store.read([0])
        for path in sorted(store._held_cache().path.rglob("*"), reverse=True):
            path.rmdir() if path.is_dir() else path.unlink()
        store._held_cache().path.rmdir()
        with pytest.raises(StoreError, match="the cache '.*' cannot be used: No such file or directory; mend that"):
            store.read([300])


@pytest.mark.parametrize(
    ("full", "shown"),
    [
        ("s3://bucket/a/b.fern", "s3://bucket/a/b.fern"),
        ("https://me:pa@ss@host:8080/a.fern?sig=x#y", "https://host:8080/a.fern"),
        ("simplecache::s3://k:s@bucket/b.fern/", "simplecache::s3://bucket/b.fern/"),
        ("https://host?token=secret", "https://host"),
    ],
)
def test_secrets_are_not_shown(full: str, shown: str) -> None:
    assert str(Url(full)) == shown
    assert repr(Url(full)) == f"Url({shown!r})"


class Quiet(SimpleHTTPRequestHandler):
    """A server that knows no ranges, or refuses."""

    def log_message(self, *_: object) -> None:
        pass

    def send_head(self):
        if "secret" in self.path and "key=1" not in self.path:
            self.send_error(403)
            return None
        return super().send_head()


@pytest.fixture
def server(folder: Path, monkeypatch: pytest.MonkeyPatch) -> object:
    pytest.importorskip("aiohttp", reason="http:// needs aiohttp")
    monkeypatch.setattr(objects, "_PAUSES", (0.0,))
    server = ThreadingHTTPServer(("127.0.0.1", 0), lambda *a: Quiet(*a, directory=str(folder.parent)))
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()
    thread.join()


def test_servers_without_ranges_are_refused(server: str) -> None:
    with pytest.raises(StoreError, match="sends whole files where parts are asked for; put the store on one"):
        opened(f"{server}/s.fern")


def test_refused_and_unreachable_servers_are_told_apart(server: str) -> None:
    with pytest.raises(StoreError, match="may not be read with the credentials at hand"):
        opened(f"{server}/secret.fern")
    with pytest.raises(StoreError, match="is no store: there is no manifest.json"):
        opened(f"{server}/nothing.fern")
    with pytest.raises(StoreError, match=r"'http://127.0.0.1:1/s.fern' cannot be read \(.*refused.*\); check the addr"):
        opened("http://me:hidden@127.0.0.1:1/s.fern?key=hidden")
