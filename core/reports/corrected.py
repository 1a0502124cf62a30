"""Players' means as people would give them: a study's answers correct the judges' scores (PPI++)."""

from collections.abc import Mapping, Sequence

import pandas as pd
from sqlite_utils import Database

from concord import scores
from concord.errors import StudyError
from concord.reports.agreement_report import AS_DRAWN
from concord.reports.leaderboards import MOCKS, Leaderboard, scales_of
from concord.scores import FINAL
from concord.statistics.corrected import corrected_mean
from concord.statistics.intervals import Ends
from concord.statistics.ratings import read_ratings
from concord.store import conversations, tables
from concord.store import studies as stored
from concord.studies.studies import StudyRatings
from concord.table import Cell, Column, Table, record

FEWEST = 10
"""Conversations of a study on a leaderboard below which it corrects nothing."""

COLUMNS = (
    Column("judges", "judges alone", n=True),
    Column("people", "annotators alone", n=True),
    Column("corrected", interval="ends", help="The judges' mean, corrected by annotators' scores (PPI++)"),
    Column(
        "worth",
        "without judges",
        digits=0,
        help="Conversations that annotators alone would have to score for an equally narrow interval",
    ),
    Column("weight", file_only=True),
    Column("simulated", file_only=True),
)


def available_studies(db: Database, board: Leaderboard) -> list[str]:
    """The studies that hold enough conversations of this leaderboard, the usual one first."""
    ids = set(board.scored.index)
    names: list[str] = []
    for name in stored.ranked(db):
        if stored.get(db, name).rubric != board.rated.rubric:
            continue
        if stored.conversations_rated(db, name) < FEWEST:
            continue
        if not ids.isdisjoint(unit["conversation_id"] for unit in stored.units(db, name)):
            names.append(name)
    return names


def check(db: Database, board: Leaderboard, study: str) -> None:
    """Raise StudyError where people rated some kinds alone of the leaderboard's conversations: one language.

    The difference between people and judges on one kind says nothing of another. Kinds are the language and
    facets in which conversations differ, without those of scenarios, and facets by which the study was drawn.
    """
    rated = {unit["conversation_id"] for unit in stored.units(db, study)}
    filters = board.rated.filters
    ids = set(board.usable.index)
    sample = stored.get(db, study).sample
    sample_filter = sample.filter.get("facets", {}) if sample else {}
    for name in dict.fromkeys([*board.rated.mixed, *sample_filter]):
        values = board.rated.mixed.get(name) or conversations.values(db, board.benchmark).get(name, [])
        lacking: list[str] = []
        covered: list[str] = []
        for value in values:
            matching = ids.intersection(
                tables.conversations(db, board.benchmark, {**filters, name: [value]}).index
            )
            if matching:
                (lacking if matching.isdisjoint(rated) else covered).append(value)
        if lacking and covered:
            raise StudyError(
                f"The study “{study}” has conversations of {name} {', '.join(covered)} only, so it cannot "
                f"correct {', '.join(lacking)}. Choose one {name} (--where {name}={covered[0]}), or a study "
                "of all."
            )


