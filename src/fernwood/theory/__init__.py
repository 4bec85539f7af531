"""The theory, running: exact importances, relevance and convergence of forests on random subspaces.

>>> from fernwood import theory
>>> theory.strong_versus_weak().relevance()
{'X1': 'strong', 'X2': 'strong', 'X3': 'weak'}
>>> round(theory.expected_iterations("chaining", p=10_000, q=100, r=5, alpha=1), 1)
506.2
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from fernwood.theory.convergence import (
    SCENARIOS,
    blind_share,
    expected_draws,
    expected_found,
    expected_iterations,
    memory_size,
)
from fernwood.theory.distribution import Distribution
from fernwood.theory.elimination import EliminationSchedule, elimination_schedule, success_chance
from fernwood.theory.examples import chain, clique, masking, noisy_copies, seven_segment, strong_versus_weak, xor
from fernwood.theory.importance import Decomposition, Term, by_nodes, decomposition, importances
from fernwood.theory.information import (
    entropy,
    entropy_estimate,
    information_bias,
    information_estimate,
    mutual_information,
)
from fernwood.theory.planning import how_many_iterations
from fernwood.theory.published import TableRow, table1
from fernwood.theory.relevance import degree, has_composition, markov_boundaries, minimal_conditionings, relevance
from fernwood.theory.search import (
    ConditioningChain,
    Found,
    conditioning_chain,
    found,
    one_tree_suffices,
    tree_outcomes,
)

if TYPE_CHECKING:
    from fernwood.theory.simulation import Simulation, simulate

__all__ = [
    "SCENARIOS",
    "ConditioningChain",
    "Decomposition",
    "Distribution",
    "EliminationSchedule",
    "Found",
    "Simulation",
    "TableRow",
    "Term",
    "blind_share",
    "by_nodes",
    "chain",
    "clique",
    "conditioning_chain",
    "decomposition",
    "degree",
    "elimination_schedule",
    "entropy",
    "entropy_estimate",
    "expected_draws",
    "expected_found",
    "expected_iterations",
    "found",
    "has_composition",
    "how_many_iterations",
    "importances",
    "information_bias",
    "information_estimate",
    "markov_boundaries",
    "masking",
    "memory_size",
    "minimal_conditionings",
    "mutual_information",
    "noisy_copies",
    "one_tree_suffices",
    "relevance",
    "seven_segment",
    "simulate",
    "strong_versus_weak",
    "success_chance",
    "table1",
    "tree_outcomes",
    "xor",
]

# Compiled code: its module is loaded when one of these is first used, so that importing the theory stays light.
_COMPILED = {"Simulation", "simulate"}


def __getattr__(name: str) -> Any:
    if name not in _COMPILED:
        raise AttributeError(f"module 'fernwood.theory' has no attribute {name!r}")
    return getattr(import_module("fernwood.theory.simulation"), name)


def __dir__() -> list[str]:
    return sorted(__all__)
