"""Whether a judge is what a reader asks of it, as one sentence, and passed or not: for gate and drift."""

from collections.abc import Sequence
from typing import NamedTuple

from concord.reports.agreement_report import AgreementReport
from concord.reports.coefficient import coefficient_words, usual, with_people
from concord.statistics.coefficients import Name
from concord.statistics.drift import Drift
from concord.statistics.ratings import called

DRIFTS = {
    "same": "scores the same as before",
    "moved": "has moved",
    "not known yet": "is not shown to score the same as before",
    "too few": "cannot be compared",
}
"""The words of a judge that judged again."""


class Tested(NamedTuple):
    """What was looked at, whether it passed, and the figure in a sentence."""

    name: str
    passed: bool
    message: str


def gate(
    report: AgreementReport,
    least: float,
    *,
    criterion: str = "",
    judges: Sequence[str] = (),
    statistic: Name | None = None,
    within: str = "",
) -> Tested:
    """Whether the lower end of the agreement of judges (else of all) with people reaches `least`.

    An agreement that is undefined, or without an interval, does not pass. `within` says whose it is. Raises
    NotFound for an unknown criterion or judge.
    """
    name = criterion or report.main
    members = tuple(judges) or report.primary_panel
    statistic = statistic or usual(report, name)
    who = report.names.get(called(members), called(members)) if members else "No judge"
    about = f"{who} on {report.label(name)}{within}"
    figure = with_people(report, name, members, [statistic])[statistic] if members else None
    if figure is None or figure.value is None or figure.interval is None:
        why = "no judge rated it" if figure is None else figure.reason or "the figure has no interval"
        if figure is not None and figure.value is not None:
            measured = f"{coefficient_words(report, name, statistic)} {figure.value:.3f}, {figure.n} items"
            why += f" ({measured}); --judges and --statistic choose another figure"
        return Tested(about, False, f"the agreement of {about} is not known: {why}.")
    low, high = figure.interval
    measured = (
        f"{about}: {coefficient_words(report, name, statistic)} {figure.value:.3f} [{low:.3f}, {high:.3f}], "
        f"{figure.n} items"
    )
    if low < least:
        return Tested(about, False, f"{measured}; the lower end is below {least:g}.")
    return Tested(about, True, f"{measured}; the lower end reaches {least:g}.")


def unchanged(about: str, drift: Drift) -> Tested:
    """Whether a judge that judged the same items again is shown to give the same scores; `about` names it."""
    shift, moved = drift.shift, f"{about} {DRIFTS[drift.word]}"
    if shift.value is None:
        return Tested(about, False, f"{moved}: {shift.reason}.")
    return Tested(
        about,
        drift.word == "same",
        f"{moved}: mean change {shift.value:+.3f} [{shift.low:+.3f}, {shift.high:+.3f}], margin "
        f"±{drift.margin:g}; {drift.flips.value:.1%} of {shift.n} items changed.",
    )
