"""`concord study …`: draw a study, deal it to annotators, write its guidelines, show its progress."""

from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Any

import click

from concord.agreement.next_items import FLOOR
from concord.commands import options, printing
from concord.commands.printing import echo
from concord.errors import StudyError, not_found
from concord.files import read_text
from concord.llm.families import families, model_names
from concord.reports import datasheet
from concord.reports.agreement_report import Options, agreement_report
from concord.reports.notes import DRAWN
from concord.rubrics import shelf
from concord.store import access, acts, exclusions, frames, holdings, progress, registrations
from concord.store import hidden as hidden_store
from concord.store import studies as stored
from concord.store.conversations import Filter
from concord.studies import (
    adjudication,
    dealing,
    discussion,
    hidden,
    quality,
    registration,
    reveal,
    running,
    studies,
    training,
)
from concord.table import Cell, Column, Table
from concord.workspace import Workspace

_WHY = click.option("--reason", required=True, help="Why; it is kept with the time and the name.")
_BY = click.option("--by", default="researcher", show_default=True, help="Who decides it.")


@click.group("study")
def command() -> None:
    """What people rate: draw a sample of conversations, deal it to annotators, follow their progress."""


@command.command("draw")
@click.argument("name")
@click.option("--n", type=click.IntRange(1), required=True, help="How many conversations.")
@click.option("--rubric", default="", help="Ask the questions of this rubric of the workspace.")
@options.whose
@options.where("conversations")
@options.replaced("--language", "--where language=VALUE")
@options.replaced("--players", "--where player=A,B")
@options.replaced("--facet", "--where NAME=A,B")
@click.option(
    "--by",
    type=options.NAMES,
    help="What the sample is spread over; default: player and all that varies.",
)
@click.option(
    "--allocation",
    type=click.Choice(["even", "proportional"]),
    default="even",
    show_default=True,
    help="The same number of every stratum, or its share of the conversations.",
)
@click.option(
    "--next-for",
    type=click.Choice(["mean", "players", "disagreement"]),
    help="In place of strata: conversations whose ratings narrow people's mean of all, or of each player, "
    "most, or on which judges disagree; the probability of each is kept, and weighs figures.",
)
@click.option(
    "--random-share",
    type=click.FloatRange(0, 1, min_open=True),
    default=FLOOR,
    show_default=True,
    help="The share that --next-for draws as a simple random sample beside the others.",
)
@options.seeded("draws the same sample")
@options.several("--ask", "Criteria to ask; default: those that enter final.")
@click.option(
    "--per-turn", is_flag=True, help="People rate every turn instead of the conversation as a whole."
)
@click.option(
    "--without-refused",
    "exclude_refused",
    is_flag=True,
    help="Leave out conversations in which a judge saw a refusal.",
)
@options.several("--not-in", "Studies whose conversations are not drawn.")
@click.option(
    "--pilot-of",
    default="",
    metavar="STUDY",
    help="The study, drawn already or not, that this is a pilot of: they share no conversation.",
)
@click.option("--title", default="", help="What annotators see as the study's name.")
@click.option(
    "--guidelines",
    type=click.Path(path_type=Path),
    help="A Markdown file that annotators can read while rating.",
)
@click.pass_obj
def _draw(
    workspace: str,
    /,
    name: str,
    n: int,
    rubric: str,
    benchmark: str,
    facets: options.Facets,
    guidelines: Path | None,
    **asked: Any,
) -> None:
    """Draw a sample of stored conversations, stratified and by a seed, as a new study."""
    asked["next_for"] = asked["next_for"] or ""
    if asked["next_for"] and asked["by"] is not None:
        raise StudyError("--next-for draws where judges may err, not over strata: leave out --by.")
    if rubric and (asked["ask"] or asked["per_turn"]):
        raise StudyError("A rubric says what is asked, and of what: leave out --ask and --per-turn.")
    text = read_text(guidelines) if guidelines else ""
    opened = Workspace.open(workspace, create=False)
    asked["rubric"] = shelf.find(opened, rubric) if rubric else None
    with opened.write() as db:
        wanted = _wanted(benchmark or options.only_benchmark(db), facets)
        study = studies.draw_study(db, name, n, wanted=wanted, guidelines=text, **asked)
        units = len(stored.units(db, name))
    drawn = study.meta["drawn"]
    echo(
        f"Study “{name}”: {units} units of {n} conversations, drawn from {drawn['candidates']} with seed "
        f"{asked['seed']}" + (f", spread over {', '.join(drawn['by'])}." if drawn["by"] else ".")
    )
    if "random" in drawn:
        low, high = min(drawn["chance"].values()), max(drawn["chance"].values())
        echo(
            f"{len(drawn['random'])} of them are a simple random sample. Each conversation was drawn with a "
            f"probability of {low:.2g} to {high:.2g}, which is kept."
        )
    if "not_in" in drawn:
        echo(f"Without the conversations of: {', '.join(drawn['not_in'])}.")
    echo(f"Asked: {', '.join(c.label for c in study.criteria)}.")
    echo(f"Next: concord annotators invite NAME… --study {name}")


