from __future__ import annotations

import numpy as np
import pytest

from fernwood.errors import ParameterError
from fernwood.seeds import entropy, generator


def test_a_seed_is_itself() -> None:
    assert entropy(7) == entropy(np.int64(7)) == 7


def test_none_is_fresh_every_time() -> None:
    assert entropy(None) != entropy(None)


def test_a_generator_gives_its_next_draw() -> None:
    assert entropy(np.random.default_rng(3)) == entropy(np.random.default_rng(3))
    assert entropy(np.random.RandomState(3)) == entropy(np.random.RandomState(3))


@pytest.mark.parametrize("bad", [-1, 1.5, "1", True])
def test_other_things_are_refused(bad: object) -> None:
    with pytest.raises(ParameterError, match="random_state is .* give a non-negative integer"):
        entropy(bad)


def test_addresses_are_independent_of_order() -> None:
    later = generator(5, 1, 2).random(4)
    generator(5, 1, 1).random(100)
    np.testing.assert_array_equal(generator(5, 1, 2).random(4), later)


def test_different_addresses_differ() -> None:
    draws = {float(generator(seed, *address).random()) for seed in (0, 1) for address in [(0,), (1,), (0, 0), (0, 1)]}
    assert len(draws) == 8
