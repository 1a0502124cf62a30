"""`concord models`: list the models of a workspace, and add one by the kind of its endpoint."""

import shlex

import click

from concord.commands import options, printing
from concord.commands.app import call
from concord.commands.printing import echo
from concord.errors import ConfigError
from concord.llm import presets as kinds
from concord.llm.models import currency, load_models
from concord.runs import entries
from concord.table import Column, Table


@click.group(name="models")
def command() -> None:
    """List the models of models.toml, add one by kind of endpoint."""


@command.command("add")
@click.argument("name")
@click.option(
    "--preset", required=True, metavar="KIND", help="The kind of endpoint: `concord models presets`."
)
@click.option("--model", required=True, metavar="ID", help="The endpoint's id of the model.")
@click.option("--base-url", metavar="URL", help="The endpoint's address; default: the preset's.")
@click.option("--key-env", "api_key_env", metavar="VARIABLE", help="The environment variable with the key.")
@click.pass_obj
def add(
    folder: str, name: str, preset: str, model: str, base_url: str | None, api_key_env: str | None
) -> None:
    """Append an entry for NAME to models.toml; the rest of the file stays as it is."""
    if api_key_env == "":
        raise ConfigError("--key-env needs the name of an environment variable, such as MY_KEY.")
    workspace = options.workspace(folder)
    settings = {"model": model, "base_url": base_url, "api_key_env": api_key_env}
    lines = entries.add(workspace, name, preset=preset, **settings).lines
    echo(f"Added to {workspace.models_path}:\n\n{lines}")
    for variable in load_models(workspace.models_path)[name].unset:
        echo(f"Set the environment variable {variable} to its key.")
    echo(f"`{call(workspace)} doctor {shlex.quote(name)}` checks it.")


@command.command("presets")
def presets() -> None:
    """The kinds of endpoints."""
    rows = tuple({"kind": name, "about": preset["about"]} for name, preset in kinds.presets().items())
    printing.show([Table("presets", "Kinds of endpoints", (Column("kind"), Column("about")), rows)], "table")


@command.command("list")
@options.form()
@click.pass_obj
def list_(folder: str, form: str) -> None:
    """List the models of models.toml: address, settings, and whether the key is set."""
    workspace = options.workspace(folder)
    models = load_models(workspace.models_path).values()
    printing.show([kinds.listed(models, currency(workspace.models_path))], form)
