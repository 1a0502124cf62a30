"""`concord gate`: whether judges agree with people well enough, as an exit code."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from concord.commands import options, outcomes
from concord.commands.check import table_options
from concord.errors import ConcordError

if TYPE_CHECKING:
    from concord.exchange.columns import TableOptions

STATISTICS = ("spearman", "kendall", "pearson", "alpha", "weighted-kappa", "kappa")


@click.command("gate", cls=outcomes.OutcomeCommand)
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
    help="How agreement with people is measured; default: Cohen's κ of two answers and of categories, else "
    "Spearman's ρ.",
)
@options.several("--judges", "One judge, or several as a panel; unless given, the panel of all.")
@table_options
@outcomes.form
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
) -> None:
    """Exit with 2 unless judges agree with people at least so well: in FILE, or in a study of the workspace.

    0 is passed, 1 that it could not run. The lower end of the 95% interval counts, so that few items do not
    pass by luck. An agreement that is undefined, or has no interval, does not pass. One sentence says what
    was measured.

    Correlations, alpha and weighted kappa compare with the mean of people; kappa, and alpha of categories,
    with their majority.
    """
    if file and study:
        raise ConcordError("Name a FILE of labels or a study of the workspace, not both.")
    from concord.exchange import labels
    from concord.reports.agreement_report import Options, agreement_report, report_of
    from concord.reports.gate import gate
    from concord.workspace import Workspace

    asked = Options(resamples=resamples, seed=seed)
    if file is not None:
        table = labels.read(file, reading)
        report, within = report_of(table.of, asked, table.features), f" in {file.name}"
    else:
        with Workspace.open(workspace, create=False).read() as db:
            if not study:
                raise ConcordError("Name a FILE of labels, or a study of the workspace with --study.")
            report, within = agreement_report(db, study, asked), f" in the study {study}"
    on = reading.criterion
    found = gate(report, least, criterion=on, judges=judges, statistic=statistic, within=within)
    outcomes.conclude("concord gate", [found], form, str(file or ""))
