"""Which columns come next: draws of q columns, blind (RS) or biased towards columns already found (SRS)."""

from __future__ import annotations

from fernwood.subspace.sequential import draw_subspace

__all__ = ["draw_subspace"]
