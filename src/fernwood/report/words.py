"""The answer in words: the headline of a report, what it rests on, and what could be wrong with it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, NamedTuple

from fernwood.relations import given_away
from fernwood.report.text import count_of, cut, number, readable, share, size, span

if TYPE_CHECKING:
    from fernwood.result import Result

__all__ = ["METHODS", "Caution", "answer", "cautions", "headline", "promise", "tested_at"]

METHODS = {
    "snowball": "the snowball",
    "subspace": "random subspaces",
    "ferns": "random ferns",
    "boruta": "Boruta",
    "elimination": "randomized elimination",
    "filter": "a filter",
}
_FEW_ROWS = 100
_TOO_STRONG = 0.98
_TOO_LITTLE = "They show some evidence, but not enough to be confirmed."
_UNDECIDED = "They were neither clearly above what they were compared with nor clearly below it."
_NAMED = 5
_NAME = 40


class Caution(NamedTuple):
    """Something that a reader should weigh.

    Attributes
    ----------
    level : "stop" (do not use the answer as it is), "look" (find out), or "know"
    title, text
    """

    level: Literal["stop", "look", "know"]
    title: str
    text: str


def headline(result: Result) -> str:
    """The answer in one line."""
    facts = result.facts
    n, target = len(result.selected), f"‘{cut(facts.target, _NAME)}’" if facts.target else "the target"
    so_far = "" if facts.finished else " so far"
    if not len(result.confirmed):
        return f"No column was found that tells of {target}{so_far}"
    of_all = f"{n:,} of {count_of(facts.n_columns, 'column')}"
    if result.minimal is not None and not result.minimal.blind:
        return f"{of_all} {'suffices' if n == 1 else 'suffice'} to predict {target}{so_far}"
    if facts.method == "elimination":
        return f"{of_all} {'is' if n == 1 else 'are'} what the learner needs for {target}{so_far}"
    if facts.method == "filter":
        return f"{of_all} {'is' if n == 1 else 'are'} what the learner does best with for {target}{so_far}"
    return f"{of_all} {'matters' if n == 1 else 'matter'} for {target}{so_far}"


def tested_at(result: Result) -> tuple[str, float] | None:
    """The error rate that a search holds, by name; None where it promises none."""
    parameters, method = result.facts.parameters, result.facts.method
    if method == "boruta":
        return "level of its tests", float(parameters["alpha"])
    if method == "snowball" or (method in ("subspace", "ferns") and parameters.get("rule") in ("shadow", "mirror")):
        return "false discovery rate", float(parameters["fdr"])
    return None


def promise(result: Result) -> str:
    """What the error rate means here, in a sentence."""
    rate = tested_at(result)
    if rate is None:
        if result.facts.asked_a_learner:
            return "The columns are those that a learner does well with; no error rate is promised for them."
        return f"The rule ‘{result.facts.parameters.get('rule', '')}’ promises no error rate."
    name, value = rate
    if name == "false discovery rate":
        n = len(result.confirmed)
        about = f", here at most about {number(round(value * n, 1))} of {n:,}" if n else ""
        return (
            f"The {name} is {value:g}: on average over many such searches, at most {share(value)} of the confirmed "
            f"columns are there by chance{about}."
        )
    return f"The {name} is {value:g}, corrected for the number of columns."


def answer(result: Result) -> list[str]:
    """The answer in a few sentences."""
    facts, course = result.facts, result.course
    n_confirmed, n_tentative = len(result.confirmed), len(result.tentative)
    rows = f"{count_of(facts.n_columns, 'column')} and {count_of(facts.n_rows, 'row')}"
    first = f"{METHODS.get(facts.method, facts.method).capitalize()} went through a table of {rows}, looked at "
    first += (
        f"{'all' if result.n_examined == facts.n_columns else ''} {result.n_examined:,}".strip()
        if result.n_examined
        else "none"
    )
    first += f" of its columns, and confirmed {n_confirmed:,}" if n_confirmed else " of its columns, and confirmed none"
    first += f"; {n_tentative:,} more {'is' if n_tentative == 1 else 'are'} tentative." if n_tentative else "."
    said = [first]
    if result.minimal is not None:
        said.append(f"{result.minimal.said[0].upper()}{result.minimal.said[1:]}.")
    said.append(promise(result))
    if course is not None:
        limit = f" of the {size(course.memory)} that it was allowed" if course.memory else ""
        times = f" in {course.n_processes} sittings" if course.n_processes > 1 else ""
        said.append(f"The search took {span(course.seconds)}{times} and at most {size(course.peak)} of memory{limit}.")
    return said


def cautions(result: Result) -> list[Caution]:
    """What could be wrong, worst first."""
    found = [*_of_the_run(result), *_of_leakage(result), *_of_the_answer(result), *_of_the_rows(result)]
    if len(result.selected):
        found.append(
            Caution(
                "know",
                "Do not judge a model on these rows",
                "The columns were chosen with the target of these rows in sight. A model that is tried on the same "
                "rows looks better than it is: choose columns inside each fold of a cross-validation, or keep rows "
                "aside that this search never saw.",
            )
        )
    weight = {"stop": 0, "look": 1, "know": 2}
    return sorted(found, key=lambda caution: weight[caution.level])


def _of_the_run(result: Result) -> list[Caution]:
    facts, found = result.facts, []
    if not facts.finished:
        found.append(
            Caution(
                "stop",
                "The search is not finished",
                f"It was stopped {facts.how_far}. More columns may come, and a few may still change. "
                "To go on to the answer that one go would have had: `fernwood resume`, or `fit` again with the same "
                "`run_dir`.",
            )
        )
    if why := result.why_nothing():
        found.append(Caution("look", "Nothing was confirmed", _sentence(why)))
    never = facts.n_usable - result.n_examined
    if facts.finished and never > 0 and not facts.asked_a_learner:
        found.append(
            Caution("look", "Not every column was looked at", f"{count_of(never, 'usable column')} never had a turn.")
        )
    return found


def _of_leakage(result: Result) -> list[Caution]:
    found = []
    giving = [] if result.relations is None else result.relations.giving_away
    if giving:
        found.append(
            Caution(
                "stop",
                "Some columns give the target away",
                f"{_listed(result, giving)}: {given_away(result.facts.task)}. Often it was made from the target, or "
                "written down after it. Leave it out unless it is known in time.",
            )
        )
    strong = [
        position
        for position, profile in result.insight.profiles.items()
        if profile.strength >= _TOO_STRONG and position not in giving
    ]
    if strong:
        found.append(
            Caution(
                "look",
                "Too good to be true?",
                f"{_listed(result, strong)}: by itself, such a column {_strong(result)} almost without "
                "error. Ask whether it is known before the target is.",
            )
        )
    found += [Caution("look", "Seen while the table was read", _sentence(note)) for note in result.facts.notes]
    return found


def _of_the_answer(result: Result) -> list[Caution]:
    found = []
    n_tentative, groups = len(result.tentative), [] if result.relations is None else result.relations.groups
    if n_tentative:
        found.append(
            Caution(
                "know",
                f"{count_of(n_tentative, 'tentative column')}",
                f"{_UNDECIDED if result.p is None else _TOO_LITTLE} Some are real and weak, some are chance: more rows "
                "decide. Treat them as candidates, not as findings.",
            )
        )
    if groups:
        inside = sum(len(group) for group in groups)
        largest = max(len(group) for group in groups)
        found.append(
            Caution(
                "know",
                "Columns that stand for each other",
                f"{inside:,} of the confirmed columns are in {count_of(len(groups), 'group')} of near copies, the "
                f"largest of {largest:,}. Such a group may have one cause, and which member is nearest to it cannot be "
                "told from these rows.",
            )
        )
    if result.chooses_nothing:
        way_out = "Take the best." if result.p is None else "Take the best, a smaller rate, or the goal `minimal`."
        found.append(
            Caution(
                "look",
                "Everything is confirmed",
                f"Every usable column tells something, so that the list alone chooses nothing. {way_out}",
            )
        )
    for about, title in (
        (result.facts.exploration, "Columns that tell only together"),
        (result.facts.sampling, "Rows"),
    ):
        if about:
            found.append(Caution("know", title, _sentence(about["said"])))
    return found


def _of_the_rows(result: Result) -> list[Caution]:
    facts, found = result.facts, []
    if facts.n_rows < _FEW_ROWS:
        found.append(
            Caution(
                "look",
                f"Only {count_of(facts.n_rows, 'row')}",
                "With so few rows weak columns stay hidden, and strong ones look stronger than they are.",
            )
        )
    unusable = facts.n_columns - facts.n_usable
    if unusable > 0:
        found.append(
            Caution(
                "know",
                f"{count_of(unusable, 'column')} could not be used",
                "They are constant, have no values, or were given as covariates.",
            )
        )
    return found


def _strong(result: Result) -> str:
    """What the strength of a column speaks of: of several classes perhaps one, and of numbers their order."""
    if result.facts.task == "regression":
        return "puts the rows in the target's order"
    return "separates some classes from the others"


def _listed(result: Result, positions: list[int]) -> str:
    named = [f"‘{cut(result.names[position], _NAME)}’" for position in positions[:_NAMED]]
    more = len(positions) - len(named)
    return ", ".join(named) + (f" and {more:,} more" if more else "")


def _sentence(text: str) -> str:
    text = readable(text)
    return f"{text[:1].upper()}{text[1:].rstrip('.')}."
