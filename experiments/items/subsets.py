"""The columns that random subspaces find over iterations, with memory and without, by the paper's rule and by ours."""

from __future__ import annotations

import time
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

import fernwood
from experiments.experiment import Cell, Claim, Experiment, Part, Told
from fernwood.search.rolling import select_by_snowball
from fernwood.search.selecting import prepare
from fernwood.search.settings import SubspaceSettings
from fernwood.search.snowball_settings import SnowballSettings
from fernwood.search.subspace import start, step

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from experiments.experiment import Row
    from fernwood.store.base import Store

_PAPER = "Sutera et al. (2018)"
_ALPHAS = (0.0, 0.5, 1.0)
_RULES = {
    "probe": "probe rule, β = 95 %",
    "probe, kept": "probe rule, once found is found",
    "probe, half": "probe rule, β = 50 %",
    "shadow": "our rule",
}
_CHECKS = 20
_FDR = 0.1
_AGAINST = {
    "probe": "Found columns are drawn together, and with 1000 rows they hide each other: beside all others, hardly any "
    "is above the probe in 95 % of the trees, so F loses them again. RS draws them alone, and keeps those that tell "
    "something by themselves. With more rows it turns (next part).",
    "probe, kept": "Probably since found columns hide others (next part); that was not tested apart.",
    "probe, half": "Probably since found columns hide others; that was not tested apart, and three tables are few.",
    "shadow": "",
}
"""Why memory does not help, where it does not."""
_CROWD = {
    "probe": "",
    "probe, kept": "What chance puts above the probe in the first six draws stays for good: of 50 000 columns, many "
    "where q is small.",
    "probe, half": "Where q is small, noise is above the probe in a quarter of the trees or more, and of 50 000 "
    "columns many are in half of 25. Memory draws them again, beside columns that matter, and F loses them.",
    "shadow": "",
}
"""Why irrelevant columns are many, where they are."""


@lru_cache(maxsize=1)
def table(n_columns: int, seed: int, n_rows: int = 1000, class_sep: float = 2.0) -> tuple[Store, frozenset[int]]:
    """A Madelon-like table with 20 relevant columns, and these."""
    made = fernwood.datasets.make_madelon(n_rows, n_columns, class_sep=class_sep, shuffle=True, random_state=seed)
    return fernwood.ingest(made.data, target=made.target), frozenset(made.relevant.tolist())


def quality(found: NDArray[np.int64], relevant: frozenset[int]) -> Row:
    """How good a set of columns is: those that matter, others, and their F1."""
    right = len(relevant.intersection(found.tolist()))
    return {"right": right, "others": len(found) - right, "f1": 2 * right / (len(found) + len(relevant))}


def paper_settings(q: int, alpha: float, n_iter: int, beta: float = 0.95) -> SubspaceSettings:
    """One unpruned tree of random thresholds a draw, K = q, and a random probe that columns must beat; L = 5."""
    return SubspaceSettings(
        q=q, alpha=alpha, n_iter=n_iter, rule="probe", min_share=beta, round_size=1, n_trees=1, criterion="entropy"
    )


def searched(
    rule: str, n_columns: int, q: int, alpha: float, n_iter: int, seed: int, **other_table: float
) -> list[Row]:
    """F over the iterations of a search: the paper's, judged anew after every draw or kept; or the selector's own."""
    store, relevant = table(n_columns, seed, **other_table)
    if rule == "shadow":
        settings = SubspaceSettings(q=q, alpha=alpha, n_iter=n_iter, fdr=_FDR)
    else:
        settings = paper_settings(q, alpha, n_iter, 0.5 if rule == "probe, half" else 0.95)
    prepared = prepare(store, settings, seed)
    search, ids = prepared.search, prepared.ids
    state, ever = start(search), np.zeros(len(ids), bool)
    checks = np.linspace(n_iter / _CHECKS, n_iter, _CHECKS).astype(int)
    rows = []
    while state.n_draws < n_iter:
        before = state
        state = step(search, state, n_iter - state.n_draws)
        if rule == "probe, kept":
            state = state._replace(found=np.union1d(before.found, state.found))
        ever[state.found] = True
        if np.any((checks > before.n_draws) & (checks <= state.n_draws)):
            now = quality(ids[state.found], relevant)
            rows.append({"iterations": state.n_draws, **now, "ever_right": quality(ids[ever], relevant)["right"]})
    return rows


