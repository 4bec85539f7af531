"""Devices on the command line: where a search may use one, and what is said of those that are seen."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from fernwood.kernels.ready import ensure_compiled

WITHOUT_CUPY = "import sys; sys.modules['cupy'] = None"

SEEN = """
from fernwood import device
card = device.Seen("NVIDIA H200", 150_000_000_000, 149_500_000_000, "9.0", "13.0", "12.9", "14.2.0")
device.seen, device.why_none = (lambda: [card, card._replace(name="Old\\x1b[31m", capability="6.1")]), lambda: {why!r}
"""

TELLING = """
from fernwood.cli import searching
from fernwood.search import forecasting, methods
searching.open_card = lambda: print("opened")

def telling(function):
    def told(*arguments, device="cpu", device_memory=None, **how):
        print(device, device_memory)
        return function(*arguments, **how)
    return told

methods.select, forecasting.prepare = telling(methods.select), telling(forecasting.prepare)
"""
"""Says which device a search is told of; it is done on the processor all the same."""


@pytest.fixture
def table(tmp_path: Path) -> Path:
    ensure_compiled("snowball", "ferns")
    rng = np.random.default_rng(0)
    target = np.arange(80) % 2
    columns = rng.standard_normal((80, 12))
    columns[:, 0] += 3 * target
    np.save(tmp_path / "t.npy", np.c_[columns, target])
    return tmp_path / "t.npy"


def test_no_device(run: Any) -> None:
    done = run("info", "--devices", before=WITHOUT_CUPY)
    said = "CuPy is not installed; pip install 'fernwood[gpu]', or the CuPy that is made for your CUDA"
    assert done[:3] == (0, said + "\n", "")
    told = run("info", "--devices", "--json", before=WITHOUT_CUPY)
    assert json.loads(told.out) == {"devices": [], "usable": False, "why": said}


@pytest.mark.parametrize("why", ["", "the card is too old"])
def test_devices_are_listed(run: Any, why: str) -> None:
    done = run("info", "--devices", before=SEEN.format(why=why))
    assert done.code == 0, done.err
    first, second = done.out.splitlines()[1:3]
    for part in ("NVIDIA H200", "150.0 GB", "149.5 GB", "9.0", "CUDA 13.0", "14.2.0 for CUDA 12.9"):
        assert part in first
    assert "6.1" in second
    assert "\x1b" not in done.out
    assert done.out.splitlines()[-1] == (
        why or "--device cuda uses the first of these; CUDA_VISIBLE_DEVICES says which that is"
    )
    told = json.loads(run("info", "--devices", "--json", before=SEEN.format(why=why)).out)
    assert (told["usable"], told["why"]) == (not why, why)
    assert told["devices"][0] == {
        "name": "NVIDIA H200",
        "total": 150 * 10**9,
        "free": 149_500_000_000,
        "capability": "9.0",
        "driver": "13.0",
        "runtime": "12.9",
        "cupy": "14.2.0",
    }


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("info",), "no store is given; name one, such as genes.fern, or give --devices"),
        (
            ("info", "s.fern", "--devices"),
            "--devices is about this machine, and 's.fern' is a store; leave one of them",
        ),
        (("select", "t.npy", "--target", 12, "--device", "gpu"), "'gpu' is not one of 'cpu', 'cuda', 'auto'"),
        (
            ("select", "t.npy", "--target", 12, "--device", "cuda"),
            (
                "CuPy is not installed; pip install 'fernwood[gpu]', or the CuPy that is made for your CUDA, or search on the "
                "processor: device='cpu' (--device cpu)"
            ),
        ),
        (("plan", "t.npy", "--target", 12, "--device", "cuda"), "CuPy is not installed;"),
        (
            ("select", "t.npy", "--target", 12, "--device", "cuda", "--device-memory", "lots"),
            "device_memory is 'lots'; give a positive size",
        ),
        (
            ("select", "t.npy", "--target", 12, "--device-memory", "2GB"),
            "--device-memory is '2GB' and --device is cpu; add --device cuda, or leave it out",
        ),
        *(
            (
                (command, "t.npy", "--target", 12, "--method", "boruta", "--device", "cuda"),
                "--device is cuda and the method is boruta, of which nothing runs on a device; leave --device out, or",
            )
            for command in ("select", "plan")
        ),
    ],
)
def test_what_is_refused(run: Any, table: Path, arguments: tuple[object, ...], said: str) -> None:
    done = run(*arguments, before=WITHOUT_CUPY)
    assert done.code == 2
    assert said in done.err
    assert done.err.count("\n") == 1
    assert done.out == ""


def test_the_search_is_told(run: Any, table: Path) -> None:
    always = ("t.npy", "--target", 12, "--seed", 0, "--quiet")
    assert run("select", *always, before=TELLING).out == "cpu None\n"
    assert run("select", *always, "--device", "auto", before=TELLING).out == "auto None\n"
    told = run("select", *always, "--device", "cuda", "--device-memory", "2GB", before=TELLING)
    assert told[:3] == (0, "opened\ncuda 2000000000\n", "")
    other = run("select", *always, "--method", "ferns", "--scans", 2, "--device", "auto", before=TELLING)
    assert other[:3] == (0, "cpu None\n", "")


def test_a_plan_is_made_with_the_device(run: Any, table: Path) -> None:
    planned = run("plan", "t.npy", "--target", 12, "--device", "cuda", "--device-memory", "2GB", before=TELLING)
    assert planned.code == 0, planned.err
    assert planned.out.startswith("opened\n")
    assert planned.out.count("cuda 2000000000\n") == 2


def test_a_run_goes_on_on_another_device(run: Any, table: Path, tmp_path: Path) -> None:
    """The device is neither in the run nor in the command that asks for it again."""
    kept = run("select", "t.npy", "--target", 12, "--seed", 0, "--out", "r", "--device", "cuda", before=TELLING)
    assert kept.code == 0, kept.err
    texts = {file.name: file.read_text() for file in (tmp_path / "r").iterdir() if file.suffix in (".json", ".jsonl")}
    assert any("fernwood select t.npy --target 12" in text for text in texts.values())
    assert [name for name, text in texts.items() if "device" in text] == []
    again = run("resume", "r", "--device", "auto", "--device-memory", "1GB", "--quiet", before=TELLING)
    assert again[:3] == (0, "auto 1000000000\n", "")
    first = run("export", "r", "--to", "csv").out
    plain = run("select", "t.npy", "--target", 12, "--seed", 0, "--out", "p", "--quiet")
    assert plain.code == 0, plain.err
    assert run("export", "p", "--to", "csv").out == first


def test_a_run_of_another_method_takes_no_device(run: Any, table: Path) -> None:
    made = run("select", "t.npy", "--target", 12, "--method", "ferns", "--scans", 2, "--out", "r", "--quiet")
    assert made.code == 0, made.err
    refused = run("resume", "r", "--device", "cuda")
    assert refused.code == 2
    assert "--device is cuda and the method is ferns, of which nothing runs on a device" in refused.err


LOST = """
from fernwood.cli import searching
from fernwood.errors import DeviceError
from fernwood.search import methods
searching.open_card = lambda: None

def select(*_, **__):
    raise DeviceError("the device failed (lost)")

methods.select = select
"""


def test_a_device_that_is_lost_leaves_a_run_to_go_on_with(run: Any, table: Path) -> None:
    lost = run("select", "t.npy", "--target", 12, "--seed", 0, "--out", "r", "--device", "cuda", "--quiet", before=LOST)
    assert lost.code == 2
    assert (
        "the device failed (lost); what was done before is kept: mend that and go on with: fernwood resume r"
        in lost.err
    )
    assert run("resume", "r", "--quiet").code == 0


@pytest.mark.parametrize(
    ("budget", "said"),
    [
        (10**12, "on the card, of 1.0 TB: the table, 1.0 GB, stays there; 2.1 GB at most to work with\n"),
        (
            10**9,
            "on the card, of 1.0 GB: the table, 1.0 GB, does not fit, and streams through it; 250.0 MB at most to ",
        ),
    ],
)
def test_a_plan_says_what_a_card_holds(budget: int, said: str, capsys: pytest.CaptureFixture[str]) -> None:
    from fernwood.cli.plan import _print_card
    from fernwood.run.plan import plan_card

    _print_card(plan_card(1000, 10**6, budget))
    assert capsys.readouterr().out.startswith(said)
