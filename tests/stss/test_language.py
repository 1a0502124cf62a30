"""Goal conditions, their success rates by hand, and the tables of agents."""

from __future__ import annotations

import asyncio
from types import SimpleNamespace

import pandas as pd
import pytest

from concord.benchmarks.stss import STSS, STSS_LANGUAGE, goals, language, tables
from concord.benchmarks.stss.goals import (
    CONDITIONS,
    Met,
    OnConversation,
    OnSummary,
    conditions,
)
from concord.benchmarks.stss.language import Prepared
from concord.benchmarks.stss.mind import Self
from concord.benchmarks.stss.system import spoken
from concord.benchmarks.stss.tables import AGENT, success
from concord.benchmarks.stss.tasks import TITLES, Subgoal, values_of
from concord.codes import Failure
from concord.conversation import Conversation, Message
from concord.errors import CallFailed
from concord.llm.replies import Unusable
from concord.runs.benchmark import due_judgements
from tests.stss.asking import MATERIALS
from tests.stss.made import at, party, talk

SAID = Conversation(
    "stss-language",
    "k",
    "m",
    (Message("assistant", "Come!"), Message("user", "Yes.")),
    context={"_task": values_of(party())},
)


MARKS = {"naturalness": 7, "rationality": 8, "quality": 6}


def answered(names):
    return [Met(condition=n, explanation="", met=n != "place") for n in names]


def test_each_type_has_as_many_conditions_as_the_paper():
    assert {kind: len(names) for kind, names in CONDITIONS.items()} == {
        "public": 3,
        "companions": 3,
        "appointment": 3,
        "online": 2,
        "help": 4,
    }
    assert set(CONDITIONS) == set(TITLES)
    known = {c.name for c in STSS_LANGUAGE.criteria}
    for names in CONDITIONS.values():
        assert set(names) | {goals.SUMMARY + n for n in names} <= known


def test_conditions_name_what_the_task_is_about():
    asked = {c.name: c.question for c in conditions(party())}
    assert "“party”" in asked["invited"]
    assert "2023-02-14 at 19:00" in asked["time"]
    assert "(Lantern Café)" in asked["place"]
    errand = party(
        kind="help",
        subgoals=(Subgoal(("medicine",), None, 5, "Pharmacy"), Subgoal(("pills",), None, 5, "House")),
    )
    asked = {c.name: c.question for c in conditions(errand)}
    assert "(Pharmacy)" in asked["place"]
    assert "“pills”" in asked["second_invited"]
    assert "(House)" in asked["second_place"]
    open_end = {
        c.name: c.question
        for c in conditions(party(kind="companions", subgoals=(Subgoal(("coffee",), None, 5, "Café"),)))
    }
    assert open_end["time"].startswith("Do the two settle")


def test_two_verdicts_become_a_rating_for_each_condition_and_mark():
    names = ["invited", "time", "place"]
    said = language.ASKING.read(SAID, OnConversation(answers=answered(names), **MARKS))
    noted = language.ON_SUMMARY.read(SAID, OnSummary(own_summary=answered(names)))
    found = {r.criterion: r.score for r in (*said, *noted)}
    assert found == {
        "invited": 1,
        "time": 1,
        "place": 0,
        "naturalness": 7,
        "rationality": 8,
        "quality": 6,
        "summary_invited": 1,
        "summary_time": 1,
        "summary_place": 0,
    }
    assert tables._conditions_met(found, "public", False, False) == [1, 1, 0]
    assert tables._conditions_met(found, "public", False, True) == [1, 1, 0]
    assert tables._conditions_met(found, "help", False, False) is None


@pytest.mark.parametrize(
    "names",
    [["invited", "time"], ["time", "invited", "place"], ["invited", "time", "place", "place"], []],
)
def test_a_verdict_must_answer_exactly_what_was_asked(names):
    for asking, reply in (
        (language.ASKING, OnConversation(answers=answered(names), **MARKS)),
        (language.ON_SUMMARY, OnSummary(own_summary=answered(names))),
    ):
        with pytest.raises(Unusable, match="must answer the conditions"):
            asking.read(SAID, reply)


