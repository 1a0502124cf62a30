"""Means that judges gave to everything, corrected by what people gave to some of it."""

import numpy as np
import pytest

from concord.statistics.corrected import corrected_mean


def arrays(*lists):
    return [np.array(values, dtype=float) for values in lists]


def test_by_hand():
    """Judges are one point lower than people, else alike.

    People's mean 4, judges' 3 on these and 3.5 on all eight, so λ = 1 and θ = 4 + 1 · (3.5 − 3) = 4.5. var(y)
    = var(f) = cov = 8/3, M/N = 1/2: variance (8/3 − 2·8/3·½ + 8/3·½)/4 = 1/3; t(0.975; 2) = 4.30265; half
    width 4.30265 · √(1/3) = 2.48414. Worth 4 · (8/3)/(4/3) = 8: with perfect judges everything is as good as
    scored by people.
    """
    found = corrected_mean(*arrays([2, 4, 4, 6], [1, 3, 3, 5], [3, 3, 4, 6]))
    assert (found.people.n, found.judges.n, found.people.value, found.judges.value) == (4, 8, 4.0, 3.5)
    assert found.weight.value == pytest.approx(1)
    assert found.value.value == pytest.approx(4.5)
    assert found.value.high - found.value.value == pytest.approx(2.48414, abs=1e-5)
    assert found.worth.value == pytest.approx(8)


def test_another_scale_makes_no_difference():
    people, judged, others = arrays([2, 4, 4, 6, 5], [1, 3, 4, 5, 3], [3, 3, 4, 6])
    once, ten = (
        corrected_mean(people, judged, others),
        corrected_mean(people, 10 * judged - 7, 10 * others - 7),
    )
    assert (ten.value.value, ten.value.low, ten.worth.value) == pytest.approx(
        (once.value.value, once.value.low, once.worth.value)
    )
    assert ten.weight.value == pytest.approx(once.weight.value / 10)


@pytest.mark.parametrize(
    "judged", [[3, 3, 3, 3], [5, 3, 3, 1]], ids=["always the same", "the other way round"]
)
def test_judges_who_do_not_follow_people_change_nothing(judged):
    found = corrected_mean(*arrays([2, 4, 4, 6], judged, [1, 5, 2]))
    assert (found.weight.value, found.value.value, found.worth.value) == (0, 4.0, 4.0)


def test_without_further_items_it_is_peoples_mean():
    found = corrected_mean(*arrays([2, 4, 4, 6], [1, 3, 2, 5], []))
    assert found.value.value == found.people.value == 4.0
    assert found.worth.value == pytest.approx(4)


def test_people_who_always_say_the_same_leave_no_spread():
    found = corrected_mean(*arrays([3, 3, 3, 3], [1, 2, 3, 4], [5, 5]))
    assert (found.value.value, found.value.interval, found.worth.value) == (3.0, None, None)
    assert found.value.reason == "no interval: the corrected mean has no error"


def test_people_who_all_say_5_have_an_interval_with_width():
    """5 × 8, 1 and 5: mean 4.6, variance (9 · 0.16 + 12.96) / 9 = 1.6, t₉ = 2.2622: 4.6 ± 2.2622 · 0.4."""
    found = corrected_mean(np.full(8, 5.0), np.array([1.0, 2, 3, 4] * 2), np.ones(20), scale=(1, 5))
    assert found.value.value == 5
    assert found.value.interval == pytest.approx((4.6 - 2.262157 * 0.4, 5))


def test_the_worth_by_pearsons_r():
    """n / (1 − share·r²), where the share of items without people is 60 of 80."""
    rng = np.random.default_rng(1)
    judged = rng.normal(size=20)
    people = judged + 0.5 * rng.normal(size=20)
    worth = corrected_mean(people, judged, rng.normal(size=60)).worth
    assert worth.value == pytest.approx(20 / (1 - 0.75 * np.corrcoef(people, judged)[0, 1] ** 2))


@pytest.mark.parametrize("n", [0, 3])
def test_too_few_items_of_people_are_undefined(n):
    found = corrected_mean(*arrays(range(n), range(n), [1, 2]))
    assert found.value.value is None
    assert "too few" in found.value.reason or found.value.reason == "no item with annotators"
    assert found.judges.value == pytest.approx(np.mean([*range(n), 1, 2]))


def test_unequal_items_are_refused():
    with pytest.raises(ValueError, match="same items"):
        corrected_mean(*arrays([1, 2], [1], []))


def test_intervals_hold_the_truth_and_are_narrower_than_peoples_own():
    """2,000 draws of 30 items with people among 300; judges lean by 0.7 and follow people with r = 0.8.

    The truth is 3.
    """
    rng = np.random.default_rng(5)
    held, widths, worth = 0, [], []
    for _ in range(2000):
        quality = rng.normal(3, 0.8, 300)
        people, judges = quality + rng.normal(0, 0.3, 300), 0.7 + quality + rng.normal(0, 0.4, 300)
        found = corrected_mean(people[:30], judges[:30], judges[30:])
        held += found.value.low <= 3 <= found.value.high
        widths.append((found.value.high - found.value.low) / (2 * 2.045 * people[:30].std(ddof=1) / 30**0.5))
        worth.append(found.worth.value)
    assert 0.935 < held / 2000 < 0.965
    assert np.median(widths) < 0.75
    # r² = 0.64²/(0.73 · 0.80) = 0.70; 30/(1 − 0.70 · 0.9) = 81.
    assert np.median(worth) == pytest.approx(81, rel=0.1)
