"""`concord people …`: invite annotators and researchers by link, withdraw links, remove names."""

import click

from concord import messages
from concord.codes import Reach
from concord.commands import options
from concord.commands.app import call
from concord.commands.printing import echo, require_output
from concord.errors import StudyError
from concord.store import access, figures
from concord.studies import studies
from concord.studies.addresses import reach
from concord.workspace import Workspace


@click.group("people")
def command() -> None:
    """Invite annotators, adjudicators and researchers: each has their own link, which opens the pages of
    their role.
    """


@command.command("invite")
@click.argument("names", metavar="NAME…", nargs=-1, required=True)
@click.option(
    "--role",
    type=click.Choice(["annotator", "researcher", "adjudicator"]),
    default="annotator",
    show_default=True,
    help="An annotator has their desk only, an adjudicator the page Adjudication, a researcher all but "
    "Sessions.",
)
@click.option(
    "--study", default="", help=("Assign this study to the annotators, in addition to those who have it.")
)
@click.option("--base-url", help="The address of the app for annotators; default: where it last listened.")
@options.number("--days", access.LINK_DAYS, "Days until the link expires; 0: never.")
@click.pass_obj
def _invite(
    workspace: str, names: tuple[str, ...], role: str, study: str, base_url: str | None, days: int
) -> None:
    """Make a link for each name and print it, once. A new link replaces the person's older one."""
    if study and role != "annotator":
        raise StudyError("Only annotators can have a study. Remove --study or --role.")
    require_output()
    workspace_ = Workspace.open(workspace, create=False)
    with workspace_.write() as db:
        links = studies.invite(db, names, base_url, days, role)
        items = studies.deal_study(db, study, names) if study else {}
        # A link that cannot be printed is not stored.
        for name, link in links.items():
            echo(f"{name}\t{link}" + (f"\t{items.get(name, 0)} items" if study else ""))
    echo(
        "Links are shown only now. Anyone with a link can sign in as its person, so give each link only "
        "to its person.",
        err=True,
    )
    echo(f"The links work while the app runs: {call(workspace_)} app", err=True)
    audience = reach(next(iter(links.values())))
    if audience is not Reach.ANYWHERE:
        echo(messages.reach(audience, call(workspace_)), err=True)


@command.command("revoke")
@click.argument("name")
@click.pass_obj
def _revoke(workspace: str, name: str) -> None:
    """Withdraw a person's links and sign them out. Their ratings and decisions stay. `concord study deal`
    gives an annotator's items that are not begun to others.
    """
    with Workspace.open(workspace, create=False).write() as db:
        access.revoke(db, name)
    echo(f"The link of {name} no longer works.")


@command.command("label")
@click.argument("name")
@click.argument("labels", metavar="LABEL…", nargs=-1)
@click.pass_obj
def _label(workspace: str, name: str, labels: tuple[str, ...]) -> None:
    """Set an annotator's languages and skills, which replace the earlier ones. `concord study deal --match
    language` assigns each conversation to those who have its language.
    """
    with Workspace.open(workspace, create=False).write() as db:
        access.set_labels(db, name, labels)
    echo(f"{name}: {', '.join(labels) or 'no languages or skills'}.")


@command.command("forget")
@click.argument("name")
@options.reason("Why; it is kept with the pseudonym, the time and your name.")
@click.pass_obj
def _forget(workspace: str, name: str, reason: str) -> None:
    """Replace an annotator's name by a pseudonym, and remove link, sessions and a platform's numbers.

    Ratings, comments and figures stay. It cannot be undone, and backups made before still have the name.
    """
    workspace_ = Workspace.open(workspace, create=False)
    with workspace_.write() as db:
        pseudonym = access.forget(db, name, reason)
    figures.clear(workspace_.figures_path)
    echo(f"The name is removed. Ratings stay under the pseudonym {pseudonym}.")
