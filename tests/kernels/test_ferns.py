"""Ferns against their slow twin, closed forms, and what changes nothing."""

from __future__ import annotations

import math

import numpy as np
import pytest

import fernwood
from fernwood import seeds
from fernwood.errors import ParameterError, TargetError
from fernwood.kernels.ferns import Field
from fernwood.learner.ferns import (
    check_depth,
    draw_columns,
    fern_rows,
    grow,
    new_tally,
    new_votes,
    total_scores,
)
from fernwood.sources.base import Kind
from tests.reference import ferns as twin


def make_field(n_rows=60, n_columns=6, n_classes=3, seed=0, groups=None) -> Field:
    """Numbers of few and many codes with holes, categories, and classes of different sizes."""
    rng = np.random.default_rng(seed)
    codes = np.stack([rng.integers(0, high, n_rows) for high in rng.integers(2, 250, n_columns)]).astype(np.uint8)
    codes[1, :] = rng.integers(0, 2, n_rows)
    codes[rng.random(codes.shape) < 0.1] = 255
    codes[2, 3:] = 255
    categories = np.arange(n_columns) % 3 == 0
    labels = np.minimum(rng.integers(0, n_classes + 2, n_rows), n_classes - 1).astype(np.uint32)
    units = np.arange(n_rows, dtype=np.int32) if groups is None else groups.astype(np.int32)
    n_units = int(units.max()) + 1
    return Field(codes, categories, labels, units, n_units, n_classes, np.log(np.maximum(np.arange(50 * n_rows), 1.0)))


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize(("depth", "grouped"), [(1, False), (3, False), (5, True), (7, False)])
def test_scores_and_importances_are_those_of_the_twin(seed: int, depth: int, grouped: bool) -> None:
    rng = np.random.default_rng(seed)
    groups = np.unique(rng.integers(0, 15, 60), return_inverse=True)[1] if grouped else None
    field = make_field(seed=seed, groups=groups)
    shadows = rng.permuted(field.codes, axis=1)
    states = seeds.states(5, seed, 1)
    columns = draw_columns(states, 6, depth)
    columns[0] = 4  # one column at all levels
    again = states.copy()
    tally, votes = new_tally(6), new_votes(60, 3)
    ferns = grow(field, columns, states, tally=tally, votes=votes, shadows=shadows)
    wanted = new_tally(6)
    wanted_votes = new_votes(60, 3)
    for k in range(5):
        slow = twin.draw_fern(field.codes, field.categories, field.labels, 3, columns[k], again[k], groups)
        for row in (0, 7, 30):
            values = field.codes[:, row]
            for y in range(3):
                cell = (y << depth) + twin.leaf(slow, values)
                assert ferns.scores[k, cell] == pytest.approx(twin.score(slow, field.codes, y, values), abs=1e-12)
        for row in slow.left_out:
            wanted_votes[row, :3] += [twin.score(slow, field.codes, y, field.codes[:, row]) for y in range(3)]
            wanted_votes[row, 3] += 1
        for column, (own, shadow) in twin.importances(slow, field.codes, shadows, again[k]).items():
            wanted.often[column] += 1
            wanted.importance[column] += own
            wanted.shadow[column] += shadow
    np.testing.assert_array_equal(again, states)
    np.testing.assert_array_equal(tally.often, wanted.often)
    np.testing.assert_allclose(tally.importance, wanted.importance, atol=1e-12)
    np.testing.assert_allclose(tally.shadow, wanted.shadow, atol=1e-12)
    np.testing.assert_allclose(votes, wanted_votes, atol=1e-12)


def test_total_scores_are_those_of_the_twin() -> None:
    field = make_field()
    states = seeds.states(4, 3)
    columns = draw_columns(states, 6, 4)
    again = states.copy()
    ferns = grow(field, columns, states)
    slow = [twin.draw_fern(field.codes, field.categories, field.labels, 3, columns[k], again[k]) for k in range(4)]
    wanted = [
        [sum(twin.score(fern, field.codes, y, field.codes[:, row]) for fern in slow) for y in range(3)]
        for row in range(60)
    ]
    np.testing.assert_allclose(total_scores(ferns, field.codes, 3), wanted, atol=1e-12)


def test_a_balanced_empty_leaf_scores_nothing() -> None:
    """Levels of one column of two codes agree, so that leaves other than the first and the last are empty."""
    codes = np.repeat(np.array([[0, 9]], np.uint8), 20, axis=1)
    labels = (np.arange(40) < 20).astype(np.uint32)
    logs = np.concatenate([[0.0], np.log(np.arange(1, 50))])
    field = Field(codes, np.zeros(1, bool), labels, np.arange(40, dtype=np.int32), 40, 2, logs)
    columns = np.zeros((200, 3), np.int32)
    ferns = grow(field, columns, seeds.states(200, 0))
    states, balanced = seeds.states(200, 0), 0
    for k in range(200):
        slow = twin.draw_fern(codes, [False], labels, 2, columns[k], states[k])
        used = {twin.leaf(slow, codes[:, row]) for row in slow.bag}
        empty = next(leaf for leaf in range(8) if leaf not in used)
        size = sum(slow.labels[row] for row in slow.bag)
        assert ferns.scores[k, empty] == pytest.approx(math.log(42 / (2 * (41 - size))), abs=1e-12)
        if size == 20:
            balanced += 1
            assert ferns.scores[k, [empty, 8 + empty]] == pytest.approx([0, 0], abs=1e-12)
    assert balanced


