"""`concord rankings BENCHMARK`: how stable a leaderboard's order is, by judge, by interrogator, under pools, against another ranking."""

from __future__ import annotations

import json
from pathlib import Path

import click
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from core.benchmarks import get
from core.commands import options, printing
from core.commands.leaderboard import parsed_weights
from core.commands.options import names
from core.errors import ImportRefused
from core.exchange import ranking_csv
from core.reports import leaderboards, rank_stability
from core.reports import rank_tables as written
from core.reports.rank_stability import Beside, Orders, Rankings
from core.workspace import Workspace


@click.command("rankings")
@click.argument("benchmark")
@options.table
@click.option(
    "--study",
    metavar="NAME",
    default="",
    help="Whose people say which judges are the best two; the newest study of these conversations unless given.",
)
@click.option(
    "--against",
    metavar="FILE.csv",
    type=click.Path(path_type=Path),
    help="Another ranking of the same models: columns model and score, or model and rank.",
)
@options.form("json", "csv")
@options.resamples("conversations")
@options.seed
@click.pass_obj
def command(
    workspace: str, benchmark: str, language: str, judges: str, weights: str, study: str, against: Path | None, form: str,
    resamples: int, seed: int,
) -> None:  # fmt: skip
    """How stable the order of players is: by judge, by interrogator, under pools of judges, and against another ranking."""
    weighed = parsed_weights(benchmark, weights)
    folder = Workspace.open(workspace, create=False)
    other = ranking_csv.read(_bytes(against), str(against)) if against else None
    with folder.read() as db:
        rated = leaderboards.gather(db, benchmark, language=language)
        board = leaderboards.leaderboard(
            rated, judges=names(judges), weights=weighed, resamples=resamples, seed=seed
        )
        found = rank_stability.rankings(db, rated, board, study=study)
    beside = rank_stability.beside(board, other) if other else None
    if form == "json":
        click.echo(json.dumps(written.as_values(found, beside), ensure_ascii=False, indent=2))
    elif form == "csv":
        click.echo(written.as_csv(found, beside), nl=False)
    else:
        _show(found, beside)
    for note in [*written.notes(found), *(written.beside_notes(beside) if beside else [])]:
        click.echo(note, err=True)


def _bytes(path: Path) -> bytes:
    try:
        with path.open("rb") as file:
            return file.read(ranking_csv.LARGEST + 1)
    except OSError as error:
        raise ImportRefused(f"{path} cannot be read: {error.strerror}.") from error


def _show(found: Rankings, beside: Beside | None) -> None:
    console = printing.console()
    where = get(found.benchmark).title + (f" ({found.language})" if found.language else "")
    _orders(console, f"{where}, the order by judge", found, found.by_judge)
    if len(found.by_interrogator.scores) > 1:
        _orders(console, "The panel's order by interrogator", found, found.by_interrogator)
    _orders(console, "The order under pools of judges", found, found.pools.orders)
    console.print("Weights of the judges")
    weights = _table(["judge", *(p.name for p in found.pools.pools if p.weights)])
    for judge in found.judges:
        shares = [f"{p.weights.get(judge, 0.0):.3f}" for p in found.pools.pools if p.weights]
        weights.add_row(escape(judge), *shares)
    console.print(weights)
    if beside:
        _beside(console, beside)


def _orders(console: Console, title: str, found: Rankings, orders: Orders) -> None:
    console.print(escape(title))
    table = _table(["player", *orders.scores])
    for player in found.players:
        scores = [given.get(player) for given in orders.scores.values()]
        table.add_row(escape(player), *("–" if score is None else f"{score:.3f}" for score in scores))
    table.add_row("conversations", *(str(n) for n in orders.conversations.values()))
    console.print(table)
    console.print("Kendall's tau-b")
    table = _table(["", "", "tau", "95%", "players", ""])
    stability = orders.stability
    for t in stability.pairs:
        table.add_row(
            escape(t.a), escape(t.b), _three(t.value), _ends(t.ci), str(t.players), escape(t.reason)
        )
    if len(stability.pairs) != 1:
        table.add_row(
            "mean",
            "",
            _three(stability.mean),
            _ends(stability.ci),
            "",
            escape(stability.reason),
            style="bold",
        )
    console.print(table)


def _beside(console: Console, beside: Beside) -> None:
    f = beside.figures
    p = f"p = {f.p:.3g}" if f.p is not None else f"p undefined: {f.p_reason}"
    rho = f"undefined: {f.reason}" if f.spearman is None else f"{f.spearman:.3f}, {p}"
    console.print(escape(f"Against {beside.name}: Spearman {rho}, n = {f.n}; largest rises first"))
    table = _table(["player", "there called", "rank here", "rank there", "rise"])
    for placed in sorted(beside.placed, key=lambda one: -one.rise):
        called = "" if placed.model == placed.player else placed.model
        table.add_row(
            escape(placed.player), escape(called), f"{placed.rank_here:g}", f"{placed.rank_there:g}", f"{placed.rise:+g}"
        )  # fmt: skip
    console.print(table)


def _table(headings: list[str]) -> Table:
    table = printing.table()
    for place, heading in enumerate(headings):
        table.add_column(escape(heading), justify="right" if place else "left")
    return table


def _three(value: float | None) -> str:
    return "undefined" if value is None else f"{value:.3f}"


def _ends(ci: tuple[float, float] | None) -> str:
    return "" if ci is None else f"{ci[0]:.2f} to {ci[1]:.2f}"
