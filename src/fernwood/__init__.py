"""Fernwood finds the columns that matter in tables far wider than memory."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from fernwood.version import __version__

if TYPE_CHECKING:
    from fernwood.errors import (
        BudgetError,
        ClusterError,
        DeviceError,
        FernwoodError,
        FernwoodWarning,
        LearnerError,
        ParameterError,
        ShortageError,
        SourceError,
        StoreError,
        TargetError,
    )
    from fernwood.loading import load
    from fernwood.models import (
        GainRatioTreeClassifier,
        RandomFernsClassifier,
        SubspaceForestClassifier,
        SubspaceForestRegressor,
        ThermalPerceptron,
    )
    from fernwood.reduced.annotating import annotate
    from fernwood.report.displays import CoverageDisplay, EliminationDisplay, ImportanceDisplay, SnowballDisplay
    from fernwood.selectors import (
        BorutaSelector,
        EliminationSelector,
        FernSelector,
        FilterSelector,
        SnowballSelector,
        SubspaceSelector,
    )
    from fernwood.store import Store, ingest, open_store as open  # noqa: A004

# Public names and where they live; a name is loaded when it is first used (PEP 562), so that importing is light.
_HOMES = {
    "BorutaSelector": "fernwood.selectors",
    "BudgetError": "fernwood.errors",
    "ClusterError": "fernwood.errors",
    "CoverageDisplay": "fernwood.report.displays",
    "DeviceError": "fernwood.errors",
    "EliminationDisplay": "fernwood.report.displays",
    "EliminationSelector": "fernwood.selectors",
    "FernSelector": "fernwood.selectors",
    "FernwoodError": "fernwood.errors",
    "FernwoodWarning": "fernwood.errors",
    "FilterSelector": "fernwood.selectors",
    "GainRatioTreeClassifier": "fernwood.models",
    "ImportanceDisplay": "fernwood.report.displays",
    "LearnerError": "fernwood.errors",
    "ParameterError": "fernwood.errors",
    "RandomFernsClassifier": "fernwood.models",
    "ShortageError": "fernwood.errors",
    "SnowballDisplay": "fernwood.report.displays",
    "SnowballSelector": "fernwood.selectors",
    "SourceError": "fernwood.errors",
    "Store": "fernwood.store",
    "StoreError": "fernwood.errors",
    "SubspaceForestClassifier": "fernwood.models",
    "SubspaceForestRegressor": "fernwood.models",
    "SubspaceSelector": "fernwood.selectors",
    "TargetError": "fernwood.errors",
    "ThermalPerceptron": "fernwood.models",
    "annotate": "fernwood.reduced.annotating",
    "ingest": "fernwood.store",
    "load": "fernwood.loading",
    "open": "fernwood.store:open_store",
}
_MODULES = {"datasets", "errors", "models", "seeds", "sources", "store", "theory"}

__all__ = [
    "BorutaSelector",
    "BudgetError",
    "ClusterError",
    "CoverageDisplay",
    "DeviceError",
    "EliminationDisplay",
    "EliminationSelector",
    "FernSelector",
    "FernwoodError",
    "FernwoodWarning",
    "FilterSelector",
    "GainRatioTreeClassifier",
    "ImportanceDisplay",
    "LearnerError",
    "ParameterError",
    "RandomFernsClassifier",
    "ShortageError",
    "SnowballDisplay",
    "SnowballSelector",
    "SourceError",
    "Store",
    "StoreError",
    "SubspaceForestClassifier",
    "SubspaceForestRegressor",
    "SubspaceSelector",
    "TargetError",
    "ThermalPerceptron",
    "__version__",
    "annotate",
    "ingest",
    "load",
    "open",
]


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        return import_module(f"fernwood.{name}")
    if name not in _HOMES:
        raise AttributeError(f"module 'fernwood' has no attribute {name!r}")
    module, _, inner = _HOMES[name].partition(":")
    value = getattr(import_module(module), inner or name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*__all__, *_MODULES})
