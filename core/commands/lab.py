"""`concord lab …`: improve a judge on one part of a study, choose on another, report on the sealed one."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from concord.commands import options, printing
from concord.commands.printing import echo
from concord.commands.progress import estimated
from concord.files import read_text, read_toml
from concord.llm.models import currency
from concord.workspace import Workspace

if TYPE_CHECKING:
    from concord.runs.plans import JudgePlan
    from concord.store.runs import Progress

BUDGET = click.FloatRange(min=0)


@click.group("lab")
def command() -> None:
    """From a judge that is not good enough to a better one, on items that did not choose it."""


def _cost(workspace: Workspace, variant: str, plan: "JudgePlan") -> None:
    """Print what a plan would do and cost."""
    from concord.lab import running

    echo(f"{variant}: {estimated(running.estimate(workspace, plan), currency(workspace.models_path))}")


def _variant(rubric: str, text: str) -> str:
    """The version that an option names: its number, or “support v2”, or a benchmark's “v2”."""
    return f"{rubric} v{text}" if text.isdigit() else text


def _of_two(function: Callable[..., None]) -> Callable[..., None]:
    """The study and the options that name two judges: a model by a version, and another."""
    for option in reversed(
        [
            click.argument("study"),
            click.option("--judge", required=True, help="The model."),
            click.option("--from", "one", required=True, help="The version it is compared with, by number."),
            click.option("--to", "other", required=True, help="The other version."),
            click.option("--to-judge", default="", help="The other model; the same unless given."),
        ]
    ):
        function = option(function)
    return function


def _end_unless_finished(run: "Progress | None", outlook: str = "") -> None:
    """End the command where a run was stopped (exit code 3) or failed (1); `outlook` is what that leaves."""
    if run and run.state != "finished":
        echo(run.message + outlook, err=True)
        raise SystemExit(3 if run.state == "stopped" else 1)


@command.command("split")
@click.argument("study")
@click.option("--rubric", default="", help="The rubric that judges are asked by; the study's unless given.")
@options.seeded("divides the same way")
@click.pass_obj
def split(workspace: str, study: str, rubric: str, seed: int) -> None:
    """Divide the rated items of a study once, whole scenarios together; later ratings join their part."""
    from concord.lab import parts

    with Workspace.open(workspace, create=False).write() as db:
        divided = parts.divide(db, study, rubric=rubric, seed=seed)
        table = parts.table(db, divided)
    printing.show([table], "table")


@command.command("show")
@click.argument("study")
@options.form()
@click.pass_obj
def show(workspace: str, study: str, form: str) -> None:
    """The parts, the looks at the sealed one, and every version with what is known of it."""
    from concord.lab import measuring, parts, variants

    with Workspace.open(workspace, create=False).read() as db:
        bench = measuring.read(db, study)
        tables = [parts.table(db, bench.parts), variants.table(db, bench)]
    printing.show(tables, form)


@command.command("disagreements")
@click.argument("study")
@click.option("--judge", required=True, help="The model.")
@click.option("--version", required=True, help="The version of the rubric, by number.")
@options.number("--most", 10, "Items to list, the largest disagreement first.", least=0)
@options.form()
@click.pass_obj
def disagreements(workspace: str, study: str, judge: str, version: str, most: int, form: str) -> None:
    """Where a judge differs from people on develop: by what, on which items, and the causes people gave."""
    from concord.lab import disagreements as differing
    from concord.lab import measuring

    with Workspace.open(workspace, create=False).read() as db:
        bench = measuring.read(db, study)
        whose = bench.find(judge, _variant(bench.parts.rubric, version))
        every = differing.largest(db, bench, whose)
        causes = differing.causes(db, bench, whose, every)
        tables = [differing.groups(db, bench, whose), differing.listed(whose, every[:most])]
    printing.show([*tables, *([causes] if causes.rows else [])], form)


