"""Short answers to what readers ask of a criterion: where a judge fails, what it favours, who is severe.

They describe figures with their intervals and state no finding: what may be claimed, the verdict's flags say.
"""

from collections.abc import Sequence

from concord.estimate import Estimate
from concord.reports.evidence import Evidence
from concord.reports.features import FEATURES, OWN_FAMILY
from concord.reports.names import first_names, renamed
from concord.reports.overview import NextStep
from concord.reports.sections import section, unmeasured
from concord.reports.verdict import Verdict
from concord.runs.registry import BENCHMARKS
from concord.statistics.claims import more_items
from concord.statistics.figures import whom
from concord.statistics.ratings import called

WITH_ALL = (
    "ρ with the mean of all people is easier to reach than that beside one more person, where judges are "
    "compared with the other people alone."
)
"""How the two figures of one judge or panel on a page differ."""


def farthest(evidence: Evidence, criterion: str, rater: str) -> list[str]:
    """The groups of items on which a judge or panel is farthest from people, by bias and by correlation.

    The groups are those of players and of every other facet. Empty where fewer than two have an interval.
    """
    of_sections = (("players", "players"), ("scenarios", "facets"))
    tables = [section(evidence, name, criterion).get(table) for name, table in of_sections]
    worst = []
    for name, words, unit in (("bias", "bias", " points"), ("spearman", "correlation", "")):
        every = [one for table in tables if table for one in table.defined(name)]
        figures = [(row, figure) for row, figure in every if row["rater"] == rater and figure.interval]
        if len(figures) > 1:
            row, figure = max(figures, key=lambda one: abs(float(one[1])) if unit else -float(one[1]))
            worst.append(
                f"Worst by {words} of {len(figures)} groups: {row.get('facet', 'player')} {row['group']}, "
                f"{'' if unit else 'ρ '}{_figure(figure, unit, signed=bool(unit))}, {figure.n} items."
            )
    about = whom(evidence.ratings, criterion, "these")
    ends = f"; intervals are {about}" if about else ""
    return [*worst, f"The worst of many groups looks worse than it is{ends}."] if worst else []


def favours(evidence: Evidence, criterion: str) -> dict[str, str]:
    """Whether judges like long replies, and whether one favours its own family: answers by question.

    A judge or panel whose interval leaves out 0 is named with its effect beyond people; of other judges it
    is said that theirs hold 0. What the study does not let one measure of any judge is said with the reason.
    """
    table = section(evidence, "bias", criterion).get("feature_bias")
    effects = renamed(table, evidence.names).defined("effect") if table else []
    reasons = unmeasured(evidence)

    def answer(lacking: str, feature: str, liked: str, step: str = "") -> str:
        sentences, within = [], []
        for row, figure in effects:
            rater = str(row["rater"])
            if row["feature"] != feature:
                continue
            if figure.interval and not figure.interval[0] <= 0 <= figure.interval[1]:
                gives = "gives" if rater in evidence.ratings.judges else "give"
                way, effect = "more" if figure > 0 else "less", _figure(figure, " points", signed=True)
                by = step.format(float(str(row["step"]))) if step else ""
                sentences.append(f"{rater} {gives} {liked} {way} than people do: {effect}{by}.")
            elif rater in evidence.ratings.judges:
                within.append(rater)
        if within:
            hold = "its interval holds" if len(within) == 1 else "their intervals hold"
            sentences.append(f"Not shown for {', '.join(within)}: {hold} 0.")
        return " ".join(sentences) or f"Not known: {reasons.get(lacking, 'no effect is defined')}."

    step = " for {:.0f} characters more"
    return {
        "Do judges like long replies?": answer("length", FEATURES["reply_chars"], "longer replies", step),
        "Does a judge favour its own family?": answer("own family", OWN_FAMILY, "its own family"),
    }


def severest(evidence: Evidence, criterion: str) -> list[str]:
    """The most severe annotator whose interval lies above 0, and how far severity moves the means of players;
    empty without figures.
    """
    table = section(evidence, "raters", criterion)["raters"]
    people = [(str(row["rater"]), of) for row, of in table.defined("severity") if row["kind"] == "person"]
    if len(people) < 2:
        return []
    severe = [one for one in people if one[1].interval and one[1].interval[0] > 0]
    name, figure = max(severe or people, key=lambda one: float(one[1]))
    by = f"{_figure(figure, ' points')} below the average one"
    sentence = (
        f"{name} is the most severe annotator: {by}."
        if severe
        else f"The annotators may be equally severe: {name} is farthest, {by}."
    )
    return [sentence, *table.notes[:-1]]


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


def _figure(figure: Estimate, unit: str, *, signed: bool = False) -> str:
    """A figure with its unit and interval: “+0.21 points (+0.06 to +0.37)”."""
    sign = "+" if signed else ""
    ends = f" ({figure.low:{sign}z.2f} to {figure.high:{sign}z.2f})" if figure.interval else ""
    return f"{figure.value:{sign}z.2f}{unit}{ends}"
