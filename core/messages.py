"""The words of codes: the only place with sentences about them.

Of verdicts they are templates with named fields. A panel is called “the panel of 3 judges”, so that a judge
and a panel take the same verb.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from concord.codes import (
    Advice,
    AnswerLevel,
    AuditAct,
    CellPattern,
    Claim,
    Computation,
    CrowdOutcome,
    DriftOutcome,
    Exclusion,
    IntervalMethod,
    LabelDraw,
    Layout,
    PairNote,
    PlanFigure,
    PublishedMeasure,
    Reach,
    RoleReason,
    Shown,
    StreamFigure,
    StreamState,
    SystemOrder,
    Tab,
    Unknown,
    UseCondition,
    Verdict,
)
from concord.estimate import Estimate


def reach(audience: Reach, command: str) -> str:
    """Who can open links to an address that not everybody can, and how to change that.

    `command` is how Concord is called on the workspace.
    """
    if audience is Reach.MACHINE:
        return (
            "Only this machine can open these links. For annotators in your network, stop Concord, start "
            "it with "
            f"`{command} app --host 0.0.0.0`, and give this machine's address there as the address of the "
            "app for annotators. For annotators elsewhere, put it behind a proxy: docs/deploy.md says how."
        )
    return (
        "Only people in this machine's network can open these links. For annotators elsewhere, put Concord "
        "behind a proxy: docs/deploy.md says how."
    )


GLOSSARY: Mapping[str, str] = {
    "Agreement": "how closely two raters order, or name, the same items. 1 is the best, 0 is chance.",
    "Another annotator": "how closely one annotator agrees with the others. A judge should reach this.",
    "95% CI": "a range that holds the true figure in 95 of 100 studies like this. More items make it "
    "narrower.",
}
"""What the words of a verdict mean, for a reader who decides by it."""

CROWD_OUTCOMES: Mapping[CrowdOutcome, str] = {
    CrowdOutcome.AT_WORK: "at work",
    CrowdOutcome.COMPLETED: "completed",
    CrowdOutcome.MISSED_ATTENTION: "missed attention checks",
    CrowdOutcome.SCREENED_OUT: "screened out",
    CrowdOutcome.TIMED_OUT: "timed out",
}
"""How an annotator's work for a crowd platform ended."""

EXCLUSIONS: Mapping[Exclusion, str] = {
    Exclusion.CLOSED: "excluded for all judges",
    Exclusion.NO_ANSWER: "that a judge did not answer",
    Exclusion.ONE_ANNOTATOR: "that only one annotator rated",
    Exclusion.ANNOTATORS_TIE: "on which annotators tie",
    Exclusion.FEW_IN_COMMON: "of annotators with too few items in common",
}
"""Which items are excluded, after their number."""


def excluded(counts: Mapping[Exclusion, int]) -> str:
    """How many rated items a figure excludes, and why; “” for none."""
    return ", ".join(f"{count:,} {EXCLUSIONS[code]}" for code, count in counts.items() if count)


TABS: Mapping[Tab, str] = {
    Tab.JUDGES: "Which judge?",
    Tab.PANELS: "Would a cheaper panel do?",
    Tab.FAILS: "Where does it fail?",
    Tab.FAVOURS: "What does it favour?",
    Tab.RATERS: "Who rated how?",
}
"""The tabs of the page Agreement."""

UNMEASURED: Mapping[AnswerLevel, str] = {
    AnswerLevel.TWO: "its answers are two already, which section glance compares",
    AnswerLevel.CATEGORIES: "its answers are categories, which have no order",
}
"""Why a section has no figures on answers of this kind, as the end of a sentence."""

INTERVALS: Mapping[str, str] = {
    IntervalMethod.PADDED: "Student's t, padded",
    IntervalMethod.PERCENTILE: "Percentile, as in papers",
}
"""How intervals of means are found, by code."""

PUBLISHED_MEASURES: Mapping[str, str] = {
    PublishedMeasure.ALPHA: "Krippendorff's alpha of annotators, ordinal",
    PublishedMeasure.PANEL: "Panel: ρ with annotators' mean",
    PublishedMeasure.BEST_JUDGE: "Best single judge: ρ with annotators' mean",
    PublishedMeasure.AGAINST: "ρ with another benchmark's ranking",
}
"""What published figures measure, by code."""

STREAM_FIGURES: Mapping[str, Mapping[StreamFigure, str]] = {
    "two_answers": {
        StreamFigure.AGREEMENT: "equal answers",
        StreamFigure.JUDGE_MEAN: "judge's pass rate",
        StreamFigure.CORRECTED_MEAN: "corrected pass rate",
    },
    "scores": {
        StreamFigure.AGREEMENT: "closeness",
        StreamFigure.JUDGE_MEAN: "judge's mean",
        StreamFigure.CORRECTED_MEAN: "corrected mean",
    },
}
"""What is followed of a stream, of two answers and of scores."""

STREAM_STATES: Mapping[StreamState, str] = {
    StreamState.WITHIN: "within",
    StreamState.OUTSIDE: "has left it",
    StreamState.CHANGED: "has changed",
    StreamState.INCONCLUSIVE: "inconclusive",
    StreamState.NO_RANGE: "no range",
}
"""Where a figure of a stream is, with the range that it should keep to."""

