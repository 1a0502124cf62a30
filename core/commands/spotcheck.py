"""`concord spotcheck …`: what deserves a person's eye, random samples to audit, and what people found."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import Any, get_args

import click
from rich.console import Console

from core.commands import options, printing
from core.commands.options import names
from core.rating import Finding
from core.studies import spotcheck
from core.workspace import Workspace


@click.group("spotcheck")
def command() -> None:
    """Judgements that deserve a person's eye, random samples to audit, and what people found of them."""


judges_option = click.option(
    "--judges", metavar="A,B", default="", help="Only these judges' scores and verdicts count; every judge's unless given."
)  # fmt: skip


@command.command("queue")
@click.argument("benchmark")
@click.option(
    "--reasons", metavar="A,B", default="", help=f"Only for these reasons: {', '.join(spotcheck.REASONS)}."
)
@judges_option
@options.where("conversations")
@click.option("--models", metavar="A,B", default="", help="Only conversations of these models.")
@click.option("--person", default="", help="Leave out what this person has settled.")
@click.option("--limit", type=click.IntRange(1), default=20, show_default=True)
@click.option("--offset", type=click.IntRange(0), default=0, help="Pass over so many first.")
@click.pass_obj
def queue(
    workspace: str, benchmark: str, reasons: str, judges: str, facets: dict[str, tuple[str, ...]], models: str, person: str, limit: int, offset: int,
) -> None:  # fmt: skip
    """List the conversations that deserve a look, the most deserving first."""
    among: dict[str, Any] = {
        "person": person, "facets": facets, "players": names(models), "judges": names(judges), "reasons": names(reasons),
    }  # fmt: skip
    with Workspace.open(workspace, create=False).read() as db:
        found = spotcheck.queue(db, benchmark, **among, limit=limit, offset=offset)
        counts = spotcheck.counts(db, benchmark, **among)
    table = printing.table("What deserves a look")
    for heading in ("no.", "player", "score", "apart", "people", "priority", "because"):
        table.add_column(heading, justify="left" if heading in ("player", "because") else "right")
    for s in found:
        table.add_row(
            str(s.conversation_id), s.player, _number(s.final), _number(s.spread), _number(s.people), f"{s.priority:.2f}",
            ", ".join(spotcheck.REASONS[reason] for reason in s.reasons),
        )  # fmt: skip
    _console().print(table)
    told = ", ".join(f"{spotcheck.REASONS[reason]} {n}" for reason, n in counts.items() if reason)
    click.echo(f"{counts['']} conversations" + (f": {told}." if told else "."))


@command.command("look")
@click.argument("conversation", type=int)
@click.option("--person", default="", help="Whose findings to show beside the judgements.")
@click.pass_obj
def look(workspace: str, conversation: int, person: str) -> None:
    """Show one conversation by its number in the queue: the dialogue, and each judge's score and reasons."""
    with Workspace.open(workspace, create=False).read() as db:
        found = spotcheck.screen(db, conversation, person)
    for turn in found.conversation.turns():
        mark = "  ← first challenging turn" if turn.number == found.challenging else ""
        click.echo(f"— turn {turn.number}{mark}")
        for message in filter(None, (turn.user, turn.reply)):
            cut = " (cut off at the length limit)" if message.meta.get("cut") else ""
            click.echo(f"{message.role}: {message.content or '(empty)'}{cut}")
    for seen in found.judgements:
        told = (
            f"{seen.score:g}. {seen.explanation}" if seen.score is not None else f"{seen.failure}\n{seen.raw}"
        )
        said = f" [{person}: {seen.finding}]" if seen.finding else ""
        click.echo(f"\n{seen.judge}, judgement {seen.id}{said}: {told}")


