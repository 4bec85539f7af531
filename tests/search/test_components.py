"""Components that are kept for many columns score as those worked out for each."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import fernwood
from fernwood.learner.contexts import Ground, draw_ferns
from fernwood.learner.target import class_target, value_target
from fernwood.search.components import Components, frequent
from fernwood.search.dealing import Dealer
from fernwood.search.examining import Examiner
from fernwood.search.scoring import Scorer


def mixed(n: int) -> pd.DataFrame:
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.standard_normal((n, 20)), columns=[f"n{i}" for i in range(20)])
    for i in range(5):
        frame[f"k{i}"] = rng.choice(list("abcde"), n)
        frame[f"m{i}"] = np.where(rng.random(n) < 0.2, np.nan, rng.standard_normal(n))
        frame[f"z{i}"] = rng.poisson(0.5, n).astype(float)
    return frame


@pytest.mark.parametrize("task", ["classes", "numbers"])
def test_kept_components_change_no_score(task: str) -> None:
    n = 300
    store = fernwood.ingest(mixed(n))
    rng = np.random.default_rng(1)
    target = class_target(rng.integers(0, 2, n)) if task == "classes" else value_target(rng.standard_normal(n))
    ids = np.random.default_rng(2).permutation(store.n_columns)
    contexts = None
    scores = []
    for survey in (False, True):
        examiner = Examiner(Scorer(store, None, np.ones(n), Dealer(0)), ids, 1 + survey)
        if survey:
            examiner.survey()
            assert 0.5 < np.mean(examiner.kept >= 0) < 1
        if contexts is None:
            codes, categories = examiner.codes(np.arange(6)), examiner.categories[:6]
            contexts = draw_ferns(np.random.default_rng(3), codes, categories, Ground.undivided(target), 4).contexts
        for addresses in (None, np.arange(len(ids), dtype=np.uint64)):
            out = np.full((len(ids), 4, 2), np.nan, np.float32)
            examiner.scores(np.arange(len(ids)), contexts, out.__setitem__, addresses)
            scores.append(out)
    assert (scores[0] == scores[2]).all()
    assert (scores[1] == scores[3]).all()
    assert (scores[0] != scores[1]).mean() > 0.9  # shadows are not their columns


@pytest.mark.parametrize("weights", ["one", "half", "unequal"])
def test_a_shadow_is_scored_as_a_column_of_its_codes_would_be(weights: str) -> None:
    """Columns that tell nothing and shadows must come from one distribution, so that nothing of a column may be left."""
    n = 300
    store = fernwood.ingest(mixed(n))
    rng = np.random.default_rng(1)
    of_rows = {"one": np.ones(n), "half": np.full(n, 0.5), "unequal": rng.gamma(1.0, size=n)}[weights]
    ids = np.arange(store.n_columns)
    examiner = Examiner(Scorer(store, None, of_rows, Dealer(0)), ids, 2)
    examiner.survey()
    assert (examiner.kept >= 0).any() == (weights != "unequal")
    ground = Ground.undivided(class_target(rng.integers(0, 2, n), of_rows))
    codes, categories = examiner.codes(ids), examiner.categories
    contexts = draw_ferns(np.random.default_rng(3), codes[:6], categories[:6], ground, 4).contexts
    addresses = np.arange(len(ids), dtype=np.uint64)
    told = np.full((len(ids), 4, 2), np.nan, np.float32)
    examiner.scores(ids, contexts, told.__setitem__, addresses)
    expected = np.zeros_like(told)
    dealt = examiner.scorer.deal.at(codes.copy(), addresses)
    Components(of_rows).add_scores(dealt, categories, np.full(len(ids), -1, np.int16), contexts, expected)
    assert (told == expected).all()


def test_the_most_frequent_marks_are_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("fernwood.search.components._MOST_KEPT", 2)
    marks = np.array([4, 9, 9, 9, 4, 3, 3, 3, 8, 0, 0, 0, 0], np.uint64)
    firsts, kept = frequent(marks)
    assert marks[firsts].tolist() == [3, 9]
    assert kept.tolist() == [-1, 1, 1, 1, -1, 0, 0, 0, -1, -1, -1, -1, -1]


def test_blocks_go_through_the_store_from_front_to_back(monkeypatch: pytest.MonkeyPatch) -> None:
    store = fernwood.ingest(np.random.default_rng(0).standard_normal((50, 300)))
    ids = np.random.default_rng(1).permutation(300)
    monkeypatch.setattr("fernwood.run.plan._BLOCK_BYTES", 50 * 37)
    examiner = Examiner(Scorer(store, None, np.ones(50), Dealer(0)), ids, 1)
    read = np.concatenate([ids[places] for places in examiner._blocks(np.arange(300))])
    assert read.tolist() == list(range(300))
    chosen = np.random.default_rng(2).random(300) < 0.5
    for at_once in (7, 2**18):
        monkeypatch.setattr("fernwood.search.examining._RANKS_AT_ONCE", at_once)
        blocks = list(examiner.blocks(chosen))
        assert ids[np.concatenate(blocks)].tolist() == sorted(ids[chosen].tolist())
        assert {len(block) for block in blocks[:-1]} == {37}