def corrected(board: Leaderboard, study_ratings: StudyRatings) -> Table:
    """The final score of each player, corrected by the people of a study, over the conversations in its mean.

    People's final weighs the criteria as the leaderboard does. A conversation counts as scored by people
    where somebody answered every weighted criterion; turns rated one by one are averaged. Raises StudyError
    where people were not asked one of the criteria.
    """
    weights = {name: weight for name, weight in board.weights.items() if weight}
    human = study_ratings.table[
        (study_ratings.table.kind == "human") & ~study_ratings.table.unit.isin(list(study_ratings.left_out))
    ]
    ratings = read_ratings(human, criteria=study_ratings.criteria)
    if lacking := [name for name in weights if name not in ratings.criteria]:
        raise StudyError(
            f"Annotators of the study “{study_ratings.study.name}” were not asked “{lacking[0]}”, which is "
            "part of "
            "the overall score here. Give it weight 0, or choose another study."
        )
    scale = scales_of(study_ratings.study.criteria, weights)[FINAL]
    people = pd.Series(
        scores.final([ratings[name].target for name in weights], list(weights.values())),
        index=list(ratings.units),
    )
    units = study_ratings.table.drop_duplicates("unit").set_index("unit").conversation_id
    by_conversation = people.groupby(units.reindex(people.index)).mean().dropna()
    rows = [
        _row(str(player), player_rows, by_conversation, scale)
        for player, player_rows in board.usable.groupby("player")
    ]
    raters = human.drop_duplicates("rater")
    simulated = sorted([*board.simulated, *map(str, raters.rater[raters.simulated.astype(bool)])])
    notes = [
        f"Overall scores as the {len(raters)} annotators of the study “{study_ratings.study.name}” would "
        "give them: the judges' mean over all conversations, corrected by the difference between "
        "annotators and judges on common conversations (prediction-powered inference, PPI++). Judges get "
        "more weight the closer they follow annotators. 95% intervals: Student's t, with one more "
        "conversation at each end of the scale.",
        "“Without judges”: conversations that annotators alone would have to score for an equally narrow "
        "interval. It assumes that the annotators' conversations are a random sample of the model's. "
        f"Judges: {', '.join(board.judges)}.",
    ]
    if study_ratings.drawn_unequally:
        notes.append(AS_DRAWN)
    if simulated or any(row["simulated"] for row in rows):
        notes.append(f"{MOCKS[:-1]} or people.")
    meta = board.basis | {"study": study_ratings.study.name, "people": len(raters), "simulated": simulated}
    return Table(
        f"leaderboard-{board.benchmark}-corrected",
        f"{board.rated.title()}, corrected by annotators",
        (Column("player", board.player_heading), *COLUMNS),
        tuple(sorted(rows, key=_order)),
        _by_people(board, rows),
        notes=tuple(notes),
        meta=meta,
    )


def _by_people(board: Leaderboard, rows: Sequence[Mapping[str, Cell]]) -> str:
    """Whether people would give the judges' order, in a sentence on the figures as they are."""
    people = [str(row["player"]) for row in sorted(rows, key=_order) if not _order(row)[0]]
    scored = [s for s in board.standings if s.player in people and s.final.defined]
    judges = [s.player for s in sorted(scored, key=lambda s: -(s.final.value or 0.0))]
    if len(judges) < 2:
        return ""
    if judges == people:
        listed = [s.player for s in scored]  # by score, which has the penalty for length
        unchanged = "Corrected by annotators' scores, the order of the overall scores stays."
        return unchanged if listed == judges else ""
    if judges[0] == people[0]:
        first = f"{people[0]} stays first by its overall score"
        return f"Corrected by annotators' scores, {first}; the order below changes."
    figures = {row["player"]: row["corrected"] for row in rows}
    low, high = (getattr(figures[player], end) for player, end in ((people[0], "low"), (judges[0], "high")))
    if low is None or high is None:
        return ""
    if low <= high:
        pair = f"the overall scores of {people[0]} and {judges[0]}"
        return (
            f"Corrected by annotators' scores, {pair} do not differ significantly: their intervals overlap."
        )
    return f"Corrected by annotators' scores, {people[0]} is first by its overall score, not {judges[0]}."


def _row(player: str, conversations: pd.DataFrame, people: pd.Series, scale: Ends) -> dict[str, Cell]:
    rated = conversations.index.isin(people.index)
    keys = conversations.index[rated]
    final = conversations[FINAL]
    mean = corrected_mean(
        people.reindex(keys).to_numpy(float),
        final[rated].to_numpy(float),
        final[~rated].to_numpy(float),
        scale=scale,
    )
    simulated = bool(conversations.simulated.any())
    return {"player": player, **record(mean), "corrected": mean.value, "simulated": simulated}


def _order(row: Mapping[str, Cell]) -> tuple[bool, float, str]:
    value = getattr(row["corrected"], "value", None)
    return value is None, -(value or 0.0), str(row["player"])
