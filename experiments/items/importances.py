"""Importances of forests: the seven segments, masking, copies, pruning, what searches find; `grown` has the forests."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import pairwise, product
from typing import TYPE_CHECKING, Any

import numpy as np

from experiments.experiment import Cell, Claim, Experiment, Part, Told
from experiments.items import grown
from experiments.items.grown import example
from fernwood import seeds, theory
from fernwood.theory import plots

if TYPE_CHECKING:
    from collections.abc import Iterator

    from experiments.experiment import Row
    from fernwood.theory import Distribution

_PAPER = "Sutera et al. (2018)"
_SLIDES = "Geurts, slides of 2016"
_EQUAL = 1e-10
"""Bits by which two exact computations may differ."""


# The seven segments --------------------------------------------------------------------------------------------------

_PRINTED = {
    1: ("0.412", "0.581", "0.531", "0.542", "0.656", "0.225", "0.372"),
    7: ("0.306", "0.799", "0.475", "0.412", "0.835", "0.120", "0.372"),
}


def segments(k: int) -> list[Row]:
    """Importances of the segments where K columns are drawn at a node; of K = 1 also by size of the conditioning."""
    display = theory.seven_segment()
    values = theory.by_nodes(display, k, display.n_inputs, display.n_inputs)
    rows: list[Row] = [{"column": name, "importance": value} for name, value in values.items()]
    if k == 1:
        parts = display.decomposition()
        for row, sizes in zip(rows, parts.by_degree.tolist(), strict=True):
            row |= {"closed_form": math.fsum(sizes)} | {f"size_{size}": value for size, value in enumerate(sizes)}
    return rows


def segment_cells(_: bool) -> list[Cell]:
    """All K from 1 to 7."""
    return [Cell(segments, {"k": k}) for k in range(1, 8)]


def segment_claims(told: Told) -> Iterator[Claim]:
    """Printed importances, and what adds up."""
    for k, printed in _PRINTED.items():
        for row, text in zip(told.where(k=k), printed, strict=True):
            value = row["importance"]
            cut = math.floor(1000 * value) / 1000 == float(text)
            yield Claim(
                f"K = {k}, {row['column']}", text, f"{value:.4f}", direction=abs(value - float(text)) <= 0.004,
                exact=cut, note=_said_of_digits(k, cut=cut),
            )  # fmt: skip
    first = told.where(k=1)
    off = max(abs(row["importance"] - row["closed_form"]) for row in first)
    yield Claim(
        "K = 1: the closed form and the recursion over nodes give the same importances", "a theorem",
        f"at most {off:.0e} bits apart", direction=off < _EQUAL, exact=True,
    )  # fmt: skip
    totals = [math.fsum(rows.values("importance")) for rows in told.each("k").values()]
    yield Claim(
        "importances add up to I(X1, …, X7; Y) = log2(10), for K = 1 and all K between 2 and 7", f"{math.log2(10):.6f}",
        f"{min(totals):.6f} to {max(totals):.6f}", direction=max(abs(t - math.log2(10)) for t in totals) < _EQUAL,
        exact=True,
    )  # fmt: skip
    rises = [
        (b["importance"] - a["importance"], float(y) - float(x))
        for a, b, x, y in zip(first, told.where(k=7), *_PRINTED.values(), strict=True)
    ]
    yield Claim(
        "which segments gain from K = 1 to K = 7, and which lose", "2 gain, 4 lose, X7 stays",
        ", ".join(f"{row['column']} {rise:+.3f}" for row, (rise, _) in zip(first, rises, strict=True)),
        direction=all(ours * printed > 0 if printed else abs(ours) < 0.004 for ours, printed in rises),
    )  # fmt: skip
    strong = [name for name, label in theory.seven_segment().relevance().items() if label == "strong"]
    least = min(row["importance"] for row in told if row["column"] in strong)
    yield Claim(
        "strongly relevant columns are not masked, whatever K", "importance above 0",
        f"{', '.join(strong)} are strong; at least {least:.3f}", direction=least > 0,
    )  # fmt: skip


def _said_of_digits(k: int, *, cut: bool) -> str:
    if cut:
        return "the printed digits are cut off, not rounded" if k == 1 else ""
    return "The slides' column was estimated on a forest (see the forests below for what chance does)."


def draw_segments(told: Told, figure: Any) -> None:
    """The decomposition of K = 1, and importances over K."""
    left, right = figure.subplots(1, 2)
    plots.draw_decomposition(left, theory.seven_segment().decomposition())
    left.set_title("K = 1, taken apart", fontsize="medium")
    for column, rows in told.each("column").items():
        right.plot(rows.values("k"), rows.values("importance"), ".-", label=column)
    for k, printed in _PRINTED.items():
        right.plot([k] * 7, [float(text) for text in printed], "kx", label="printed" if k == 1 else None)
    right.set(xlabel="K, columns drawn at a node", ylabel="importance (bits)", title="K from 1 to 7")
    right.title.set_fontsize("medium")
    right.legend(frameon=False, ncols=2, fontsize="small", loc="upper left", bbox_to_anchor=(1, 1))


# Masking -------------------------------------------------------------------------------------------------------------


def masked(wrong: str, k: int, irrelevant: int) -> Row:
    """Importances where X1 is the output and X2 nearly so."""
    pair = theory.masking(wrong)
    whole = pair.with_irrelevant(irrelevant) if irrelevant else pair
    values = theory.by_nodes(whole, k, whole.n_inputs, whole.n_inputs)
    return {
        "X1": values["X1"], "X2": values["X2"], "irrelevant_most": max(list(values.values())[2:], default=0.0),
        "I(X1;Y)": pair.mutual_information("X1", "Y"), "I(X2;Y)": pair.mutual_information("X2", "Y"),
        "I(X1;Y|X2)": pair.mutual_information("X1", "Y", "X2"), "I(X2;Y|X1)": pair.mutual_information("X2", "Y", "X1"),
    }  # fmt: skip


def masking_cells(_: bool) -> list[Cell]:
    """Two columns and up to four irrelevant ones."""
    return [
        Cell(masked, {"wrong": wrong, "k": k, "irrelevant": irrelevant})
        for wrong in ("0.001", "0.05") for k in (1, 2) for irrelevant in range(5)
    ]  # fmt: skip


def masking_claims(told: Told) -> Iterator[Claim]:
    """The slides' example."""
    one, two = (told.where(wrong="0.001", k=k) for k in (1, 2))
    alone = one.rows[0]
    eps, both = alone["I(X1;Y|X2)"], (alone["I(X1;Y)"], alone["I(X2;Y)"])
    for name, paper, value, near in (
        ("X1", "≈ ½ I(X1; Y) + ε", alone["X1"], both[0] / 2 + eps),
        ("X2", "≈ ½ I(X2; Y)", alone["X2"], both[1] / 2),
    ):
        yield Claim(
            f"K = 1, {name}, with ε = I(X1; Y | X2) = {eps:.4f}", f"{paper} = {near:.4f}", f"{value:.4f}",
            direction=abs(value - near) <= eps, note="Exactly, ε counts half." if name == "X1" else "",
        )  # fmt: skip
    for wrong, rows in told.where(k=2).each("wrong").items():
        row = rows.where(irrelevant=0).rows[0]
        yield Claim(
            f"K = 2, X2 wrong in {wrong}: X1 and X2", "I(X1; Y) and 0", f"{row['X1']:.4f} and {row['X2']:.4f}",
            direction=row["X2"] == 0 and abs(row["X1"] - row["I(X1;Y)"]) < _EQUAL, exact=True,
            note="X2 is relevant and has no importance: it is masked.",
        )  # fmt: skip
    grows = two.values("X2")
    yield Claim(
        "K = 2 and irrelevant columns added: X2", "above 0 with one", ", ".join(f"{value:.3f}" for value in grows),
        direction=grows[0] == 0 and all(a < b for a, b in pairwise(grows)), note="With none to four of them.",
    )  # fmt: skip
    spread = max(max(one.values(name)) - min(one.values(name)) for name in ("X1", "X2"))
    yield Claim(
        "K = 1: irrelevant columns change nothing", "insensitive", f"at most {spread:.0e} bits", exact=True,
        direction=spread < _EQUAL,
    )  # fmt: skip
    most = max(told.values("irrelevant_most"))
    yield Claim("irrelevant columns have no importance, whatever K", "0", f"{most:g}", direction=most == 0, exact=True)


