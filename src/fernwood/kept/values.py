"""Plain values and arrays as entries of an archive, and back: the type that went in is the type that comes out.

JSON has no tuples, no keys but text, and no numbers that are none; these are written as an object with one entry that
says what it is. Anything else, such as an estimator, a function or a generator, is no plain value.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from fernwood.errors import ParameterError

if TYPE_CHECKING:
    from fernwood.kept.archive import Archive

__all__ = ["NotPlainError", "pack", "unpack"]


class NotPlainError(ParameterError):
    """A value that a file without code cannot hold."""


def pack(value: Any, archive: Archive, name: str) -> Any:
    """A value as JSON; its arrays become members of the archive, whose names begin with `name`.

    Examples
    --------
    >>> from fernwood.kept.archive import Archive
    >>> archive = Archive()
    >>> packed = pack({1: (2, None), "a": np.eye(2)}, archive, "x")
    >>> unpack(packed, archive)[1], list(archive.members)
    ((2, None), ['x.1.1.npy'])
    """
    if value is None or type(value) in (bool, int, str):
        return value
    if isinstance(value, int | str):  # an enumeration, or another subclass
        return str(value) if isinstance(value, str) else int(value)
    if isinstance(value, np.generic) and value.dtype.kind in "biufU":
        return pack(value.item(), archive, name)
    if isinstance(value, float):
        return float(value) if math.isfinite(value) else {"float": repr(float(value))}
    if isinstance(value, list):
        return [pack(one, archive, f"{name}.{i}") for i, one in enumerate(value)]
    if type(value) is tuple:
        return {"tuple": pack(list(value), archive, name)}
    if isinstance(value, dict):
        return {"dict": [pack(list(pair), archive, f"{name}.{i}") for i, pair in enumerate(value.items())]}
    if isinstance(value, np.ndarray) and not isinstance(value, np.ma.MaskedArray):
        return _pack_array(value, archive, name)
    raise NotPlainError(f"{name} is a {type(value).__name__}, which a file without code cannot hold; leave it out")


def _pack_array(array: np.ndarray, archive: Archive, name: str) -> Any:
    if array.dtype.kind in "OT":
        what = "objects" if array.dtype.kind == "O" else "strings"
        return {what: pack(array.ravel().tolist(), archive, name), "shape": list(array.shape)}
    if array.dtype.kind == "V":
        raise NotPlainError(f"{name} is an array of records, which a model does not have; leave it out")
    archive.put(name, array)
    return {"array": name}


def unpack(packed: Any, archive: Archive) -> Any:
    """What `pack` packed."""
    if isinstance(packed, list):
        return [unpack(one, archive) for one in packed]
    if not isinstance(packed, dict):
        return packed
    if not packed:
        raise ValueError("an object without an entry is nothing that Fernwood writes")
    what = next(iter(packed))
    inner = packed[what]
    match what:
        case "float":
            return {"nan": math.nan, "inf": math.inf, "-inf": -math.inf}[inner]
        case "tuple":
            return tuple(unpack(inner, archive))
        case "dict":
            return dict(unpack(inner, archive))
        case "array":
            return archive.array(inner)
        case "objects":
            values = np.empty(len(inner), object)
            values[:] = unpack(inner, archive)
            return values.reshape(packed["shape"])
        case "strings":
            return np.array(unpack(inner, archive), np.dtypes.StringDType()).reshape(packed["shape"])
    raise ValueError(f"{what} is nothing that Fernwood writes")