def test_conversation_and_summary_are_judged_in_calls_of_their_own():
    ways = STSS_LANGUAGE.ways(MATERIALS, ["j"])
    assert [way.asking.prompt for way in ways] == ["conversation", "summary"]
    values = language.judge_values(judged())
    shown = [way.prompt.render(**values).messages[-1].content for way in ways]
    assert ("Come to the party!" in shown[0], "Ada asked me." in shown[0]) == (True, False)
    assert ("Come to the party!" in shown[1], "Ada asked me." in shown[1]) == (False, True)
    keys = [one.key for one in due_judgements(ways, 2, "k")]
    assert keys == [
        "k|j|v2|0",
        "k|j|v2|1",
        "k|j|v2|0|summary",
        "k|j|v2|1|summary",
    ]


def judged():
    task = values_of(party())
    context = {"_task": task, "Partner": "Ben", language.SUMMARY: "Ada asked me."}
    said = (Message("assistant", "Come to the party!"), Message("user", "Yes."))
    return Conversation("stss-language", "k", "m", said, context=context)


def test_conditions_are_yes_or_no_and_those_on_conversations_count():
    counted = [c.name for c in STSS_LANGUAGE.criteria if c.counted]
    assert counted == ["invited", "time", "place", "second_invited", "second_place"]
    assert all(
        c.scale.values == (0, 1)
        for c in STSS_LANGUAGE.criteria
        if c.name not in ("naturalness", "rationality", "quality")
    )


def test_speakers_are_called_as_the_questions_call_them():
    by_role = dict(zip(("user", "assistant"), STSS_LANGUAGE.speakers, strict=True))
    said = spoken("Ada", [talk("1 10:00", "Ben", "Ada", "Hello", "Come!")])
    assert [(by_role[m.role], m.meta["speaker"]) for m in said] == [("Partner", "Ben"), ("Performer", "Ada")]
    assert STSS.speakers == STSS_LANGUAGE.speakers


A, B = ("m", "GA", ""), ("m", "GA+TDP", "")


def talked(task, agent=A, **judges):
    """`judge=[met, …]` on the conversation; nothing of it in the summary."""
    silent = [None if given is None else [0.0] * len(given) for given in judges.values()]
    rates = success("conversation", list(judges.values())) | success("summary", silent)
    marks = dict.fromkeys(("naturalness", "rationality", "quality"))
    return dict(zip(AGENT, agent, strict=True)) | rates | marks | {"task": task, "simulated": False}


def figures(talks):
    (row,) = tables.language_table(pd.DataFrame(talks), resamples=0, seed=0).rows
    return {" ".join(column): row[" ".join(column)].value for column in tables.COLUMNS}, row


def test_success_rates_micro_and_macro():
    found, row = figures(
        [talked("t1", j=[1, 1]), talked("t1", j=[1, 0]), talked("t1", j=[1, 1]), talked("t2", j=[0, 1])]
    )
    # SR: 1, 0, 1 | 0. Micro 2/4; macro (2/3 + 0)/2. GCSR: 1, ½, 1 | ½. Micro 3/4; macro (2.5/3 + 0.5)/2.
    assert found["conversation SR micro"] == pytest.approx(0.5)
    assert found["conversation SR macro"] == pytest.approx(1 / 3)
    assert found["conversation GCSR micro"] == pytest.approx(0.75)
    assert found["conversation GCSR macro"] == pytest.approx(2 / 3)
    assert found["summary GCSR macro"] == 0
    assert (row["n"], row["tasks"]) == (4, 2)


def test_the_panel_is_the_mean_of_its_judges_without_missing_answers():
    found, row = figures([talked("t1", j=[1, 1], k=[1, 0]), talked("t1", j=[1, 1], k=None)])
    assert found["conversation SR micro"] == 0.5
    assert found["conversation GCSR micro"] == 0.75
    assert (row["n"], row["left_out"]) == (1, 1)


def simulated(task, value, kind="public", agent=A, ratio=1.0):
    found = {"task": task, "kind": kind, "score": value, "ratio": ratio, "simulated": False, "unusable": 2}
    return dict(zip(AGENT, agent, strict=True)) | found