# Strong and weak -----------------------------------------------------------------------------------------------------


def strong_and_weak(eps: str) -> Row:
    """Importances, informations and labels of the slides' example."""
    made = theory.strong_versus_weak(eps)
    labels = made.relevance()
    wrong = float(Fraction(eps))
    left_open = -wrong * math.log2(wrong) - (1 - wrong) * math.log2(1 - wrong)
    return made.importances() | {
        "labels": ", ".join(labels[name] for name in made.inputs), "positive": made.is_strictly_positive(),
        "left_open": left_open,
        "I(Y;X1)": made.mutual_information("X1", "Y"), "I(Y;X1,X2)": made.mutual_information(["X1", "X2"], "Y"),
        "I(Y;X3)": made.mutual_information("X3", "Y"), "I(Y;X3|X1)": made.mutual_information("X3", "Y", "X1"),
        "I(Y;X1|X3)": made.mutual_information("X1", "Y", "X3"),
        "I(Y;X1|X2,X3)": made.mutual_information("X1", "Y", ["X2", "X3"]),
    }  # fmt: skip


def strong_cells(_: bool) -> list[Cell]:
    """Several ε, the slides' among them."""
    return [Cell(strong_and_weak, {"eps": f"{eps:g}"}) for eps in (0.01, 0.05, 0.1, 0.11, 0.12, 0.2, 0.3, 0.4)]


