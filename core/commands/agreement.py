"""`concord agreement`: how well judges agree with people, and people with each other."""

from __future__ import annotations

import sys

import click

from core.commands import options
from core.reports.agreement_report import Options, agreement_report
from core.studies import studies
from core.workspace import Workspace


@click.command("agreement")
@click.option("--study", required=True, metavar="NAME", help="The study to measure.")
@options.form()
@options.resamples("items")
@options.seed
@options.measuring
@click.option(
    "--nominal",
    is_flag=True,
    help="Take answers as categories (yes/no): nominal alpha and Cohen's kappa instead.",
)
@click.pass_obj
def command(
    workspace: str,
    study: str,
    form: str,
    resamples: int,
    seed: int,
    panels: tuple[tuple[str, ...], ...],
    runs: studies.Runs,
    keep_refused: bool,
    cluster_by: tuple[str, ...],
    nominal: bool,
) -> None:
    """Agreement of people with each other, and of judges and panels with people.

    Exits with 1, after printing what can be measured, where a study lacks people, judges or anything to
    compare.
    """
    asked = Options(runs, not keep_refused, panels, resamples, seed, cluster_by, nominal)
    with Workspace.open(workspace, create=False).read() as db:
        report = agreement_report(db, study, asked)
    click.echo(report.document(form), nl=False)
    for note in report.notes:
        click.echo(note, err=True)
    for sentence in report.missing:
        click.echo(f"Error: {sentence}", err=True)
    if report.missing:
        sys.exit(1)
