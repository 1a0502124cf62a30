"""`concord study …`, the part about annotators: their items, what they are shown, whose answers count."""

from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import click

from concord.commands import options
from concord.commands.printing import echo
from concord.errors import StudyError
from concord.store import exclusions
from concord.store import studies as stored
from concord.studies import annotation_flow, dealing, running, studies
from concord.studies.purposes import adjudicate, gold, repeat, second, training
from concord.workspace import Workspace

commands = click.Group()
"""What `concord.commands.study` adds to its own commands."""


@commands.command("deal")
@click.argument("name")
@options.several("--annotators", "Invited annotators to assign to, in addition to those who have items.")
@click.option("--overlap", type=click.IntRange(0), help="Raters for each unit; 0: all. Default: as before.")
@click.option(
    "--repeats",
    type=click.FloatRange(0, repeat.MOST_SHARE),
    metavar="SHARE",
    help="The share of repeat items of each annotator, for their test–retest. Default: as before.",
)
@click.option(
    "--extra-where-differ",
    "least",
    type=click.FloatRange(0),
    metavar="D",
    help=(
        "An extra annotator rates each unit whose raters differ by D or more on a criterion; 0: no "
        "extra raters."
    ),
)
@click.option("--extra-on", "criterion", default="", help="Only for differences on this criterion.")
@click.option(
    "--match",
    help=(
        "Assign a conversation only to annotators whose labels have its language, or its value of "
        "this facet; “”: to all. `concord people label` sets labels."
    ),
)
@click.pass_obj
def _deal(
    workspace: str,
    name: str,
    annotators: tuple[str, ...],
    overlap: int | None,
    repeats: float | None,
    least: float | None,
    criterion: str,
    match: str | None,
) -> None:
    """Assign a study's units to annotators, again after one joins or leaves; items that are begun stay."""
    if criterion and least is None:
        raise StudyError("--extra-on needs --extra-where-differ. Add it.")
    extra = adjudicate.Rule(least, criterion) if least is not None else None
    with Workspace.open(workspace, create=False).write() as db:
        items = studies.deal_study(
            db, name, annotators, overlap=overlap, repeats=repeats, extra=extra, match=match
        )
        study = stored.get(db, name)
        hidden = annotation_flow.hidden(db, name)
        balance = dealing.plan(db, name).balance
    assignment = "every unit to every annotator"
    if study.overlap == 1:
        assignment = "1 rater a unit"
    elif study.overlap:
        assignment = f"{study.overlap} raters a unit"
    echo(
        f"Study “{name}”, {assignment}: "
        + ", ".join(f"{person} {count} items" for person, count in sorted(items.items()))
        + "."
    )
    echo(balance)
    if hidden:
        echo(hidden)


@commands.command("gold")
@click.argument("name")
@click.argument("file", type=click.Path(path_type=Path))
@click.pass_obj
def _gold(workspace: str, name: str, file: Path) -> None:
    """Mix gold items, whose answers are known, into all annotators' items.

    FILE is a CSV with the columns key, turn, criterion, answer, tolerance, explanation, attention (yes: an
    attention check). Turn, tolerance, explanation and attention may be absent. Answers to gold items are not
    ratings. The items replace earlier gold items.
    """
    with Workspace.open(workspace, create=False).write() as db:
        golds = gold.read_gold(db, name, file)
        running.set_gold(db, name, golds)
        hidden = annotation_flow.hidden(db, name)
    units = {gold.unit for gold in golds}
    attention = {gold.unit for gold in golds if gold.attention}
    echo(
        f"Study “{name}”: {len(units)} gold items with {len(golds)} answers; attention checks among them: "
        f"{len(attention)}."
    )
    echo(hidden or "Assigning the study mixes them in.")


