"""`concord gate`: whether judges agree with people well enough, as an exit code."""

from typing import Any

import click

from concord.commands import options
from concord.commands.printing import echo
from concord.commands.startup import import_sqlite_utils

STATISTICS = ("spearman", "kendall", "pearson", "alpha", "weighted-kappa", "kappa")


@click.command("gate")
@click.option("--study", required=True, metavar="NAME", help="The study whose people are the measure.")
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
    help="How agreement with people is measured; default: Cohen's κ of categories, else Spearman's ρ.",
)
@click.option("--criterion", default="", help="The criterion; final or the last one if absent.")
@options.several("--judges", "One judge, or several as a panel; unless given, the panel of all.")
@options.resamples("items")
@options.seed
@click.pass_obj
def command(
    workspace: str,
    /,
    study: str,
    least: float,
    statistic: Any,
    criterion: str,
    judges: tuple[str, ...],
    resamples: int,
    seed: int,
) -> None:
    """Exit with 1 unless judges agree with people at least so well; 0 is passed, 2 a mistake in the call.

    The lower end of the 95% interval counts, so that few items do not pass by luck. An agreement that is
    undefined, or has no interval, does not pass, and neither does a study, criterion or judge that is not
    there. One sentence says what was found.

    Correlations, alpha and weighted kappa compare with the mean of people; kappa, and alpha of categories,
    with their majority.
    """
    import_sqlite_utils()
    from concord.reports.agreement_report import Options, agreement_report
    from concord.reports.coefficient import said_of, usual, with_people
    from concord.statistics.ratings import called
    from concord.workspace import Workspace

    panels = (judges,) if len(judges) > 1 else ()
    with Workspace.open(workspace, create=False).read() as db:
        report = agreement_report(db, study, Options(panels=panels, resamples=resamples, seed=seed))
    name = criterion or report.main
    members = judges or report.primary_panel
    statistic = statistic or usual(report, name)
    who = called(members) if members else "No judge"
    about = f"{who} on {report.label(name)} in the study {study}"
    figure = with_people(report, name, members, [statistic])[statistic] if members else None
    if figure is None or figure.value is None or figure.interval is None:
        why = "no judge rated it" if figure is None else figure.reason or "the figure has no interval"
        echo(f"Not passed: the agreement of {about} is not known: {why}.", err=True)
        raise SystemExit(1)
    low, high = figure.interval
    found = (
        f"{about}: {said_of(report, name, statistic)} {figure.value:.3f} [{low:.3f}, {high:.3f}], "
        f"{figure.n} items"
    )
    if low < least:
        echo(f"Not passed: {found}; the lower end is below {least:g}.", err=True)
        raise SystemExit(1)
    echo(f"Passed: {found}; the lower end reaches {least:g}.")
