"""What the town page shows, on trajectories written by hand."""

from __future__ import annotations

from dataclasses import replace
from datetime import date, timedelta

import pytest

from concord.benchmarks.stss import views
from concord.benchmarks.stss.tasks import Subgoal
from concord.benchmarks.stss.town import Sector, Town
from concord.benchmarks.stss.trajectory import UNSEEN, Trajectory
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
    assert views.day(seen(), "Ben", TUESDAY)["happened"] == (
        Stretch(18 * 60, 19 * 60, "working", HALL, "anything else"),
        Stretch(19 * 60, 20 * 60, "enjoying the party", CAFE, "the task"),
    )
    assert views.day(seen(), "Ben", TUESDAY - timedelta(days=1)) == {}


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


def test_a_day_has_its_plans_and_what_happened() -> None:
    day = f"Ben | 2 18:00 – 2 18:30 | working | {HALL}"
    rows = views.day(planned(day, t0000=MORNING, t1830=CHANGED), "Ben", TUESDAY)
    assert list(rows) == ["morning’s plan", "last plan", "happened"]
    assert rows["happened"] == ((18 * 60, 19 * 60, "working", HALL, "anything else"),)
    assert all(stretch.end <= 24 * 60 for stretches in rows.values() for stretch in stretches)
    assert list(views.day(planned(day, t0000=MORNING), "Ben", TUESDAY)) == ["morning’s plan", "happened"]
    assert list(views.day(planned(day), "Ben", TUESDAY)) == ["happened"]


# Tables


def test_the_tables_of_the_evidence_say_who_counted_and_who_came_close() -> None:
    counted, close = views.evidence(seen().score)
    assert counted.title == "party (public activity): 0.333, conversation ratio 0.33"
    [ben] = counted.rows
    assert (ben["who"], ben["when"], ben["until"], ben["words"]) == (
        "Ben",
        "Tue 14 Feb, 19:00",
        "19:30",
        "party",
    )
    [cem] = close.rows
    assert (cem["who"], cem["missed"], cem["why"]) == ("Cem", "asleep", "was asleep when it began")
    assert (cem["told"], cem["time"]) == ("Mon 13 Feb, 10:00", "2023-02-14 19:00:00")
    # the number of the event is for files where there is one
    assert [column.name for column in close.shown][:3] == ["who", "missed", "why"]


def test_who_was_told_and_came_close_stands_first() -> None:
    happened = lived(
        f"Ada | 2 18:00 – 2 20:00 | having a party | {CAFE}",
        f"Ben | 2 18:00 | enjoying the party | {CAFE}",
        f"Cem | 2 18:00 – 2 20:00 | sleeping | {PARK}",
        talks=(talk("1 10:30", "Ada", "Cem", "Come to my party!"),),
    )
    counted, close = views.evidence(seen(happened).score)
    assert (counted.rows, counted.notes) == ((), ("Nobody.",))
    assert [row["who"] for row in close.rows] == ["Cem", "Ben"]


def test_conversations_are_numbered_and_marked_as_about_the_task() -> None:
    rows = views.talks(seen()).rows
    assert [(row["number"], row["who"], row["about the task"], row["told first"]) for row in rows] == [
        (1, "Ada and Cem", "yes", "yes"),
        (2, "Ben and Cem", "", ""),
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


# One moment


def test_people_are_where_their_state_puts_them_by_their_part() -> None:
    of = seen()
    assert dict(of.parts) == {"Ada": "performer", "Ben": "counted", "Cem": "came close"}
    assert list(of.parts) == ["Ada", "Ben", "Cem"]
    ada, ben, cem = views.people_at(of, at("2 18:30"))
    assert (ada.place, ada.since) == (CAFE, at("2 18:00"))
    assert (ben.action, ben.place, ben.kind) == ("working", HALL, "anything else")
    # the park is not on this map
    assert (cem.place, cem.kind, cem.at) == (PARK, "asleep", None)
    assert ben.at == TOWN.sectors["Town Hall"].at


def test_a_state_holds_since_it_last_changed() -> None:
    _, ben, _ = views.people_at(seen(), at("2 19:30"))
    assert (ben.action, ben.kind, ben.since) == ("enjoying the party", "the task", at("2 19:00"))


def test_who_is_not_recorded_is_not_there() -> None:
    life = EVENING.lives["Ben"].copy()
    life[1] = UNSEEN
    of = seen(replace(EVENING, lives={**EVENING.lives, "Ben": life}))
    assert [h.name for h in views.people_at(of, at("2 18:30"))] == ["Ada", "Cem"]
    # after the gap a state begins anew
    assert views.people_at(of, at("2 19:00"))[1].since == at("2 19:00")


def test_no_two_of_a_crowd_stand_on_one_spot() -> None:
    ada, ben, _ = views.people_at(seen(), at("2 19:30"))
    assert ada.place.split(":")[0] == ben.place.split(":")[0]
    assert ada.at == TOWN.sectors["Lantern Café"].at
    assert ben.at != ada.at
    assert ben.at == pytest.approx(ada.at, abs=100)


def test_two_who_talk_have_the_number_of_their_conversation() -> None:
    talks = (talk("2 18:00", "Ada", "Ben", "Come to my party!"), talk("2 18:30", "Ben", "Cem", "Mild."))
    of = seen(replace(EVENING, talks=talks))
    assert [h.talk for h in views.people_at(of, at("2 18:00"))] == [1, 1, None]
    assert [h.talk for h in views.people_at(of, at("2 18:30"))] == [None, 2, 2]


def test_without_a_town_nobody_has_a_spot() -> None:
    assert {h.at for h in views.people_at(seen(town=None), at("2 18:30"))} == {None}


def test_it_opens_where_something_counted_first() -> None:
    assert views.opens(seen()) == at("2 19:00")
    alone = lived(
        f"Ada | 2 10:00 – 2 20:00 | resting | {PARK}", f"Ben | 2 10:00 – 2 20:00 | resting | {PARK}"
    )
    assert views.opens(seen(alone)) == at("2 19:00")
    whenever = seen(alone, subgoals=(Subgoal(("party",)),))
    assert views.opens(whenever) == at("2 12:00")
