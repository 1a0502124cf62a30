"""`concord lab …`: improve a judge on one part of a study, choose on another, report on the sealed one."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from concord.commands import options, printing
from concord.commands.printing import echo
from concord.commands.progress import estimated
from concord.files import read_text
from concord.llm.models import currency
from concord.rubrics import rubric_store
from concord.workspace import Workspace

if TYPE_CHECKING:
    from concord.lab.measuring import Bench, Candidate

F = TypeVar("F", bound=Callable[..., Any])


@click.group("lab")
def command() -> None:
    """Improve a judge, and measure the gain on items that you did not choose by."""


STUDY = click.argument("study")
JUDGE = click.option("--judge", required=True, help="The model.")
VERSION = click.option("--version", required=True, help="The version of the rubric, by number.")
FROM_OPTION = click.option("--from", "one", required=True, help="The version it is compared with, by number.")
TO_OPTION = click.option("--to", "other", required=True, help="The other version.")
TO_JUDGE = click.option("--to-judge", default="", help="The other model; default: the same.")
LIMIT = click.option(
    "--max-cost", type=click.FloatRange(min=0), help="Spend no more; every model needs a price."
)


def _of_one(command: F) -> F:
    """The study, and the options that name a judge."""
    return STUDY(JUDGE(VERSION(command)))


def _of_two(command: F) -> F:
    """The study, and the options that name two judges: those of `_two`."""
    return STUDY(JUDGE(FROM_OPTION(TO_OPTION(TO_JUDGE(command)))))


def _two(bench: "Bench", *, judge: str, one: str, other: str, to_judge: str) -> "tuple[Candidate, Candidate]":
    """The judges that options name. Raises NotFound for one that did not answer."""
    return bench.find(judge, one), bench.find(to_judge or judge, other)


def _workspace_and_bench(folder: str, study: str, resamples: int = 1000) -> "tuple[Workspace, Bench]":
    """The workspace, and what people and judges of a divided study answered."""
    from concord.lab import measuring

    workspace = Workspace.open(folder, create=False)
    with workspace.read() as db:
        return workspace, measuring.read(db, study, resamples=resamples)


@command.command("split")
@STUDY
@click.option("--rubric", default="", help="The rubric of the judges; default: the study's.")
@options.seeded("divides the same way")
@click.pass_obj
def split(folder: str, /, study: str, rubric: str, seed: int) -> None:
    """Divide the rated items of a study once, whole scenarios together; later ratings join their part."""
    from concord.lab import parts

    with Workspace.open(folder, create=False).write() as db:
        table = parts.table(db, parts.divide(db, study, rubric=rubric, seed=seed))
    printing.show([table], "table")


@command.command("show")
@STUDY
@options.form()
@click.pass_obj
def show(folder: str, /, study: str, form: str) -> None:
    """Show the parts, the looks at the sealed one, and every version with its agreement."""
    from concord.lab import parts, variants

    workspace, bench = _workspace_and_bench(folder, study)
    with workspace.read() as db:
        tables = [parts.table(db, bench.parts), variants.table(db, bench)]
    printing.show(tables, form)


@command.command("disagreements")
@_of_one
@options.number("--most", 10, "Items to list, the largest disagreement first.", minimum=0)
@options.form()
@click.pass_obj
def disagreements(folder: str, /, study: str, judge: str, version: str, most: int, form: str) -> None:
    """List the items of develop on which a judge differs from annotators, and the causes."""
    from concord.lab import disagreements as differing

    workspace, bench = _workspace_and_bench(folder, study)
    candidate = bench.find(judge, version)
    with workspace.read() as db:
        found_disagreements = differing.largest(db, bench, candidate)
        causes = differing.causes(db, bench, candidate, found_disagreements)
    printing.show(
        [differing.listed(candidate, found_disagreements[:most]), *([causes] if causes.rows else [])], form
    )


@command.command("variant")
@STUDY
@click.option("--from", "parent", default="", help="The version to change; default: the file.")
@click.option("--instructions", type=click.Path(path_type=Path), help="A file of instructions for judges.")
@click.option("--examples", type=click.IntRange(0, 50), help="The number of examples from develop.")
@click.option(
    "--reasons", type=click.Choice(["before", "after", "none"]), help=("When the judge gives its reason.")
)
@click.option("--judge", default="", help="The judge whose mistakes choose the examples.")
@click.option("--note", default="", help="A note on the version.")
@click.pass_obj
def variant(
    folder: str,
    /,
    study: str,
    parent: str,
    instructions: Path | None,
    examples: int | None,
    judge: str,
    note: str,
    **change: Any,
) -> None:
    """Make a version of the study's rubric with the named changes. Change other parts in the rubric's file,
    which becomes a version when a judge uses it.
    """
    from concord.lab import variants

    workspace, bench = _workspace_and_bench(folder, study)
    base = variants.keep_current(workspace, bench.parts, rubric_store.number_of(parent))
    change = {name: value for name, value in change.items() if value}
    with workspace.write() as db:
        if instructions:
            change["instructions"] = read_text(instructions)
        if examples is not None:
            candidate = bench.find(judge, base.variant) if judge else None
            change["examples"] = variants.pick_examples(db, bench, base.rubric, examples, candidate)
        body = variants.changed(base.rubric, **change)
        kept_variant = variants.keep(db, bench.parts, body, parent=base, note=note or ", ".join(change))
    if kept_variant.version == base.version:
        echo(f"It is equal to {base.variant}, which is stored already.")
    else:
        command_ = f"concord lab run {study} --judges … --versions {kept_variant.version}"
        echo(f"{kept_variant.variant} is saved. Run it: {command_}")


@command.command("run")
@STUDY
@options.several("--judges", "Models that answer.", required=True)
@options.several("--versions", "Versions by number; default: the rubric's file.")
@click.option(
    "--part", type=click.Choice(["develop", "select", "test"]), default="develop", show_default=True
)
@LIMIT
@click.option("--estimate", is_flag=True, help="Show the cost without calling a model.")
@click.pass_obj
def run(
    folder: str,
    /,
    study: str,
    judges: tuple[str, ...],
    versions: tuple[str, ...],
    part: str,
    max_cost: float | None,
    estimate: bool,
) -> None:
    """Have judges answer a part by versions of the rubric; stored answers are not paid again. Answers on test
    stay hidden until `concord lab report` opens it.
    """
    from concord.lab import parts, running, variants
    from concord.runs import planning
    from concord.runs.status import sentence

    workspace = Workspace.open(folder, create=False)
    with workspace.read() as db:
        divided = parts.read(db, study)
    purse = running.SharedBudget(max_cost)
    numbers = [rubric_store.number_of(version) for version in versions or ("",)]
    kept_variants = [variants.keep_current(workspace, divided, number) for number in numbers]
    for kept_variant in kept_variants:
        plan = running.plan_of(divided, part, judges, kept_variant.version)
        if estimate:
            survey = planning.survey(workspace, planning.job(workspace, plan))
            echo(f"{kept_variant.variant}: {estimated(survey, currency(workspace.models_path))}")
            continue
        progress = running.carry_out(workspace, plan, purse)
        echo(f"{kept_variant.variant} on {part}: {sentence(progress) if progress else 'all answered before'}")
        if progress and progress.state != "finished":
            echo(progress.message, err=True)
            raise SystemExit(3 if progress.state == "stopped" else 1)


@command.command("compare")
@_of_two
@click.option("--part", type=click.Choice(["develop", "select"]), default="develop", show_default=True)
@options.figures("items")
@click.pass_obj
def compare(
    folder: str,
    /,
    study: str,
    part: str,
    form: str,
    resamples: int,
    seed: int,
    **sides: str,
) -> None:
    """Compare two versions on the same items, criterion by criterion."""
    from concord.lab import comparing

    _, bench = _workspace_and_bench(folder, study, resamples)
    table = comparing.differences(bench, part, *_two(bench, **sides), seed=seed)
    if form == "table":
        echo(comparing.gain(table) + "\n")
    printing.show([table], form)


@command.command("choose")
@STUDY
@click.option(
    "--margin",
    type=click.FloatRange(0, 1),
    default=0.05,
    show_default=True,
    help="The margin: a judge with at most this much less agreement counts as no worse.",
)
@options.figures("items")
@click.pass_obj
def choose(folder: str, /, study: str, margin: float, form: str, resamples: int, seed: int) -> None:
    """All judges that answered *select*: the best, and the cheapest that is not worse by a margin."""
    from concord.lab import comparing

    _, bench = _workspace_and_bench(folder, study, resamples)
    table, _ = comparing.choose(bench, "select", list(bench.answers), margin=margin, seed=seed)
    printing.show([table], form)


@command.command("report")
@_of_two
@options.reason("Why you open the sealed part now; it is stored.")
@options.figures("items")
@click.pass_obj
def report(
    folder: str, /, study: str, reason: str, form: str, resamples: int, seed: int, **sides: str
) -> None:
    """Open the sealed part, which both versions have answered, and report the gain. Openings are counted."""
    from concord.lab import comparing

    workspace, bench = _workspace_and_bench(folder, study, resamples)
    two = _two(bench, **sides)
    with workspace.write() as db:
        table = comparing.report(db, bench, *two, reason, seed=seed)
    if form == "table":
        echo("\n".join(table.notes[: table.meta["sentences"]]) + "\n")
        table = replace(table, notes=table.notes[table.meta["sentences"] :])
    printing.show([table], form)


@command.command("improve")
@STUDY
@JUDGE
@click.option(
    "--with",
    "optimiser",
    default="",
    help="The model that writes instructions; without it, only examples are tried.",
)
@click.option("--budget", type=click.FloatRange(min=0), help="Spend no more, over all calls of this command.")
@click.option("--version", default="", help="The version to improve; default: the rubric's file.")
@options.number("--rounds", 3, "Times instructions are proposed.")
@options.form()
@click.pass_obj
def improve(
    folder: str,
    /,
    study: str,
    judge: str,
    optimiser: str,
    budget: float | None,
    version: str,
    rounds: int,
    form: str,
) -> None:
    """Propose instructions on develop, choose on select, and report the gain on the sealed part.

    The command compares the current version, one with examples and the best proposal. It measures the gain of
    the chosen one once, with an interval, or reports no gain. Each version is stored (`concord lab show`),
    and stored answers are not paid again.
    """
    from concord.lab import improving
    from concord.lab.running import SharedBudget

    workspace = Workspace.open(folder, create=False)
    purse = SharedBudget(budget)
    propose = improving.by_model(workspace, study, optimiser, purse) if optimiser else None
    answer = improving.by_runs(workspace, judge, purse)
    outcome = improving.improve(
        workspace, study, judge, propose, answer, version=rubric_store.number_of(version), rounds=rounds
    )
    if form == "table":
        for line in outcome.sentences:
            echo(line)
        echo(f"Spent: {purse.amount:.4f}" + ("" if budget is None else f" of {budget:g}") + "\n")
    printing.show(outcome.tables, form)


@command.command("card")
@_of_one
@click.option(
    "--to", "target", required=True, type=click.Path(path_type=Path), help="The folder to write to."
)
@click.pass_obj
def card(folder: str, /, study: str, judge: str, version: str, target: Path) -> None:
    """Write the judge's card (HTML, JSON), its prompt, and files that run it elsewhere.

    judge.py runs it in Python, mlflow_scorer.py in MLflow, inspect_scorer.py in Inspect. Nothing is opened.
    """
    from datetime import date

    from concord.lab import card as cards

    workspace, bench = _workspace_and_bench(folder, study)
    judge_card = cards.card(workspace, bench, bench.find(judge, version))
    for path in cards.write(judge_card, target, date.today()):
        echo(path)


@command.command("robustness")
@_of_one
@LIMIT
@options.form()
@click.pass_obj
def robustness(
    folder: str, /, study: str, judge: str, version: str, max_cost: float | None, form: str
) -> None:
    """Ask a judge again about replies that were padded, formatted, reworded or that tell it what to answer.
    Compare each check with “asked again”. Stored answers are not paid again.
    """
    from concord.lab import parts, running, variants
    from concord.lab.robustness import checked

    workspace = Workspace.open(folder, create=False)
    with workspace.read() as db:
        divided = parts.read(db, study)
    rubric_version = variants.current(workspace, divided, rubric_store.number_of(version))
    printing.show([checked(workspace, divided, judge, rubric_version, running.SharedBudget(max_cost))], form)
