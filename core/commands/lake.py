"""Commands on files of conversations: judge them, draw a sample that people rate, estimate."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, nullcontext, suppress
from pathlib import Path
from shlex import quote
from typing import Any

import click
from rich.console import Console
from rich.live import Live
from rich.text import Text

from concord.codes import LakeDraw
from concord.commands import options
from concord.commands.printing import columns, echo, write_text
from concord.commands.progress import PLAIN_SECONDS, estimated
from concord.errors import ConcordError, ConfigError, check_known
from concord.files import read_toml
from concord.files.plain import plain
from concord.lake import engines, plan
from concord.lake.coordinator import LakeHow, LakeProgress
from concord.lake.partitions import ONE_SHARD
from concord.lake.plan import LakePlan
from concord.lake.status import sentence
from concord.llm.models import currency, load_models, pick
from concord.rubrics.reading import read as read_rubric
from concord.rubrics.rubric import Rubric

STORED_ONLY = {
    "benchmark": "--benchmark",
    "facets": "--where",
    "study": "--study",
    "version": "--version",
}
"""Options of `concord judge` that are about stored conversations."""


def judge(folder: str, files: tuple[str, ...], inner: Mapping[str, Any], options: Mapping[str, Any]) -> None:
    """Have judges rate the conversations of files, and say how it ended.

    Exits with 1 if it broke, 128 and the signal if one stopped it, 3 if it stopped otherwise or work is left,
    2 if judgements failed.
    """
    for name, option in STORED_ONLY.items():
        if options[name]:
            raise ConcordError(f"{option} is for stored conversations. Remove it, or remove --out.")
    if options["judge_repeats"] != 1:
        raise ConcordError("--judge-repeats is for stored conversations. Remove it.")
    workspace = Path(folder).expanduser().resolve()
    if not inner["rubric"]:
        raise ConcordError("Give the rubric: --rubric NAME, or a file.")
    value = plan.planned(
        files,
        rubric_of(workspace, inner["rubric"]),
        entries(workspace / "models.toml", options["judges"]),
        inner["out"],
        conversations=inner["partition"] or plan.CONVERSATIONS,
        name=inner["name"] or plan.NAME,
        keep=plan.named_columns(inner["keep"]),
        mapping=inner["mapping"],
        roles=inner["roles"],
        shard=plan.shard_of(inner["shard"]) if inner["shard"] else ONE_SHARD,
        folder=str(workspace),
    )
    paid_in = currency(workspace / "models.toml")
    if options["estimate"]:
        echo(estimated(engines.expected(value), paid_in))
        return
    selection = LakeHow(
        workers=inner["workers"] or 0,
        cluster=inner["cluster"],
        max_cost=options["max_cost"],
        retry_failed=options["retry_failed"],
        batch=options["batch"],
        wait=options["wait"],
    )
    with _watching(paid_in) as watch:
        end = engines.execute(value, selection, watch)
    _say(end, inner["out"], paid_in)


def _say(end: LakeProgress, answers: str, paid_in: str) -> None:
    state = "waiting for batches" if end.waiting and end.state == "open" else end.state
    echo(f"{state.capitalize()}: {sentence(end, paid_in)}")
    broken = end.state == "broken"
    if end.message:
        echo(end.message, err=broken)
    for problem in end.problems[:10]:
        echo(problem, err=True)
    for reason, count in sorted(end.reasons.items(), key=lambda pair: -pair[1])[:10]:
        echo(f"  {count:,} × {reason}", err=True)
    if end.state != "finished":
        echo("Run the same command to continue.", err=True)
    elif end.failed:
        echo("--retry-failed retries calls without a usable reply.", err=True)
    else:
        echo(f"Next: concord sample {quote(answers)} --study NAME --n 400")
        echo(f"Once annotators have rated: concord estimate {quote(answers)} --study NAME")
    if broken:
        raise SystemExit(1)
    if end.signal:
        raise SystemExit(128 + end.signal)
    if end.state != "finished":
        raise SystemExit(3)
    if end.failed:
        raise SystemExit(2)


@contextmanager
def _watching(paid_in: str) -> Iterator[Callable[[LakeProgress], None]]:
    """Shows where a job stands: in place on a terminal, elsewhere as a line every few seconds."""
    last = time.monotonic()

    def show(progress: LakeProgress) -> None:
        nonlocal last
        with suppress(OSError):
            line = sentence(progress, paid_in)
            line += f" · {progress.message}" if progress.message else ""
            if live is not None:
                live.update(Text(plain(line)))
            elif time.monotonic() - last >= PLAIN_SECONDS:
                last = time.monotonic()
                echo(line)

    terminal = Live(console=Console(), refresh_per_second=4, transient=True)
    with terminal if sys.stdout.isatty() else nullcontext() as live:
        if live is not None:
            live.console.show_cursor(True)
        yield show


def rubric_of(workspace: Path, name: str) -> Rubric:
    """A rubric: a file, or one of the workspace by its name. Raises ConfigError or NotFound."""
    if name.endswith(".toml"):
        return read_rubric(Path(name))
    folder = workspace / "rubrics"
    check_known("rubric", name, sorted(path.stem for path in folder.glob("*.toml")))
    return read_rubric(folder / f"{name}.toml")


def entries(path: Path, judges: tuple[str, ...]) -> dict[str, Mapping[str, Any]]:
    """What models.toml says of judges. Raises ConfigError or NotFound."""
    known_models = load_models(path)
    if len(set(judges)) < len(judges):
        raise ConfigError("A judge is listed twice.")
    for name in judges:
        pick(known_models, name, None)
    tables = read_toml(path)["models"] if path.exists() else {}
    return {name: tables[name] for name in judges}


@click.command("sample")
@click.argument("files", metavar="DIR | FILES…", nargs=-1, required=True)
@click.option("--study", required=True, help="The name of the new study.")
@click.option("--n", type=click.IntRange(1), required=True, help="How many conversations.")
@click.option("--rubric", default="", help="The rubric for annotators; default: that of the judged DIR.")
@click.option(
    "--draw",
    "method",
    type=click.Choice([draw.value for draw in LakeDraw]),
    default=LakeDraw.RANDOM.value,
    show_default=True,
    help="At random, or of a judged DIR more where a judge gives the rarer answer, or judges differ.",
)
@click.option("--judge", default="", help="With by_answer: whose answers; the first judge's unless given.")
@click.option("--criterion", default="", help="Answers to which question; the first unless given.")
@options.several("--keep", "Columns of FILES that become facets, NAME or NAME=PATH.")
@click.option("--name", default="", help="The name under which the conversations are kept (lake).")
@click.option(
    "--map", "mapping", multiple=True, metavar="NAME=PATH", callback=options.pairs, help="As in `import`."
)
@click.option(
    "--role", "roles", multiple=True, metavar="NAME=user", callback=options.roles, help="As in `import`."
)
@options.seeded("draws the same sample")
@options.number("--overlap", 0, "Annotators for each item; 0: all annotators.")
@click.option("--title", default="", help="What annotators see as the study's name.")
@click.pass_obj
def sample_command(
    folder: str,
    /,
    files: tuple[str, ...],
    study: str,
    n: int,
    rubric: str,
    method: str,
    judge: str,
    criterion: str,
    keep: tuple[str, ...],
    name: str,
    mapping: dict[str, str],
    roles: dict[str, str],
    seed: int,
    overlap: int,
    title: str,
) -> None:
    """Draw what people rate from files of conversations, or from what judges said of them.

    DIR is what `concord judge FILES --out DIR` wrote. Only the conversations that are drawn enter the
    workspace, with the answers of judges in DIR. Unequal chances are kept: every figure weighs by them.
    """
    from concord.lake import sample
    from concord.rubrics.rubric_store import Numbered
    from concord.store import rubrics
    from concord.store import studies as stored

    workspace = options.workspace(folder)
    draw = LakeDraw(method)
    judged = list[plan.JudgeFolder]()
    questions: Rubric
    if len(files) == 1 and plan.read_plan(Path(files[0])) is not None:
        if keep or name or mapping or roles:
            raise ConcordError(
                f"{files[0]} defines how its files are read. Remove --keep, --name, --map and --role."
            )
        inner = "" if rubric.endswith(".toml") else rubric
        value, judged = sample.judged_folders(Path(files[0]), inner)
        judged = plan.newest(judged)
        questions = judged[0].rubric
    else:
        if draw != LakeDraw.RANDOM:
            raise ConcordError(
                f"--draw {method} needs judges' answers. Give the DIR of `concord judge --out`."
            )
        if not rubric:
            raise ConcordError("Give the rubric for annotators: --rubric NAME, or a file.")
        questions = rubric_of(workspace.path, rubric)
        value = LakePlan(
            questions.name,
            questions.body,
            {},
            plan.files_of(files),
            "",
            name=name or plan.NAME,
            keep=plan.named_columns(keep),
            mapping=mapping,
            roles=roles,
        )
        value.reader().forms()
    items = sample.draw(value, n, seed=seed, method=draw, judged=judged, criterion=criterion, judge=judge)
    with workspace.write() as db:
        numbered = Numbered(questions, rubrics.number(db, questions.name, questions.hash))
        created = sample.store(
            db,
            study,
            value,
            items,
            numbered,
            judged=judged,
            method=draw,
            seed=seed,
            overlap=overlap,
            title=title,
        )
        units = len(stored.units(db, study))
    echo(
        f"Study “{study}”: {units:,} units of {n:,} conversations, drawn from "
        f"{created.sample.candidates if created.sample else 0:,} with seed {seed}."
    )
    for stratum, size in (created.sample.strata if created.sample else {}).items():
        count = sum(1 for one in items.strata.values() if one == stratum)
        echo(f"  {stratum}: {count:,} of {size:,}")
    echo(f"Next: concord people invite NAME… --study {study}")


@click.command("estimate")
@click.argument("folder", metavar="DIR", type=click.Path(path_type=Path))
@click.option("--study", required=True, help="The study whose annotators correct the judge.")
@click.option(
    "--by",
    "groupings",
    type=options.NAMES,
    default=(),
    help="Columns kept with --keep; NAME:week is the week of a time (or day, month).",
)
@click.option("--criterion", default="", help="The question; default: the first question of the study.")
@click.option("--judge", default="", help="The judge; default: the one that follows annotators best.")
@click.option("--rubric", default="", help="The rubric, if the folder has answers by several.")
@click.option("--any-endpoint", is_flag=True, help="The judge's model is the same wherever it was served.")
@click.option("--html", type=click.Path(path_type=Path), help="Write a page that a browser opens.")
@options.form()
@click.pass_obj
def estimate_command(
    workspace: str,
    /,
    folder: Path,
    study: str,
    groupings: tuple[str, ...],
    criterion: str,
    judge: str,
    rubric: str,
    any_endpoint: bool,
    html: Path | None,
    form: str,
) -> None:
    """What people would say of all that was judged: the judge's answers, corrected by a study's people.

    DIR is what `concord judge FILES --out DIR` wrote.
    """
    from concord.lake.counting import by_of
    from concord.lake.estimate import LakeEstimateOptions, as_values, estimated
    from concord.table import as_document
    from concord.workspace import Workspace

    selection = LakeEstimateOptions(by_of(groupings), criterion, judge, rubric, any_endpoint)
    with Workspace.open(workspace, create=False).read() as db:
        value = estimated(db, folder, study, selection)
    if form == "table":
        for sentence_ in value.sentences:
            echo(sentence_)
        for warning in value.warnings:
            echo(f"Warning: {warning.text}")
        echo()
    if form == "json":
        echo(json.dumps(as_values(value), ensure_ascii=False, indent=2))
    else:
        echo(as_document(value.tables, form, width=columns(100)), nl=False)
    if html is not None:
        from datetime import date

        from concord.lake.page import page

        write_text(html, page(value, created=date.today()))
        echo(f"The page is in {html}.", err=True)
