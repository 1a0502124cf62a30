"""`concord annotators …`: invite people by link, withdraw links, list annotators."""

import json

import click

from concord.commands import options
from concord.commands.app import call
from concord.commands.printing import echo
from concord.store import access, audit, personal
from concord.studies import studies
from concord.workspace import Workspace


@click.group("annotators")
def command() -> None:
    """Annotators: each has a link of their own, which opens their desk only."""


@command.command("invite")
@click.argument("names", metavar="NAME…", nargs=-1, required=True)
@click.option("--study", default="", help="Deal them this study as well, beside those who have it already.")
@click.option("--base-url", help="Where annotators reach the app; else where it last listened.")
@options.number("--days", access.LINK_DAYS, "Days until the link expires; 0: never.")
@options.decided("invited", "study", about="names")
@click.pass_obj
def _invite(workspace: str, names: tuple[str, ...], study: str, base_url: str | None, days: int) -> None:
    """Make a link for each name and print it, once. A new link replaces the person's older one."""
    opened = Workspace.open(workspace, create=False)
    with opened.write() as db:
        links = studies.invite(db, names, base_url, days)
        items = studies.deal_study(db, study, names) if study else {}
    for name, link in links.items():
        echo(f"{name}\t{link}" + (f"\t{items.get(name, 0)} items" if study else ""))
    echo("A link is shown only now and opens one desk. Hand each to its person.", err=True)
    echo(f"Links open while the app runs: {call(opened)} app", err=True)


@command.command("revoke")
@click.argument("name")
@options.decided("link withdrawn", "study", about="name")
@click.pass_obj
def _revoke(workspace: str, name: str) -> None:
    """Withdraw an annotator's link. Their ratings stay; `concord study deal` gives the rest to others."""
    with Workspace.open(workspace, create=False).write() as db:
        access.revoke(db, name)
    echo(f"The link of {name} no longer works.")


@command.command("data")
@click.argument("name")
@options.by(audit.COMMAND, help="Who asks; the audit log says so.")
@click.pass_obj
def _data(workspace: str, name: str, by: str) -> None:
    """Print all that is stored of an annotator, as JSON, such as for a request for their data."""
    opened = Workspace.open(workspace, create=False)
    with opened.read() as db:
        echo(json.dumps(personal.data(db, name), ensure_ascii=False, indent=2))
    if not opened.read_only:
        with opened.write() as db:
            audit.record(db, by, "exported what is stored of an annotator", about=name)


@command.command("forget")
@click.argument("name")
@options.reason("Why; it is kept with the pseudonym, the time and your name.")
@options.by()
@click.pass_obj
def _forget(workspace: str, name: str, reason: str, by: str) -> None:
    """Replace an annotator's name by a pseudonym, and remove link, sessions and a platform's numbers.

    Ratings, comments and figures stay. It cannot be undone, and backups made before still have the name.
    """
    opened = Workspace.open(workspace, create=False)
    with opened.write() as db:
        pseudonym = personal.forget(db, name, reason, by)
    echo(f"The name is removed. What they rated stands under {pseudonym}.")
    opened.empty_log()


@command.command("list")
@click.option("--study", default="", help="Only this study's.")
@click.pass_obj
def _list(workspace: str, study: str) -> None:
    """Who was invited, how far they are, and when and from where their link was last used."""
    with Workspace.open(workspace, create=False).read() as db:
        people = access.annotators(db, study)
    for a in people:
        mark = "\tsimulated" if a.simulated else ""
        mark += f"\tlast used {a.used} from {a.source or 'an unknown address'}" if a.used else ""
        echo(f"{a.name}\tlink {a.link}\t{a.done} done, {a.skipped} skipped, {a.items} items{mark}")
    if not people:
        echo("No annotators yet. Invite some with `concord annotators invite`.", err=True)
