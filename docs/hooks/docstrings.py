"""Docstrings for the reference: the house's short forms become those that the reader of NumPy's style knows.

- ``support_ : bool array; the columns that are confirmed``: all behind the colon would be taken for a type.
- ``rule : {"shadow", "probe"}``: the first choice would be taken for the default, whatever the signature says.
- Parameters that every estimator has and few describe are described here.
"""

from __future__ import annotations

import re
from typing import Any

import griffe

_SECTION = re.compile(r"^(Attributes|Parameters)\n-+\n.*?(?=^\w+\n-+\n|\Z)", re.DOTALL | re.MULTILINE)
_CHOICES = re.compile(r"^(\w+ : )\{([^}\n]+)\}", re.MULTILINE)
_ONE_LINE = re.compile(r"^(?P<names>\w+(?:, \w+)*) : (?P<kind>[^;\n]+); (?P<about>.+(?:\n    .+)*)$", re.MULTILINE)
_KNOWN = {
    "random_state": "The same integer gives the same answer.",
    "n_features_in_, feature_names_in_": "As scikit-learn defines them.",
}
_BARE = re.compile(rf"^({'|'.join(_KNOWN)})( : .*)?$(?!\n    )", re.MULTILINE)


class HouseStyle(griffe.Extension):
    """Rewrites such entries before docstrings are parsed."""

    def on_object(self, *, obj: griffe.Object, **_: Any) -> None:
        """Rewrite the docstring of one object."""
        if obj.docstring is not None:
            obj.docstring.value = _SECTION.sub(lambda section: plain(section[0]), obj.docstring.value)


def plain(section: str) -> str:
    """A section of parameters or attributes with every entry on its line and its description below."""
    section = _CHOICES.sub(lambda entry: entry[1] + entry[2].replace(", ", " or "), section)
    section = _BARE.sub(lambda entry: f"{entry[0]}\n    {_KNOWN[entry[1]]}", section)
    return _ONE_LINE.sub(_split, section)


def _split(entry: re.Match[str]) -> str:
    about = " ".join(entry["about"].split())
    return f"{entry['names']} : {entry['kind']}\n    {about[0].upper()}{about[1:]}"
