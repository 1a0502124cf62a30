"""Advice on judges: written rules from facts, each shown by an interval or a test, to a code."""

from dataclasses import dataclass

from concord.codes import GOOD, Advice, Verdict
from concord.estimate import Estimate

WEAK = 0.4
SLIGHT = 0.2
"""Agreement that is sure to lie below these is weak, or slight: κ is at most “fair”, or “slight” (Landis and
Koch 1977)."""


@dataclass(frozen=True)
class Facts:
    """What advice on a judge or a panel rests on, each shown by an interval or a test, or a plain count.

    `judge` and `person` are the agreements behind the verdict, `alone` that with all annotators where none
    can be held out; None where there is no figure. `slight` says whether a judge of a panel hardly agrees
    with annotators (`disagree`), and another one does. `good` says whether another judge or panel is shown to
    be as good, `decided_by` which annotator decides the verdict alone. `copied`: the judge repeats an
    annotator's answers; `constant`: it gives every item one answer, and annotators do not; `inverted`: it
    orders items against them. `annotators` counts who rated, `nominal` says whether answers can be followed
    from item to item.
    """

    verdict: Verdict
    judge: Estimate | None = None
    person: Estimate | None = None
    alone: Estimate | None = None
    good: bool = False
    slight: bool = False
    decided_by: str = ""
    copied: bool = False
    constant: bool = False
    inverted: bool = False
    annotators: int = 2
    nominal: bool = True


def advice_of(facts: Facts) -> Advice:
    """What to do, by the first rule that holds. What is not shown is never a reason not to use a judge."""
    if facts.copied:
        return Advice.CHECK_COPY
    if facts.constant:
        return Advice.DO_NOT_USE
    if disagree(facts.person):
        return Advice.REPAIR_QUESTION
    if facts.inverted:
        return Advice.CHECK_DIRECTION
    if facts.verdict in GOOD or facts.good:
        return Advice.USE
    if facts.slight:
        return Advice.EXCLUDE_JUDGE
    if facts.decided_by:
        return Advice.CHECK_ANNOTATOR
    if facts.verdict == Verdict.WORSE:
        return Advice.KEEP_ANNOTATORS if _beats_chance(facts.judge) else Advice.DO_NOT_USE
    if facts.verdict in (Verdict.INCONCLUSIVE, Verdict.TOO_FEW):
        return Advice.LABEL_MORE
    return _without_comparison(facts)


def _without_comparison(facts: Facts) -> Advice:
    """Advice where no annotator can be held out."""
    if not facts.annotators or facts.alone is None:
        return Advice.NONE
    if facts.alone.interval is not None and facts.alone.interval[1] < SLIGHT:
        return Advice.DO_NOT_USE
    if not _beats_chance(facts.alone):
        return Advice.LABEL_MORE
    return Advice.ADD_ANNOTATOR if facts.nominal else Advice.NAME_ANNOTATORS


def disagree(figure: Estimate | None) -> bool:
    """Whether annotators, or a judge with them, are shown to agree weakly: the upper end lies below `WEAK`,
    and either the lower one does not lie above 0, or the upper one lies below `SLIGHT`.
    """
    if figure is None or figure.interval is None:
        return False
    low, high = figure.interval
    return high < WEAK and (low <= 0 or high < SLIGHT)


def _beats_chance(figure: Estimate | None) -> bool:
    return figure is not None and figure.interval is not None and figure.interval[0] > 0
