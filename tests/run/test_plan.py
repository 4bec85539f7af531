"""The memory plan of a search: what it says, and whether a real search keeps to it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from hypothesis import given, strategies as st

from fernwood.datasets import make_madelon
from fernwood.errors import BudgetError
from fernwood.kernels.ready import ensure_compiled
from fernwood.run.plan import plan_draws

SHAPES = {
    "n_rows": st.integers(4, 10**7),
    "n_columns": st.integers(2, 10**7),
    "n_classes": st.integers(1, 10**4),
    "q": st.integers(1, 10**5),
    "round_size": st.integers(1, 1000),
    "n_threads": st.integers(1, 64),
    "held": st.integers(0, 10**9),
}


@given(st.fixed_dictionaries(SHAPES), st.integers(1, 10**13))
def test_a_plan_fits_or_says_what_would(shape: dict[str, int], budget: int) -> None:
    free = plan_draws(**shape, budget=None)
    assert free.n_threads == shape["n_threads"]
    least = free._replace(n_threads=1).total
    if budget < least:
        with pytest.raises(BudgetError) as refusal:
            plan_draws(**shape, budget=budget)
        assert refusal.value.least == least
        budget = least
    plan = plan_draws(**shape, budget=budget)
    assert plan.total <= budget
    assert 1 <= plan.n_threads <= free.n_threads
    assert plan == free or plan._replace(n_threads=plan.n_threads + 1).total > budget
    assert plan._replace(n_threads=0) == free._replace(n_threads=0)


def test_threads_shrink_with_the_budget() -> None:
    def threads(budget: int) -> int:
        return plan_draws(1000, 20_000, 2, 250, 20, n_threads=16, budget=budget).n_threads

    counts = [threads(budget) for budget in range(17_000_000, 48_000_000, 500_000)]
    assert counts == sorted(counts)
    assert counts[0] < 4
    assert counts[-1] == 16


def test_a_budget_that_is_too_small() -> None:
    with pytest.raises(
        BudgetError,
        match=r"a memory budget of 1.0 MB is too small for 20,000 columns and draws of 250 x 1,000 codes; "
        r"at least \S+ MB would do, or a smaller q",
    ):
        plan_draws(1000, 20_000, 2, 250, 20, n_threads=8, budget=1_000_000)


# Measured -----------------------------------------------------------------------------------------------------------

# Loads libraries once, and measures a search in a child of its own for every line of JSON on standard input. A child is
# warmed up by a search of the same kind, so that loading compiled code is not counted: what is left is the search.
MEASURING = """
import json, os, sys, warnings
from pathlib import Path
import numpy as np, fernwood
from fernwood.budget import resident
from fernwood.run import plan as planning
from fernwood.search import rolling, selecting
from fernwood.search.settings import SubspaceSettings
from fernwood.search.snowball_settings import SnowballSettings
warnings.simplefilter("ignore")
def measure(path, n_threads, method, settings):
    if method == "subspace":
        room, plan, search, make, small_ones = (
            selecting, "plan_draws", selecting.select_by_subspaces, SubspaceSettings, {"q": 3}
        )
    else:
        room, plan, search, make, small_ones = rolling, "plan_waves", rolling.select_by_snowball, SnowballSettings, {}
    small = fernwood.ingest(np.random.default_rng(0).standard_normal((80, 6)), target=[i % 2 for i in range(80)])
    search(small, make(**settings | small_ones), 0, n_threads=n_threads)
    plans = []
    def spy(*args, **options):
        plans.append(getattr(planning, plan)(*args, **options))
        return plans[-1]
    setattr(room, plan, spy)
    store = fernwood.open(path)
    Path("/proc/self/clear_refs").write_text("5")  # the peak is forgotten
    before = resident()
    found = search(store, make(**settings), 0, n_threads=n_threads).result
    ranking, summary = found.ranking, found.summary()
    # Not getrusage, which a child begins at the size of its parent.
    peak = next(line for line in Path("/proc/self/status").read_text().splitlines() if line.startswith("VmHWM"))
    print(1024 * int(peak.split()[1]) - before, plans[0].total, flush=True)
