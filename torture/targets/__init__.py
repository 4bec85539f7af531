"""What is fuzzed, one module a family of formats."""

from __future__ import annotations

from importlib import import_module

from torture.target import Target

__all__ = ["NAMES", "target"]

_MODULES = {
    "text": "text",
    "parquet": "columnar",
    "npy": "arrays",
    "plink": "plink",
    "sparse": "sparse",
    "hdf5": "containers",
    "store": "stores",
    "run": "runs",
    "result": "runs",
    "model": "models",
    "place": "places",
    "theory": "theory",
}
NAMES = tuple(_MODULES)


def target(name: str) -> Target:
    """A format by its name; what it needs is imported only now."""
    found: dict[str, Target] = import_module(f"torture.targets.{_MODULES[name]}").TARGETS
    return found[name]
