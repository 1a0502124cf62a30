"""`concord doctor`: check the models of a workspace, and say what is wrong and how to repair it."""

import click

from concord.commands import options
from concord.commands.printing import echo
from concord.errors import ConcordError
from concord.llm.models import load_models, pick
from concord.runs import examining


@click.command(name="doctor")
@click.argument("names", nargs=-1)
@click.pass_obj
def command(folder: str, names: tuple[str, ...]) -> None:
    """Check every configured model (or those named) with small calls.

    They have the parameters, the reply's schema and the length of what players and judges are sent. Of each
    model that answers it says under which id it is served.
    """
    workspace = options.workspace(folder)
    models = load_models(workspace.models_path)
    if not models:
        raise ConcordError(
            f"No model is named in {workspace.models_path} yet. Add one with `concord models add`, or write "
            "a [models.NAME] table: the file says how."
        )
    chosen = {name: pick(models, name, None) for name in names} or models
    for name in [name for name, model in chosen.items() if model.kind == "program"]:
        echo(f"· {name}: a program, which is tried when it judges")
    called = {name: model for name, model in chosen.items() if model.kind != "program"}
    findings = examining.check(workspace, called)
    for name, finding in findings.items():
        echo(f"{'✗' if finding.wrong else '✓'} {name}: {finding.sentence}")
    if any(finding.wrong for finding in findings.values()):
        raise SystemExit(1)