_DRY = click.option("--dry-run", is_flag=True, help="Show who would get what, and store nothing.")


@command.command("deal")
@click.argument("name")
@options.several("--annotators", "Invited annotators to deal to, beside those who have items.")
@click.option(
    "--overlap", type=click.IntRange(0), help="Raters for each unit; 0: everybody. Default: as before."
)
@click.option(
    "--repeats",
    type=click.FloatRange(0, 1),
    metavar="SHARE",
    help="The share of each annotator's items that comes again, for their test–retest. Default: as before.",
)
@click.option(
    "--repeat-after",
    type=click.IntRange(1),
    metavar="N",
    help=f"How many other items lie between an item and its repeat; {hidden.AFTER} unless told.",
)
@click.option(
    "--extra-where-differ",
    "least",
    type=click.FloatRange(0),
    metavar="D",
    help="One more annotator rates each unit whose raters differ by D or more on a criterion; 0: none does.",
)
@click.option("--extra-on", "criterion", default="", help="Only where they differ on this criterion.")
@_DRY
@click.pass_obj
def _deal(
    workspace: str,
    name: str,
    annotators: tuple[str, ...],
    overlap: int | None,
    repeats: float | None,
    repeat_after: int | None,
    least: float | None,
    criterion: str,
    dry_run: bool,
) -> None:
    """Deal a study's units to annotators, again after somebody joined or left; what was begun stays."""
    if criterion and least is None:
        raise StudyError("--extra-on says where --extra-where-differ looks: give both.")
    extra = adjudication.Rule("range", least, criterion=criterion) if least is not None else None
    opened = Workspace.open(workspace, create=False)
    if dry_run:
        with opened.read() as db:
            _planned(dealing.plan(db, name, annotators, overlap=overlap, extra=extra))
        return
    with opened.write() as db:
        items = studies.deal_study(
            db, name, annotators, overlap=overlap, repeats=repeats, repeat_after=repeat_after, extra=extra
        )
        study, beside = stored.get(db, name), hidden.counts(db, name)
        balance = dealing.plan(db, name).told
    each = f"{study.overlap} raters a unit" if study.overlap else "every unit to everybody"
    echo(
        f"Study “{name}”, {each}: "
        + ", ".join(f"{who} {count} items" for who, count in sorted(items.items()))
        + "."
    )
    echo(balance)
    if beside:
        echo(f"Hidden among them: {hidden.told(beside)}.")


def _planned(plan: dealing.Deal) -> None:
    printing.show(plan.tables(), "table")
    echo(plan.told)
    echo("Nothing was dealt: that is what the deal would be.")


