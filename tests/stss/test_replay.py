"""The town at one moment, on trajectories written by hand."""

from __future__ import annotations

from dataclasses import replace
from datetime import date

import pytest

from concord.benchmarks.stss.replay import day, doors, marks, opens, people, people_at, sectors
from concord.benchmarks.stss.tasks import Subgoal
from concord.benchmarks.stss.trajectory import UNSEEN

from .made import CAFE, HALL, PARK, at, lived, talk
from .test_views import EVENING, MORNING, TOWN, planned, seen


def test_people_are_where_their_state_puts_them_by_their_part() -> None:
    of = seen()
    assert people(of) == ["Ada", "Ben", "Cem"]
    assert [of.parts[name] for name in people(of)] == ["performer", "counted", "came close"]
    ada, ben, cem = people_at(of, at("2 18:30"))
    assert (ada.place, ada.since) == (CAFE, at("2 18:00"))
    assert (ben.action, ben.place, ben.kind) == ("working", HALL, "anything else")
    # the park is not on this map
    assert (cem.place, cem.kind, cem.at) == (PARK, "asleep", None)
    assert ben.at == TOWN.sectors["Town Hall"].at


def test_a_state_holds_since_it_last_changed() -> None:
    _, ben, _ = people_at(seen(), at("2 19:30"))
    assert (ben.action, ben.kind, ben.since) == ("enjoying the party", "the task", at("2 19:00"))


def test_who_is_not_recorded_is_not_there() -> None:
    life = EVENING.lives["Ben"].copy()
    life[1] = UNSEEN
    of = seen(replace(EVENING, lives={**EVENING.lives, "Ben": life}))
    assert [h.name for h in people_at(of, at("2 18:30"))] == ["Ada", "Cem"]
    # after the gap a state begins anew
    assert people_at(of, at("2 19:00"))[1].since == at("2 19:00")


def test_no_two_of_a_crowd_stand_on_one_spot() -> None:
    ada, ben, _ = people_at(seen(), at("2 19:30"))
    assert ada.place.split(":")[0] == ben.place.split(":")[0]
    assert ada.at == TOWN.sectors["Lantern Café"].at
    assert ben.at != ada.at
    assert ben.at == pytest.approx(ada.at, abs=100)


def test_two_who_talk_have_the_number_of_their_conversation() -> None:
    talks = (talk("2 18:00", "Ada", "Ben", "Come to my party!"), talk("2 18:30", "Ben", "Cem", "Mild."))
    of = seen(replace(EVENING, talks=talks))
    assert [h.talk for h in people_at(of, at("2 18:00"))] == [1, 1, None]
    assert [h.talk for h in people_at(of, at("2 18:30"))] == [None, 2, 2]


def test_the_ground_is_what_the_town_says() -> None:
    cafe, hall = sectors(seen())
    assert (cafe.name, cafe.at, cafe.arenas, cafe.task) == ("Lantern Café", (0, 0), ("front room",), True)
    assert (hall.name, hall.task) == ("Town Hall", False)
    joined = TOWN.sectors["Lantern Café"].model_copy(update={"doors": ("Town Hall",)})
    town = replace(TOWN, sectors={**TOWN.sectors, "Lantern Café": joined})
    assert doors(seen(town=town)) == [(cafe.at, hall.at)]


def test_without_a_town_there_is_no_ground_and_nobody_has_a_spot() -> None:
    of = seen(town=None)
    assert sectors(of) == []
    assert doors(of) == []
    assert {h.at for h in people_at(of, at("2 18:30"))} == {None}


def test_marks_are_who_counted_who_came_close_the_event_and_talk_about_it() -> None:
    happened = lived(
        f"Ada | 1 10:00 – 2 20:00 | having a party | {CAFE}",
        f"Ben | 2 19:30 – 2 20:00 | enjoying the party | {CAFE}",
        f"Cem | 2 18:00 – 2 20:00 | sleeping | {PARK}",
        talks=(
            talk("1 10:30", "Ada", "Cem", "Come to my party!"),
            talk("1 11:00", "Ben", "Cem", "Mild today."),
        ),
    )
    assert [(m.time, m.kind, m.who) for m in marks(seen(happened))] == [
        (at("1 10:30"), "talk about the task", "Ada and Cem"),
        (at("2 19:00"), "came close", "Cem"),
        (at("2 19:00"), "the event begins", ""),
        (at("2 19:30"), "counted", "Ben"),
    ]
    assert marks(seen(happened))[1].what == "came close: was asleep when it began"


def test_it_opens_where_something_counted_first() -> None:
    assert opens(seen()) == at("2 19:00")
    alone = lived(
        f"Ada | 2 10:00 – 2 20:00 | resting | {PARK}", f"Ben | 2 10:00 – 2 20:00 | resting | {PARK}"
    )
    assert opens(seen(alone)) == at("2 19:00")
    elsewhere = lived(
        f"Ada | 2 10:00 – 2 20:00 | resting | {PARK}", f"Ben | 2 11:00 – 2 20:00 | party | {PARK}"
    )
    place_only = (Subgoal(("party",), location="Lantern Café"),)
    assert opens(seen(elsewhere, subgoals=place_only)) == at("2 11:00")
    whenever = seen(alone, subgoals=(Subgoal(("party",)),))
    assert opens(whenever) == at("2 12:00")


def test_a_day_has_its_plans_and_what_happened() -> None:
    changed = [*MORNING[:2], ["19:00", 300, "enjoying the party", CAFE]]
    of = planned(f"Ben | 2 18:00 – 2 18:30 | working | {HALL}", t0000=MORNING, t1830=changed)
    rows = day(of, "Ben", date(2023, 2, 14))
    assert list(rows) == ["morning’s plan", "last plan", "happened"]
    assert rows["happened"] == ((18 * 60, 19 * 60, "working", HALL, "anything else"),)
    assert all(stretch.end <= 24 * 60 for stretches in rows.values() for stretch in stretches)
