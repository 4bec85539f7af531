"""Docstrings for the reference: the house's short forms become those that the reader of NumPy's style knows.

- ``support_ : bool array; the columns that are confirmed``, ``names : of the columns``: all behind the colon would be
  taken for a type.
- ``rule : {"shadow", "probe"}``: the first choice would be taken for the default, whatever the signature says.
- ``bootstrap, max_samples``: the default of the first would be shown for both.
- Parameters that every estimator has and few describe are described here.
"""

from __future__ import annotations

import re
from typing import Any

import griffe

_SECTION = re.compile(r"^(Attributes|Parameters)\n-+\n.*?(?=^\w+\n-+\n|\Z)", re.DOTALL | re.MULTILINE)
_CHOICES = re.compile(r"^(\w+ : )\{([^}\n]+)\}", re.MULTILINE)
_SEVERAL = re.compile(r"^(?P<names>\w+(?:, \w+)+)(?P<rest>(?: : .*)?(?:\n    .*)*)$", re.MULTILINE)
_ENTRY = re.compile(r"^(?P<names>\w+(?:, \w+)*) : (?P<text>.+(?:\n    .+)*)$", re.MULTILINE)
_TYPED = re.compile(r"(?P<kind>[\w. ]*\b(?:arrays?|int|float|bool|str|list|dict|[A-Z]\w+)); (?P<about>.+)")
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
    if section.startswith("Attributes"):
        return _ENTRY.sub(_attribute, section)
    return _SEVERAL.sub(lambda entry: "\n".join(name + entry["rest"] for name in entry["names"].split(", ")), section)


def _attribute(entry: re.Match[str]) -> str:
    _, _, rest = entry["text"].partition("\n    ")
    if rest[:1].isupper():  # a type, and a description below it
        return entry[0]
    text = " ".join(entry["text"].split())
    typed = _TYPED.fullmatch(text)
    about = typed["about"] if typed else text
    kind = f" : {typed['kind']}" if typed else ""
    return f"{entry['names']}{kind}\n    {about}"
