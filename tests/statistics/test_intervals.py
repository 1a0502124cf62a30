"""Intervals from a standard error: hand arithmetic, and what must never be printed."""

from __future__ import annotations

import math
import re
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

from concord.statistics.claims import p_above
from concord.statistics.correlation import correlated, correlation, point
from concord.statistics.intervals import (
    BIAS,
    CORRELATION,
    DIFFERENCE,
    MAE,
    ORDER,
    PAIRWISE_ACCURACY,
    PILED_UP,
    alpha,
    bounded,
    bounded_mean,
    described,
    holm,
    of_kappa,
    resampled,
    simultaneous,
    simultaneous_differences,
)
from concord.statistics.resampling import bootstrap


def ends(value, drawn, n, kind=DIFFERENCE, **options):
    """The ends of the interval of a figure of `n` items."""
    return resampled(value, drawn, n=n, kind=kind, **options).interval


def test_a_bounded_mean_at_the_ends_is_students_t_with_one_more_at_each():
    """Of 1, 5, 1, 5, 5, 1, 5, 1 on 1–5 with 1 and 5 added: scipy's t interval of the ten values."""
    values = np.array([1, 5, 1, 5, 5, 1, 5, 1.0])
    low, high = bounded_mean(values.mean(), values.std(ddof=1) / math.sqrt(8), 8, (1, 5))
    ten = np.append(values, [1, 5])
    expected = stats.t.interval(0.95, 9, ten.mean(), ten.std(ddof=1) / math.sqrt(10))
    assert (low, high) == pytest.approx(expected, abs=1e-12)


def test_observations_at_the_ends_count_less_for_close_values():
    """Of 4, 4, 2, 3, 5, 4, 4, 2: mean 3.5, Σ(x − m)² = 8, M = 2.5 · 1.5 = 3.75.

    w = 11.75 / (9 · 3.75) = 0.348148; total 8.696296; mean (28 + 6w) / total = 3.459966; squares
    8 + 8 · 0.040034² + w · (2.459966² + 1.540034²) = 10.945295; variance 10.945295 / 7.696296 = 1.422151, of
    the mean 0.163535; t with 7.696296 degrees.
    """
    values = np.array([4, 4, 2, 3, 5, 4, 4, 2.0])
    low, high = bounded_mean(3.5, values.std(ddof=1) / math.sqrt(8), 8, (1, 5))
    half = stats.t.ppf(0.975, 7.696296) * math.sqrt(0.163535)
    assert (low, high) == pytest.approx((3.459966 - half, 3.459966 + half), abs=1e-5)


def test_the_mean_of_the_papers_players_has_an_interval_of_its_own_spread():
    """Mean 4.62, SD 0.28, 64 conversations: t₆₃ · 0.28 / 8 = 0.0699; with 1 and 5 in full it is 0.127.

    Σ = 63 · 0.0784 = 4.9392, M = 3.62 · 0.38 = 1.3756, w = 6.3148 / (65 · 1.3756) = 0.070625; total 64.14125;
    mean (295.68 + 0.42375) / total = 4.616432; squares 4.9392 + 64 · 0.003568² + w · (3.616432² +
    0.383568²) = 5.874059; over 63.14125 and total: 0.00145040; t 1.998254: 4.616432 ± 0.076102.
    """
    ends = bounded_mean(4.62, 0.28 / 8, 64, (1, 5))
    assert ends == pytest.approx((4.616432 - 0.076102, 4.616432 + 0.076102), abs=1e-5)


def test_a_corrected_mean_counts_the_ends_in_full():
    """Of 4, 4, 2, 3, 5, 4, 4, 2 with 1 and 5 added: scipy's t interval of the ten values."""
    values = np.array([4, 4, 2, 3, 5, 4, 4, 2.0])
    ends = bounded_mean(3.5, values.std(ddof=1) / math.sqrt(8), 8, (1, 5), weight=1.0)
    ten = np.append(values, [1, 5])
    assert ends == pytest.approx(
        stats.t.interval(0.95, 9, ten.mean(), ten.std(ddof=1) / math.sqrt(10)), abs=1e-12
    )


def test_eight_people_who_all_say_5_have_an_interval_with_width():
    """5 × 8, 1 and 5: mean 4.6, variance (9 · 0.16 + 12.96) / 9 = 1.6, t₉ = 2.2622: 4.6 ± 2.2622 · 0.4."""
    low, high = bounded_mean(5, 0, 8, (1, 5))
    assert low == pytest.approx(4.6 - 2.262157 * 0.4, abs=1e-6)
    assert high == 5


def test_a_mean_outside_its_scale_is_an_error():
    with pytest.raises(ValueError, match="does not lie on the scale 1 to 5"):
        bounded_mean(5.5, 0.1, 8, (1, 5))


