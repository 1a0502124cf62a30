"""Another benchmark's ranking of the same models, read from a CSV file, beside a leaderboard."""

import pandas as pd

from concord.errors import ImportRefused
from concord.exchange.cells import by_column, figure_in, name_in, nfc, records_of, refuse
from concord.files import unmarked
from concord.reports.leaderboards import Leaderboard
from concord.scores import DIGITS
from concord.statistics.rankings import against
from concord.table import Column, Table

LARGEST = 1_000_000
"""Bytes: room for twenty thousand models."""
COLUMNS = (Column("player"), *(Column(n, digits=1) for n in ("here", "there")), Column("rise", signed=True))


def read(data: bytes, name: str) -> dict[str, float]:
    """The score of each model, in lower case, from the columns model and score, or rank.

    A rank is negated, so that more is better. `name` is the file's in messages. Raises ImportRefused naming
    every line that is wrong.
    """
    if len(data) > LARGEST:
        raise ImportRefused(f"{name} is larger than {LARGEST:,} bytes. Keep the columns model and score.")
    head = data.split(b"\n", 1)[0]
    numbered = records_of(data, name, max(",;\t", key=lambda sign: head.count(sign.encode())))
    columns = [unmarked(cell.strip()).lower() for cell in next(numbered, (1, []))[1]]
    by = "score" if "score" in columns else "rank"
    if columns.count("model") != 1 or columns.count(by) != 1:
        raise ImportRefused(f"{name}: its first line must name the columns model, and score or rank, once.")
    scores: dict[str, float] = {}
    wrong: list[str] = []
    for number, cells in numbered:
        where = f"{name}, line {number}"
        try:
            row = by_column(where, columns, cells, ("model", by))
            model = name_in(where, "model", nfc(row["model"].strip()).casefold())
            if model in scores:
                raise ImportRefused(f"{where}: “{model}” is there twice. Keep one of the two.")
            scores[model] = figure_in(where, by, row[by].strip(), longest=200) * (-1 if by == "rank" else 1)
        except ImportRefused as error:
            wrong.append(str(error))
    refuse(wrong, f"{name}: {len(wrong):,} lines are wrong.")
    return scores


def beside(board: Leaderboard, scores: dict[str, float], name: str) -> tuple[Table, Table]:
    """Spearman's rho of the leaderboard's score with another one, and the ranks among the models in both, by
    name without regard to case; the largest rises first. Undefined for fewer than three, or equal scores.
    """
    placed = [(s.player, s.score.value) for s in board.standings if s.score.defined]
    both = [(player, score, scores[key]) for player, score in placed if (key := player.casefold()) in scores]
    ranks = pd.DataFrame(both, columns=["player", "here", "there"]).astype({"here": float, "there": float})
    rho, p = against(ranks.here.to_numpy(), ranks.there.to_numpy())
    ranks[["here", "there"]] = ranks[["here", "there"]].round(DIGITS).rank(ascending=False)
    ranks = ranks.assign(rise=ranks.there - ranks.here).sort_values("rise", ascending=False, kind="stable")
    rows = tuple({str(column): cell for column, cell in row.items()} for row in ranks.to_dict("records"))
    columns = (Column("spearman", "Spearman's ρ", digits=3, n=True), Column("p", digits=3))
    row = {"spearman": rho, "p": p}
    note = (
        f"Ranks among the {len(both)} of {len(placed)} players named in {name} too; ties at their mean rank."
    )
    return (
        Table("against", f"Rank correlation with {name}", columns, (row,), notes=(note,)),
        Table("against-models", f"Ranks on this leaderboard and in {name}", COLUMNS, rows),
    )
