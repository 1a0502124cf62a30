"""What the town page shows, on trajectories written by hand."""

from __future__ import annotations

from dataclasses import replace

from concord.benchmarks.stss import views
from concord.benchmarks.stss.tasks import Subgoal
from concord.benchmarks.stss.town import Sector, Town
from concord.benchmarks.stss.trajectory import Trajectory

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


def seen(trajectory: Trajectory = EVENING, town: Town = TOWN, **task: object) -> views.Simulation:
    return views.Simulation(party(**task), trajectory, town)


# Tables


def test_the_table_of_the_evidence_says_who_counted_and_who_missed_it() -> None:
    table = views.evidence(seen().score)
    assert table.title == "party (public activity): 0.333, conversation ratio 0.33"
    ben, cem = table.rows
    assert (ben["who"], ben["counted"], ben["when"]) == ("Ben", True, "Tue 14 Feb, 19:00")
    assert (cem["who"], cem["counted"], cem["why"]) == ("Cem", False, "did not do it there and then")
    assert (cem["told"], cem["time"]) == ("Mon 13 Feb, 10:00", "2023-02-14 19:00:00")
    # the number of the event is for files where there is one
    assert [column.name for column in table.shown][:3] == ["who", "counted", "why"]


def test_where_nobody_counted_and_nobody_was_told_there_are_no_rows() -> None:
    table = views.evidence(seen(replace(EVENING, talks=()), wanted=9).score)
    assert [row["who"] for row in table.rows] == ["Ben"]
    alone = lived(f"Ada | 2 18:00 – 2 20:00 | having a party | {CAFE}")
    assert views.evidence(seen(alone).score).notes == ("Nobody.",)


def test_conversations_are_in_order_and_marked_as_about_the_task() -> None:
    rows = views.talks(seen()).rows
    assert [(row["who"], row["about the task"], row["time"]) for row in rows] == [
        ("Ada and Cem", True, "2023-02-13 10:00:00"),
        ("Ben and Cem", False, "2023-02-13 11:00:00"),
    ]


def test_the_map_frames_the_sectors_of_the_task() -> None:
    assert seen().sectors == ["Lantern Café"]
    assert seen(subgoals=(Subgoal(("party",)),)).sectors == []


def test_what_was_planned_for_the_task_is_told_under_headings():
    notes = {
        "general_plan": ["Ask", "Ask again"],
        "plan_reminder": "Be there.",
        "talk_reminder": ["Name the place"],
    }
    happened = lived(f"Ada | 2 19:00 | party | {CAFE}")
    assert views.planned(party(), replace(happened, extra={"notes": {"Ada": notes, "Ben": {}}})) == {
        "General plan": "Ask\nAsk again",
        "Plan reminder": "Be there.",
        "Talk reminder": "Name the place",
    }
    assert views.planned(party(), happened) == {}


# One moment


def test_people_are_where_their_state_puts_them_by_their_part() -> None:
    of = seen()
    assert dict(of.parts) == {"Ada": "performer", "Ben": "counted", "Cem": "missed it"}
    assert list(of.parts) == ["Ada", "Ben", "Cem"]
    ada, ben, cem = views.people_at(of, at("2 18:30"))
    assert (ada.room, ada.arrival) == (("Lantern Café", "front room"), at("2 18:00"))
    assert (ben.action, ben.room) == ("working", ("Town Hall", "hall"))
    assert (cem.part, cem.room) == ("missed it", ("Fern Park", "lawn"))


def test_a_state_holds_since_it_last_changed() -> None:
    _, ben, _ = views.people_at(seen(), at("2 19:30"))
    assert (ben.action, ben.arrival) == ("enjoying the party", at("2 19:00"))


def test_two_who_talk_have_the_number_of_their_conversation() -> None:
    talks = (talk("2 18:00", "Ada", "Ben", "Come to my party!"), talk("2 18:30", "Ben", "Cem", "Mild."))
    of = seen(replace(EVENING, talks=talks))
    assert [h.talk for h in views.people_at(of, at("2 18:00"))] == [1, 1, None]
    assert [h.talk for h in views.people_at(of, at("2 18:30"))] == [1, 2, 2]
    # at 19:00 Ben takes part in the party
    assert [h.talk for h in views.people_at(of, at("2 19:00"))] == [1, None, 2]


def test_it_opens_where_something_counted_first() -> None:
    assert views.opens(seen()) == at("2 19:00")
    alone = lived(
        f"Ada | 2 10:00 – 2 20:00 | resting | {PARK}", f"Ben | 2 10:00 – 2 20:00 | resting | {PARK}"
    )
    assert views.opens(seen(alone)) == at("2 19:00")
    whenever = seen(alone, subgoals=(Subgoal(("party",)),))
    assert views.opens(whenever) == at("2 12:00")
