"""`concord pingpong …`: what this benchmark alone needs."""

from pathlib import Path

import click

from concord.benchmarks.pingpong import files
from concord.commands.printing import echo
from concord.workspace import Workspace


@click.group("pingpong")
def command() -> None:
    """PingPong: import characters and situations of the authors."""


@command.group("import")
def import_() -> None:
    """Read the authors' files."""


@import_.command("settings")
@click.argument("file", metavar="FILE.json", type=click.Path(path_type=Path))
@click.pass_obj
def import_settings(folder: str, file: Path) -> None:
    """Characters and situations from the authors' settings file (JSON)."""
    settings = files.read(file)
    data = Workspace.open(folder).path / "data"
    files.write(settings, data)
    for language, cards in settings.characters.items():
        count = len(settings.situations[language])
        echo(f"{language}: {len(cards)} characters ({', '.join(cards)}), {count} situations")
    echo(
        f"Written below {data / 'pingpong'}, beside those that ship; "
        "`concord run pingpong --characters …` chooses among all."
    )
