"""Is it real? Rules that decide from the evidence gathered which columns are relevant."""

from __future__ import annotations

from fernwood.relevance.paper import Evidence, by_importance, by_probe

__all__ = ["Evidence", "by_importance", "by_probe"]
