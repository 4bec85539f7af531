"""scikit-learn's callbacks (from its version 1.9 on) told how a search comes along; without them, nothing happens.

A fit has a task for every stage of its search, and a stage has a hundred, one for each part of it that is done.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar, cast

if TYPE_CHECKING:
    from collections.abc import Callable

    from fernwood.run.driving import SearchProgress, SearchProgressCallback

__all__ = ["AskedToStop", "CallbackSupport", "Tasks", "both", "with_callbacks"]

Method = TypeVar("Method", bound="Callable[..., Any]")

try:
    from sklearn.callback import CallbackSupportMixin as CallbackSupport, with_callbacks as _managed
except ImportError:  # an older scikit-learn, or one that moved what was new here

    class CallbackSupport:  # type: ignore[no-redef]
        """Nothing to support."""

    _managed = None


_PARTS = 100


def with_callbacks(method: Method) -> Method:
    """A method that calls back: what callbacks need cleared up is cleared up when it ends, well or not."""
    return method if _managed is None else cast("Method", _managed(method))


class AskedToStop(KeyboardInterrupt):
    """A callback asked to end the search: what it found so far is the answer."""


class Tasks:
    """Tells the callbacks of an estimator how its search comes along: pass it as the callback for progress.

    Parameters
    ----------
    estimator
        Has callbacks, see `callbacks_of`.
    """

    def __init__(self, estimator: Any) -> None:
        self._estimator = estimator
        self._fit = estimator._init_callback_context(max_subtasks=None)  # noqa: SLF001  (documented for this)
        self._fit.call_on_fit_task_begin(estimator=estimator)
        self._stage: Any = None
        self._parts = 0

    @staticmethod
    def of(estimator: Any) -> Tasks | None:
        """For an estimator that has callbacks; else nothing."""
        return Tasks(estimator) if getattr(estimator, "_skl_callbacks", []) else None

    def __call__(self, progress: SearchProgress) -> None:
        """Have done, by now, so many parts of the stage."""
        if self._stage is None or self._stage.task_name != progress.stage:
            self._end_stage()
            self._stage = self._fit.subcontext(task_name=progress.stage, max_subtasks=_PARTS)
            self._stage.call_on_fit_task_begin(estimator=self._estimator)
            self._parts = 0
        parts = min(_PARTS * progress.done // max(progress.total, 1), _PARTS)
        asked = False
        for _ in range(self._parts, parts):
            part = self._stage.subcontext(task_name="part")
            part.call_on_fit_task_begin(estimator=self._estimator)
            asked |= bool(part.call_on_fit_task_end(estimator=self._estimator))
        self._parts = max(self._parts, parts)
        if asked:
            raise AskedToStop

    def end(self) -> None:
        """The search is over."""
        self._end_stage()
        self._fit.call_on_fit_task_end(estimator=self._estimator)

    def _end_stage(self) -> None:
        if self._stage is not None:
            self._stage.call_on_fit_task_end(estimator=self._estimator)


def both(first: SearchProgressCallback | None, second: SearchProgressCallback | None) -> SearchProgressCallback | None:
    """Call two in turn, as far as they are there.

    Examples
    --------
    >>> both(None, None) is None
    True
    """
    if first is None or second is None:
        return first or second

    def tell(progress: SearchProgress) -> None:
        first(progress)
        second(progress)

    return tell
