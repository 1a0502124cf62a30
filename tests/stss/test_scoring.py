"""Every rule of the action-level scores against trajectories small enough to work out by hand."""

from __future__ import annotations

from dataclasses import replace

import pytest

from concord.benchmarks.stss.scoring import score
from concord.benchmarks.stss.tasks import Subgoal
from concord.errors import ConfigError
from tests.stss.made import CAFE, HALL, PARK, at, lived, party, talk

VAIN = "did it, but not at the best moment"
NOT = "did not do it there and then"


def why(found, name):
    return next(e.why for e in found.evidence if e.agent == name and not e.counted)


def missed(found):
    """What did not fit of each of those who missed it, and when they were told."""
    return {e.agent: (e.why, e.told[8:16]) for e in found.evidence if not e.counted}


def who(found):
    return [e.agent for e in found.evidence if e.counted]


# Public and online activities: others who match ÷ (target_num − 1).


def test_two_of_three_guests_make_two_thirds():
    happened = lived(
        f"Ada | 2 19:00 – 2 21:00 | hosting the party | {CAFE}",
        f"Ben | 2 19:30 – 2 20:00 | enjoying the Party | {CAFE}",
        f"Cleo | 2 20:00 – 2 20:30 | chatting at the party | {CAFE}",
        f"Dov | 2 19:00 – 2 21:00 | reading | {PARK}",
    )
    found = score(party(), happened)
    assert found.value == pytest.approx(2 / 3)
    assert who(found) == ["Ben", "Cleo"]


def test_the_performer_is_not_a_guest():
    assert score(party(), lived(f"Ada | 2 19:00 | hosting the party | {CAFE}")).value == 0


def test_more_guests_than_wanted_are_worth_no_more():
    lines = [f"{name} | 2 19:00 | party | {CAFE}" for name in ("Ada", "Ben", "Cleo", "Dov", "Eva")]
    assert score(party(), lived(*lines)).value == 1  # min(4 / 3, 1)


def test_both_ends_of_the_window_count_and_nothing_beyond():
    happened = lived(
        f"Ada | 2 12:00 – 2 23:00 | resting | {PARK}",
        f"Ben | 2 19:00 | party | {CAFE}",
        f"Cleo | 2 22:00 | party | {CAFE}",
        f"Dov | 2 18:30 | party | {CAFE}",
        f"Eva | 2 22:30 | party | {CAFE}",
        f"Fay | 1 20:00 | party | {CAFE}",
    )
    found = score(party(), happened)
    assert who(found) == ["Ben", "Cleo"]
    assert missed(found) == {}, "nobody had told the others"


def test_one_who_came_early_and_stayed_takes_part():
    happened = lived(f"Ada | 2 19:00 | party | {CAFE}", f"Ben | 2 18:00 – 2 19:30 | party | {CAFE}")
    found = score(party(), happened)
    assert found.value == pytest.approx(1 / 3)
    assert found.evidence[0].time == "2023-02-14 19:00:00"


def test_an_alternative_keyword_serves_in_any_case():
    task = party(subgoals=(Subgoal(("party", "Masked Ball"), at("2 19:00"), 180, "Lantern Café"),))
    happened = lived(f"Ada | 2 19:00 | x | {CAFE}", f"Ben | 2 19:00 | dancing at the masked ball | {CAFE}")
    found = score(task, happened)
    assert found.value == pytest.approx(1 / 3)
    assert found.evidence[0].action == "dancing at the masked ball"


def test_subgoals_are_averaged():
    task = party(
        subgoals=(
            Subgoal(("lecture",), at("2 10:00"), 60, "Town Hall"),
            Subgoal(("party",), at("2 19:00"), 180, "Lantern Café"),
        )
    )
    happened = lived(
        f"Ada | 2 10:00 | x | {HALL}",
        f"Ben | 2 10:00 | lecture | {HALL}",
        f"Ben | 2 19:00 | party | {CAFE}",
        f"Cleo | 2 10:00 | lecture | {HALL}",
    )
    # Lecture 2 others, party 1: (2 + 1) / 2 subgoals / 3 wanted.
    assert score(task, happened).value == pytest.approx(0.5)


def test_online_needs_no_place():
    task = party(kind="online", subgoals=(Subgoal(("online game",), at("2 20:30"), 150, None),))
    happened = lived(
        f"Ada | 2 20:30 | online game | {HALL}",
        f"Ben | 2 21:00 | playing the online game | {CAFE}",
        f"Cleo | 2 19:30 | online game | {PARK}",
    )
    assert score(task, happened).value == pytest.approx(1 / 3)