PATTERNS = {
    CellPattern.OUT_OF: "a number out of another",
    CellPattern.NAMED: "an answer after its name",
    CellPattern.BRACKETED: "an answer in brackets or quotes",
    CellPattern.UNIT: "a number with its unit",
    CellPattern.SIGNS: "a number of signs",
    CellPattern.CALL: "a value as Python writes it",
    CellPattern.OBJECT: "the score in a JSON object",
    CellPattern.MEMBER: "a member of an enumeration",
    CellPattern.NUMBERED: "the number beside a word",
    CellPattern.REASONED: "the answer before its reason",
    CellPattern.SET: "a set of labels in any order",
}
CRITERIA_OF_ONE = (
    "{columns} are criteria that one rater answered, so there is no second rater to compare. If annotators "
    "answered, check "
    "the judge's file with --labels {file}. If a judge did, add the annotators' file, with the same columns:"
)
"""What is asked of a file that holds one rater's answers on several criteria."""
CRITERIA_SPELLED = (
    "annotators answer in {people}, judges in {judges}: are some of these one criterion in other words? "
    "Compare one at a time, such as:"
)
"""What is asked of columns whose names say several criteria, each in the words of annotators or judges."""
ONLY_JUDGES = (
    "the column {column} names judges, and no annotators answer. Add annotators' answers as a column, or "
    "as rows "
    "with the annotator's name in {column}."
)
"""What is said of a table in which a column names the judge of each row, and nobody else answers."""
RATERS_OR_CRITERIA = (
    "whose answers are {columns}? If each column is a rater, say which are annotators and judges, such as "
    "{raters}. "
    "If they are criteria that one rater answered, add the annotators' file, with the same columns:"
)
"""What is asked of columns whose names say neither whose answers they hold nor what was asked."""
COMPUTATIONS = {
    Computation.MEAN: "mean",
    Computation.MEDIAN: "median",
    Computation.SUM: "sum",
    Computation.MINIMUM: "minimum",
    Computation.MAXIMUM: "maximum",
    Computation.MAJORITY: "majority",
    Computation.DIFFERENCE: "difference",
    Computation.EQUALITY: "comparison",
    Computation.SCALE: "other scale",
    Computation.WEIGHTED: "weighted mean",
}
LAYOUTS = {
    Layout.OWN: "Concord's own, a rating a row",
    Layout.RATING_ROWS: "a rating a row",
    Layout.RATER_ROWS: "a row an item and rater, a column a criterion",
    Layout.CRITERION_ROWS: "a row an item and criterion, a column a rater",
    Layout.TRANSPOSED: "a row a rater, a column an item",
    Layout.MOLTEN: "a row a cell of another table",
}
PAIR_NOTES = {
    PairNote.NAMES: "answers that name {one} are A, those that name {other} B",
    PairNote.SIDES: "a pair: {item} with the same two in {one} and {other}, in either order",
    PairNote.ORDER: "shown first: {column}",
    PairNote.PLACES: "{columns} name places: answers to swapped pairs are turned round",
    PairNote.ANSWERS: "{columns} name the same two in either order (if they name places, write first and "
    "second)",
    PairNote.SECOND_PLACES: "{second}: {first} in the other order; its answers name places and are turned "
    "round",
    PairNote.SECOND_ANSWERS: "{second}: {first} in the other order",
    PairNote.ONE_HOT: "{column}: read from {columns}",
    PairNote.COPY: "{copy}: {column} by place, excluded",
}
"""What was read of pairs."""
CHANGES = (
    "{judge}: {number} of {n} preferences ({share:.0%}) change with the order of the pair and count as ties."
)
"""How often a judge's preference changes with the order."""
UNSTABLE = "{judge} is unstable on {number} of {n} items: its runs give different answers."
"""On how many items the runs of a judge differ."""
SHOWN_FIRST = "the answer shown first"
"""What a judge chooses by position, where the order of each pair is known."""
REASONS = {
    RoleReason.NAME_ABOUT: "its name describes an answer, such as a reason",
    RoleReason.NAME_COMPUTED: "its name says that it is computed from other columns",
    RoleReason.OTHER_VALUES: "its values differ from those of the answers",
    RoleReason.TEXT_VALUES: "its cells are texts",
    RoleReason.LIKE_INDEX: "it numbers the rows or is a time",
    RoleReason.EMPTY: "it is empty",
    RoleReason.CONSTANT: "all its cells are equal",
}


def listed(names: Sequence[str], most: int = 8) -> str:
    """Names after commas; of many the first."""
    return ", ".join([*names[:most], *(["…"] if len(names) > most else [])])


def computed(column: str, how: Computation, others: Sequence[str]) -> str:
    """That a column is computed from others, and is therefore no rater."""
    if how is Computation.SCALE:
        return f"{column} has the answers of {listed(others)} on another scale and is excluded"
    return f"{column} is the {COMPUTATIONS[how]} of {listed(others)} and is excluded"


def failed_beside(rater: str, flag: str, count: int, total: int) -> str:
    """That answers stand beside a sign that they failed."""
    answers = "answer" if total == 1 else "answers"
    stand = "stands" if count == 1 else "stand"
    return f"{count} of {total} {answers} of {rater} {stand} next to an error in {flag}"


def zeros(rater: str, count: int, total: int) -> str:
    """That one rater gives 0 where no other rater does."""
    return (
        f"{rater} is the only rater who gives 0 ({count} of {total} answers). If it means a missing "
        "answer, add --missing 0"
    )


def equal_names(place: str, name: str, command: str = "") -> str:
    """That two columns have one name, with what to type to rename one where that is known."""
    remedy = f"Rename one of them: {command}" if command else "Rename one of them."
    return f"{place}: two columns are called {name}. {remedy}"


def sentinel(
    rater: str, value: float, count: int, total: int, low: float, high: float, flag: str = ""
) -> str:
    """The question whether a number stands for no answer."""
    times = "once" if count == 1 else f"{count} times"
    beside = f", next to an error in {flag}" if flag else ""
    return (
        f"{rater} gives {value:g} {times} in {total} answers{beside}; all other raters answer {low:g} to "
        f"{high:g}. "
        f"Is {value:g} a missing answer? If so, add --missing {value:g}. If not, add --missing none."
    )


