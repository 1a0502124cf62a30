"""`concord rubric …`: make a rubric, look at it as a judge sees it, list its versions."""

import json
from collections import Counter
from typing import Any

import click

from concord.commands import options
from concord.commands.printing import echo, write_text
from concord.conversation import Conversation
from concord.errors import ConfigError
from concord.files import file_name
from concord.rating import conditions_in_words
from concord.rubrics import rubric_store, writing
from concord.rubrics.reading import rubric_of
from concord.rubrics.rubric import EXAMPLE, STARTER
from concord.runs import rubric_judge as judge
from concord.store import conversations, rubrics
from concord.workspace import Workspace

UNITS = ("conversation", "each-reply", "last-reply", "marked-reply")


@click.group("rubric")
def command() -> None:
    """Make, list and show rubrics: the questions to judges and annotators (rubrics/NAME.toml of the
    workspace).
    """


@command.command("new")
@click.argument("name")
@click.option("--title", default="", help="What annotators see as its name.")
@click.option("--unit", type=click.Choice(UNITS), help="What is rated; default: the conversation.")
@click.option(
    "--ask",
    multiple=True,
    metavar="NAME=STATEMENT",
    help="A statement to be rated from 1 to 5; may be repeated. Without any, an example is written.",
)
@click.pass_obj
def _new(workspace: str, name: str, title: str, unit: str | None, ask: tuple[str, ...]) -> None:
    """Write a rubric, which you can edit in an editor or on the page Rubrics."""
    folder = rubric_store.folder(options.workspace(workspace))
    if name != file_name(name):
        raise ConfigError(f"“{name}” is not a file name. Write it as “{file_name(name)}”.")
    path = folder / f"{name}.toml"
    if path.exists():
        raise ConfigError(f"{path} exists already. Edit it, or choose another name.")
    criteria = [_criterion(text) for text in ask] or [STARTER]
    entries = {"title": title, "unit": unit, "criteria": criteria}
    entries_stated = {key: value for key, value in entries.items() if value}
    rubric_of(name, entries_stated, str(path))
    path.parent.mkdir(mode=0o700, exist_ok=True)
    write_text(path, writing.toml(entries_stated))
    echo(f"{path} is written. See it: concord rubric show {name}")
    echo(f"Then: concord judge {name} --judges …, and concord study draw STUDY --n 20 --rubric {name}")


def _criterion(text: str) -> dict[str, Any]:
    name, equals, statement = text.partition("=")
    if not equals:
        raise ConfigError(f"--ask {text} is invalid. Write NAME=STATEMENT.")
    return {"name": name.strip(), "statement": statement.strip(), "scale": "1..5"}


@command.command("list")
@click.pass_obj
def _list(workspace: str) -> None:
    """The rubrics of the workspace, with the versions that were used."""
    workspace_ = Workspace.open(workspace, create=False)
    with workspace_.read() as db:
        uses_of_rubric = Counter(version.name for version in rubrics.versions(db))
    names = sorted({*rubric_store.names(workspace_), *uses_of_rubric})
    for name in names:
        echo(f"{name}\t{uses_of_rubric[name]} version{'' if uses_of_rubric[name] == 1 else 's'} used")
    if not names:
        echo("No rubric yet. Create one with `concord rubric new NAME`.", err=True)


@command.command("show")
@click.argument("name")
@click.option("--version", default="", help="A version that was used; default: the file as it is.")
@click.option("--conversation", default="", metavar="KEY", help="Fill the prompt with this conversation.")
@click.pass_obj
def _show(workspace: str, name: str, version: str, conversation: str) -> None:
    """Show the questions, and a judge's prompt for a conversation."""
    workspace_ = Workspace.open(workspace, create=False)
    numbered = rubric_store.find(workspace_, name, rubric_store.number_of(version))
    rubric = numbered.rubric
    echo(f"{rubric.title} ({numbered.variant}, {rubric.hash}): rated is the {rubric.unit.replace('-', ' ')}")
    for criterion in (*rubric.criteria, *rubric.pairs):
        scale = criterion.scale
        condition = conditions_in_words(criterion, rubric.criteria)
        condition_words = f" Asked where {condition}." if condition else ""
        echo(
            f"  {criterion.label} ({scale.type}, {scale.kind.level}): {criterion.statement}{condition_words}"
        )
    with workspace_.read() as db:
        conversation_shown = conversations.load(db, conversation) if conversation else _first(db)
        for sentence in rubric_store.unasked(db, rubric):
            echo(f"Note: {sentence}", err=True)
    for prompt in judge.requests(rubric, numbered.variant, conversation_shown):
        for message in prompt.messages:
            echo(f"\n── {message.role} " + "─" * 60)
            echo(message.content)
        echo("\n── schema of the reply " + "─" * 46)
        echo(json.dumps(prompt.schema, ensure_ascii=False, indent=2))


def _first(db: Any) -> Conversation:
    first = conversations.keys_after(db, conversations.Filter(), limit=1)
    return conversations.load(db, first[0][1]) if first else EXAMPLE
