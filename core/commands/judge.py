"""`concord judge`: judges over stored conversations, or over files of conversations of any size."""

from __future__ import annotations

from typing import Any

import click

from concord.commands import options
from concord.commands.progress import carry_out, running
from concord.errors import ConcordError


@click.command(name="judge")
@click.argument("names", metavar="NAME | FILES…", nargs=-1, required=True)
@options.several("--judges", "Models that rate.", required=True)
@options.benchmark_option
@options.filters("conversations")
@click.option("--study", default="", metavar="NAME", help="Only the conversations of this study.")
@options.judging
@running
@options.lake
@click.pass_obj
def command(folder: str, /, names: tuple[str, ...], **choices: Any) -> None:
    """Have judges rate conversations: stored ones, or those of files.

    NAME is a rubric of the workspace (rubrics/NAME.toml), or a benchmark whose own questions are asked: of
    the stored conversations that a judge has not rated yet.

    With --out, FILES are Parquet or JSON Lines of conversations: files, folders, patterns, or addresses such
    as s3://bucket/logs. What judges say by --rubric is written as Parquet; the workspace is not used but for
    its models.toml and rubrics. The same command goes on where it was.
    """
    lake_options = {name: choices.pop(name) for name in options.LAKE}
    if lake_options["out"]:
        from concord.commands import lake

        lake.judge(folder, names, lake_options, choices)
        return
    if unusable := [name for name, value in lake_options.items() if value]:
        raise ConcordError(f"--{unusable[0].replace('_', '-')} is for files of conversations: add --out DIR.")
    if len(names) > 1:
        raise ConcordError("Give one rubric or benchmark. For files of conversations, add --out DIR.")
    judge_stored(folder, names[0], **choices)


def judge_stored(
    folder: str,
    name: str,
    *,
    judges: tuple[str, ...],
    benchmark: str,
    facets: options.Facets,
    study: str,
    **choices: Any,
) -> None:
    """Judge the conversations of a workspace."""
    from concord.rubrics import rubric_store
    from concord.runs.plans import JudgePlan
    from concord.store import studies

    workspace = options.workspace(folder)
    version = choices.pop("version")
    repeats = choices.pop("judge_repeats")
    rubric = name if name in rubric_store.names(workspace) else ""
    if rubric:
        with workspace.read() as db:
            benchmark = options.benchmark_of(db, benchmark)
    elif benchmark not in ("", name):
        raise ConcordError(
            f"“{name}” is a benchmark and asks about its own conversations. Remove --benchmark."
        )
    keys: tuple[str, ...] = ()
    if study:
        with workspace.read() as db:
            keys = tuple(sorted({str(unit["key"]) for unit in studies.units(db, study)}))
        if not keys:
            raise ConcordError(f"The study “{study}” has no items. Draw some, or remove --study.")
    plan = JudgePlan(benchmark or name, judges, facets, version, repeats, rubric, keys)
    carry_out(workspace, plan, **choices)
