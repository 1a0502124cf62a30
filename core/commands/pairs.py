"""`concord pairs …`: make studies of pairs, deal pairs to people, take them back, see who has done what."""

from pathlib import Path
from typing import Any

import click

from concord.commands import options, printing
from concord.commands.printing import echo
from concord.errors import StudyError
from concord.exchange import comparisons_file
from concord.rubrics import shelf
from concord.store import studies as stored
from concord.studies import pairings
from concord.studies.pairings import Standing
from concord.workspace import Workspace


@click.group("pairs")
def command() -> None:
    """Pairs of conversations or replies that people compare, blind, at their desk, and judges as well.

    `concord compare` has judges compare them, and shows what came of it.
    """


@command.command("new")
@click.argument("name")
@click.option("--rubric", required=True, help="The rubric whose pairwise questions are asked.")
@click.option("--version", default="", help="A version of it that was used; default: the file as it is.")
@click.option(
    "--n", type=click.IntRange(1), help="Pairs to draw, evenly over every two models; all unless given."
)
@options.whose
@options.several("--models", "Players to compare; all unless given.")
@options.where("conversations")
@options.seeded("draws the same pairs")
@click.option(
    "--file",
    type=click.Path(path_type=Path),
    help="The pairs, one a row (CSV, JSON Lines, Parquet), as keys of conversations: first, second.",
)
@click.option("--title", default="", help="What annotators see as its name; the rubric's title unless given.")
@click.pass_obj
def _new(
    workspace: str,
    /,
    name: str,
    rubric: str,
    version: str,
    n: int | None,
    benchmark: str,
    models: tuple[str, ...],
    facets: options.Facets,
    seed: int,
    file: Path | None,
    title: str,
) -> None:
    """Make a study of pairs: two players' conversations (or last replies) to the same scenario or prompt."""
    opened = Workspace.open(workspace, create=False)
    used = shelf.find(opened, rubric, shelf.number_of(version))
    if file is not None and (n or models or facets or benchmark):
        raise StudyError(
            "The file says which pairs are compared: leave --n, --models, --where and --benchmark out."
        )
    given = comparisons_file.pairs(file) if file else None
    with opened.write() as db:
        whose = benchmark or ("" if given else options.only_benchmark(db))
        how: dict[str, Any] = {
            "players": models,
            "facets": facets,
            "seed": seed,
            "title": title,
            "given": given,
        }
        source = file.name if file else "drawn"
        pair_study = pairings.new(db, name, used, whose, n, source=source, **how)
        many = len(stored.pairs(db, name))
    labels = " and ".join(question.label for question in used.rubric.pairs)
    echo(
        f"Study of pairs “{pair_study.name}”: {many} pairs of {pair_study.benchmark}, asked: {labels} "
        f"({used.variant})."
    )
    echo(f"Deal it: concord pairs deal {name} --annotators …")
    echo(f"Have judges compare them: concord compare {name} --judges …")


@command.command("deal")
@click.argument("study")
@options.several("--annotators", "Invited annotators to deal to.", required=True)
@click.option(
    "--n", type=click.IntRange(1), help="Different pairs to compare between them; all unless given."
)
@options.several("--models", "Players to compare; all unless given.")
@options.where("scenarios")
@options.number("--overlap", 1, "People for each pair; 0: all.")
@options.seeded("draws the same pairs, orders and sides")
@click.pass_obj
def _deal(
    workspace: str,
    /,
    study: str,
    annotators: tuple[str, ...],
    n: int | None,
    models: tuple[str, ...],
    facets: options.Facets,
    **how: Any,
) -> None:
    """Deal pairs to people, evenly over every two models. Pairs they have already count towards N.

    STUDY is a study of pairs, or a benchmark whose own question is asked.
    """
    with Workspace.open(workspace, create=False).write() as db:
        if (models or facets) and pairings.find(db, study):
            raise StudyError(
                "The pairs of this study were chosen when it was made: leave --models and --where out."
            )
        standings = pairings.deal(db, study, annotators, n, players=models, facets=facets, **how)
    for standing in standings:
        echo(_told(standing))


@command.command("show")
@click.argument("study", default="")
@click.pass_obj
def _show(workspace: str, study: str) -> None:
    """Who has pairs to compare, how far they are, and what they flagged or skipped; without STUDY also the
    studies of pairs.
    """
    with Workspace.open(workspace, create=False).read() as db:
        standings = pairings.standings(db, study)
        names = [] if study else stored.names(db, pairs=True)
        pair_studies = [(stored.get(db, name), len(stored.pairs(db, name))) for name in names]
        remarks = pairings.remarks_table(db, study)
    for one, many in pair_studies:
        echo(f"{one.name}\t{many} pairs of {one.benchmark}\t{one.rubric} v{one.version}\t{one.title}")
    for standing in standings:
        echo(_told(standing) + ("" if study else f"\t{standing.study}"))
    if remarks.rows:
        printing.show([remarks], "table")
    if not standings:
        echo("No pairs are dealt. Deal some with `concord pairs deal`.", err=True)


@command.command("take-back")
@click.argument("study")
@click.argument("name")
@click.pass_obj
def _take_back(workspace: str, study: str, name: str) -> None:
    """Take back the pairs that NAME has not compared, so that they can be dealt to others."""
    with Workspace.open(workspace, create=False).write() as db:
        taken = pairings.take_back(db, study, name)
    echo(f"{taken} pairs that {name} had not compared are taken back.")


def _told(standing: Standing) -> str:
    skipped = f", {standing.skipped} of them skipped" if standing.skipped else ""
    minutes = f"\t{standing.seconds / 60:.0f} min" if standing.seconds else ""
    return f"{standing.person}\t{standing.done} of {standing.dealt} pairs compared{skipped}{minutes}"
