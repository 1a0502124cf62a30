"""`concord scripts …`: cut SimulBench's scripts from judged dialogues, count them, set aside those that tell nobody apart."""

from __future__ import annotations

from collections.abc import Sequence

import click

from core.benchmarks.simulbench import extraction
from core.benchmarks.simulbench.scripts import HARD, SCRIPT, Script, counts, stored
from core.benchmarks.simulbench.tasks import STORED
from core.commands.options import names
from core.store import scenarios
from core.workspace import Workspace


@click.group("scripts")
def command() -> None:
    """SimulBench's scripts: cut them from dialogues, count them, set aside those that tell nobody apart."""


@command.command("extract")
@click.option(
    "--judge", default="", help="Whose challenging turns to go by; may be left out if one judge has looked."
)
@click.option("--by", default="extraction", show_default=True, help="Who decides; kept with the scripts.")
@click.pass_obj
def extract(workspace: str, judge: str, by: str) -> None:
    """Cut scripts from every stored dialogue: LastOnly where no turn was challenging, else FirstChan and SubseqChan."""
    with Workspace.open(workspace, create=False).write() as db:
        done = extraction.extract_scripts(db, judge, by=by)
    total = sum(done.kinds.values())
    click.echo(f"{done.dialogues} dialogues, {total} scripts ({total - done.known} new), by {done.judge}:")
    for kind, n in done.kinds.items():
        click.echo(f"  {kind}: {n}")
    if done.unjudged:
        click.echo(
            f"{done.unjudged} dialogues were left out: {done.judge} has not usably looked at them. Run it again with --retry-failed.",
            err=True,
        )


@command.command("count")
@click.pass_obj
def count(workspace: str) -> None:
    """How many scripts there are of each kind and type, and how many were set aside."""
    with Workspace.open(workspace, create=False).read() as db:
        kept = stored(scenarios.accepted(db, STORED, SCRIPT))
        sources = scenarios.counts(db, STORED, SCRIPT)
        without = scenarios.waiting_for(db, STORED, SCRIPT)
    echo_counts(list(kept.values()))
    if without:
        click.echo(
            f"Left out, since their task is not accepted: {len(without)} ({', '.join(dict.fromkeys(without.values()))})"
        )
    for source, states in sources.items():
        click.echo(f"From {source}: " + ", ".join(f"{n} {state}" for state, n in states.items()))


@command.command("discard")
@click.option(
    "--targets",
    metavar="A,B",
    default="",
    help="Targets that must all have full marks; all that answered unless given.",
)
@click.option(
    "--judges",
    metavar="A,B",
    default="",
    help="Judges that must all give full marks; all that scored unless given.",
)
@click.option("--by", default="command line", show_default=True, help="Who decides; kept with the scripts.")
@click.option("--dry-run", is_flag=True, help="List them only.")
@click.pass_obj
def discard(workspace: str, targets: str, judges: str, by: str, dry_run: bool) -> None:
    """Set aside the scripts that every target answers with full marks from every judge, and list them."""
    with Workspace.open(workspace, create=False).write() as db:
        easy = extraction.easy_scripts(db, targets=names(targets), judges=names(judges))
        if not dry_run:
            extraction.discard(db, easy, by=by)
    for one in easy:
        click.echo(f"  {one.script.key} ({one.script.kind}, {one.script.type})")
    done = "would be set aside" if dry_run else "set aside"
    over = f", full marks for {', '.join(easy[0].targets)}" if easy else ""
    click.echo(f"{len(easy)} scripts {done}{over}.")


def echo_counts(found: Sequence[Script]) -> None:
    """Print how many there are of each kind and type."""
    of = counts(found)
    for kind, by_type in of.items():
        told = ", ".join(f"{n} {type}" for type, n in by_type.items())
        click.echo(f"  {kind}: {sum(by_type.values())} ({told})")
    click.echo(f"  Hard ({' and '.join(HARD)}): {sum(sum(of[kind].values()) for kind in HARD)}")
    click.echo(f"  All: {len(found)}")
