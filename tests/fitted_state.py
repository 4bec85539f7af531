"""What a fit leaves, as plain values of every field of it, so that two fits or two files can be compared."""

from __future__ import annotations

from dataclasses import fields, is_dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from fernwood.relevance.decision import Verdicts
from fernwood.sources.names import Names


def plain(value: Any) -> Any:
    """A fitted attribute as values that can be compared; how a fit went on its machine is no part of it."""
    if isinstance(value, Names):
        return list(value)
    if isinstance(value, np.ndarray):
        return str(value.dtype), value.shape, [plain(one) for one in value.ravel().tolist()]
    if isinstance(value, pa.Array | pa.ChunkedArray):
        return value.to_pylist()
    if isinstance(value, Verdicts):  # reasons that no column has need not be kept
        return plain(value.decision), [value.reasons[i] for i in value.reason.tolist()]
    if is_dataclass(value):
        return {field.name: plain(getattr(value, field.name)) for field in fields(value) if field.name != "course"}
    if isinstance(value, dict):
        return {key: plain(one) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return [plain(one) for one in value]
    if isinstance(value, float | np.generic):
        return repr(value)
    if value is None or isinstance(value, str | int):
        return value
    return {name: plain(one) for name, one in vars(value).items()}


def state(estimator: Any) -> dict[str, Any]:
    return {name: plain(value) for name, value in vars(estimator).items() if name not in estimator.get_params()}
