"""Is it real? Rules that decide from the evidence of many draws which columns are relevant."""

from __future__ import annotations

from fernwood.relevance.decision import Decision, Verdicts
from fernwood.relevance.paper import Evidence, ImportanceRule, MaxShadowRule, ProbeRule, Rule
from fernwood.relevance.tested import MirrorRule, ShadowRule

__all__ = [
    "Decision",
    "Evidence",
    "ImportanceRule",
    "MaxShadowRule",
    "MirrorRule",
    "ProbeRule",
    "Rule",
    "ShadowRule",
    "Verdicts",
]
