"""Two days of the town: time, walking, meeting; the same whatever the order of replies; what goes on when a
reply is of no use.
"""

from __future__ import annotations

import asyncio
import json
import re
from datetime import date
from types import SimpleNamespace

import pytest

from concord.benchmarks.stss import system
from concord.benchmarks.stss.bodies import WALKING, encounters
from concord.benchmarks.stss.mind import DayPlan, Self, require_usable
from concord.benchmarks.stss.schedule import SLEEPING, Wish
from concord.benchmarks.stss.simulation import World, people
from concord.benchmarks.stss.tasks import Subgoal, task_from
from concord.benchmarks.stss.thoughts import Speech
from concord.benchmarks.stss.town import Clock, load_town, minute_of
from concord.benchmarks.stss.trajectory import from_stored
from concord.codes import Failure
from concord.errors import CallFailed, ConfigError
from tests.stss.asking import MATERIALS, TOWN, Asking, failing, simulate
from tests.stss.made import at, party
from tests.stss.scripted import ScriptedMind, kept
from tests.stss.town_helpers import town


def live(place, minds, days=1, step=5, task=None):
    world = World(place, Clock(date(2023, 2, 13), days, step), people(place, minds, task))
    return asyncio.run(world.run())


def state(lived, name, when):
    found = lived.state_at(name, lived.moment(at(when)))
    return found.action, found.place


@pytest.fixture
def two_houses(tmp_path):
    return load_town(town(tmp_path))


def test_walking_takes_its_time_and_leads_through_the_streets(two_houses):
    # From Blue House to the lane it is 560 m, 7 minutes: by Red House after 4, there after two steps.
    ben = ScriptedMind({0: [Wish("12:00", 60, "counting stones", "Lane")]})
    lived = live(two_houses, {"Ben Birch": ben, "Ada Ash": ScriptedMind()})
    assert state(lived, "Ben Birch", "1 11:55")[0] == "working"
    ada = ScriptedMind(
        {0: [Wish("08:00", 60, "visiting", "Blue House"), Wish("09:00", 60, "counting stones", "Lane")]}
    )
    lived = live(two_houses, {"Ada Ash": ada, "Ben Birch": ScriptedMind()})
    assert state(lived, "Ada Ash", "1 08:55") == ("visiting", "Blue House:room:bed")
    assert state(lived, "Ada Ash", "1 09:00") == (WALKING, "Red House:hall:door")
    assert state(lived, "Ada Ash", "1 09:05") == (WALKING, "Red House:hall:door")
    assert state(lived, "Ada Ash", "1 09:10") == ("counting stones", "Lane:lane:stone")


def test_everybody_sleeps_at_home_outside_their_hours(two_houses):
    lived = live(two_houses, {"Ada Ash": ScriptedMind(), "Ben Birch": ScriptedMind()}, days=2)
    for name in lived.residents:
        r = two_houses.residents[name]
        for moment, time in enumerate(lived.times):
            asleep = not minute_of(r.wakes) <= time.hour * 60 + time.minute < minute_of(r.sleeps)
            found = lived.state_at(name, moment)
            if asleep and time.hour < 12:
                assert found.action == SLEEPING
            assert not (found.action == SLEEPING and not asleep)


def test_two_who_meet_talk_and_remember(two_houses):
    here = [Wish("10:00", 120, "resting", "Red House:hall")]
    minds = {
        "Ada Ash": ScriptedMind({0: here}, {"Ben Birch": ["Come to the party!", "Until then."]}),
        "Ben Birch": ScriptedMind({0: here}, {"Ada Ash": ["Gladly."]}),
    }
    task = party(performer="Ada Ash", subgoals=(Subgoal(("party",), at("2 19:00"), 60, "Red House"),))
    lived = live(two_houses, minds, task=task)
    first = lived.talks[0]
    assert first.pair == ("Ada Ash", "Ben Birch")
    assert first.messages == (
        ("Ada Ash", "Come to the party!"),
        ("Ben Birch", "Gladly."),
        ("Ada Ash", "Until then."),
    )
    assert first.place == "Red House:hall:door"
    assert "Come to the party!" in first.summary["Ben Birch"]
    assert state(lived, "Ben Birch", f"1 {first.time:%H:%M}") == (
        "conversing with Ada Ash",
        "Red House:hall:door",
    )
    kinds = [(kind, text) for _, _, kind, text in lived.extra["memories"]["Ben Birch"]]
    assert ("talked", first.summary["Ben Birch"]) in kinds


