"""What to do next after the verdict of a criterion, and whether a cheaper panel does."""

from collections.abc import Mapping, Sequence
from math import inf

import numpy as np

from concord.codes import GOOD, Advice, Verdict
from concord.estimate import Estimate, value_of
from concord.reports.coefficient import default_coefficient
from concord.reports.evidence import Evidence
from concord.reports.names import first_names
from concord.reports.overview import NextStep
from concord.reports.sections import section
from concord.reports.verdict import Assessment
from concord.runs.registry import BENCHMARKS
from concord.statistics.claims import more_items
from concord.statistics.majority import answer_of_people
from concord.statistics.ratings import DIGITS, panel_name
from concord.table import Cell, Column, Table

WITH_ALL = (
    "ρ with the mean of all annotators is higher than ρ in the comparison with a held-out annotator, which "
    "uses the other annotators alone."
)
"""How the two figures of one judge or panel on a page differ."""
SELECTION_BIAS = "If you choose the best of several after looking at the figures, it looks better than it is."


def per_thousand(price: float | None, currency: str) -> str:
    """What 1,000 conversations cost that all judges of a panel rate, in words; None: it is not known."""
    purpose = " for 1,000 conversations by all its judges"
    return _money(price, currency) + (purpose if price is not None else "")


def _money(price: float | None, currency: str) -> str:
    return "price unknown" if price is None else f"{price:,.2f} {currency}".rstrip()


def answers_that_differ(evidence: Evidence, criterion: str, judge: str) -> Table:
    """The items on which a judge gives another answer than most people, in words, in the order of units.

    Items on which people tie, or that one of both did not answer, are no such items. Raises StudyError for an
    unknown criterion.
    """
    scores = evidence.ratings[criterion]
    question = evidence.criterion(criterion)
    word = question.scale.word if question else "{:g}".format
    people = answer_of_people(scores)
    judge_scores = scores.judges[judge]
    places = np.flatnonzero(
        np.isfinite(people + judge_scores) & (np.abs(people - judge_scores) > 10**-DIGITS)
    )
    numbers = evidence.data.of_units("conversation_id")
    rows = tuple(
        {
            "conversation": str(numbers.get(evidence.ratings.units[place], "")),
            "judge": word(float(judge_scores[place])),
            "people": word(float(people[place])),
        }
        for place in places.tolist()
    )
    help_ = "Select a row to read the conversation."
    columns = (
        Column("conversation", "No.", help=help_),
        Column("judge"),
        Column("people", "Most annotators"),
    )
    return Table("differing_answers", "Items on which they differ", columns, rows)


def left_out(evidence: Evidence, criterion: str, prices: Mapping[str, float | None]) -> tuple[str, str]:
    """The judge of all whom a cheaper panel does without, and why that one: the dearest where prices are
    known and differ, else the one that agrees least with people alone.
    """
    priced = {judge: price for judge in evidence.judges if (price := prices.get(judge)) is not None}
    if len(priced) == len(evidence.judges) and len(set(priced.values())) > 1:
        return max(priced, key=lambda judge: priced[judge]), "the dearest"
    table = section(evidence, "glance", criterion)["glance"]
    name = default_coefficient(evidence, criterion)
    alone = {row["rater"]: value_of(row[name]) for row in table.rows}
    return min(evidence.judges, key=lambda judge: alone.get(judge, -inf)), (
        "which agrees least with annotators"
    )


def cheaper(pair: Mapping[str, Cell], margin: float, prices: Sequence[float | None], currency: str) -> str:
    """Whether the second of two panels does in place of the first, in a sentence, with the paired difference
    and both prices; `pair` is the row of `panel_difference`.

    It does where the interval of its ρ less that of the first lies above −margin; it does not where that ends
    below 0 and does not lie above −margin.
    """
    gap = pair["difference"]
    if not isinstance(gap, Estimate) or gap.value is None or gap.interval is None:
        reason = gap.reason if isinstance(gap, Estimate) else "no difference is defined"
        return f"Unknown: {reason}."
    value = -gap.value
    low = -gap.interval[1]
    high = -gap.interval[0]
    word = "Inconclusive"
    if low > -margin:
        word = "Yes: use the second panel"
    elif high < 0:
        word = "No: use the first panel"
    first, second = (_money(price, currency).removeprefix("price ") for price in prices)
    return (
        f"{word}. The second panel's ρ with annotators' mean, less the first's: {value:+z.2f} "
        f"(95% CI {low:+z.2f} to {high:+z.2f}, {pair['n']} items that both rated). Price of 1,000 "
        f"conversations: {second} with the second, {first} with the first. “Yes”: it loses less than "
        f"{margin:g}. “No”: it is clearly worse and may lose {margin:g} or more."
    )


def more_needed(evidence: Evidence, assessment: Assessment) -> int | None:
    """About how many more items decide a verdict; 0 where it stands, None where that cannot be said."""
    if assessment.verdict in (*GOOD, Verdict.WORSE):
        return 0
    row = next(
        (
            row
            for row in assessment.rows.rows
            if row["rater"] == evidence.names.get(panel_name(assessment.members))
        ),
        {},
    )
    gap = row.get("difference")
    return more_items(gap, evidence.options.margin) if isinstance(gap, Estimate) else None


def next_step(
    evidence: Evidence, assessment: Assessment, left: int | None, waiting: Sequence[str] = ()
) -> NextStep:
    """The next step after a verdict; `left` conversations can still be drawn (None: the study was imported).

    The answers of `waiting`, who have open items, are waited for before anything more is rated. What is left
    is drawn where it is enough; else more is made, or imported where no benchmark makes it.
    """
    study = evidence.data.study
    parameters = {"study": study.name}
    if assessment.advice == Advice.REPAIR_QUESTION:
        return NextStep("", "rubrics", parameters, "Repair the question")
    if assessment.verdict in GOOD:
        return NextStep("", "leaderboard", parameters, "See the leaderboard")
    if assessment.verdict == Verdict.WORSE:
        return NextStep("", "agreement", parameters, "See where it fails")
    if waiting:
        pending = f"Answers still to come by {first_names(waiting)}."
        return NextStep(pending, "samples", parameters, "Follow the study")
    if assessment.verdict == Verdict.UNDEFINED and not evidence.ratings.people:
        return NextStep("", "samples", parameters, "Assign the study")
    if left is None:
        return NextStep("", "import", parameters, "Import more ratings")
    if left and left >= (more_needed(evidence, assessment) or 1):
        draw = {"draw": "more"} | ({"rubric": study.rubric} if study.rubric else {})
        return NextStep("", "samples", parameters | draw, "Draw more items")
    way, label = ("runs", "Generate more") if study.benchmark in BENCHMARKS else ("import", "Import more")
    text = f"Only {left:,} more can be drawn. {label} first." if left else ""
    return NextStep(text or "All stored conversations are drawn.", way, parameters, label)
