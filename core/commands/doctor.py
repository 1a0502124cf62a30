"""`concord doctor`: check the models of a workspace, and say what is wrong and how to repair it."""

import shlex

import click

from concord.commands.app import call
from concord.commands.printing import echo
from concord.errors import ConcordError
from concord.llm.models import load_models, pick
from concord.runs import entries, examining
from concord.workspace import Workspace


@click.command(name="doctor")
@click.argument("names", nargs=-1)
@click.option("--again", is_flag=True, help="Test again which requests endpoints accept.")
@click.option("--write", is_flag=True, help="Write the result into models.toml.")
@click.pass_obj
def command(folder: str, names: tuple[str, ...], again: bool, write: bool) -> None:
    """Check every configured model (or those named) with small calls.

    They have the parameters, the reply's schema and the length of the calls of your rubrics and runs. If an
    endpoint refuses a part of a request, Concord sends a weaker form, now and in later runs. The command
    prints the id under which each model is served. Needs of other benchmarks are notes.
    """
    workspace = Workspace.open(folder)
    models = load_models(workspace.models_path)
    if not models:
        raise ConcordError(
            f"{workspace.models_path} has no models yet. Add one with `concord models add`, or write a "
            "table [models.NAME] as the file explains."
        )
    selected = {name: pick(models, name, None) for name in names} or models
    for name in [name for name, model in selected.items() if model.kind == "program"]:
        echo(f"· {name}: a program; it is tested when it first judges")
    endpoints = {name: model for name, model in selected.items() if model.kind != "program"}
    findings = examining.check(workspace, endpoints, fresh=again)
    for name, finding in findings.items():
        echo(f"{'✗' if finding.wrong else '✓'} {name}: {finding.sentence}")
        for note in finding.notes:
            echo(f"  · {note}")
        if finding.settings and write:
            lines = entries.change(workspace, name, finding.settings).lines
            echo(f"  Written to {workspace.models_path}:\n\n{lines}")
        elif finding.settings:
            write_it = f"{call(workspace)} doctor {shlex.quote(name)} --write"
            echo(f"  Runs use these settings; `{write_it}` writes them into models.toml.")
    if any(finding.wrong for finding in findings.values()):
        raise SystemExit(1)