def test_only_an_invited_resident_misses_the_event():
    talks = tuple(
        talk(f"1 1{n}:00", "Ada", name, "Come to my party!") for n, name in enumerate(("Ben", "Cleo"))
    )
    happened = lived(
        f"Ada | 2 18:00 – 2 22:00 | party | {CAFE}",
        f"Ben | 2 18:00 | enjoying the party | {CAFE}",
        f"Ben | 2 18:30 – 2 22:00 | sleeping | {HALL}",
        f"Cleo | 2 19:00 – 2 22:00 | holding a party of her own | {PARK}",
        f"Dov | 2 19:00 – 2 22:00 | mopping the floor | {CAFE}",
        talks=talks,
    )
    found = score(party(), happened)
    assert missed(found) == {"Ben": (NOT, "13 10:00"), "Cleo": (NOT, "13 11:00")}
    # What they did instead when it began.
    assert [(e.time[8:16], e.place) for e in found.evidence] == [("14 19:00", HALL), ("14 19:00", PARK)]


# Companions: at one moment, and the performer with them.


def coffee(**changes):
    return party(
        id="coffee",
        kind="companions",
        wanted=5,
        subgoals=(Subgoal(("coffee",), None, 30, "Lantern Café"),),
        **changes,
    )


def test_companions_count_at_the_best_moment_with_the_performer():
    happened = lived(
        f"Ada | 2 10:00 – 2 11:00 | having coffee | {CAFE}",
        f"Ben | 2 10:00 – 2 10:30 | having coffee | {CAFE}",
        f"Cleo | 2 10:30 – 2 11:00 | coffee and cake | {CAFE}",
        f"Dov | 2 15:00 | having coffee | {CAFE}",
        f"Eva | 2 15:00 | having coffee | {CAFE}",
        f"Fay | 2 15:00 | having coffee | {CAFE}",
    )
    # 10:30 has two with Ada; 15:00 has three, but Ada is gone: 2 / 4.
    found = score(coffee(), happened)
    assert found.value == 0.5
    assert who(found) == ["Ada", "Ben", "Cleo"]
    assert why(found, "Dov") == VAIN


def test_companions_without_the_performer_are_none():
    happened = lived(f"Ada | 2 10:00 | sleeping | {HALL}", f"Ben | 2 10:00 | coffee | {CAFE}")
    found = score(coffee(), happened)
    assert found.value == 0
    assert why(found, "Ben") == VAIN


def test_companions_who_were_asked_and_did_not_come():
    found = score(
        coffee(),
        lived(
            f"Ada | 1 10:00 | asking around | {CAFE}",
            f"Ada | 2 10:00 – 2 11:00 | coffee | {CAFE}",
            f"Ben | 2 10:00 – 2 11:00 | sleeping | {HALL}",
            f"Ben | 2 11:30 – 2 15:00 | painting | {PARK}",
            f"Cleo | 2 10:00 – 2 11:00 | reading | {CAFE}",
            talks=(
                talk("1 10:00", "Ada", "Ben", "Coffee tomorrow?"),
                talk("1 11:00", "Ada", "Cleo", "Coffee?"),
            ),
        ),
    )
    assert missed(found) == {"Ada": (VAIN, ""), "Ben": (NOT, "13 10:00"), "Cleo": (NOT, "13 11:00")}


def test_companions_at_different_moments_are_not_together():
    happened = lived(
        f"Ada | 2 10:00 | coffee | {CAFE}",
        f"Ada | 2 11:00 | work | {HALL}",
        f"Ben | 2 10:00 | work | {HALL}",
        f"Ben | 2 11:00 | coffee | {CAFE}",
    )
    assert score(coffee(), happened).value == 0


def test_a_location_named_in_the_action_serves_companions_and_nobody_else():
    lines = [
        f"Ada | 2 19:00 | coffee at the lantern café | {PARK}",
        f"Ben | 2 19:00 | coffee at the Lantern Café | {PARK}",
    ]
    assert score(coffee(), lived(*lines)).value == 0.25
    public = party(subgoals=(Subgoal(("coffee",), at("2 19:00"), 60, "Lantern Café"),))
    assert score(public, lived(*lines)).value == 0


# Appointments: both at one moment.


def thesis(**changes):
    return party(
        id="thesis",
        kind="appointment",
        wanted=2,
        target=("Ben",),
        subgoals=(Subgoal(("thesis",), None, 30, None),),
        **changes,
    )


