"""One conversation's scores, by hand."""

from __future__ import annotations

from dataclasses import replace
from math import isnan

import pytest

from concord.questions import points
from concord.rating import Criterion, Rater
from concord.scores import (
    FINAL,
    final,
    finals_of,
    in_play,
    labels,
    no_final,
    panel,
    parts_of_finals,
    run_label,
    scorecard,
)

A, B, ADA = Rater("a", "judge", "v2"), Rater("b", "judge", "v2"), Rater("Ada", "human")
FLUENCY, WIT = Criterion("fluency", ""), Criterion("wit", "")
REFUSAL = Criterion("refusal", "", counted=False)
ASKED = {"bench": (FLUENCY, WIT, REFUSAL), "study:s": (FLUENCY, WIT), "study:t": (WIT,)}


def given(rater, *scores, criterion="fluency", scope=""):
    scope = scope or ("bench" if rater.kind == "judge" else "study:s")
    return (rater, rater.kind, scope, criterion), sum(scores), len(scores)


def finals(sums, criteria):
    """Each rater's final of one conversation with these sums."""
    asked, totals, counts = zip(*sums, strict=True)
    return finals_of(parts_of_finals(asked, criteria), totals, counts)


def card(sums, criteria=ASKED):
    """The scorecard of a conversation with these sums."""
    means = [(criterion, rater, total / n) for (rater, _, _, criterion), total, n in sums]
    of = finals(sums, criteria)
    return scorecard(means, {rater: value for rater, value in of.items() if not isnan(value)})


def test_a_rater_is_averaged_over_turns_and_repeats_and_then_the_raters():
    [line] = card([given(A, 4.0, 2.0, 3.0), given(B, 5.0), given(ADA, 1.0)])
    assert line.raters == {A: 3.0, B: 5.0, ADA: 1.0}, "a: (4 + 2 + 3) / 3"
    assert line.judges == 4.0, "(3 + 5) / 2: each judge counts once, whatever it rated"
    assert line.people == 1.0


def test_means_are_rounded_to_nine_digits():
    [line] = card([given(A, 4.0, 4.0, 3.0), given(B, 1.0)])
    assert (line.raters[A], line.judges) == (3.666666667, 2.333333333), "11 / 3 and (11 / 3 + 1) / 2"


def test_a_conditional_criterion_enters_final_where_it_was_answered():
    asked = {"bench": (FLUENCY, Criterion("place", "", conditional=True))}
    assert finals([given(A, 4.0), given(A, 2.0, criterion="place")], asked) == {A: 3.0}, "(4 + 2) / 2"
    assert finals([given(A, 4.0)], asked) == {A: 4.0}, "no judge answered it"


def test_nobodys_mean_is_none():
    [line] = card([given(ADA, 2.0)])
    assert line.judges is None
    assert scorecard([], {}) == []


def test_criteria_keep_their_order():
    lines = card([given(A, 1.0, criterion="z"), given(A, 1.0, criterion="b"), given(B, 1.0, criterion="z")])
    assert [line.criterion for line in lines] == ["z", "b"]


def test_final_is_the_mean_of_what_counts_for_those_who_rated_all_of_it():
    rated = [
        given(A, 4.0),
        given(A, 1.0, criterion="wit"),
        given(A, 1.0, criterion="refusal"),
        given(B, 5.0),
        given(B, 2.0, criterion="wit"),
        given(ADA, 3.0),
    ]
    line = card(rated)[-1]
    assert (line.criterion, line.raters) == (FINAL, {A: 2.5, B: 3.5}), (
        "(4 + 1) / 2, (5 + 2) / 2; Ada lacks wit"
    )
    assert (line.judges, line.people) == (3.0, None)


def test_final_is_no_line_of_its_own_beside_one_criterion():
    alone = card([given(ADA, 3.0, criterion="wit", scope="study:t")])
    assert [line.criterion for line in alone] == ["wit"]
    nobody = card([given(A, 3.0), given(A, 1.0, criterion="refusal")])
    assert [line.criterion for line in nobody] == ["fluency", "refusal"]


