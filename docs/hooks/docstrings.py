"""Docstrings for the reference: attributes that are described on their own line get that as their description.

The house writes ``support_ : bool array; the columns that are confirmed``. The reader of NumPy's style would take all
behind the colon for a type.
"""

from __future__ import annotations

import re
from typing import Any

import griffe

_ENTRY = re.compile(r"^(?P<names>\w+(?:, \w+)*) : (?P<kind>[^;\n]+); (?P<about>.+(?:\n    .+)*)$", re.MULTILINE)
_SECTION = re.compile(r"^(Attributes|Parameters)\n-+\n.*?(?=^\w+\n-+\n|\Z)", re.DOTALL | re.MULTILINE)


class OneLineEntries(griffe.Extension):
    """Splits such lines before docstrings are parsed."""

    def on_object(self, *, obj: griffe.Object, **_: Any) -> None:
        """Rewrite the docstring of one object."""
        if obj.docstring is not None:
            obj.docstring.value = _SECTION.sub(lambda section: _ENTRY.sub(_split, section[0]), obj.docstring.value)


def _split(entry: re.Match[str]) -> str:
    about = " ".join(entry["about"].split())
    return f"{entry['names']} : {entry['kind']}\n    {about[0].upper()}{about[1:]}"