@command.command("pace")
@click.argument("name")
@click.option("--a-day", type=click.IntRange(0), help="Items to do a day; 0: no goal. Default: as before.")
@click.option(
    "--break-after", type=click.IntRange(0), help="Items between breaks; 0: none. Default: as before."
)
@click.pass_obj
def _pace(workspace: str, name: str, a_day: int | None, break_after: int | None) -> None:
    """Say at the desk how many items are the day's goal, and when a break is due; nothing is enforced."""
    with Workspace.open(workspace, create=False).write() as db:
        pace = running.set_pace(db, name, a_day, break_after)
    echo(f"Study “{name}”: {pace.told or 'no goal for a day, and no breaks.'}")


@command.command("gold")
@click.argument("name")
@click.argument("file", type=click.Path(path_type=Path), required=False)
@click.option(
    "--feedback/--no-feedback",
    default=None,
    help="Show the known answer and its explanation after an item is submitted, which locks it. "
    "Default: as before; at first none.",
)
@options.form()
@click.pass_obj
def _gold(workspace: str, name: str, file: Path | None, feedback: bool | None, form: str) -> None:
    """Mix gold items, whose answers are known, into everybody's items, or list those that are set.

    FILE is a CSV with the columns key, turn, criterion, answer, tolerance, explanation, attention (yes: an
    attention check). Turn, tolerance, explanation and attention may be absent. No gold item is a rating. Its
    items replace those of before. Without FILE only the feedback is set.
    """
    opened = Workspace.open(workspace, create=False)
    if file is None and feedback is None:
        with opened.read() as db:
            printing.show([hidden.gold_table(db, name)], form)
        return
    with opened.write() as db:
        if feedback is not None:
            hidden.set_feedback(db, name, feedback)
            after = "are shown after an item is submitted" if feedback else "are not shown to annotators"
            echo(f"Study “{name}”: the known answers of gold items {after}.")
        if file is None:
            return
        golds = hidden.read_gold(db, name, file)
        have = hidden.set_gold(db, name, golds)
    units = {gold.unit for gold in golds}
    attention = {gold.unit for gold in golds if gold.attention}
    echo(
        f"Study “{name}”: {len(units)} gold items with {len(golds)} answers; attention checks among them: "
        f"{len(attention)}."
    )
    if have:
        echo("Mixed in: " + ", ".join(f"{who} {count}" for who, count in sorted(have.items())) + ".")
    else:
        echo("They are mixed in when the study is dealt.")


@command.command("training")
@click.argument("name")
@click.argument("file", type=click.Path(path_type=Path), required=False)
@click.option(
    "--pass",
    "share",
    type=click.FloatRange(0, 1),
    help="Passed is an attempt with at least this share of items hit; 0.7 unless told.",
)
@click.option(
    "--deviation",
    type=click.FloatRange(0),
    help="In place of a share: answers on average at most so far from the known ones.",
)
@click.option("--attempts", type=click.IntRange(1), help="How many attempts there are; 2 unless told.")
@click.option("--items", type=click.IntRange(0), help="Items of each attempt; 0, the default: all there are.")
@click.option("--off", is_flag=True, help="Open the study to everybody; attempts stay stored.")
@options.form()
@click.pass_obj
def _training(
    workspace: str,
    /,
    name: str,
    file: Path | None,
    share: float | None,
    deviation: float | None,
    attempts: int | None,
    items: int | None,
    off: bool,
    form: str,
) -> None:
    """Put a training before a study, change its rule, or show who has passed.

    FILE is a CSV as for `concord study gold`; each item has an explanation. Whoever has not passed sees only
    training items, each followed by its known answers. Nothing answered there is a rating.
    """
    asked = (file, share, deviation, attempts, items)
    if (off and any(one is not None for one in asked)) or (share is not None and deviation is not None):
        raise StudyError("A rule is --pass or --deviation; --off stands alone.")
    opened = Workspace.open(workspace, create=False)
    if off:
        with opened.write() as db:
            training.end(db, name)
        echo(f"Study “{name}”: no training comes before it any more.")
    elif all(one is None for one in asked):
        with opened.read() as db:
            printing.show([training.table(db, name)], form)
    else:
        with opened.write() as db:
            before = training.rule_of(stored.get(db, name)) or training.PassRule()
            rule = training.PassRule(
                "deviation" if deviation is not None else "share" if share is not None else before.way,
                next((one for one in (deviation, share) if one is not None), before.bound),
                before.attempts if attempts is None else attempts,
                before.items if items is None else items,
            )
            golds = hidden.read_gold(db, name, file, training=True) if file else []
            training.begin(db, name, golds, rule)
        echo(f"Study “{name}” opens to whoever passes its training: {rule.told}.")


