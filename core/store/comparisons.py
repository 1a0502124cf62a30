"""Comparisons in the store: which of two conversations judges and people preferred."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations
from typing import TYPE_CHECKING, Any, NamedTuple

from sqlite_utils import Database

from concord.errors import NotFound
from concord.rating import Comparison, Rater, Verdict
from concord.store import conversations, ratings, tables
from concord.store.database import column, records
from concord.store.filters import FacetValues
from concord.store.studies import ScenarioPair

if TYPE_CHECKING:
    import pandas as pd


class PairQuestion(NamedTuple):
    """Which of two is better, by a rubric's pairwise question; both are empty for a benchmark's own."""

    rubric: str = ""
    criterion: str = ""


OWN = PairQuestion()
TURNED: dict[Verdict, Verdict] = {"A": "B", "B": "A", "C": "C"}
"""A verdict when the two change places."""


def save(db: Database, comparison: Comparison, by: Mapping[str, Any] | None = None) -> None:
    """Store a comparison. It replaces a failed one and a person's earlier answer, never a judge's verdict.
    `by` are further columns: the model that gave it (`configurations.columns`), or when it was given.
    """
    ids = conversations.existing(db, [comparison.first, comparison.second])
    if len(ids) < 2:
        raise NotFound(f"The comparison “{comparison.key}” is about a conversation that is not stored.")
    row = {
        "first_id": ids[comparison.first],
        "second_id": ids[comparison.second],
        "rater_id": ratings.rater_id(db, comparison.rater),
        "verdict": comparison.verdict,
        "explanation": comparison.explanation,
        "rubric": comparison.rubric,
        "criterion": comparison.criterion,
        "strong": comparison.strong,
        **(by or {}),
    }
    ratings.keep(db, "comparisons", comparison, row, again=comparison.rater.kind != "judge")


def frame(
    db: Database, benchmark: str, scenario_facet: str, *, question: PairQuestion = OWN, study: str = ""
) -> pd.DataFrame:
    """Every answer to a question about a benchmark's conversations, or about the pairs of a study, as it was
    asked; discarded scenarios are excluded, failures are not.

    Columns: scenario (the value of the facet `scenario_facet`, else what a study of the pair says), first,
    second (conversation ids), a, b (their players), rater, variant, kind, simulated, repeat, verdict,
    failure.
    """
    import pandas as pd  # which commands that show no table do without

    return pd.read_sql_query(
        "SELECT ifnull(f.value, (SELECT i.stratum FROM items i WHERE i.conversation_id = "
        "min(x.first_id, x.second_id) AND i.other_id = max(x.first_id, x.second_id) LIMIT 1)) AS scenario, "
        "x.first_id AS first, "
        "x.second_id AS second, a.player AS a, b.player AS b, r.name AS rater, r.variant, r.kind, "
        "r.simulated, x.repeat, x.verdict, x.failure "
        "FROM comparisons x JOIN conversations a ON a.id = x.first_id "
        "JOIN conversations b ON b.id = x.second_id JOIN raters r ON r.id = x.rater_id LEFT JOIN facets f "
        "ON f.conversation_id = a.id AND f.name = :scenario_facet WHERE a.benchmark = :benchmark "
        "AND x.rubric = :rubric AND x.criterion = :criterion AND scenario IS NOT NULL "
        "AND scenario NOT IN (SELECT key FROM scenarios WHERE state = 'discarded') "
        "AND (:study = '' OR EXISTS (SELECT 1 FROM items i JOIN studies t ON t.id = i.study_id "
        "WHERE i.conversation_id = min(x.first_id, x.second_id) "
        "AND i.other_id = max(x.first_id, x.second_id) "
        "AND t.name = :study AND ifnull(x.study_id, t.id) = t.id)) "
        "ORDER BY x.id",
        db.conn,
        params={
            "scenario_facet": scenario_facet,
            "benchmark": benchmark,
            "study": study,
            **question._asdict(),
        },
    )


def questions(db: Database, benchmark: str) -> list[PairQuestion]:
    """The questions that were answered about a benchmark's conversations, its own first."""
    sql = (
        "SELECT DISTINCT x.rubric, x.criterion FROM comparisons x JOIN conversations c ON c.id = x.first_id "
        "WHERE c.benchmark = ? ORDER BY 1, 2"
    )
    return records(db, PairQuestion, sql, [benchmark])