def not_rater(column: str, reason: RoleReason, option: str) -> str:
    """Why a column was not taken for a rater's answers, with what to type where it is one."""
    return f"{column} is not read as answers because {REASONS[reason]}: {option} {column}"


def settled(name: str, settings: Mapping[str, Any], asks: int | None = None) -> str:
    """What a handshake settled on for a model, in a line: `settings` are those that differ from its entry.

    `asks` are the requests that the handshake took; None where it was made in an earlier run.
    """
    if not settings:
        return f"“{name}”: its endpoint takes requests as they are."
    took = f" ({asks} requests to find out)" if asks and asks > 1 else ""
    return (
        f"“{name}”: {'; '.join(forms(settings))}{took}. `concord doctor {name} --write` puts this into "
        "models.toml."
    )


def forms(settings: Mapping[str, Any]) -> list[str]:
    """How requests are sent under settings of models.toml that a handshake settled on."""
    params = settings.get("params", {})
    without = [key for key, value in params.items() if value == "unset"]
    without += ["seed"] if settings.get("seed") is False else []
    said = [f"sent without {_listed(without)}"] if without else []
    added = {key: value for key, value in params.items() if value != "unset"}
    said += [f"sent with {key} = {json.dumps(value)}" for key, value in added.items()]
    said += [f"{other} in place of {own}" for own, other in settings.get("rename", {}).items()]
    said += [f"{key} at most {value:g}" for key, value in settings.get("at_most", {}).items()]
    said += [f"{key} at least {value:g}" for key, value in settings.get("at_least", {}).items()]
    if settings.get("system") == "merge":
        said.append("instructions in the first message of the user")
    if features := settings.get("schema_without"):
        said.append(f"schemas without {_listed([feature.replace('_', ' ') for feature in features])}")
    if replies := settings.get("replies"):
        asked = {"json_object": "JSON without a schema", "text": "JSON by the prompt alone"}
        said.append(asked.get(replies, f"replies by {replies}"))
    return said


def _listed(names: Sequence[str]) -> str:
    *most, last = names
    return f"{', '.join(most)} and {last}" if most else last


def entry_changed(path: Path, name: str, changes: Sequence[str], others: Sequence[str] = ()) -> str:
    """An entry of models.toml, or what its endpoint takes, is another than results were made with."""
    also = f" So has the entry of {', '.join(others)}." if others else ""
    return (
        f"The entry of “{name}” in {path} has changed since results were stored under this name: "
        f"{'; '.join(changes)}.{also} Results of two configurations would be mixed. Restore the old setting, "
        "or give the entry another name there and run under that name."
    )


def forms_refused(where: str | None, name: str, reason: str, said: str, *, asks: int) -> str:
    """An endpoint refuses a request in every form; `reason` is its status, `said` its words."""
    return (
        f"{where or OPENAI} refused the request to “{name}” in every form that Concord knows ({asks} asked; "
        f"{reason}): {said or NO_WORDS}. Set what it takes in models.toml (params, rename, replies, system: "
        f"docs/endpoints.md), then run `concord doctor {name}`."
    )


def refused_now(where: str | None, name: str, reason: str, said: str) -> str:
    """An endpoint refuses a request that it took before; `reason` is its status, `said` its words."""
    return (
        f"{where or OPENAI} now refuses a part of the request to “{name}” that it took before ({reason}): "
        f"{said or NO_WORDS}. Its work has stopped. `concord doctor {name} --again` finds out "
        "what it takes now."
    )


OPENAI = "The OpenAI endpoint"
NO_WORDS = "no message"


def form_changed(name: str, changes: Sequence[str]) -> str:
    """An endpoint takes requests only in another form than the results of the model were made with."""
    return (
        f"The endpoint of “{name}” no longer takes requests as it did when results were stored under this "
        f"name: {'; '.join(changes)}. Results of two configurations would be mixed. Give the entry another "
        "name in models.toml and run under that name."
    )


DRIFTS: Mapping[DriftOutcome, str] = {
    DriftOutcome.UNCHANGED: "scores the same as before",
    DriftOutcome.MOVED: "has moved",
    DriftOutcome.INCONCLUSIVE: "is not shown to score the same as before",
    DriftOutcome.TOO_FEW: "cannot be compared",
}
"""What is said of a judge that judged again."""

DRIFT_OUTCOMES: Mapping[str, str] = {
    DriftOutcome.UNCHANGED: "same",
    DriftOutcome.MOVED: "moved",
    DriftOutcome.INCONCLUSIVE: "inconclusive",
    DriftOutcome.TOO_FEW: "too few items",
}
"""The same, in a table."""

VERDICTS: Mapping[str, str] = {
    Verdict.AS_GOOD: "as good",
    Verdict.SLIGHTLY_BELOW: "slightly below",
    Verdict.WORSE: "worse",
    Verdict.INCONCLUSIVE: "inconclusive",
    Verdict.TOO_FEW: "too few items",
    Verdict.UNDEFINED: "undefined",
}
"""A verdict in a table."""

SHOWN: Mapping[str, str] = {Shown.SHOWN: "differs", Shown.NOT_SHOWN: "not shown to differ"}
"""Whether a difference is shown, in a table."""
GROUPS_DIFFER: Mapping[bool, str] = {
    True: "Sorted by p. The largest of many differences is always large, so one that is “not shown to "
    "differ” may be chance.",
    False: "No difference between groups is shown. The largest of many differences is always large, so each "
    "of these may be chance.",
}
"""What the largest differences between groups say, by whether one of them is shown."""

