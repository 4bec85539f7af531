"""Kernels on a card against their twins on the host, bit for bit; skipped where there is no card."""

from __future__ import annotations

import re
from collections.abc import Callable
from importlib.resources import files
from typing import Any, NamedTuple

import numpy as np
import pytest

from fernwood.device import open_card, why_none
from fernwood.kernels.components import fill_components, step_components, weigh_codes
from fernwood.kernels.cuda import examining
from fernwood.kernels.cuda.card import Card
from fernwood.kernels.dealing import permute_codes
from fernwood.kernels.examining import Contexts, count_pairs, examine_pairs
from fernwood.kernels.telling import Chances, add_up, tell
from fernwood.learner.contexts import divided
from fernwood.learner.target import TreeTarget, class_target, value_target

N_COLUMNS, N_CONTEXTS = 100, 9
MISSING = 255


@pytest.fixture(scope="module")
def card() -> Card:
    if why := why_none():
        pytest.skip(f"no CUDA device here: {why}")
    return open_card()


class Columns(NamedTuple):
    """Columns to examine, and what their codes stand for; a pair is two components of a column."""

    codes: np.ndarray
    owner: np.ndarray
    leading: np.ndarray
    table: np.ndarray
    steps: np.ndarray
    unit: np.ndarray
    addresses: np.ndarray

    @property
    def pairs(self) -> np.ndarray:
        return np.arange(len(self.owner))


def some_columns(n_rows: int, rng: np.random.Generator) -> Columns:
    """Numbers of few values and of many, categories, and some with missing values."""
    most = rng.integers(2, MISSING, (N_COLUMNS, 1))
    codes = np.minimum(rng.integers(0, MISSING, (N_COLUMNS, n_rows)), most).astype(np.uint8)
    categories = np.arange(N_COLUMNS) % 7 == 1
    codes[categories] %= 6
    with_missing = np.arange(N_COLUMNS) % 5 == 0
    codes[with_missing[:, None] & (rng.random(codes.shape) < 0.1)] = MISSING
    parts = [[*range(3 if categories[j] else 1), *([-1] if with_missing[j] else [])] for j in range(N_COLUMNS)]
    owner = np.repeat(np.arange(N_COLUMNS), [len(part) for part in parts])
    amounts = np.empty((N_COLUMNS, 256))
    weigh_codes(codes, np.ones(0), amounts)
    table = np.empty((len(owner), 256, 2), np.float32)
    fill_components(amounts, categories, owner, np.concatenate(parts), table)
    steps, unit = np.empty(table.shape, np.int8), np.empty((len(owner), 2), np.float32)
    step_components(table, steps, unit)
    return Columns(
        codes,
        owner,
        rng.integers(0, 3, len(owner)),
        table,
        steps.view(np.int16)[:, :, 0],
        unit,
        rng.integers(0, 2**63, N_COLUMNS).astype(np.uint64),
    )


def scores_on_host(columns: Columns, contexts: Contexts, *, shadows: bool) -> np.ndarray:
    codes = columns.codes.copy()
    if shadows:
        permute_codes(columns.codes, columns.addresses, codes)
    out = np.zeros((N_COLUMNS, len(contexts.rows), 2), np.float32)
    of_pairs = codes, columns.owner, columns.pairs, columns.leading
    if contexts.counts:
        count_pairs(*of_pairs, columns.steps, columns.unit, contexts, out)
    else:
        examine_pairs(*of_pairs, columns.table, contexts, out)
    return out