def company(n_columns: int, q: int, n_trees: int, seed: int, **other_table: float) -> Row:
    """In what share of trees relevant columns are above the probe: one in a draw of noise, and all of them together."""
    store, relevant = table(n_columns, seed, **other_table)
    prepared = prepare(store, paper_settings(q, 0.0, 1), seed)
    matters = np.isin(prepared.ids, list(relevant))
    these, noise = np.flatnonzero(matters), np.flatnonzero(~matters)
    rng = fernwood.seeds.generator(seed)

    def above(some: NDArray[np.int64], first: int) -> NDArray[np.float64]:
        """The share for each of some columns, and for the mean noise column beside them."""
        wins = np.zeros(len(some) + 1)
        for draw in range(first, first + n_trees):
            columns = np.concatenate([some, rng.choice(noise, q - len(some), replace=False)])
            scores = prepared.search.learner(columns, draw)
            ahead = scores.importance > scores.probe
            wins += [*ahead[: len(some)], ahead[len(some) :].mean()]
        return np.asarray(wins / n_trees)

    alone = np.array([above(these[[i]], i * n_trees)[0] for i in range(len(these))])
    together = above(these, len(these) * n_trees)
    return {
        "alone_enough": int((alone >= 0.95).sum()), "together_enough": int((together[:-1] >= 0.95).sum()),
        "alone_median": float(np.median(alone)), "together_median": float(np.median(together[:-1])),
        "alone_least": float(alone.min()), "together_least": float(together[:-1].min()),
        "noise_together": float(together[-1]),
    }  # fmt: skip


def snowball(n_columns: int, seed: int) -> Row:
    """What the snowball finds with its defaults, and in how many seconds on one thread."""
    store, relevant = table(n_columns, seed)
    select_by_snowball(
        fernwood.ingest(np.eye(20), target=np.arange(20) % 2), SnowballSettings(), 0
    )  # kernels are loaded
    started = time.perf_counter()
    result, _ = select_by_snowball(store, SnowballSettings(), seed)
    return {**quality(result.confirmed, relevant), "seconds": time.perf_counter() - started}


def figure_cells(quick: bool) -> list[Cell]:
    """Two sizes of memory, three α, several rules, and the snowball."""
    n_columns, seeds = (2000, (1,)) if quick else (50_000, (1, 2, 3))
    # So many iterations that a column is drawn 25 times on average; with ten trees a draw and shadows, 8 times.
    lengths = {"shadow": 4} if quick else {rule: 8 if rule == "shadow" else 25 for rule in _RULES}
    cells = []
    for seed in seeds:
        for rule, draws in lengths.items():
            cells += [
                Cell(searched, {"rule": rule, "n_columns": n_columns, "q": n_columns // parts, "alpha": alpha,
                                "n_iter": draws * parts, "seed": seed})
                for parts in ((20, 100) if quick else (20, 200)) for alpha in (_ALPHAS[:2] if quick else _ALPHAS)
            ]  # fmt: skip
        cells.append(Cell(snowball, {"n_columns": n_columns, "seed": seed}, alone=True))
    return cells


def _ends(told: Told, **settings: Any) -> Told:
    """The last rows of searches."""
    return Told(row for row in told.where(**settings) if row["iterations"] == row["n_iter"])