def test_depth_one_is_the_closed_form() -> None:
    """A column that is the class: with a and b rows of the classes in the bag, (1 + a)/(2 + a) · (2 + a + b)/(1 + a)."""
    labels = (np.arange(30) < 12).astype(np.uint32)
    codes = labels.astype(np.uint8)[None] * 7
    logs = np.concatenate([[0.0], np.log(np.arange(1, 50))])
    field = Field(codes, np.zeros(1, bool), labels, np.arange(30, dtype=np.int32), 30, 2, logs)
    tally = new_tally(1)
    states = seeds.states(1, 4)
    scores = grow(field, np.zeros((1, 1), np.int32), states, tally=tally, shadows=codes).scores.reshape(2, 2)
    b, a = (round(32 / math.exp(scores[y, y]) - 2) for y in (1, 0))
    assert a + b == 30
    assert scores[0, 0] == pytest.approx(math.log(32 / (2 + a)))
    assert scores[0, 1] == pytest.approx(math.log(1 / (2 + b) * 32 / (1 + a)))
    assert tally.importance[0] == pytest.approx(tally.shadow[0])  # the shadow is the column itself here
    assert tally.importance[0] > 0.3


def test_columns_that_say_nothing_are_as_their_shadows() -> None:
    """Means over 300 columns of noise differ by less than five standard errors, and a column that tells stands out."""
    rng = np.random.default_rng(8)
    codes = rng.integers(0, 200, (300, 120)).astype(np.uint8)
    labels = rng.integers(0, 2, 120).astype(np.uint32)
    codes[17] = 60 * labels + rng.integers(0, 60, 120)
    logs = np.concatenate([[0.0], np.log(np.arange(1, 200))])
    field = Field(codes, np.zeros(300, bool), labels, np.arange(120, dtype=np.int32), 120, 2, logs)
    tally, states = new_tally(300), seeds.states(4000, 5)
    grow(field, draw_columns(states, 300, 5), states, keep=False, tally=tally, shadows=rng.permuted(codes, axis=1))
    own, shadow = tally.importance / tally.often, tally.shadow / tally.often
    assert own.argmax() == 17
    assert own[17] > 3 * shadow.max()
    difference = np.delete(own - shadow, 17)
    assert abs(difference.mean()) < 5 * difference.std() / math.sqrt(299)


def test_carried_columns_are_different_ones() -> None:
    drawn = draw_columns(seeds.states(500, 0), 50, 6, np.array([3, 8, 30, 41], np.int32), n_carried=4)
    np.testing.assert_array_equal(np.sort(drawn[:, :4], axis=1), np.tile([3, 8, 30, 41], (500, 1)))
    assert len(np.unique(drawn[:, 4:])) == 50
    few = draw_columns(seeds.states(50, 0), 50, 6, np.array([3], np.int32), n_carried=4)
    assert (few[:, 0] == 3).all()


# What rows are ------------------------------------------------------------------------------------------------------


def test_rows_of_weight_zero_take_no_part() -> None:
    table = np.random.default_rng(0).standard_normal((40, 3))
    labels = np.arange(40) % 3
    weights = (np.arange(40) % 4 > 0) * 2.0
    store = fernwood.ingest(table, target=labels, weights=weights)
    rows = fern_rows(store)
    assert len(rows.labels) == 30 == rows.n_units
    field = rows.field(store.read([0, 1, 2]), store.kinds)
    np.testing.assert_array_equal(field.codes, store.read([0, 1, 2])[:, weights > 0])
    assert not (store.kinds == Kind.CATEGORY).any()


def test_what_ferns_do_not_take() -> None:
    table = np.random.default_rng(0).standard_normal((40, 3))
    with pytest.raises(ParameterError, match="the weights of rows run from 1 to 40, and ferns count every row once"):
        fern_rows(fernwood.ingest(table, target=np.arange(40) % 2, weights=np.arange(1, 41)))
    with pytest.raises(TargetError, match="is numbers, and ferns tell classes apart; use trees"):
        fern_rows(fernwood.ingest(table, target=table[:, 0] + table[:, 1]))
    with pytest.raises(TargetError, match="the store has no target"):
        fern_rows(fernwood.ingest(table))


@pytest.mark.parametrize(
    ("depth", "words"),
    [
        (0, "depth is 0; it must be from 1 to 16: a fern of depth 0 has no split"),
        (17, "depth is 17; it must be from 1 to 16: a fern of depth 17 takes 1.0 MB a class"),
        (200, "a fern of depth 200 takes 2\\*\\*203 bytes a class"),
        (2.0, "depth is 2.0; it must be an integer from 1 to 16"),
        (True, "depth is True; it must be an integer"),
    ],
)
def test_depths_that_cannot_be(depth: object, words: str) -> None:
    with pytest.raises(ParameterError, match=words):
        check_depth(depth)
