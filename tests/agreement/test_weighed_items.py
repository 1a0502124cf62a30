"""Figures of items drawn with unequal probabilities: weighed by hand, by copies, and by simulation."""

import math

import numpy as np
import pytest

from concord.statistics.figures import AS_DRAWN, WEIGHED
from concord.statistics.items import PLAYERS, within
from concord.statistics.judges import judge_figures
from concord.statistics.ratings import read_ratings
from concord.statistics.study import people_table, study_agreement
from concord.statistics.systems import systems
from concord.studies import sampling
from tests.agreement.frames import flat, study


def by_rater(table):
    return flat(table).set_index("rater")


def test_a_mean_by_hand():
    """Of twelve items four are drawn, with probabilities ½, ½, ¼, ¼. The judge's gaps 1, −1, 0, 2 sum to
    1·2 − 1·2 + 0·4 + 2·4 = 8 over all twelve (Horvitz and Thompson 1952), a mean of 8/12; the figure divides
    by the sum of weights 2 + 2 + 4 + 4 (Hájek 1971), here the same. Of the items as drawn it is 2/4.
    """
    ratings = study({"ann": [1, 3, 2, 4]}, {"j": [2, 2, 2, 6]})
    chances = {0: 0.5, 1: 0.5, 2: 0.25, 3: 0.25}
    weighed = by_rater(judge_figures(read_ratings(ratings, chances=chances), "quality", resamples=0))
    assert weighed.bias["j"] == pytest.approx(8 / 12)
    assert weighed.mae["j"] == pytest.approx((2 + 2 + 0 + 8) / 12)
    assert by_rater(judge_figures(read_ratings(ratings), "quality", resamples=0)).bias["j"] == 0.5


def test_an_item_of_half_the_probability_counts_as_two():
    """Weights of 1 and 2 give the correlations, spreads and errors of the study with copies of the latter."""
    rng = np.random.default_rng(3)
    quality = rng.integers(1, 6, 40)
    ann, ben, j = (np.clip(quality + rng.integers(-1, 2, 40), 1, 5) for _ in range(3))
    double = np.arange(40) < 15
    copies = np.concatenate([np.arange(40), np.flatnonzero(double)])
    weighed = read_ratings(
        study({"ann": ann, "ben": ben}, {"j": j, "k": quality}),
        chances={unit: 0.25 if double[unit] else 0.5 for unit in range(40)},
    )
    copied = read_ratings(
        study({"ann": ann[copies], "ben": ben[copies]}, {"j": j[copies], "k": quality[copies]})
    )
    for one, other in zip(
        *(judge_figures(of, "quality", resamples=0).rows for of in (weighed, copied)), strict=True
    ):
        for name in ("spearman", "kendall", "pearson", "bias", "sd_ratio", "mae"):
            assert one[name].value == pytest.approx(other[name].value), name
    players = {unit: f"p{unit % 3}" for unit in range(40)}
    of_copies = {place: players[unit] for place, unit in enumerate(copies.tolist())}
    one, other = (
        flat(within(PLAYERS, of, "quality", {"player": by}, resamples=0))
        for of, by in ((weighed, players), (copied, of_copies))
    )
    for name in ("bias", "spearman"):
        assert one[name].to_numpy(float) == pytest.approx(other[name].to_numpy(float), nan_ok=True), name
    # Alpha corrects for the number of ratings, which copies raise from 80 to 110.
    one, other = (
        study_agreement(of, resamples=0).criteria["quality"].alpha["interval"].value
        for of in (weighed, copied)
    )
    assert 1 - one == pytest.approx((1 - other) * 79 / 80 * 110 / 109)


def test_resamples_weigh_each_item_too():
    """The interval of a weighed mean covers what a bootstrap by hand of the weighed items covers."""
    rng = np.random.default_rng(0)
    gap = rng.normal(0, 1, 60)
    quality = rng.normal(3, 1, 60)
    weights = np.where(np.arange(60) < 20, 4.0, 1.0)
    table = read_ratings(study({"ann": quality}, {"j": quality + gap}), chances=dict(enumerate(1 / weights)))
    row = by_rater(judge_figures(table, "quality", resamples=2000)).loc["j"]
    drawn = rng.integers(0, 60, (4000, 60))
    means = (weights[drawn] * gap[drawn]).sum(axis=1) / weights[drawn].sum(axis=1)
    assert row.bias == pytest.approx(np.average(gap, weights=weights))
    effective = weights.sum() ** 2 / (weights**2).sum()
    assert effective == pytest.approx(120**2 / 360)
    assert (row.bias_high - row.bias_low) / 2 == pytest.approx(2.02 * means.std(), rel=0.08)