def test_a_correlation_is_value_and_error_on_fishers_scale():
    """z = atanh(0.5) = 0.549306; its resamples are ±0.2 about it: SD 0.205196 · √(20/19), t₁₈ = 2.100922."""
    z = 0.5493061443 + np.array([0.2, -0.2] * 10)
    low, high = ends(0.5, np.tanh(z), 20, CORRELATION)
    half = 2.1009220402 * 0.2051956704 * math.sqrt(20 / 19)
    assert (low, high) == pytest.approx((math.tanh(0.5493061443 - half), math.tanh(0.5493061443 + half)))


def test_few_items_have_no_interval():
    x = np.array([1.0, 2, 3, 4])
    own, drawn = bootstrap([correlation(x, x)], 4, resamples=200, seed=0)
    assert own[0] == 1
    figure = resampled(own[0], drawn[0], n=4, kind=CORRELATION)
    assert figure.interval is None
    assert figure.reason == "no interval: 4 items are too few, at least 8 are needed"


def test_a_perfect_correlation_never_prints_1_to_1():
    x = np.arange(20.0)
    own, drawn = bootstrap([correlation(x, x)], 20, resamples=200, seed=0)
    figure = resampled(own[0], drawn[0], n=20, kind=CORRELATION)
    assert figure.interval is None
    assert figure.reason == "no interval: all resamples have the same value"


def test_equal_answers_have_an_exact_bound():
    """Of 40 equal answers, 18 of them the rarer: with 0 of 40 unequal, Clopper and Pearson's (1934) upper end
    is 1 − .025^(1/40) = 8.8%. p_e = .45² + .55² = .505, so that κ is at least 1 − .088 / .495 = .82.
    """
    figure = resampled(1.0, np.ones(200), n=40, kind=of_kappa(18, 40))
    upper = stats.binomtest(0, 40).proportion_ci(method="exact").high
    assert figure.interval == pytest.approx((1 - upper / 0.495, 1.0))
    assert figure.low == pytest.approx(0.822, abs=0.001)


def test_a_constant_kappa_of_0_has_no_interval():
    """A rater who gives one answer to all items has κ = 0: nothing is equal there."""
    assert resampled(0.0, np.zeros(200), n=40, kind=of_kappa(18, 40)).interval is None


def test_equal_scores_have_a_bound_of_their_order():
    """Of 1 to 5 each 20 times ranks spread by (1 − 5 · .2³) / 12; a share u of items, each the whole range of
    ranks off, takes at most u · 6 / (1 − .2²) from ρ.
    """
    score = np.repeat(np.arange(1.0, 6), 20)
    figure = correlated(score, score)
    assert figure.kind.unequal == pytest.approx(6 / (1 - 0.2**2))
    end = resampled(1.0, np.ones(200), n=100, kind=figure.kind)
    assert end.low == pytest.approx(1 - 6.25 * (1 - 0.025 ** (1 / 100)))


def test_the_tail_beyond_an_exact_bound_is_no_lighter():
    """That u of items are unequal has p = (1 − u)^n at 0 of n: about e^(−nu), against Student's t with 6."""
    figure = resampled(1.0, np.ones(200), n=40, kind=of_kappa(20, 40))
    for share in (0.0074, 0.005, 0.001):
        unequal = 1 - share ** (1 / 40)
        assert p_above(figure, 1 - 2 * unequal) >= share


@pytest.mark.parametrize("n", [8, 20, 200])
def test_the_interval_of_a_correlation_holds_the_value_and_stays_below_1(n):
    rng = np.random.default_rng(n)
    x = rng.normal(size=n)
    y = x + rng.normal(0, 0.4, n)
    own, drawn = bootstrap([correlation(x, y)], n, resamples=500, seed=1)
    low, high = ends(own[0], drawn[0], n, CORRELATION)
    assert -1 < low < own[0] < high < 1
    assert own[0] == pytest.approx(point(x, y))


def test_a_difference_is_value_and_t_times_the_error():
    """SD of 1, 2, …, 9 is 2.738613, × √(9/8); t₈ = 2.306004."""
    low, high = ends(5, np.arange(1.0, 10), 9)
    assert high - 5 == pytest.approx(2.3060041350 * 2.7386127875 * math.sqrt(9 / 8))
    assert 5 - low == pytest.approx(high - 5)


def test_a_figure_that_is_often_undefined_has_no_interval():
    drawn = np.where(np.arange(100) < 6, np.nan, np.arange(100.0))
    assert resampled(50, drawn, n=30).reason == "no interval: undefined in 6% of the resamples"
    assert resampled(50, drawn[2:], n=30).reason == ""


def test_a_share_equal_in_all_resamples_has_an_interval_with_width():
    """Fifty of fifty, 0 and 1 added: mean 51/52, variance (51/52)/51 = 1/52, t₅₁ = 2.007584."""
    low, high = ends(1, np.ones(100), 50, bounded(0, 1))
    assert low == pytest.approx(51 / 52 - 2.0075837703 / 52)
    assert high == 1


def test_alpha_that_rests_on_few_items_has_no_interval():
    drawn = np.linspace(0.4, 0.6, 100)
    assert resampled(0.5, drawn, n=200, kind=alpha(10, 15)).reason == ""
    assert resampled(0.5, drawn, n=200, kind=alpha(9, 15)).reason == (
        "no interval: 9 items with a rating other than the commonest are too few, at least 10 are needed"
    )


