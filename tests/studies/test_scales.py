"""Which scale a criterion is answered on, and who answers on another one."""

import numpy as np
import pytest

from concord.questions import Scale, points
from concord.studies.scales import guessed, shared_scale


def scored(*scores):
    return np.array(scores, dtype=float)


PEOPLE = scored(2, 3, 4, 5)


def test_a_guess_goes_from_end_to_end():
    assert guessed([1, 3, 2]) == points(1, 3)
    assert guessed([5, 5]) == points(4, 5)  # one answer is no scale: its neighbour below joins it
    assert guessed([0]) == points(0, 1)
    assert not guessed([0, 100]).offered
    assert guessed([1, 2.5]).values == (1, 2.5)
    assert guessed([1, 2]).guessed
    assert not points(1, 2).guessed


def test_a_judges_1_beside_peoples_2_to_5_widens_the_guess():
    found = shared_scale(PEOPLE, {"j": scored(1, 3, 4, 5), "k": scored(3, 4, 5, 5)}, None)
    assert found.scale == points(1, 5)
    assert found.incomparable == {}
    assert found.notes == ("scale guessed: 1 to 5",)


@pytest.mark.parametrize(
    ("people", "judge", "shared"),
    [
        ((1, 5), (1, 10), False),  # 9 wide beside 4
        ((1, 5), (0, 10), False),
        ((1, 5), (0, 100), False),
        ((0, 1), (1, 5), False),
        ((1, 5), (1, 7), True),
        ((2, 4), (1, 5), True),
        ((3, 5), (1, 5), True),  # people's range begins at 1
        ((5, 5), (1, 5), True),
        ((-2, 2), (-3, 3), True),
        ((0.2, 0.9), (0, 1), True),
    ],
)
def test_whose_scale_is_another(people, judge, shared):
    found = shared_scale(scored(*people), {"j": scored(*judge)}, None)
    assert ("j" in found.incomparable) != shared
    ends = (found.scale.low, found.scale.high)
    assert ends == ((min(people[0], judge[0]), max(people[1], judge[1])) if shared else people)


def test_one_judge_on_another_scale_is_one_judge():
    found = shared_scale(PEOPLE, {"j": scored(10, 7, 3, 9), "k": scored(2, 1, 4, 5)}, None)
    assert list(found.incomparable) == ["j"]
    assert found.incomparable["j"].startswith("annotators answer 2 to 5, j 3 to 10")
    assert found.scale == points(1, 5)


def test_answers_beyond_what_people_ever_give_are_told():
    found = shared_scale(PEOPLE, {"j": scored(7, 6, 3, 2)}, None)
    assert found.incomparable == {}
    assert found.notes[1].startswith("annotators answer 2 to 5, j 2 to 7: read as one scale")


def test_means_of_judges_keep_a_guess_in_whole_answers():
    found = shared_scale(PEOPLE, {"j": scored(1.4, 3.2)}, None)
    assert found.scale == points(1, 5)


def test_a_declared_scale_stands_and_one_stray_answer_is_told():
    often = np.tile(scored(1, 2, 3, 4), 10)
    stray = shared_scale(PEOPLE, {"j": np.append(often, 6)}, points(1, 5))
    assert (stray.scale, stray.incomparable) == (points(1, 5), {})
    assert stray.notes == ("1 of 41 answers of j are off the scale 1 to 5",)
    # 3 of 43 are more than 5%.
    other = shared_scale(PEOPLE, {"j": np.append(often, [6, 6, 6])}, points(1, 5))
    assert other.incomparable == {"j": "3 of 43 answers of j are off the scale 1 to 5"}


def test_a_scale_declared_for_judges_is_another_than_peoples():
    found = shared_scale(PEOPLE, {"j": scored(2, 3, 4)}, points(0, 5), points(1, 5))
    assert found.incomparable == {"j": "judges answer on 1 to 5, annotators on 0 to 5"}


def test_without_answers_there_is_no_scale_to_guess():
    assert shared_scale(scored(), {}, None).scale is None
    assert shared_scale(scored(), {"j": scored(np.nan, 2)}, None).scale == points(1, 2)
    declared = Scale((0, 1), ("no", "yes"))
    assert shared_scale(scored(), {}, declared).scale == declared
