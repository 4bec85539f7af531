"""An object store on this machine, for tests: moto's server on the loopback, with keys that open nothing else."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

BUCKET = "bucket"


@contextmanager
def object_store() -> Iterator[dict[str, str]]:
    """The environment under which `s3://` is that store."""
    why = "an object store to test with needs moto's server and s3fs: pip install 'moto[s3]' flask flask-cors s3fs"
    server = pytest.importorskip("moto.server", reason=why)
    s3fs = pytest.importorskip("s3fs", reason=why)
    s3fs.S3FileSystem.clear_instance_cache()  # which know the server before
    logging.getLogger("werkzeug").setLevel(logging.ERROR)
    served = server.ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    served.start()
    try:
        host, port = served.get_host_and_port()
        yield {
            "AWS_ENDPOINT_URL": f"http://{host}:{port}",
            "AWS_ACCESS_KEY_ID": "nobody",
            "AWS_SECRET_ACCESS_KEY": "nothing",
            "AWS_DEFAULT_REGION": "us-east-1",
            "AWS_CONFIG_FILE": "/dev/null",
            "AWS_SHARED_CREDENTIALS_FILE": "/dev/null",
        }
    finally:
        served.stop()


def put(folder: Path, url: str) -> str:
    """Copy a store there; the environment must be that of the object store."""
    import fsspec

    files, root = fsspec.core.url_to_fs(url)
    if not files.exists(BUCKET):
        files.mkdir(BUCKET)
    files.put(f"{folder}/", f"{root}/", recursive=True)
    return url
