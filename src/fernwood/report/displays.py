"""Pictures in scikit-learn's manner: ``XDisplay.from_estimator(selector)`` draws with matplotlib.

It is imported when a picture is drawn. For papers and meetings; the page draws by itself.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from fernwood.errors import ParameterError, shown
from fernwood.relevance.decision import Decision
from fernwood.report.figures import coverage_of, score_name, scores_of, top_of
from fernwood.report.text import cut, number

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Self

    from fernwood.result import Result

__all__ = ["CoverageDisplay", "EliminationDisplay", "ImportanceDisplay", "SnowballDisplay"]

_COLOURS = {"confirmed": "#23694a", "tentative": "#b87a12", "rejected": "#b9c2bc", "unexamined": "#b9c2bc"}
_RED, _BLUE = "#a8321f", "#5b7f9c"
_NAME = 28


class _Display:
    """What displays share: where a result comes from, and axes to draw on.

    Attributes
    ----------
    ax_, figure_ : matplotlib's axes and figure, once something is drawn
    """

    ax_: Any
    figure_: Any

    def __init__(self, result: Result) -> None:
        self.result = result

    @classmethod
    def from_estimator(cls, estimator: Any, *, ax: Any = None, **how: Any) -> Self:
        """Draw what a fitted selector found.

        Parameters
        ----------
        estimator : a fitted selector of Fernwood
        ax : matplotlib axes, optional
        how : goes to `plot`
        """
        result = getattr(estimator, "result_", None)
        if result is None:
            raise ParameterError(
                f"{shown(type(estimator).__name__)} has no result_: give a selector of Fernwood, and fit it first"
            )
        return cls.from_result(result, ax=ax, **how)

    @classmethod
    def from_result(cls, result: Result, *, ax: Any = None, **how: Any) -> Self:
        """Draw a result, such as one that was loaded from a run."""
        display = cls(result)
        display.plot(ax, **how)
        return display

    def plot(self, ax: Any = None) -> Self:
        """Draw; on new axes where none are given."""
        raise NotImplementedError

    def _axes(self, ax: Any, size: tuple[float, float]) -> Any:
        if ax is None:
            try:
                import matplotlib.pyplot as plt
            except ImportError as error:
                raise ParameterError(
                    "pictures need matplotlib, which is not installed; install fernwood[plot], or use to_html"
                ) from error
            _, ax = plt.subplots(figsize=size, layout="constrained")
        self.ax_, self.figure_ = ax, ax.figure
        for side in ("top", "right"):
            ax.spines[side].set_visible(False)
        return ax


class ImportanceDisplay(_Display):
    """The importance of the best columns against shadows, with the threshold; or of all columns, as a histogram.

    Parameters
    ----------
    result : Result

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("agg")
    >>> import fernwood
    >>> table = fernwood.datasets.make_madelon(300, 60, class_sep=3.0, random_state=0)
    >>> selector = fernwood.SnowballSelector(random_state=0).fit(table.data, table.target)
    >>> display = fernwood.ImportanceDisplay.from_estimator(selector, max_columns=10)
    >>> len(display.ax_.get_yticklabels())
    10
    """

    def plot(self, ax: Any = None, *, kind: str = "ranking", max_columns: int = 20) -> Self:
        """Draw.

        Parameters
        ----------
        ax : matplotlib axes, optional
        kind : "ranking" (the best columns by name) or "histogram" (all columns)
        max_columns : how many the ranking shows
        """
        if kind not in ("ranking", "histogram"):
            raise ParameterError(f"kind is {shown(kind)}; give 'ranking' or 'histogram'")
        if max_columns < 1:
            raise ParameterError(f"max_columns is {max_columns}; give at least 1")
        if kind == "histogram":
            self._draw_histogram(self._axes(ax, (6.4, 4.0)))
        else:
            chosen = top_of(self.result, max_columns)
            self._draw_ranking(self._axes(ax, (6.4, 1.2 + 0.26 * max(len(chosen), 4))), chosen.tolist())
        return self

    def _draw_ranking(self, ax: Any, chosen: Sequence[int]) -> None:
        result, comparison = self.result, self.result.insight.comparison
        if comparison.scores:
            ax.axvspan(min(0.0, comparison.scores[0]), comparison.scores[-1], color="0.93", lw=0)
            ax.plot([], [], color="0.85", lw=8, label=f"{result.facts.against} reach so far")
        words = [Decision(int(result.verdicts.decision[position])).word for position in chosen]
        for row, (position, word) in enumerate(zip(chosen, words, strict=True)):
            ax.plot([0, result.score[position]], [row, row], color=_COLOURS[word], alpha=0.45, lw=2)
            ax.plot(result.score[position], row, "o", color=_COLOURS[word], ms=5.5)
        for word in dict.fromkeys(words):
            ax.plot([], [], "o", color=_COLOURS[word], label=word)
        self._draw_threshold(ax)
        ax.set_yticks(range(len(chosen)), [_plain(cut(result.names[position], _NAME)) for position in chosen])
        ax.set_ylim(len(chosen) - 0.4, -0.6)
        ax.set_xlabel(score_name(result))
        ax.tick_params(axis="y", length=0)
        ax.legend(frameon=False, loc="lower right")

    def _draw_histogram(self, ax: Any) -> None:
        scores = scores_of(self.result)
        below = np.zeros(len(scores.edges) - 1)
        for word, counts in zip(("confirmed", "tentative", "rejected"), scores.counts, strict=True):
            if counts.any():
                name = "others" if word == "rejected" else word
                ax.stairs(below + counts, scores.edges, baseline=below, fill=True, color=_COLOURS[word], label=name)
                below = below + counts
        if scores.shadows is not None:
            ax.stairs(scores.shadows, scores.edges, color="0.15", lw=1.4, label=f"{self.result.facts.against} alone")
        self._draw_threshold(ax)
        ax.set_yscale("symlog", linthresh=1)
        ax.set_ylim(bottom=0)
        ax.set_xlabel(score_name(self.result))
        ax.set_ylabel("columns")
        ax.legend(frameon=False)

    def _draw_threshold(self, ax: Any) -> None:
        threshold = self.result.insight.comparison.threshold
        if threshold is not None:
            ax.axvline(threshold, color=_RED, ls="--", lw=1.3, label=f"threshold {number(threshold)}")


class SnowballDisplay(_Display):
    """Columns found against draws, waves or iterations: how the snowball grew.

    Parameters
    ----------
    result : Result

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("agg")
    >>> import fernwood
    >>> table = fernwood.datasets.make_madelon(300, 60, class_sep=3.0, random_state=0)
    >>> selector = fernwood.SnowballSelector(random_state=0).fit(table.data, table.target)
    >>> fernwood.SnowballDisplay.from_estimator(selector).ax_.get_ylabel()
    'columns found'
    """

    def plot(self, ax: Any = None) -> Self:
        """Draw."""
        history = self.result.insight.history
        if not history.done:
            raise ParameterError("the result keeps no count of columns found; search again with this Fernwood")
        ax = self._axes(ax, (6.4, 3.6))
        marker = "o" if len(history.done) <= 24 else None
        ax.step(history.done, history.found, where="post", color=_COLOURS["confirmed"], lw=2, marker=marker, ms=4)
        ax.fill_between(history.done, history.found, step="post", color=_COLOURS["confirmed"], alpha=0.14, lw=0)
        ax.set_ylim(bottom=0)
        ax.set_xlabel(self.result.facts.unit)
        ax.set_ylabel("columns left" if self.result.facts.method == "elimination" else "columns found")
        ax.xaxis.get_major_locator().set_params(integer=True)
        ax.yaxis.get_major_locator().set_params(integer=True)
        return self


class CoverageDisplay(_Display):
    """How often columns were looked at.

    Parameters
    ----------
    result : Result

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("agg")
    >>> import fernwood
    >>> table = fernwood.datasets.make_madelon(300, 60, class_sep=3.0, random_state=0)
    >>> selector = fernwood.SubspaceSelector(q=20, random_state=0).fit(table.data, table.target)
    >>> fernwood.CoverageDisplay.from_estimator(selector).ax_.get_ylabel()
    'columns'
    """

    def plot(self, ax: Any = None) -> Self:
        """Draw."""
        coverage = coverage_of(self.result)
        ax = self._axes(ax, (6.4, 3.6))
        ax.stairs(coverage.counts, coverage.edges, fill=True, color=_BLUE)
        ax.axvline(coverage.median, color=_RED, ls="--", lw=1.3, label=f"median {number(coverage.median)}")
        middle, half = (coverage.least + coverage.most) / 2, max((coverage.most - coverage.least) * 0.55, 2.0)
        ax.set_xlim(middle - half, middle + half)
        ax.set_ylim(bottom=0)
        unit = "contexts" if self.result.facts.unit == "waves" else self.result.facts.unit
        ax.set_xlabel(f"{unit} a column")
        ax.set_ylabel("columns")
        ax.xaxis.get_major_locator().set_params(integer=True)
        ax.legend(frameon=False)
        return self


class EliminationDisplay(_Display):
    """What every call of the learner came to: its error, and the columns left.

    Parameters
    ----------
    result : Result

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("agg")
    >>> from sklearn.naive_bayes import GaussianNB
    >>> import fernwood
    >>> table = fernwood.datasets.make_madelon(200, 40, class_sep=3.0, random_state=0)
    >>> selector = fernwood.EliminationSelector(GaussianNB(), random_state=0).fit(table.data, table.target)
    >>> fernwood.EliminationDisplay.from_estimator(selector).ax_.get_ylabel()
    'error'
    """

    def plot(self, ax: Any = None) -> Self:
        """Draw."""
        trace = self.result.facts.elimination.get("trace")
        if trace is None:
            raise ParameterError(
                f"the result is of {shown(self.result.facts.method)}; only an elimination has a trace to draw"
            )
        ax = self._axes(ax, (6.8, 4.0))
        call, error = np.array(trace["call"]), np.array(trace["error"], float)
        accepted = np.array(trace["accepted"], bool)
        held = np.array(trace["held_out"], float)
        ax.plot(call[~accepted], error[~accepted], ".", color="0.7", label="not accepted")
        # A line stays where it is after the last accepted call, as long as calls were made.
        kept = np.append(np.flatnonzero(accepted), np.flatnonzero(accepted)[-1:])
        calls = np.append(call[accepted], call[-1:])
        ax.step(calls, error[kept], where="post", color=_COLOURS["confirmed"], lw=2, label="error")
        if not np.isnan(held).all():
            seen = ~np.isnan(held)
            ax.plot(call[seen], held[seen], ":", color=_BLUE, lw=2, label="error on rows held out")
        beside = ax.twinx()
        beside.step(
            calls, np.array(trace["columns"])[kept], where="post", color=_COLOURS["tentative"], label="columns left"
        )
        beside.set_ylabel("columns left")
        beside.set_ylim(bottom=0)
        beside.spines["top"].set_visible(False)
        ax.set_xlabel("calls of the learner")
        ax.set_ylabel("error")
        lines = [*ax.get_lines(), *beside.get_lines()]
        ax.legend(lines, [line.get_label() for line in lines], frameon=False)
        return self


def _plain(name: str) -> str:
    """A name that matplotlib takes for text: a dollar sign begins a formula there."""
    return name.replace("$", r"\$")
