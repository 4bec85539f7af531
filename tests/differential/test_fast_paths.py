"""Fast paths against the slow ones that they stand for, at the extremes of the condition under which they are taken.

Where a fast path is, and what holds it equal to the slow one:

================================================  ====================================================================
fast path                                         test
================================================  ====================================================================
learner/bayes: terms added up                     here, on every kind of table and in both precisions
models/tree: columns coded once a split           here, on every kind of table
relevance/shadows: few columns counted            here
relevance/shadows: `found_at`                     here
kernels/splitting: columns cut side by side       here: widths around 8 and rows around 64 and 128
kernels/splitting: nodes of two rows              test_twins: cuts of grown trees
kernels/sparse_coding: zeros never written out    here: distinct values around 255
store/quantise: values sorted with their rows     tests/store/test_quantise.py
search/snowball: a sample of the rows             here: as many rows as are sampled, and one less
search/keeping: a store kept in memory            test_ways: "budget" and "blocks"
store/stored: neighbours read at once             test_ways: "disk" and "shards"; tests/contracts
kernels/examining: counts in 16 bits              tests/kernels/test_examining.py
kernels/histograms, panels, weighing, telling     tests/kernels, a file each
kernels/ferns: bags by counting                   tests/kernels/test_ferns.py
kernels/text: short numbers                       tests/kernels/test_text.py
kernels/perceptron: sums in any order             test_ways: "fortran" and "strided"
learner/many, work: items on others               test_ways: "threads", "items", "processes", "workers"
================================================  ====================================================================
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.sparse
from sklearn.base import clone
from sklearn.naive_bayes import BernoulliNB, CategoricalNB, GaussianNB

import fernwood
from fernwood import EliminationSelector, GainRatioTreeClassifier, SnowballSelector, seeds
from fernwood.learner.bayes import fast_errors
from fernwood.learner.settings import TreeSettings
from fernwood.learner.subsets import CrossValidated, evaluation_of
from fernwood.learner.target import class_target, value_target
from fernwood.learner.trees import grow
from fernwood.relevance.shadows import false_discoveries, found_at, tail_chances
from tests.differential.cases import EVERYTHING, both_parts
from tests.differential.methods import Given, attributes, differs, fitted, quietly
from tests.differential.seeds import FIXED, rotating
from tests.differential.tables import KINDS, Table, make_table
from tests.differential.ways import plain

OF_NUMBERS = [kind for kind in KINDS if EVERYTHING["halving"].takes(make_table(kind, 1))]


def _subsets(rng: np.random.Generator, n_columns: int) -> list[np.ndarray]:
    """Single columns, all but one, all, and some of any size; neighbours in the list have much or little in common."""
    some = [rng.permutation(n_columns)[: rng.integers(1, n_columns + 1)] for _ in range(25)]
    ends = [np.array([0]), np.arange(n_columns), np.arange(n_columns)[1:], np.array([n_columns - 1])]
    return [np.sort(columns) for columns in some + ends]


def _evaluation(learner: Any, values: Any, table: Table) -> Any:
    """Without weights, under which the score is no plain accuracy and there is no fast path."""
    return evaluation_of(learner, values, table.target, cv=3, scoring=None)


def _equal_classes(evaluation: Any, columns: np.ndarray) -> float:
    """The share of rows that rounding decides: whose two best classes are equal but for the last digits."""
    shares = []
    for train, test in evaluation.splits:
        model = clone(evaluation.estimator).fit(evaluation.table[train][:, columns], evaluation.y[train])
        told = np.sort(model.predict_joint_log_proba(evaluation.table[test][:, columns]), axis=1)
        shares.append(np.mean(told[:, -1] - told[:, -2] <= 1e-11 * np.abs(told[:, -1])))
    return float(np.mean(shares))


@pytest.mark.parametrize(("seed", "kind"), both_parts([(kind,) for kind in OF_NUMBERS]))
def test_bayes_without_fitting_again(seed: int, kind: str) -> None:
    table, rng = make_table(kind, seed), np.random.default_rng(seed)
    codes = fernwood.ingest(table.values).read(np.arange(table.frame.shape[1])).T
    for learner, values in (
        (GaussianNB(), table.values),
        (GaussianNB(var_smoothing=1e-3), table.values),
        (BernoulliNB(binarize=0.5), table.values),
        (CategoricalNB(min_categories=256), codes),
    ):
        evaluation = _evaluation(learner, values, table)
        with np.errstate(all="ignore"):  # scikit-learn's, of columns that are constant in a fold
            slow, one = CrossValidated(evaluation), fast_errors(evaluation)
            assert one is not None
            for columns in _subsets(rng, table.frame.shape[1])[::2]:
                off = abs(one(columns) - slow(columns))
                assert off < 1e-12 or off <= _equal_classes(evaluation, columns) + 1e-12, (learner, columns)


@pytest.mark.parametrize(("seed", "kind"), both_parts([(kind,) for kind in OF_NUMBERS], of=2))
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_bayes_does_not_depend_on_what_was_asked_before(seed: int, kind: str, dtype: type) -> None:
    """Stores give values of four bytes; a path that depends on its history also depends on the number of threads."""
    table, rng = make_table(kind, seed), np.random.default_rng(seed)
    evaluation = _evaluation(GaussianNB(), table.values.astype(dtype), table)
    subsets = _subsets(rng, table.frame.shape[1])
    with np.errstate(all="ignore"):
        one = fast_errors(evaluation)
        assert one is not None
        told = [one(columns) for columns in subsets]
        assert [one(columns) for columns in subsets[::-1]][::-1] == told
        assert [fast_errors(evaluation)(columns) for columns in subsets] == told


@pytest.mark.parametrize(
    ("seed", "kind"), both_parts([(k,) for k in KINDS if EVERYTHING["halving-tree"].takes(make_table(k, 1))], of=2)
)
def test_trees_on_columns_coded_once(seed: int, kind: str) -> None:
    table, rng = make_table(kind, seed), np.random.default_rng(seed)
    for learner in (GainRatioTreeClassifier(random_state=0), GainRatioTreeClassifier(nominal=True, max_depth=4)):
        with quietly():
            evaluation = _evaluation(learner, table.frame, table)
            fast, slow = learner.subset_errors(evaluation), CrossValidated(evaluation)
            for columns in _subsets(rng, table.frame.shape[1])[::4]:
                assert fast(columns) == slow(columns), columns


class FittedAnew(GaussianNB):  # type: ignore[misc]
    """Of another class, so that it has no fast path; on tables of few ties, which rounding would decide."""


@pytest.mark.parametrize(("seed", "kind"), both_parts([("timestamps",), ("tall",), ("grouped",)]))
def test_a_whole_search_without_its_fast_path(seed: int, kind: str) -> None:
    given = plain(make_table(kind, seed))
    fast = fitted(EliminationSelector(GaussianNB(), cv=3, random_state=0), given)
    slow = fitted(EliminationSelector(FittedAnew(), cv=3, random_state=0), given)
    assert differs(_without_settings(fast), _without_settings(slow)) == ""


def _without_settings(estimator: Any) -> dict[str, Any]:
    said = attributes(estimator)
    del said["result_"]["summary"]["parameters"]
    return said


@pytest.mark.parametrize(("seed", "tied"), both_parts([("tied",), ("different",)]))
def test_few_columns_against_shadows_as_many(seed: int, tied: str) -> None:
    rng = np.random.default_rng(seed)
    for n_shadows in (2, 19, 20, 21, 999, 1000, 1001):
        shadows = rng.standard_exponential(n_shadows)
        evidence = np.concatenate([shadows[:3], rng.standard_exponential(30), [0.0, 50.0]])
        if tied == "tied":
            shadows, evidence = np.round(shadows), np.round(evidence)
        many = tail_chances(evidence, shadows)
        few = np.concatenate([tail_chances(part, shadows) for part in np.array_split(evidence, 5)])
        one = np.concatenate([tail_chances(evidence[i : i + 1], shadows) for i in range(len(evidence))])
        assert max(map(len, np.array_split(evidence, 5))) <= 8 < len(evidence)
        np.testing.assert_array_equal(few, many)
        np.testing.assert_array_equal(one, many)


@pytest.mark.parametrize("seed", [FIXED, pytest.param(rotating(), id="long", marks=pytest.mark.long)])
def test_columns_found_as_by_their_rates(seed: int) -> None:
    rng = np.random.default_rng(seed)
    for n in (1, 2, 50, 400):
        for chances in (rng.random(n), rng.random(n) ** 4, np.round(rng.random(n), 1), np.full(n, 0.05), np.ones(n)):
            rates = false_discoveries(chances.copy())
            # Beside the rates themselves: n · p / n may be below p by a rounding, which only one of them meets.
            for level in (0.05, 0.1, 0.5, *(rates[:3] * (1 + 1e-9)), *(rates[:3] * (1 - 1e-9))):
                if level < 1:
                    np.testing.assert_array_equal(found_at(level, chances), rates <= level)


def _problem(rng: np.random.Generator, n: int, target: str) -> tuple[np.ndarray, Any, str]:
    """Seven columns of codes with gaps between them, and a target for which one cut is the best."""
    codes = np.stack([rng.choice(255, n, replace=n > 255) for _ in range(7)]).astype(np.uint8)
    signal = (codes[3] > np.median(codes[3])) * 4.0 + rng.random(n)
    if target == "numbers":
        return codes, value_target(signal), "variance"
    n_classes = {"two": 2, "three": 3, "single": n}[target]
    rank = np.argsort(np.argsort(signal))
    return codes, class_target(rank * n_classes // n), "entropy" if target == "three" else "gini"


@pytest.mark.parametrize(("seed", "target"), both_parts([("numbers",), ("two",), ("three",), ("single",)]))
def test_columns_cut_side_by_side(seed: int, target: str) -> None:
    """A root's cut with fewer than eight columns, and with constant ones beside them, which nobody can choose."""
    rng = np.random.default_rng(seed)
    for n in (3, 4, 63, 64, 65, 127, 128, 129, 200):
        codes, wanted, criterion = _problem(rng, n, target)
        settings = TreeSettings("cart", criterion, max_depth=1)
        roots = []
        for n_constant in (0, 1, 2, 57, 130):
            table = np.concatenate([codes, np.full((n_constant, n), 9, np.uint8)])
            tree = grow(table, wanted, settings, state=seeds.state(seed))
            roots.append((int(tree.column[0]), int(tree.cut[0]), float(tree.gain[0]), tree.rows.tolist()))
        gains = {root[2] for root in roots}
        assert len(gains) == 1, (n, roots)
        if target in ("numbers", "two") and n > 4:  # with a class a row every cut is as good as the one beside it
            assert len({str(root) for root in roots}) == 1, (n, roots)