def test_an_appointment_kept_in_one_room_whatever_the_object():
    happened = lived(
        "Ada | 2 10:00 | discussing the thesis | Library:reading room:desk",
        "Ben | 2 10:00 | discussing the thesis | Library:reading room:shelf",
    )
    found = score(thesis(), happened)
    assert found.value == 1
    assert who(found) == ["Ada", "Ben"]


def test_another_arena_of_the_same_sector_is_half():
    happened = lived(
        "Ada | 2 10:00 | discussing the thesis | Library:reading room:desk",
        "Ben | 2 10:00 | discussing the thesis | Library:foyer:desk",
    )
    found = score(thesis(), happened)
    assert found.value == 0.5
    assert found.evidence[0].why == "at the same time, in different rooms"


def test_a_later_moment_in_one_room_beats_an_earlier_one_apart():
    happened = lived(
        f"Ada | 2 10:00 – 2 11:00 | thesis talk | {CAFE}",
        f"Ben | 2 10:00 – 2 10:30 | thesis talk | {PARK}",
        f"Ben | 2 11:00 | thesis talk | {CAFE}",
    )
    found = score(thesis(), happened)
    assert found.value == 1
    assert found.evidence[0].time == "2023-02-14 11:00:00"


def test_different_times_and_others_in_the_targets_place_are_nothing():
    happened = lived(
        f"Ada | 2 10:00 | thesis talk | {CAFE}",
        f"Ada | 2 11:00 | work | {CAFE}",
        f"Ben | 2 10:00 | work | {CAFE}",
        f"Ben | 2 11:00 | thesis talk | {CAFE}",
        f"Cleo | 2 10:00 | thesis talk | {CAFE}",
        f"Cleo | 2 11:00 | work | {CAFE}",
    )
    found = score(thesis(), happened)
    assert found.value == 0
    assert why(found, "Ben") == "did it, but not when the other did"


def test_merely_conversing_about_it_keeps_no_appointment():
    happened = lived(
        f"Ada | 2 10:00 | conversing about the thesis | {CAFE}",
        f"Ben | 2 10:00 | discussing the thesis | {CAFE}",
    )
    found = score(thesis(), happened)
    assert found.value == 0
    assert missed(found) == {
        "Ada": (NOT, ""),
        "Ben": ("did it, but not when the other did", ""),
    }


def test_an_appointment_kept_at_another_time_is_missed():
    task = replace(thesis(), subgoals=(Subgoal(("thesis",), at("2 10:00"), 30, None),))
    found = score(
        task,
        lived(f"Ada | 2 09:00 | reading the thesis | {CAFE}", f"Ben | 2 09:00 – 2 11:00 | work | {CAFE}"),
    )
    assert missed(found) == {"Ada": (NOT, ""), "Ben": (NOT, "")}


# Help: errands in their order.


def medicine(**changes):
    goals = (Subgoal(("medicine",), None, 5, "Pharmacy"), Subgoal(("medicine",), None, 5, "Moore House"))
    return party(id="medicine", kind="help", wanted=1, subgoals=goals, **changes)


SHOP, HOUSE = "Pharmacy:shop:counter", "Moore House:hall:door"


def test_both_errands_in_order_by_one_person():
    happened = lived(
        f"Ada | 2 10:00 – 2 11:00 | resting | {HOUSE}",
        f"Ben | 2 10:00 | buying medicine | {SHOP}",
        f"Ben | 2 11:00 | bringing the medicine | {HOUSE}",
    )
    found = score(medicine(), happened)
    assert found.value == 1
    assert [(e.agent, e.subgoal) for e in found.evidence] == [("Ben", 1), ("Ben", 2)]
    assert found.conversation_ratio is None


def test_both_errands_out_of_order_are_half():
    happened = lived(
        f"Ada | 2 10:00 – 2 11:00 | resting | {HOUSE}",
        f"Ben | 2 10:00 | looking for medicine | {HOUSE}",
        f"Ben | 2 11:00 | buying medicine | {SHOP}",
    )
    assert score(medicine(), happened).value == 0.5


def test_who_was_asked_and_did_nothing_is_told():
    asked = talk("1 10:00", "Ada", "Ben", "Could you fetch my medicine?")
    happened = lived(
        f"Ada | 1 10:00 – 2 10:00 | resting | {HOUSE}",
        f"Ben | 2 10:00 | work | {HOUSE}",
        f"Cleo | 2 10:00 | work | {SHOP}",
        talks=(asked,),
    )
    found = score(medicine(), happened)
    assert missed(found) == {"Ben": (NOT, "13 10:00")}