@command.command("admit")
@click.argument("name")
@click.argument("annotator")
@click.option("--reason", required=True, help="Why; it is kept with the time and the name.")
@click.option("--by", default="researcher", show_default=True, help="Who decides it.")
@click.pass_obj
def _admit(workspace: str, name: str, annotator: str, reason: str, by: str) -> None:
    """Open a study to an annotator who has not passed its training."""
    with Workspace.open(workspace, create=False).write() as db:
        training.admit(db, name, annotator, reason, by)
    echo(f"“{name}” is open to {annotator}.")


@command.command("exclude")
@click.argument("name")
@click.argument("annotator")
@click.option("--reason", required=True, help="Why; it stands beside every figure.")
@_BY
@click.pass_obj
def _exclude(workspace: str, name: str, annotator: str, reason: str, by: str) -> None:
    """Leave an annotator out of a study's figures of agreement; their ratings stay stored."""
    with Workspace.open(workspace, create=False).write() as db:
        exclusions.exclude(db, name, annotator, reason, by)
    echo(f"{annotator} is left out of the figures of “{name}”. `--with-excluded` shows figures with them.")


@command.command("include")
@click.argument("name")
@click.argument("annotator")
@click.option("--reason", required=True, help="Why the decision to leave them out no longer holds.")
@_BY
@click.pass_obj
def _include(workspace: str, name: str, annotator: str, reason: str, by: str) -> None:
    """Take an annotator into a study's figures again; both decisions stay on record."""
    with Workspace.open(workspace, create=False).write() as db:
        exclusions.include(db, name, annotator, reason, by)
    echo(f"{annotator} is in the figures of “{name}” again.")


@command.command("adjudicate")
@click.argument("name")
@click.option("--range", "least", type=float, help="Items with answers at least so far apart on a criterion.")
@click.option("--criterion", default="", help="Only where they are so far apart on this criterion.")
@click.option("--lowest", type=click.IntRange(1), metavar="N", help="The N items of lowest agreement.")
@options.form()
@click.pass_obj
def _adjudicate(
    workspace: str, name: str, least: float | None, criterion: str, lowest: int | None, form: str
) -> None:
    """Set the rule that names items to adjudicate, or show these items with what is settled."""
    if (least is not None and lowest is not None) or (criterion and least is None):
        raise StudyError("A rule is --range, with or without --criterion, or --lowest.")
    if least is None and lowest is None:
        with Workspace.open(workspace, create=False).read() as db:
            printing.show([adjudication.queue_table(db, name)], form)
        return
    rule = adjudication.Rule("range", least, 0, criterion) if least is not None else None
    with Workspace.open(workspace, create=False).write() as db:
        echo(adjudication.set_rule(db, name, rule or adjudication.Rule("lowest", n=lowest or 0)))


@command.command("settle")
@click.argument("name")
@click.argument("item")
@click.option("--turn", type=click.IntRange(1), help="The turn, in a study that rates turns.")
@click.option("--criterion", required=True, help="The criterion in dispute.")
@click.option("--score", type=float, required=True, help="The score that settles it.")
@click.option("--reason", required=True, help="Why.")
@click.option("--by", "person", required=True, help="The adjudicator's name.")
@click.pass_obj
def _settle(
    workspace: str,
    name: str,
    item: str,
    turn: int | None,
    criterion: str,
    score: float,
    reason: str,
    person: str,
) -> None:
    """Settle a criterion of an item (by its key) that the rule names. It replaces nobody's answer."""
    with Workspace.open(workspace, create=False).write() as db:
        units = {(unit["key"], unit["turn"]): unit["id"] for unit in stored.units(db, name)}
        if (item, turn) not in units:
            raise not_found("item", item, [key for key, _ in units])
        adjudication.settle(db, name, units[item, turn], criterion, score, reason, person)
        echo(adjudication.adjudication(db, name).told)