def figure_claims(told: Told) -> Iterator[Claim]:
    """What the paper says of its figure, rule by rule; what the rules cost in others; the snowball beside them."""
    searches, snowballs = Told(row for row in told if "rule" in row), Told(row for row in told if "rule" not in row)
    for rule, rows in searches.each("rule").items():
        for q, of in rows.each("q").items():
            without = _ends(of, alpha=0.0)
            for alpha in [alpha for alpha in of.each("alpha") if alpha > 0]:
                memory = _ends(of, alpha=alpha)
                better = memory.mean("f1") > without.mean("f1")
                yield Claim(
                    f"{_RULES[rule]}, q = {q}: F1 in the end, SRS with α = {alpha:g} beside RS", "SRS is better",
                    f"{memory.mean('f1'):.3f} beside {without.mean('f1'):.3f}", direction=better,
                    note=f"{_counts(memory)} beside {_counts(without)}; ever in F {memory.mean('ever_right'):.1f} "
                    f"beside {without.mean('ever_right'):.1f}. {_better(memory, without)}.",
                    differs="" if better else _AGAINST[rule],
                )  # fmt: skip
    for rule, rows in searches.each("rule").items():
        ends = _ends(rows)
        share = sum(ends.values("others")) / max(sum(ends.values("others")) + sum(ends.values("right")), 1)
        most = max(ends.values("others"))
        few = share <= _FDR
        yield Claim(
            f"{_RULES[rule]}: irrelevant columns do not accumulate", "a test avoids it",
            f"{share:.3f} of the columns found at the ends are irrelevant, {most} at most",
            direction=few,
            note=f"Of RS {_ends(rows, alpha=0.0).mean('others'):.0f} in a search, of SRS "
            f"{_ends(rows, alpha=0.5).mean('others'):.0f}.",
            differs="" if few else _CROWD[rule],
        )  # fmt: skip
    yield Claim(
        "the snowball on the same tables", "not in the paper",
        f"F1 {snowballs.mean('f1'):.3f} in {snowballs.mean('seconds'):.1f} s on one thread",
        direction=all(snowballs.mean("f1") > _ends(rows).mean("f1") for rows in searches.each("rule").values()),
        note=f"{_counts(snowballs)}; it looks at every column in every sweep.",
    )  # fmt: skip


def _better(memory: Told, without: Told) -> str:
    """On how many tables memory helps: means of few tables say little by themselves."""
    others = {row["seed"]: row["f1"] for row in without}
    return f"Better on {sum(row['f1'] > others[row['seed']] for row in memory)} of {len(memory)} tables"


def _counts(rows: Told) -> str:
    return f"{rows.mean('right'):.1f} of 20 and {rows.mean('others'):.1f} others"


def draw_figure(told: Told, figure: Any) -> None:
    """F1 over iterations: a row for every size of memory, a panel for every rule."""
    searches, snowballs = Told(row for row in told if "rule" in row), Told(row for row in told if "rule" not in row)
    sizes, rules = list(searches.each("q")), list(searches.each("rule"))
    grid = figure.subplots(len(sizes), len(rules), squeeze=False, sharey=True)
    for q, panels in zip(sizes, grid, strict=True):
        for rule, axes in zip(rules, panels, strict=True):
            for alpha, rows in searches.where(q=q, rule=rule).each("alpha").items():
                curve = [(at, of.mean("f1")) for at, of in rows.each("iterations").items()]
                label, style = (
                    ("RS, α = 0", "-") if alpha == 0 else (f"SRS, α = {alpha:g}", "--" if alpha == 1 else "-")
                )
                axes.plot(*zip(*curve, strict=True), style, label=label)
            axes.axhline(snowballs.mean("f1"), color="grey", linestyle=":", label="snowball")
            axes.set_title(f"{_RULES[rule]}, q = {q}", fontsize="small")
            axes.set(ylim=(-0.02, 1.02), xlabel="iterations")
        panels[0].set_ylabel("F1 of the columns found")
    grid[0, 0].legend(frameon=False, fontsize="small")


# The probe rule and rows --------------------------------------------------------------------------------------------


_TABLES = ((1000, 1.0, 1), (1000, 1.0, 2), (4000, 2.0, 1), (10_000, 2.0, 1), (10_000, 2.0, 2))
"""Rows, class_sep and seed of other tables."""


def company_cells(quick: bool) -> list[Cell]:
    """Both sizes of memory; and the rule on harder tables, and on tables with more rows."""
    n_columns, sizes, n_trees, seeds = (2000, (100,), 20, (1,)) if quick else (50_000, (2500, 250), 60, (1, 2, 3))
    cells = [
        Cell(company, {"n_columns": n_columns, "q": q, "n_trees": n_trees, "seed": seed})
        for seed in seeds for q in sizes
    ]  # fmt: skip
    if not quick:
        cells += [
            Cell(
                company, {"n_columns": n_columns, "q": q, "n_trees": 20, "seed": 1, "n_rows": 10_000, "class_sep": 2.0}
            )
            for q in sizes
        ]
        cells += [
            Cell(searched, {"rule": "probe", "n_columns": n_columns, "q": n_columns // parts, "alpha": alpha,
                            "n_iter": 25 * parts, "seed": seed, "n_rows": n_rows, "class_sep": class_sep})
            for n_rows, class_sep, seed in _TABLES
            for parts in (20, 200) for alpha in _ALPHAS[:2]
        ]  # fmt: skip
    return cells


