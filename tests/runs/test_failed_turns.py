"""A turn without a usable reply is a counted failure with its body, never an empty turn that judges score."""

from __future__ import annotations

import pytest

from concord.llm.models import load_models
from concord.reports import leaderboards
from concord.reports.leaderboard_table import leaderboard_table
from concord.reports.rated import gather
from concord.runs import engine, planning
from concord.runs.plans import PlayPlan
from concord.store import conversations
from concord.store import runs as stored
from tests.mock.quirks import THOUGHT

PLAYER = "mock-bland"


@pytest.fixture
def ill(faulty):
    """A workspace whose player has one fault in every reply; a second player and all others are well."""

    def make(**faults):
        workspace = faulty(models=(PLAYER,), **faults)
        text = workspace.models_path.read_text()
        url = next(iter(load_models(workspace.models_path).values())).base_url
        workspace.models_path.write_text(
            f'{text}\n[models.ill]\nbase_url = "{url}"\nseed = true\nmodel = "{PLAYER}"\n'
        )
        return workspace

    return make


def played(workspace, *players, **how):
    plan = PlayPlan(
        "pingpong",
        {"players": players, "interrogator": ("user",), "judges": ("a",)},
        {"characters": ["tully"], "situations": ["reality"]},
    )
    return engine.execute(workspace, planning.job(workspace, plan), **how)


@pytest.mark.parametrize(
    ("fault", "reason", "body"),
    [
        ("null", "an empty reply", '"content": null'),
        ("empty", "an empty reply", '"content": ""'),
        ("filtered", "finish_reason content_filter", "content_filter"),
        ("tool_calls", "finish_reason tool_calls", '"name": "search"'),
        ("only_thinking", "finish_reason length", "<think>"),
    ],
)
def test_a_reply_without_text_is_a_failed_turn_and_counted_beside_refusals(ill, fault, reason, body):
    workspace = ill(**{fault: 1})
    ended = played(workspace, "ill", "player")
    # Two conversations, each with a judgement: the one of “ill” is not made.
    assert (ended.planned, ended.done, ended.failed) == (4, 2, 2)
    with workspace.read() as db:
        assert [found.player for found in conversations.search(db)] == ["player"]
        [told] = stored.reasons(db, ended.id)
        board = leaderboards.leaderboard(gather(db, "pingpong"), resamples=0)
    assert (told.reason, told.failed, told.models) == (reason, 1, ("ill",))
    assert body in told.raw
    rows = {row.player: row for row in board.standings}
    assert (rows["ill"].failed, rows["ill"].rank, rows["player"].failed) == (1, None, 0)
    assert any("because a reply of the model stayed unusable" in n for n in leaderboard_table(board).notes)


def test_the_retry_on_demand_goes_on_at_the_turn_that_failed(ill):
    workspace = ill(null=1)
    first = played(workspace, "ill")
    # One call of the user; the player was asked three times.
    assert (first.failed, first.spent.calls) == (2, 1 + 3)
    again = played(workspace, "ill")
    assert (again.failed, again.spent.calls) == (2, 0)
    third = played(workspace, "ill", retry_failed=True)
    assert third.spent.calls == 3, "what the user said is in the journal"


def test_a_refusal_and_a_cut_reply_are_turns_and_marked(ill):
    workspace = ill(declined=4, truncated=1)
    played(workspace, "ill")
    with workspace.read() as db:
        [found] = conversations.search(db)
        made = conversations.load(db, found.id)
        board = leaderboards.leaderboard(gather(db, "pingpong"), resamples=0)
    marks = [dict(m.meta) for m in made.messages if m.role == "assistant"]
    assert marks == [{"cut": True}] * 4, "the first fault in the order of Faults wins"
    assert board.standings[0].cut == 1


def test_where_an_endpoint_refuses_its_words_are_the_turn(ill):
    workspace = ill(declined=1)
    played(workspace, "ill")
    with workspace.read() as db:
        [found] = conversations.search(db)
        made = conversations.load(db, found.id)
    assert made.replies == ("I cannot take part in this.",) * 4
    assert all(m.meta == {"refused": True} for m in made.messages if m.role == "assistant")


@pytest.mark.parametrize("fault", ["thinking", "reasoning"])
def test_thinking_is_kept_beside_the_turn_and_is_no_part_of_it(ill, fault):
    workspace = ill(**{fault: 1})
    played(workspace, "ill")
    with workspace.read() as db:
        [found] = conversations.search(db)
        made = conversations.load(db, found.id)
    told = [m.meta["thinking"] for m in made.messages if m.role == "assistant"]
    assert told == [THOUGHT] * 4
    assert not any("thought" in m.content or "<" in m.content for m in made.messages)
    assert found.reply_chars == sum(map(len, made.replies))


def test_a_run_that_is_stopped_does_not_wait_for_a_body_that_never_ends(ill, monkeypatch):
    monkeypatch.setattr(engine, "GRACE_SECONDS", 0.2)
    workspace = ill(trickle=1)

    def press(progress):
        with workspace.write() as db:
            stored.ask_to_stop(db, progress.id)

    ended = played(workspace, "ill", watch=press)
    assert ended.state == "stopped"
    assert "1 calls had no answer after 0.2 s and were abandoned" in ended.message


def test_failures_are_told_by_reason_with_an_example(ill, run):
    workspace = ill(filtered=1)
    told = run(
        workspace, "run", "pingpong", "--players", "ill", "--interrogator", "user", "--characters", "tully"
    )
    # 8 situations, none of whose dialogues could be made
    assert "  8 × finish_reason content_filter (ill)\n    pingpong/v2/en/tully/" in told.output
    assert 'it answered: {"id": ' in told.output
