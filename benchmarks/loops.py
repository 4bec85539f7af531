"""The snowball's loop by itself, for what is measured inside a search."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from fernwood.kernels.ready import ensure_compiled
from fernwood.learner.contexts import Ground
from fernwood.learner.target import class_target, value_target
from fernwood.search.dealing import Dealer
from fernwood.search.examining import Examiner, Shadows, draw_shadows
from fernwood.search.snowball import Snowball, SnowballSettings
from fernwood.subspace.candidates import candidates

if TYPE_CHECKING:
    from fernwood.store.base import Store


def loop_of(
    store: Store, settings: SnowballSettings, seed: int, n_threads: int = 1, shadows: list[Shadows] | None = None
) -> Snowball:
    """The loop that `select_by_snowball` drives, for a store whose rows all count; with other shadows, if given."""
    ensure_compiled("snowball")
    target = store.target
    make = value_target if target.task == "regression" else class_target
    inside = make(target.values, np.ones(store.n_rows) if store.weights is None else store.weights)
    examiner = Examiner(store, candidates(store), None, inside.kernel.weights, Dealer(seed), n_threads)
    usual = draw_shadows(examiner.survey())
    return Snowball(examiner, Ground.undivided(inside), shadows or usual, settings, seed)