@pytest.mark.parametrize(("seed", "form"), both_parts([("csc_array",), ("csr_array",)]))
def test_zeros_that_are_not_written_out(seed: int, form: str) -> None:
    """Columns of 1 and of 253 to 258 distinct values, zero among them or not, negative, missing or written out."""
    rng = np.random.default_rng(seed)
    n_rows, columns = 900, []
    for distinct in (1, 2, 253, 254, 255, 256, 257, 258):
        for shift in (0, 1, -300, -100):
            values = rng.permutation(np.arange(n_rows) % distinct).astype(float) + shift
            columns += [values, np.where(rng.random(n_rows) < 0.1, np.nan, values), np.where(values == 0, -0.0, values)]
    dense = np.stack(columns, axis=1)
    matrix = getattr(scipy.sparse, form)(dense)
    matrix.data[rng.random(len(matrix.data)) < 0.05] = 0.0  # zeros that are written out
    with quietly():
        sparse, plainly = fernwood.ingest(matrix), fernwood.ingest(matrix.toarray())
    everything = np.arange(dense.shape[1])
    np.testing.assert_array_equal(sparse.read(everything), plainly.read(everything))
    assert sparse.fingerprint == plainly.fingerprint


@pytest.mark.parametrize(("seed", "kind"), both_parts([("tall",)]))
def test_a_sample_of_all_rows(seed: int, kind: str) -> None:
    given = plain(make_table(kind, seed))
    how: dict[str, Any] = {"n_contexts": 16, "max_waves": 3, "max_contexts": 8, "random_state": 0}
    n_rows = len(given.y)
    everything, as_many, fewer = (
        _without_settings(fitted(SnowballSelector(**how, max_rows=m), given)) for m in ("all", n_rows, n_rows - 1)
    )
    assert differs(everything, as_many) == ""
    assert differs(everything, fewer) != ""


@pytest.mark.parametrize(
    ("seed", "method"),
    both_parts(
        [(name,) for name, method in EVERYTHING.items() if hasattr(method.estimator, "fdr") or "boruta" in name],
        of=2,
    ),
)
def test_weights_that_are_all_the_same(seed: int, method: str) -> None:
    """No weights, ones and threes: kernels count rows where they need not weigh them."""
    table = make_table("tied", seed)
    answers = [
        attributes(fitted(EVERYTHING[method].estimator, Given(table.frame, table.target, weights)))
        for weights in (None, np.ones(len(table.frame)), np.full(len(table.frame), 3.0))
    ]
    for said in answers:
        said["result_"]["summary"].pop("roles", None)  # which says what the weights were
    assert differs(answers[0], answers[1]) == ""
    assert differs(answers[0], answers[2]) == ""