def test_an_item_that_outweighs_the_others_leaves_no_interval():
    """29 items of weight 1 and one of 1,000: (Σ w)²/Σ w² is 1,029²/1,000,029, about one item (Kish 1965)."""
    quality = np.arange(30) % 5 + 1.0
    ratings = study({"ann": quality}, {"j": quality + np.arange(30) % 3})
    weighed = read_ratings(ratings, chances={unit: 0.001 if unit == 7 else 1.0 for unit in range(30)})
    found = judge_figures(weighed, "quality", resamples=200).rows[0]["bias"]
    assert found.value == pytest.approx(1, abs=0.03), "that item's gap is 1"
    assert found.interval is None
    assert "too few" in found.reason
    assert judge_figures(read_ratings(ratings), "quality", resamples=200).rows[0]["bias"].interval


def test_weighed_figures_of_a_draw_are_those_of_all_items_and_plain_ones_are_not():
    """600 items of which a sixth is hard: judges disagree there, people too. 80 draws of 60 by the judges'
    disagreement: the mean of bias, MAE and alpha over draws is within four standard errors of that of all
    items where items are weighed, and further away where they are not.
    """
    rng = np.random.default_rng(5)
    hard = np.arange(600) % 6 == 0
    quality = rng.integers(1, 6, 600)
    ann, ben = (np.clip(quality + rng.integers(-2, 3, 600) * hard, 1, 5) for _ in range(2))
    spread = np.where(hard, rng.integers(1, 4, 600), rng.integers(0, 2, 600))
    j = quality + np.where(hard, 1.5, 0.1)
    every = study({"ann": ann, "ben": ben}, {"j": j})

    def figures(units, chances=None):
        table = read_ratings(every[every.unit.isin(units)], chances=chances)
        row = judge_figures(table, "quality", resamples=0).rows[0]
        alpha = study_agreement(table, resamples=0).criteria["quality"].alpha["interval"]
        return [row["bias"].value, row["mae"].value, alpha.value]

    whole = np.array(figures(range(600)))
    weighed, plain, random = [], [], []
    for seed in range(80):
        order, chance, simple = sampling.places_by_chance(range(600), 60, spread.astype(float), seed=seed)
        weighed.append(figures(order, dict(zip(order.tolist(), chance.tolist(), strict=True))))
        plain.append(figures(order))
        random.append(figures(order[:simple]))
    for drawn, alike in ((weighed, True), (random, True), (plain, False)):
        error = np.std(drawn, axis=0, ddof=1) / math.sqrt(80)
        assert ((np.abs(np.mean(drawn, axis=0) - whole) < 4 * error) == alike).all()


def test_each_table_says_which_figures_weigh_items():
    rng = np.random.default_rng(1)
    quality = rng.integers(1, 6, 30)
    ratings = study({"ann": quality, "ben": np.clip(quality + rng.integers(-1, 2, 30), 1, 5)}, {"j": quality})
    weighed = read_ratings(ratings, chances={unit: 0.2 + unit / 100 for unit in range(30)})
    said = judge_figures(weighed, "quality", resamples=20).notes[0]
    assert f"{WEIGHED}, but not in p, p, Holm, Commonest answer, Its share" in said
    assert WEIGHED in people_table(study_agreement(weighed, resamples=0)).notes[0]
    nothing = systems(weighed, "quality", {}, resamples=0).notes[0]
    assert AS_DRAWN in nothing
    assert WEIGHED not in judge_figures(read_ratings(ratings), "quality", resamples=20).notes[0]
    rater = study_agreement(weighed, resamples=0).criteria["quality"].judges[0]
    assert rater.p.reason == "no p-value: items do not count alike"