def test_those_in_a_room_notice_each_other_in_the_order_of_the_town():
    ada, ben, cleo = (
        SimpleNamespace(name=name, room=room, free=True, attentive=0, considered={})
        for name, room in (("Ada", "café"), ("Ben", "park"), ("Cleo", "café"))
    )
    assert encounters([ada, ben, cleo], 0) == [(ada, cleo), (cleo, ada)]
    ada.attentive = 1
    assert encounters([ada, ben, cleo], 0) == [(cleo, ada)]
    ada.free = False
    assert encounters([ada, ben, cleo], 0) == []


class Chatterbox(ScriptedMind):
    """Never done, and asked of how often it spoke."""

    async def approaches(self, me, other, now):
        return True

    async def says(self, me, other, said, now):
        return Speech(utterance="And another thing.", done=False)


def test_a_conversation_has_at_most_eight_rounds(two_houses):
    here = {0: [Wish("10:00", 60, "resting", "Red House:hall")]}
    lived = live(two_houses, {"Ada Ash": Chatterbox(here), "Ben Birch": Chatterbox(here)})
    assert {len(t.messages) for t in lived.talks} == {16}
    # Eight minutes are two steps of five: both stand still, and are not spoken to again before long.
    assert len({t.time for t in lived.talks}) == len(lived.talks)


class Turncoat(ScriptedMind):
    """Changes its mind after every conversation."""

    async def keeps(self, me, other, said, now):
        return kept("We talked.", changes_today=True)

    async def revises(self, me, now):
        return [Wish("10:30", 60, "hiding", "Blue House")]


def test_a_changed_plan_is_lived_and_kept_beside_the_first(two_houses):
    here = {0: [Wish("10:00", 120, "resting", "Red House:hall")]}
    ada = ScriptedMind(here, {"Ben Birch": ["Boo!"]})
    lived = live(two_houses, {"Ada Ash": ada, "Ben Birch": Turncoat(here)})
    plans = [p for p in lived.extra["plans"] if p["agent"] == "Ben Birch"]
    assert len(plans) == 2
    assert plans[1]["time"] == f"{lived.talks[0].time:%Y-%m-%d %H:%M:%S}"
    assert state(lived, "Ben Birch", "1 10:45") == ("hiding", "Blue House:room:bed")


@pytest.mark.parametrize("architecture", ["GA", "GA+TDP"])
def test_the_order_in_which_replies_arrive_changes_nothing(architecture):
    runs = [simulate(Asking(delay), architecture=architecture) for delay in (None, 1, 2)]
    first, *others = [json.dumps(c.trajectory, sort_keys=True) for c in runs]
    assert all(other == first for other in others)
    assert runs[0].messages == runs[1].messages
    assert from_stored(runs[0].trajectory).talks


def test_steps_are_named_by_the_time_of_the_town():
    ask = Asking(3)
    simulate(ask)
    assert all(re.match(r"day [12] \d\d:\d\d \w+ \w+", step) for step in ask.asked)
    assert max(ask.asked)[:11] > "day 2 12:00"


def test_the_performer_alone_knows_the_task_and_has_the_model_under_test():
    ask = Asking()
    conversation = simulate(ask, architecture="GA+TDP")
    task = task_from(conversation.context["_task"])
    for step, (model, _, prompt) in ask.asked.items():
        thought = re.sub(r" \d+$", "", step).split()[-1]
        mine = f" {task.performer} " in step
        assert (model == "mock-outgoing") == (mine and thought != "schedule"), step
        told = f"At present: {TOWN.residents[task.performer].currently} {task.currently}" in prompt
        assert told == mine, step


def test_the_persona_names_the_target():
    ask = Asking()
    task = task_from(simulate(ask).context["_task"])
    assert "at least 5 other people" in task.criteria
    mine = [prompt for step, (_, _, prompt) in ask.asked.items() if f" {task.performer} " in step]
    told = [f"{task.currently} {task.criteria}" in prompt for prompt in mine]
    assert told
    assert all(told)


