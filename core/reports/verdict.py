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
FEW_ANNOTATORS = 5
"""With fewer, other annotators may decide differently."""
CONDITION_ORDER = (UseCondition.EXCEPT_GROUP, UseCondition.CORRECT_LEVEL, UseCondition.FILL_GAPS)


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
        return [*self._words, *(flag.text for flag in self.flags)]

    @property
    def _words(self) -> list[str]:
        """What to do, why, and what is not known; each only if there is something to say."""
        return list(filter(None, (self.action, self.reason, self.unknown)))

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
            "flags": [_flag_json(flag) for flag in self.flags],
            "words": self._words,
        }


def _flag_json(flag: Flag) -> dict[str, object]:
    return {
        "claim": flag.claim,
        "judge": flag.judge or None,
        "about": flag.subject or None,
        "text": flag.text,
    }


def verdict(evidence: Evidence, criterion: str, members: Sequence[str] = ()) -> Assessment:
    """The assessment of judges (`members`, else all) on one criterion.

    Raises StudyError for an unknown criterion.
    """
    case = standing(evidence, criterion, members)
    advice = advice_of(case.facts) if case.members else Advice.NONE
    use = used_judges(case) if advice == Advice.USE else ()
    conditions = conditions_of(case, advice, use)
    unknowns = unknowns_of(case, advice)
    exclude = excluded_judges(case)
    panel_is_used = not use or panel_name(case.members) in use
    # Where the panel is not used, who weakens it changes nothing.
    named_for_exclusion = exclude if panel_is_used else case.slight
    return Assessment(
        criterion=criterion,
        members=case.members,
        verdict=case.verdict,
        advice=advice,
        rows=renamed(case.table, evidence.names),
        flags=_first_flags(case, panel_is_used),
        use=use,
        exclude=exclude,
        decided_by=case.decided_by,
        conditions=conditions,
        unknowns=unknowns,
        action=sentences.action(case, advice, use, conditions, named_for_exclusion),
        reason=sentences.reason(case, advice, use),
        unknown=sentences.unknown(case, unknowns),
    )


def _first_flags(case: Standing, panel_is_used: bool) -> tuple[Flag, ...]:
    """The most serious flags that bear on the criterion, and on the panel only where it is used."""
    labels = {case.criterion, case.evidence.label(case.criterion)}
    flags: list[Flag] = []
    for flag in case.flags:
        if not CLAIMS[flag.claim].first:
            continue
        if flag.claim == Claim.WEAKENS_PANEL and not panel_is_used:
            continue
        about_all_criteria = case.criterion == FINAL or not flag.criterion_keys
        if about_all_criteria or labels.intersection(flag.criterion_keys):
            flags.append(flag)
    return tuple(flags[:MOST_FLAGS])


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
    excluded = list(case.slight)
    for flag in case.flags:
        if flag.claim == Claim.WEAKENS_PANEL and flag.judge in case.members:
            excluded.append(flag.judge)
    return tuple(dict.fromkeys(excluded))


def conditions_of(case: Standing, advice: Advice, use: Sequence[str]) -> tuple[UseCondition, ...]:
    """Conditions of use: groups on which judges fail, their level, items that they did not rate."""
    if advice != Advice.USE:
        return ()
    judges = set(use)
    if panel_name(case.members) in use:
        judges.update(case.members)
    conditions: set[UseCondition] = set()
    for flag in case.flags:
        if flag.claim == Claim.LEVEL and not flag.judge:
            conditions.add(UseCondition.CORRECT_LEVEL)
        if flag.judge not in judges:
            continue
        if flag.failing:
            conditions.add(UseCondition.EXCEPT_GROUP)
        if flag.claim == Claim.LEVEL:
            conditions.add(UseCondition.CORRECT_LEVEL)
        elif flag.claim == Claim.LACKS_RATINGS:
            conditions.add(UseCondition.FILL_GAPS)
    return tuple(condition for condition in CONDITION_ORDER if condition in conditions)


def unknowns_of(case: Standing, advice: Advice) -> tuple[Unknown, ...]:
    """What is not known, and bears on the advice."""
    unknowns = _unknowns_of_verdict(case, advice)
    if case.evidence.data.unfinished and case.members and advice != Advice.NONE:
        return (*unknowns, Unknown.PRELIMINARY)
    return unknowns


def _unknowns_of_verdict(case: Standing, advice: Advice) -> tuple[Unknown, ...]:
    scores = case.evidence.ratings[case.criterion]
    annotators = 0 if scores.unlinked else len(scores.people)
    if not case.members or advice == Advice.CHECK_COPY or case.constant is not None:
        return ()
    compared = case.figure("difference")
    if compared is None or not compared.defined:
        alone = case.facts.alone
        if alone is None or not alone.defined:
            return ()
        if annotators == 1:
            return (Unknown.ONE_ANNOTATOR,)
        return (Unknown.NOT_COMPARED,)
    if case.decided_by:
        return (Unknown.ONE_DECIDES,)
    if advice == Advice.USE and annotators < FEW_ANNOTATORS and case.evidence.people == "these":
        return (Unknown.OTHER_ANNOTATORS,)
    return ()