MEASURES: Mapping[str, str] = {
    "wrong": "answers unlike annotators'",
    "distance": "distance from annotators (points)",
    "favours": "score minus annotators' mean (points)",
}
"""What differs between groups."""

GLANCE_RULE = (
    "“As good”: at most {margin:g} lower, and at most half of another annotator's agreement lower. The "
    "first verdict goes by the interval shown. Those of the other rows hold all together, which takes more "
    "items."
)
"""How verdicts are given, for below a table."""

PANEL = "the panel of {n} judges"
"""What a panel is called within a sentence."""

FINDINGS: Mapping[Verdict, str] = {
    Verdict.AS_GOOD: "{judge} is as good as another annotator.",
    Verdict.SLIGHTLY_BELOW: "{judge} is slightly below another annotator, by less than the {margin} that "
    "counts as equal.",
    Verdict.WORSE: "{judge} is worse than another annotator, and may be so by more than the {margin} that "
    "counts as equal.",
    Verdict.INCONCLUSIVE: "{judge} is inconclusive: it may be as good as another annotator, or worse.",
    Verdict.TOO_FEW: "{judge} cannot be compared with another annotator yet: {why}.",
    Verdict.UNDEFINED: "{judge} cannot be compared with another annotator: {why}.",
}
"""A verdict as a sentence."""

FINDING_CLEARLY_WORSE = (
    "{judge} is worse than another annotator, by more than the {margin} that counts as equal."
)
FINDING_ANY_SIDE = "{judge} is inconclusive: it may be better than another annotator, or worse."
FINDING_NOT_SURE = (
    "{judge} is inconclusive: a verdict needs more certainty than the 95% interval of the difference."
)
FINDING_ONE_DECIDES = (
    "no verdict on {judge} holds: without {decided_by} the difference is {difference:+.2f}, and {judge} is "
    "not shown to be as good as another annotator."
)
FINDING_ONE_DECIDES_WORSE = (
    "no verdict on {judge} holds: without {decided_by} the difference is {difference:+.2f}, and {judge} is "
    "not shown to be worse than another annotator."
)
FINDING_ONE_DECIDES_UNDEFINED = (
    "no verdict on {judge} holds: without {decided_by} it cannot be compared with another annotator."
)
FINDING_Z = " z = {z:+.1f}: its agreement is {z:+.1f} standard deviations from annotators' mean agreement."
FINDING_TURNED = "{judge} orders the items in reverse of annotators."
FINDING_CHANCE = "{judge} is worse than another annotator, and is not shown to beat chance."
FINDING_CONSTANT = "{judge} answers {answer} to every item, so it cannot distinguish items."
FINDING_COPY = "{judges} {give} the same answers as one annotator, all or nearly all."
FINDING_DISAGREE = (
    "annotators are not shown to agree with each other: another annotator reaches {symbol} {person}."
)
FINDING_DISAGREE_SLIGHT = (
    "annotators hardly agree beyond chance: another annotator reaches {symbol} {person}."
)
FINDING_NO_BETTER = " {judge} is not shown to beat chance either."
FINDING_ALONE = "{judge} agrees with {whom}: {figure}."
FINDING_WEAK = "{judge} agrees weakly with {whom}: {figure}."
FINDING_NO_CHANCE = "{judge} is not shown to agree with {whom} better than chance: {figure}."
FINDING_ROUND_ALONE = "{judge} orders the items in reverse of {whom}: {figure}."
NO_JUDGE = "No judge can be compared with annotators on {criterion}."

USE: Mapping[Verdict, str] = {
    Verdict.AS_GOOD: "Use {judge} on {criterion}: it agrees with annotators as well as another annotator "
    "does.",
    Verdict.SLIGHTLY_BELOW: "Use {judge} on {criterion} if a small loss is acceptable: it agrees with "
    "annotators slightly less than another annotator does, by less than the {margin:g} that counts as "
    "equal.",
}
"""The advice to use a judge, by its verdict."""
USE_BETTER = "Use {judge} on {criterion}: it agrees with annotators better than another annotator does."
USE_IN_ORDER = (
    "Use {judge} on {criterion} for order alone: it orders items as well as another annotator does, and "
    "scores "
    "{points:.1f} points {side}."
)
USE_ANY = "Use {judges} on {criterion}: each agrees with annotators as well as another annotator does."
USE_ALONE = (
    "{Judge} is as good as another annotator, too; {one} alone agrees better on these items ({figures})."
)
ALSO_GOOD = "{judges} alone {is_} as good, too."
OTHERS_GOOD = "{judges} {is_} as good as another annotator, too."
REST: Mapping[Verdict, str] = {
    Verdict.INCONCLUSIVE: "{Judge} is inconclusive; label {more} more items{by} to decide.",
    Verdict.WORSE: "{Judge} is worse than another annotator.",
    Verdict.TOO_FEW: "{Judge} has too few items.",
    Verdict.UNDEFINED: "{Judge} cannot be compared.",
}
"""What is said of the panel where one of its judges is used in its place."""

