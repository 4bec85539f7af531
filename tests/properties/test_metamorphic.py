"""Changes of a table whose effect on the answer is known, over all searches and models; see `torture.metamorphic`.

`python -m torture metamorphic` goes through every case on table after table. Here is one table of each task, and every
search meets a part of the relations and of the ways, each of which meets all kinds of searches. As many more are in the
long part.
"""

from __future__ import annotations

import os
import subprocess
import sys
from itertools import product
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import fernwood
from torture.metamorphic import checking
from torture.metamorphic.methods import MODELS, SEARCHES, answer_of, decisions
from torture.metamorphic.relations import EXACT
from torture.metamorphic.tables import make_table
from torture.metamorphic.uncompiled import both_ways
from torture.metamorphic.ways import WAYS

SEED = 1
SEARCHED = [(name, task) for name, search in SEARCHES.items() for task in search.tasks]


def some(cases: list, of: int) -> list:
    """Every so many of the cases, every second of them for the long part: neighbours in a list are of one kind."""
    taken = cases[SEED % of :: of]
    return [pytest.param(*case, marks=[pytest.mark.long] * (i % 2)) for i, case in enumerate(taken)]


@pytest.mark.parametrize(("relation", "name", "task"), some(checking.cases(), of=3))
def test_what_leaves_every_number_of_an_answer_as_it_is(relation: str, name: str, task: str) -> None:
    assert checking.exact(relation, name, task, SEED) == ""


@pytest.mark.parametrize("name", MODELS)
def test_what_leaves_every_prediction_as_it_is(name: str) -> None:
    task = MODELS[name][1]
    relations = [about for about, relation in EXACT.items() if relation.models and task in relation.tasks]
    assert len(relations) >= 7
    assert [about for about in relations if checking.models(about, name, SEED)] == []


@pytest.mark.parametrize(("way", "name", "task"), some([(way, *case) for way in WAYS for case in SEARCHED], of=5))
def test_ways_to_the_same_answer(way: str, name: str, task: str, tmp_path: Path) -> None:
    assert checking.way(way, name, task, SEED, tmp_path) == ""


@pytest.mark.parametrize("name", ["snowball", "mirror", "ferns", "filter"])
def test_a_search_is_stopped_at_every_point(name: str, tmp_path: Path) -> None:
    stops = list(checking.resumed(name, "classification", SEED, tmp_path))
    assert len(stops) >= 3
    assert [stop for stop in stops if stop[1]] == []


@pytest.mark.parametrize("names", [["SRS", "ferns"], pytest.param(["Boruta"], marks=pytest.mark.long)], ids=" ".join)
def test_without_compiled_code(names: list[str]) -> None:
    """Of the snowball, whose shadows are too many for this, the kernel that differed is below."""
    assert both_ways(names, "classification", SEED) == ""


LONG_STEPS = """
import numpy as np
from fernwood.kernels.examining import Contexts, count_pairs
rows, start = np.arange(9, dtype=np.uint32)[None], np.array([[0, 5, 9]], np.uint32)
contexts = Contexts(rows, start, np.array([[5, 4]], np.float32), np.empty((1, 0), np.float32), 2)
steps = np.full((1, 256, 2), 127, np.int8)
steps[0, 1:] = -127
one, out = np.zeros(1, np.int64), np.zeros((1, 1, 2), np.float32)
codes = np.array([[0, 0, 0, 0, 1, 1, 1, 1, 1]], np.uint8)
count_pairs(codes, one, one, one, steps.view(np.int16)[:, :, 0], np.ones((1, 2), np.float32), contexts, out)
print(out.tolist(), hasattr(count_pairs, "py_func"))
"""


def test_sums_of_long_steps_without_compiled_code() -> None:
    """Four steps of 127 are more than a byte holds, which compiled code widened by itself and NumPy does not."""
    told = [
        subprocess.run(
            [sys.executable, "-W", "ignore", "-c", LONG_STEPS],
            env={**os.environ, "NUMBA_DISABLE_JIT": flag, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
            capture_output=True,
            text=True,
            check=True,
        ).stdout.rpartition(" ")
        for flag in "01"
    ]
    assert [compiled.strip() for _, _, compiled in told] == ["True", "False"]
    assert told[0][0] == told[1][0]


def test_other_answers_are_noticed() -> None:
    """That nothing differs above says something only because much does here."""
    table = make_table("classification", SEED)
    plain = decisions(answer_of("SRS", table.store()))
    assert checking.differs(plain, decisions(answer_of("SRS", table.store(), seed=6)))
    assert checking.differs(plain, decisions(answer_of("SRS", table.but(target=table.target[::-1]).store())))
    assert checking.differs(plain, {})


@pytest.mark.parametrize(
    ("relation", "name"),
    [
        *product(["columns duplicated", "noise added", "rows of no weight"], ["ferns"]),
        *product(["noise added"], ["SRS", "RS", "Boruta with fixed shadows"]),
        ("rows permuted", "Boruta"),
        *(
            pytest.param(*case, marks=pytest.mark.long)
            for case in (
                *product(["rows permuted"], ["SRS", "RS", "Boruta with fixed shadows"]),
                ("noise added", "Boruta"),
            )
        ),
    ],
)
def test_what_clearly_tells_stays_found(relation: str, name: str) -> None:
    """Columns of numbers, of few values and of categories side by side: none drowns in the others' shadows."""
    found = checking.found(relation, name, "classification", SEED)
    assert found.missing == []
    assert found.false_share <= 0.3  # one of four


def test_columns_that_are_alike_are_told_apart_by_name() -> None:
    """A column and its copy share every random number; which one is drawn first is decided by name, not by place."""
    table = make_table("classification", SEED)
    twice = table.but(frame=table.frame.assign(**{"0 again": table.frame["n00"], "z again": table.frame["f01"]}))
    turned = twice.but(frame=twice.frame[twice.names[::-1]])
    for name in ("snowball", "SRS", "ferns", "Boruta"):
        assert checking.differs(*(decisions(answer_of(name, one.store())) for one in (twice, turned))) == ""
    said = decisions(answer_of("snowball", twice.store()))
    assert said["n00"]["p"] == said["0 again"]["p"]
    assert said["n00"]["together"] == ["0 again", "n00"]


def test_arrays_frames_sparse_matrices_and_stores() -> None:
    from scipy.sparse import csc_array

    rng = np.random.default_rng(SEED)
    x = np.where(rng.random((150, 12)) < 0.5, 0.0, np.round(rng.standard_normal((150, 12)), 2))
    y = x[:, 0] + x[:, 1] + 0.3 * rng.standard_normal(150) > 0
    selectors = (
        fernwood.SubspaceSelector(n_iter=30, q=6, random_state=0),
        fernwood.FernSelector(scans=60, depth=4, random_state=0),
    )
    for selector in selectors:
        answers = [
            selector.fit(table, *target).importances_.tolist()
            for table, *target in (
                (x, y),
                (pd.DataFrame(x), y),
                (csc_array(x), y),
                (x.astype(object), y),
                (np.asfortranarray(x), list(y)),
                (fernwood.ingest(x), y),
                (fernwood.ingest(x, target=y),),
            )
        ]
        assert all(answer == answers[0] for answer in answers)
        assert any(answers[0])
