"""The families of kernels, in steps: a step calls kernels with the types of their arguments, and so compiles them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from fernwood.kernels.examining import Contexts

__all__ = ["FAMILIES", "STEPS", "load_families"]


def _compile_text() -> None:
    from fernwood.kernels.text import CELL_FIELDS, Dialect, copy_cells, count_cells, parse_cells

    text = np.frombuffer(b'1,"a"\n', np.uint8).copy()
    dialect = Dialect(ord(","), ord('"'), ord("."), np.frombuffer(b"NA", np.uint8).copy(), np.array([2]), False)
    cells = np.empty((4, CELL_FIELDS), np.int64)
    count_cells(text, True, dialect, np.zeros(2, np.int64))
    state = np.zeros(5, np.int64)
    parse_cells(text, True, dialect, np.arange(2), state, np.empty((2, 2)), cells)
    copy_cells(text, cells[: state[4], 2].copy(), cells[: state[4], 3].copy(), np.empty(16, np.uint8))


def _compile_entries() -> None:
    from fernwood.kernels.entries import LONG_FIELDS, parse_svmlight, parse_triplets, sort_by_column

    room = np.zeros(2, np.int32), np.zeros(2, np.int32), np.zeros(2)
    longs, place_of = np.empty((2, LONG_FIELDS), np.int64), np.zeros(1, np.int64)
    triplet, line = (np.frombuffer(text, np.uint8).copy() for text in (b"1 1 1\n", b"1 1:1\n"))
    parse_triplets(triplet, True, (1, 1), False, True, place_of, np.zeros(6, np.int64), *room, longs)
    parse_svmlight(line, True, 0, place_of, np.zeros(10, np.int64), np.empty((1, 2)), *room, longs)
    sort_by_column(*room, np.empty(2, np.int64), np.empty(2, np.int32), np.empty(2))


def _compile_checksums() -> None:
    from fernwood.kernels.checksums import checksum_columns

    checksum_columns(np.empty((2, 5), np.uint8), np.empty(2, np.uint64))


def _compile_genotypes() -> None:
    from fernwood.kernels.genotypes import unpack_genotypes

    unpack_genotypes(np.zeros((2, 2), np.uint8), np.empty((2, 5), np.uint8), np.empty((2, 4), np.int64))


def _compile_sparse() -> None:
    from fernwood.kernels.sparse_coding import append_block, code_columns, pack_pairs, turn_rows, unpack_pairs

    starts, one = np.array([0, 1]), np.zeros(1, np.int32)
    for dtype in (np.uint8, np.uint16, np.uint32, np.uint64):
        values = np.zeros(1, dtype)
        turn_rows(starts, 0, one, values, one, starts.copy(), one.copy(), values.copy())
        append_block(starts, one, values, np.zeros(1, np.int64), one.copy(), values.copy())
    pairs = np.zeros(1, np.int64)
    pack_pairs(one, one, pairs)
    unpack_pairs(pairs, one.copy(), one.copy())
    codes, counts, cuts = np.zeros((1, 2), np.uint8), np.zeros((3, 1), np.int64), np.zeros((2, 1, 255))
    for stored in (np.ones(1, np.float32), np.ones(1)):
        room = (*counts, np.zeros((1, 255), np.int64), *cuts, np.zeros(1))
        code_columns(*(starts, stored, one, 24, codes, *room))


def _compile_trees() -> None:
    from fernwood.kernels.growing import add_forest, grow_tree
    from fernwood.kernels.histograms import Target
    from fernwood.kernels.impurity import GINI
    from fernwood.kernels.predicting import add_entries, add_gains, fair_decreases, find_leaves, find_leaves_permuted
    from fernwood.kernels.random import sample_with_replacement, shuffle
    from fernwood.kernels.tables import EXTRA, MULTIWAY, Rules

    codes = np.arange(4, dtype=np.uint8).reshape(1, 4)
    rows = np.arange(4, dtype=np.int32)
    target = Target(rows % 2, np.zeros(4), np.ones(4), True, False)
    state = np.arange(1, 5).astype(np.uint64)
    rules = Rules(EXTRA, 1, -1, 1, 2, GINI, MULTIWAY)
    ground = (codes, np.zeros(1, np.int32), np.zeros(1, np.bool_), target, rules, rows)
    tree = grow_tree(*ground, state)
    add_forest(*ground, 4, state.reshape(1, 4), state.reshape(1, 4).copy(), np.zeros(1))
    add_entries(tree, find_leaves(tree, codes, rows), np.zeros((4, 2)))
    add_gains(tree.column, tree.gain, tree.weight[0], np.zeros(1))
    find_leaves_permuted(tree, codes, rows, 0, rows)
    fair_decreases(tree, codes, target, rows, GINI, 1)
    shuffle(state, rows, 4)
    sample_with_replacement(state, 4, rows)


def _compile_draws() -> None:
    from fernwood.kernels.drawing import deal_probe, draw_beside, draw_places, draw_weighted

    state, rows = np.arange(1, 5).astype(np.uint64), np.arange(4, dtype=np.int32)
    draw_beside(state, 9, draw_places(state, 9, 2), 4)
    draw_weighted(state, np.ones(3), 2)
    deal_probe(state, np.zeros((2, 4), np.uint8), rows)


def _compile_shadows() -> None:
    from fernwood.kernels.dealing import permute_codes

    codes = np.zeros((1, 4), np.uint8)
    permute_codes(codes, np.ones(1, np.uint64), codes)


def _compile_groups() -> None:
    from fernwood.kernels.dealing import Exchange, deal_pieces

    codes = np.zeros((1, 4), np.uint8)
    groups, zeros, ends = np.arange(2), np.zeros(2, int), np.array([0, 2])
    two = Exchange(np.arange(4), np.array([0, 2, 4]), zeros, 1, zeros, zeros[:1], np.arange(3), groups, ends, False)
    deal_pieces(codes, np.ones(1, np.uint64), two, codes.copy())


def _compile_ratios() -> None:
    from fernwood.kernels.growing import column_ratios
    from fernwood.kernels.histograms import Target
    from fernwood.kernels.impurity import GAIN_RATIO
    from fernwood.kernels.tables import CART, MULTIWAY, Rules

    codes, rows = np.arange(4, dtype=np.uint8).reshape(1, 4), np.arange(4, dtype=np.int32)
    target = Target(rows % 2, np.zeros(4), np.ones(4), True, False)
    rules = Rules(CART, 1, -1, 1, 2, GAIN_RATIO, MULTIWAY)
    column_ratios(codes, np.zeros(1, np.int32), np.zeros(1, np.bool_), target, rules, rows, np.ones(4, np.uint64))


def _compile_covariates() -> None:
    from fernwood.kernels.least_squares import divide, fit_in_cells, leave_over

    basis, levels = np.zeros((4, 1), np.float32), np.array([0, 1])
    shares = np.zeros(2, np.float32)
    ground = basis, levels, 0, np.arange(4), np.array([0, 2, 4]), np.ones(4)
    fit_in_cells(*ground, np.ones((4, 1)), 3, np.empty((1, 4)), shares)
    codes, table = np.zeros((1, 4), np.uint8), np.zeros((1, 256, 2), np.float32)
    rows = np.zeros(4, np.int32), np.ones(1), np.ones(4), np.ones(4)
    leave_over(codes, np.zeros(1, np.int64), table, basis, levels, *rows, np.empty((1, 2, 3)))
    divide(np.ones((1, 1, 2), np.float32), np.ones((1, 1, 2), np.float32), np.ones((1, 1), np.float32))


def _compile_strata() -> None:
    from fernwood.kernels.components import survey_codes

    codes = np.arange(4, dtype=np.uint8).reshape(1, 4)
    survey_codes(codes, np.ones(4), np.empty(1), np.empty(1, np.int64), np.empty(1, np.bool_), np.empty(1, np.uint64))


def _compile_components() -> None:
    from fernwood.kernels.components import fill_components, step_components, weigh_codes

    amounts, one, table = np.empty((1, 256)), np.zeros(1, np.int64), np.empty((1, 256, 2), np.float32)
    weigh_codes(np.zeros((1, 4), np.uint8), np.ones(4), amounts)
    fill_components(amounts, np.zeros(1, np.bool_), one, one, table)
    step_components(table, np.empty((1, 256, 2), np.int8), np.empty((1, 2), np.float32))


def _compile_weights() -> None:
    from fernwood.kernels.components import even_components

    even_components(np.ones((1, 256)), np.zeros(1, np.int64), np.ones((1, 256, 2), np.float32))


def _compile_evidence() -> None:
    from fernwood.kernels.telling import Chances, add_up, tell

    scores = np.ones((1, 1, 2), np.float32)
    tell(scores, Chances(scores[0], scores[0], scores[0]), scores[0, :, :1].copy())
    add_up(scores[0], np.empty(1))


def _compile_counts() -> None:
    from fernwood.kernels.examining import count_pairs

    codes, one, steps = np.zeros((1, 4), np.uint8), np.zeros(1, np.int64), np.zeros((1, 256, 2), np.int8)
    unit = np.empty((1, 2), np.float32)
    count_pairs(codes, one, one, one, steps.view(np.int16)[:, :, 0], unit, *_one_context())


def _compile_numbers() -> None:
    from fernwood.kernels.examining import examine_pairs

    codes, one, table = np.zeros((1, 4), np.uint8), np.zeros(1, np.int64), np.zeros((1, 256, 2), np.float32)
    examine_pairs(codes, one, one, one, table, *_one_context())


def _one_context() -> tuple[Contexts, NDArray[np.float32]]:
    """A context of two classes in one cell, and room for its scores."""
    from fernwood.kernels.examining import Contexts

    rows, start = np.arange(4, dtype=np.uint32).reshape(1, 4), np.array([[0, 2, 4]], np.uint32)
    return Contexts(rows, start, np.ones((1, 2), np.float32), np.ones((1, 4), np.float32), 2), np.zeros((1, 1, 2), "f4")


def _compile_categories() -> None:
    from fernwood.kernels.alike import tell_each_other

    codes, categories = np.zeros((1, 4), np.uint8), np.ones(1, np.bool_)
    tell_each_other(codes, codes, categories, categories, np.ones(4), np.empty((1, 1)))


def _compile_ferns() -> None:
    from fernwood.kernels.ferns import Field, Tally, Trunks, add_scores, draw_trunks, grow_ferns

    codes = np.arange(4, dtype=np.uint8).reshape(1, 4)
    states, rows = np.ones((1, 4), np.uint64), np.arange(4, dtype=np.int32)
    trunks = Trunks(
        np.zeros((1, 1), np.int32),
        np.zeros((1, 1), np.uint8),
        np.zeros((1, 1), np.uint8),
        np.zeros((1, 1, 4), np.uint64),
    )
    field = Field(codes, np.zeros(1, np.bool_), (rows % 2).astype(np.uint32), rows, 4, 2, np.zeros(8))
    scores, tally = np.zeros((1, 4)), Tally(np.zeros(1, np.int32), np.zeros(1), np.zeros(1))
    draw_trunks(states, 1, np.zeros(1, np.int32), 1, trunks.column)
    grow_ferns(field, codes, trunks, states, scores, np.zeros((4, 3)), tally)
    add_scores(codes, trunks, scores, np.zeros((4, 2)))


STEPS: dict[str, Callable[[], None]] = {
    name.removeprefix("_compile_"): step for name, step in dict(globals()).items() if name.startswith("_compile_")
}
"""What is compiled at a time, in one process: kernels that call the same others."""

FAMILIES = {
    "text": ("text",),
    "entries": ("entries",),
    "checksums": ("checksums",),
    "genotypes": ("genotypes",),
    "sparse": ("sparse",),
    "trees": ("trees", "draws", "shadows"),
    "ratios": ("ratios",),
    "snowball": ("components", "strata", "shadows", "evidence"),
    "counts": ("counts",),
    "numbers": ("numbers",),
    "categories": ("categories",),
    "groups": ("groups",),
    "weights": ("weights",),
    "ferns": ("ferns", "draws", "shadows"),
    "strata": ("strata",),
    "covariates": ("covariates",),
}
"""What is needed together, and its steps; those that take longest come first."""


def load_families(*families: str) -> None:
    """Compile the kernels of some families, or load them where that was done before."""
    for step in dict.fromkeys(step for family in families for step in FAMILIES[family]):
        STEPS[step]()
