"""SimulBench's table against hand arithmetic."""

import csv
import io
import json
import random
from dataclasses import replace

import pandas as pd
import pytest

from concord.benchmarks.simulbench import tables as boards
from concord.conversation import Conversation, Message, Unit
from concord.errors import ConcordError, NotFound
from concord.rating import Judgement, Rater, Rating
from concord.reports import leaderboards
from concord.store import conversations, ratings, scenarios
from tests.simulbench import by_hand

SCORES = {
    ("s1", "x"): [9, 7],
    ("s2", "x"): [6, 8],
    ("s3", "x"): [2, 4],
    ("s4", "x"): [10, 10],
    ("s1", "y"): [5, 5],
    ("s2", "y"): [3, 3],
    ("s3", "y"): [9, 8],
    ("s4", "y"): [4, None],
}


@pytest.fixture
def filled(workspace):
    with workspace.write() as db:
        by_hand.store_scripts(db, "s1", "s2", "s3", "s4")
        by_hand.fill(db, SCORES)
    return workspace


def means(row):
    return {name: row[name].value for name in boards.SUBSETS}


def test_the_columns_by_hand(filled):
    with filled.read() as db:
        found = boards.subsets(boards.scored(db), resamples=50)
    x, y = found.rows
    # x: s1 8, s2 7, s3 3, s4 10. FirstChan (7 + 10)/2, Hard (7 + 3 + 10)/3, All 28/4; the types are within
    # FirstChan.
    assert (x["model"], means(x)) == (
        "x",
        {
            "LastOnly": 8,
            "FirstChan": 8.5,
            "SubseqChan": 3,
            "stateless": 7,
            "stateful": 10,
            "Hard": pytest.approx(20 / 3),
            "All": 7,
        },
    )
    # y: s1 5, s2 3, s3 8.5; a verdict on s4 cannot be read, so that s4 has no panel mean.
    assert means(y) == {
        "LastOnly": 5,
        "FirstChan": 3,
        "SubseqChan": 8.5,
        "stateless": 3,
        "stateful": None,
        "Hard": 5.75,
        "All": 5.5,
    }
    assert [y[name].n for name in boards.SUBSETS] == [1, 1, 1, 1, 0, 2, 3]
    assert y["stateful"].reason == "no script to average"
    assert x["LastOnly"].interval is None
    low, high = x["All"].interval
    assert 1 <= low < 7 < high <= 10


def test_replies_that_no_judge_could_score_are_counted(filled):
    with filled.write() as db:
        by_hand.fill(db, {("s5", "x"): [None, None], ("s6", "x"): [None, None], ("s5", "y"): [8, None]})
        by_hand.answer(db, "s6", "y")
        found = boards.subsets(boards.scored(db), resamples=0)
    x, y = found.rows
    # y lacks s4 (as before) and s5; nobody was asked about s6 of y.
    assert (x["All"].n, x["incomplete"], x["failed"]) == (4, 2, 0)
    assert (y["All"].n, y["incomplete"], y["failed"]) == (3, 2, 0)
    assert x["All"].value == 7
    assert "incomplete" in [column.name for column in found.shown]
    assert leaderboards.unrated_notes(1)[0] in found.notes
    with filled.read() as db:
        alone = boards.subsets(boards.scored(db, judges=["j1"]), resamples=0)
    counts = {row["model"]: (row["All"].n, row["incomplete"]) for row in alone.rows}
    assert counts == {"x": (4, 2), "y": (5, 0)}


def test_every_reply_is_in_a_count(filled):
    """What was asked of judges is scored, excluded or not rated yet, whoever fails."""
    rng = random.Random(3)
    with filled.write() as db:
        made = {
            (f"s{number}", player): [rng.choice([7, None]), rng.choice([5, None])]
            for number in range(5, 45)
            for player in "xy"
        }
        by_hand.fill(db, made)
        of = boards.scored(db)
        rows = boards.subsets(of, resamples=0).rows
    assert sum(row["All"].n + row["incomplete"] for row in rows) + of.unrated == len(SCORES) + len(made)


def test_one_judge_of_the_panel_and_scripts_set_aside(filled):
    with filled.write() as db:
        scenarios.decide(db, "simulbench", "script", "s3", "discarded", "Ada")
        found = boards.subsets(boards.scored(db, judges=["j1"]), resamples=0)
        assert found.meta["discarded"] == 1
        # j1 without s3: x 9, 6, 10; y 5, 3, 4.
        assert {r["model"]: r["All"].value for r in found.rows} == {
            "x": pytest.approx(25 / 3),
            "y": 4,
        }
        assert found.rows[0]["SubseqChan"].n == 0
        with pytest.raises(NotFound, match="judge “j9”"):
            boards.scored(db, judges=["j9"])


def test_the_simplest_and_hardest_tasks(filled):
    with filled.read() as db:
        of = boards.scored(db)
    # Hard, maker: x (7 + 3)/2 = 5, y (3 + 8.5)/2 = 5.75, mean 5.375. Keeper: only x has a score, so it would
    # compare nothing.
    [simplest] = boards.task_tables(of)
    shown = ["act", "mean", "scripts", "models"]
    assert simplest.name == "simplest-stateless"
    assert [[row[name] for name in shown] for row in simplest.rows] == [["Maker", 5.375, 2, 2]]


