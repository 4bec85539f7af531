"""Stores at a URL on the command line, and what is said of URLs that are none."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import fernwood
from tests.object_store import BUCKET, object_store, put

QUICK = ("--method", "subspace", "--rule", "probe", "--draws", 40, "--q", 10, "--trees", 3, "--seed", 1)
URL = f"s3://{BUCKET}/s.fern"


@pytest.fixture(scope="module")
def environment(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, str]]:
    with object_store() as environment:
        yield {**environment, "TMPDIR": str(tmp_path_factory.mktemp("tmp"))}


@pytest.fixture
def before(environment: dict[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """The store there, a copy here, and what sets a command's environment."""
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    rng = np.random.default_rng(0)
    x = rng.standard_normal((120, 30))
    fernwood.ingest(x, tmp_path / "s.fern", target=np.where(x[:, 3] + x[:, 7] > 0, "yes", "no"))
    put(tmp_path / "s.fern", URL)
    return f"import os, tempfile; os.environ.update({environment!r}); tempfile.tempdir = None"


def test_a_run_remembers_where_its_store_is(run: Any, before: str, tmp_path: Path, environment: dict[str, str]) -> None:
    done = run("select", URL, "--out", "there", "--json", *QUICK, before=before)
    assert done.code == 0, done.err
    assert json.loads(done.out)["machine"]["bytes_fetched"] > 0
    assert json.loads((tmp_path / "there" / "run.json").read_text())["store"] == URL
    assert run("select", "s.fern", "--out", "here", *QUICK).code == 0
    export = [run("export", name, "--to", "csv").out for name in ("there", "here")]
    assert export[0] == export[1] != ""
    assert run("resume", "there", before=before).code == 0
    assert run("resume", "here", "--store", URL, before=before).code == 0
    for name in ("here", "there"):
        assert run("export", name, "--table", f"{name}.csv", before=before).code == 0
    assert (tmp_path / "here.csv").read_bytes() == (tmp_path / "there.csv").read_bytes()
    left = [path for root in Path(environment["TMPDIR"]).glob("fernwood-*/*") for path in root.iterdir()]
    assert left == []
    assert run("apply", "here", URL, before=before).out.startswith('"x3","x7"')


def test_info_verify_and_plan(run: Any, before: str) -> None:
    told = [json.loads(run("info", place, "--json", before=before).out) for place in (URL, "s.fern")]
    assert told[0] == told[1]
    assert "s.fern is whole: 30 columns" in run("verify", URL, before=before).out
    done = run("plan", URL, *QUICK, before=before)
    assert done.code == 0
    assert done.out.startswith(f"{URL}: 120 rows, 30 columns")


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (("select", f"s3://{BUCKET}/t.csv"), "'s3://bucket/t.csv' is no store: there is no manifest.json below it"),
        (("info", f"s3://{BUCKET}/t.csv"), "'s3://bucket/t.csv' is no store"),
        (("select", URL, "--target", "y"), "--target is given and 's.fern' is a store, which has it settled"),
        (
            ("select", f"s3://{BUCKET}/t.h5ad", "--target", "y"),
            "is a URL, and tables are read from disk; copy it to one",
        ),
        (("ingest", f"s3://{BUCKET}/t.csv", "--target", "y", "--out", "x"), "is a URL, and tables are read from disk"),
        (("ingest", "t.csv", "--target", "y", "--out", URL), f"a store is made on disk, and '{URL}' is a URL"),
        (("info", "nope://x/s.fern"), "begins with nope://, which fsspec does not know"),
    ],
)
def test_what_is_no_store_is_one_sentence(
    run: Any, before: str, tmp_path: Path, arguments: tuple[str, ...], sentence: str
) -> None:
    (tmp_path / "t.csv").write_text("a,y\n1,0\n2,1\n3,0\n4,1\n")
    done = run(*arguments, before=before)
    assert done.code == 2, done.err
    assert sentence in done.err
    assert done.err.count("\n") == 1


def test_passwords_are_not_written_down(run: Any, before: str, environment: dict[str, str], tmp_path: Path) -> None:
    import fsspec

    files = fsspec.filesystem("s3")
    for path in files.ls(f"{BUCKET}/s.fern"):
        files.chmod(path, acl="public-read")
    url = f"{environment['AWS_ENDPOINT_URL']}/{BUCKET}/s.fern?mark=secret"
    done = run("select", url, "--out", "r", *QUICK, before=before)
    assert done.code == 0, done.err
    written = [path for path in (tmp_path / "r").rglob("*") if path.is_file() and b"secret" in path.read_bytes()]
    assert written == []
    assert "secret" not in done.out + done.err
    assert json.loads((tmp_path / "r" / "run.json").read_text())["store"] == url.removesuffix("?mark=secret")
