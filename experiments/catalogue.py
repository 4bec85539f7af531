"""The experiments by name. A module is loaded when its experiment is asked for: some measure memory and start small."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from experiments.experiment import Experiment

NAMES = (
    "convergence",
    "importances",
    "subsets",
    "madelon",
    "ensembles",
    "ferns",
    "seven_of_ten",
    "elimination",
    "overfitting",
    "methods",
)
"""In the order of the page; an experiment is `EXPERIMENT` of the module of `experiments.items` with its name."""


def experiment(name: str) -> Experiment:
    """An experiment."""
    found: Experiment = import_module(f"experiments.items.{name}").EXPERIMENT
    return found
