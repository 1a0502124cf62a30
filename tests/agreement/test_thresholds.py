"""Pass or fail at a cut of the scale, by hand: error rates, the corrected pass rate."""

import numpy as np
import pandas as pd
import pytest

from concord.statistics.intervals import held
from concord.statistics.ratings import read_ratings
from concord.statistics.thresholds import FEWEST, FEWEST_SURE, FOLDS, folds, thresholds

from .frames import study

ROWS = [(5, 4)] * 8 + [(5, 2)] * 2 + [(1, 2)] * 9 + [(1, 4)]
"""People pass 10 of 20; of these the judge passes 8, of the 10 that they fail it passes 1."""

PEOPLE, JUDGE = (list(column) for column in zip(*ROWS, strict=True))


def table(people, judge):
    return read_ratings(study({"ann": people}, {"j": judge}), criteria=["quality"], counted=())


def decided(ratings, cut=3, **drawing):
    """The row of the only judge."""
    [row] = thresholds(ratings, "quality", cut, {}, **drawing)[0].rows
    return row


def test_error_rates_by_hand():
    """Two scores leave one cut, 4: sensitivity 8/10, specificity 9/10, precision 8/9, the same decision on
    17 of 20. Of passes of 10 and 9 of 20 half of the decisions are equal by chance: κ (.85 − .5)/.5.
    """
    row = decided(table(PEOPLE, JUDGE), resamples=200)
    assert (row["n"], row["cut"]) == (20, 4.0)
    found = {
        name: row[name].value for name in ("sensitivity", "specificity", "precision", "accuracy", "kappa")
    }
    assert found == pytest.approx(
        {"sensitivity": 0.8, "specificity": 0.9, "precision": 8 / 9, "accuracy": 0.85, "kappa": 0.7}
    )
    assert (row["sensitivity"].n, row["specificity"].n, row["precision"].n) == (10, 10, 9)
    assert row["sensitivity"].low < 0.8 < row["sensitivity"].high


def test_corrected_pass_rate_by_hand():
    """The judge passes 9 of the 20 that people scored and people 10. Of passes y and the judge's f, cov is
    (8 − 9·10/20)/19 = 3.5/19 and var(f) is (9 − 81/20)/19 = 4.95/19: λ = 70/99. Of 10 more it passes 7, so
    that of all 30 it passes 16/30: .5 + 70/99·(16/30 − 9/20). Of player a alone people's own rate stays.
    """
    people, judge = [*PEOPLE, *[None] * 10], [*JUDGE, *[4] * 7, *[2] * 3]
    players = {unit: "a" if unit < 20 else "b" for unit in range(30)}
    whole, rates = thresholds(table(people, judge), "quality", 3, players, resamples=200)
    assert [row["group"] for row in rates.rows] == ["a", "b"]
    every, a, b = whole.rows[0], *rates.rows
    assert [row["judge"].value for row in (every, a, b)] == pytest.approx([16 / 30, 9 / 20, 7 / 10])
    assert every["corrected"].value == pytest.approx(0.5 + 70 / 99 * (16 / 30 - 9 / 20))
    assert a["corrected"].value == pytest.approx(0.5)
    assert b["corrected"].value is None, "nobody rated the items of b"
    assert (every["people"].value, a["people"].value, b["people"].value) == (0.5, 0.5, None)
    assert every["corrected"].low < 0.5 < every["corrected"].high


def test_a_judge_is_decided_by_a_cut_of_its_own():
    """A judge that is two points stricter, on another scale, decides as people do."""
    people = [1, 1, 2, 2, 4, 4, 5, 5] * 4
    judge = [10 * score - 40 for score in people]
    row = decided(table(people, judge), resamples=50)
    assert (row["cut"], row["accuracy"].value) == (0.0, 1.0)
    assert row["accuracy"].low < row["sensitivity"].high == 1


def test_the_cut_is_chosen_on_other_items():
    """Of 60 chance labels the best cut of the same items has J of about .25; out of fold it has none."""
    found = []
    for seed in range(30):
        rng = np.random.default_rng(seed)
        people, judge = rng.choice([1, 5], 60).tolist(), rng.random(60).tolist()
        row = decided(table(people, judge), resamples=0)
        found.append(row["sensitivity"].value + row["specificity"].value - 1)
    assert np.mean(found) < 0.05


def test_a_judge_that_favours_a_player_does_not_move_its_corrected_rate():
    """The judge passes all of player a: people passed half of 60 items, and half of the others they would."""
    people = [5, 1] * 30 + [None] * 60
    judge = [4, 4] * 60
    judge[1::4] = [2] * 30
    row = decided(table(people, judge), resamples=20)
    assert row["judge"].value == 0.75
    assert row["corrected"].low < 0.5 < row["corrected"].high


@pytest.mark.parametrize(
    ("people", "judge", "why"),
    [
        ([5] * 20, JUDGE, "people pass 20 and fail 0 of 20 items"),
        (PEOPLE, [3] * 20, "gives all of them the same score"),
        (PEOPLE, [None] * 20 + [1], "no item in common"),
        ([5, 1], [4, 2], "4 of each are needed"),
    ],
    ids=["nobody fails", "one score", "no item in common", "two items"],
)
def test_what_cannot_be_said_has_a_reason(people, judge, why):
    ratings = table(people, judge)
    whole, rates = thresholds(ratings, "quality", 3, {0: "a", 1: "b"}, resamples=20)
    names = ("sensitivity", "precision", "cut", "kappa", "corrected")
    assert all(why in row[name].reason for row in whole.rows for name in names)
    assert all(why in row["corrected"].reason for row in rates.rows)


def test_clusters_share_a_fold():
    clusters = np.repeat(np.arange(20), 3)
    found = folds(np.ones(60, dtype=bool), seed=4, clusters=clusters)
    assert all(len(set(found[clusters == cluster])) == 1 for cluster in range(20))
    assert np.bincount(found).tolist() == [12] * FOLDS
    assert folds(np.array([True, False, True])).tolist() in ([0, -1, 1], [1, -1, 0])


def test_the_order_of_rows_changes_nothing():
    rows = study({"ann": PEOPLE}, {"j": JUDGE})
    shuffled = rows.sample(frac=1, random_state=3)
    first, second = (
        thresholds(read_ratings(frame, counted=()), "quality", 3, {}, resamples=50)[0].rows
        for frame in (rows, pd.DataFrame(shuffled))
    )
    assert first == second


def test_people_beside_a_judge_are_those_of_the_items_it_scored():
    """People pass 20 of 40, the judge scored the last 30 of them: people pass 10 of these 30."""
    people = [5] * 10 + [5] * 10 + [1] * 20
    judge = [None] * 10 + [4, 5] * 5 + [1, 2] * 10
    row = decided(table(people, judge), resamples=0)
    assert (row["people"].value, row["people"].n) == (pytest.approx(1 / 3), 30)


def test_four_passes_and_four_fails_are_enough():
    enough = decided(table([5] * FEWEST + [1] * 4, [4, 4, 4, 2] + [2] * 4))
    few = decided(table([5] * (FEWEST - 1) + [1] * 5, [4, 4, 2] + [2] * 5))
    assert enough["specificity"].value == 1
    assert few["specificity"].value is None
    short = held("the corrected rate of few passes or fails", 89)
    for passed, said in ((FEWEST, True), (FEWEST_SURE, False)):
        people = [5] * passed + [1] * 20
        [rates] = thresholds(table(people, people), "quality", 3, {}, resamples=20)
        assert (short in str(rates.notes[0])) == said
