"""A line of progress while a report is measured."""

import sys
from collections.abc import Sequence

import click

from concord.reports.agreement_report import AgreementReport
from concord.reports.sections import AT_ONCE, SECTIONS


def measure(report: AgreementReport, steps: Sequence[tuple[str, str]]) -> None:
    """Measure the sections of `AgreementReport.steps`; a terminal shows how far it is, a file nothing.

    The few sections of an overview have no line: they are there before it could be read.
    """
    if len(steps) <= len(AT_ONCE) or not sys.stderr.isatty():
        return

    def said(step: tuple[str, str] | None) -> str:
        return f"{SECTIONS[step[0]].title} · {report.label(step[1])}" if step else ""

    with click.progressbar(
        steps, label="Measuring", item_show_func=said, show_eta=False, width=20, file=sys.stderr
    ) as shown:
        for name, criterion in shown:
            report.section(name, criterion)