def pairs_on_card(card: Card, columns: Columns, contexts: Contexts, *, shadows: bool) -> examining.Pairs:
    n_rows = columns.codes.shape[1]
    padded = np.zeros((N_COLUMNS, -(-n_rows // 16) * 16), np.uint8)
    padded[:, :n_rows] = columns.codes
    to = card.cupy.asarray
    return examining.Pairs(
        to(padded),
        to(columns.owner),
        to(columns.pairs.astype(np.int32)),
        to(columns.addresses[columns.owner]) if shadows else None,
        to(examining.packed(columns.steps) if contexts.counts else columns.table),
        to(columns.unit),
        to(np.searchsorted(columns.owner, np.arange(N_COLUMNS + 1))),
        to(columns.leading.astype(np.uint8)),
    )


def some_chances(scores: np.ndarray) -> Chances:
    """What the search makes of scores: the cube root of a score is nearly normal."""
    mean, spread = scores.mean(0, dtype=float), scores.std(0, dtype=float)
    scale = np.where(mean > 0, mean, 1)
    h = np.maximum((spread / scale) ** 2 / 9, 1e-12)
    width = np.where(mean > 0, np.sqrt(h), np.inf)
    return Chances(*(part.astype(np.float32) for part in (scale, 1 - h, width)))


def sums_on_host(scores: np.ndarray, chances: Chances) -> np.ndarray:
    told, sums = np.empty(scores.shape[:2], np.float32), np.empty(len(scores))
    tell(scores, chances, told)
    add_up(told, sums)
    return sums


def check(card: Card, target: TreeTarget, n_cells: int, rng: np.random.Generator, *, shadows: bool = False) -> int:
    """Scores, and the sums of what they tell, are the same to the last bit; in how many lots contexts were laid out."""
    columns = some_columns(target.n_rows, rng)
    cells = rng.integers(0, n_cells, (N_CONTEXTS, target.n_rows))
    cells[0] = 0
    contexts = divided(target, cells)
    expected = scores_on_host(columns, contexts, shadows=shadows)
    assert (expected > 0).mean() > 0.25
    pairs = pairs_on_card(card, columns, contexts, shadows=shadows)
    lots = [examining.gains_of(card, pairs, some) for some in examining.lay_out(card, contexts)]
    gains = card.cupy.concatenate(lots)
    scores = examining.scores_of(card, pairs, gains).get()
    assert np.array_equal(scores.view(np.uint32), expected.view(np.uint32))
    chances = some_chances(expected)
    sums = examining.sums_of(card, pairs, gains, chances).get()
    assert np.array_equal(sums.view(np.uint64), sums_on_host(expected, chances).view(np.uint64))
    return len(lots)


TARGETS: dict[str, Callable[[int, np.random.Generator], TreeTarget]] = {
    "two classes": lambda n, rng: class_target(np.arange(n) % 2),
    "five classes": lambda n, rng: class_target(np.arange(n) % 5),
    "two classes, weighted": lambda n, rng: class_target(np.arange(n) % 2, rng.random(n) + 0.1),
    "three classes, weighted": lambda n, rng: class_target(np.arange(n) % 3, rng.random(n) + 0.1),
    "numbers": lambda n, rng: value_target(rng.standard_normal(n)),
    "numbers, weighted": lambda n, rng: value_target(rng.standard_normal(n), rng.random(n) + 0.1),
}


@pytest.mark.parametrize("shadows", [False, True])
@pytest.mark.parametrize("n_rows", [7, 90, 1000, 3001, examining.HEIGHT])
@pytest.mark.parametrize("name", TARGETS)
def test_rows_that_fit_together(card: Card, name: str, n_rows: int, shadows: bool) -> None:
    rng = np.random.default_rng(n_rows)
    check(card, TARGETS[name](n_rows, rng), 8, rng, shadows=shadows)


@pytest.mark.parametrize("n_rows", [examining.HEIGHT + 1, 20_000, 100_003])
@pytest.mark.parametrize("name", TARGETS)
def test_rows_tile_by_tile(card: Card, name: str, n_rows: int) -> None:
    rng = np.random.default_rng(n_rows)
    check(card, TARGETS[name](n_rows, rng), 16, rng)


@pytest.mark.parametrize("name", ["two classes", "numbers"])
def test_contexts_one_at_a_time(card: Card, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    """Where the sums of all contexts have no room from tile to tile."""
    monkeypatch.setattr(examining, "_HELD_BYTES", 1)
    rng = np.random.default_rng(0)
    assert check(card, TARGETS[name](9000, rng), 4, rng) == N_CONTEXTS


@pytest.mark.parametrize("n_rows", [4000, 5000])
def test_a_thousand_classes(card: Card, n_rows: int) -> None:
    rng = np.random.default_rng(0)
    check(card, class_target(np.arange(n_rows) % 1000), 2, rng)


def test_very_few_rows(card: Card) -> None:
    rng = np.random.default_rng(1)
    check(card, class_target(np.arange(4) % 2), 2, rng, shadows=True)


def test_no_columns(card: Card) -> None:
    """Nothing is asked of a card that has nothing to examine."""
    rng = np.random.default_rng(0)
    columns = some_columns(50, rng)
    contexts = divided(class_target(np.arange(50) % 2), np.zeros((1, 50), np.int64))
    pairs = pairs_on_card(card, columns, contexts, shadows=False)
    nothing = pairs._replace(place=pairs.place[:0], which=pairs.which[:0], begin=pairs.begin[:1])
    (some,) = examining.lay_out(card, contexts)
    gains = examining.gains_of(card, nothing, some)
    assert gains.shape == (1, 0, 2)
    assert examining.scores_of(card, nothing, gains).shape == (0, 1, 2)
    chances = Chances(*(np.ones((1, 2), np.float32) for _ in range(3)))
    assert examining.sums_of(card, nothing, gains, chances).shape == (0,)


def compiled(nvrtc: Any, source: str, capability: int, *options: str) -> str:
    program = nvrtc.createProgram(source, "examining.cu", (), ())
    nvrtc.addNameExpression(program, "examine<false, 2>")
    nvrtc.compileProgram(program, ("--std=c++17", f"-arch=compute_{capability}", *options))
    ptx = nvrtc.getPTX(program)
    return ptx.decode() if isinstance(ptx, bytes) else str(ptx)


@pytest.mark.parametrize("capability", [75, 80, 90])
def test_nothing_is_fused(capability: int) -> None:
    """A product is rounded before it is added; this needs what compiles, and no card."""
    nvrtc = pytest.importorskip("cupy", reason="no CuPy here").cuda.nvrtc
    try:
        nvrtc.getVersion()
    except RuntimeError as error:
        pytest.skip(f"no NVRTC here: {error}")
    source = files("fernwood.kernels.cuda").joinpath("examining.cu").read_text(encoding="utf-8")
    fused = re.compile(r"\bfma\.")
    assert fused.search(compiled(nvrtc, source, capability))  # what compilers do by themselves
    assert not fused.search(compiled(nvrtc, source, capability, "--fmad=false"))
