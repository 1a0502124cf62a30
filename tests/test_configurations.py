"""Every result points to the configuration of the model that made it, and no name stands for two of them
unnoticed.
"""

from __future__ import annotations

import pytest

from concord.configuration import Reported, Use
from concord.errors import ConfigError
from concord.llm import completions
from concord.llm.models import Model, load_models
from concord.reports.provenance import provenance
from concord.runs import engine, handshakes, planning
from concord.runs.plans import JudgePlan, PlayPlan
from concord.store import configurations, conversations, ratings
from concord.store import runs as stored
from concord.store.conversations import Filter
from concord.studies import studies

PLAN = PlayPlan(
    "pingpong",
    {"players": ("player",), "interrogator": ("user",), "judges": ("a",)},
    {"characters": ["tully"], "situations": ["reality"]},
)
CALLS = 4 * 2 + 1
"""Four turns of user and player, and a judgement."""


def run(workspace, plan=PLAN, **how):
    return engine.execute(workspace, planning.job(workspace, plan), **how)


def change(workspace, name, line):
    """Add a setting to a model's entry."""
    text = workspace.models_path.read_text()
    workspace.models_path.write_text(text.replace(f"[models.{name}]\n", f"[models.{name}]\n{line}\n"))


def conversation_ids(workspace):
    with workspace.read() as db:
        return [found.id for found in conversations.search(db)]


def test_results_keep_configuration_and_what_the_endpoint_reported(workspace):
    run(workspace)
    entries = load_models(workspace.models_path)
    [number] = conversation_ids(workspace)
    with workspace.read() as db:
        made = {use.configuration.nickname: use for use in configurations.of_conversation(db, number)}
        [judged] = configurations.of_judgements(db, number).values()
    assert made.keys() == {"player", "user"}, "who took part, and nobody else"
    assert made["player"].configuration == entries["player"].configuration
    assert made["player"].reported == {Reported("mock-fixed", "concord-mock"): 4}
    assert judged == Use(entries["a"].configuration, {Reported("mock-fixed", "concord-mock"): 1})


def test_an_endpoint_that_changes_the_model_is_told_in_the_report(workspace, monkeypatch):
    reported = iter(range(100))
    monkeypatch.setattr(completions, "reported", lambda reply: Reported(f"m{next(reported) % 2}", ""))
    run(workspace, repeated(2))
    with workspace.write() as db:
        studies.draw_study(db, "s", studies.StudyDraw(2, Filter(benchmark="pingpong")))
    with workspace.read() as db:
        of_judge = "judge “a”, 4 judgements, 0 of them failed: "
        [line] = [said for said in provenance(db, "s") if said.startswith(of_judge)]
        hash = next(iter(ratings.judgements_of(db, conversation_ids(workspace)[0])))["prompt"]
    assert f"prompt v2 sha256 {hash}; the endpoint reported 2 different models: m0, m1." in line


def repeated(repeats):
    """The plan with so many judgements of each conversation."""
    return PlayPlan("pingpong", PLAN.models, {**PLAN.options, "repeats": 2, "judge_repeats": repeats})


@pytest.mark.parametrize(
    ("line", "said"),
    [
        (
            "params = { temperature = 0.5 }",
            'parameters is {"seed": "from the plan", "temperature": 0.5}, was',
        ),
        ('system = "merge"', "system is merge, was native"),
        ('replies = "text"', "replies is text, was json_schema"),
    ],
)
def test_a_changed_entry_stops_the_plan_until_it_is_restored(workspace, line, said):
    run(workspace)
    before = workspace.models_path.read_text()
    change(workspace, "player", line)
    wider = PlayPlan("pingpong", PLAN.models, {**PLAN.options, "repeats": 2})
    with pytest.raises(ConfigError, match="entry of “player”") as refused:
        run(workspace, wider)
    assert said in str(refused.value)
    assert "Restore the old setting, or give the entry another name there" in str(refused.value)
    with workspace.read() as db:
        assert len(stored.recent(db)) == 1, "no second run was begun"
    workspace.models_path.write_text(before)
    assert run(workspace, wider).spent.calls == CALLS


def test_a_changed_model_or_address_is_named():
    was = Model(name="m", base_url="https://here.example/v1?api-version=1", model="gpt-4o").configuration
    assert was.endpoint == "https://here.example/v1", "neither credentials nor a query"
    now = Model(name="m", base_url="https://there.example/v1", model="gpt-5").configuration
    assert was.changes(now) == [
        "endpoint is https://there.example/v1, was https://here.example/v1",
        "model is gpt-5, was gpt-4o",
    ]
    assert was.changes(was) == []


def journal(workspace):
    with workspace.read() as db:
        return list(db["journal"].rows)


def test_what_the_journal_holds_is_not_paid_again(workspace):
    note_calls(workspace)
    assert len(journal(workspace)) == CALLS - 1
    assert run(workspace, unjudged()).spent.calls == 0


def test_what_was_answered_to_another_question_is_asked_again(workspace):
    note_calls(workspace)
    with workspace.write() as db:
        db.execute("UPDATE journal SET asked = 'something else' WHERE step = '2 player'")
    assert run(workspace, unjudged()).spent.calls == 1


def test_what_another_configuration_answered_is_asked_again(workspace, monkeypatch):
    note_calls(workspace)
    change(workspace, "player", "params = { temperature = 0.5 }")
    monkeypatch.setattr(handshakes, "check_unchanged", lambda workspace, models: None)
    assert run(workspace, unjudged()).spent.calls == 4, "the player's calls; the user's are as they were"


def unjudged():
    return PlayPlan("pingpong", {**PLAN.models, "judges": ()}, PLAN.options)


def note_calls(workspace):
    """Leave a conversation with all its calls in the journal, and none of it stored."""
    run(workspace, unjudged())
    with workspace.write() as db:
        notes = NOTES.pop(workspace.path)
        db["conversations"].delete_where()
        db["journal"].insert_all(notes)


NOTES: dict[object, list[dict[str, object]]] = {}


@pytest.fixture(autouse=True)
def keep_notes(monkeypatch, workspace):
    """Remember what a run writes into its journal before it forgets it."""
    forget = stored.settle

    def remember(db, work):
        NOTES.setdefault(workspace.path, []).extend(db["journal"].rows_where("work = ?", [work]))
        forget(db, work)

    monkeypatch.setattr(stored, "settle", remember)


def test_a_cut_reply_is_cut_when_it_comes_from_the_journal(workspace):
    """A verdict that was cut off is no verdict, whichever way it comes."""
    run(workspace, unjudged())
    judge = JudgePlan("pingpong", ("a",))
    NOTES.clear()
    run(workspace, judge)
    [note] = NOTES.pop(workspace.path)
    with workspace.write() as db:
        db["judgements"].delete_where()
        db["ratings"].delete_where()
        db["journal"].insert({**note, "cut": 1})
    ended = run(workspace, judge)
    assert (ended.done, ended.spent.calls) == (1, 1), "asked again, told that it was cut off"