def company_claims(told: Told) -> Iterator[Claim]:
    """Relevant columns hide each other, and still stand out from noise."""
    watched = [{"n_rows": 1000, **row} for row in told if "rule" not in row]
    for (n_rows, q), rows in (
        (key, Told(watched).where(n_rows=key[0], q=key[1]))
        for key in dict.fromkeys((row["n_rows"], row["q"]) for row in watched)
    ):
        alone, together = rows.mean("alone_enough"), rows.mean("together_enough")
        yield Claim(
            f"{n_rows} rows, q = {q}: relevant columns above the probe in 95 % of trees, alone and all 20 together",
            "memory helps: more together", f"{alone:.1f} of 20 alone, {together:.1f} together",
            direction=together > alone,
            differs="" if together > alone else "So few rows make few splits, and columns that tell the same take them "
            "from each other.",
        )  # fmt: skip
        least, noise = rows.mean("together_least"), rows.mean("noise_together")
        yield Claim(
            f"{n_rows} rows, q = {q}: share of trees in which the weakest of 20 relevant columns is above the probe",
            "memory makes columns visible",
            f"{least:.2f} all together; alone {rows.mean('alone_least'):.2f}; a noise column {noise:.2f}",
            direction=least > noise,
            note="Together, all columns stand out from noise: a rule that compares with noise finds them.",
        )  # fmt: skip
    for n_rows, tables in Told(row for row in told if "rule" in row).each("n_rows").items():
        for q, rows in tables.each("q").items():
            without, memory = (_ends(rows, alpha=alpha) for alpha in _ALPHAS[:2])
            better = memory.mean("f1") > without.mean("f1")
            yield Claim(
                f"{_RULES['probe']}, {n_rows} rows, class_sep {rows.rows[0]['class_sep']:g}, q = {q}: F1 in the end, "
                "SRS with α = 0.5 beside RS", "SRS is better",
                f"{memory.mean('f1'):.3f} beside {without.mean('f1'):.3f}", direction=better,
                note=f"{_counts(memory)} beside {_counts(without)}. {_better(memory, without)}.",
                differs="" if better else "As in Figure 2, and probably for the same reason.",
            )  # fmt: skip


EXPERIMENT = Experiment(
    "subsets",
    3,
    "Columns found over iterations",
    (
        Part(
            "figure2", "Figure 2: F1 over iterations", f"{_PAPER}, Figure 2", figure_cells, figure_claims, draw_figure,
            "The paper's table is described in an appendix that we do not have: ours has 1000 rows and 50 000 columns, "
            "20 of them relevant (5 that define the classes, 5 linear combinations, 10 noisy copies; class_sep 2). "
            "The paper's rule: one unpruned tree with random thresholds a draw, K = q, and found are columns drawn "
            "more than 5 times and above a random probe in β = 95 % of these. We read it in two ways: F judged anew "
            "after every draw, as the slides have it, and a column once found stays, as in Algorithm 1; and we lower "
            "β. Ours: the defaults of SubspaceSelector. α = 0.5 and α = 1 are the same search as long as F fills less "
            "than half of a draw. An iteration of ours grows ten trees, on columns and their shadows. Figures are "
            "means over three tables. β = 50 % was added after 95 % had failed to show what the paper says; β = 75 % "
            "and class_sep 3 were tried on one table, without SRS being ahead at both sizes.", (13.0, 6.0),
        ),
        Part(
            "company", "The probe rule needs rows", f"{_PAPER}, section 5", company_cells, company_claims,
            text="Why the rule loses in Figure 2 what memory gives, and where it does not. The paper's number of rows "
            "is not known to us. These tables were made after the ones above had failed: first harder ones, then more "
            "rows until SRS was ahead at both sizes, and then a second table of 10 000 rows to see whether that holds.",
        ),
    ),
)  # fmt: skip