def strong_claims(told: Told) -> Iterator[Claim]:
    """What the slides work out for ε = 0.05."""
    row = told.where(eps="0.05").rows[0]
    printed = {
        "I(Y;X1)": "0", "I(Y;X1,X2)": "1", "I(Y;X3)": "0.714", "I(Y;X3|X1)": "0.714", "I(Y;X1|X3)": "0",
        "I(Y;X1|X2,X3)": "0.286", "X1": "0.262", "X2": "0.262", "X3": "0.476",
    }  # fmt: skip
    for name, text in printed.items():
        value = row[name] + 0.0
        digits = len(text.partition(".")[2])
        yield Claim(
            f"ε = 0.05, {name if name.startswith('I') else f'Imp({name})'}", text, f"{value:.4f}",
            direction=f"{value:.{digits}f}" == text, exact=True,
        )  # fmt: skip
    as_printed = 1 + row["left_open"]
    yield Claim(
        "the formula beside I(Y; X3)", "1 − (1 − ε) log(1 − ε) − ε log ε", f"{as_printed:.3f} as it stands",
        direction=f"{as_printed:.3f}" == "0.714",
        differs=f"A misprint of signs: with + in both places it gives the printed 0.714 (1 − H(ε) = "
        f"{1 - row['left_open']:.3f}), which is exact.",
    )  # fmt: skip
    yield Claim(
        "a weak column can be ahead of strong ones, in a strictly positive distribution", "X1, X2 strong; X3 weak",
        row["labels"] + ("; strictly positive" if row["positive"] else ""),
        direction=row["labels"] == "strong, strong, weak" and row["X3"] > row["X1"] and row["positive"],
    )  # fmt: skip
    sides = [(one["left_open"] < 0.5) == (one["X1"] < one["X3"]) for one in told]
    yield Claim(
        "X3 is ahead as long as α < ½", "α < ½", f"so for all {len(sides)} ε, with α = H(ε)", direction=all(sides),
        note="The picture that says what α is was lost; with the bits that X3 leaves open, the bound is exactly ½.",
    )  # fmt: skip


def draw_strong(told: Told, figure: Any) -> None:
    """Importances over what X3 leaves open."""
    axes = figure.subplots()
    axes.plot(told.values("left_open"), told.values("X1"), ".-", label="X1 and X2, strong")
    axes.plot(told.values("left_open"), told.values("X3"), ".-", label="X3, weak")
    axes.axvline(0.5, color="grey", linewidth=0.8)
    axes.set(xlabel="bits of the output that X3 leaves open, H(ε)", ylabel="importance (bits)")
    axes.legend(frameon=False)


# Copies --------------------------------------------------------------------------------------------------------------


def copied(of: str, noise: str, copies: int) -> Row:
    """Importances of a column, its copies and the others: Y = X1 xor X2, copies of X1; the segments, copies of X5."""
    made = theory.xor(2) if of == "X1" else theory.seven_segment()
    values = (made.with_copies(of, copies, noise) if copies else made).importances()
    clones = [value for name, value in values.items() if name.partition(".")[0] == of]
    others = {f"other {name}": value for name, value in values.items() if name.partition(".")[0] != of}
    return {"original": clones[0], "last copy": clones[-1], "together": math.fsum(clones), **others}


def copy_cells(_: bool) -> list[Cell]:
    """Exact and noisy copies of one of two partners, and of a segment."""
    return [
        Cell(copied, {"of": of, "noise": noise, "copies": copies})
        for of, noise, most in (("X1", "0", 4), ("X1", "1/10", 4), ("X5", "0", 2)) for copies in range(most + 1)
    ]  # fmt: skip


