"""`concord import …`: read ratings and conversations; each format is a subcommand."""

from pathlib import Path
from typing import Any

import click

from concord.benchmarks import BENCHMARKS, SLICES
from concord.commands import options
from concord.commands.printing import echo
from concord.errors import ConcordError, ImportRefused
from concord.exchange import cells, conversations_jsonl, fed, incoming, ratings_csv, ratings_study
from concord.rating import Scale
from concord.workspace import Workspace


class _Formats(click.Group):
    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        slice_name, _, word = cmd_name.partition("-")
        if slice_name in SLICES:
            raise ConcordError(f"`concord import {cmd_name}` is now `concord {slice_name} import {word}`.")
        return super().get_command(ctx, cmd_name)


@click.group("import", cls=_Formats)
def command() -> None:
    """Read a file into the workspace. If anything in it is wrong, nothing is stored.

    The published files of a benchmark are read by its own command, such as `concord BENCHMARK import tasks`.
    """


@command.command("fed")
@click.argument("folder", metavar="DIR", type=click.Path(path_type=Path))
@click.option("--study", default=fed.BENCHMARK, show_default=True, help="The study's name.")
@click.pass_obj
def _fed(workspace: str, folder: Path, study: str) -> None:
    """The FED dialogues with their published ratings by people and by a judge."""
    brought = fed.read(folder, study)
    done = incoming.store_in_parts(Workspace.open(workspace), brought)
    _report(done)


@command.command("ratings")
@click.argument("file", metavar="FILE.csv", type=click.Path(path_type=Path))
@click.option("--study", required=True, help="The study's name.")
@click.option("--title", default="", help="What annotators see as the study's name.")
@click.option("--append", is_flag=True, help="Add new ratings to a study that holds some.")
@click.option(
    "--delimiter", default=",", show_default=True, help="What separates the columns; “tab” for tabs."
)
@click.option(
    "--scale",
    "told",
    multiple=True,
    metavar="CRITERION=1..5",
    callback=lambda _context, _option, given: tuple(map(options.scale_told, given)),
    help="The scale of a criterion (1..5 alone: of every one), where scores do not show it; with words: "
    "CRITERION=1:bad,2:good.",
)
@click.option(
    "--uncounted",
    multiple=True,
    metavar="CRITERION",
    callback=lambda _context, _option, given: tuple(map(cells.nfc, given)),
    help="A criterion that does not enter final, such as a refusal.",
)
@click.pass_obj
def _ratings(
    workspace: str,
    /,
    file: Path,
    study: str,
    append: bool,
    delimiter: str,
    told: tuple[tuple[str, Scale], ...],
    **how: Any,
) -> None:
    if study in BENCHMARKS:
        raise ImportRefused(f"“{study}” is the name of a benchmark. Give the study another name.")
    table = ratings_csv.read(file, delimiter="\t" if delimiter == "tab" else delimiter)
    opened = Workspace.open(workspace)
    with opened.read() as db:
        brought = ratings_study.incoming(db, table, study, scales=dict(told), **how)
    _report(incoming.store_in_parts(opened, brought, append=append))
    for criterion in brought.study.criteria:
        scale = criterion.scale
        kind = "a range, not to be asked at the desk" if scale.continuous else f"{len(scale.values)} answers"
        guess = ", guessed from the scores" if scale.guessed else ""
        echo(f"  {criterion.name}: {scale.low:g} to {scale.high:g}, {kind}{guess}")


@command.command("conversations")
@click.argument("file", metavar="FILE.jsonl", type=click.Path(path_type=Path))
@click.option(
    "--benchmark",
    default="",
    help="The name under which conversations that name none are kept; default: the file's.",
)
@click.pass_obj
def _conversations(workspace: str, file: Path, benchmark: str) -> None:
    with Workspace.open(workspace).write() as db:
        done = conversations_jsonl.read(db, file, benchmark=benchmark)
    known = f", {done.known} were here already" if done.known else ""
    echo(f"{done.conversations} new conversations{known}." + "".join(f" Study “{s}”." for s in done.studies))


def _report(done: incoming.Imported) -> None:
    new = [f"{done.people:,} ratings by people", f"{done.judges:,} by judges"]
    new += [f"{done.units:,} units"] if done.units else []
    new += [f"{done.conversations:,} conversations"] if done.conversations else []
    known = f" {done.known:,} ratings were here already." if done.known else ""
    there = "" if done.conversations else ", all on conversations that were here"
    echo(f"Study “{done.study}”, new: {', '.join(new)}{there}.{known}")
