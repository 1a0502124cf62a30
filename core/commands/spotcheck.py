"""`concord spotcheck …`: conversations to look at, random samples to audit, and what people found."""

from typing import Any, get_args

import click

from concord.commands import options, printing
from concord.commands.printing import echo
from concord.rating import Finding
from concord.store import suspects
from concord.studies import audits, spotcheck
from concord.workspace import Workspace


@click.group("spotcheck")
def command() -> None:
    """Judgements to look at, random samples to audit, and what people found of them."""


@command.command("queue")
@click.argument("benchmark")
@options.several("--reasons", f"Only for these reasons: {', '.join(spotcheck.REASONS)}.")
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
    limit: int,
    offset: int,
    form: str,
    **among: Any,
) -> None:
    """List the conversations to look at, the highest priority first."""
    with Workspace.open(workspace, create=False).read() as db:
        search = spotcheck.search(db, benchmark, where=facets, **among)
        suspected = suspects.queue(db, search, limit=limit, offset=offset)
        counts = spotcheck.counts(db, search)
    printing.show([spotcheck.queue_table(suspected, counts)], form)


@command.command("look")
@click.argument("conversation", type=int)
@click.option("--person", default="", help="Whose findings to show beside the judgements.")
@click.pass_obj
def look(workspace: str, conversation: int, person: str) -> None:
    """Show one conversation by its number in the queue: the dialogue, and each judge's score and reasons."""
    with Workspace.open(workspace, create=False).read() as db:
        screen = spotcheck.screen(db, conversation, person)
    for turn in screen.conversation.turns():
        mark = "  ← first challenging turn" if turn.number == screen.challenging else ""
        echo(f"— turn {turn.number}{mark}")
        for message in filter(None, (turn.user, turn.reply)):
            cut = " (cut off at the length limit)" if message.meta.get("cut") else ""
            echo(f"{message.role}: {message.content or '(empty)'}{cut}")
    scale = screen.criterion.scale
    for seen in screen.judgements:
        verdict = f"{seen.failure}\n{seen.raw}"
        if seen.score is not None:
            verdict = f"{screen.criterion.label}: {scale.word(seen.score)}. {seen.explanation}"
        finding = f" [{person}: {seen.finding}]" if seen.finding else ""
        echo(f"\n{seen.judge}, judgement {seen.id}{finding}: {verdict}")


@command.command("say")
@click.argument("judgement", type=int)
@click.argument("finding", type=click.Choice(get_args(Finding)))
@click.option("--person", required=True, help="Who says so.")
@click.option("--comment", default="")
@click.option("--corrected", type=float, help="The score it should have been.")
@click.option("--audit", default="", help="The audit it belongs to; unless given, the queue.")
@click.pass_obj
def say(workspace: str, /, judgement: int, finding: Finding, person: str, **details: Any) -> None:
    """Store what a person found of a judgement (by its number); FINDING is seen where it has no score."""
    with Workspace.open(workspace, create=False).write() as db:
        spotcheck.verify(db, judgement, person, finding, **details)
    echo(f"Judgement {judgement}: {finding.replace('_', ' ')}, says {person}.")


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
@options.several("--judges", "Only what was found of these judges.")
@options.where("conversations")
@options.form()
@click.pass_obj
def show(
    workspace: str, benchmark: str, audit: str, judges: tuple[str, ...], facets: options.Facets, form: str
) -> None:
    """What people found: the share of reasonable judgements, and how optimistic the others are."""
    with Workspace.open(workspace, create=False).read() as db:
        findings = audits.findings(db, benchmark, audit, where=facets, judges=judges)
    printing.show([audits.table(findings)], form)
