"""What the town page shows, on trajectories written by hand."""

from __future__ import annotations

from dataclasses import replace
from datetime import date, timedelta

import pytest

from concord.benchmarks.stss import views
from concord.benchmarks.stss.tasks import Subgoal
from concord.benchmarks.stss.town import Sector, Town
from concord.benchmarks.stss.trajectory import Trajectory
from concord.benchmarks.stss.views import Stretch

from .made import CAFE, HALL, PARK, at, lived, party, talk

TOWN = Town(
    "Three places",
    {
        "Lantern Café": Sector(name="Lantern Café", at=(0, 0), arenas={"front room": ("window table",)}),
        "Town Hall": Sector(
            name="Town Hall", at=(500, 100), arenas={"hall": ("stage",), "office": ("desk",)}
        ),
    },
    {},
)
TUESDAY = date(2023, 2, 14)
EVENING = lived(
    f"Ada | 2 18:00 – 2 19:30 | having a party | {CAFE}",
    f"Ben | 2 18:00 – 2 18:30 | working | {HALL}",
    f"Ben | 2 19:00 – 2 19:30 | enjoying the party | {CAFE}",
    f"Cem | 2 18:00 – 2 19:30 | sleeping | {PARK}",
    talks=(
        talk("1 10:00", "Ada", "Cem", "Come to my party!", "Yes."),
        talk("1 11:00", "Ben", "Cem", "Mild today."),
    ),
)


def seen(trajectory: Trajectory = EVENING, town: Town | None = TOWN, **task: object) -> views.Simulation:
    return views.simulation(party(**task), trajectory, town)


@pytest.mark.parametrize(
    ("action", "kind"),
    [
        ("Having a PARTY", "the task"),
        ("conversing with Ada about the party", "conversation"),
        ("sleeping", "asleep"),
        ("walking", "on the way"),
        ("walking the dog", "anything else"),
    ],
)
def test_kinds_of_action(action: str, kind: str) -> None:
    assert views.kind_of(party(), action) == kind


def test_a_day_is_told_in_stretches_of_whole_steps() -> None:
    assert views.happened(seen(), "Ben", TUESDAY) == [
        Stretch(18 * 60, 19 * 60, "working", HALL, "anything else"),
        Stretch(19 * 60, 20 * 60, "enjoying the party", CAFE, "the task"),
    ]
    assert views.happened(seen(), "Ben", TUESDAY - timedelta(days=1)) == []


# Plans

MORNING = [["00:00", 1080, "sleeping", PARK], ["18:00", 60, "working", HALL], ["19:00", 300, "reading", HALL]]
CHANGED = [*MORNING[:2], ["19:00", 300, "enjoying the party", CAFE]]


def planned(*lines: str, **noted: list[list[object]]) -> views.Simulation:
    """Ben with the plans noted at `t1800`, …"""
    notes = [
        {"time": f"2023-02-14 {time[1:3]}:{time[3:]}:00", "agent": "Ben", "actions": actions}
        for time, actions in noted.items()
    ]
    trajectory = lived(f"Ada | 2 18:00 – 2 20:30 | having a party | {CAFE}", *lines)
    return seen(replace(trajectory, extra={"plans": notes}))


def test_a_day_is_told_by_when_its_plan_was_changed() -> None:
    day = f"Ben | 2 18:00 | working | {HALL}"
    assert views.plan_told(planned(day, t0000=MORNING), "Ben", TUESDAY) == "The plan was not changed."
    twice = planned(day, t0000=MORNING, t1830=CHANGED, t1900=MORNING)
    assert views.plan_told(twice, "Ben", TUESDAY) == "The plan was changed at 18:30, 19:00."
    assert views.plan_told(seen(), "Ben", TUESDAY) == "The trajectory holds no plans, only what happened."
    monday = TUESDAY - timedelta(days=1)
    assert views.plan_told(seen(), "Ben", monday) == "Nothing is recorded of Ben on this day."


def test_a_trajectory_without_plans_has_none() -> None:
    assert views.plans(seen(), "Ben", TUESDAY) == []


# Numbers in words


def test_a_public_activity_is_reckoned() -> None:
    # Ben came of the three wanted; Cem was told on day 1
    assert views.reckoned(seen()) == "1 other person took part, of 3 wanted: 1 ÷ 3 = 0.33."
    assert views.ratio_reckoned(seen()) == (
        "1 person was talked to about it before the day of the event, of 3 wanted: 1 ÷ 3 = 0.33."
    )


def test_more_than_wanted_are_worth_one() -> None:
    crowd = lived(
        f"Ada | 2 19:00 | resting | {PARK}",
        *(f"{name} | 2 19:00 | at the party | {CAFE}" for name in ("Ben", "Cem")),
    )
    assert (
        views.reckoned(seen(crowd, wanted=2))
        == "2 other people took part, of 1 wanted: 2 ÷ 1, at most 1: 1.00."
    )


