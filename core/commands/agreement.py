"""`concord agreement`: how well judges agree with people, and people with each other."""

import sys
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import click

from concord.commands import options
from concord.commands.printing import columns, echo
from concord.errors import ConcordError

if TYPE_CHECKING:
    from concord.workspace import Workspace


def _list_sections(context: click.Context, _option: click.Parameter, is_asked: bool) -> None:
    """Print what each section answers, and end."""
    if is_asked:
        from concord.commands.printing import show
        from concord.reports.sections import sections_table

        show([sections_table()], "table")
        context.exit()


def _count(workspace: "Workspace", study: str, criterion: str, items: int, verdict: str) -> None:
    """Count the reading of a verdict as a look; a workspace that is read only keeps none."""
    from concord.store import looks

    with workspace.read() as db:
        new = looks.is_new(db, study, criterion, items)
    if new:
        with suppress(ConcordError):
            workspace.change(lambda db: looks.record(db, study, criterion, items, verdict))


@click.command("agreement")
@click.option("--study", required=True, metavar="NAME", help="The study to measure.")
@options.form()
@options.resamples("items")
@options.seed
@options.measuring
@click.option(
    "--sections",
    is_flag=True,
    is_eager=True,
    expose_value=False,
    callback=_list_sections,
    help="List the sections with their questions.",
)
@options.several("--section", "Sections of the report instead of its overview; “all” for every one.")
@click.option(
    "--criterion",
    default="",
    help="The criterion of the sections; default: the overall score, or the last one.",
)
@click.pass_obj
def command(
    workspace: str,
    /,
    study: str,
    form: str,
    section: tuple[str, ...],
    criterion: str,
    keep_refused: bool,
    **report_options: Any,
) -> None:
    """Measure agreement of annotators with each other, and of judges and panels with annotators.

    Exits with 1, after printing what can be measured, where a study lacks people, judges or anything to
    compare.
    """
    from concord.llm.families import families
    from concord.reports.agreement_report import WIDTH, Options, agreement_report
    from concord.workspace import Workspace

    workspace_ = Workspace.open(workspace, create=False)
    measuring = Options(
        exclude_refused=not keep_refused, families=families(workspace_.models_path), **report_options
    )
    with workspace_.read() as db:
        report = agreement_report(db, study, measuring)
        document = report.document(form, sections=section, criterion=criterion, width=columns(WIDTH))
        missing = report.missing_sections(section, criterion)
    if not section:
        _count(workspace_, study, report.main, report.items(report.main), report.verdict().verdict)
    echo(document, nl=False)
    for sentence in missing:
        echo(sentence, err=True)
    if form == "csv" or section:
        for note in report.notes:
            echo(note, err=True)
    for sentence in report.missing:
        echo(f"Error: {sentence}", err=True)
    if report.missing:
        sys.exit(1)
