"""Raters that copy, and raters that do not vary."""

import numpy as np
import pytest

from concord.statistics.oddities import constants, copies, only_copies
from concord.statistics.ratings import read_ratings
from tests.statistics.frames import study


def answers_by_chance():
    return np.random.default_rng(1).integers(1, 6, (3, 30)).tolist()


ANN, BOB, CY = answers_by_chance()


def scores(persons, machines, **reading):
    table = read_ratings(study(persons, machines), **reading)
    return table["quality"], table.people


def test_a_judge_that_repeats_one_person_is_told_with_the_next_one():
    (found,) = copies(*scores({"ann": ANN, "bob": BOB, "cy": CY}, {"j": ANN, "k": CY[::-1]}))
    assert (found.judge, found.person, found.rho) == ("j", "ann", 1)
    assert found.next < 0.5


def test_a_copy_on_a_shifted_scale_is_a_copy():
    shifted = [answer + 2 for answer in ANN]
    assert copies(*scores({"ann": ANN, "bob": BOB}, {"j": shifted}))


def test_a_judge_that_agrees_with_everybody_copies_nobody():
    nearly = [*ANN[:-1], 3]
    assert not copies(*scores({"ann": ANN, "bob": nearly}, {"j": ANN}))
    assert not copies(*scores({"ann": ANN}, {"j": ANN}))
    assert not copies(*scores({"ann": ANN[:9], "bob": BOB[:9]}, {"j": ANN[:9]}))
    assert not copies(*scores({"ann": ANN, "bob": BOB}, {"j": ANN}, anonymous_people=True))


def test_one_answer_to_everything_is_told():
    found = constants(*scores({"ann": [3] * 8, "bob": BOB, "cy": [2, 2]}, {"j": [1] * 8}))
    assert found == {"ann": (3, 8)}


def test_a_near_copy_of_one_of_two_people_is_found_by_kappa():
    """It differs from ann on 4 of 100 (κ .92), from bob on 24 (κ .52), as ann and bob do on 20 (κ .6)."""
    ann = [n % 2 for n in range(100)]
    bob = [1 - answer if n % 5 == 0 else answer for n, answer in enumerate(ann)]
    judge = [1 - answer if n in (1, 22, 51, 92) else answer for n, answer in enumerate(ann)]
    given = scores({"ann": ann, "bob": bob}, {"j": judge})
    (found,) = copies(*given, nominal=True)
    assert (found.person, round(found.rho, 2), round(found.next, 2)) == ("ann", 0.92, 0.52)
    assert found.p < 1e-4
    assert copies(*given) == [], "their ρ of 0.92 is below that of a copy of scores"


def test_equal_answers_of_the_only_person_stand_beside_their_chance():
    """Ten even answers are equal with (½ + 0.9 · ½)¹⁰ = .6, two hundred with .95²⁰⁰ = 4e-5."""
    few, many = ([n % 2 for n in range(items)] for items in (10, 200))
    (one,) = only_copies(*scores({"ann": few}, {"j": few}))
    assert (one.judge, one.person, one.n, one.p) == ("j", "ann", 10, pytest.approx(0.95**10))
    (one,) = only_copies(*scores({"ann": many}, {"j": many}))
    assert one.p == pytest.approx(0.95**200)
    rare = [0] * 36 + [1] * 4
    (one,) = only_copies(*scores({"ann": rare}, {"j": rare}))
    by_chance = 0.9**2 + 0.1**2
    assert one.p == pytest.approx((by_chance + 0.9 * (1 - by_chance)) ** 40)
    assert only_copies(*scores({"ann": few}, {"j": [1 - few[0], *few[1:]]})) == []
    assert only_copies(*scores({"ann": [1] * 40}, {"j": [1] * 40})) == []
    assert only_copies(*scores({"ann": few, "bob": few}, {"j": few})) == []
