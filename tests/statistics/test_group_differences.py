"""Groups in which a judge fails: exact for answers, by permutation for scores, a ranked list below a
claim."""

import numpy as np
import pytest
from scipy import stats

from concord.codes import Shown
from concord.statistics.group_differences import differences_table, fisher, group_differences
from concord.statistics.ratings import read_ratings
from tests.statistics.frames import study


@pytest.mark.parametrize(
    ("hits", "inside", "wrong", "items"), [(18, 60, 28, 300), (3, 5, 4, 9), (0, 5, 4, 9)]
)
def test_fishers_test_is_that_of_scipy(hits, inside, wrong, items):
    table = [[hits, inside - hits], [wrong - hits, items - inside - wrong + hits]]
    assert fisher(hits, inside, wrong, items) == pytest.approx(stats.fisher_exact(table, "greater").pvalue)


def answers(wrong_inside, wrong_outside, inside=60, items=300):
    """A judge wrong on so many items of the group, and of the others; people say yes and no in turn."""
    people = np.arange(items) % 2.0
    judge = people.copy()
    for start, wrong in ((0, wrong_inside), (inside, wrong_outside)):
        judge[start : start + wrong] = 1 - judge[start : start + wrong]
    table = read_ratings(study({"a": people.tolist(), "b": people.tolist()}, {"j": judge.tolist()}))
    return table, {n: "medical" if n < inside else "other" for n in range(items)}


def differences(table, topics, **about):
    return group_differences(table, "quality", {"topic": topics}, ["j"], nominal=True, **about)


def test_the_group_with_more_wrong_answers_is_named_and_its_p_is_exact():
    """18 of 60 beside 10 of 240, of two groups: twice Fisher's p."""
    [one] = differences(*answers(18, 10))
    assert (one.group, one.measure, one.n) == ("medical", "wrong", 60)
    assert (one.inside, one.outside) == pytest.approx((0.3, 10 / 240))
    assert one.p == pytest.approx(2 * fisher(18, 60, 28, 300))
    assert one.p < 1e-6


def test_many_rows_are_no_reason_to_say_nothing():
    """Of 30,000 rows the judge is wrong on 6 % of the group, 4 % of the others."""
    one = differences(*answers(360, 960, 6000, 30_000))[0]
    assert (one.group, one.p < 1e-6) == ("medical", True)
    rng = np.random.default_rng(1)
    quality = rng.normal(3, 1, 24_000)
    people = {name: (quality + rng.normal(0, 0.5, 24_000)).tolist() for name in "ab"}
    judge = quality + 0.2 * (np.arange(24_000) < 6000) + rng.normal(0, 0.5, 24_000)
    table = read_ratings(study(people, {"j": judge.tolist()}))
    topics = {n: "medical" if n < 6000 else "other" for n in range(24_000)}
    first = group_differences(table, "quality", {"topic": topics}, ["j"], nominal=False)[0]
    assert (first.measure, first.p < 0.001) == ("favours", True)


def test_a_judge_that_compresses_favours_no_player():
    rng = np.random.default_rng(4)
    players = np.arange(240) % 4
    quality = np.array([1.8, 2.6, 3.4, 4.2])[players] + 0.5 * rng.normal(size=240)
    people = {name: (quality + rng.normal(0, 0.5, 240)).tolist() for name in "ab"}
    of = {n: f"player {player}" for n, player in enumerate(players.tolist())}

    def first(extra):
        judge = 3 + 0.5 * (quality - 3) + extra * (players == 2) + rng.normal(0, 0.3, 240)
        table = read_ratings(study(people, {"j": judge.tolist()}))
        return group_differences(table, "quality", {"player": of}, ["j"], nominal=False)[0]

    assert first(0.0).p > 0.003
    one = first(0.8)
    assert (one.group, one.measure, one.inside > one.outside) == ("player 2", "favours", True)
    assert one.p <= 0.003


def test_items_that_hang_together_are_permuted_together():
    """Wrong answers that come in two whole clusters of 30 say less than sixty of their own."""
    table, topics = answers(30, 0, 60, 240)
    clusters = {n: n // 30 for n in range(240)}
    alone, together = (differences(table, topics, clusters=of)[0].p for of in (None, clusters))
    assert alone < 1e-6
    assert together > 0.1


def test_below_a_claim_the_largest_stand_as_a_list():
    table = differences_table(differences(*answers(5, 12)), 0.003)
    [row] = table.rows
    assert row["group"] == "medical"
    assert row["shown"] == Shown.NOT_SHOWN
    assert table.caption.startswith("No difference between groups is shown.")
    assert [len(part.rows) for part in table.divided()] == [0, 1]
    assert differences_table(differences(*answers(18, 10)), 0.003).rows[0]["shown"] == Shown.SHOWN
    assert differences(*answers(2, 8)) == [], "the group has no larger share"
