"""Pass or fail at a cut of the scale, by hand: shares of equal decisions, and the corrected pass rate."""

import pytest

from concord.statistics.confusion import crossed, decisions_at
from concord.statistics.ratings import read_ratings
from tests.statistics.frames import study

ROWS = [(5, 4)] * 8 + [(5, 2)] * 2 + [(1, 2)] * 9 + [(1, 4)]
"""People pass 10 of 20; of these the judge passes 8, of the 10 that they fail it passes 1."""

PEOPLE, JUDGE = (list(column) for column in zip(*ROWS, strict=True))


def decided(people, judge, **reading):
    """The row of the only judge, where 3 passes."""
    table = read_ratings(
        study({"ann": people}, {"j": judge}), criteria=["quality"], final_criteria=(), **reading
    )
    [row] = decisions_at(table, "quality", 3, resamples=50).rows
    return row


def test_shares_of_decisions_by_hand():
    """Sensitivity 8/10, specificity 9/10, precision 8/9, the same decision on 17 of 20. Of passes of 10 and 9
    of 20 half of the decisions are equal by chance: κ (.85 − .5)/.5.
    """
    row = decided(PEOPLE, JUDGE)
    names = ("sensitivity", "specificity", "precision", "accuracy", "kappa")
    assert [row[name].value for name in names] == pytest.approx([0.8, 0.9, 8 / 9, 0.85, 0.7])
    assert (row["n"], row["sensitivity"].n, row["precision"].n) == (20, 10, 9)
    assert row["kappa"].low < 0.7 < row["kappa"].high


def test_a_score_at_the_cut_passes():
    row = decided([3, 2.9999999999, 2, 4], [3, 3, 2, 2])
    assert (row["sensitivity"].value, row["specificity"].value) == (pytest.approx(2 / 3), 1)


def test_corrected_pass_rate_by_hand():
    """The judge passes 9 of the 20 that people scored and people 10. Of passes y and the judge's f, cov is
    (8 − 9·10/20)/19 = 3.5/19 and var(f) is (9 − 81/20)/19 = 4.95/19: λ = 70/99. Of 10 more it passes 7, so
    that of all 30 it passes 16/30: .5 + 70/99·(16/30 − 9/20).
    """
    row = decided([*PEOPLE, *[None] * 10], [*JUDGE, *[4] * 7, *[2] * 3])
    assert (row["people"].value, row["judge"].value) == pytest.approx((0.5, 16 / 30))
    assert row["corrected"].value == pytest.approx(0.5 + 70 / 99 * (16 / 30 - 9 / 20))


def test_a_judge_on_another_scale_decides_nothing():
    row = decided(PEOPLE, JUDGE, other_scale={"quality": {"j": "j answers 1 to 100"}})
    assert row["kappa"].reason == "j answers 1 to 100"
    assert row["n"] == 0


def test_crossed_answers_name_the_judge_as_it_is_called():
    """Annotators say 1, 1, 0 where the judge says 1, 0, 0."""
    ratings = read_ratings(
        study({"ann": [1, 1, 0]}, {"a_judge": [1, 0, 0]}), criteria=["quality"], final_criteria=()
    )
    table = crossed(ratings, "quality", "a_judge", {0: "fail", 1: "pass"}.__getitem__)
    assert [column.title for column in table.columns] == [" ", "a_judge: fail", "a_judge: pass"]
    assert [[*row.values()] for row in table.rows] == [["annotators: fail", 1, 0], ["annotators: pass", 1, 1]]