@command.command("reveal")
@click.argument("name")
@click.option("--judge", help="The judge whose scores and reasons are shown.")
@click.option("--off", is_flag=True, help="Show nothing any more; answers that were locked stay so.")
@click.pass_obj
def _reveal(workspace: str, name: str, judge: str | None, off: bool) -> None:
    """Show annotators a judge's scores once they have answered everything blind, and let them revise."""
    opened = Workspace.open(workspace, create=False)
    if bool(judge) == off:
        raise StudyError("Name the judge with --judge, or end it with --off.")
    with opened.write() as db:
        reveal.set_judge(db, name, judge or "")
    if off:
        echo(f"Study “{name}”: nobody is shown a judge's scores any more.")
    else:
        echo(
            f"Study “{name}”: whoever has rated or skipped all items is shown the scores of {judge}. Their "
            "first answers are locked then; second ones are kept apart."
        )


@command.command("discuss")
@click.argument("name")
@click.option("--after-all", "when", flag_value="all", help="Once all have rated everything.")
@click.option("--now", "when", flag_value="now", help="Each once they have rated everything.")
@click.option("--off", is_flag=True, help="Show nobody's answers any more; what was locked stays so.")
@options.form()
@click.pass_obj
def _discuss(workspace: str, name: str, when: Any, off: bool, form: str) -> None:
    """Show annotators each other's answers, without names, to comment on; or list their comments.

    For a pilot: whoever sees others' answers has theirs locked, and is dealt nothing more of the study.
    """
    if off and when:
        raise StudyError("--off stands alone.")
    opened = Workspace.open(workspace, create=False)
    if not (off or when):
        with opened.read() as db:
            printing.show([discussion.comments_table(db, name)], form)
        return
    with opened.write() as db:
        discussion.set_round(db, name, when or "")
    told = {"all": "once all have rated everything", "now": "each once they have rated everything"}
    shown = f"are shown {told[when]}" if when else "are not shown any more"
    echo(f"Study “{name}”: others' answers {shown}.")


@command.command("close")
@click.argument("name")
@_WHY
@_BY
@click.pass_obj
def _close(workspace: str, name: str, reason: str, by: str) -> None:
    """Close a study: desks show no item of it any more. Answers on their way are still stored."""
    with Workspace.open(workspace, create=False).write() as db:
        running.close(db, name, reason, by)
    echo(f"The study “{name}” is closed. `concord study reopen` opens it again.")


@command.command("reopen")
@click.argument("name")
@_WHY
@_BY
@click.pass_obj
def _reopen(workspace: str, name: str, reason: str, by: str) -> None:
    """Open a closed study again; everybody finds their items as they were."""
    with Workspace.open(workspace, create=False).write() as db:
        running.reopen(db, name, reason, by)
    echo(f"The study “{name}” is open.")


@command.command("requeue")
@click.argument("name")
@click.argument("annotator")
@click.argument("items", metavar="[ITEM]…", nargs=-1)
@_WHY
@_BY
@click.pass_obj
def _requeue(workspace: str, name: str, annotator: str, items: tuple[str, ...], reason: str, by: str) -> None:
    """Open items of an annotator again: these conversations, by key, or without any all that were skipped.

    Answers stay on the desk, and count again once the item is submitted anew.
    """
    with Workspace.open(workspace, create=False).write() as db:
        count = running.requeue(db, name, annotator, reason, by, items)
    echo(running.requeued(annotator, count))


@command.command("reassign")
@click.argument("name")
@click.argument("annotator")
@_WHY
@_BY
@_DRY
@click.pass_obj
def _reassign(workspace: str, name: str, annotator: str, reason: str, by: str, dry_run: bool) -> None:
    """Deal what an annotator who leaves has not begun to the others; what they submitted stays."""
    opened = Workspace.open(workspace, create=False)
    if dry_run:
        with opened.read() as db:
            _planned(dealing.plan(db, name, without=[annotator]))
        return
    with opened.write() as db:
        got = running.reassign(db, name, annotator, reason, by)
        balance = dealing.plan(db, name).told
    echo(running.reassigned(name, annotator, got))
    echo(balance)