@commands.command("training")
@click.argument("name")
@click.argument("file", type=click.Path(path_type=Path), required=False)
@click.option(
    "--pass",
    "share",
    type=click.FloatRange(0, 1),
    help="The least share of items hit that passes an attempt; default: 0.7.",
)
@click.option("--attempts", type=click.IntRange(1), help="The number of attempts; default: 2.")
@click.pass_obj
def _training(
    workspace: str,
    /,
    name: str,
    file: Path | None,
    share: float | None,
    attempts: int | None,
) -> None:
    """Put a training before a study, or change its rule.

    FILE is a CSV as for `concord study gold`; each item has an explanation. Annotators who have not passed
    see only training items, each followed by its known answers. These answers are not ratings.
    """
    workspace_ = Workspace.open(workspace, create=False)
    if file is None and share is None and attempts is None:
        raise StudyError("Give a file of training items, or a rule.")
    with workspace_.write() as db:
        before = training.rule_of(stored.get(db, name)) or training.PassRule()
        rule = training.PassRule(
            before.bound if share is None else share,
            before.attempts if attempts is None else attempts,
        )
        golds = gold.read_gold(db, name, file, "training") if file else []
        running.set_training(db, name, golds, rule)
    echo(f"Study “{name}” opens to annotators who pass its training: {rule.words}.")


@commands.command("reveal")
@click.argument("name")
@click.option("--judge", help="The judge whose scores and reasons are shown; “” ends it.")
@click.option(
    "--others/--no-others",
    default=None,
    help="Show annotators each other's answers, without names, once all have rated everything.",
)
@click.pass_obj
def _reveal(workspace: str, name: str, judge: str | None, others: bool | None) -> None:
    """Show a judge's scores, or others' answers, to annotators who have answered everything. Their answers
    are then locked; they may give second answers and get no further items of the study. Second answers are
    stored apart: `concord export apart` has them.
    """
    workspace_ = Workspace.open(workspace, create=False)
    if judge is None and others is None:
        raise StudyError("Give a judge, or say whether others' answers are shown.")
    with workspace_.write() as db:
        if judge is not None:
            second.show_judge(db, name, judge)
            echo(f"Study “{name}”: the scores of {judge or 'no judge'} are shown after the last item.")
        if others is not None:
            second.show_others(db, name, others)
            condition = "once all have rated everything" if others else "no longer"
            echo(f"Study “{name}”: others' answers are shown {condition}.")


@commands.command("reassign")
@click.argument("name")
@click.argument("annotator")
@options.reason()
@click.pass_obj
def _reassign(workspace: str, name: str, annotator: str, reason: str) -> None:
    """Assign a leaving annotator's items that are not begun to the others; submitted answers stay."""
    with Workspace.open(workspace, create=False).write() as db:
        echo(running.reassign(db, name, annotator, reason))
        echo(dealing.plan(db, name).balance)


class StudyAct(NamedTuple):
    """What a researcher does about a study, or about an annotator of it, with a reason that is kept."""

    do: Callable[..., None]
    summary: str
    sentence: str
    reason_help: str = "The reason; it is stored with the time and your name."


ACTS = {
    "close": StudyAct(
        running.close,
        "Close a study: desks no longer show its items. Answers on their way are still stored.",
        "The study “{name}” is closed. `concord study reopen {name}` opens it again.",
    ),
    "reopen": StudyAct(
        running.reopen,
        "Open a closed study again; annotators find their items as they were.",
        "The study “{name}” is open.",
    ),
    "admit": StudyAct(
        running.admit,
        "Open a study to an annotator who has not passed its training.",
        "“{name}” is open to {annotator}.",
    ),
    "exclude": StudyAct(
        exclusions.exclude,
        "Exclude an annotator from a study's figures of agreement; their ratings stay stored.",
        "{annotator} is excluded from the figures of “{name}”. `concord study include` includes them again.",
        "The reason; it is shown with every figure.",
    ),
    "include": StudyAct(
        running.include,
        "Include an annotator in a study's figures again; both decisions stay on record.",
        "{annotator} is in the figures of “{name}” again.",
        "Why they are included again.",
    ),
}
ON_STUDIES = ("close", "reopen")


def _carried_out(act: StudyAct) -> Callable[..., None]:
    @click.pass_obj
    def carried_out(workspace: str, /, reason: str, **arguments: str) -> None:
        with Workspace.open(workspace, create=False).write() as db:
            act.do(db, *(arguments[one] for one in ("name", "annotator") if one in arguments), reason)
        echo(act.sentence.format(**arguments))

    return carried_out


for _name, _act in ACTS.items():
    _carry_out = options.reason(_act.reason_help)(_carried_out(_act))
    for _argument in ("name",) if _name in ON_STUDIES else ("annotator", "name"):
        _carry_out = click.argument(_argument)(_carry_out)
    commands.command(_name, help=_act.summary)(_carry_out)