def test_no_task_stands_at_both_ends(filled):
    with filled.read() as db:
        of = boards.scored(db)
    rows = [
        {"type": "stateless", "kind": "FirstChan", "task": task, "act": task, "player": "x", "script": task}
        | {"complete": True, "final": score}
        for task, score in zip("abcde", (9, 8, 7, 6, 5), strict=True)
    ]
    tables = boards.task_tables(replace(of, table=pd.DataFrame(rows)))
    assert {t.name: [row["task"] for row in t.rows] for t in tables} == {
        "simplest-stateless": ["a", "b"],
        "hardest-stateless": ["e", "d"],
    }
    every = [row | {"task": f"{row['task']}{n}"} for row in rows for n in range(5)]
    tables = boards.task_tables(replace(of, table=pd.DataFrame(every)))
    assert [len(t.rows) for t in tables] == [10, 10]


def test_a_judge_of_another_benchmark_is_no_other_judge_here(filled):
    with filled.write() as db:
        conversations.save(
            db, Conversation("pingpong", "pp", "x", (Message("user", "a"), Message("assistant", "b")))
        )
        rated = (Rating(Unit("pp", 1), "fluency", 4),)
        ratings.save_judgement(db, Judgement("pp|j1|v2|0", "pp", Rater("j1", "judge", "v2"), rated))
        assert boards.subsets(boards.scored(db, judges=["j1"]), resamples=0).meta["judges"] == ["j1"]
        # Two versions of this benchmark's own prompt are two judges; the one that is not its own is asked for
        # by name.
        again = (Rating(Unit(by_hand.key("s1", "x")), "quality", 2),)
        ratings.save_judgement(
            db, Judgement("again", by_hand.key("s1", "x"), Rater("j1", "judge", "strict"), again)
        )
        assert boards.subsets(boards.scored(db), resamples=0).meta["judges"] == ["j1 v1", "j2"]
        assert boards.subsets(boards.scored(db, judges=["j1 strict"]), resamples=0).meta["judges"] == [
            "j1 strict"
        ]


def test_without_scores_there_is_no_table(workspace):
    with workspace.read() as db, pytest.raises(ConcordError, match="No judge has rated any SimulBench"):
        boards.scored(db)


def test_the_command_prints_every_form(run, filled):
    table = run(filled, "leaderboard", "simulbench")
    assert table.exit_code == 0, table.output
    assert "SubseqChan" in table.output
    assert "Simplest tasks, stateless" in table.output
    assert "Maker  5.38" in table.output
    assert "The models were not scored on equally many scripts (3 to 4)" in table.output
    rows = list(
        csv.DictReader(io.StringIO(run(filled, "leaderboard", "simulbench", "--format", "csv").stdout))
    )
    hard = {r["model"]: r["n"] for r in rows if r["figure"] == "Hard"}
    stateful = {r["model"]: r["value"] for r in rows if r["figure"] == "stateful"}
    assert (hard, stateful) == ({"x": "3", "y": "2"}, {"x": "10.0", "y": ""})
    values = json.loads(run(filled, "leaderboard", "simulbench", "--format", "json").stdout)["tables"]
    assert values["leaderboard-simulbench"]["rows"][0]["All"]["value"] == 7
    latex = run(filled, "leaderboard", "simulbench", "--format", "latex").stdout
    assert r"y & 5.00 (n 1) & 3.00 (n 1) & 8.50 (n 1) & 3.00 (n 1) & -- & 5.75 [" in latex


def test_mock_models_are_named(run, played):
    told = run(played, "leaderboard", "simulbench").output
    assert "simulated" in told
    assert "say nothing about language models" in told


def test_counts_add_up(filled):
    with filled.write() as db:
        by_hand.fill(db, {("s5", "x"): [None, None], ("s6", "x"): [3, 3]}, s6_x="refusal")
        by_hand.answer(db, "s6", "y")
        scenarios.decide(db, "simulbench", "script", "s3", "discarded", "Ada")
        x, y = boards.counts(db, boards.scored(db)).rows
    names = ["asked", "failed", "answered", "scored", "excluded", "unrated", "refused"]
    # x: s1, s2, s4, s6 scored (s6 refuses), s5 excluded. y: s1, s2 scored, s4 excluded, s6 rated by nobody.
    assert [x[name] for name in names] == [5, 0, 5, 4, 1, 0, 1]
    assert [y[name] for name in names] == [4, 0, 4, 2, 1, 1, 0]


def test_failing_scripts_by_model_and_by_judge(filled):
    with filled.read() as db:
        of = boards.scored(db)
    # Means below 5.5: x s3 3; y s2 3, s1 5. y's s4 has no panel mean.
    found = [(row["model"], row["script"], row["score"]) for row in boards.failing(of).rows]
    assert found == [("x", "s3", 3.0), ("y", "s2", 3.0), ("y", "s1", 5.0)]
    found = [
        (row["judge"], row["model"], row["script"], row["score"]) for row in boards.failing_by_judge(of).rows
    ]
    assert found == [
        ("j1", "x", "s3", 2.0),
        ("j1", "y", "s2", 3.0),
        ("j1", "y", "s4", 4.0),
        ("j1", "y", "s1", 5.0),
        ("j2", "y", "s2", 3.0),
        ("j2", "x", "s3", 4.0),
        ("j2", "y", "s1", 5.0),
    ]


def test_failing_scripts_name_their_conversation_for_the_spot_check(filled):
    with filled.read() as db:
        of = boards.scored(db)
        tables = (boards.failing(of), boards.failing_by_judge(of))
        for row in (row for table in tables for row in table.rows):
            shown = conversations.load(db, row["conversation"])
            assert (shown.player, shown.facets["script"]) == (row["model"], row["script"])
    assert all("conversation" not in {column.name for column in table.shown} for table in tables)
