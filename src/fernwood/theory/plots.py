"""Pictures of the theory, drawn on matplotlib axes that the caller provides."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from fernwood.theory.convergence import expected_found, expected_iterations

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from fernwood.theory.convergence import Scenario
    from fernwood.theory.importance import Decomposition

__all__ = ["draw_decomposition", "draw_found", "draw_importances"]


def draw_importances(axes: Any, series: Mapping[str, Mapping[str, float]]) -> None:
    """Bars of importances by column, one colour per series (such as "K = 1" and "K = 7").

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> axes = Figure().subplots()
    >>> draw_importances(axes, {"K = 1": {"X1": 0.5, "X2": 0.25}})
    >>> len(axes.patches)
    2
    """
    width = 0.8 / len(series)
    for j, (label, importances) in enumerate(series.items()):
        places = np.arange(len(importances)) + (j - (len(series) - 1) / 2) * width
        axes.bar(places, list(importances.values()), width, label=label)
    names = list(next(iter(series.values())))
    axes.set_xticks(range(len(names)), names)
    axes.set_ylabel("importance (bits)")
    axes.legend(frameon=False)


def draw_decomposition(axes: Any, decomposition: Decomposition) -> None:
    """A heat map: columns of the table down, sizes of conditionings across, bits as colour.

    Examples
    --------
    >>> from fernwood import theory
    >>> from matplotlib.figure import Figure
    >>> axes = Figure().subplots()
    >>> draw_decomposition(axes, theory.decomposition(theory.xor(2)))
    >>> axes.get_xlabel()
    'size of the conditioning'
    """
    image = axes.imshow(decomposition.by_degree, cmap="viridis", aspect="auto", vmin=0)
    p = len(decomposition.inputs)
    axes.set_yticks(range(p), decomposition.inputs)
    axes.set_xticks(range(p), [str(k) for k in range(p)])
    axes.set_xlabel("size of the conditioning")
    axes.figure.colorbar(image, ax=axes, label="importance (bits)")


def draw_found(axes: Any, search: tuple[Scenario, int, int, int], alphas: Sequence[float]) -> None:
    """Expected number of columns found over iterations, a curve for every memory share: a panel of Figure 1.

    A search is its scenario, p, q and r.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> axes = Figure().subplots()
    >>> draw_found(axes, ("clique", 100, 50, 3), [0, 1])
    >>> [line.get_label() for line in axes.lines]
    ['RS', 'SRS']
    """
    scenario, p, q, r = search
    names: dict[float, str] = {0: "RS", 1: "SRS"}
    longest = max(expected_iterations(scenario, p, q, r, alpha) for alpha in alphas)
    iterations = np.unique(np.logspace(0, np.log10(3 * longest + 1), 200).astype(np.int64))
    for alpha in alphas:
        label = names.get(alpha, f"α = {alpha:g}")
        axes.plot(iterations, expected_found(scenario, p, q, r, alpha, iterations), label=label)
    axes.set_xscale("log")
    axes.set_title(f"{scenario}: p = {p}, q = {q}, r = {r}", fontsize="medium")
    axes.set_xlabel("iterations")
    axes.set_ylabel("columns found")
    axes.legend(frameon=False)
