"""`concord pingpong …`: what this benchmark alone needs."""

from pathlib import Path

import click

from concord.benchmarks.pingpong import files
from concord.commands import options
from concord.commands.printing import echo


@click.group("pingpong")
def command() -> None:
    """PingPong: import characters and situations of the authors."""


@command.group("import")
def import_() -> None:
    """Read the authors' files."""


@import_.command("settings")
@click.argument("file", metavar="FILE.json", type=click.Path(path_type=Path))
@click.option("--name", default="", help="The name of the character set; default: the file's.")
@click.pass_obj
def import_settings(folder: str, file: Path, name: str) -> None:
    """Characters and situations from the authors' settings file (JSON), as a character set of their own."""
    settings = files.read(file)
    set_name = files.slug(name or file.stem)
    files.bring(options.workspace(folder), settings, set_name)
    for language, cards in settings.characters.items():
        count = len(settings.situations[language])
        echo(f"{language}: {len(cards)} characters ({', '.join(cards)}), {count} situations")
    echo(f"They are the character set “{set_name}”: concord run pingpong --character-set {set_name} …")
