"""`concord spotcheck …`: conversations to look at, random samples to audit, and what people found."""

from typing import Any

import click

from concord.commands import options, printing
from concord.commands.printing import echo
from concord.studies import audits, triage
from concord.workspace import Workspace


@click.group("spotcheck")
def command() -> None:
    """Judgements to look at, random samples to audit, and what people found of them."""


@command.command("queue")
@click.argument("benchmark")
@options.several("--reasons", f"Only for these reasons: {', '.join(triage.REASONS)}.")
@options.several("--judges", "Only what one of these judged; every judge's unless given.")
@options.where("conversations")
@click.option("--person", default="", help="Leave out what this person has settled.")
@options.number("--limit", 20, "So many at the most.", least=1)
@options.number("--offset", 0, "How many to skip first.")
@options.form()
@click.pass_obj
def queue(
    workspace: str,
    /,
    benchmark: str,
    facets: options.Facets,
    reasons: tuple[str, ...],
    limit: int,
    offset: int,
    form: str,
    **among: Any,
) -> None:
    """List the conversations to look at, the highest priority first."""
    with Workspace.open(workspace, create=False).read() as db:
        line = triage.queue(db, benchmark, where=facets, **among)
    wanted = triage.because(line, reasons)
    page = wanted[offset : offset + limit]
    printing.show([triage.queue_table(page, line, len(wanted))], form)


@command.command("draw")
@click.argument("benchmark")
@click.option("--name", required=True, help="The audit's name.")
@options.number("--n", audits.SIZE, "Judgements to draw.", least=1)
@options.several("--judges", "Only judgements by these.")
@options.where("conversations")
@options.seeded("draws the same sample")
@click.pass_obj
def draw(workspace: str, /, benchmark: str, name: str, facets: options.Facets, **sampling: Any) -> None:
    """Draw a random sample of judgements, whose rate of reasonable ones is unbiased."""
    with Workspace.open(workspace, create=False).write() as db:
        audit = audits.draw(db, name, benchmark, where=facets, **sampling)
    echo(f"Audit “{audit.name}”: {audit.items} of {audit.drawn_from} judgements, seed {audit.seed}.")


@command.command("show")
@click.argument("benchmark")
@click.option("--audit", default="", help="The audit; unless given, what was found in the queue.")
@options.form()
@click.pass_obj
def show(workspace: str, benchmark: str, audit: str, form: str) -> None:
    """What people found: the share of reasonable judgements, and how optimistic the others are."""
    with Workspace.open(workspace, create=False).read() as db:
        findings = audits.findings(db, benchmark, audit)
    printing.show([findings], form)
