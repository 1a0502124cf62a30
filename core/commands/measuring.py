"""A line of progress while a report is measured."""

import sys
from collections.abc import Sequence

import click

from concord.reports.agreement_report import AgreementReport
from concord.reports.sections import AT_ONCE, SECTIONS

MANY_ITEMS = 10_000
"""Items of which an overview takes some seconds."""


def measure(report: AgreementReport, steps: Sequence[tuple[str, str]]) -> None:
    """Measure the sections of `AgreementReport.steps`; a terminal shows how far it is, a file nothing.

    The sections of an overview have no line unless items are many: they are there before it could be read.
    """
    soon = len(steps) <= len(AT_ONCE) and len(report.ratings.units) < MANY_ITEMS
    if soon or not sys.stderr.isatty():
        return

    def label(step: tuple[str, str] | None) -> str:
        return f"{SECTIONS[step[0]].title} · {report.label(step[1])}" if step else ""

    with click.progressbar(
        steps, label="Measuring", item_show_func=label, show_eta=False, width=20, file=sys.stderr
    ) as shown:
        for name, criterion in shown:
            report.section(name, criterion)
