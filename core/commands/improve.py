"""`concord improve RUBRIC`: better instructions for a judge from its disagreements with people."""

import click

from concord.commands import options, printing
from concord.commands.printing import echo
from concord.errors import StudyError
from concord.rubrics import shelf
from concord.store import studies
from concord.workspace import Workspace


@click.command("improve")
@click.argument("rubric")
@click.option("--judge", required=True, help="The model that judges.")
@click.option(
    "--with",
    "optimiser",
    default="",
    help="The model that writes instructions; without one only examples are tried.",
)
@click.option("--budget", type=click.FloatRange(min=0), help="Spend no more, over all calls of this command.")
@click.option("--study", default="", help="The study of people's answers, where several use the rubric.")
@click.option("--version", default="", help="The version to improve; the rubric's file unless given.")
@options.number("--rounds", 3, "Times instructions are proposed.")
@options.form()
@click.pass_obj
def command(
    folder: str,
    /,
    rubric: str,
    judge: str,
    optimiser: str,
    budget: float | None,
    study: str,
    version: str,
    rounds: int,
    form: str,
) -> None:
    """Propose instructions on one part of a study, choose on another, and report the gain on the sealed one.

    The version as it was, one with examples and the best proposal are compared; the gain of the one chosen is
    measured once, with its interval, or it is said that there is none. A study that is not divided yet is
    divided first. Each version is kept (`concord lab show`), and nothing that is stored is paid again.
    """
    from concord.lab import improving, parts
    from concord.lab.running import Purse
    from concord.store import lab

    workspace = Workspace.open(folder, create=False)
    with workspace.write() as db:
        asked_by = {n: lab.kept(db, n).get("rubric") or studies.get(db, n).rubric for n in studies.names(db)}
        study = study or _only(rubric, [name for name, used in asked_by.items() if used == rubric])
        if not lab.kept(db, study).get("parts"):
            printing.show([parts.table(db, parts.divide(db, study, rubric=rubric))], "table")
    purse = Purse(budget)
    propose = improving.by_model(workspace, study, optimiser, purse) if optimiser else None
    answer = improving.by_runs(workspace, judge, purse)
    outcome = improving.improve(
        *(workspace, study, judge, propose, answer), version=shelf.number_of(version), rounds=rounds
    )
    if form == "table":
        for line in outcome.sentences:
            echo(line)
        echo(f"Spent: {purse.spent:.4f}" + ("" if budget is None else f" of {budget:g}") + "\n")
    printing.show(outcome.tables, form)


def _only(rubric: str, known: list[str]) -> str:
    """The study whose judges are asked by a rubric. Raises StudyError where there is none, or several."""
    if len(known) != 1:
        others = f": {', '.join(known)}" if known else "; the rubric needs questions of the same names"
        raise StudyError(
            f"{len(known) or 'No'} studies use the rubric “{rubric}”. Name that of people's answers with "
            f"--study{others}."
        )
    return known[0]
