"""`concord schema`: the JSON schema of what a command prints with `--format json`."""

import json

import click

from concord.commands.printing import echo
from concord.reports.json_schema import json_schema


@click.command("schema")
@click.argument("name", metavar="[check|agreement|gate|drift|estimate|table|error]", default="check")
def command(name: str) -> None:
    """Print the JSON schema of what a command prints with --format json.

    `table` is the schema of one table, as other commands print it and as the others hold it. `error` is the
    schema of an error on standard error.
    """
    echo(json.dumps(json_schema(name), indent=2, ensure_ascii=False))
