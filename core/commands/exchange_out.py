"""`concord export WHAT`: write ratings, conversations, a study's report or dataset, or a site."""

import sys
from pathlib import Path
from typing import Any

import click
from click.core import ParameterSource

from concord.commands.printing import echo
from concord.errors import ConfigError
from concord.exchange import dataset, publish
from concord.exchange.publish import PARTS, Export
from concord.llm.families import families
from concord.reports.agreement_report import Options
from concord.workspace import Workspace


@click.command("export", epilog="\n\n".join(f"{name}: {part.title}." for name, part in PARTS.items()))
@click.argument("what", metavar="WHAT", type=click.Choice(list(PARTS)))
@click.option("--study", default="", metavar="NAME", help="Only this study's.")
@click.option("--benchmark", default="", help="Only this benchmark's.")
@click.option(
    "--format",
    "form",
    type=click.Choice(dataset.FORMS),
    help="The format of a table; default: the form that `concord import` reads back.",
)
@click.option(
    "--with-names", is_flag=True, help="dataset: keep annotators' names; by default they are numbered."
)
@click.option("--title", default="", help="site: its title; default: the workspace's name.")
@click.option("--replace", is_flag=True, help="site: replace the site in the folder.")
@click.option(
    "--out",
    type=click.Path(path_type=Path),
    help="The file, folder or .zip; default for a single file: the terminal.",
)
@click.option(
    "--with-excluded", is_flag=True, help="Include annotators whom `concord study exclude` excluded."
)
@click.pass_context
def command(context: click.Context, /, what: str, out: Path | None, replace: bool, **given: Any) -> None:
    """Write the data of a workspace or a study.

    To restore a study, import conversations before ratings. WHAT is one of these:
    """
    part = PARTS[what]
    for parameter in context.command.params:
        name = str(parameter.name)
        is_stated = context.get_parameter_source(name) is ParameterSource.COMMANDLINE
        if is_stated and name not in ("what", "out", *part.takes.split()):
            raise ConfigError(f"`concord export {what}` takes no {parameter.opts[0]}.")
    workspace_ = Workspace.open(context.obj, create=False)
    given["title"] = given["title"] or workspace_.path.name
    export = Export(what, **given, options=Options(families=families(workspace_.models_path)))
    sentence = publish.write(workspace_, export, out or _print_line, overwrite=replace)
    echo(sentence, err=True)


def _print_line(line: str) -> None:
    """Print a line: a terminal shows it letter for letter, a file has it as it is, in UTF-8."""
    if sys.stdout.isatty():
        echo(line, nl=False)
    else:
        sys.stdout.buffer.write(line.encode())
