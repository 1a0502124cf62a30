"""Outcomes for continuous integration: text, annotations of a log, JSON; exit codes 0, 2 and 1.

0 is fine, 2 a finding, 1 that it could not run, a mistake in the call included.
"""

import json
import sys
from collections.abc import Sequence
from typing import Any

import click

from concord.commands.printing import echo
from concord.files.plain import plain_line
from concord.reports.gate import Tested

FORMS = ("text", "github", "json")
FINDING = 2


class OutcomeCommand(click.Command):
    """A command whose mistakes in the call exit with 1: 2 is a finding."""

    def make_context(self, *args: Any, **kwargs: Any) -> click.Context:
        """The context; what is wrong in a call says so."""
        try:
            return super().make_context(*args, **kwargs)
        except click.UsageError as error:
            raise click.ClickException(error.format_message()) from error


form = click.option(
    "--format",
    "form",
    type=click.Choice(FORMS),
    default="text",
    show_default=True,
    help="“github” writes annotations of a log.",
)


def conclude(suite: str, outcomes: Sequence[Tested], form: str, file: str = "") -> None:
    """Print outcomes and end: with 2 where one did not pass."""
    failed = [one for one in outcomes if not one.passed]
    if form == "json":
        whole = {"suite": suite, "outcomes": [one._asdict() for one in outcomes]}
        echo(json.dumps(whole, ensure_ascii=False))
    elif form == "github":
        for one in outcomes:
            level = "notice" if one.passed else "error"
            place = f",file={_escaped(file)}" if file else ""
            echo(f"::{level} title={_escaped(suite)}{place}::{_escaped(one.message, text=True)}")
    else:
        for one in outcomes:
            echo(f"{'Passed' if one.passed else 'Not passed'}: {one.message}", err=not one.passed)
    if failed:
        sys.exit(FINDING)


def _escaped(words: str, *, text: bool = False) -> str:
    """A text as annotations of a log take it."""
    line = plain_line(words).replace("%", "%25")
    return line if text else line.replace(":", "%3A").replace(",", "%2C")