ADVICE: Mapping[Advice, str] = {
    Advice.KEEP_ANNOTATORS: "Do not replace annotators by {judge} on {criterion}: it agrees with them less "
    "than another annotator does.",
    Advice.DO_NOT_USE: "Do not use {judge} on {criterion}. Look at its prompt and at how its replies are "
    "read, or take another judge.",
    Advice.LABEL_MORE: "Label {more} more items{by} before you decide on {judge} on {criterion}.",
    Advice.ADD_ANNOTATOR: "Have a second annotator rate {same}: that shows what a judge can reach on "
    "{criterion}.",
    Advice.NAME_ANNOTATORS: "Import annotators' ratings with their names to compare {judge} with another "
    "annotator.",
    Advice.REPAIR_QUESTION: "Repair the question {criterion} or its guidelines before you label more: "
    "another annotator reaches only {symbol} {person}.",
    Advice.CHECK_COPY: "First check the {where} {judges}: {give} the same answers as {copied_from}. Is one "
    "a copy, or did the annotator see the judge's answers? If so, no figure here is valid.",
    Advice.CHECK_DIRECTION: "Check the scale of {criterion} first: is it reversed in the judge's prompt or "
    "in the table? Correct it before you use these scores.",
    Advice.CHECK_ANNOTATOR: "Look at the ratings of {decided_by} first: without them the verdict on {judge} "
    "on {criterion} changes. Exclude {decided_by} with a reason, or have a further annotator rate the same "
    "{items} items.",
    Advice.EXCLUDE_JUDGE: "Exclude {slight} from the panel on {criterion}: {slight} hardly {agree} with "
    "annotators. Then check {others} alone.",
    Advice.NONE: "",
}
"""What to do, but for `USE`."""

ABOUT = "about {n:,}"
MORE_THAN = "more than {n:,}"
MANY = "many"
STOPPED_BY_SIGNAL = "Stopped by a signal; calls in flight were finished."
EACH_TWO = "each by two annotators"
EACH_BOTH = "each by both annotators"
EACH_ALL = "each by all {n} annotators"
EACH_SOME = "each by as many annotators as now"
"""Who rates more items: every annotator, or so many of them."""
SAME_ITEMS = "the same {n} items"
ITEMS_PART = "{n} of the same {items} items, drawn at random"
"""Which items a second annotator rates."""
LABEL_VARIED = "Label more, and more varied, items{by} before you decide on {judge} on {criterion}."
LABEL_RARER = (
    "Label {more} more items{by} so that at least {least} are “{answer}”: {n} of {items} are so far, "
    "too few to decide on {judge} on {criterion}."
)
RARER_TOO = (
    "Label {more} more items as well{by} so that at least {least} are “{answer}”: {n} of {items} are so far."
)
FEW_TOO = "Label {more} more items as well{by} since {items} are too few."
FIND_RARER = (
    "To find “{answer}” faster, label more of the items on which {one_judge} says it, which `concord plan "
    "FILE --draw by_answer --out to_label.csv` draws. Then check with `--strata {one_judge}`, which weighs "
    "them."
)
STAYS: Mapping[Verdict, str] = {
    Verdict.AS_GOOD: "If the difference stays at {difference}, the larger sample will show “as good”.",
    Verdict.WORSE: "If the difference stays at {difference}, the larger sample will show “worse”.",
}
"""What more items would show, should nothing change."""
OR_ANNOTATORS = "or add annotators"
INSTEAD = "Use {judges} in its place."
LOOK_AGAIN = "Then check the larger table with `--look {look}`, which allows for looking more than once."
SHARE = "Annotators answer {answer} on {share} of {items}{excluded}."
CORRECTED_SHARE = "Share on all {n} items, corrected by {judge}: {share}, {basis}."
SHARE_BASIS: Mapping[bool, str] = {True: "by weight", False: "if the labelled items are a random sample"}
"""What a corrected share rests on, by whether labels are weighted."""
CORRECTED = "The leaderboard corrects judges by annotators' ratings."
SECOND_NEEDED = "Have a second annotator rate {same}: with one annotator, little can be decided."
SECOND_SHOWS = "A second annotator on {same} shows whether the judge or the question is at fault."
EXCLUDE = "Exclude {judge} from the panel: without it the panel agrees with annotators better."
EXCLUDE_SLIGHT = "Exclude {judge} from panels: it hardly agrees with annotators."
FAILS_ON = "{judge} fails on {failing}: keep annotators there."
CHECK_REST = (
    "Do not replace annotators by {judge} on the other items of {criterion} before you check these apart: "
    "over all items it agrees with annotators less than another annotator does."
)
CHECK_REST_TOO = "Check the other items apart."

CONDITIONS: Mapping[UseCondition, str] = {
    UseCondition.CORRECT_LEVEL: "Correct the level of {judges} before you use scores, not only their order.",
    UseCondition.EXCEPT_GROUP: "Keep annotators on {failing}, where {judge} fails.",
    UseCondition.FILL_GAPS: "Run it again on the items without a rating, or have annotators rate them.",
}
"""What use is tied to."""

FIGURES = (
    "{Who} {symbol} {judge}, another annotator {symbol} {person}; difference {difference}, {n} items{about}."
)
MARGIN = "“As good” means: {margin}. “Another annotator” is one of yours, compared with the others."
WITHIN = "shown to be at most {margin:g} lower"
WITHIN_HALF = "shown to be at most {margin} lower, half of another annotator's agreement"
LOOK = (
    "This is look {look} of {looks}: the verdict uses a {level:.1%} interval{interval}, so that all looks "
    "together are wrong in about 5% of simulated studies."
)
JOINT_VERDICTS = (
    "Verdicts on {n} further judges or panels use {level:.2%} intervals, wider than the 95% CI of their "
    "differences, because several are tested at once. This changes the verdict on {judges}."
)
LOOKS_SPENT = "All {looks} looks are used: no further look at these items can decide. Draw a new sample."

