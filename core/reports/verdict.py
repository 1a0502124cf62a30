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
    verdict, `flags` the most serious first. In words: `action` what to do, `why` the verdict and its figures,
    `unknown` what is not known.
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
    why: str = ""
    unknown: str = ""

    @property
    def sentences(self) -> list[str]:
        """What to do, why, what is not known, and the flags."""
        return [*filter(None, [self.action, self.why, self.unknown]), *(flag.text for flag in self.flags)]

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
                {"claim": of.claim, "judge": of.judge or None, "about": of.about or None, "text": of.text}
                for of in self.flags
            ],
            "words": [*filter(None, [self.action, self.why, self.unknown])],
        }


def verdict(evidence: Evidence, criterion: str, members: Sequence[str] = ()) -> Assessment:
    """The assessment of judges (`members`, else all) on one criterion.

    Raises StudyError for an unknown criterion.
    """
    of = standing(evidence, criterion, members)
    advice = advice_of(of.facts) if of.members else Advice.NONE
    use = used(of) if advice == Advice.USE else ()
    conditions, unknowns = conditions_of(of, advice, use), unknowns_of(of, advice)
    together = not use or panel_name(of.members) in use
    on = {criterion, evidence.label(criterion)}
    shown = []
    for flag in of.flags:
        about = criterion == FINAL or not flag.on or bool(on & {*flag.on})
        # Where the panel is not used, who weakens it changes nothing.
        if CLAIMS[flag.claim].first and about and (together or flag.claim != Claim.WEAKENS_PANEL):
            shown.append(flag)
    return Assessment(
        criterion,
        of.members,
        of.verdict,
        advice,
        renamed(of.table, evidence.names),
        tuple(shown)[:MOST_FLAGS],
        use,
        excluded(of),
        of.decided_by,
        conditions,
        unknowns,
        sentences.action(of, advice, use, conditions, excluded(of) if together else of.slight),
        sentences.why(of, advice, use),
        sentences.unknown(of, unknowns),
    )


def used(of: Standing) -> tuple[str, ...]:
    """The names in the table of what the advice is to use: the judges asked about, unless they are not as
    good and others are, or one of them agrees better alone.
    """
    if of.better is not None:
        return (str(of.better["rater"]),)
    if of.verdict in GOOD:
        return (panel_name(of.members),)
    return tuple(str(row["rater"]) for row in of.others)


def excluded(of: Standing) -> tuple[str, ...]:
    """The members that are shown to agree slightly at most, or without which the panel agrees better."""
    weakening = [flag.judge for flag in of.flags if flag.claim == Claim.WEAKENS_PANEL]
    return tuple(dict.fromkeys([*of.slight, *(judge for judge in weakening if judge in of.members)]))


def conditions_of(of: Standing, advice: Advice, use: Sequence[str]) -> tuple[UseCondition, ...]:
    """What the use of judges is tied to: groups on which they fail, their level, items that they left out."""
    if advice != Advice.USE:
        return ()
    names = {*use, *(of.members if panel_name(of.members) in use else ())}
    level = any(flag.claim == Claim.LEVEL and (flag.judge in names or not flag.judge) for flag in of.flags)
    gaps = any(flag.claim == Claim.LACKS_RATINGS and flag.judge in names for flag in of.flags)
    fails = any(flag.failing and flag.judge in names for flag in of.flags)
    conditions = {
        UseCondition.EXCEPT_GROUP: fails,
        UseCondition.CORRECT_LEVEL: level,
        UseCondition.FILL_GAPS: gaps,
    }
    return tuple(condition for condition, holds in conditions.items() if holds)


def unknowns_of(of: Standing, advice: Advice) -> tuple[Unknown, ...]:
    """What is not known, and bears on the advice."""
    unfinished = of.evidence.data.unfinished and of.members and advice != Advice.NONE
    return (*_unknowns_of_verdict(of, advice), *([Unknown.PRELIMINARY] if unfinished else []))


def _unknowns_of_verdict(of: Standing, advice: Advice) -> tuple[Unknown, ...]:
    scores = of.evidence.ratings[of.criterion]
    annotators = 0 if scores.unlinked else len(scores.people)
    compared = of.figure("difference")
    if not of.members or advice == Advice.CHECK_COPY or of.constant is not None:
        return ()
    if compared is None or not compared.defined:
        alone = of.facts.alone
        if alone is None or not alone.defined:
            return ()
        return (Unknown.ONE_ANNOTATOR if annotators == 1 else Unknown.NOT_COMPARED,)
    if of.decided_by:
        return (Unknown.ONE_DECIDES,)
    few = annotators < 5 and of.evidence.people == "these" and advice == Advice.USE
    return (Unknown.OTHER_ANNOTATORS,) if few else ()
