"""Searches with random ferns as the paper makes them, their errors, and pictures of these."""

from __future__ import annotations

import time
import warnings
from contextlib import contextmanager
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np

import fernwood
from experiments.experiment import Told
from fernwood.errors import FernwoodWarning
from fernwood.relevance.paper import MaxShadowRule
from fernwood.search.ferns import FernSettings
from fernwood.search.scanning import prepare

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from experiments.experiment import Row

PAPER = "Kursa (2017)"
DEPTHS = (1, 3, 5, 7, 9, 10, 12)
KINDS = (("false_positives", "false positives", "C3"), ("false_negatives", "false negatives", "C0"))


def followed(table: tuple, depth: int, levels: Sequence[int], seed: int) -> list[Row]:
    """The paper's search: blind ferns on all columns and formula (8), read whenever a number of scans is reached."""
    x, y, relevant, _ = table
    load()
    started = time.process_time()
    store = fernwood.ingest(x, target=y, task="classification")
    settings = FernSettings(depth, levels[-1], "max-shadow", sequential=False, q=x.shape[1], round_size=1)
    with unwarned():
        ids, _, search = prepare(store, settings, seed)
    a_draw = settings.ferns_a_draw(len(ids), search.q) * depth
    rows, state = [], search.start()
    for scans in levels:
        while state.n_draws * a_draw < scans * len(ids):
            state = search.step(state)
        found = ids[MaxShadowRule(least_draws=0).found(state.evidence)]
        seconds = time.process_time() - started
        rows.append({"scans": scans, **errors(found, relevant, x.shape[1]), "cpu_seconds": seconds})
    return rows


@contextmanager
def unwarned() -> Iterator[None]:
    """Nothing is said of ferns with more leaves than rows, and of columns undecided at the end: the paper has both."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FernwoodWarning)
        yield


@cache
def load() -> None:
    """Load compiled code, before time counts."""
    x = np.random.default_rng(0).standard_normal((60, 4))
    for selector in (fernwood.FernSelector(2, 10), fernwood.BorutaSelector(max_iter=1)):
        with unwarned():
            selector.set_params(random_state=0, n_jobs=1).fit(x, x[:, 0] > 0)


def errors(found: Any, relevant: Iterable[int], n_columns: int) -> Row:
    """What is wrong about an answer."""
    taken, right = set(np.asarray(found).tolist()), set(relevant)
    return {
        "false_positives": len(taken - right),
        "false_negatives": len(right - taken),
        "irrelevant": n_columns - len(right),
        "missed": " ".join(str(column) for column in sorted(right - taken)),
    }


def wrong(rows: Told) -> float:
    """Errors of a run, on average."""
    return rows.mean("false_positives") + rows.mean("false_negatives")


def last(rows: Told) -> Told:
    """The rows with the most scans."""
    return rows.where(scans=max(rows.values("scans")))


def shown(value: float) -> str:
    """A mean."""
    return f"{value:.1f}".removesuffix(".0")


def listed(values: dict[Any, float], name: str = "D = ") -> str:
    """Means by depth, or by something else."""
    return ", ".join(f"{name}{key}: {shown(value)}" for key, value in values.items())


def draw_errors(panel: Any, rows: Told, name: str) -> None:
    """Means as lines, and runs as points."""
    for kind, label, colour in KINDS:
        levels = {level: of.values(kind) for level, of in sorted(rows.each(name).items())}
        panel.plot(list(levels), [np.mean(values) for values in levels.values()], color=colour, label=label)
        points = [(level, value) for level, values in levels.items() for value in values]
        panel.plot(*zip(*points, strict=True), ".", color=colour, markersize=3, alpha=0.4)


def label_grid(axes: Any, titles: list[str], below: str) -> None:
    """Titles above the first row of panels, and what is across below the last."""
    for panel, title in zip(axes[0], titles, strict=True):
        panel.set_title(title)
    for panel in axes[-1]:
        panel.set_xlabel(below)
    axes[0][0].figure.legend(*axes[0][0].get_legend_handles_labels(), loc="outside upper right", ncols=2, frameon=False)
