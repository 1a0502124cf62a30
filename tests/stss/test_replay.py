"""A simulation as a replay for the browser, on trajectories written by hand."""

from __future__ import annotations

import json
from dataclasses import replace

from concord.benchmarks.stss.replay import opens, replay
from concord.benchmarks.stss.tasks import Subgoal
from concord.benchmarks.stss.trajectory import UNSEEN

from .made import CAFE, HALL, PARK, at, lived, talk
from .test_views import EVENING, MORNING, TOWN, planned, seen


def test_times_are_minutes_since_the_first_midnight() -> None:
    told = replay(seen())
    assert told["days"] == [{"date": "2023-02-14", "name": "Tue 14 Feb"}]
    assert told["minutes"] == [18 * 60, 18 * 60 + 30, 19 * 60, 19 * 60 + 30]
    assert told["windows"] == [[19 * 60, 22 * 60]]
    two = replay(
        seen(lived(f"Ada | 1 23:30 – 2 00:30 | resting | {CAFE}", f"Ben | 1 23:30 | resting | {CAFE}"))
    )
    assert [day["date"] for day in two["days"]] == ["2023-02-13", "2023-02-14"]
    assert two["minutes"] == [1410, 1440, 1470]


def test_a_life_is_told_where_it_changes_and_where_nothing_is_recorded() -> None:
    life = EVENING.lives["Ben"].copy()
    life[1] = UNSEEN
    told = replay(seen(replace(EVENING, lives={**EVENING.lives, "Ben": life})))
    ada, ben, cem = told["people"]
    assert [p["part"] for p in told["people"]] == ["performer", "counted", "came close"]
    assert ada["life"] == [[0, 0]]
    # working, unseen, at the party for two moments
    assert [moment for moment, _ in ben["life"]] == [0, 1, 2]
    assert ben["life"][1] == [1, UNSEEN]
    working, partying = (told["states"][ben["life"][i][1]] for i in (0, 2))
    # the hall is the first arena of the second sector of the town, the café the only one of the first
    assert working == ["working", HALL, (1, 0), "anything else"]
    assert partying == ["enjoying the party", CAFE, (0, 0), "the task"]
    # the park is not on this map
    assert told["states"][cem["life"][0][1]] == ["sleeping", PARK, None, "asleep"]


def test_the_ground_is_what_the_town_says_with_how_much_of_life_takes_place_where() -> None:
    cafe, hall = replay(seen())["ground"]["sectors"]
    assert (cafe["name"], cafe["x"], cafe["y"], cafe["arenas"], cafe["here"]) == (
        "Lantern Café",
        0,
        0,
        ["front room"],
        True,
    )
    assert (hall["name"], hall["here"]) == ("Town Hall", False)
    # Ada's four moments and two of Ben's; two of Ben's
    assert (cafe["spent"], hall["spent"]) == (6, 2)


def test_sleep_and_ways_make_no_place_lively() -> None:
    passing = lived(f"Ada | 2 19:00 | sleeping | {CAFE}", f"Ben | 2 19:00 | walking | {CAFE}")
    assert replay(seen(passing))["ground"]["sectors"][0]["spent"] == 0


def test_doors_join_sectors_by_their_numbers() -> None:
    cafe = TOWN.sectors["Lantern Café"].model_copy(update={"doors": ("Town Hall",)})
    joined = replace(TOWN, sectors={**TOWN.sectors, "Lantern Café": cafe})
    assert replay(seen(town=joined))["ground"]["doors"] == [[0, 1]]


def test_without_a_town_there_is_no_ground_and_no_room() -> None:
    told = replay(seen(town=None))
    assert told["ground"] is None
    assert {state[2] for state in told["states"]} == {None}


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
    told = replay(seen(happened))
    day = 24 * 60
    assert [(m["minute"], m["kind"], m["who"]) for m in told["marks"]] == [
        (10 * 60 + 30, "talk", "Ada and Cem"),
        (day + 19 * 60, "came close", "Cem"),
        (day + 19 * 60, "event", ""),
        (day + 19 * 60 + 30, "counted", "Ben"),
    ]
    assert told["marks"][1]["what"] == "came close: was asleep when it began"
    assert told["talks"][1] == {"minute": 11 * 60, "pair": ["Ben", "Cem"], "number": 2}


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


def test_a_day_has_its_plans_what_happened_and_the_plan_part_by_part() -> None:
    changed = [*MORNING[:2], ["19:00", 300, "enjoying the party", CAFE]]
    of = planned(f"Ben | 2 18:00 – 2 18:30 | working | {HALL}", t0000=MORNING, t1830=changed)
    (day,) = next(p for p in replay(of)["people"] if p["name"] == "Ben")["days"]
    assert [row for row, _ in day["rows"]] == ["morning’s plan", "last plan", "happened"]
    assert day["rows"][2][1] == [[18 * 60, 19 * 60, "working", HALL, "anything else"]]
    # of the hour of work planned both moments of half an hour were worked
    assert day["parts"][1] == [[18 * 60, 19 * 60, "working", HALL, "anything else"], 60, []]
    assert day["said"].startswith("1 h of 1 h planned in the morning went as planned.")


def test_it_is_plain_json_with_nothing_lost() -> None:
    told = replay(seen())
    read = json.loads(json.dumps(told))
    assert read["people"] == told["people"]
    assert read["step"] == 30
