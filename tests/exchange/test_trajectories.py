"""What was done travels with what was said: a simulation that was exported and imported is scored and shown
as before.
"""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from concord.benchmarks.stss import views
from concord.benchmarks.stss.tasks import task_from
from concord.benchmarks.stss.town import Town
from concord.benchmarks.stss.trajectory import from_stored
from concord.conversation import Conversation, Message
from concord.store import conversations
from tests.exchange.trajectories_helpers import DAYS, KEYS, simulated
from tests.stss.made import at, lived


@pytest.fixture
def out(workspace, run, tmp_path):
    """An export of two simulations and a conversation without a trajectory."""
    with workspace.write() as db:
        for key in KEYS:
            conversations.save(db, simulated(key), simulated=True)
        conversations.save(db, Conversation("stss-language", "said", "model", (Message("user", "Hi"),)))
    file = tmp_path / "out.jsonl"
    assert run(workspace, "export", "conversations", "--out", file).exit_code == 0
    return file


def seen(workspace, key):
    """A simulation as the town page reads it."""
    with workspace.read() as db:
        number = conversations.find_id(db, key)
        task = task_from(conversations.load(db, number).context["_task"])
        return views.Simulation(
            task, from_stored(conversations.required_trajectory(db, number)), Town("Lost", {}, {})
        )


def test_an_imported_simulation_is_the_same_simulation(workspace, fresh, run, out):
    assert run(fresh, "import", "conversations", out).exit_code == 0
    for key in KEYS:
        with workspace.read() as ours, fresh.read() as theirs:
            assert conversations.load(theirs, key) == conversations.load(ours, key)
            before, after = (
                conversations.required_trajectory(db, conversations.find_id(db, key)) for db in (ours, theirs)
            )
            assert after == before
        ours, theirs = seen(workspace, key), seen(fresh, key)
        assert theirs.score == ours.score
        assert theirs.lived.talks == ours.lived.talks
        for name in ours.lived.residents:
            assert list(theirs.lived.lives[name]) == list(ours.lived.lives[name])
    # one of three wanted came to the party of GA+TDP
    assert [seen(fresh, key).score.value for key in KEYS] == [0, pytest.approx(1 / 3)]
    with fresh.read() as db:
        assert conversations.trajectory(db, conversations.find_id(db, "said")) is None


def test_the_leaderboard_of_what_was_imported_is_the_same(workspace, fresh, run, out):
    with workspace.write() as db:
        db.execute("DELETE FROM conversations WHERE key = 'said'")
    run(fresh, "import", "conversations", out)
    with fresh.write() as db:
        db.execute("DELETE FROM conversations WHERE key = 'said'")
    before, after = (run(at, "leaderboard", "stss", "--format", "json") for at in (workspace, fresh))
    assert before.exit_code == 0, before.output
    assert after.stdout == before.stdout
    assert [row["overall"]["value"] for row in json.loads(after.stdout)["tables"]["action"]["rows"]] == [
        pytest.approx(1 / 3),
        0,
    ]


@pytest.mark.parametrize("stored", [None, lived(*DAYS).as_stored()], ids=["none", "another"])
def test_another_trajectory_of_the_same_conversation_is_refused(fresh, run, out, stored):
    with fresh.write() as db:
        conversations.save(db, replace(simulated(KEYS[0]), trajectory=stored))
    done = run(fresh, "import", "conversations", out)
    assert done.exit_code == 1
    assert "is stored already with another trajectory, or without one" in done.output


def broken(**changes):
    return {**simulated(KEYS[0]).trajectory, **changes}


@pytest.mark.parametrize(
    "values",
    [
        "walked about",
        {"times": []},
        broken(lives={"Ada": [[0], [99]]}),
        broken(lives={"Ada": [[5], [0]]}),
        broken(lives={"Ada": [[0], ["at home"]]}),
        broken(times=["yesterday"]),
        broken(talks=[{"time": "2023-02-13 10:00:00"}]),
        broken(states=[["sleeping"]]),
    ],
    ids=["text", "half", "no such state", "gap", "words", "time", "talk", "state"],
)
def test_a_trajectory_that_cannot_be_read_is_refused_with_its_line(fresh, run, tmp_path, values):
    file = tmp_path / "chats.jsonl"
    file.write_text(json.dumps({"key": "a", "benchmark": "stss", "messages": [], "trajectory": values}))
    done = run(fresh, "import", "conversations", file)
    assert done.exit_code == 1
    assert "line 1, is not a conversation written by `concord " in done.output
    with fresh.read() as db:
        assert conversations.count(db) == 0


def test_a_trajectory_of_an_unknown_benchmark_is_refused(fresh, run, tmp_path):
    file = tmp_path / "chats.jsonl"
    file.write_text(json.dumps({"key": "a", "messages": [], "trajectory": broken()}))
    done = run(fresh, "import", "conversations", file)
    assert done.exit_code == 1
    assert "“chats” is not a benchmark with trajectories" in done.output


def test_moments_are_those_that_were_recorded(fresh, run, out):
    run(fresh, "import", "conversations", out)
    assert seen(fresh, KEYS[0]).lived.times[0] == at("1 09:00")
