"""Tables whose columns and target both depend on covariates, and on each other through nothing else."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["DESIGNS", "Design", "Table", "make"]

_N_COLUMNS = 600


class Design(NamedTuple):
    """How covariates act.

    Attributes
    ----------
    n_rows, n_covariates
    shape : "linear", "curved", "interacting" or "sine"
    target : "two" or "five" classes, or "numbers"
    covariates : "normal", "heavy" tails (t, 2 degrees of freedom), or "discrete", of four values
    columns : "normal"; "rare", three ones in a hundred rows; "skewed"
    strength : standard deviation of what they say of the target and of columns, in units of what is left
    spreads : whether target and columns spread more where the first covariate is large
    beside : columns that do tell something beyond the covariates, and depend on them as well
    """

    n_rows: int
    n_covariates: int
    shape: str
    target: str
    covariates: str = "normal"
    columns: str = "normal"
    strength: float = 1.0
    spreads: bool = False
    beside: int = 0


class Table(NamedTuple):
    """Covariates first, then columns that are relevant, then those that are not; and the target with its task."""

    values: NDArray[np.float64]
    target: NDArray[np.float64]
    task: str
    n_relevant: int


DESIGNS = {
    "one_300": Design(300, 1, "linear", "two"),
    "two_500": Design(500, 2, "interacting", "two"),
    "three_300": Design(300, 3, "curved", "numbers"),
    "three_500": Design(500, 3, "linear", "five"),
    "three_1000": Design(1000, 3, "linear", "two"),
    "sine_1000": Design(1000, 3, "sine", "numbers"),
    "five_500": Design(500, 5, "curved", "numbers"),
    "five_1000": Design(1000, 5, "interacting", "two"),
    "ten_500": Design(500, 10, "curved", "numbers"),
    "ten_1000": Design(1000, 10, "linear", "five"),
    "three_5000": Design(5000, 3, "curved", "two"),
    "heavy": Design(1000, 2, "linear", "numbers", covariates="heavy"),
    "discrete": Design(500, 3, "curved", "five", covariates="discrete"),
    "strong": Design(1000, 3, "linear", "numbers", strength=4.0),
    "rare": Design(1000, 3, "linear", "two", columns="rare"),
    "skewed": Design(500, 3, "curved", "two", columns="skewed"),
    "spreads": Design(1000, 3, "linear", "two", spreads=True),
    "beside_300": Design(300, 2, "linear", "two", beside=3),
    "beside_1000": Design(1000, 3, "curved", "numbers", beside=3),
    "beside_five": Design(1000, 3, "interacting", "five", beside=3),
}


def make(design: Design, seed: int, n_columns: int = _N_COLUMNS) -> Table:
    """A table of a design."""
    rng = np.random.default_rng([seed, 38])
    z = _covariates(design, rng)
    n = design.n_rows
    around = (z - z.mean(axis=0)) / z.std(axis=0)
    wide = np.exp(0.5 * np.clip(around[:, 0], -3, 3)) if design.spreads else np.ones(n)
    said = _said(design.shape, around, rng, n_columns + 1 + design.beside) * design.strength
    x = said[:, 1:] + rng.standard_normal((n, n_columns + design.beside)) * wide[:, None]
    y = said[:, 0] + rng.standard_normal(n) * wide
    if design.beside:
        # One that tells by itself, and two that tell together.
        y = y + 0.9 * x[:, 0] + 0.7 * x[:, 1] * x[:, 2]
    others = x[:, design.beside :]
    if design.columns == "rare":
        x[:, design.beside :] = others > np.quantile(others, 0.97, axis=0)
    elif design.columns == "skewed":
        x[:, design.beside :] = np.round(np.exp(others))
    if design.target != "numbers":
        shares = [0.7] if design.target == "two" else [0.3, 0.55, 0.75, 0.9]
        y = np.searchsorted(np.quantile(y, shares), y).astype(np.float64)
    task = "regression" if design.target == "numbers" else "classification"
    return Table(np.column_stack([z, x]), y, task, design.beside)


def _covariates(design: Design, rng: np.random.Generator) -> NDArray[np.float64]:
    size = design.n_rows, design.n_covariates
    if design.covariates == "heavy":
        return rng.standard_t(2, size)
    if design.covariates == "discrete":
        return rng.choice(4, size, p=[0.4, 0.3, 0.2, 0.1]).astype(np.float64)
    # Correlated by a half, as age and blood pressure are.
    return np.sqrt(0.5) * (rng.standard_normal(size) + rng.standard_normal((design.n_rows, 1)))


def _said(shape: str, z: NDArray[np.float64], rng: np.random.Generator, n: int) -> NDArray[np.float64]:
    """What covariates say of each of some columns, of variance one."""
    d = z.shape[1]

    def mix() -> NDArray[np.float64]:
        return rng.standard_normal((d, n)) + 0.5

    said = z @ mix()
    if shape == "curved":
        said += (np.abs(z) - 0.8) @ mix() + np.tanh(2 * z) @ mix()
    elif shape == "sine":
        said = np.sin(2 * z + 0.5) @ mix()
    elif shape == "interacting":
        products = np.column_stack([z[:, j] * z[:, k] for j in range(d) for k in range(j)])
        said += products @ rng.standard_normal((products.shape[1], n)) / np.sqrt(d)
    return np.asarray((said - said.mean(axis=0)) / said.std(axis=0))