NO_PREFERENCE = "No judge is shown to prefer replies for their length{family}."
SINGLE_ROWS = (
    "Intervals are for single rows: {beyond} of {rows} exclude 0, and 1 of 20 does by chance. A preference "
    "is stated only where p is at most {share:g}, adjusted for several judges, on the judge's own scale."
)
"""Why a table of effects may have intervals beyond 0 where no preference is stated."""
OWN_FAMILY_COMPARED = " or models of its own family (compared: {judges})"
"""What is said where no preference of a judge is shown."""
REASONABLE = "Reviewers find {share:.0%} of {n:,} judgements reasonable (95% CI {low:.0%} to {high:.0%})."
REASONABLE_CHOSEN = (
    "Reviewers find {reasonable:,} of these {n:,} judgements reasonable. They were chosen because something "
    "seemed wrong: this is not the judges' rate."
)
UNREASONABLE = {
    "too_high": "too high: {n:,}",
    "too_low": "too low: {n:,}",
    "wrong": "wrong: {n:,}",
}
"""What reviewers find of judgements, in a sentence."""

UNKNOWNS: Mapping[Unknown, str] = {
    Unknown.ONE_DECIDES: "",
    Unknown.ONE_ANNOTATOR: "Unknown: how far annotators agree with each other, because only one rated. A "
    "judge cannot be expected to agree more than that.",
    Unknown.NOT_COMPARED: "Unknown: how far another annotator would agree: {why}.",
    Unknown.PRELIMINARY: "Preliminary: {unfinished:,} assigned ratings are still open. Wait for them before "
    "you decide, or close the study; this look is not counted.",
    Unknown.OTHER_ANNOTATORS: "Unknown: whether this holds for annotators other than these {n}.",
}
"""What is not known."""

FLAGS: Mapping[str, str] = {
    Claim.FEW: "{n} rated by annotators and a judge: all figures are imprecise.",
    f"{Claim.RARE}/one": "The annotator answers “{answer}” to {n} of {items}. {Part} rests on these alone.",
    f"{Claim.RARE}/most": "Most annotators answer “{answer}” to {n} of {items}. {Part} rests on these alone.",
    f"{Claim.LEVEL}/share": "{Judge} says “{answer}” {size:.0f} percentage points {side} often than "
    "annotators ({low:.0f} to {high:.0f}).",
    f"{Claim.LEVEL}/points": "{Judge} scores {size:.2f} points {side} than annotators ({low:z.2f} to "
    "{high:z.2f}).",
    f"{Claim.GROUP}/wrong": "{judge} differs from {inside:.0%} of annotators' answers on {where} ({n:,} "
    "items), from {outside:.0%} elsewhere (p {p}).",
    f"{Claim.GROUP}/distance": "{judge} differs from annotators by {inside:.2f} points on {where} ({n:,} "
    "items), by {outside:.2f} elsewhere (the largest of {compared} differences, p {p}).",
    f"{Claim.GROUP}/points": "Compared with annotators, {judge} {favours} {where} by {size:.2f} points "
    "({n:,} items; the largest of {compared} differences, p {p}).",
    f"{Claim.GROUP}/share": "Compared with annotators, {judge} {favours} {where}: “{answer}” to {size:.0%} "
    "of the items {side} ({n:,} items; the largest of {compared} differences, p {p}).",
    f"{Claim.LENGTH}/points": "{judge} prefers {which} replies: {size:.2f} points more than annotators for "
    "{step} characters {side}.",
    f"{Claim.LENGTH}/share": "{judge} prefers {which} replies: “{answer}” to {size:.0%} of the items more "
    "than annotators for {step} characters {side}.",
    f"{Claim.IGNORES_LENGTH}/points": "{judge} does not reward {which} replies as annotators do: for {step} "
    "characters {side} they give {theirs:.2f} points more, it gives {own:+z.2f}.",
    f"{Claim.IGNORES_LENGTH}/share": "{judge} does not reward {which} replies as annotators do: for {step} "
    "characters {side} they say “{answer}” to {theirs:.0%} of the items more, it to {own:+.0%}.",
    Claim.COMPRESSES: "{judge} uses a narrower range than annotators: its scores spread {ratio:.2f} times as "
    "far. Where annotators differ by 1 point, it differs by {slope:.2f} ({low:.2f} to {high:.2f}). Give it "
    "an example for each score.",
    Claim.POSITION: "{judge} chooses {answer} in {judged:.0%} of the pairs, annotators in {rated:.0%}: "
    "{size:+.0f} percentage points ({low:+.0f} to {high:+.0f}) by position. Have it judge each pair in both "
    "orders.",
    f"{Claim.POSITION}/orders": "{judge} chooses {answer} in {judged:.0%} of its answers, annotators in "
    "{rated:.0%}: {size:+.0f} percentage points ({low:+.0f} to {high:+.0f}) by position. Count a preference "
    "only where both orders agree.",
    f"{Claim.OWN_FAMILY}/points": "Compared with annotators, {judge} favours models of its own family by "
    "{size:.2f} points ({low:.2f} to {high:.2f}).",
    f"{Claim.OWN_FAMILY}/share": "Compared with annotators, {judge} favours models of its own family: "
    "“{answer}” to {size:.0%} of the items more ({low:.0%} to {high:.0%}).",
    Claim.TURNED_ROUND: "{judge} orders the items in reverse of annotators: {figures}. Check the direction "
    "of its scale.",
    f"{Claim.COPY}/rho": "{judge} repeats the answers of {about} on {figures}. It agrees with annotators' "
    "mean because {about} is part of that mean.",
    f"{Claim.COPY}/only": "{judge} gives the same answers as {about} to all {n} items. Two raters who "
    "agree nearly perfectly (κ = {kappa:g}) would do so with probability {p}.",
    Claim.EQUAL: "{judge} gives the same answers as {about} to all {n} items. Two careful raters may do so: "
    "this does not show that one is a copy.",
    Claim.ALONE: "{about} does not agree with the other annotators: {symbol} {own} on {criterion}; the "
    "others reach {others} among themselves.",
    f"{Claim.CONSTANT}/judge": "{judge} gives every item the same answer ({answer}) on {criterion}: "
    "agreement is undefined.",
    f"{Claim.CONSTANT}/several": "{n} annotators give one and the same answer to all their items on a "
    "criterion. They are excluded from its correlations and its held-out comparison.",
    f"{Claim.CONSTANT}/annotator": "{about} gives {answer} to {figures}. A constant has no correlation: "
    "correlations and the held-out comparison exclude {about}.",
    f"{Claim.ONE_ANSWER}/judge": "{judge} gave {share:.0%} of the items the same score ({answer}) on "
    "{criterion}, annotators {others:.0%}: its agreement there says little.",
    f"{Claim.CARELESS}/annotator": "{about} answered {answer} on {criterion} to {share:.0%} of {n} items; "
    "the other annotators to {others:.0%} of them.",
    f"{Claim.LACKS_RATINGS}/side": "{judge} lacks ratings of {counts}, more often of the {which} ones: on "
    "{criterion}, annotators' mean is {missing:z.2f} on items it lacks and {rated:z.2f} on items it "
    "rated (p {p}). Its figures cover only the items that it rated.",
    Claim.INCOMPLETE: "{judge} has no rating of {counts}.",
    f"{Claim.SCALE}/of": "Scale of {criteria}: {note}.",
    f"{Claim.SCALE}/note": "{criteria}: {note}.",
    Claim.WEAKENS_PANEL: "{judge} weakens the panel: without it the panel reaches {symbol} {without}, with "
    "it {together} (difference {low:+.2f} to {high:+.2f}).",
    Claim.GOLD: "{about} answered {share} gold items correctly, fewer than {least:.0%}.",
    Claim.REPEATS: "{about} repeated its answers on {share} repeat items (within a quarter of the scale), "
    "fewer than {least:.0%}.",
    Claim.ATTENTION: "{about} missed {n} of {items} attention checks.",
    Claim.TOO_FAST: "{about} was faster than the replies can be read on {n} of {items} items ({speed:g} "
    "characters a second).",
}
"""A flag, by its claim, or by its claim and the kind of wording."""


