"""A card that is none: the arrays of CuPy as NumPy's, and its kernels as their twins on the processor.

With it, everything that the host does for a card can be tried where there is no card.
"""

from __future__ import annotations

from contextlib import nullcontext
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import numpy as np

from fernwood.kernels.dealing import permute_codes
from fernwood.kernels.examining import Contexts, count_pairs, examine_pairs
from fernwood.relevance.shadows import inverse_chances, summed

if TYPE_CHECKING:
    from collections.abc import Iterator

    import pytest

    from fernwood.kernels.cuda.examining import Pairs
    from fernwood.kernels.telling import Chances


class OnCard(np.ndarray):
    """An array that has to be fetched."""

    def get(self) -> np.ndarray:
        return np.array(self)


def on_card(array: Any) -> OnCard:
    return np.array(array).view(OnCard)


class StandIn:
    """What a search asks of a `Card`, and how much of its memory was asked for."""

    def __init__(self) -> None:
        self.shared_bytes = 232_448
        self.limits: list[int] = []
        self.n_sent = 0

        class Pool:
            def set_limit(pool, size: int) -> None:  # noqa: N805
                self.limits.append(size)

            def malloc(pool, size: int) -> None:  # noqa: N805
                pass

            def free_all_blocks(pool) -> None:  # noqa: N805
                pass

        self.cupy = SimpleNamespace(
            asarray=on_card,
            empty=lambda shape, dtype: on_card(np.full(shape, 7, dtype)),
            arange=lambda *numbers, dtype=None: on_card(np.arange(*numbers, dtype=dtype)),
            concatenate=lambda arrays: on_card(np.concatenate(arrays)),
            cuda=SimpleNamespace(
                MemoryPool=Pool,
                using_allocator=lambda _: nullcontext(),
                alloc_pinned_memory=self._sent,
                runtime=SimpleNamespace(memGetInfo=lambda: (8 * 10**9, 10**10)),
            ),
        )

    def compile(self) -> None:
        """There is nothing to compile."""

    def _sent(self, size: int) -> bytearray:
        self.n_sent += size
        return bytearray(size)


def lay_out(_: StandIn, contexts: Contexts) -> Iterator[Contexts]:
    """In two parts where there are several, as contexts of many rows are."""
    n = len(contexts.rows)
    for some in (slice(0, -(-n // 2)), slice(-(-n // 2), n)):
        if some.start < some.stop:
            yield Contexts(*(array[some] for array in contexts[:4]), contexts.n_classes, contexts.n_times)


def gains_of(_: StandIn, pairs: Pairs, contexts: Contexts) -> np.ndarray:
    """What each component gains: a pair as a column, once with the first component leading, once with the second."""
    n, n_rows = len(pairs.place), contexts.n_rows
    codes = np.array(pairs.codes[pairs.place, :n_rows])
    if pairs.addresses is not None:
        permute_codes(codes, np.array(pairs.addresses), codes)
    every, one = np.arange(n), np.ones(n, np.int64)
    tables, which = np.array(pairs.tables), np.array(pairs.which, np.int64)
    gains = np.empty((len(contexts.rows), n, 2), np.float32)
    for component in range(2):
        out = np.zeros((n, len(contexts.rows), 2), np.float32)
        if contexts.counts:
            first = (tables & 0xFFFF).astype(np.uint16).view(np.int16)
            steps = np.stack([first, (tables - first) >> 16], axis=2).astype(np.int8)
            unit = np.array(pairs.unit)
            steps, unit = (steps, unit) if component == 0 else (steps[:, :, ::-1].copy(), unit[:, ::-1].copy())
            count_pairs(codes, every, which, one, steps.view(np.int16)[:, :, 0], unit, contexts, out)
        else:
            table = tables if component == 0 else tables[:, :, ::-1].copy()
            examine_pairs(codes, every, which, one, table, contexts, out)
        gains[:, :, component] = out[:, :, 1].T
    return on_card(gains)


def scores_of(_: StandIn, pairs: Pairs, gains: np.ndarray) -> np.ndarray:
    n_columns, n_contexts = len(pairs.begin) - 1, len(gains)
    out = np.zeros((n_columns, n_contexts, 2), np.float32)
    for column in range(n_columns):
        for pair in range(pairs.begin[column], pairs.begin[column + 1]):
            out[column, :, 0] += gains[:, pair, 0] + gains[:, pair, 1]
            for component in range(pairs.leading[pair]):
                out[column, :, 1] += gains[:, pair, component]
    return on_card(out)


def sums_of(card: StandIn, pairs: Pairs, gains: np.ndarray, chances: Chances) -> np.ndarray:
    return on_card(summed(inverse_chances(np.array(scores_of(card, pairs, gains)), chances)))


def put_in_place(monkeypatch: pytest.MonkeyPatch) -> StandIn:
    """Let searches find a card."""
    from fernwood.search import devices, on_device

    card = StandIn()
    for twin in (lay_out, gains_of, scores_of, sums_of):
        monkeypatch.setattr(on_device, twin.__name__, twin)
    monkeypatch.setattr(devices, "open_card", lambda: card)
    monkeypatch.setattr(devices, "card_if_any", lambda: card)
    return card