def test_alpha_of_ratings_that_pile_up_says_its_interval_is_narrow():
    assert alpha(24, 50).short == PILED_UP
    assert alpha(25, 50).short == ""
    assert PILED_UP in described([alpha(24, 50)])
    assert PILED_UP not in described([alpha(24, 50)], like_these=True)


def test_intervals_that_hold_too_seldom_say_so_where_they_are_described():
    assert "intervals of MAE hold in" in described([MAE, BIAS])
    assert "intervals of bias" not in described([MAE, BIAS])
    assert "intervals of bias for annotators like few hold in" in described([MAE, BIAS], like_these=True)
    assert "MAE" not in described([MAE, BIAS], like_these=True)


def test_a_figure_says_the_least_share_that_the_docs_have_of_its_intervals():
    """Cells of docs/intervals.md below .92, “0.70 of 20%” being .70, each beside the note of its figure."""
    notes = {
        "alpha, ordinal": PILED_UP,
        "alpha, interval": PILED_UP,
        "bias": BIAS.short_like_these,
        "pairwise accuracy": PAIRWISE_ACCURACY.short,
        "Kendall's tau of two judges": ORDER.short,
    }
    table = (Path(__file__).parents[2] / "docs" / "intervals.md").read_text(encoding="utf-8")
    short = {}
    # The table of rare answers has intervals with n − 2 degrees beside those that are printed.
    measured = table.split("## How often they hold")[1]
    rare_answers = measured.split("| share of yes, true κ |")[1].split("\n\n")[0]
    for line in measured.replace(rare_answers, "").split("\n"):
        figure, *cells = (cell.strip() for cell in line.strip("|").split("|"))
        held_in = [100 * float(share) for share in re.findall(r"(?:^| )(0\.\d\d|1\.00)", " ".join(cells))]
        if len(cells) > 1 and held_in and (least := held_in[0] if len(cells) == 2 else min(held_in)) < 92:
            short[figure] = min(least, short.get(figure, 100))
    assert {*short} == {*notes}
    for figure, least in short.items():
        assert int(re.search(r"hold in (\d+)", notes[figure])[1]) <= round(least), figure


def test_without_resamples_there_is_no_interval():
    assert resampled(0.5, np.empty(0), n=20).reason == "no interval: no resamples were drawn"


def test_figures_that_hold_together_are_as_wide_as_the_largest_of_their_t():
    """Two independent normal figures: both |t| are below c with probability (2Φ(c) − 1)² = .95 at c = 2.236,
    which is 1.141 times 1.960. A figure alone, or beside its copy, is not widened.
    """
    drawn = np.random.default_rng(0).normal(size=(2, 200_000))
    assert simultaneous(drawn, 50) == pytest.approx(2.236 / 1.960, abs=0.01)
    assert simultaneous(drawn[:1], 50) == pytest.approx(1, abs=0.01)
    assert simultaneous(drawn[[0, 0]], 50) == pytest.approx(1, abs=0.01)


def test_the_differences_of_three_figures_hold_together():
    """Of three independent normal figures it is Tukey's: the studentised range's 3.314 / √2 over 1.960."""
    drawn = np.random.default_rng(0).normal(size=(3, 200_000))
    assert simultaneous_differences(drawn) == pytest.approx(3.3145 / math.sqrt(2) / 1.960, abs=0.01)


def test_holm_by_hand():
    """0.01 · 3, 0.02 · 2 and 0.4 · 1; 0.02 · 3, 0.03 · 2 and 0.04 · 1, none below the one before it."""
    assert holm(np.array([0.02, 0.4, 0.01])).tolist() == pytest.approx([0.04, 0.4, 0.03])
    found = holm(np.array([0.02, math.nan, 0.03, 0.04]))
    assert found[[0, 2, 3]].tolist() == pytest.approx([0.06, 0.06, 0.06])
    assert math.isnan(found[1])


def test_annotators_add_their_own_variance():
    """The resamples are ±1 about 2: SE² = 20/19 · 20/19. Jackknife of 1, 2, 3: 2/3 · 2 = 4/3. The variance is
    their sum, with (items)² / 19 + (4/3)² / 2 below its square for the degrees of freedom.
    """
    drawn = 2 + np.array([1.0, -1.0] * 10)
    by_items, by_people = (20 / 19) ** 2, 4 / 3
    low, high = ends(2, drawn, 20, without_each=np.array([1.0, 2, 3]))
    freedom = (by_items + by_people) ** 2 / (by_items**2 / 19 + by_people**2 / 2)
    assert high - 2 == pytest.approx(stats.t.ppf(0.975, freedom) * math.sqrt(by_items + by_people))
    assert 2 - low == pytest.approx(high - 2)


def test_two_annotators_say_nothing_about_annotators_like_them():
    figure = resampled(2, np.arange(20.0), n=20, without_each=np.array([1.0, 3]))
    assert figure.reason == "no interval: fewer than three annotators can be held out"
