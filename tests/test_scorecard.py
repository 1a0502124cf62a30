"""One conversation's means, by hand."""

from __future__ import annotations

from core.rating import Rater
from core.scores import final, names, scorecard
from core.store.ratings import Stored

A, B, ADA = Rater("a", "judge", "v2"), Rater("b", "judge", "v2"), Rater("Ada", "human")


def given(rater, score, *, turn=1, criterion="fluency", repeat=0):
    return Stored(rater, turn, criterion, score, "", repeat, None, "")


def test_a_rater_is_averaged_over_turns_and_repeats_and_then_the_raters():
    [line] = scorecard(
        [
            given(A, 4.0),
            given(A, 2.0, turn=2),
            given(A, 3.0, repeat=1),
            given(B, 5.0),
            given(ADA, 1.0, turn=None),
        ]
    )
    assert line.raters == {A: 3.0, B: 5.0, ADA: 1.0}, "a: (4 + 2 + 3) / 3"
    assert line.judges == 4.0, "(3 + 5) / 2: each judge counts once, whatever it rated"
    assert line.people == 1.0


def test_nobodys_mean_is_none():
    [line] = scorecard([given(ADA, 2.0)])
    assert line.judges is None
    assert scorecard([]) == []


def test_criteria_keep_their_order():
    lines = scorecard(
        [given(A, 1.0, criterion="z"), given(A, 1.0, criterion="b"), given(B, 1.0, criterion="z")]
    )
    assert [line.criterion for line in lines] == ["z", "b"]


def test_final_is_the_mean_of_what_counts_for_those_who_rated_all_of_it():
    rated = [
        given(A, 4.0), given(A, 1.0, criterion="wit"), given(A, 1.0, criterion="refusal"),
        given(B, 5.0), given(B, 2.0, criterion="wit"), given(ADA, 3.0, turn=None),
    ]  # fmt: skip
    line = final(scorecard(rated), ["fluency", "wit"])
    assert line.raters == {A: 2.5, B: 3.5}, "a: (4 + 1) / 2, b: (5 + 2) / 2; Ada rated one of the two"
    assert (line.judges, line.people) == (3.0, None)
    assert final(scorecard(rated), ["fluency"]) is None


def test_a_judge_asked_two_ways_is_told_apart_and_a_mock_models_is_called_one():
    other, simulated = Rater("a", "judge", "v3"), Rater("c", "judge", simulated=True)
    assert names([given(A, 1.0), given(other, 1.0), given(B, 1.0), given(simulated, 1.0)]) == {
        A: "a v2", other: "a v3", B: "b", simulated: "c (simulated)",
    }  # fmt: skip
