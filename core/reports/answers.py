"""What to do next after the verdict of a criterion."""

from collections.abc import Sequence

from concord.estimate import Estimate
from concord.reports.evidence import Evidence
from concord.reports.names import first_names
from concord.reports.overview import NextStep
from concord.reports.verdict import Verdict
from concord.runs.registry import BENCHMARKS
from concord.statistics.claims import more_items
from concord.statistics.ratings import called


def more_needed(evidence: Evidence, of: Verdict) -> int | None:
    """About how many more items decide a verdict; 0 where it stands, None where that cannot be said."""
    if of.word in ("at least as good", "worse"):
        return 0
    row = next((row for row in of.rows.rows if row["rater"] == evidence.names.get(called(of.members))), {})
    gap = row.get("difference")
    return more_items(gap, evidence.options.margin) if isinstance(gap, Estimate) else None


def next_step(evidence: Evidence, of: Verdict, left: int | None, waiting: Sequence[str] = ()) -> NextStep:
    """The next step after a verdict; `left` conversations can still be drawn (None: the study was imported).

    The answers of `waiting`, who have open items, are waited for before anything more is rated. What is left
    is drawn where it is enough; else more is made, or imported where no benchmark makes it.
    """
    study = evidence.of.study
    at = {"study": study.name}
    if of.repair:
        return NextStep("", "rubrics", at, "Repair the question")
    if of.word == "at least as good":
        return NextStep("", "leaderboard", at, "See the leaderboard")
    if of.word == "worse":
        return NextStep("", "agreement", at, "See where it fails")
    if waiting:
        still = f"Answers still to come by {first_names(waiting)}."
        return NextStep(still, "samples", at, "Follow the study")
    if of.word == "undefined" and not evidence.ratings.people:
        return NextStep("", "samples", at, "Deal the study")
    if left is None:
        return NextStep("", "import", at, "Import more ratings")
    if left and left >= (more_needed(evidence, of) or 1):
        draw = {"draw": "more"} | ({"rubric": study.rubric} if study.rubric else {})
        return NextStep("", "samples", at | draw, "Draw more items")
    way, label, first = (
        ("runs", "Make more", "a run")
        if study.benchmark in BENCHMARKS
        else ("import", "Import more", "an import")
    )
    text = f"Only {left:,} more can be drawn: {first} comes first." if left else ""
    return NextStep(text or "All stored conversations are drawn.", way, at, label)