@command.command("variant")
@click.argument("study")
@click.option("--from", "parent", default="", help="The version it is made from; else the file.")
@click.option("--instructions", type=click.Path(path_type=Path), help="A file of instructions for judges.")
@click.option("--file", "whole", type=click.Path(path_type=Path), help="A whole rubric as TOML.")
@click.option("--examples", type=click.IntRange(0, 50), help="So many examples from develop.")
@click.option("--reasons", type=click.Choice(["before", "after", "none"]), help="When a judge says why.")
@click.option("--scale", "form", type=click.Choice(["1..10", "levels"]), help="How it is asked for a level.")
@click.option("--judge", default="", help="Whose mistakes the examples are chosen by.")
@click.option("--note", default="", help="What it is to do better.")
@click.pass_obj
def variant(
    folder: str,
    /,
    study: str,
    parent: str,
    instructions: Path | None,
    whole: Path | None,
    examples: int | None,
    judge: str,
    note: str,
    **change: Any,
) -> None:
    """Keep a version of the study's rubric that differs from another in what is named."""
    from concord.lab import measuring, variants
    from concord.rubrics import shelf

    workspace = Workspace.open(folder, create=False)
    with workspace.read() as db:
        bench = measuring.read(db, study)
    base = variants.keep_current(workspace, bench.parts, shelf.number_of(parent))
    change = {name: value for name, value in change.items() if value}
    with workspace.write() as db:
        if instructions:
            change["instructions"] = read_text(instructions)
        if examples is not None:
            by = bench.find(judge, base.variant) if judge else None
            change["examples"] = variants.pick_examples(db, bench, base.rubric, examples, by)
        body = read_toml(whole) if whole else variants.changed(base.rubric, **change)
        kept = variants.keep(db, bench.parts, body, parent=base, note=note or ", ".join(change) or "edited")
    if kept.version == base.version:
        echo(f"It says the same as {base.variant}, which is kept already.")
    else:
        how = f"concord lab run {study} --judges … --versions {kept.version}"
        echo(f"{kept.variant} is kept. Have it answer: {how}")


@command.command("run")
@click.argument("study")
@options.several("--judges", "Models that answer.", required=True)
@options.several("--versions", "Versions by number; the rubric's file unless given.")
@click.option("--part", type=click.Choice(["develop", "select"]), default="develop", show_default=True)
@options.number("--repeats", 1, "Times a judge is asked the same.", least=1)
@click.option("--max-cost", type=BUDGET, help="Spend no more; every model needs a price.")
@click.option("--estimate", is_flag=True, help="Say what it would cost; ask nobody.")
@click.option("--race", is_flag=True, help="On select: stop the poorer half early, round by round.")
@click.pass_obj
def run(
    folder: str,
    /,
    study: str,
    judges: tuple[str, ...],
    versions: tuple[str, ...],
    part: str,
    repeats: int,
    max_cost: float | None,
    estimate: bool,
    race: bool,
) -> None:
    """Have judges answer a part by versions of the rubric; what is stored is not paid again."""
    from concord.lab import parts, running, variants
    from concord.rubrics import shelf
    from concord.runs.status import sentence

    workspace = Workspace.open(folder, create=False)
    with workspace.read() as db:
        divided = parts.read(db, study)
    purse = running.Purse(max_cost)
    if race:
        numbers = [variants.current(workspace, divided, shelf.number_of(n)).version for n in versions]
        left = running.race(workspace, divided, judges, numbers, purse, echo)
        echo(f"Left: {', '.join(map(str, left)) or 'nobody'}. Compare them: concord lab choose {study}")
        raise SystemExit(0 if left else 3)
    for number in versions or ("",):
        used = variants.keep_current(workspace, divided, shelf.number_of(number))
        plan = running.plan_of(divided, part, judges, used.version, repeats)
        if estimate:
            _cost(workspace, used.variant, plan)
            continue
        ended = running.carry_out(workspace, plan, purse)
        echo(f"{used.variant} on {part}: {sentence(ended) if ended else 'all answered before'}")
        _end_unless_finished(ended)


@command.command("compare")
@_of_two
@click.option("--part", type=click.Choice(["develop", "select"]), default="develop", show_default=True)
@click.option("--cascade", "one_first", is_flag=True, help="Also: the first judge first, and a weighed mean.")
@options.figures("items")
@click.pass_obj
def compare(
    workspace: str,
    /,
    study: str,
    judge: str,
    one: str,
    other: str,
    to_judge: str,
    part: str,
    one_first: bool,
    form: str,
    resamples: int,
    seed: int,
) -> None:
    """What changed from one version to another on the same items, criterion by criterion."""
    from concord.lab import cascade, comparing, measuring

    opened = Workspace.open(workspace, create=False)
    with opened.read() as db:
        bench = measuring.read(db, study, resamples=resamples)
        two = (
            bench.find(judge, _variant(bench.parts.rubric, one)),
            bench.find(to_judge or judge, _variant(bench.parts.rubric, other)),
        )
        tables = [comparing.differences(bench, part, *two, seed=seed), comparing.flips(bench, part, *two)]
    if one_first:
        tables.append(cascade.cascade(bench, *two, currency=currency(opened.models_path), seed=seed))
        tables.append(cascade.weights(bench, seed=seed))
    if form == "table":
        echo(comparing.gain(tables[0]) + "\n")
    printing.show(tables, form)


