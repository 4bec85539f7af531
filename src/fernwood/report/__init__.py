"""Showing what was found: one self-contained HTML page, a card for notebooks, and matplotlib displays.

A result goes in, and nothing else: what a picture needs beside the decisions was made while the table was at hand
(`fernwood.insight`), so that a report can be written long after, anywhere.
"""

from __future__ import annotations

from fernwood.report.displays import CoverageDisplay, EliminationDisplay, ImportanceDisplay, SnowballDisplay
from fernwood.report.html import html_of, write_html

__all__ = [
    "CoverageDisplay",
    "EliminationDisplay",
    "ImportanceDisplay",
    "SnowballDisplay",
    "html_of",
    "write_html",
]
