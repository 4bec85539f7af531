"""All sets of inputs at once, beside one set at a time."""

from __future__ import annotations

import time
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, strategies as st

from fernwood import theory
from fernwood.theory import Distribution, subsets
from fernwood.theory.information import local_information
from fernwood.theory.subsets import all_dependences, all_information
from tests.theory.strategies import distributions

ASSIGNED = ("exact", "many digits", "floats")


def assigned(distribution: Distribution, how: str) -> Distribution:
    """The same outcomes, or nearly, as each way to keep probabilities has them."""
    outcomes = distribution.outcomes()
    if how == "floats":
        return Distribution({outcome: float(share) for outcome, share in outcomes.items()})
    if how == "many digits":  # a coin that is hardly fair beside every outcome: an input more, of no meaning
        coin = {0: Fraction(1, 10**12), 1: 1 - Fraction(1, 10**12)}
        made = Distribution(
            {(side, *outcome): p * share for outcome, share in outcomes.items() for side, p in coin.items()}
        )
        assert made.weights.dtype == object
        return made
    return distribution


@pytest.mark.parametrize("how", ASSIGNED)
@given(distribution=distributions(min_inputs=1), piece=st.sampled_from([1, 4, 2**16]))
def test_all_sets_are_as_one_set_at_a_time(how: str, distribution: Distribution, piece: int) -> None:
    distribution = assigned(distribution, how)
    n, target = distribution.n_inputs, 1 << distribution.n_inputs
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(subsets, "_PIECE", piece)
        depend, told = all_dependences(distribution), all_information(distribution)
    for i in range(n):
        for mask in range(target):
            if mask >> i & 1:
                assert (depend[i, mask], told[i, mask]) == (False, 0.0)
            else:
                assert depend[i, mask] == (not distribution.independent_masks(1 << i, target, mask))
                one = np.sum(local_information(distribution, 1 << i, target, mask))
                assert told[i, mask] == pytest.approx(one, rel=1e-12, abs=1e-15)
                assert (told[i, mask] == 0) == (one == 0)


@given(distribution=distributions())
def test_what_is_derived_from_single_columns_is_what_sets_say(distribution: Distribution) -> None:
    everything, target = (1 << distribution.n_inputs) - 1, 1 << distribution.n_inputs
    suffices = [distribution.independent_masks(everything & ~mask, target, mask) for mask in range(target)]
    minimal = {
        distribution.names(mask)
        for mask in range(target)
        if suffices[mask] and not any(suffices[part] for part in range(mask) if part & mask == part)
    }
    assert set(theory.markov_boundaries(distribution)) == minimal
    silent = [
        [
            i
            for i in range(distribution.n_inputs)
            if not m >> i & 1 and distribution.independent_masks(1 << i, target, m)
        ]
        for m in range(target)
    ]
    composes = all(
        distribution.independent_masks(sum(1 << i for i in some), target, m) for m, some in enumerate(silent)
    )
    assert distribution.has_composition(output_only=True) == composes


@pytest.mark.parametrize(
    ("n_inputs", "n_copies", "seconds"), [(11, 9, 10), pytest.param(14, 10, 40, marks=pytest.mark.long)]
)
def test_the_largest_questions_are_answered_in_seconds(n_inputs: int, n_copies: int, seconds: float) -> None:
    largest = theory.xor(n_inputs)
    begun = time.process_time()
    assert set(largest.relevance().values()) == {"strong"}
    assert largest.markov_boundaries() == [largest.inputs]
    assert largest.importances()["X1"] == pytest.approx(1 / n_inputs)
    digits = theory.noisy_copies(n_copies, "1/11")
    assert digits.weights.dtype == object
    assert digits.relevance()[f"X1.{n_copies}"] == "weak"
    assert sum(digits.importances().values()) == pytest.approx(1)
    assert time.process_time() - begun < seconds  # some ten for the largest on a busy machine