def partial_judge(name: str, rated: int, of: int, lacks: int, command: str) -> str:
    """That a judge rated too few of the items that others rated, and the remedy, code in backticks."""
    items = "1 item is" if lacks == 1 else f"{lacks:,} items are"
    sentence = f"{name} rated {rated:,} of {of:,} items. It is excluded from the answer: {items} missing."
    return sentence + (f" Let it rate the rest: `{command}`." if command else "")


PLAN_FIGURES: Mapping[PlanFigure, str] = {
    PlanFigure.AGREEMENT: "agreement",
    PlanFigure.RATE: "corrected rate or mean",
    PlanFigure.SENSITIVITY: "sensitivity",
    PlanFigure.SPECIFICITY: "specificity",
    PlanFigure.ANNOTATOR: "as good as another annotator",
}
"""What labels are planned for."""

SYSTEM_ORDERS: Mapping[SystemOrder, str] = {
    SystemOrder.HIGHER: "higher",
    SystemOrder.LOWER: "lower",
    SystemOrder.INCONCLUSIVE: "inconclusive",
    SystemOrder.UNCORRECTED: "not corrected",
}
"""How the first of two systems compares with the second."""

LABEL_DRAWS: Mapping[LabelDraw, str] = {
    LabelDraw.RANDOM: "at random",
    LabelDraw.BY_ANSWER: "by the judge's answer",
}
"""How the rows to label are drawn."""


def request_refused(where: str, model: str, status: int, words: str) -> str:
    """An endpoint refuses one request, and answers others."""
    told = f" ({status})" if status not in (0, 200) else ""
    return f"{where} refused this request to “{model}”{told}: {words}"


def models_stopped(reasons: Mapping[str, str], *, others: bool) -> str:
    """Why no more calls to some models of a run were made."""
    went_on = " The work of the other models was done." if others else ""
    return " ".join(reasons.values()) + went_on


def waits_too_long(seconds: float, longest: float) -> str:
    """An endpoint asks to wait for longer than a run does."""
    return f" It asks to wait {seconds:,.0f} s; Concord waits at most {longest:,.0f} s. Run again after that."


def lake_figure(label: str, *, two: bool) -> str:
    """What is estimated of a lake."""
    return f"Share of yes on {label}" if two else f"Mean of {label}"


def lake_answer(figure: str, people: Estimate, judges: Estimate, judge: str) -> str:
    """What people would say of a whole lake, and what the judge alone says."""
    alone = f"{judge} alone: {judges:.3f} on {judges.n or 0:,} judgements"
    if people.value is None:
        return f"{figure}: no estimate, because {people.reason}. {alone}."
    ends = "" if people.low is None else f" (95% CI {people.low:.3f} to {people.high:.3f})"
    return (
        f"{figure}, as annotators would rate: {people.value:.3f}{ends}, corrected by {people.n:,} items. "
        f"{alone}."
    )


def lake_failed(failed: int, judged: int, refusals: int) -> str:
    """What share of judgements failed."""
    share = failed / (failed + judged)
    refusals_text = f", {refusals:,} of them refusals" if refusals else ""
    return (
        f"{failed:,} judgements failed ({share:.1%}{refusals_text}) and are excluded: the estimate covers "
        "judged items only."
    )


def lake_lost(count: int) -> str:
    """How many items of people have no judgement in the lake."""
    return f"{count:,} items rated by annotators have no judgement in the files and are excluded."


