"""Judges that lack ratings, and whether what they lack is chance."""

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from concord.statistics.missing import clustered_rank_test, lacking, rank_test
from concord.statistics.ratings import read_ratings
from tests.statistics.frames import judges, people, study


def test_the_rank_test_is_scipys():
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=300), rng.normal(0.2, 1, size=120)
    assert rank_test(x, y) == pytest.approx(stats.mannwhitneyu(x, y, method="asymptotic").pvalue)
    x, y = rng.normal(size=12), rng.normal(1, 1, size=5)
    assert rank_test(x, y) == pytest.approx(stats.mannwhitneyu(x, y, method="exact").pvalue)


def test_the_rank_test_by_hand():
    # Ranks 1, 2, 3 and 4, 5, 6: one of the 20 ways to choose three of six, so p = 2/20.
    assert rank_test(np.array([1.0, 2, 3]), np.array([4.0, 5, 6])) == pytest.approx(0.1)
    # 3 of 50 answers are yes, and all three are lacking: one of 19,600 ways, though z would be 6.9.
    rare = rank_test(np.zeros(47), np.ones(3))
    assert rare == pytest.approx(2 / 19_600)


def test_items_that_hang_together_count_once():
    """Ten scenarios of six alike items, of which a judge lacks two: not sixty items of which it lacks
    twelve."""
    quality = np.repeat([1.0, 1.5, 2, 2.5, 3, 3.5, 4, 4.5, 5, 5.5], 6)
    x, y, cluster = quality[12:], quality[:12], np.repeat(np.arange(10), 6)
    assert rank_test(x, y) < 1e-6
    p = clustered_rank_test(x, y, np.concatenate([cluster[12:], cluster[:12]]))
    assert 0.01 < p < 0.5


def test_what_cannot_be_tested_has_no_p():
    assert np.isnan(rank_test(np.array([1.0, 2]), np.arange(9.0)))
    assert np.isnan(rank_test(np.ones(5), np.ones(5)))
    assert np.isnan(clustered_rank_test(np.ones(5), np.ones(5), np.arange(10)))


def partial():
    """j lacks the four items that people rate 1; k has all."""
    quality = [1, 1, 1, 1, 2, 3, 4, 5, 2, 3, 4, 5]
    mine = [None] * 4 + quality[4:]
    return study({"ann": quality, "bob": quality}, {"j": mine, "k": [*quality[:-2], 2, 1]})


def test_a_judge_that_fails_on_bad_items_is_found():
    (row,) = lacking(read_ratings(partial()), "quality")
    assert (row.judge, row.rated, row.missing) == ("j", 8, 4)
    assert (row.mean_rated, row.mean_missing) == (3.5, 1)
    # The four lowest of twelve: one of 495 ways.
    assert row.p == pytest.approx(2 / 495)


def test_items_closed_to_judges_and_judges_who_were_not_asked_lack_nothing():
    closed = dict.fromkeys(range(4), "refused")
    assert not lacking(read_ratings(partial(), without_judges=closed), "quality")
    asked = pd.concat([partial(), people({"ann": [1, 2, 3, 4]}, "other")])
    assert not lacking(read_ratings(asked), "other")
    alone = read_ratings(judges({"j": [1, 2, None]}))
    assert not lacking(alone, "quality")
