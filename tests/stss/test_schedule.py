"""A day without gap or overlap, whatever a mind wishes."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from concord.benchmarks.stss.schedule import IDLE, RISING, SLEEPING, Wish, action_at, arrange, habits
from concord.benchmarks.stss.town import hour_of, load_town, minute_of
from tests.stss.town_helpers import SHIPPED

TOWN = load_town(SHIPPED / "town.toml")
NILS = TOWN.residents["Nils Lindqvist"]  # up from 06:00 to 22:00
CAFE, PARK = "Saltbread Café:front room:counter", "Fern Park:lawn:bench"


def told(day):
    return [(hour_of(a.start), hour_of(a.end), a.text, a.place.sector) for a in day]


def test_a_plain_day_is_framed_by_sleep_and_rising():
    day = arrange([Wish("08:00", 60, "reading", PARK), Wish("09:00", 780, "working", CAFE)], NILS, TOWN)
    assert told(day) == [
        ("00:00", "06:00", SLEEPING, "Lindqvist House"),
        ("06:00", "08:00", RISING, "Lindqvist House"),
        ("08:00", "09:00", "reading", "Fern Park"),
        ("09:00", "22:00", "working", "Saltbread Café"),
        ("22:00", "24:00", SLEEPING, "Lindqvist House"),
    ]


def test_a_gap_is_a_break_where_one_is():
    day = arrange([Wish("06:00", 60, "reading", PARK), Wish("09:00", 60, "working", CAFE)], NILS, TOWN)
    assert told(day)[2:5] == [
        ("07:00", "09:00", IDLE, "Fern Park"),
        ("09:00", "10:00", "working", "Saltbread Café"),
        ("10:00", "22:00", IDLE, "Saltbread Café"),
    ]


def test_the_later_wish_cuts_the_earlier_short():
    day = arrange([Wish("09:00", 60, "meeting Ada", CAFE), Wish("06:00", 400, "working", PARK)], NILS, TOWN)
    assert told(day)[1:3] == [
        ("06:00", "09:00", "working", "Fern Park"),
        ("09:00", "10:00", "meeting Ada", "Saltbread Café"),
    ]


@pytest.mark.parametrize(
    "wish",
    [
        Wish("25:99", 30, "dreaming", PARK),
        Wish("23:00", 30, "dancing", PARK),
        Wish("04:00", 30, "fishing", PARK),
        Wish("10:00", 30, " ", PARK),
    ],
)
def test_what_cannot_be_is_left_out(wish):
    reading = Wish("06:00", 60, "reading", PARK)
    assert arrange([reading, wish], NILS, TOWN) == arrange([reading], NILS, TOWN)


def test_what_is_wished_at_an_unknown_place_is_done_at_home():
    day = arrange([Wish("06:00", 60, "flying", "the moon")], NILS, TOWN)
    assert told(day)[1] == ("06:00", "07:00", "flying", "Lindqvist House")


def test_of_two_wishes_for_one_minute_the_later_counts():
    day = arrange([Wish("06:00", 60, "reading", PARK), Wish("06:00", 30, "working", CAFE)], NILS, TOWN)
    assert told(day)[1] == ("06:00", "06:30", "working", "Saltbread Café")


def test_waking_late_is_possible_and_waking_at_night_is_not():
    day = arrange([], NILS, TOWN, "9:30 am")
    assert told(day)[0] == ("00:00", "09:30", SLEEPING, "Lindqvist House")
    day = arrange([], NILS, TOWN, "02:00")
    assert told(day)[0] == ("00:00", "06:00", SLEEPING, "Lindqvist House")


def test_a_change_of_mind_leaves_the_past_alone():
    morning = arrange([Wish("06:00", 240, "working", CAFE), Wish("10:00", 120, "reading", PARK)], NILS, TOWN)
    day = arrange([Wish("09:00", 60, "meeting Ada", PARK)], NILS, TOWN, earlier=morning, now=9 * 60)
    assert told(day)[1:4] == [
        ("06:00", "09:00", "working", "Saltbread Café"),
        ("09:00", "10:00", "meeting Ada", "Fern Park"),
        ("10:00", "22:00", IDLE, "Fern Park"),
    ]


def test_habits_fill_a_day_of_everybody_in_town():
    for resident in TOWN.residents.values():
        wishes = habits(resident)
        done = [action.text for action in arrange(wishes, resident, TOWN)]
        assert [text for text in done if text not in (SLEEPING, RISING, IDLE)] == [w.action for w in wishes]


TIMES = st.one_of(st.integers(0, 26 * 60).map(lambda m: f"{m // 60:02}:{m % 60:02}"), st.text(max_size=5))
WISHES = st.lists(
    st.builds(
        Wish,
        TIMES,
        st.integers(1, 1440),
        st.text(max_size=4),
        st.sampled_from([CAFE, PARK, "nowhere", "town hall"]),
    ),
    max_size=12,
)


@given(WISHES, st.one_of(st.none(), TIMES), st.integers(0, 1439))
def test_whatever_is_wished_the_day_is_whole(wishes, wake, now):
    morning = arrange(wishes, NILS, TOWN, wake)
    revised = arrange(wishes[::-1], NILS, TOWN, earlier=morning, now=now)
    for day in (morning, revised):
        assert day[0].start == 0
        assert day[-1].end == 1440
        assert all(a.end == b.start for a, b in pairwise(day))
        assert all(a.minutes > 0 and a.text.strip() for a in day)
        assert all(a.text == SLEEPING for a in day if a.start >= minute_of(NILS.sleeps))
    assert [morning[action_at(morning, m)] for m in range(0, now, 7)] == [
        revised[action_at(revised, m)]._replace(minutes=morning[action_at(morning, m)].minutes)
        for m in range(0, now, 7)
    ]