@command.command("show")
@click.argument("name")
@click.pass_obj
def _show(workspace: str, name: str) -> None:
    """A study: what is asked, how it was drawn, and who has done how much."""
    with Workspace.open(workspace, create=False).read() as db:
        study = stored.get(db, name)
        units = len(stored.units(db, name))
        people = [a for a in access.annotators(db, name) if a.items]
        out, beside = exclusions.excluded(db, name), hidden.counts(db, name)
        warned = quality.warnings(study.criteria, hidden_store.pairs(db, name), hidden_store.checks(db, name))
        decided, figures = exclusions.decisions(db, name), hidden.figures(db, name)
        done, fixed = acts.every(db, name), registrations.every(db, name)
        if training.rule_of(study):
            figures.insert(0, training.table(db, name))
        if any(one.done for one in people):
            work = quality.quality_tables(progress.items(db, name), frames.frame(db, name), [*out])
            figures = [*work, *figures]
    echo(f"{study.title} ({study.name}), {study.source} {study.created[:10]}")
    echo(f"{units} units, {f'{study.overlap} raters each' if study.overlap else 'rated by everybody'}")
    if study.pilot_of:
        echo(f"A pilot of “{study.pilot_of}”, which shares no conversation with it.")
    if pace := running.pace(study).told:
        echo(pace)
    for criterion in study.criteria:
        scale = f"{criterion.scale.low:g} to {criterion.scale.high:g}"
        echo(f"  {criterion.label} ({scale}): {criterion.statement}")
    if "random" in (drawn := study.meta.get("drawn", {})):
        echo(f"{DRAWN[drawn['next_for']]}; {len(drawn['random'])} are a simple random sample.")
    for made in fixed:
        echo(f"{made.told}.")
    if people:
        echo()
        printing.show([_progress(study, people, out), *figures], "table")
        if beside:
            echo(f"Hidden among them: {hidden.told(beside)}.")
        for sentence in warned:
            echo(f"Warning: {sentence}")
        for one in decided:
            how = "left out" if one.excluded else "taken in again"
            echo(f"{one.decided[:10]}: {one.annotator} {how}: {one.reason}")
        for act in done:
            echo(act.told)
    elif not study.anonymous:
        echo(f"Dealt to nobody yet: concord study deal {name} --annotators …")


def _progress(study: stored.Study, people: Sequence[access.Annotator], out: Collection[str]) -> Table:
    counts = map(Column, ("annotator", "done", "skipped", "items"))
    columns = (*counts, Column("minutes", digits=0), Column("note"))
    rows: list[dict[str, Cell]] = [
        {
            **{"annotator": a.name, "done": a.done, "skipped": a.skipped, "items": a.items},
            "minutes": a.seconds / 60,
            "note": ", ".join(
                note
                for note, holds in (
                    ("mock", a.simulated),
                    ("link withdrawn", a.revoked),
                    ("left out of figures", a.name in out),
                )
                if holds
            ),
        }
        for a in people
    ]
    return Table(study.name, "Progress", columns, tuple(rows))


@command.command("register")
@click.argument("name")
@click.option("--plan", type=click.Path(path_type=Path), help="The analysis plan, a TOML file.")
@options.several("--judges", "The judges that will be measured; any others are then a difference.")
@click.option("--late", is_flag=True, help="Keep a registration though people have begun to answer.")
@_BY
@click.pass_obj
def _register(
    workspace: str, name: str, plan: Path | None, judges: tuple[str, ...], late: bool, by: str
) -> None:
    """Fix sample, texts, guidelines, questions, judges and plan before people rate, under one SHA-256.

    Reports and their files then say what differs from it, and whether planned tests are reached. What was
    registered stays; a study may be registered again until people answer, and the last one in time holds. A
    judge is in models.toml or has rated.
    """
    told = registration.read_plan(read_text(plan) if plan else "", str(plan or "The plan"))
    opened = Workspace.open(workspace, create=False)
    with opened.write() as db:
        before = registrations.every(db, name)
        models = model_names(opened.models_path)
        made = registration.register(db, name, told, by, judges=judges, late=late, models=models)
    echo(f"The study “{name}” is registered. {made.told}.")
    if before:
        echo(registration.changed(before[-1], made))
    echo("Publish the hash, or the text of `concord export registration`, where its date can be proved.")


