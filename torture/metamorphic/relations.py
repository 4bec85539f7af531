"""Changes of a table that leave the answer as it is, number by number; and changes that leave what clearly tells found.

Why answers can be the same to the last bit: all randomness has an address below the seed (`fernwood.seeds`), a column's
being the checksum of its codes; columns are drawn in the order of those, never by place or name; codes are ranks; trees
number classes as they first appear; sums of weights and of targets are exact. What is not promised stands with the
relation.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import pandas as pd

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from torture.metamorphic.methods import Search
    from torture.metamorphic.tables import Table

__all__ = ["EXACT", "FOUND", "Relation"]

_BOTH = ("classification", "regression")


class Relation(NamedTuple):
    """A change of a table, and for what it leaves the answer as it is.

    Attributes
    ----------
    change : the other table, from the first and a source of random choices
    why : it holds, and why not elsewhere
    learners : of searches for which it holds, see `torture.metamorphic.methods.Search`
    tasks : for which it means something
    models : whether it holds for models, too
    weighted : whether rows differ in weight, which ferns refuse
    """

    change: Callable[[Table, np.random.Generator], Table]
    why: str
    learners: tuple[str, ...] = ("ours", "tree", "other")
    tasks: tuple[str, ...] = _BOTH
    models: bool = True
    weighted: bool = False

    def holds_for(self, search: Search, task: str) -> bool:
        """Whether a search and a target are under it."""
        fits = task in self.tasks and task in search.tasks
        return fits and search.learner in self.learners and (search.weighted or not self.weighted)


def _columns_permuted(table: Table, rng: np.random.Generator) -> Table:
    return table.but(frame=table.frame[list(rng.permutation(table.names))])


def _columns_renamed(table: Table, rng: np.random.Generator) -> Table:
    new = [f"{number:03} {'→' * (number % 3)}" for number in rng.permutation(len(table.names))]
    frame = table.frame.set_axis(new, axis=1)
    return table.but(frame=frame, was=dict(zip(new, table.names, strict=True)))


def _increasing(table: Table, rng: np.random.Generator) -> Table:
    """Every column of numbers through a function that keeps order; one that merges values does not serve."""
    ways: list[Callable[[NDArray[np.float64]], NDArray[np.float64]]] = [np.exp, np.cbrt, np.arctan, np.sinh]
    frame = table.frame.copy()
    for name in table.numbers:
        values = frame[name].to_numpy(np.float64)
        other = ways[rng.integers(len(ways))](values)
        known = ~np.isnan(values)
        ranks, others = (np.unique(v[known], return_inverse=True)[1] for v in (values, other))
        frame[name] = other if np.array_equal(ranks, others) else values * 8.0
    return table.but(frame=frame)


def _scaled_up(table: Table, rng: np.random.Generator) -> Table:
    return _scaled(table, rng.integers(0, 60, len(table.numbers)))


def _scaled_down(table: Table, rng: np.random.Generator) -> Table:
    return _scaled(table, rng.integers(-60, 0, len(table.numbers)))


def _scaled(table: Table, powers: NDArray[np.int64]) -> Table:
    """Every column of numbers times a power of two."""
    frame = table.frame.copy()
    for name, power in zip(table.numbers, powers, strict=True):
        frame[name] = np.ldexp(frame[name].to_numpy(np.float64), power)
    return table.but(frame=frame)


def _typed(table: Table, rng: np.random.Generator) -> Table:
    """The same numbers in other types, and zeros with a sign."""
    frame = table.frame.copy()
    for name in table.numbers:
        values = frame[name].to_numpy(np.float64)
        if name[0] == "f":
            frame[name] = values.astype(rng.choice([np.int8, np.int64, np.float32]))
        elif name[0] == "m":
            frame[name] = np.where(values == 0, -0.0, values).astype(np.float32)
    return table.but(frame=frame)


def _categories_renamed(table: Table, rng: np.random.Generator) -> Table:  # noqa: ARG001
    frame = table.frame.copy()
    for name in table.names:
        if name[0] == "c":
            frame[name] = pd.Categorical("~" + frame[name].astype(str))
    return table.but(frame=frame)


def _unusable_added(table: Table, rng: np.random.Generator) -> Table:
    n = len(table.frame)
    more = pd.DataFrame(
        {
            "nothing": np.full(n, np.nan),
            "same": np.full(n, 7.0),
            "word": np.full(n, "word"),
            "zero": np.where(rng.random(n) < 0.5, 0.0, -0.0),
        }
    )
    frame = table.frame.copy()
    for name in more:
        frame.insert(int(rng.integers(len(frame.columns) + 1)), name, more[name])
    return table.but(frame=frame)


def _classes_renamed(table: Table, rng: np.random.Generator) -> Table:  # noqa: ARG001
    order, codes = np.unique(table.target, return_inverse=True)
    return table.but(target=np.array([f"{i:02} {'x' * i}" for i in range(len(order))])[codes])


def _classes_reordered(table: Table, rng: np.random.Generator) -> Table:
    order, codes = np.unique(table.target, return_inverse=True)
    places = np.roll(np.arange(len(order)), 1 + int(rng.integers(len(order) - 1)))  # none stays
    return table.but(target=(10 * places)[codes])


def _target_scaled(table: Table, rng: np.random.Generator) -> Table:
    return table.but(target=table.target * 2.0 ** int(rng.integers(-40, 40)))


def _target_shifted(table: Table, rng: np.random.Generator) -> Table:
    return table.but(target=table.target + float(rng.integers(-1000, 1000)))


def _weights_alike(table: Table, rng: np.random.Generator) -> Table:
    return table.but(weights=np.full(len(table.frame), 2.0 ** int(rng.integers(-30, 30))))


EXACT: dict[str, Relation] = {
    "columns permuted": Relation(
        _columns_permuted,
        "columns are drawn, and addressed, by the checksums of their codes; learners of others go by place",
        ("ours", "tree"),
    ),
    "columns renamed": Relation(
        _columns_renamed,
        "names only tell columns with the same codes apart, and there are none",
    ),
    "increasing transforms": Relation(
        _increasing,
        "codes are ranks; a learner that gets the values cuts midway between two, and a row left out may change sides",
        ("ours",),
    ),
    "columns scaled up": Relation(
        _scaled_up,
        "a power of two rounds nothing, so that even the middle between two values is that of the others; learners get "
        "numbers of four bytes, which end at two to the 127",
    ),
    "columns scaled down": Relation(
        _scaled_down,
        "likewise; but to scikit-learn's trees, values that differ by less than a ten-millionth are the same",
        ("ours", "tree"),
    ),
    "other types": Relation(_typed, "values are the same; −0 is 0"),
    "categories renamed": Relation(
        _categories_renamed,
        "categories are numbered in the order of their labels, which stays; another order is another column of codes",
    ),
    "columns of nothing added": Relation(
        _unusable_added, "constant columns and those of missing values alone take no part, in any draw or count"
    ),
    "classes renamed": Relation(_classes_renamed, "labels are names", tasks=("classification",)),
    "classes reordered": Relation(
        _classes_reordered,
        "trees number classes as they appear; a tree that predicts takes the first of equally frequent ones, by label",
        ("ours",),
        ("classification",),
        models=False,
    ),
    "target scaled": Relation(
        _target_scaled, "a power of two rounds nothing; any other factor may, in the last bit", tasks=("regression",)
    ),
    "target shifted": Relation(
        _target_shifted,
        "values less their mean are the same where nothing is rounded; learners of others may not take it away first",
        ("ours",),
        ("regression",),
    ),
    "weights all alike": Relation(
        _weights_alike, "rows that weigh the same weigh one each; models of ferns take no weights", models=False
    ),
}
"""What leaves every number of the answer as it is."""


def _rows_permuted(table: Table, rng: np.random.Generator) -> Table:
    order = rng.permutation(len(table.frame))
    return table.but(frame=table.frame.iloc[order].reset_index(drop=True), target=table.target[order])


def _duplicated(table: Table, rng: np.random.Generator) -> Table:  # noqa: ARG001
    copies = {f"{name} again": table.frame[name] for name in table.told}
    return table.but(frame=table.frame.assign(**copies), told=(*table.told, *copies))


def _noise_added(table: Table, rng: np.random.Generator) -> Table:
    noise = {f"noise {i}": rng.standard_normal(len(table.frame)) for i in range(2 * len(table.names))}
    return table.but(frame=pd.concat([table.frame, pd.DataFrame(noise)], axis=1))


def _decreasing(table: Table, rng: np.random.Generator) -> Table:  # noqa: ARG001
    frame = table.frame.copy()
    for name in table.numbers:
        frame[name] = -frame[name]
    return table.but(frame=frame)


def _target_negated(table: Table, rng: np.random.Generator) -> Table:  # noqa: ARG001
    return table.but(target=-table.target)


def _rows_of_no_weight(table: Table, rng: np.random.Generator) -> Table:
    """As many rows more that say the opposite, and do not count."""
    n = len(table.frame)
    more = table.frame.iloc[rng.permutation(n)]
    frame = pd.concat([table.frame, more], ignore_index=True)
    weights = np.concatenate([np.ones(n), np.zeros(n)])
    return table.but(frame=frame, target=np.concatenate([table.target, table.target]), weights=weights)


FOUND: dict[str, Relation] = {
    "rows permuted": Relation(_rows_permuted, "rows are drawn by place, so that other trees grow from the same seed"),
    "columns duplicated": Relation(
        _duplicated, "a column and its copy are both relevant, and neither may hide the other", ("ours",)
    ),
    "noise added": Relation(_noise_added, "more columns mean other draws"),
    "decreasing transforms": Relation(_decreasing, "codes are other ones, and so are their checksums"),
    "target negated": Relation(_target_negated, "mirrored, but for cuts among equal values", tasks=("regression",)),
    "rows of no weight": Relation(
        _rows_of_no_weight, "they take no part, but columns are longer, and their checksums other ones", models=False
    ),
}
"""What leaves columns found that clearly tell; all else may differ, since random numbers do."""
