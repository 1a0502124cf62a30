"""Whether a judge is what a reader asks of it, as one sentence, and passed or not: for gate and drift."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from concord.codes import DriftOutcome, Exclusion, GateOutcome
from concord.messages import DRIFTS, excluded
from concord.reports.agreement_report import AgreementReport
from concord.reports.headline import headline
from concord.statistics.coefficients import Name
from concord.statistics.drift import Drift
from concord.statistics.ratings import panel_name
from concord.table import markdown_text


class Tested(NamedTuple):
    """What was looked at, whether it passed, and the figure in a sentence.

    With its `outcome`, the agreement or mean change and its interval (None if undefined), and the number of
    items `n`. A gate adds how many rated items it excludes by reason.
    """

    name: str
    passed: bool
    message: str
    outcome: GateOutcome | DriftOutcome | None = None
    value: float | None = None
    ci: tuple[float, float] | None = None
    n: int | None = None
    excluded: Mapping[Exclusion, int] | None = None


def gate(
    report: AgreementReport,
    threshold: float,
    *,
    criterion: str = "",
    judges: Sequence[str] = (),
    statistic: Name | None = None,
    group_words: str = "",
) -> Tested:
    """Whether the lower end of the agreement of judges (else of all) with people reaches `threshold`.

    The agreement is that of `concord.reports.headline`, which `concord check` shows, or a `statistic`. One
    that is undefined, or without an interval, does not pass. `group_words` says whose it is. Raises NotFound
    for an unknown criterion or judge.
    """
    name = criterion or report.main
    members = tuple(judges) or report.primary_panel
    judge_words = report.names.get(panel_name(members), panel_name(members)) if members else "No judge"
    subject = f"{judge_words} on {report.label(name)}{group_words}"
    if not members:
        reason = f"the agreement of {subject} is unknown: no judge rated it."
        return Tested(subject, False, reason, GateOutcome.UNKNOWN)
    figure, words, left = headline(report, name, members, statistic)
    rests_on = f"{figure.n or 0:,} items" + (f", excluded: {excluded(left)}" if left else "")
    value = figure.value
    ci = figure.interval
    tested = Tested(subject, False, "", GateOutcome.UNKNOWN, value, ci, figure.n, left)
    if value is None or ci is None:
        reason = figure.reason or "the figure has no interval"
        value_words = f"{words} {value:.3f}, " if value is not None else ""
        reason += f" ({value_words}{rests_on}); --judges and --statistic choose another figure"
        return tested._replace(message=f"the agreement of {subject} is unknown: {reason}.")
    low, high = ci
    figure_words = f"{subject}: {words} {value:.3f} [{low:.3f}, {high:.3f}], {rests_on}"
    if low < threshold:
        message = f"{figure_words}; the lower end is below {threshold:g}."
        return tested._replace(message=message, outcome=GateOutcome.BELOW)
    message = f"{figure_words}; the lower end reaches {threshold:g}."
    return tested._replace(passed=True, message=message, outcome=GateOutcome.PASSED)


def unchanged(subject: str, drift: Drift) -> Tested:
    """Whether a judge that judged the same items again is shown to give the same scores; `subject` names "
    "it."""
    shift = drift.shift
    moved = f"{subject} {DRIFTS[drift.outcome]}"
    if shift.value is None or shift.low is None or shift.high is None:
        return Tested(subject, False, f"{moved}: {shift.reason}.", drift.outcome, n=shift.n)
    message = (
        f"{moved}: mean change {shift.value:+.3f} [{shift.low:+.3f}, {shift.high:+.3f}], margin "
        f"±{drift.margin:g}; {drift.flips.value:.1%} of {shift.n} items changed."
    )
    is_same = drift.outcome == DriftOutcome.UNCHANGED
    interval = (shift.low, shift.high)
    return Tested(subject, is_same, message, drift.outcome, shift.value, interval, shift.n)


def comment(suite: str, outcomes: Sequence[Tested]) -> str:
    """What a pull request is told: a heading with the command, and a line for each outcome, as Markdown.

    Names of judges, criteria and files are shown letter for letter.
    """
    successes = sum(outcome.passed for outcome in outcomes)
    heading = (
        f"### {'✅' if successes == len(outcomes) else '❌'} {suite}: {successes} of {len(outcomes)} passed"
    )
    lines = [
        f"- **{'Passed' if outcome.passed else 'Not passed'}**: {markdown_text(outcome.message)}"
        for outcome in outcomes
    ]
    return "\n".join([heading, "", *lines, ""])
