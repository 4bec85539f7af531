"""The families of kernels, each called once with the types of its arguments: that compiles them, or loads them."""

from __future__ import annotations

import numpy as np

__all__ = ["FAMILIES", "load_families"]


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
    from fernwood.kernels.dealing import deal_pieces, permute_codes
    from fernwood.kernels.drawing import deal_probe, draw_beside, draw_places, draw_weighted
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
    draw_beside(state, 9, draw_places(state, 9, 2), 4)
    draw_weighted(state, np.ones(3), 2)
    deal_probe(state, np.zeros((2, 4), np.uint8), rows)
    permute_codes(codes, np.ones(1, np.uint64), codes)
    deal_pieces(codes, np.ones(1, np.uint64), np.arange(4), np.array([0, 2, 4]), np.array([0, 2]), codes.copy())
    shuffle(state, rows, 4)
    sample_with_replacement(state, 4, rows)


def _compile_ratios() -> None:
    from fernwood.kernels.growing import column_ratios
    from fernwood.kernels.histograms import Target
    from fernwood.kernels.impurity import GAIN_RATIO
    from fernwood.kernels.tables import CART, MULTIWAY, Rules

    codes, rows = np.arange(4, dtype=np.uint8).reshape(1, 4), np.arange(4, dtype=np.int32)
    target = Target(rows % 2, np.zeros(4), np.ones(4), True, False)
    rules = Rules(CART, 1, -1, 1, 2, GAIN_RATIO, MULTIWAY)
    column_ratios(codes, np.zeros(1, np.int32), np.zeros(1, np.bool_), target, rules, rows, np.ones(4, np.uint64))


def _compile_snowball() -> None:
    from fernwood.kernels.alike import tell_each_other
    from fernwood.kernels.components import fill_components, step_components, weigh_codes
    from fernwood.kernels.dealing import deal_pieces, permute_codes
    from fernwood.kernels.examining import Contexts, count_pairs, examine_pairs
    from fernwood.kernels.telling import Chances, add_up, tell

    codes = np.arange(4, dtype=np.uint8).reshape(1, 4)
    amounts = np.empty((1, 256))
    weigh_codes(codes, np.ones(4), amounts)
    _compile_strata()
    permute_codes(codes, np.ones(1, np.uint64), codes)
    deal_pieces(codes, np.ones(1, np.uint64), np.arange(4), np.array([0, 2, 4]), np.array([0, 2]), codes.copy())
    one, table = np.zeros(1, np.int64), np.empty((1, 256, 2), np.float32)
    fill_components(amounts, np.zeros(1, np.bool_), one, one, table)
    steps, unit = np.empty((1, 256, 2), np.int8), np.empty((1, 2), np.float32)
    step_components(table, steps, unit)
    rows, start = np.arange(4, dtype=np.uint32).reshape(1, 4), np.array([[0, 2, 4]], np.uint32)
    contexts = Contexts(rows, start, np.ones((1, 2), np.float32), np.ones((1, 4), np.float32), 2)
    out = np.zeros((1, 1, 2), np.float32)
    examine_pairs(codes, one, one, one, table, contexts, out)
    count_pairs(codes, one, one, one, steps.view(np.int16)[:, :, 0], unit, contexts, out)
    tell(out, Chances(out[0], out[0], out[0]), out[0])
    add_up(out[0], np.empty(1))
    categories = np.ones(1, np.bool_)
    tell_each_other(codes, codes, categories, categories, np.ones(4), np.empty((1, 1)))


def _compile_strata() -> None:
    from fernwood.kernels.components import survey_codes

    codes = np.arange(4, dtype=np.uint8).reshape(1, 4)
    survey_codes(codes, np.ones(4), np.empty(1), np.empty(1, np.int64), np.empty(1, np.bool_), np.empty(1, np.uint64))


def _compile_ferns() -> None:
    from fernwood.kernels.dealing import deal_pieces, permute_codes
    from fernwood.kernels.drawing import deal_probe, draw_beside, draw_places, draw_weighted
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
    permute_codes(codes, np.ones(1, np.uint64), codes)
    deal_pieces(codes, np.ones(1, np.uint64), np.arange(4), np.array([0, 2, 4]), np.array([0, 2]), codes.copy())
    draw_beside(states[0], 9, draw_places(states[0], 9, 2), 4)
    draw_weighted(states[0], np.ones(3), 2)
    deal_probe(states[0], np.zeros((2, 4), np.uint8), rows)


FAMILIES = {
    "text": _compile_text,
    "entries": _compile_entries,
    "checksums": _compile_checksums,
    "genotypes": _compile_genotypes,
    "sparse": _compile_sparse,
    "trees": _compile_trees,
    "ratios": _compile_ratios,
    "snowball": _compile_snowball,
    "ferns": _compile_ferns,
    "strata": _compile_strata,
}


def load_families(*families: str) -> None:
    """Compile the kernels of some families, or load them where that was done before."""
    for family in families:
        FAMILIES[family]()