@command.command("choose")
@click.argument("study")
@click.option(
    "--margin",
    type=click.FloatRange(0, 1),
    default=0.05,
    show_default=True,
    help="How much less agreement is no worse.",
)
@options.figures("items")
@click.pass_obj
def choose(workspace: str, study: str, margin: float, form: str, resamples: int, seed: int) -> None:
    """All judges that answered *select*: the best, and the cheapest that is not worse by a margin."""
    from concord.lab import comparing, measuring, variants

    with Workspace.open(workspace, create=False).read() as db:
        bench = measuring.read(db, study, resamples=resamples)
        chosen = comparing.choose(bench, "select", variants.offered(bench), margin=margin, seed=seed)
    printing.show([chosen.table], form)


@command.command("report")
@_of_two
@click.option("--max-cost", type=BUDGET, help="Spend no more; every model needs a price.")
@click.option("--estimate", is_flag=True, help="Say what it would cost; open nothing.")
@options.reason("Why the sealed part is opened now; it is kept.")
@options.figures("items")
@click.pass_obj
def report(
    folder: str,
    /,
    study: str,
    judge: str,
    one: str,
    other: str,
    to_judge: str,
    max_cost: float | None,
    estimate: bool,
    reason: str,
    form: str,
    resamples: int,
    seed: int,
) -> None:
    """Open the sealed part: both versions answer it, and what was gained is said. Openings are counted."""
    from concord.lab import comparing, measuring, parts, running
    from concord.store import rubrics

    workspace = Workspace.open(folder, create=False)
    with workspace.read() as db:
        divided = parts.read(db, study)
        numbers = {each.variant: each.version for each in rubrics.versions(db, divided.rubric)}
    sides = ((judge, _variant(divided.rubric, one)), (to_judge or judge, _variant(divided.rubric, other)))
    purse = running.Purse(max_cost)
    for model, variant in sides:
        if variant not in numbers:
            continue  # a benchmark's own prompt: what is stored of it
        plan = running.plan_of(divided, parts.TEST, [model], numbers[variant])
        if estimate:
            _cost(workspace, variant, plan)
            continue
        _end_unless_finished(running.carry_out(workspace, plan, purse), " The sealed part is not opened.")
    if estimate:
        return
    with workspace.write() as db:
        bench = measuring.read(db, study, resamples=resamples)
        table = comparing.report(db, bench, bench.find(*sides[0]), bench.find(*sides[1]), reason)
    if form == "table":
        echo("\n".join(table.notes[: table.meta["sentences"]]) + "\n")
        table = replace(table, notes=table.notes[table.meta["sentences"] :])
    printing.show([table], form)


@command.command("card")
@click.argument("study")
@click.option("--judge", required=True, help="The model.")
@click.option("--version", required=True, help="The version of the rubric, by number.")
@click.option(
    "--to", "target", required=True, type=click.Path(path_type=Path), help="The folder to write to."
)
@click.option("--robustness", is_flag=True, help="With `concord lab robustness`, which asks what it lacks.")
@click.pass_obj
def card(folder: str, study: str, judge: str, version: str, target: Path, robustness: bool) -> None:
    """Write the judge's card (HTML, Markdown, JSON), its prompt, and files that run it elsewhere.

    judge.py runs it in Python, mlflow_scorer.py in MLflow, inspect_scorer.py in Inspect. Nothing is opened.
    """
    from datetime import date

    from concord.lab import card as cards
    from concord.lab import measuring, running, variants
    from concord.lab import robustness as checks
    from concord.rubrics import shelf

    workspace = Workspace.open(folder, create=False)
    with workspace.read() as db:
        bench = measuring.read(db, study)
    whose, table = bench.find(judge, _variant(bench.parts.rubric, version)), None
    if robustness:
        used = variants.current(workspace, bench.parts, shelf.number_of(version))
        table = checks.checked(workspace, bench.parts, judge, used, running.Purse())
    whole = cards.card(workspace, bench, whose, robustness=table)
    for path in cards.write(whole, target, date.today()):
        echo(path)


@command.command("robustness")
@click.argument("study")
@click.option("--judge", required=True, help="The model.")
@click.option("--version", default="", help="The version of the rubric; its file unless given.")
@click.option("--max-cost", type=BUDGET, help="Spend no more; every model needs a price.")
@options.form()
@click.pass_obj
def robustness(folder: str, study: str, judge: str, version: str, max_cost: float | None, form: str) -> None:
    """Ask a judge again about replies that were padded, formatted, reworded or told it what to answer.

    Each check is read beside what asking the same again changes. What is stored is not paid again.
    """
    from concord.lab import parts, running, variants
    from concord.lab import robustness as checks
    from concord.rubrics import shelf

    workspace = Workspace.open(folder, create=False)
    with workspace.read() as db:
        divided = parts.read(db, study)
    used = variants.current(workspace, divided, shelf.number_of(version))
    table = checks.checked(workspace, divided, judge, used, running.Purse(max_cost))
    printing.show([table], form)
