"""`concord import …`: read ratings and conversations; each format is a subcommand."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, cast

import click

from concord.codes import Scorer
from concord.commands import options, printing
from concord.commands.check import table_options
from concord.commands.printing import echo
from concord.conversation import Role
from concord.errors import ConcordError, ImportRefused
from concord.exchange import (
    answers,
    argilla,
    cells,
    comparisons_file,
    conversations_file,
    conversations_import,
    incoming,
    label_studio,
    ratings_csv,
    ratings_study,
    survey_sentences,
)
from concord.exchange.answers import AnswerFile
from concord.questions import Scale
from concord.reading import labels
from concord.reading.options import TableOptions
from concord.rubrics import rubric_store
from concord.store.comparisons import OWN
from concord.studies import pairings

EXCERPT = 160
"""Characters of a message that `--check` prints."""


@click.group("import")
def command() -> None:
    """Read a file into the workspace. If anything in it is wrong, nothing is stored.

    The published files of a benchmark are read by its own command, such as `concord BENCHMARK import tasks`.
    """


@command.command("ratings")
@click.argument("file", metavar="FILE.csv", type=click.Path(path_type=Path))
@click.option("--study", required=True, help="The study's name.")
@click.option("--title", default="", help="What annotators see as the study's name.")
@click.option("--append", is_flag=True, help="Add new ratings to a study that holds some.")
@table_options
@click.option(
    "--uncounted",
    multiple=True,
    metavar="CRITERION",
    callback=lambda _context, _option, texts: tuple(map(cells.nfc, texts)),
    help="A criterion that the overall score excludes, such as a refusal.",
)
@click.option(
    "--rubric",
    default="",
    metavar="NAME",
    help=(
        "Items are stored conversations, and criteria are this rubric's: one agreement compares the "
        "file's annotators with the rubric's judges."
    ),
)
@click.pass_obj
def _ratings(
    workspace: str,
    /,
    file: Path,
    study: str,
    append: bool,
    rubric: str,
    reading: TableOptions,
    **arguments: Any,
) -> None:
    table_ratings = labels.ratings(file, reading)
    workspace_ = options.workspace(workspace)
    rubric_version = rubric_store.find(workspace_, rubric) if rubric else None
    with workspace_.read() as db:
        import_ = ratings_study.incoming(
            db,
            table_ratings.table,
            study,
            rubric=rubric_version,
            scales=table_ratings.scales,
            new_conversations=table_ratings.conversations,
            **arguments,
        )
    if rubric_version:
        with workspace_.write() as db:
            rubric_version.publish(db)
    with printing.progress("Storing") as progress_bar:
        summary = incoming.store(workspace_, import_, append=append, progress=progress_bar)
    for note in table_ratings.notes:
        echo(f"  {note}")
    echo(summary)
    for criterion in import_.study.criteria:
        scale = criterion.scale
        kind = f"{len(scale.offered)} answers" if scale.offered else "a range, which the desk cannot ask"
        guess = ", guessed from the scores" if scale.guessed else ""
        echo(f"  {criterion.name}: {scale.low:g} to {scale.high:g}, {kind}{guess}")


def _scorers(context: click.Context, option: click.Parameter, texts: tuple[str, ...]) -> dict[str, Scorer]:
    """Who gave the scores on a criterion, by its name."""
    pairs = options.pairs(context, option, texts)
    for name, scorer in pairs.items():
        if scorer not in (Scorer.HUMAN, Scorer.JUDGE, Scorer.CODE):
            raise ConcordError(f"--scorer {name}={scorer}: it must be human, judge or code.")
    return {cells.nfc(name): Scorer(scorer) for name, scorer in pairs.items()}


@command.command("dataset")
@click.argument("folder", metavar="DIR", type=click.Path(path_type=Path))
@click.option("--study", required=True, help="The name of the study with its ratings.")
@click.pass_obj
def _dataset(workspace: str, folder: Path, study: str) -> None:
    """A folder that `concord export dataset` wrote: conversations, ratings and comparisons."""
    workspace_ = options.workspace(workspace)
    data = folder / "data"
    if not (data / "conversations.parquet").is_file():
        raise ImportRefused(
            f"{folder} has no data/conversations.parquet, so it was not written by `concord export dataset`."
        )
    survey = conversations_file.survey(data / "conversations.parquet")
    echo(conversations_import.store(workspace_, survey))
    if (data / "ratings.parquet").is_file():
        table = ratings_csv.read(data / "ratings.parquet")
        with workspace_.read() as db:
            import_ = ratings_study.incoming(db, table, study)
        echo(incoming.store(workspace_, import_))
    if (data / "comparisons.parquet").is_file():
        echo(comparisons_file.store(workspace_, data / "comparisons.parquet"))


@command.command("conversations")
@click.argument("file", metavar="FILE", type=click.Path(path_type=Path))
@click.option("--benchmark", default="", help="The name under which they are kept; default: the file's.")
@click.option(
    "--map",
    "mapping",
    multiple=True,
    metavar="NAME=PATH",
    callback=options.pairs,
    help=(
        "The place of a part in a row: messages, or user and assistant, or first and second with "
        "a winner, or for a turn a row conversation, order, speaker and text; talk, system, "
        "rater, key, player, language, scenario, facet:NAME, context:HEADING, score:CRITERION (a "
        "judge's), human:CRITERION (an annotator's), code:CRITERION (a program's); out:COLUMN excludes a "
        "column."
    ),
)
@click.option(
    "--join",
    "joins",
    multiple=True,
    type=click.Path(path_type=Path),
    help="A second file whose rows belong to this one's, such as a batch's output or its scores.",
)
@click.option(
    "--role",
    "roles",
    multiple=True,
    metavar="NAME=user",
    callback=options.roles,
    help="The role of a speaker: user, assistant, system or tool; the NAME “*” means all others.",
)
@click.option(
    "--rows",
    "place",
    default="",
    metavar="PATH",
    help="The place of the list of rows inside the file, as names joined by dots, such as events.",
)
@click.option(
    "--scorer",
    "scorers",
    multiple=True,
    metavar="CRITERION=human",
    callback=_scorers,
    help=(
        "The source of scores if the file does not name it: human, judge or code; the CRITERION “*” "
        "means all others."
    ),
)
@click.option(
    "--scores-as", "judge", default="", metavar="JUDGE", help="Import scores as this judge's ratings."
)
@click.option("--study", default="", help="Import annotators' scores as a study of this name.")
@click.option("--rubric", default="", help="Import votes as answers to this rubric's pairwise question.")
@click.option("--criterion", default="", help="The rubric's question; default: the first.")
@options.scales("the scores do not show it")
@click.option(
    "--show-system-prompt", is_flag=True, help="Show each system prompt to annotators and judges, as context."
)
@click.option("--skip-wrong", is_flag=True, help="Exclude wrong rows.")
@click.option("--check", is_flag=True, help="Show the content of the file without storing it.")
@click.pass_obj
def _conversations(
    workspace: str,
    /,
    file: Path,
    benchmark: str,
    mapping: dict[str, str],
    roles: dict[str, str],
    joins: tuple[Path, ...],
    place: str,
    scorers: dict[str, Scorer],
    show_system_prompt: bool,
    check: bool,
    scales: Mapping[str, Scale],
    rubric: str,
    criterion: str,
    **arguments: Any,
) -> None:
    """Conversations of other tools, or as `concord export conversations` writes them.

    JSON Lines, JSON, CSV or Parquet; the form is recognised, and docs/formats.md lists those that are.
    """
    workspace_ = options.workspace(workspace)
    question = OWN
    if rubric:
        question = pairings.question(rubric_store.find(workspace_, rubric).rubric, criterion)
    reading = conversations_file.FileOptions(
        benchmark, mapping, cast(Mapping[str, Role], roles), joins, place, scorers, show_system_prompt
    )
    with printing.progress("Checking") as bar:
        survey = conversations_file.survey(file, reading, progress=bar)
    for line in survey_sentences.sentences(survey):
        echo(line)
    if survey.scores or survey.unknown or survey.votes or survey.metadata or survey.left_out:
        echo(survey_sentences.IMPORT_OPTIONS)
    if check:
        for file_place, entry in survey.examples:
            for conversation in entry.conversations:
                echo(f"\n{file_place}: {conversation.key} ({conversation.player}, {conversation.language})")
                for message in conversation.messages:
                    echo(f"  {message.role}: {message.content[:EXCERPT]}")
        survey.refuse()
        return
    with printing.progress("Storing") as progress_bar:
        summary = conversations_import.store(
            workspace_, survey, question=question, scales=scales, progress=progress_bar, **arguments
        )
    echo(summary)


@command.command("comparisons")
@click.argument("file", metavar="FILE", type=click.Path(path_type=Path))
@click.option(
    "--benchmark", default="", help="The name under which the conversations are kept; default: the file's."
)
@click.pass_obj
def _comparisons(workspace: str, file: Path, benchmark: str) -> None:
    """Read pairwise votes of annotators and judges, one vote per row (CSV, JSON Lines)."""
    echo(comparisons_file.store(options.workspace(workspace), file, benchmark))


def _of_tool(read: Callable[..., AnswerFile], word: str, metavar: str, help: str) -> None:
    """`concord import WORD`: the answers of another annotation tool."""

    @command.command(word, help=help)
    @click.argument("file", metavar=metavar, type=click.Path(path_type=Path))
    @click.option("--study", required=True, help="The study that was exported, or the name of a new one.")
    @options.scales("answers do not show it")
    @click.pass_obj
    def _answers(workspace: str, /, file: Path, study: str, scales: dict[str, Scale]) -> None:
        workspace_ = options.workspace(workspace)
        answer_file = read(file, study)
        with workspace_.read() as db:
            import_ = answers.incoming(db, answer_file, study, scales=scales)
        echo(incoming.store(workspace_, import_, append=True))
        for reason, count in answer_file.left_out.items():
            echo(f"  excluded: {count:,} {reason}")


_of_tool(
    label_studio.read,
    "label-studio",
    "FILE.json",
    "Read answers from Label Studio: its JSON export.",
)
_of_tool(
    argilla.read,
    "argilla",
    "FILE",
    "Read answers from Argilla: records.json, or the folder of to_disk.",
)
