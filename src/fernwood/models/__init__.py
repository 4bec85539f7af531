"""Estimators that predict, as scikit-learn classes."""

from __future__ import annotations

from fernwood.models.ferns import RandomFernsClassifier
from fernwood.models.forest import SubspaceForestClassifier, SubspaceForestRegressor

__all__ = ["RandomFernsClassifier", "SubspaceForestClassifier", "SubspaceForestRegressor"]
