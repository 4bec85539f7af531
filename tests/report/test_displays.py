"""Displays draw what the result holds, on axes that are given or on new ones."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace

import pytest
from sklearn.naive_bayes import GaussianNB

import fernwood
from fernwood.datasets import make_madelon
from fernwood.errors import ParameterError
from fernwood.insight import Insight
from tests.report.made import NAMES, made_result

plt = pytest.importorskip("matplotlib.pyplot", reason="matplotlib is not installed")


@pytest.fixture(autouse=True)
def _closed() -> Iterator[None]:
    plt.switch_backend("agg")
    yield
    plt.close("all")


@pytest.mark.filterwarnings("ignore:Glyph|Matplotlib currently does not support")  # the font has no emoji
def test_importance_shows_names_scores_and_the_threshold() -> None:
    result = made_result(names=NAMES)
    display = fernwood.ImportanceDisplay.from_result(result, max_columns=5)
    assert len(display.ax_.get_yticks()) == 5
    ends = [line.get_xdata()[0] for line in display.ax_.get_lines() if len(line.get_xdata()) == 1]
    assert ends == result.score[result.order[:5]].tolist()
    labels = display.ax_.get_legend_handles_labels()[1]
    assert "threshold 5" in labels
    assert "confirmed" in labels
    display.figure_.canvas.draw()  # names with dollars and emoji are text, not formulas


def test_the_histogram_has_every_column() -> None:
    display = fernwood.ImportanceDisplay.from_result(made_result(500, 8), kind="histogram")
    stairs = [patch for patch in display.ax_.patches if patch.get_label() in ("confirmed", "tentative", "others")]
    total = sum((patch.get_data().values - patch.get_data().baseline).sum() for patch in stairs)
    assert total == 500
    display.figure_.canvas.draw()


def test_the_snowball_grows() -> None:
    display = fernwood.SnowballDisplay.from_result(made_result())
    assert display.ax_.get_lines()[0].get_ydata().tolist() == [1, 5, 8]


def test_coverage_counts_columns() -> None:
    _, ax = plt.subplots()
    display = fernwood.CoverageDisplay.from_result(made_result(), ax=ax)
    assert display.ax_ is ax
    assert ax.patches[0].get_data().values.sum() == 40


def test_elimination_draws_its_trace() -> None:
    table = make_madelon(200, 40, class_sep=3.0, random_state=0)
    selector = fernwood.EliminationSelector(GaussianNB(), holdout=0.2, random_state=0).fit(table.data, table.target)
    display = fernwood.EliminationDisplay.from_estimator(selector)
    labels = [text.get_text() for text in display.ax_.get_legend().get_texts()]
    assert labels == ["not accepted", "error", "error on rows held out", "columns left"]
    trace = selector.trace_.to_table()
    assert not trace["accepted"].to_pylist()[-1]
    for line in (display.ax_.get_lines()[1], display.figure_.axes[1].get_lines()[0]):
        assert line.get_xdata()[-1] == trace["call"].to_pylist()[-1]  # to the end, where nothing was accepted
        assert line.get_ydata()[-1] == line.get_ydata()[-2]


def test_bad_input_is_refused() -> None:
    with pytest.raises(ParameterError, match="'GaussianNB' has no result_: give a selector of Fernwood"):
        fernwood.ImportanceDisplay.from_estimator(GaussianNB())
    with pytest.raises(ParameterError, match="kind is 'pie'; give 'ranking' or 'histogram'"):
        fernwood.ImportanceDisplay.from_result(made_result(), kind="pie")
    with pytest.raises(ParameterError, match="max_columns is 0; give at least 1"):
        fernwood.ImportanceDisplay.from_result(made_result(), max_columns=0)
    with pytest.raises(ParameterError, match="only an elimination has a trace"):
        fernwood.EliminationDisplay.from_result(made_result())
    old = replace(made_result(), insight=Insight())
    with pytest.raises(ParameterError, match="keeps no count of columns found; search again with this Fernwood"):
        fernwood.SnowballDisplay.from_result(old)


def test_without_matplotlib_the_way_out_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib.pyplot", None)
    with pytest.raises(
        ParameterError, match=r"pictures need matplotlib, which is not installed; install fernwood\[plot"
    ):
        fernwood.ImportanceDisplay.from_result(made_result())


def test_matplotlib_is_not_loaded_before_it_is_needed() -> None:
    code = "import sys, fernwood; fernwood.ImportanceDisplay; sys.exit('matplotlib' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