def copy_claims(told: Told) -> Iterator[Claim]:
    """Copies share, partners gain."""
    for (of, noise), rows in (((of, noise), told.where(of=of, noise=noise)) for of, noise in _series(told)):
        name = f"{'parity of X1 and X2' if of == 'X1' else 'seven segments'}, {_kind(noise)} of {of}"
        worth = rows.values("original")
        yield Claim(
            f"{name}: importance of the column and of each copy", "decreases",
            " → ".join(f"{value:.3f}" for value in worth),
            direction=all(a > b for a, b in pairwise(worth)) and rows.rows[-1]["last copy"] < worth[0],
            note="With none, one, two … copies.",
        )  # fmt: skip
        if of == "X1":
            partner = rows.values("other X2")
            yield Claim(
                f"{name}: importance of X2, with which it interacts", "increases",
                " → ".join(f"{value:.3f}" for value in partner), direction=all(a < b for a, b in pairwise(partner)),
            )  # fmt: skip


def _series(told: Told) -> list[tuple[str, str]]:
    return list(dict.fromkeys((row["of"], row["noise"]) for row in told))


def _kind(noise: str) -> str:
    return "copies" if noise == "0" else f"copies wrong in {noise}"


def draw_copies(told: Told, figure: Any) -> None:
    """Column, copies and partner over the number of copies."""
    for axes, noise in zip(figure.subplots(1, 2, sharey=True), ("0", "1/10"), strict=True):
        rows = told.where(of="X1", noise=noise)
        for name, label in (("original", "X1"), ("together", "X1 and its copies"), ("other X2", "X2, its partner")):
            axes.plot(rows.values("copies"), rows.values(name), ".-", label=label)
        axes.set(xlabel="copies of X1", title=_kind(noise), xticks=rows.values("copies"))
        axes.legend(frameon=False, fontsize="small")
    figure.axes[0].set_ylabel("importance (bits)")


# Pruning -------------------------------------------------------------------------------------------------------------

_PRUNED = (("seven segments", 0), ("strong versus weak", 3), ("chain of 4", 2), ("parity of 3", 2))


def pruned(name: str, irrelevant: int, depth: int) -> Row:
    """Importances of K = 1 at a depth by recursion over nodes, beside the first terms of the decomposition."""
    made = example(name, irrelevant)
    p = made.n_inputs
    labels = made.relevance()
    values = theory.by_nodes(made, 1, depth, p)
    terms = made.decomposition().by_degree[:, :depth].sum(axis=1)
    relevant = [column for column, label in labels.items() if label != "irrelevant"]
    degrees = [made.degree(column) or 0 for column in relevant]
    return {
        **{f"Imp({column})": value for column, value in values.items()},
        "off": float(np.abs(np.array(list(values.values())) - terms).max()),
        "relevant": len(relevant), "highest_degree": max(degrees), "found": sum(v > 0 for v in values.values()),
        "as_it_should": all((values[c] > 0) == (c in relevant and (made.degree(c) or 0) < depth) for c in values),
    }  # fmt: skip


def pruning_cells(_: bool) -> list[Cell]:
    """Four examples at every depth, and one with more and more irrelevant columns."""
    cells = [
        Cell(pruned, {"name": name, "irrelevant": irrelevant, "depth": depth})
        for name, irrelevant in _PRUNED for depth in range(1, example(name, irrelevant).n_inputs + 1)
    ]  # fmt: skip
    for irrelevant in (0, 1, 3, 4):
        cells += [
            Cell(pruned, {"name": "chain of 4", "irrelevant": irrelevant, "depth": depth})
            for depth in (2, 4 + irrelevant)
        ]
    return cells