while line := sys.stdin.readline():
    if os.fork() == 0:
        code = 1
        try:
            measure(**json.loads(line))
            code = 0
        finally:
            os._exit(code)
    if os.wait()[1]:
        print("failed", flush=True)
"""
Measured = Callable[..., tuple[int, int]]


@pytest.fixture(scope="module")
def measured() -> Iterator[Measured]:
    """Measures a search: its peak, and what was planned."""
    ensure_compiled("trees", "snowball")
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    with subprocess.Popen(
        [sys.executable, "-c", MEASURING], env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        asked, told = process.stdin, process.stdout

        def measured(store: Path, n_threads: int, method: str, **settings: object) -> tuple[int, int]:
            request = {"path": str(store), "n_threads": n_threads, "method": method, "settings": settings}
            asked.write(json.dumps(request) + "\n")
            asked.flush()
            peak, planned = map(int, told.readline().split())
            return peak, planned

        yield measured
        asked.close()


@pytest.mark.skipif(not os.access("/proc/self/clear_refs", os.W_OK), reason="the peak cannot be reset here")
@pytest.mark.parametrize(
    ("n_rows", "n_columns", "n_threads", "settings"),
    [
        (200, 60_000, 1, {"q": 300, "n_iter": 20, "n_trees": 1}),
        pytest.param(20_000, 400, 1, {"q": 300, "n_iter": 3, "n_trees": 1}, marks=pytest.mark.long),
        (20_000, 400, 2, {"q": 300, "n_iter": 4, "n_trees": 1, "learner": "cart", "max_features": "sqrt"}),
        (60_000, 60, 2, {"q": 20, "n_iter": 4, "n_trees": 1, "bootstrap": True, "importance": "permutation"}),
        (60_000, 60, 2, {"q": 20, "n_iter": 4, "n_trees": 1, "max_samples": 0.7, "importance": "out-of-sample"}),
        (300_000, 40, 2, {"q": 20, "n_iter": 4, "n_trees": 1}),  # patches of 50 000 rows
    ],
)
def test_a_search_keeps_to_its_plan(
    measured: Measured, tmp_path: Path, n_rows: int, n_columns: int, n_threads: int, settings: dict[str, object]
) -> None:
    make_madelon(n_rows, n_columns, random_state=0, out=tmp_path / "s.fern")
    peak, planned = measured(tmp_path / "s.fern", n_threads, "subspace", **settings)
    assert peak <= planned
    assert planned < 3 * peak + 20_000_000  # a plan of any size would hold


@pytest.mark.skipif(not os.access("/proc/self/clear_refs", os.W_OK), reason="the peak cannot be reset here")
@pytest.mark.parametrize(
    ("n_rows", "n_columns", "n_threads", "settings"),
    [
        (200, 60_000, 1, {"max_contexts": 0}),
        pytest.param(1000, 5000, 2, {}, marks=pytest.mark.long),
        (1000, 5000, 2, {"given": ["x0", "x1"]}),
        (50_000, 60, 2, {"max_contexts": 0, "max_waves": 1, "n_confirming": 200}),  # contexts in parts
        (150_000, 40, 2, {"max_waves": 1, "n_contexts": 16, "n_confirming": 16, "max_rows": 5000}),  # a sample
    ],
)
def test_a_snowball_keeps_to_its_plan(
    measured: Measured, tmp_path: Path, n_rows: int, n_columns: int, n_threads: int, settings: dict[str, object]
) -> None:
    make_madelon(n_rows, n_columns, class_sep=2.0, random_state=0, out=tmp_path / "s.fern")
    peak, planned = measured(tmp_path / "s.fern", n_threads, "snowball", **settings)
    assert peak <= planned
    assert planned < 4 * peak + 20_000_000
