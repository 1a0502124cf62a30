"""`concord gate`: whether judges agree with people well enough, as an exit code.

0 is fine, 2 a finding, 1 that it could not run, a mistake in the call included.
"""

import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from concord.commands import options
from concord.commands.check import criterion_called, label_options, table_options
from concord.commands.printing import echo
from concord.errors import ConcordError

if TYPE_CHECKING:
    from concord.reading.drawn import LabelSource
    from concord.reading.options import TableOptions
    from concord.reports.gate import Tested

FINDING = 2
"""How a command exits whose judges did not pass."""
STATISTICS = ("spearman", "kendall", "pearson", "alpha", "weighted-kappa", "kappa")


outcome_form = click.option(
    "--format",
    "form",
    type=click.Choice(("text", "json", "markdown")),
    default="text",
    show_default=True,
    help="“markdown” prints a comment for a pull request.",
)


class OutcomeCommand(click.Command):
    """A command whose mistakes in the call exit with 1: 2 is a finding."""

    def make_context(self, *args: Any, **kwargs: Any) -> click.Context:
        """The context; what is wrong in a call says so."""
        try:
            return super().make_context(*args, **kwargs)
        except click.UsageError as error:
            raise click.ClickException(error.format_message()) from error


@click.command("gate", cls=OutcomeCommand)
@click.argument("file", metavar="[FILE]", required=False, type=click.Path(path_type=Path))
@click.option("--study", default="", metavar="NAME", help="A study of the workspace, in place of a file.")
@click.option(
    "--min-agreement",
    "least",
    required=True,
    type=click.FloatRange(-1, 1),
    help="What the lower end of the interval has to reach.",
)
@click.option(
    "--statistic",
    type=click.Choice(STATISTICS),
    default=None,
    help=(
        "The statistic of agreement with annotators; default: Cohen's κ for pass/fail and categories, "
        "else Spearman's ρ."
    ),
)
@options.several("--judges", "One judge, or several as a panel; default: the panel of all.")
@label_options
@table_options
@outcome_form
@options.resamples("items")
@options.seed
@click.pass_obj
def command(
    workspace: str,
    /,
    file: Path | None,
    study: str,
    least: float,
    statistic: Any,
    judges: tuple[str, ...],
    form: str,
    resamples: int,
    seed: int,
    reading: "TableOptions",
    source: "LabelSource",
) -> None:
    """Exit with 2 unless judges agree with annotators well enough, in FILE or in a study of the workspace.

    0 is passed, 1 that it could not run. The lower end of the 95% interval counts, so that few items do not
    pass by luck. An undefined agreement, or one without an interval, fails. The command prints the measured
    agreement.

    Correlations, alpha and weighted kappa compare with the mean of annotators; kappa, and alpha of
    categories, with their majority.
    """
    if file and study:
        raise ConcordError("Give either a FILE of labels or a study (--study).")
    from concord.reading import drawn
    from concord.reports.agreement_report import Options, agreement_report, report_of
    from concord.reports.gate import gate
    from concord.workspace import Workspace

    report_options = Options(resamples=resamples, seed=seed)
    if file is not None:
        table, _ = drawn.read(file, reading, source)
        report = report_of(table.data, report_options, table.features)
        place = f" in {file.name}"
    else:
        with Workspace.open(workspace, create=False).read() as db:
            if not study:
                raise ConcordError("Give a FILE of labels, or a study of the workspace with --study.")
            report = agreement_report(db, study, report_options)
            place = f" in the study {study}"
    criterion_name = criterion_called(report.criteria, reading.criterion)
    outcome = gate(
        report, least, criterion=criterion_name, judges=judges, statistic=statistic, group_words=place
    )
    conclude("concord gate", [outcome], form)


def conclude(suite: str, outcomes: Sequence["Tested"], form: str) -> None:
    """Print outcomes and end: with FINDING where one did not pass."""
    if form == "json":
        document = {"suite": suite, "outcomes": [one._asdict() for one in outcomes]}
        echo(json.dumps(document, ensure_ascii=False))
    elif form == "markdown":
        from concord.reports.gate import comment

        echo(comment(suite, outcomes))
    else:
        for one in outcomes:
            echo(f"{'Passed' if one.passed else 'Not passed'}: {one.message}", err=not one.passed)
    if not all(one.passed for one in outcomes):
        sys.exit(FINDING)