@command.command("datasheet")
@click.argument("name")
@click.option(
    "--say",
    "said",
    multiple=True,
    metavar="ENTRY=TEXT",
    help="Keep an entry, such as payment; may be repeated.",
)
@click.pass_obj
def _datasheet(workspace: str, name: str, said: tuple[str, ...]) -> None:
    """Print the datasheet: who annotated what by which guidelines, payment, agreement, limits.

    What Concord cannot know is what `--say` stated, else “not stated”: motivation, sources, recruitment,
    annotators, payment, ethics, preprocessing, uses, distribution, maintenance, limits. The report's ZIP and
    the dataset folder hold it.
    """
    opened = Workspace.open(workspace, create=False)
    if told := dict(one.partition("=")[::2] for one in said):
        with opened.write() as db:
            datasheet.state(db, name, told)
    with opened.read() as db:
        try:
            report = agreement_report(db, name, Options(families=families(opened.models_path)))
        except StudyError:
            report = None
        echo(datasheet.datasheet(db, name, report))


@command.command("pin")
@click.argument("name")
@click.pass_obj
def _pin(workspace: str, name: str) -> None:
    """Let agreement and corrected leaderboards rest on this study unless another is asked for."""
    with Workspace.open(workspace, create=False).write() as db:
        stored.pin(db, name)
    echo(f"Figures rest on the study “{name}” unless another is asked for.")


@command.command("unpin")
@click.pass_obj
def _unpin(workspace: str) -> None:
    """Let figures rest on the study with most ratings again."""
    with Workspace.open(workspace, create=False).write() as db:
        stored.unpin(db)
        usual = next(iter(stored.ranked(db)), None)
    echo(f"No study is pinned. The study with most ratings is “{usual}”." if usual else "No study is pinned.")


@command.command("list")
@click.pass_obj
def _list(workspace: str) -> None:
    """The studies of the workspace, newest first, then those of pairs."""
    with Workspace.open(workspace, create=False).read() as db:
        found, pairs = holdings.studies(db), holdings.pairs(db)
    for study in found:
        echo(f"{study.name}\t{study.units} units\t{study.source}\t{study.title}\t{study.stands}")
    for each in pairs:
        echo(f"{each.name}\t{each.pairs} pairs\t{each.benchmark}\t{each.title}\t{each.stands}")
    if not (found or pairs):
        echo(
            "No study yet. Draw one with `concord study draw`, or bring ratings with `concord import`.",
            err=True,
        )


@command.command("guidelines")
@click.argument("name")
@click.option("--file", "file", type=click.Path(path_type=Path), help="Replace them by this Markdown file.")
@click.pass_obj
def _guidelines(workspace: str, name: str, file: Path | None) -> None:
    """Print a study's guidelines, or replace them."""
    if file is None:
        with Workspace.open(workspace, create=False).read() as db:
            echo(stored.get(db, name).guidelines)
        return
    text = read_text(file)
    with Workspace.open(workspace, create=False).write() as db:
        stored.write_guidelines(db, name, text)
    echo(f"The guidelines of “{name}” are replaced.")


def _wanted(benchmark: str, where: options.Facets) -> Filter:
    facets = dict(where)
    languages, players = facets.pop("language", ()), facets.pop("player", ())
    if len(languages) > 1:
        raise StudyError("A study has one language. Name one: --where language=VALUE.")
    return Filter(benchmark, "".join(languages), players, facets=facets)
