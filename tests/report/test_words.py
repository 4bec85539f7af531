"""What the report says in words, one thing at a time."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from fernwood.relations import Minimal
from fernwood.relevance.decision import Decision
from fernwood.report import words
from fernwood.report.notebook import card_of
from fernwood.report.words import answer, cautions, headline, promise
from fernwood.result import Result
from tests.report.made import CATEGORIES, HOSTILE, made_result, with_profiles


def texts(result: Result) -> dict[str, str]:
    return {caution.title: caution.text for caution in cautions(result)}


def test_the_worst_comes_first() -> None:
    stopped = cautions(made_result(n_draws=2, n_rows=30))
    assert stopped[0].title == "The search is not finished"
    assert "stopped after 2 of 5 waves" in stopped[0].text
    ranks = [["stop", "look", "know"].index(caution.level) for caution in stopped]
    assert ranks == sorted(ranks)
    assert len(set(ranks)) == 3


def test_a_column_is_suspected_once_and_five_are_named() -> None:
    result = with_profiles(made_result(), replace(CATEGORIES, strength=0.99))
    assert texts(result)["Too good to be true?"].startswith("‘x0’, ‘x1’, ‘x2’, ‘x3’, ‘x4’ and 3 more: ")
    assert result.relations is not None
    result = replace(result, relations=replace(result.relations, giving_away=[0, 1]))
    assert texts(result)["Some columns give the target away"].startswith("‘x0’, ‘x1’: ")
    assert texts(result)["Too good to be true?"].startswith("‘x2’, ‘x3’, ‘x4’, ‘x5’, ‘x6’ and 1 more: ")


def test_what_a_column_gives_away_is_said_as_it_was_measured() -> None:
    """Of classes a share, of numbers their order: neither is said to be known altogether."""
    title = "Some columns give the target away"
    for task, said in (("classification", "at most 5 % of the target is left open"), ("regression", "target's order")):
        result = made_result(task=task)
        assert result.relations is not None
        result = replace(result, relations=replace(result.relations, giving_away=[0]))
        assert said in texts(result)[title]
        assert said in result.remarks()[0]
        assert "nothing" not in texts(result)[title] + result.remarks()[0]


def test_a_strong_column_is_not_said_to_tell_the_target() -> None:
    """One class may be told from the others, and nothing of the others; the order of numbers, and not the numbers."""
    strong = replace(CATEGORIES, strength=0.99)
    said = texts(with_profiles(made_result(), strong))["Too good to be true?"]
    assert "such a column separates some classes from the others almost without error" in said
    said = texts(with_profiles(made_result(task="regression"), strong))["Too good to be true?"]
    assert "such a column puts the rows in the target's order almost without error" in said


def test_a_list_of_all_columns_that_a_learner_chose_says_nothing_of_each() -> None:
    for method in ("filter", "elimination"):
        result = made_result(n_columns=8, n_tentative=0, method=method)
        assert "Everything is confirmed" not in texts(result)
        assert not any("usable columns are confirmed" in said for said in result.remarks())
    few = Minimal([0, 1], {i: [0] for i in range(2, 8)}, 0.2, 0.2, 0.02, 9)
    assert "Everything is confirmed" not in texts(replace(made_result(n_columns=8, n_tentative=0), minimal=few))
    by_score = replace(made_result(n_columns=8, n_tentative=0), p=None, q=None)
    assert texts(by_score)["Everything is confirmed"].endswith("Take the best.")
    assert by_score.remarks()[0].endswith("take the best by score")


def test_tentative_columns_without_a_test_are_undecided() -> None:
    result = made_result(method="boruta", unit="iterations", parameters={"alpha": 0.01})
    assert texts(result)["2 tentative columns"].startswith("They show some evidence")
    undecided = texts(replace(result, p=None, q=None))["2 tentative columns"]
    assert undecided.startswith("They were neither clearly above what they were compared with nor clearly below it.")


def test_few_columns_that_predict_nothing_are_not_said_to_suffice() -> None:
    few = Minimal(list(range(8)), {}, 1.01, 1.01, 0.02, 1)
    assert headline(replace(made_result(), minimal=few)) == "8 of 40 columns suffice to predict ‘disease’"
    assert headline(replace(made_result(), minimal=replace(few, blind=True))) == "8 of 40 columns matter for ‘disease’"


def test_everything_confirmed_and_columns_without_a_turn() -> None:
    assert "Everything is confirmed" in texts(made_result(n_columns=8, n_tentative=0))
    assert "Everything is confirmed" not in texts(made_result(n_columns=9, n_tentative=0))
    result = made_result()
    draws = result.draws.copy()
    draws[-3:] = 0
    seldom = replace(result, draws=draws)
    assert texts(seldom)["Not every column was looked at"] == "3 usable columns never had a turn."
    assert "looked at 37 of its columns" in answer(seldom)[0]
    assert "Not every column was looked at" not in texts(result)
    # A filter looks at as many as its learner is given, and a search that was stopped says so already.
    assert "Not every column was looked at" not in texts(replace(seldom, facts=replace(seldom.facts, method="filter")))
    assert "Not every column was looked at" not in texts(replace(seldom, facts=replace(seldom.facts, n_draws=2)))


def test_notes_are_readable() -> None:
    said = texts(made_result(notes=["a\x1b[31m\u202e equals the target"]))["Seen while the table was read"]
    assert said == r"A\x1b[31m\u202e equals the target."


@pytest.mark.parametrize(
    ("facts", "rate", "said"),
    [
        ({"parameters": {"fdr": 0.25}}, ("false discovery rate", 0.25), "at most 25 % of the confirmed columns are "),
        ({"parameters": {"fdr": 0.25}}, ("false discovery rate", 0.25), "by chance, here at most about 2 of 8."),
        (
            {"method": "boruta", "parameters": {"alpha": 0.01}},
            ("level of its tests", 0.01),
            "The level of its tests is 0.01, corrected for the number of columns.",
        ),
        ({"method": "subspace", "parameters": {"rule": "probe"}}, None, "The rule ‘probe’ promises no error rate."),
        (
            {"method": "ferns", "parameters": {"rule": "mirror", "fdr": 0.2}},
            ("false discovery rate", 0.2),
            "at most 20 %",
        ),
        ({"method": "elimination", "parameters": {}}, None, "no error rate is promised"),
    ],
)
def test_what_is_promised(facts: dict[str, object], rate: tuple[str, float] | None, said: str) -> None:
    result = made_result(**facts)  # type: ignore[arg-type]
    assert words.tested_at(result) == rate
    assert said in promise(result)


def test_the_card_of_a_notebook() -> None:
    name = f"{HOSTILE}\u202e"
    card = card_of(made_result(n_confirmed=20, n_draws=2, names=[name]))
    assert "Stopped after 2 of 5 waves." in card
    assert "… and 14 more." in card
    assert "12.5 s, peak memory 300 MB" in card
    assert r"&lt;img src=x onerror=alert(1)&gt;\u202e" in card
    none = card_of(made_result(n_confirmed=0, n_tentative=0))
    assert "no column is confirmed" in none
    assert "at most 10 %" not in none


def test_an_order_of_decisions_that_the_charts_rely_on() -> None:
    assert [decision.word for decision in Decision] == ["confirmed", "tentative", "rejected", "unexamined"]
    assert np.all(np.diff([int(decision) for decision in Decision]) == 1)
