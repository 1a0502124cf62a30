"""Raters that copy, and raters that do not vary."""

import numpy as np

from concord.statistics.oddities import constants, copies
from concord.statistics.ratings import read_ratings

from .frames import study

RNG = np.random.default_rng(1)
ANN, BOB, CY = (RNG.integers(1, 6, 30).tolist() for _ in range(3))


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
