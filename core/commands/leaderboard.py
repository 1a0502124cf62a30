"""`concord leaderboard BENCHMARK`: how players compare on what a panel of judges gave them."""

from __future__ import annotations

import json

import click
from rich.markup import escape
from rich.table import Table

from core.benchmarks import get
from core.benchmarks.simulbench import commands_leaderboard as leaderboard_simulbench
from core.benchmarks.stss import commands_leaderboard as leaderboard_stss
from core.commands import options, printing
from core.commands.options import names
from core.errors import ConcordError
from core.reports import leaderboards, standings, standings_corrected
from core.reports.corrected import CorrectedBoard, corrected
from core.studies import studies
from core.workspace import Workspace

# Benchmarks whose paper has a table of its own shape; every other is shown in the common one.
TABLES = {"simulbench": leaderboard_simulbench.show, "stss": leaderboard_stss.show}


@click.command("leaderboard")
@click.argument("benchmark")
@options.table
@click.option(
    "--study",
    metavar="NAME",
    default="",
    help="Correct the means by what people gave in this study (prediction-powered inference).",
)
@options.form("json", "csv", "latex")
@options.resamples("conversations")
@options.seed
@click.pass_obj
def command(
    workspace: str,
    benchmark: str,
    language: str,
    judges: str,
    weights: str,
    study: str,
    form: str,
    resamples: int,
    seed: int,
) -> None:
    """How players compare: means over conversations and a panel of judges, refusals, length of replies."""
    if benchmark in TABLES:
        if study:
            raise ConcordError(
                f"The tables of {get(benchmark).title} are not corrected by people; leave out --study."
            )
        folder = Workspace.open(workspace, create=False)
        TABLES[benchmark](folder, judges=names(judges), form=form, resamples=resamples, seed=seed)
        return
    weighed = parsed_weights(benchmark, weights)
    with Workspace.open(workspace, create=False).read() as db:
        rated = leaderboards.gather(db, benchmark, language=language)
        people = studies.ratings_for_agreement(db, study) if study else None
    board = leaderboards.leaderboard(
        rated, judges=names(judges), weights=weighed, resamples=resamples, seed=seed
    )
    if people is not None:
        _show_corrected(corrected(board, people), form)
        return
    if form == "json":
        click.echo(json.dumps(standings.as_values(board), ensure_ascii=False, indent=2))
    elif form == "csv":
        click.echo(standings.as_csv(board), nl=False)
    elif form == "latex":
        click.echo(standings.as_latex(board), nl=False)
    else:
        printing.console().print(_table(board))
    for note in standings.notes(board):
        click.echo(note, err=True)


def _show_corrected(board: CorrectedBoard, form: str) -> None:
    if form == "json":
        click.echo(json.dumps(standings_corrected.as_values(board), ensure_ascii=False, indent=2))
    elif form == "csv":
        click.echo(standings_corrected.as_csv(board), nl=False)
    elif form == "latex":
        click.echo(standings_corrected.as_latex(board), nl=False)
    else:
        table = printing.table(f"{get(board.benchmark).title}, corrected by people")
        for heading in ("player", "judges", "of", "people", "of", "corrected", "95%", "worth"):
            table.add_column(heading, justify="left" if heading == "player" else "right")
        for row in board.rows:
            f = row.final
            ends = "" if f.low is None or f.high is None else f"{f.low:.2f} to {f.high:.2f}"
            table.add_row(
                escape(row.player), standings_corrected.two(f.judges), str(f.n + f.rest), standings_corrected.two(f.people), str(f.n),
                "undefined" if f.value is None else f"{f.value:.2f}", ends, "" if f.worth is None else f"{f.worth:.0f}",
            )  # fmt: skip
        printing.console().print(table)
    for note in standings_corrected.notes(board):
        click.echo(note, err=True)


def parsed_weights(benchmark: str, text: str) -> dict[str, float] | None:
    """`--weights` by criterion; None where it was left out."""
    counted = [c.name for c in get(benchmark).criteria if c.counted]
    if not text:
        return None
    try:
        numbers = [float(part) for part in names(text)]
    except ValueError:
        numbers = []
    if len(numbers) != len(counted):
        raise ConcordError(
            f"--weights wants {len(counted)} numbers, for {', '.join(counted)}; it got “{text}”."
        )
    return dict(zip(counted, numbers, strict=True))


def _table(board: leaderboards.Leaderboard) -> Table:
    table = printing.table(f"{get(board.benchmark).title}{f' ({board.language})' if board.language else ''}")
    names = list(board.weights)
    for heading in ("", "player", "score", "final", *names, "refusals", "length", "n"):
        table.add_column(heading.replace("_", " "), justify="left" if heading == "player" else "right")
    for s in board.standings:
        half = s.score.half_width
        table.add_row(
            str(s.rank or ""),
            escape(s.player),
            _number(s.score) + (f" ± {half:.2f}" if half is not None else ""),
            _number(s.final),
            *(_number(s.criteria[name]) for name in names),
            "–" if s.refusal_ratio is None else f"{s.refusal_ratio:.2f}",
            "" if s.reply_chars is None else f"{s.reply_chars:.0f}",
            str(s.n),
        )
    return table


def _number(figure: leaderboards.Figure) -> str:
    return "undefined" if figure.value is None else f"{figure.value:.2f}"
