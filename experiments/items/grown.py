"""Parts of `importances` that take trees and samples: forests beside exact importances, few trees, few rows."""

from __future__ import annotations

import math
from functools import cache
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np

from experiments.experiment import Cell, Claim, Part, Told
from fernwood import seeds, theory
from fernwood.learner.settings import TreeSettings
from fernwood.learner.target import class_target
from fernwood.learner.trees import Ground, add_importances, lay_out

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from experiments.experiment import Row
    from fernwood.theory import Distribution

_PAPER = "Sutera et al. (2018)"
_SLIDES = "Geurts, slides of 2016"
_EQUAL = 1e-10
_ERRORS = 4.5
"""Standard errors by which a mean may be off: one comparison in 150 000 is, by chance."""
_BATCHES = 40
"""Parts of a forest, whose means tell its standard error."""


@cache
def example(name: str, irrelevant: int = 0) -> Distribution:
    """A distribution of the slides or the paper by its name, with irrelevant columns added."""
    made = {
        "seven segments": theory.seven_segment,
        "strong versus weak": theory.strong_versus_weak,
        "masking": theory.masking,
        "pair": theory.xor,
        "parity of 3": lambda: theory.xor(3),
        "chain of 4": lambda: theory.chain(4),
    }[name]()
    return made.with_irrelevant(irrelevant) if irrelevant else made


# Forests beside exact importances ------------------------------------------------------------------------------------


class Grown:
    """A forest of Fernwood's trees on the outcomes of a distribution, weighted by their probabilities.

    Columns have two values, so that a threshold is a multiway split. The learner draws K among the columns that are not
    constant in a node; the theory draws among all that were not used before. Both are the same in distributions whose
    inputs are strictly positive, and elsewhere for K = 1 and K = p without pruning.
    """

    def __init__(self, made: Distribution, k: int, depth: int, q: int) -> None:
        rows = np.array(list(made.outcomes()))
        codes = np.ascontiguousarray(rows[:, :-1].T.astype(np.uint8))
        target = class_target(rows[:, -1], weights=[float(share) for share in made.outcomes().values()])
        settings = TreeSettings("random" if k == 1 else "cart", "entropy", k, depth)
        self.n_inputs = made.n_inputs
        self._draws = [np.array(columns) for columns in combinations(range(made.n_inputs), q)]
        self._grounds: list[Ground] = [lay_out(codes[columns], target, settings) for columns in self._draws]

    def mean(self, n_trees: int, seed: int, batch: int) -> NDArray[np.float64]:
        """The mean importances of some trees, each on a random draw of columns."""
        drawn = seeds.generator(seed, 0, batch).multinomial(n_trees, [1 / len(self._draws)] * len(self._draws))
        states = seeds.states(n_trees, seed, 1, batch)
        total, begin = np.zeros(self.n_inputs), 0
        for columns, ground, number in zip(self._draws, self._grounds, drawn.tolist(), strict=True):
            if number:
                out = np.zeros(len(columns))
                add_importances(ground, states[begin : begin + number], out)
                total[columns] += out
                begin += number
        return np.asarray(total / n_trees)