def pruning_claims(told: Told) -> Iterator[Claim]:
    """What the slides say of trees of depth D."""
    off = max(told.values("off"))
    yield Claim(
        "depth D keeps the first D terms of the decomposition", "a theorem",
        f"{len(told)} examples and depths, at most {off:.0e} bits apart", direction=off < _EQUAL, exact=True,
    )  # fmt: skip
    chains = told.where(name="chain of 4")
    whole = [row for row in chains if row["depth"] == 4 + row["irrelevant"]]
    cut = sorted(chains.where(depth=2), key=lambda row: row["irrelevant"])
    spread = max(row["Imp(X1)"] for row in whole) - min(row["Imp(X1)"] for row in whole)
    yield Claim(
        "unpruned: X1 of the chain with 0 to 4 irrelevant columns", "insensitive",
        f"{whole[0]['Imp(X1)']:.4f} throughout", direction=spread < _EQUAL, exact=True,
    )  # fmt: skip
    yield Claim(
        "pruned to D = 2: the same", "depends on the number of irrelevant columns",
        " → ".join(f"{row['Imp(X1)']:.4f}" for row in cut),
        direction=len({round(row["Imp(X1)"], 6) for row in cut}) == len(cut),
    )  # fmt: skip
    for about, enough in (
        ("all degrees are below D", [row for row in told if row["highest_degree"] < row["depth"]]),
        ("there are at most D relevant columns", [row for row in told if row["relevant"] <= row["depth"]]),
    ):
        solved = sum(row["as_it_should"] and row["found"] == row["relevant"] for row in enough)
        yield Claim(
            f"importance is above 0 for the relevant columns only, and all of them, where {about}", "holds",
            f"{solved} of {len(enough)}", direction=solved == len(enough), exact=True,
        )  # fmt: skip
    shallow = [row for row in told if row["highest_degree"] >= row["depth"]]
    yield Claim(
        "elsewhere columns of a degree of D or more are missed", "no promise",
        f"{sum(row['found'] < row['relevant'] for row in shallow)} of {len(shallow)}; the chain at D = 1: "
        f"{chains.where(irrelevant=2, depth=1).rows[0]['found']} of 4, parity of 3 at D = 2: "
        f"{told.where(name='parity of 3', depth=2).rows[0]['found']} of 3",
        direction=all(row["as_it_should"] and row["found"] < row["relevant"] for row in shallow),
    )  # fmt: skip


def draw_pruning(told: Told, figure: Any) -> None:
    """Importances over depth: the chain with two irrelevant columns, and the segments."""
    for axes, (name, irrelevant) in zip(figure.subplots(1, 2), (("chain of 4", 2), ("seven segments", 0)), strict=True):
        rows = told.where(name=name, irrelevant=irrelevant)
        for column in example(name).inputs:
            axes.plot(rows.values("depth"), rows.values(f"Imp({column})"), ".-", label=column)
        more = f" and {irrelevant} irrelevant columns" if irrelevant else ""
        axes.set(xlabel="depth D", ylabel="importance (bits)", title=f"{name}{more}, K = 1")
        axes.title.set_fontsize("medium")
        axes.legend(frameon=False, fontsize="small")
    figure.axes[0].set_yscale("symlog", linthresh=1e-3)


# What searches find --------------------------------------------------------------------------------------------------


def random_distribution(seed: int, number: int) -> Distribution:
    """Two to four columns of two values and an output, with small weights: ties and independences are common."""
    rng = seeds.generator(seed, number)
    cells = list(product((0, 1), repeat=int(rng.integers(2, 5))))
    # Some outputs are a function of the inputs, some are not; some inputs are impossible, or none is.
    outputs = [(int(rng.integers(2)),) if number % 3 else (0, 1) for _ in cells]
    low = int(number % 2)
    weights = {(*cell, y): int(rng.integers(low, low + 3)) for cell, ys in zip(cells, outputs, strict=True) for y in ys}
    kept = {outcome: weight for outcome, weight in weights.items() if weight} or {(*cells[0], 0): 1}
    return theory.Distribution({outcome: Fraction(weight, sum(kept.values())) for outcome, weight in kept.items()})


def soundness(first: int, number: int, seed: int) -> Row:
    """In how many cases of random distributions, q, K and α the statements about what is found hold."""
    count: dict[str, int] = {}

    def note(statement: str, *, holds: bool) -> None:
        count[f"{statement}, cases"] = count.get(f"{statement}, cases", 0) + 1
        count[f"{statement}, holds"] = count.get(f"{statement}, holds", 0) + holds

    for one in range(first, first + number):
        made = random_distribution(seed, one)
        labels, p = made.relevance(), made.n_inputs
        relevant = {name for name, label in labels.items() if label != "irrelevant"}
        strong = {name for name in relevant if labels[name] == "strong"}
        weak_found = [
            len({name for name, value in made.importances(k).items() if value > 0} - strong) for k in range(1, p + 1)
        ]
        note("fewer weak", holds=all(a >= b for a, b in pairwise(weak_found)))
        for q, alpha in product(range(1, p + 1), (0, "1/2", 1)):
            room = (1 - Fraction(alpha)) * q
            low = {name for name in relevant if (made.degree(name) or 0) < room}
            at_one = set(made.found(1, alpha, q).surely)
            note("proposition 4", holds=low <= at_one)
            if len(relevant) <= q:
                note("proposition 3", holds=at_one == relevant)
                note("theorem 2", holds=all(strong <= set(made.found(k, alpha, q).surely) for k in range(1, q + 1)))
            note("nothing irrelevant", holds=set(made.found(q, alpha, q).possibly) <= relevant)
    return dict(count)