def test_tdp_is_three_calls_before_the_first_day():
    plain, driven = Asking(), Asking()
    simulate(plain)
    task = task_from(simulate(driven, architecture="GA+TDP").context["_task"])
    tdp = [s for s in driven.asked if " tdp_" in s]
    assert tdp == [f"day 1 00:00 {task.performer} tdp_{name}" for name in ("plan", "day", "talk")]
    assert not [s for s in plain.asked if "tdp" in s]

    def prompts(ask, thought):
        return [p for s, (_, _, p) in ask.asked.items() if f" {task.performer} {thought}" in s]

    general, day, talk = (driven.asked[s][1].value for s in tdp)
    outlines, said = prompts(driven, "outline"), prompts(driven, "utterance")
    assert outlines
    assert said
    assert all(day.reminder in p and task.criteria in p and talk.items[0] not in p for p in outlines)
    assert all(
        general.steps[0] in p and all(i in p for i in talk.items) and day.reminder not in p for p in said
    )
    assert not any("Keep in mind" in p for p in prompts(plain, "utterance") + prompts(plain, "outline"))
    assert not any(day.reminder in p for p in prompts(driven, "schedule") + prompts(driven, "approach"))


@pytest.mark.parametrize("thought", ["outline", "schedule", "approach", "utterance", "summary", "tdp_plan"])
def test_life_goes_on_by_habit_where_a_residents_reply_is_of_no_use(thought):
    task = system.tasks_of(MATERIALS, system.TOWN)["harvest-supper"]

    def spoil(step, text):
        others = task.performer not in step or thought == "tdp_plan"
        return "I would rather not say." if others and f" {thought}" in step else text

    conversation = simulate(Asking(spoil=spoil), architecture="GA+TDP")
    lived = from_stored(conversation.trajectory)
    assert conversation.meta["unusable"] == (thought == "tdp_plan")
    assert all(lived.state_at(name, 0).action == SLEEPING for name in lived.residents)


def test_a_performer_with_unusable_thoughts_makes_a_failure():
    task = system.tasks_of(MATERIALS, system.TOWN)["harvest-supper"]
    ask = Asking(spoil=failing(f" {task.performer} ", "unparseable"))
    with pytest.raises(CallFailed, match="no usable reply to 2 of 2 thoughts, more than 10%") as caught:
        simulate(ask)
    assert caught.value.code == "unparseable"
    assert caught.value.raw == "I would rather not say."
    assert caught.value.reason.startswith("unusable thoughts: ")


def test_more_unusable_thoughts_than_the_share_make_a_failure_at_the_end():
    me = Self(TOWN.residents["Hanne Brandt"], TOWN.home("Hanne Brandt"), thoughts=20)
    me.unusable += [CallFailed("No.", code=Failure.EMPTY)] * 2
    require_usable(me)
    me.unusable.append(CallFailed("No.", code=Failure.EMPTY, raw="{}"))
    with pytest.raises(CallFailed, match="3 of 20 thoughts"):
        require_usable(me)


def test_a_failed_endpoint_ends_the_simulation_after_its_calls():
    ask = Asking(delay=1, spoil=failing("Hanne Brandt schedule", "server"))
    with pytest.raises(CallFailed, match="The endpoint is gone"):
        simulate(ask)
    answered = {step: answer is not None for step, (_, answer, _) in ask.asked.items()}
    assert [step for step, done in answered.items() if not done] == ["day 1 00:00 Hanne Brandt schedule"]
    assert sum("schedule" in step for step in answered) == 11


def test_mock_models_tell_more_people_when_and_where_with_tdp():
    knowing = {}
    for architecture in ("GA", "GA+TDP"):
        knowing[architecture] = 0
        for task in ("harvest-supper", "poetry-reading", "bread-tasting", "lantern-parade"):
            c = simulate(Asking(), task, architecture, "mock-reserved")
            subgoal = task_from(c.context["_task"]).subgoals[0]
            heard = [
                " ".join(t for s, t in talk.messages if s == c.context["Performer"])
                for talk in from_stored(c.trajectory).talks
            ]
            knowing[architecture] += sum(
                f"{subgoal.start:%H:%M}" in t and subgoal.location in t for t in heard
            )
    assert knowing["GA+TDP"] > knowing["GA"]


def test_a_step_must_divide_the_day():
    assert Clock(date(2023, 2, 13), 2, 5).steps == 576
    with pytest.raises(ConfigError, match="does not divide a day"):
        Clock(date(2023, 2, 13), 2, 7)


def test_a_mind_needs_no_more_than_the_interface(two_houses):
    class Least:
        async def prepare(self, me, now): ...
        async def plan(self, me, now):
            return DayPlan([])

        async def approaches(self, me, other, now):
            return True

        async def says(self, me, other, said, now):
            return Speech(utterance="", done=False)

        async def keeps(self, me, other, said, now):
            raise AssertionError("nothing was said")

        async def revises(self, me, now):
            raise AssertionError("nothing changed")

    lived = live(two_houses, {"Ada Ash": Least(), "Ben Birch": Least()})
    assert lived.talks == ()
