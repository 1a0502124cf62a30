"""Players' means as people would give them: a study's answers correct what the judges gave to everything (PPI++)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import pandas as pd
from sqlite_utils import Database

from core import agreement
from core.agreement.corrected import Corrected, corrected_mean
from core.errors import StudyError
from core.reports.leaderboards import FINAL, Leaderboard
from core.store import holdings
from core.store import studies as stored
from core.studies.studies import StudyRatings


@dataclass(frozen=True)
class Row:
    """One player, and what people would give its conversations on average."""

    player: str
    final: Corrected
    simulated: bool


@dataclass(frozen=True)
class CorrectedBoard:
    """A table of players, best first, as people would have it; `people` rated in the study, `judges` everything."""

    benchmark: str
    language: str
    study: str
    people: int
    judges: tuple[str, ...]
    rows: tuple[Row, ...]
    simulated: tuple[str, ...]


def offered(db: Database, board: Leaderboard) -> list[str]:
    """The studies that people rated and that hold conversations of this table, newest first."""
    ids = set(board.scored.index)
    return [
        study.name
        for study in holdings.studies(db)
        if study.rated
        and not ids.isdisjoint(unit["conversation_id"] for unit in stored.units(db, study.name))
    ]


def corrected(board: Leaderboard, of: StudyRatings) -> CorrectedBoard:
    """The final score of each player of a table, corrected by the people of a study, over the conversations that enter its means.

    People's final weighs the criteria as the table does. A conversation counts as people's where somebody answered every weighted
    criterion; turns rated one by one are averaged. Raises StudyError where people were not asked one of the criteria.
    """
    weights = {name: weight for name, weight in board.weights.items() if weight}
    ratings = agreement.read_ratings(
        of.table[of.table.kind == "human"], criteria=of.criteria, exclude_units=of.left_out
    )
    if lacking := [name for name in weights if name not in ratings.criteria]:
        raise StudyError(
            f"People were not asked “{lacking[0]}” in the study “{of.study.name}”, which enters the final score here. Weigh it 0, "
            "or choose another study."
        )
    given = pd.DataFrame({name: ratings[name].target for name in weights}, index=list(ratings.units))
    people = (given * pd.Series(weights)).sum(axis=1, skipna=False) / sum(weights.values())
    units = of.table.drop_duplicates("unit").set_index("unit").conversation_id
    by_conversation = people.groupby(units.reindex(people.index)).mean().dropna()
    usable = board.scored[board.scored.complete & ~board.scored.refused]
    rows = [_row(str(player), mine, by_conversation) for player, mine in usable.groupby("player", sort=True)]
    raters = of.table[of.table.kind == "human"].drop_duplicates("rater")
    simulated = [str(name) for name in raters.rater[raters.simulated.astype(bool)]]
    return CorrectedBoard(
        board.benchmark, board.language, of.study.name, len(raters), board.judges, tuple(_ordered(rows)),
        tuple(sorted([*board.simulated, *simulated])),
    )  # fmt: skip


def _row(player: str, conversations: pd.DataFrame, people: pd.Series) -> Row:
    both = conversations.index.isin(people.index)
    final = conversations[FINAL]
    found = corrected_mean(
        people.reindex(conversations.index[both]).to_numpy(float), final[both].to_numpy(float), final[~both].to_numpy(float)
    )  # fmt: skip
    return Row(player, found, bool(conversations.simulated.any()))


def _ordered(rows: Sequence[Row]) -> list[Row]:
    return sorted(rows, key=lambda row: (row.final.value is None, -(row.final.value or 0.0), row.player))