def hidden() -> Row:
    """X1 = (noisy a, c), X2 = (a, e), X3 = (a, f), Y = (a, parity of c, e, f) in fair bits: X1 is strong, of degree 0.

    Given X2 or X3 alone it tells nothing: a is known, and the parity lacks a bit. Given both, it tells the parity.
    """
    outcomes: dict[tuple, Fraction] = {}
    for a, flip, c, e, f in product((0, 1), repeat=5):
        outcome = ((a ^ flip, c), (a, e), (a, f), (a, c ^ e ^ f))
        outcomes[outcome] = outcomes.get(outcome, Fraction(0)) + Fraction(1 if flip else 3, 64)
    made = theory.Distribution(outcomes)
    return {
        "label": made.relevance()["X1"], "degree": made.degree("X1"),
        "found": ", ".join(made.found(2, 0, 2).possibly), "found_at_one": ", ".join(made.found(1, 0, 2).surely),
    }  # fmt: skip


def found_cells(quick: bool) -> list[Cell]:
    """Random distributions, and one made for the purpose."""
    batches, number = (1, 8) if quick else (10, 30)
    cells = [Cell(soundness, {"first": number * batch, "number": number, "seed": 5}) for batch in range(batches)]
    return [*cells, Cell(hidden, {})]


def found_claims(told: Told) -> Iterator[Claim]:
    """The paper's statements on infinite data, one by one."""
    said = {
        "nothing irrelevant": "no irrelevant column is ever found",
        "proposition 3": "Proposition 3: K = 1 and r ≤ q find exactly the relevant columns, whatever α",
        "theorem 2": "Theorem 2: r ≤ q finds all strongly relevant columns, whatever K and α",
        "proposition 4": "Proposition 4: K = 1 finds relevant columns of a degree below (1 − α) q",
        "fewer weak": "a larger K finds no more weakly relevant columns",
    }
    for name, about in said.items():
        cases, holds = (sum(told.values(f"{name}, {what}")) for what in ("cases", "holds"))
        yield Claim(about, "holds", f"in {holds} of {cases} cases", direction=holds == cases, exact=True)
    row = next(row for row in told if "degree" in row)
    yield Claim(
        "Proposition 5: strongly relevant columns of a degree below (1 − α) q are found, whatever K", "holds",
        f"K = q = 2 and α = 0 find {row['found']} and never X1, which is {row['label']} and of degree {row['degree']}",
        direction="X1" in row["found"],
        differs="It is given without proof, and as printed it fails: X1 speaks alone and given both others, but each "
        f"of these alone masks it and q = 2 holds no more. K = 1 finds {row['found_at_one']}.",
    )  # fmt: skip


EXPERIMENT = Experiment(
    "importances",
    2,
    "Importances: what forests measure",
    (
        Part(
            "segments", "Seven-segment display", f"{_SLIDES}, illustration: 7-segment display", segment_cells,
            segment_claims, draw_segments, "Ten equally likely digits, entropy in bits.", (11.0, 3.6),
        ),
        Part("masking", "Masking", f"{_SLIDES}, most properties are lost as soon as K > 1", masking_cells,
             masking_claims),
        Part(
            "strong", "Strong and weak columns", f"{_SLIDES}, importances of strongly versus weakly features",
            strong_cells, strong_claims, draw_strong, size=(6.0, 3.4),
        ),
        Part(
            "copies", "Redundant columns", f"{_SLIDES}, redundant variables", copy_cells, copy_claims, draw_copies,
            "K = 1, unpruned.", (9.0, 3.4),
        ),
        Part(
            "pruning", "Pruning", f"{_SLIDES}, impact of pruning", pruning_cells, pruning_claims, draw_pruning,
            "K = 1.", (10.0, 3.6),
        ),
        *grown.PARTS,
        Part("found", "What searches find in the end", f"{_PAPER}, section 4.1", found_cells, found_claims,
             text="Exact: all draws and all trees are enumerated."),
    ),
)  # fmt: skip