@command.command("say")
@click.argument("judgement", type=int)
@click.argument("finding", type=click.Choice(get_args(Finding)))
@click.option("--person", required=True, help="Who says so.")
@click.option("--comment", default="")
@click.option("--corrected", type=float, help="The score it should have been.")
@click.option("--audit", default="", help="The audit that is gone through; left out: the hunt.")
@click.pass_obj
def say(
    workspace: str, judgement: int, finding: Finding, person: str, comment: str, corrected: float | None, audit: str
) -> None:  # fmt: skip
    """Keep what a person found of a judgement (by its number): reasonable, too_high or too_low; seen, if it could not be read."""
    with Workspace.open(workspace, create=False).write() as db:
        spotcheck.verify(db, judgement, person, finding, comment, corrected, audit=audit)
    click.echo(f"Judgement {judgement}: {finding.replace('_', ' ')}, says {person}.")


@command.command("draw")
@click.argument("benchmark")
@click.option("--name", required=True, help="The audit's name.")
@click.option(
    "--n", type=click.IntRange(1), default=spotcheck.AUDIT, show_default=True, help="Judgements to draw."
)
@click.option("--judges", metavar="A,B", default="", help="Only judgements by these.")
@options.where("conversations")
@click.option(
    "--seed",
    type=click.IntRange(0),
    default=0,
    show_default=True,
    help="The same seed draws the same sample.",
)
@click.pass_obj
def draw(
    workspace: str,
    benchmark: str,
    name: str,
    n: int,
    judges: str,
    facets: dict[str, tuple[str, ...]],
    seed: int,
) -> None:
    """Draw a random sample of judgements, whose rate of reasonable ones is unbiased."""
    with Workspace.open(workspace, create=False).write() as db:
        audit = spotcheck.draw(db, name, benchmark, n=n, seed=seed, judges=names(judges), facets=facets)
    click.echo(f"Audit “{audit.name}”: {audit.items} of {audit.drawn_from} judgements, seed {audit.seed}.")


@command.command("show")
@click.argument("benchmark")
@click.option("--audit", default="", help="The audit; left out: what was found in the hunt.")
@click.option("--judges", metavar="A,B", default="", help="Only what was found of these judges.")
@options.where("conversations")
@click.option("--models", metavar="A,B", default="", help="Only conversations of these models.")
@click.option("--format", "form", type=click.Choice(["table", "json"]), default="table", show_default=True)
@click.pass_obj
def show(
    workspace: str, benchmark: str, audit: str, judges: str, facets: dict[str, tuple[str, ...]], models: str, form: str
) -> None:  # fmt: skip
    """What people found: share of reasonable judgements with a Wilson interval, and how optimistic the others are."""
    with Workspace.open(workspace, create=False).read() as db:
        found = spotcheck.findings(
            db, benchmark, audit, facets=facets, players=names(models), judges=names(judges)
        )
    if form == "json":
        click.echo(json.dumps(asdict(found), ensure_ascii=False, indent=2))
    else:
        table = printing.table(f"Audit “{audit}”" if audit else "Found in the hunt")
        for heading in (
            "",
            "",
            "n",
            "reasonable",
            "95%",
            "too high",
            "too low",
            "optimism",
            "95%",
            "unreadable",
        ):
            table.add_column(heading, justify="right" if heading else "left")
        for name, shares in {"": (found.overall,), **found.by}.items():
            for share in shares:
                table.add_row(name, *_row(share))
        _console().print(table)
    for note in spotcheck.notes(found):
        click.echo(note, err=True)


def _row(share: spotcheck.Share) -> list[str]:
    return [
        share.of, str(share.n), _percent(share.rate), _ends(share.rate_ci), str(share.too_high), str(share.too_low),
        _percent(share.optimism), _ends(share.optimism_ci), str(share.unread or ""),
    ]  # fmt: skip


def _percent(value: float | None) -> str:
    return "undefined" if value is None else f"{100 * value:.1f}%"


def _ends(ci: tuple[float, float] | None) -> str:
    return "" if ci is None else f"{100 * ci[0]:.1f}–{100 * ci[1]:.1f}"


def _number(value: float | None) -> str:
    return "" if value is None else f"{value:.2f}"


def _console() -> Console:
    return printing.console()
