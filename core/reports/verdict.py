"""The verdict on a study's judges: from figures by written rules to codes, and their words after.

`concord.statistics.claims` says when a judge is as good as another annotator, `concord.reports.advice` what
follows from it; `concord.messages` has the words, `concord.reports.flags` what a reader has to know beside
them. docs/agreement.md has the rules and how often each is wrong.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from concord.codes import GOOD, Advice, Claim, Unknown, UseCondition, Verdict
from concord.reports import sentences
from concord.reports.advice import advice_of
from concord.reports.evidence import Evidence
from concord.reports.names import renamed
from concord.reports.standing import Standing, standing
from concord.statistics.claims import CLAIMS, Flag
from concord.statistics.ratings import FINAL, panel_name
from concord.table import Table

MOST_FLAGS = 3
"""Flags beside a verdict; all stand in what limits the answer."""


@dataclass(frozen=True)
class Assessment:
    """How the judges of a study compare with another annotator on a criterion, and what to do.

    `verdict` and `advice` are codes, on the judges in `members`. `use` names the judges or panels that the
    advice is to use; `conditions` and `unknowns` go with it. `rows` has every judge and panel with its
    verdict, `flags` the most serious first. In words: `action` what to do, `reason` the verdict and its
    figures, `unknown` what is not known.
    """

    criterion: str
    members: tuple[str, ...]
    verdict: Verdict
    advice: Advice
    rows: Table
    flags: tuple[Flag, ...]
    use: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    decided_by: str = ""
    conditions: tuple[UseCondition, ...] = ()
    unknowns: tuple[Unknown, ...] = ()
    action: str = ""
    reason: str = ""
    unknown: str = ""

    @property
    def sentences(self) -> list[str]:
        """What to do, why, what is not known, and the flags."""
        return [*filter(None, [self.action, self.reason, self.unknown]), *(flag.text for flag in self.flags)]

    def as_json(self) -> dict[str, object]:
        """Codes, names and words as plain values."""
        return {
            "criterion": self.criterion,
            "judges": [*self.members],
            "verdict": self.verdict,
            "advice": self.advice,
            "use": [*self.use],
            "exclude": [*self.exclude],
            "decided_by": self.decided_by or None,
            "conditions": [*self.conditions],
            "unknown": [*self.unknowns],
            "flags": [
                {
                    "claim": shown_flag.claim,
                    "judge": shown_flag.judge or None,
                    "about": shown_flag.subject or None,
                    "text": shown_flag.text,
                }
                for shown_flag in self.flags
            ],
            "words": [*filter(None, [self.action, self.reason, self.unknown])],
        }


def verdict(evidence: Evidence, criterion: str, members: Sequence[str] = ()) -> Assessment:
    """The assessment of judges (`members`, else all) on one criterion.

    Raises StudyError for an unknown criterion.
    """
    case = standing(evidence, criterion, members)
    advice = advice_of(case.facts) if case.members else Advice.NONE
    use = used_judges(case) if advice == Advice.USE else ()
    conditions, unknowns = conditions_of(case, advice, use), unknowns_of(case, advice)
    whole_panel = not use or panel_name(case.members) in use
    labels = {criterion, evidence.label(criterion)}
    flags = []
    for flag in case.flags:
        relevant = criterion == FINAL or not flag.criterion_keys or bool(labels & {*flag.criterion_keys})
        # Where the panel is not used, who weakens it changes nothing.
        if CLAIMS[flag.claim].first and relevant and (whole_panel or flag.claim != Claim.WEAKENS_PANEL):
            flags.append(flag)
    return Assessment(
        criterion,
        case.members,
        case.verdict,
        advice,
        renamed(case.table, evidence.names),
        tuple(flags)[:MOST_FLAGS],
        use,
        excluded_judges(case),
        case.decided_by,
        conditions,
        unknowns,
        sentences.action(
            case, advice, use, conditions, excluded_judges(case) if whole_panel else case.slight
        ),
        sentences.reason(case, advice, use),
        sentences.unknown(case, unknowns),
    )


def used_judges(case: Standing) -> tuple[str, ...]:
    """The names in the table of what the advice is to use: the judges asked about, unless they are not as
    good and others are, or one of them agrees better alone.
    """
    if case.better is not None:
        return (str(case.better["rater"]),)
    if case.verdict in GOOD:
        return (panel_name(case.members),)
    return tuple(str(row["rater"]) for row in case.alternatives)


def excluded_judges(case: Standing) -> tuple[str, ...]:
    """The members that are shown to agree slightly at most, or without which the panel agrees better."""
    weakening = [flag.judge for flag in case.flags if flag.claim == Claim.WEAKENS_PANEL]
    return tuple(dict.fromkeys([*case.slight, *(judge for judge in weakening if judge in case.members)]))


def conditions_of(case: Standing, advice: Advice, use: Sequence[str]) -> tuple[UseCondition, ...]:
    """What the use of judges is tied to: groups on which they fail, their level, items that they left out."""
    if advice != Advice.USE:
        return ()
    names = {*use, *(case.members if panel_name(case.members) in use else ())}
    level = any(flag.claim == Claim.LEVEL and (flag.judge in names or not flag.judge) for flag in case.flags)
    gaps = any(flag.claim == Claim.LACKS_RATINGS and flag.judge in names for flag in case.flags)
    fails = any(flag.failing and flag.judge in names for flag in case.flags)
    conditions = {
        UseCondition.EXCEPT_GROUP: fails,
        UseCondition.CORRECT_LEVEL: level,
        UseCondition.FILL_GAPS: gaps,
    }
    return tuple(condition for condition, holds in conditions.items() if holds)


def unknowns_of(case: Standing, advice: Advice) -> tuple[Unknown, ...]:
    """What is not known, and bears on the advice."""
    unfinished = case.evidence.data.unfinished and case.members and advice != Advice.NONE
    return (*_unknowns_of_verdict(case, advice), *([Unknown.PRELIMINARY] if unfinished else []))


def _unknowns_of_verdict(case: Standing, advice: Advice) -> tuple[Unknown, ...]:
    scores = case.evidence.ratings[case.criterion]
    annotators = 0 if scores.unlinked else len(scores.people)
    compared = case.figure("difference")
    if not case.members or advice == Advice.CHECK_COPY or case.constant is not None:
        return ()
    if compared is None or not compared.defined:
        alone = case.facts.alone
        if alone is None or not alone.defined:
            return ()
        return (Unknown.ONE_ANNOTATOR if annotators == 1 else Unknown.NOT_COMPARED,)
    if case.decided_by:
        return (Unknown.ONE_DECIDES,)
    few_annotators = annotators < 5 and case.evidence.people == "these" and advice == Advice.USE
    return (Unknown.OTHER_ANNOTATORS,) if few_annotators else ()
