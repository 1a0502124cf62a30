"""`concord study …`: draw and describe a study, show its progress, close it."""

from pathlib import Path
from typing import Any

import click

from concord.commands import annotating, options, printing
from concord.commands.printing import echo
from concord.errors import StudyError
from concord.files import read_text
from concord.rubrics import rubric_store
from concord.store import (
    acts,
)
from concord.store import studies as stored
from concord.store.conversations import Filter
from concord.studies import annotation_flow, pairings, quality, studies
from concord.workspace import Workspace


@click.group("study")
def command() -> None:
    """Run studies: draw a sample of conversations, assign it to annotators, follow their progress."""


command.commands.update(annotating.commands.commands)


@command.command("draw")
@click.argument("name")
@click.option("--n", type=click.IntRange(1), required=True, help="How many conversations.")
@click.option("--rubric", default="", help="Ask the questions of this rubric of the workspace.")
@options.benchmark_option
@options.filters("conversations")
@click.option(
    "--by",
    "strata",
    type=options.NAMES,
    help="The strata of the sample; default: the model and all facets that vary; “”: none.",
)
@options.seeded("draws the same sample")
@options.several("--ask", "Criteria to ask; default: those in the overall score.")
@click.option(
    "--per-turn", is_flag=True, help="Annotators rate every turn instead of the whole conversation."
)
@click.option(
    "--overlap",
    type=click.IntRange(0),
    default=0,
    show_default=True,
    help=(
        "Raters for each unit; 0: all. An assignment may change it; a study for a crowd alone needs "
        "no assignment."
    ),
)
@options.several("--not-in", "Studies whose conversations are not drawn, such as a pilot.")
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
    **sampling: Any,
) -> None:
    """Draw a sample of stored conversations, stratified and by a seed, as a new study."""
    if rubric and (sampling["ask"] or sampling["per_turn"]):
        raise StudyError("The rubric defines the questions and the unit. Remove --ask and --per-turn.")
    text = read_text(guidelines) if guidelines else ""
    workspace_ = Workspace.open(workspace, create=False)
    sampling["rubric"] = rubric_store.find(workspace_, rubric) if rubric else None
    with workspace_.write() as db:
        selection = _selection(benchmark or options.only_benchmark(db), facets)
        study = studies.draw_study(db, name, studies.StudyDraw(n, selection, guidelines=text, **sampling))
        units = len(stored.units(db, name))
    sample = study.sample
    assert sample is not None
    echo(
        f"Study “{name}”: {units} units of {n} conversations, drawn from {sample.candidates} with "
        "seed "
        f"{sampling['seed']}" + (f", spread over {', '.join(sample.facets)}." if sample.facets else ".")
    )
    if sample.not_in:
        echo(f"Excluded conversations of: {', '.join(sample.not_in)}.")
    echo(f"Asked: {', '.join(c.label for c in study.criteria)}.")
    echo(f"Next: concord people invite NAME… --study {name}")


@command.command("pairs")
@click.argument("name")
@click.option(
    "--rubric",
    default="",
    help="The rubric with the pairwise questions or rankings; default: the benchmark's own.",
)
@click.option("--version", default="", help="A version of it that was used; default: the file as it is.")
@click.option(
    "--n", type=click.IntRange(1), help="Pairs, or groups, to draw, evenly over models; default: all."
)
@options.benchmark_option
@options.several("--models", "Models to compare; default: all.")
@options.filters("conversations")
@options.seeded("draws the same pairs")
@options.number("--overlap", 1, "Annotators for each pair; 0: all. An assignment may change it.")
@click.option("--title", default="", help="The name for annotators; default: the rubric's title.")
@click.pass_obj
def _pairs(
    workspace: str,
    /,
    name: str,
    rubric: str,
    version: str,
    n: int | None,
    benchmark: str,
    models: tuple[str, ...],
    facets: options.Facets,
    **arguments: Any,
) -> None:
    """Create a study of pairs: two players' conversations (or last replies) to the same scenario or prompt.

    A rubric that asks for an order makes groups, of two to eight players' conversations. Assign, follow and
    close it like other studies; with `concord compare NAME`, judges compare the pairs.
    """
    workspace_ = Workspace.open(workspace, create=False)
    rubric_version = (
        rubric_store.find(workspace_, rubric, rubric_store.number_of(version)) if rubric else None
    )
    with workspace_.write() as db:
        benchmark_name = benchmark or options.only_benchmark(db)
        study = pairings.new(
            db, name, rubric_version, benchmark_name, n, players=models, facets=facets, **arguments
        )
        groups = {unit["key"] for unit in stored.units(db, name)}
    labels = " and ".join(question.label for question in study.criteria)
    rubric_words = f" ({rubric_version.variant})" if rubric_version else ""
    echo(
        f"Study of pairs “{name}”: {len(groups)} {study.counting_unit} of {study.benchmark}, asked: "
        f"{labels}{rubric_words}."
    )
    echo(f"Assign it: concord study deal {name} --annotators …")
    echo(f"Let judges compare them: concord compare {name} --judges …")


@command.command("show")
@click.argument("name")
@click.pass_obj
def _show(workspace: str, name: str) -> None:
    """Show a study: its questions, its sample, and each annotator's progress."""
    with Workspace.open(workspace, create=False).read() as db:
        study = stored.get(db, name)
        units = len(stored.units(db, name))
        hidden = annotation_flow.hidden(db, name)
        signs = quality.signs(db, name)
        figures = annotation_flow.tables(db, name)
        acts_done = acts.of_study(db, name)
    echo(f"{study.title} ({study.name}), {study.source} {study.created[:10]}")
    echo(f"{units} units, raters of each: {study.overlap or 'all annotators'}")
    for criterion in study.criteria:
        scale = f"{criterion.scale.low:g} to {criterion.scale.high:g}"
        echo(f"  {criterion.label} ({scale}): {criterion.statement}")
    if signs.table.rows:
        echo()
        printing.show([signs.table, *figures], "table")
        if hidden:
            echo(hidden)
        for flag in signs.warnings:
            echo(f"Warning: {flag.text}")
        for act in acts_done:
            echo(act.sentence)
    elif not study.anonymous:
        echo(f"Not assigned yet: concord study deal {name} --annotators …")


def _selection(benchmark: str, facet_values: options.Facets) -> Filter:
    facets = dict(facet_values)
    languages = facets.pop("language", ())
    players = facets.pop("player", ())
    if len(languages) > 1:
        raise StudyError("A study has one language. Choose one: --where language=VALUE.")
    return Filter(benchmark, "".join(languages), players, facets=facets)