def exported(db: Database, benchmark: str = "", scenario_facet: str = "") -> Iterator[dict[str, Any]]:
    """Every comparison with a verdict, of a benchmark or all, in the order stored.

    Fields: first, second (keys of conversations), model_first, model_second, benchmark, scenario (as in
    `frame`), rubric and criterion (the question; empty for a benchmark's own), rater_type, rater,
    variant, simulated, repeat, verdict (A, B or tie), strong (better by far), explanation, created.
    """
    yield from db.query(
        "SELECT a.key AS first, b.key AS second, a.player AS model_first, b.player AS model_second, "
        "a.benchmark, ifnull((SELECT value FROM facets f WHERE f.conversation_id = a.id AND f.name = ?), "
        "(SELECT i.stratum FROM items i WHERE i.conversation_id = min(x.first_id, x.second_id) "
        "AND i.other_id = max(x.first_id, x.second_id) LIMIT 1)) AS scenario, "
        "x.rubric, x.criterion, r.kind AS rater_type, r.name AS rater, r.variant, r.simulated, x.repeat, "
        "CASE x.verdict WHEN 'C' THEN 'tie' ELSE x.verdict END AS verdict, x.strong, "
        "x.explanation, x.created "
        "FROM comparisons x JOIN conversations a ON a.id = x.first_id JOIN conversations b "
        "ON b.id = x.second_id JOIN raters r ON r.id = x.rater_id "
        "WHERE x.failure IS NULL AND (? = '' OR a.benchmark = ?) ORDER BY x.id",
        [scenario_facet, benchmark, benchmark],
    )


def verdicts(
    db: Database, rater: Rater, first: str, second: str, question: PairQuestion = OWN
) -> dict[int, Verdict]:
    """A rater's verdicts on two conversations (keys) in this order, by repeat.

    A person is asked once: their verdicts on the two in the other order are among them, turned.
    """
    orders = [(first, second), (second, first)] if rater.kind != "judge" else [(first, second)]
    by_repeat: dict[int, Verdict] = {}
    for shown_first, shown_second in orders:
        for repeat, verdict in db.execute(
            "SELECT x.repeat, x.verdict FROM comparisons x JOIN conversations a ON a.id = x.first_id "
            "JOIN conversations b ON b.id = x.second_id JOIN raters r ON r.id = +x.rater_id "
            "WHERE a.key = ? AND b.key = ? AND x.failure IS NULL AND r.kind = ? AND r.name = ? "
            "AND r.variant = ? AND x.rubric = ? AND x.criterion = ?",
            [shown_first, shown_second, rater.kind, rater.name, rater.variant, *question],
        ):
            by_repeat.setdefault(repeat, verdict if shown_first == first else TURNED[verdict])
    return by_repeat


def compared_benchmarks(db: Database) -> list[str]:
    """The benchmarks of whose conversations some were compared."""
    return column(db, "SELECT DISTINCT benchmark FROM rater_counts WHERE compared > 0 ORDER BY 1")


def pairs(
    db: Database,
    benchmark: str,
    scenario_facet: str,
    players: Sequence[str],
    *,
    facets: FacetValues | None = None,
) -> list[ScenarioPair]:
    """Every two of the players' conversations of one scenario, which a facet names.

    The player named earlier comes first; of several conversations of a player the first counts. Discarded
    scenarios are excluded.
    """
    conversation_ids, args = tables.ids(benchmark, facets)
    conversation_of: dict[str, dict[str, tuple[int, str]]] = {}
    for scenario, player, number, key in db.execute(
        f"""
        SELECT f.value, c.player, c.id, c.key
        FROM conversations c JOIN facets f ON f.conversation_id = c.id AND f.name = :scenario_facet
            AND f.value NOT IN (SELECT key FROM scenarios WHERE state = 'discarded')
        WHERE c.id IN ({conversation_ids}) AND c.player IN (SELECT value FROM json_each(:players))
        ORDER BY c.id""",
        {**args, "scenario_facet": scenario_facet, "players": json.dumps(list(players))},
    ):
        conversation_of.setdefault(scenario, {}).setdefault(player, (number, key))
    pairs: list[ScenarioPair] = []
    for scenario, by_player in conversation_of.items():
        for first, second in combinations(players, 2):
            if first in by_player and second in by_player:
                pairs.append(ScenarioPair(scenario, *by_player[first], *by_player[second]))
    return pairs