def test_a_false_start_does_not_spoil_the_order():
    happened = lived(
        f"Ada | 2 09:00 | resting | {HOUSE}",
        f"Ben | 2 09:00 | asking which medicine | {HOUSE}",
        f"Ben | 2 10:00 | buying medicine | {SHOP}",
        f"Ben | 2 11:00 | bringing medicine | {HOUSE}",
    )
    assert score(medicine(), happened).value == 1


def test_one_errand_of_two_is_half_and_two_people_do_not_add_up():
    happened = lived(
        f"Ada | 2 10:00 | resting | {HOUSE}",
        f"Ben | 2 10:00 | buying medicine | {SHOP}",
        f"Cleo | 2 11:00 | bringing medicine | {HOUSE}",
    )
    assert score(medicine(), happened).value == 0.5


def test_the_performer_helping_themselves_is_nothing():
    happened = lived(
        f"Ada | 2 10:00 | buying medicine | {SHOP}",
        f"Ada | 2 11:00 | medicine | {HOUSE}",
        f"Ben | 2 10:00 | x | {SHOP}",
    )
    found = score(medicine(), happened)
    assert found.value == 0


def test_two_of_three_errands_are_two_thirds_out_of_order_half():
    goals = tuple(Subgoal((word,)) for word in ("fetch", "carry", "deliver"))
    task = medicine().__class__(**{**medicine().__dict__, "subgoals": goals})
    two = lived(
        f"Ada | 2 10:00 | x | {SHOP}", f"Ben | 2 10:00 | fetch | {SHOP}", f"Ben | 2 11:00 | carry | {SHOP}"
    )
    assert score(task, two).value == pytest.approx(2 / 3)
    three = lived(
        f"Ada | 2 10:00 | x | {SHOP}",
        f"Ben | 2 10:00 | deliver | {SHOP}",
        f"Ben | 2 11:00 | carry | {SHOP}",
        f"Ben | 2 12:00 | fetch | {SHOP}",
    )
    assert score(task, three).value == 0.5


# The conversation ratio.


def test_people_told_on_day_one_over_people_wanted():
    talks = (
        talk("1 10:00", "Ada", "Ben", "Come to the party.", "Gladly."),
        talk("1 11:00", "Ben", "Ada", "About that party …"),  # the same person again
        talk("1 12:00", "Ada", "Cleo", "Nice weather.", "Indeed."),  # not about it
        talk("1 13:00", "Dov", "Eva", "Ada gives a party."),  # without the performer
        talk("2 10:00", "Ada", "Dov", "The party is tonight."),  # on day 2
    )
    names = ("Ada", "Ben", "Cleo", "Dov", "Eva")
    happened = lived(*(f"{n} | 1 08:00 – 2 23:00 | x | {PARK}" for n in names), talks=talks)
    assert score(party(), happened).conversation_ratio == pytest.approx(1 / 3)


def test_the_ratio_may_exceed_one():
    talks = tuple(talk("1 10:00", "Ada", n, "party?") for n in ("Ben", "Cleo", "Dov"))
    happened = lived(
        *(f"{n} | 1 08:00 – 2 23:00 | x | {PARK}" for n in ("Ada", "Ben", "Cleo", "Dov")), talks=talks
    )
    assert score(party(wanted=3), happened).conversation_ratio == 1.5


def test_without_a_stated_time_day_one_is_the_first_of_the_trajectory():
    talks = (talk("1 10:00", "Ada", "Ben", "coffee?"), talk("2 10:00", "Ada", "Cleo", "coffee?"))
    happened = lived(*(f"{n} | 1 08:00 – 2 23:00 | x | {PARK}" for n in ("Ada", "Ben", "Cleo")), talks=talks)
    assert score(coffee(), happened).conversation_ratio == 0.25


# What cannot be scored.


def test_unknown_people_are_refused():
    happened = lived(f"Ada | 2 19:00 | party | {CAFE}", f"Ben | 2 19:00 | party | {CAFE}")
    with pytest.raises(ConfigError, match="names Zed, who is not in the trajectory"):
        score(party(performer="Zed"), happened)
    with pytest.raises(ConfigError, match="names Zed"):
        score(thesis().__class__(**{**thesis().__dict__, "target": ("Zed",)}), happened)
