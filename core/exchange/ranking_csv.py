"""Another benchmark's ranking of the same models, read from a file, beside a leaderboard."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pandas as pd

from concord.codes import PublishedMeasure
from concord.errors import ImportRefused
from concord.exchange import rows
from concord.exchange.cells import figure_in, name_in, nfc, refuse
from concord.exchange.file_row import FileRow
from concord.reports.leaderboards import Leaderboard
from concord.reports.published import published
from concord.scores import DIGITS
from concord.statistics.rankings import against
from concord.table import Column, Table

COLUMNS = (Column("player"), *(Column(n, digits=1) for n in ("here", "there")), Column("rise", signed=True))


MOST_MOVES = 5
"""So many rises, and falls, are named."""
MODELS = ("model", "player")
"""Columns that name what is ranked: of other rankings, and of Concord's own leaderboards."""
SCORES = ("score", "rank", "all", "overall", "corrected", "final")
"""Columns, and figures of Concord's own leaderboards, by which it is ranked; the first that there is."""
FIGURES = {"table", "figure", "value"}
"""The columns of Concord's CSV of several tables, a figure a line."""


def read(path: Path) -> dict[str, float]:
    """The score of each model, in lower case: from the columns model and score, or rank, or from a CSV file
    of a leaderboard of Concord's own.

    A rank is negated, so that more is better. A player whose score is undefined is excluded. Raises
    ImportRefused naming every row that is wrong.
    """
    file_rows = [*rows.read(path)]
    columns = {name.strip().lower() for row in file_rows for name in row.fields or ()}
    ranked = _figures(file_rows) if columns >= FIGURES else file_rows
    columns = {name.strip().lower() for row in ranked for name in row.fields or ()}
    model_column = next((name for name in MODELS if name in columns), "model")
    score_column = next((name for name in SCORES if name in columns), "rank")
    scores: dict[str, float] = {}
    wrong: list[str] = []
    for row in ranked:
        try:
            if _undefined(row, score_column):
                continue
            cells = row.cells((model_column, score_column))
            model = name_in(row.location, model_column, nfc(cells[model_column]).casefold())
            if model in scores:
                raise ImportRefused(f"{row.location}: “{model}” is listed twice. Keep one.")
            scores[model] = (-1 if score_column == "rank" else 1) * figure_in(
                row.location, score_column, cells[score_column], longest=200
            )
        except ImportRefused as error:
            wrong.append(str(error))
    refuse(wrong, f"{path}: {len(wrong):,} rows are wrong.")
    return scores


def _undefined(row: FileRow, column: str) -> bool:
    """Whether a leaderboard of Concord's own says why a player has no score."""
    fields = _lower(row)
    return not fields.get(column) and bool(fields.get(f"{column}_reason"))


def _lower(row: FileRow) -> dict[str, Any]:
    """The fields of a row by names in lower case."""
    return {name.strip().lower(): value for name, value in (row.fields or {}).items()}


def _figures(file_rows: Sequence[FileRow]) -> list[FileRow]:
    """A row a model from a CSV file of several tables, a figure a line: the first table, by the first of
    `SCORES` that it has. Rows that are broken stay as they are.
    """
    lines = [
        (row, {name.strip().lower(): value for name, value in (row.fields or {}).items()})
        for row in file_rows
    ]
    board = next((fields["table"] for _, fields in lines if fields.get("table")), "")
    figures = {str(fields.get("figure", "")).lower() for _, fields in lines if fields.get("table") == board}
    figure_name = next((name for name in SCORES if name in figures), "")
    ranked = [row for row in file_rows if row.fields is None]
    for row, fields in lines:
        if fields.get("table") == board and str(fields.get("figure", "")).lower() == figure_name:
            model_names = {name: fields[name] for name in MODELS if fields.get(name)}
            reason = {f"{figure_name}_reason": fields.get("reason")}
            ranked.append(replace(row, fields={**model_names, figure_name: fields.get("value"), **reason}))
    return ranked


def rank_comparison(board: Leaderboard, scores: dict[str, float], name: str) -> tuple[Table, Table]:
    """Spearman's rho of the leaderboard's score with another one, and the ranks among the models in both, by
    name without regard to case; the largest rises first. Undefined for fewer than three, or equal scores.
    """
    scored = [(s.player, s.score.value) for s in board.standings if s.score.defined]
    common = [
        (player, score, scores[key]) for player, score in scored if (key := player.casefold()) in scores
    ]
    ranks = pd.DataFrame(common, columns=["player", "here", "there"]).astype({"here": float, "there": float})
    rho, p = against(ranks.here.to_numpy(), ranks.there.to_numpy())
    ranks[["here", "there"]] = ranks[["here", "there"]].round(DIGITS).rank(ascending=False)
    ranks = ranks.assign(rise=ranks.there - ranks.here).sort_values("rise", ascending=False, kind="stable")
    places = tuple({str(column): cell for column, cell in row.items()} for row in ranks.to_dict("records"))
    columns = (Column("spearman", "Spearman's ρ", digits=3, n=True), Column("p", digits=3))
    row = {"spearman": rho, "p": p}
    notes = [
        f"Ranks among the {len(common)} of {len(scored)} models that {name} ranks too; ties have their mean "
        "rank."
    ]
    figures = [figure for figure in published(board.benchmark) if figure.measure is PublishedMeasure.AGAINST]
    for figure in figures:
        notes.append(f"Published: {figure.value:g} ({figure.language}; {figure.source}), for other models.")
    return (
        Table("against", f"Rank correlation with {name}", columns, (row,), notes=tuple(notes)),
        Table(
            "against-models",
            f"Ranks on this leaderboard and in {name}",
            COLUMNS,
            places,
            moves(places),
        ),
    )


def moves(places: Sequence[Mapping[str, Any]]) -> str:
    """The largest rises and falls from the other ranking to the leaderboard, in a sentence; “” for none."""
    sentences = []
    for title, moved in (
        ("Largest rises", [row for row in places if row["rise"] > 0]),
        ("Largest falls", [row for row in reversed(places) if row["rise"] < 0]),
    ):
        if moved:
            changes = [
                f"{row['player']} from {row['there']:g} to {row['here']:g}" for row in moved[:MOST_MOVES]
            ]
            sentences.append(f"{title}: {', '.join(changes)}.")
    return " ".join(sentences)