def forest(
    name: str, irrelevant: int, k: int, q: int, depth: int, n_trees: int, seed: int, exact: dict[str, float]
) -> list[Row]:
    """Importances by a forest beside exact ones."""
    grown = Grown(example(name, irrelevant), k, depth, q)
    means = np.array([grown.mean(n_trees // _BATCHES, seed, batch) for batch in range(_BATCHES)])
    error = means.std(axis=0, ddof=1) / math.sqrt(_BATCHES)
    return [
        {"column": column, "exact": value, "forest": float(mean), "standard_error": float(one)}
        for (column, value), mean, one in zip(exact.items(), means.mean(axis=0), error, strict=True)
    ]


def whole_forest(name: str, irrelevant: int, k: int, n_trees: int, seed: int) -> list[Row]:
    """A forest of unpruned trees on all columns."""
    made = example(name, irrelevant)
    p = made.n_inputs
    return forest(name, irrelevant, k, p, p, n_trees, seed, theory.by_nodes(made, k, p, p))


def forest_cells(quick: bool) -> list[Cell]:
    """Examples and K."""
    asked = [
        ("seven segments", 0, 1), ("seven segments", 0, 7), ("masking", 0, 1), ("masking", 0, 2), ("masking", 1, 2),
        *(("strong versus weak", 0, k) for k in (1, 2, 3)), *(("chain of 4", 1, k) for k in (1, 3, 5)),
    ]  # fmt: skip
    return [
        Cell(whole_forest, {"name": name, "irrelevant": irrelevant, "k": k, "n_trees": 2000 if quick else 200_000,
                            "seed": 1})
        for name, irrelevant, k in asked
    ]  # fmt: skip


def forest_claims(told: Told) -> Iterator[Claim]:
    """Forests give what the theory gives."""
    for name, examples in told.each("name").items():
        for irrelevant, several in examples.each("irrelevant").items():
            for k, rows in several.each("k").items():
                yield Claim(
                    f"{name}{_and(irrelevant)}, K = {k}: a forest of {rows.rows[0]['n_trees']} trees",
                    "exact importances", _off(rows), direction=_most(rows) < _ERRORS,
                )  # fmt: skip
    segments = told.where(name="seven segments", k=7)
    printed = (0.306, 0.799, 0.475, 0.412, 0.835, 0.120, 0.372)
    off = [abs(text - row["exact"]) for text, row in zip(printed, segments, strict=True)]
    spread = [row["standard_error"] * math.sqrt(row["n_trees"]) for row in segments]
    # The digits themselves hide up to half a thousandth.
    trees = min((s / (d - 0.0005)) ** 2 for s, d in zip(spread, off, strict=True) if d > 0.001)
    yield Claim(
        "seven segments, K = 7: what chance does in a forest", "estimated",
        f"printed values are up to {max(off):.4f} off; one tree varies by {max(spread):.2f}, so that a forest of "
        f"{_rounded(trees)} trees is off by one such standard error",
        direction=max(off) < 0.005,
    )  # fmt: skip


def _rounded(trees: float) -> str:
    return f"{float(f'{trees:.1g}'):,.0f}".replace(",", " ")


def _and(irrelevant: int) -> str:
    return f" and {irrelevant} irrelevant" if irrelevant else ""


def _most(rows: Told) -> float:
    """How many standard errors a forest is off at most; importances that do not vary have to be equal."""
    return max(
        (abs(row["forest"] - row["exact"]) / row["standard_error"] for row in rows if row["standard_error"] > 1e-9),
        default=0.0,
    ) + sum(
        math.inf for row in rows if row["standard_error"] <= 1e-9 and abs(row["forest"] - row["exact"]) > 1e-6
    )  # fmt: skip


def _off(rows: Told) -> str:
    most = max(abs(row["forest"] - row["exact"]) for row in rows)
    return f"at most {most:.4f} bits and {_most(rows):.1f} standard errors off"


# Subspaces and depth -------------------------------------------------------------------------------------------------

_EQUIVALENT = (("seven segments", 0), ("strong versus weak", 3), ("chain of 4", 2), ("parity of 3", 2))


def subspaces(name: str, irrelevant: int, q: int, k: int) -> Row:
    """Exact importances of unpruned trees on q columns, and of trees of depth q on all; K = 1 also in closed form."""
    made = example(name, irrelevant)
    on_q = np.array(list(theory.by_nodes(made, k, q, q).values()))
    deep = np.array(list(theory.by_nodes(made, k, q, made.n_inputs).values()))
    parts = made.decomposition(q)
    closed = np.array(list(parts.by_column.values()))
    p = made.n_inputs
    # Formula (2) of the paper has 1 / C(p, k) where the slides have 1 / (C(p, k) (p − k)).
    printed = parts.by_degree @ (p - np.arange(p))
    degrees = np.array(
        [(made.degree(column) if made.relevance()[column] != "irrelevant" else p) for column in made.inputs]
    )
    return {
        "total": float(on_q.sum()), "apart": float(np.abs(on_q - deep).max()),
        "from_closed_form": float(np.abs(on_q - closed).max()),
        "printed_total": float(printed.sum()), "told": made.mutual_information(made.inputs, made.output),
        "positive_by_degree": bool(((on_q > 0) == (degrees < q)).all()),
        "printed_by_degree": bool(((printed > 0) == (degrees < q)).all()),
    }  # fmt: skip


def pruned_forest(name: str, irrelevant: int, q: int, way: str, n_trees: int, seed: int) -> list[Row]:
    """A forest of totally randomized trees: unpruned on q columns each, or of depth q on all."""
    made = example(name, irrelevant)
    sizes = (q, q) if way == "columns" else (made.n_inputs, q)
    return forest(name, irrelevant, 1, *sizes, n_trees, seed, made.importances(max_depth=q))


def subspace_cells(quick: bool) -> list[Cell]:
    """All q by theory; some by forest."""
    cells = [
        Cell(subspaces, {"name": name, "irrelevant": irrelevant, "q": q, "k": k})
        for name, irrelevant in _EQUIVALENT for q in range(1, example(name, irrelevant).n_inputs + 1)
        for k in (1, 2) if k <= q
    ]  # fmt: skip
    for name, irrelevant, q in (("strong versus weak", 3, 2), ("chain of 4", 2, 3), ("parity of 3", 2, 3)):
        cells += [
            Cell(pruned_forest, {"name": name, "irrelevant": irrelevant, "q": q, "way": way,
                                 "n_trees": 4000 if quick else 400_000, "seed": 2})
            for way in ("columns", "depth")
        ]  # fmt: skip
    return cells


def subspace_claims(told: Told) -> Iterator[Claim]:
    """The equivalence, and formula (2)."""
    exact = Told(row for row in told if "apart" in row)
    one, two = exact.where(k=1), exact.where(k=2)
    yield Claim(
        "K = 1, by theory: unpruned trees on q columns and trees of depth q on all columns", "strictly equivalent",
        f"{len(one)} examples and q, at most {max(one.values('apart')):.0e} bits apart",
        direction=max(one.values("apart")) < _EQUAL, exact=True,
    )  # fmt: skip
    yield Claim(
        "K = 1: both are the sum over conditionings of up to q − 1 columns", "a formula of the slides",
        f"at most {max(one.values('from_closed_form')):.0e} bits apart",
        direction=max(one.values("from_closed_form")) < _EQUAL, exact=True,
    )  # fmt: skip
    yield Claim(
        "K = 2: they are not the same", "said of K = 1 only", f"up to {max(two.values('apart')):.3f} bits apart",
        direction=max(two.values("apart")) > 0.001,
    )  # fmt: skip
    for name, rows in Told(row for row in told if "way" in row).each("name").items():
        sides = [{row["column"]: row for row in rows.where(way=way)} for way in ("columns", "depth")]
        beside = max(
            abs(a["forest"] - b["forest"]) / max(math.hypot(a["standard_error"], b["standard_error"]), 1e-9)
            for a, b in ((sides[0][column], sides[1][column]) for column in sides[0])
        )
        head = rows.rows[0]
        yield Claim(
            f"K = 1, by forest: {name}{_and(head['irrelevant'])}, q = {head['q']}, {head['n_trees']} trees each way",
            "strictly equivalent",
            f"{beside:.1f} standard errors from each other; from the exact ones {_off(rows)}",
            direction=beside < _ERRORS and _most(rows) < _ERRORS,
        )  # fmt: skip
    yield Claim(
        "K = 1: importance is above 0 exactly for columns of a degree below q", "all and only these",
        f"{sum(one.values('positive_by_degree'))} of {len(one)} examples and q",
        direction=all(one.values("positive_by_degree")), exact=True,
    )  # fmt: skip
    whole = one.where(name="seven segments", q=7).rows[0]
    yield Claim(
        "formula (2), Σ 1 / C(p, k) Σ I(X; Y | B): total of the seven segments", "an importance: log2(10) = 3.3219",
        f"{whole['printed_total']:.4f}", direction=abs(whole["printed_total"] - whole["told"]) < _EQUAL,
        differs="A misprint: the factor 1 / (p − k) of the slides is missing. With it the total is "
        f"{whole['total']:.4f}, and forests give these importances; what the paper concludes from it is not touched.",
    )  # fmt: skip
    yield Claim(
        "what the paper concludes from formula (2): above 0 if and only if the degree is below q", "holds",
        f"{sum(one.values('printed_by_degree'))} of {len(one)}", direction=all(one.values("printed_by_degree")),
        exact=True,
    )  # fmt: skip


def draw_subspaces(told: Told, figure: Any) -> None:
    """Forests of both kinds beside the exact importances."""
    forests = Told(row for row in told if "way" in row)
    for axes, (name, rows) in zip(figure.subplots(1, 3), forests.each("name").items(), strict=True):
        exact = rows.where(way="columns")
        places = np.arange(len(exact))
        axes.bar(places, exact.values("exact"), 0.7, color="lightgrey", label="exact")
        for shift, way, label in ((-0.12, "columns", "q columns, unpruned"), (0.12, "depth", "all columns, depth q")):
            of = rows.where(way=way)
            axes.errorbar(places + shift, of.values("forest"), [3 * e for e in of.values("standard_error")], fmt=".",
                          label=label)  # fmt: skip
        head = rows.rows[0]
        axes.set_title(f"{name}{_and(head['irrelevant'])}, q = {head['q']}", fontsize="medium")
        axes.set_xticks(places, exact.values("column"))
    figure.axes[0].set_ylabel("importance (bits)")
    figure.axes[0].legend(frameon=False, fontsize="small")


# Few trees -----------------------------------------------------------------------------------------------------------


def few_trees(irrelevant: int, n_trees: int, repetitions: int, seed: int) -> Row:
    """How often forests of n trees find both columns of Y = X1 xor X2, or an irrelevant one; K = p."""
    p = 2 + irrelevant
    grown = Grown(example("pair", irrelevant), p, p, p)
    found = np.array([grown.mean(n_trees, seed, number) > 1e-12 for number in range(repetitions)])
    return {
        "both": float(found[:, :2].all(axis=1).mean()), "either": float(found[:, :2].any(axis=1).mean()),
        "others": float(found[:, 2:].any(axis=1).mean()),
    }  # fmt: skip


def one_tree(name: str) -> Row:
    """What single trees with K = p can find, all ties falling as they may, and whether the condition holds."""
    made = example(name)
    p = made.n_inputs
    strong = made.mask([column for column, label in made.relevance().items() if label == "strong"])
    outcomes = theory.tree_outcomes(made, tuple(range(p)), p)
    return {
        "condition": made.one_tree_suffices(), "outcomes": len(outcomes), "strong": strong.bit_count(),
        "all_strong": all(strong & ~found == 0 for found in outcomes),
    }  # fmt: skip


def tree_cells(quick: bool) -> list[Cell]:
    """One to eight trees, also beside an irrelevant column; examples."""
    repetitions = 200 if quick else 10_000
    names = ("pair", "parity of 3", "masking", "seven segments", "chain of 4")
    return [
        *(Cell(few_trees, {"irrelevant": irrelevant, "n_trees": n, "repetitions": repetitions, "seed": 3})
          for irrelevant, n in ((0, 1), (0, 2), (0, 3), (0, 5), (0, 8), (1, 1))),
        *(Cell(one_tree, {"name": name}) for name in names),
    ]  # fmt: skip


def tree_claims(told: Told) -> Iterator[Claim]:
    """What the slides say of a finite number of trees."""
    forests, singles = Told(row for row in told if "both" in row), Told(row for row in told if "outcomes" in row)
    one = forests.where(n_trees=1, irrelevant=0).rows[0]
    yield Claim(
        "Y = X1 xor X2: a single tree can not find all relevant columns, even strong ones", "one of the two",
        f"one in {one['either']:.0%} of {one['repetitions']} trees, both in {one['both']:.0%}",
        direction=one["both"] == 0 and one["either"] == 1,
    )  # fmt: skip
    for row in forests.where(irrelevant=0):
        if row["n_trees"] > 1:
            expected = 1 - 0.5 ** (row["n_trees"] - 1)
            error = math.sqrt(expected * (1 - expected) / row["repetitions"])
            yield Claim(
                f"the same with {row['n_trees']} trees: share of forests that find both", "an ensemble is necessary",
                f"{row['both']:.4f}, where 1 − 2^(1 − trees) = {expected:.4f}",
                direction=abs(row["both"] - expected) < _ERRORS * error,
            )  # fmt: skip
    beside = forests.where(irrelevant=1).rows[0]
    yield Claim(
        "an importance above 0 in a finite number of trees implies relevance", "holds",
        f"an irrelevant column beside the two is found by {beside['others']:.0%} of {beside['repetitions']} trees",
        direction=beside["others"] == 0,
        note=f"{beside['both']:.3f} of these trees find both (1/6 is due): the irrelevant column comes first in one "
        "of three, and the branches then choose apart.",
    )  # fmt: skip
    for row in singles:
        yield Claim(
            f"{row['name']}: one tree with K = p finds all strong columns", "surely, under a condition on pairs",
            f"{'surely' if row['all_strong'] else 'not surely'}, {row['outcomes']} different outcomes; "
            f"the condition {'holds' if row['condition'] else 'does not hold'}",
            direction=row["all_strong"] or not row["condition"], exact=True,
        )  # fmt: skip


# Few rows ------------------------------------------------------------------------------------------------------------


def bias(x_values: int, y_values: int, n: int, repetitions: int, seed: int) -> Row:
    """The mean information between independent columns that samples of n rows show."""
    rng = seeds.generator(seed, x_values, y_values, n)
    shares = np.full(x_values * y_values, 1 / (x_values * y_values))
    tables = rng.multinomial(n, shares, repetitions).reshape(repetitions, x_values, y_values)
    plain = np.array([theory.information_estimate(table, correction=None) for table in tables])
    right = np.array([theory.information_estimate(table) for table in tables])
    return {
        "formula": theory.information_bias(x_values, y_values, n), "mean": float(plain.mean()),
        "standard_error": float(plain.std(ddof=1) / math.sqrt(repetitions)), "corrected": float(right.mean()),
    }  # fmt: skip


def bias_cells(quick: bool) -> list[Cell]:
    """Numbers of values and of rows."""
    return [
        Cell(bias, {"x_values": x, "y_values": y, "n": n, "repetitions": 200 if quick else 20_000, "seed": 4})
        for x, y in ((2, 2), (10, 2), (10, 10)) for n in (25, 100, 1000)
    ]  # fmt: skip


def bias_claims(told: Told) -> Iterator[Claim]:
    """The bias, where it is what the formula says."""
    for row in told:
        cells = row["x_values"] * row["y_values"]
        enough = row["n"] >= 10 * cells
        ratio = row["mean"] / row["formula"]
        allowed = 0.05 + _ERRORS * row["standard_error"] / row["formula"]
        if enough:
            yield Claim(
                f"{row['x_values']} and {row['y_values']} values, {row['n']} rows: information of independent columns",
                f"{row['formula']:.5f}", f"{row['mean']:.5f}", direction=row["mean"] > 0 and abs(ratio - 1) < allowed,
                note=f"{ratio:.3f} of the formula in {row['repetitions']} samples; corrected {row['corrected']:.5f}.",
            )  # fmt: skip
    few = [row["mean"] / row["formula"] for row in told if row["n"] < 10 * row["x_values"] * row["y_values"]]
    yield Claim(
        "fewer than ten rows for every pair of values", "the same formula", f"{min(few):.2f} to {max(few):.2f} of it",
        direction=max(abs(ratio - 1) for ratio in few) < 0.05,
        differs="The formula is the first term of a series in 1 / rows; with few rows the next ones count as well.",
    )  # fmt: skip


PARTS = (
    Part(
        "forests", "Forests beside exact importances", f"{_SLIDES}, theorems for infinitely many trees", forest_cells,
        forest_claims, text="Trees are Fernwood's, grown on tables in which every outcome has its exact weight.",
    ),
    Part(
        "subspaces", "Trees on q columns and trees of depth q", f"{_SLIDES}, correctness of RS; {_PAPER}, formula (2)",
        subspace_cells, subspace_claims, draw_subspaces, "Bars are exact, points forests with three standard errors.",
        (11.0, 3.4),
    ),
    Part("trees", "A finite number of trees", f"{_SLIDES}, non asymptotic setting", tree_cells, tree_claims),
    Part("rows", "A finite number of rows: bias", f"{_SLIDES}, non asymptotic setting", bias_cells, bias_claims),
)  # fmt: skip