def test_one_criterion_of_two_is_no_final():
    found = finals([given(A, 5.0), given(A, 5.0, criterion="wit"), given(B, 1.0)], ASKED)
    assert found[A] == 5.0
    assert isnan(found[B])


def test_somebody_who_rated_in_two_studies_is_asked_what_both_ask():
    wit = given(ADA, 1.0, criterion="wit", scope="study:t")
    assert finals([wit], ASKED) == {ADA: 1.0}, "study t asks for wit alone"
    assert finals([wit, given(ADA, 3.0)], ASKED) == {ADA: 2.0}, "(1 + 3) / 2"
    both = [wit, given(ADA, 4.0), given(ADA, 2.0, criterion="wit")]
    assert finals(both, ASKED) == {ADA: 2.75}, "wit (1 + 2) / 2, fluency 4"


def test_a_rater_of_whom_nothing_counted_is_asked_has_no_final():
    assert (
        finals(
            [given(A, 1.0, criterion="toll", scope="other")],
            {"other": (Criterion("toll", "", counted=False),)},
        )
        == {}
    )


def test_what_is_in_play():
    sometimes = Criterion("place", "", conditional=True)
    criteria = (FLUENCY, sometimes, REFUSAL)
    assert in_play(criteria, {"refusal"}) == ("fluency",), "counted, whether or not anybody answered it"
    assert in_play(criteria, {"place"}) == ("fluency", "place"), (
        "a conditional criterion that somebody answered"
    )
    assert in_play((), ["a", "b"]) == ("a", "b"), "of unknown criteria, what was answered"


def test_weights_and_missing_scores():
    assert final([4.0, 1.0], [2.0, 1.0]) == 3.0, "(2 × 4 + 1) / 3"
    assert isnan(final([4.0, float("nan")]))
    assert isnan(final([4.0, float("nan")], [1.0, 0.0])), "a criterion without weight is asked all the same"
    for weights in ([1.0], [1.0, 1.0, 1.0]):
        with pytest.raises(ValueError, match="argument 2 is"):
            final([4.0, 1.0], weights)
    assert panel([3.0, 4.0]) == 3.5
    assert isnan(panel([3.0, float("nan")]))


def test_a_judge_asked_two_ways_is_told_apart():
    other, simulated = Rater("a", "judge", "v3"), Rater("c", "judge", simulated=True)
    raters = [A, other, B, simulated, A]
    assert labels(raters, mark_simulated=True) == {
        A: "a v2",
        other: "a v3",
        B: "b",
        simulated: "c (simulated)",
    }
    assert labels(raters)[simulated] == "c"
    mock = Rater("mock-judge", "judge", simulated=True)
    assert labels([mock], mark_simulated=True) == {mock: "mock-judge"}, "the name says it already"
    told = Rater("simulated Ann", "human", simulated=True)
    assert labels([told], mark_simulated=True) == {told: "simulated Ann"}
    assert run_label("a v2", 2) == "a v2 #3"


def test_scales_of_different_width_have_no_final():
    """By hand: 2 of 2 with 2 of 4, and 1 of 2 with 4 of 4, are both ¾ of what was possible; their means are 2
    and 2.5.
    """
    two, four = Criterion("depth", "", points(0, 2)), Criterion("overall", "", points(0, 4))
    assert in_play((two, four), {"depth", "overall"}) == ()
    assert no_final((two, four)).startswith(
        "There is no overall score: “Depth” from 0 to 2 and “Overall” from 0 to 4"
    )
    assert no_final((two, replace(four, scale=points(1, 3)))) == "", "equally wide"
    assert no_final((two, replace(four, scale=replace(points(0, 4), guessed=True)))) == "", "a guess"
    # Judges answer both from 1 to 5, so that theirs have a mean.
    judged = [replace(one, judged=points(1, 5)) for one in (two, four)]
    assert in_play(judged, {"depth", "overall"}, "judge") == ("depth", "overall")
