"""Selectors in scikit-learn's manner."""

from __future__ import annotations

from fernwood.selectors.boruta import BorutaSelector
from fernwood.selectors.elimination import EliminationSelector
from fernwood.selectors.ferns import FernSelector
from fernwood.selectors.filter import FilterSelector
from fernwood.selectors.snowball import SnowballSelector
from fernwood.selectors.subspace import SubspaceSelector

__all__ = [
    "BorutaSelector",
    "EliminationSelector",
    "FernSelector",
    "FilterSelector",
    "SnowballSelector",
    "SubspaceSelector",
]
