"""Who examines columns: the host, or a card that was asked for, and what happens when that is lost."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any, TypeVar

from fernwood.budget import resident
from fernwood.device import card_if_any, open_card, saying_device_troubles
from fernwood.errors import DeviceError
from fernwood.search.examining import Examiner
from fernwood.search.on_device import HOST_BYTES, CardExaminer, Room

if TYPE_CHECKING:
    from collections.abc import Callable

    import numpy as np
    from numpy.typing import NDArray

    from fernwood.device import Device
    from fernwood.search.scoring import Scorer

__all__ = ["Devices", "pays"]

_Made = TypeVar("_Made")

_FEWEST_CELLS = 2 * 10**8
"""Rows times columns from which a card pays for its start, where nobody insists on one."""
_FREE_SHARE = 0.9
"""Of what is free on a card, where nothing is said: others may be at work there too."""
_LOG = logging.getLogger(__name__)


def pays(n_cells: int) -> bool:
    """Whether a card pays for a table of so many rows times columns."""
    return n_cells >= _FEWEST_CELLS


class Devices:
    """Makes examiners.

    Parameters
    ----------
    device
        "cpu", "cuda", or "auto": a card where there is one and the table is large, the host elsewhere and when the card
        is lost.
    device_memory
        Bytes of the card that may be taken.
    n_cells
        Rows times columns.
    n_looks
        How many examiners share the card.

    Attributes
    ----------
    host_bytes : of the process that a card takes beside its own memory
    """

    def __init__(self, device: Device, device_memory: int | None, n_cells: int, n_looks: int = 1) -> None:
        self._may_be_lost = device == "auto"
        self._is_lost = False
        self._examiners: list[CardExaminer] = []
        self._room: Room | None = None
        self.host_bytes = 0
        before = resident()
        if device == "cuda" or (device == "auto" and pays(n_cells)):
            self._room = self.surviving(lambda: None if self._is_lost else self._found(device_memory, n_looks))
        if self._room is not None:
            self.host_bytes = max(resident() - before, 0) + HOST_BYTES

    def _found(self, device_memory: int | None, n_looks: int) -> Room | None:
        card = card_if_any() if self._may_be_lost else open_card()
        if card is None:
            return None
        with saying_device_troubles():
            card.compile()
            free = int(_FREE_SHARE * card.cupy.cuda.runtime.memGetInfo()[0])
        return Room(card, (free if device_memory is None else min(device_memory, free)) // n_looks)

    def examiner(
        self, scorer: Scorer, ids: NDArray[np.signedinteger[Any]], n_threads: int, *, counts: bool
    ) -> Examiner:
        """What examines columns; `counts` is whether rows are counted, and not weighed."""

        def make() -> Examiner:
            if self._room is None or self._is_lost:
                return Examiner(scorer, ids, n_threads)
            examiner = CardExaminer(scorer, ids, n_threads, self._room, counts=counts)
            self._examiners.append(examiner)
            return examiner

        return self.surviving(make)

    def surviving(self, work: Callable[[], _Made]) -> _Made:
        """What work comes to; where a device is lost on the way, the host does it from its beginning.

        The error is raised where the device was insisted on.
        """
        try:
            return work()
        except DeviceError as error:
            if not self._may_be_lost or self._is_lost:
                raise
            _LOG.warning("%s; the CPU goes on", str(error).split(";")[0])
        self._is_lost = True
        for examiner in self._examiners:
            examiner.give_up()
        return work()
