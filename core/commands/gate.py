"""`concord gate`: whether judges agree with people well enough, as an exit code."""

import click

from concord.commands import options
from concord.commands.printing import echo
from concord.commands.startup import import_sqlite_utils


@click.command("gate")
@click.option("--study", required=True, metavar="NAME", help="The study whose people are the measure.")
@click.option(
    "--min-agreement",
    "least",
    required=True,
    type=click.FloatRange(-1, 1),
    help="What the lower end of the interval of Spearman's ρ with the mean of people has to reach.",
)
@click.option("--criterion", default="", help="The criterion; final or the last one if absent.")
@options.several("--judges", "One judge, or several as a panel; unless given, the panel of all.")
@options.resamples("items")
@options.seed
@click.pass_obj
def command(
    workspace: str,
    study: str,
    least: float,
    criterion: str,
    judges: tuple[str, ...],
    resamples: int,
    seed: int,
) -> None:
    """Exit with 1 unless judges agree with people at least so well.

    The lower end of the 95% interval counts, so that few items do not pass by luck. An agreement that is
    undefined, or has no interval, does not pass. One sentence says what was found.
    """
    import_sqlite_utils()
    from concord.agreement.ratings import called
    from concord.errors import not_found
    from concord.reports.agreement_report import Options, agreement_report
    from concord.workspace import Workspace

    panels = (judges,) if len(judges) > 1 else ()
    with Workspace.open(workspace, create=False).read() as db:
        report = agreement_report(db, study, Options(panels=panels, resamples=resamples, seed=seed))
        for judge in judges:
            if judge not in report.ratings.judges:
                raise not_found("judge", judge, report.ratings.judges)
        name = criterion or report.main
        if name not in report.criteria:
            raise not_found("criterion", name, report.criteria)
        members = judges or report.primary_panel
        row = report.agreement.criteria[name].rater(members) if members else None
    who = called(members) if members else "No judge"
    about = f"{who} on {report.label(name)} in the study {study}"
    if row is None or not row.spearman.defined or row.spearman.interval is None:
        why = "no judge rated it" if row is None else row.spearman.reason or "the figure has no interval"
        echo(f"Not passed: the agreement of {about} is not known: {why}.", err=True)
        raise SystemExit(1)
    low, high = row.spearman.interval
    found = (
        f"{about}: Spearman's ρ with people {row.spearman.value:.3f} [{low:.3f}, {high:.3f}], "
        f"{row.spearman.n} items"
    )
    if low < least:
        echo(f"Not passed: {found}; the lower end is below {least:g}.", err=True)
        raise SystemExit(1)
    echo(f"Passed: {found}; the lower end reaches {least:g}.")