def lake_assumptions(study: str, n: int, *, weighted: bool, judge: str) -> tuple[str, ...]:
    """What an estimate of a lake assumes."""
    draw = (
        "Each item is weighted by the number of conversations that it represents in its stratum."
        if weighted
        else "It assumes that the rated items are a random sample of the files."
    )
    return (
        f"{judge}'s answers to all conversations, corrected by the {n:,} items of the study “{study}” that "
        "annotators rated (prediction-powered inference, PPI++). Each group is corrected by its own items.",
        f"{draw} It estimates what these annotators would answer on conversations that the judge could rate.",
    )


def lake_unlike(feature: str, errors: float) -> str:
    """That a lake differs from the sample of it."""
    return (
        f"The files and the sample differ in {feature} by {errors:.1f} standard errors. The sample may not "
        "be random; draw another one."
    )


def lake_no_value(column: str, count: int) -> str:
    """That rows have no value of a group."""
    return f"{count:,} judgements have no {column}."


def lake_several_configurations(count: int) -> str:
    """That a judge's answers were given by several configurations."""
    return f"The judge judged in {count} configurations with the same requests."


def lake_several_models(models: Sequence[str]) -> str:
    """That an endpoint reported several models."""
    return f"The endpoint reported several models: {listed(models)}."


def lake_each_alone(count: int, wider: float) -> str:
    """How intervals of several differences are to be read."""
    if count < 2:
        return "The interval is for two independent groups of items (Zou and Donner 2008)."
    return (
        f"Each interval holds for its difference alone (Zou and Donner 2008). For all {count} together, "
        f"make them {wider:.2f} times as wide."
    )


def lake_limit(limit: float, cost: float) -> str:
    """That a job on files has spent its limit."""
    return (
        f"Stopped at the spending limit of {limit:g} after spending {cost:.2f}. Raise --max-cost to continue."
    )


def part_is_enough(
    part: int,
    log: int,
    labels: int,
    half_widths: tuple[float, float],
    prices: tuple[float, float],
    *,
    percent: bool,
) -> str:
    """That judging a random part of a log is enough; figures are of the part and of all."""
    shape = ".2%" if percent else ".3f"
    cost = f", for {prices[0]:,.2f} in place of {prices[1]:,.2f}" if prices[1] else ""
    return (
        f"Judge a random {part:,} of the {log:,} rows and correct them by {labels:,} labels: "
        f"± {half_widths[0]:{shape}}, against ± {half_widths[1]:{shape}} by judging all{cost}."
    )


def database_updated(database: Path, copy: Path) -> str:
    """That a database of an earlier form was updated, and where its copy is."""
    return (
        f"{database} was of an earlier Concord and is updated. A copy of it as it was is {copy.name}, in the "
        "same folder: an earlier Concord reads the copy only."
    )


AUDIT_ACTS: Mapping[AuditAct, str] = {
    AuditAct.DRAW: "drawn",
    AuditAct.DEAL: "assigned",
    AuditAct.INVITED: "invited",
    AuditAct.LINK_WITHDRAWN: "link withdrawn",
    AuditAct.LET_IN: "let in as {target}",
    AuditAct.LABELS_SET: "labels set",
    AuditAct.NAME_REMOVED: "name removed",
    AuditAct.GUIDELINES_REPLACED: "guidelines replaced",
    AuditAct.GOLD_ITEMS_SET: "gold items set",
    AuditAct.TRAINING_ITEMS_SET: "training items set",
    AuditAct.TRAINING_SET: "training set",
    AuditAct.EXTRA_SET: "extra set",
    AuditAct.ADJUDICATION_SET: "adjudication set",
    AuditAct.REPEATS_SET: "repeats set",
    AuditAct.MATCH_SET: "match set",
    AuditAct.REVEAL_SET: "reveal set",
    AuditAct.DISCUSSION_SET: "discussion set",
    AuditAct.CLOSED: "closed",
    AuditAct.REOPENED: "reopened",
    AuditAct.REASSIGNED: "reassigned",
    AuditAct.RETURNED: "returned",
    AuditAct.PASS: "passed",
    AuditAct.FAILED: "failed",
    AuditAct.ADMITTED: "admitted",
    AuditAct.OPENED_TO_A_CROWD: "opened to a crowd",
    AuditAct.EXCLUDED: "excluded",
    AuditAct.INCLUDED: "included",
    AuditAct.PARTS_DIVIDED: "parts divided",
    AuditAct.VARIANT_KEPT: "variant kept",
    AuditAct.INSTRUCTIONS_PROPOSED: "instructions proposed",
    AuditAct.TEST_PART_OPENED: "test part opened",
    AuditAct.VERSION_ADOPTED: "version adopted",
    AuditAct.SCENARIO_PROPOSED: "{target} proposed",
    AuditAct.SCENARIO_ACCEPTED: "{target} accepted",
    AuditAct.SCENARIO_REJECTED: "{target} rejected",
    AuditAct.SCENARIO_DISCARDED: "{target} discarded",
    AuditAct.SCENARIOS_BROUGHT: "{target}s brought",
    AuditAct.SCENARIOS_REMOVED: "{target}s removed",
    AuditAct.TOXICITY_SCORED: "toxicity scored",
    AuditAct.FILES_IMPORTED: "{target} imported",
    AuditAct.IMPORT_REMOVED: "import of {target} removed",
    AuditAct.EXPORTED: "exported {target}",
    AuditAct.MODEL_ADDED: "model added",
    AuditAct.MODEL_CHANGED: "model changed",
    AuditAct.MODEL_REMOVED: "model removed",
    AuditAct.CURRENCY_SET: "currency of prices set",
    AuditAct.MODELS_RESTORED: "models changed back",
}


def audit_act(act: str, target: str = "") -> str:
    """What a line of the audit log says was done; an act of another version as it is stored."""
    template = AUDIT_ACTS.get(AuditAct(act)) if act in set(AuditAct) else None
    return template.format(target=target) if template else act.replace("_", " ")