def test_simulations_of_a_task_are_averaged_before_tasks_are():
    played = [
        simulated("t1", 1.0),
        simulated("t1", 0.0),
        simulated("t1", 0.5),
        simulated("t2", 1.0),
        simulated("t3", 0.25, "help", ratio=None),
    ]
    failed = {A: 4}
    table = tables.action_table(pd.DataFrame(played), failed, resamples=200, seed=0)
    (row,) = table.rows
    assert (row["unusable"], row["failed"]) == (10, 4)
    assert row["public"].value == pytest.approx((0.5 + 1.0) / 2)
    assert row["overall"].value == pytest.approx((0.5 + 1.0 + 0.25) / 3, abs=1e-9)
    assert row["conversation_ratio"].value == 1.0
    assert (row["n"], row["public"].n, row["help"].n, row["online"].n) == (5, 2, 1, 0)
    assert (row["online"].value, row["online"].reason) == (None, "no task to average")
    assert (row["help"].interval, row["help"].reason) == (None, "no interval: it rests on a single task")
    low, high = row["overall"].interval
    # Task means 0.5, 1, 0.25 and the ends 0 and 1: mean 0.55, variance 0.2, t₄ = 2.776: 0.55 ± 2.776 · 0.2.
    assert low == 0 < row["overall"].value < high == 1


def test_the_order_in_which_tasks_were_simulated_changes_no_interval():
    """Resamples draw tasks by their place: without one order of tasks, .599 ± .288 here was ± .295 there."""
    values = (0.2, 0.9, 0.4, 0.0, 1.0)
    played = pd.DataFrame([simulated(f"t{n}", value) for n, value in enumerate(values)])
    (row,) = tables.action_table(played, resamples=100, seed=3).rows
    (turned,) = tables.action_table(played[::-1], resamples=100, seed=3).rows
    assert row["overall"].interval is not None
    assert row["overall"] == turned["overall"]


def test_of_one_message_or_none_nothing_is_met_whatever_a_judge_said():
    scores = {"invited": 1.0, "time": 1.0}
    assert tables._conditions_met(scores, "online", True, False) == [0, 0]
    assert tables._conditions_met(scores, "online", False, False) == [1, 1]
    assert tables._conditions_met(None, "online", True, False) == [0, 0]
    assert tables._conditions_met({"invited": 2 / 3, "time": 0.5}, "online", False, False) == [1, 0]


def test_the_time_of_an_event_is_asked_to_the_hour():
    task = party(kind="online", subgoals=(Subgoal(("film",), at("2 20:30"), 60, None),))
    assert (
        conditions(task)[1].question
        == "Is the partner told the day and the time (2023-02-14 at 20:30), to the hour?"
    )


def test_an_agent_whose_memories_are_told_by_a_model_is_another_agent():
    played = [simulated("t1", 1.0), simulated("t1", 0.0, agent=("m", "GA", "vectors"))]
    table = tables.action_table(pd.DataFrame(played).assign(repairs=2), resamples=0, seed=0)
    assert [(row["architecture"], row["embeddings"]) for row in table.rows] == [("GA", ""), ("GA", "vectors")]
    assert "embeddings" in [column.name for column in table.shown]


class Planner:
    """A mind that counts how often it prepares; its first attempts may be unusable."""

    def __init__(self, unusable=0):
        self.prepared, self.unusable = 0, unusable

    async def prepare(self, me, now):
        self.prepared += 1
        await asyncio.sleep(0)
        if self.prepared <= self.unusable:
            me.unusable.append(CallFailed("No plan.", code=Failure.UNPARSEABLE))
        else:
            me.notes["general_plan"] = [f"plan {self.prepared}"]


def prepared(planner, scenes=3, stored=lambda keys: None):
    async def go():
        shared = Prepared(["a", "b"], stored)
        people = [Self(SimpleNamespace(name="Ada"), None) for _ in range(scenes)]
        await asyncio.gather(*(shared.prepare(planner, me, None) for me in people))
        return people

    return asyncio.run(go())


def test_a_task_is_planned_once_for_all_its_scenes():
    planner = Planner()
    people = prepared(planner)
    assert planner.prepared == 1
    people[0].notes["general_plan"].append("what one scene adds")
    assert [me.notes for me in people[1:]] == [{"general_plan": ["plan 1"]}] * 2


def test_a_plan_that_is_stored_is_not_made_again():
    asked = []

    def stored(keys):
        asked.append(keys)
        return SimpleNamespace(meta={"reminders": {"general_plan": ["of before"]}})

    planner = Planner()
    assert [me.notes for me in prepared(planner, stored=stored)] == [{"general_plan": ["of before"]}] * 3
    assert (planner.prepared, asked) == (0, [["a", "b"]])


def test_a_plan_that_could_not_be_used_is_left_to_the_next_scene():
    planner = Planner(unusable=1)
    first, *others = prepared(planner)
    assert planner.prepared == 2
    assert (first.notes, len(first.unusable)) == ({}, 1)
    assert [(me.notes, me.unusable) for me in others] == [({"general_plan": ["plan 2"]}, [])] * 2
