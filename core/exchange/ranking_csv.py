"""Another benchmark's ranking of the same models, read from a file, beside a leaderboard."""

from pathlib import Path

import pandas as pd

from concord.errors import ImportRefused
from concord.exchange import rows
from concord.exchange.cells import figure_in, name_in, nfc, refuse
from concord.reports.leaderboards import Leaderboard
from concord.scores import DIGITS
from concord.statistics.rankings import against
from concord.table import Column, Table

COLUMNS = (Column("player"), *(Column(n, digits=1) for n in ("here", "there")), Column("rise", signed=True))


def read(path: Path) -> dict[str, float]:
    """The score of each model, in lower case, from the columns model and score, or rank.

    A rank is negated, so that more is better. Raises ImportRefused naming every row that is wrong.
    """
    given = [*rows.read(path)]
    columns = {name.strip().lower() for row in given for name in row.fields or ()}
    by, sign = ("score", 1) if "score" in columns else ("rank", -1)
    scores: dict[str, float] = {}
    wrong: list[str] = []
    for row in given:
        try:
            cells = row.cells(("model", by))
            model = name_in(row.where, "model", nfc(cells["model"]).casefold())
            if model in scores:
                raise ImportRefused(f"{row.where}: “{model}” is there twice. Keep one of the two.")
            scores[model] = sign * figure_in(row.where, by, cells[by], longest=200)
        except ImportRefused as error:
            wrong.append(str(error))
    refuse(wrong, f"{path}: {len(wrong):,} rows are wrong.")
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
    places = tuple({str(column): cell for column, cell in row.items()} for row in ranks.to_dict("records"))
    columns = (Column("spearman", "Spearman's ρ", digits=3, n=True), Column("p", digits=3))
    row = {"spearman": rho, "p": p}
    note = (
        f"Ranks among the {len(both)} of {len(placed)} players named in {name} too; ties at their mean rank."
    )
    return (
        Table("against", f"Rank correlation with {name}", columns, (row,), notes=(note,)),
        Table("against-models", f"Ranks on this leaderboard and in {name}", COLUMNS, places),
    )
