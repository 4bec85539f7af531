"""Estimators that predict, as scikit-learn classes."""

from __future__ import annotations

from fernwood.models.ferns import RandomFernsClassifier
from fernwood.models.forest import SubspaceForestClassifier, SubspaceForestRegressor
from fernwood.models.perceptron import ThermalPerceptron
from fernwood.models.tree import GainRatioTreeClassifier

__all__ = [
    "GainRatioTreeClassifier",
    "RandomFernsClassifier",
    "SubspaceForestClassifier",
    "SubspaceForestRegressor",
    "ThermalPerceptron",
]