def test_several_events_are_averaged() -> None:
    twice = (*party().subgoals, Subgoal(("breakfast",), at("2 18:30"), 60, None))
    # one took part in the first of two events: 1 ÷ 2 ÷ 3 = 0.17
    assert views.reckoned(seen(subgoals=twice)) == (
        "1 other person took part, of 3 wanted: 1 ÷ 2 events ÷ 3 = 0.17."
    )


def test_companions_are_reckoned() -> None:
    assert views.reckoned(seen(kind="companions")) == (
        "1 other person did it beside Ada at the best moment, of 3 wanted: 1 ÷ 3 = 0.33."
    )
    alone = lived(f"Ada | 2 12:00 | resting | {PARK}", f"Ben | 2 19:00 | at the party | {CAFE}")
    assert views.reckoned(seen(alone, kind="companions")) == (
        "Ada never did it, so that nobody could join in: 0."
    )


@pytest.mark.parametrize(
    ("where", "said"),
    [
        (CAFE, "Both did it at the same moment, in the same room: 1."),
        (HALL, "Both did it at the same moment, in different rooms: 0.5."),
    ],
)
def test_an_appointment_is_reckoned(where: str, said: str) -> None:
    both = lived(f"Ada | 2 19:00 | at the party | {CAFE}", f"Ben | 2 19:00 | at the party | {where}")
    meeting = {"kind": "appointment", "target": ("Ben",), "subgoals": (Subgoal(("party",)),)}
    assert views.reckoned(seen(both, **meeting)) == said


def test_a_missed_appointment_is_reckoned() -> None:
    apart = lived(f"Ada | 2 19:00 | at the party | {CAFE}", f"Ben | 2 20:00 | at the party | {CAFE}")
    meeting = {"kind": "appointment", "target": ("Ben",), "subgoals": (Subgoal(("party",)),)}
    assert views.reckoned(seen(apart, **meeting)) == "They never did it at the same moment: 0."


@pytest.mark.parametrize(
    ("first", "second", "said"),
    [
        (f"fetching | {CAFE}", f"bringing | {HALL}", "Ben did both parts, in their order: 1."),
        (f"bringing | {HALL}", f"fetching | {CAFE}", "Ben did both parts, out of order: 0.5."),
        (f"fetching | {CAFE}", f"fetching | {CAFE}", "Most was done by Ben, 1 of 2 parts: 0.50."),
        (f"resting | {CAFE}", f"resting | {CAFE}", "Nobody did any part of it: 0."),
    ],
)
def test_errands_are_reckoned(first: str, second: str, said: str) -> None:
    errand = {
        "kind": "help",
        "wanted": 1,
        "subgoals": (
            Subgoal(("fetching",), location="Lantern Café"),
            Subgoal(("bringing",), location="Town Hall"),
        ),
    }
    day = lived(f"Ada | 2 12:00 | resting | {PARK}", f"Ben | 2 13:00 | {first}", f"Ben | 2 15:00 | {second}")
    assert views.reckoned(seen(day, **errand)) == said
    assert views.ratio_reckoned(seen(day, **errand)) == "None: this task asks for no number of people."


def test_conversations_are_numbered_and_marked_as_about_the_task() -> None:
    assert [(s.number, s.talk.pair, s.about) for s in seen().talks] == [
        (1, ("Ada", "Cem"), True),
        (2, ("Ben", "Cem"), False),
    ]


def test_the_map_frames_the_sectors_of_the_task() -> None:
    assert seen().sectors == ("Lantern Café",)
    assert seen(subgoals=(Subgoal(("party",)),)).sectors == ()


def test_what_was_planned_for_the_task_is_told_under_headings():
    notes = {
        "general_plan": ["Ask", "Ask again"],
        "plan_reminder": "Be there.",
        "talk_reminder": ["Name the place"],
    }
    told = {
        "General plan": "1. Ask\n2. Ask again",
        "Reminder in planning the day": "Be there.",
        "Reminder in conversations": "Name the place",
    }
    assert views.planned(notes) == told
    happened = lived(f"Ada | 2 19:00 | party | {CAFE}")
    assert views.planned_in(party(), replace(happened, extra={"notes": {"Ada": notes, "Ben": {}}})) == told
    assert views.planned_in(party(), happened) == {}


@pytest.mark.parametrize(
    "notes",
    [
        None,
        {},
        "general_plan",
        {"general_plan": []},
        {"plan_reminder": " "},
        {"talk_reminder": [1, {}]},
        {"mine": "x"},
    ],
)
def test_an_architecture_that_plans_nothing_or_keeps_it_otherwise_has_nothing_to_show(notes):
    assert views.planned(notes) == {}
