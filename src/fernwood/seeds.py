"""Addressed randomness: the only place where a `random_state` becomes numbers.

Every stream of random numbers has an address (stage, round, task, …), a tuple of integers below the user's seed. Work
item 700 therefore draws the same numbers whether it runs first, last, alone or after a resume.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from fernwood.errors import ParameterError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

__all__ = ["entropy", "generator", "numbered_states", "resumed", "state", "states"]

_ITEMS_A_BLOCK, _STATES_A_BLOCK = 128, 128 * 11
"""Work items that share a seed sequence; fewer where each needs many states."""


def entropy(random_state: int | np.random.Generator | np.random.RandomState | None) -> int:
    """The integer below which every address of one run lies.

    Parameters
    ----------
    random_state
        A non-negative integer is itself; None takes fresh entropy from the system; a NumPy generator gives one draw.

    Examples
    --------
    >>> entropy(7)
    7
    """
    match random_state:
        case None:
            # Half of what the system offers: it fits 64 bits, so that a report can print it and JSON can keep it.
            return int(np.random.SeedSequence().generate_state(1, np.uint64)[0] >> np.uint64(1))
        case np.random.Generator():
            return int(random_state.integers(2**63))
        case np.random.RandomState():
            return int(random_state.randint(2**31))
        case int() | np.integer() if not isinstance(random_state, bool) and random_state >= 0:
            return int(random_state)
    raise ParameterError(
        f"random_state is {random_state!r}; give a non-negative integer, a NumPy generator, or None for a new seed"
    )


def generator(seed: int, *address: int) -> np.random.Generator:
    """The generator at an address below a seed.

    Examples
    --------
    >>> float(generator(0, 1, 2).random()) == float(generator(0, 1, 2).random())
    True
    >>> float(generator(0, 1, 2).random()) == float(generator(0, 1, 3).random())
    False
    """
    return np.random.Generator(np.random.PCG64(np.random.SeedSequence(seed, spawn_key=address)))


def resumed(state: Mapping[str, Any]) -> np.random.Generator:
    """A generator that goes on from where another one was.

    Examples
    --------
    >>> rng = generator(0, 1)
    >>> here = rng.bit_generator.state
    >>> float(rng.random()) == float(resumed(here).random())
    True
    """
    bits = np.random.PCG64()
    bits.state = cast("Any", state)
    return np.random.Generator(bits)


def state(seed: int, *address: int) -> NDArray[np.uint64]:
    """The state of a kernel's generator (`fernwood.kernels.random`) at an address below a seed.

    Examples
    --------
    >>> len(state(0, 1, 2)), bool((state(0, 1, 2) == state(0, 1, 3)).all())
    (4, False)
    """
    return states(1, seed, *address).reshape(4)


def states(n: int, seed: int, *address: int) -> NDArray[np.uint64]:
    """As many states as said at one address below a seed, a row each; the first of them is `state`.

    Examples
    --------
    >>> states(3, 0, 1).shape, bool((states(3, 0, 1)[0] == state(0, 1)).all())
    ((3, 4), True)
    """
    words = np.random.SeedSequence(seed, spawn_key=address).generate_state(4 * n, np.uint64)
    return np.asarray(words, np.uint64).reshape(n, 4)


def numbered_states(number: int, n: int, seed: int, *address: int) -> NDArray[np.uint64]:
    """As many states as said for work item `number` of many at one address: a hundred times cheaper than `states`.

    Items share a seed sequence by the hundred or so, fewer where each has many states; what an item gets does not
    depend on which others are asked for.

    Examples
    --------
    >>> numbered_states(700, 2, 0, 1).shape
    (2, 4)
    """
    n_items = min(_ITEMS_A_BLOCK, -(-_STATES_A_BLOCK // n))
    block, place = divmod(number, n_items)
    return np.array(_block_of_states(n_items, n, seed, *address, block)[place])


@lru_cache(maxsize=64)
def _block_of_states(n_items: int, n: int, seed: int, *address: int) -> NDArray[np.uint64]:
    return states(n_items * n, seed, *address).reshape(n_items, n, 4)
