"""The trace of an elimination: what every call of the learner came to, as a table."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from fernwood.errors import ParameterError, shown

if TYPE_CHECKING:
    from typing import Self

    from fernwood.result import Result
    from fernwood.search.elimination import Trace

__all__ = ["EliminationTrace", "plain_trace"]


class EliminationTrace:
    """What every call of the learner came to, in order; the first is with all columns.

    Parameters
    ----------
    columns
        Lists by name: call, columns (that the learner was called with), tried (columns to be removed), error, accepted,
        estimate (columns that were thought to be relevant), held_out (error on rows held out, None where not asked
        for).

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.naive_bayes import GaussianNB
    >>> import fernwood
    >>> x = np.random.default_rng(0).standard_normal((100, 12))
    >>> selector = fernwood.EliminationSelector(GaussianNB(), random_state=0).fit(x, x[:, 3] > 0)
    >>> selector.trace_.to_table().slice(0, 1).to_pylist()[0]["columns"]
    12
    """

    def __init__(self, columns: dict[str, list[Any]]) -> None:
        self._columns = columns

    @classmethod
    def of(cls, result: Result) -> Self:
        """The trace that a result holds."""
        if "trace" not in result.facts.elimination:
            raise ParameterError(f"the result is of {shown(result.facts.method)}; only an elimination has a trace")
        return cls(result.facts.elimination["trace"])

    def to_table(self) -> pa.Table:
        """The trace as Arrow, a row each call."""
        return pa.table(self._columns)


def plain_trace(trace: Trace) -> dict[str, list[Any]]:
    """A trace as plain lists, as a result keeps it."""
    lists: dict[str, list[Any]] = {"call": list(range(len(trace.error))), "columns": trace.left.tolist()}
    lists |= {name: getattr(trace, name).tolist() for name in ("tried", "error", "accepted", "estimate")}
    return {**lists, "held_out": [None if np.isnan(error) else error for error in trace.held_out.tolist()]}
