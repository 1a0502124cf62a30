"""Which items people should rate next: probabilities and estimators by hand, and how many more."""

import math
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from concord.estimate import estimate, undefined
from concord.statistics.corrected import corrected_mean
from concord.statistics.next_items import by_disagreement, chances, expected_error
from concord.statistics.planning import NEEDED, answer, designs, needed
from concord.statistics.ratings import read_ratings
from concord.studies import sampling
from tests.agreement.frames import flat, people, study


def test_probabilities_by_hand():
    """Sizes 1.5, 1.5, 2, 3 sum to 8; two are drawn, so a quarter of each: 0.375, 0.375, 0.5, 0.75."""
    assert chances(np.array([1.5, 1.5, 2, 3]), 2) == pytest.approx([0.375, 0.375, 0.5, 0.75])


def test_an_item_of_large_error_is_certain_and_the_others_share_the_rest():
    """100 of 103 would be 2.9 of 3: certain; two are left for three equal ones."""
    assert chances(np.array([1.0, 1, 1, 100]), 3) == pytest.approx([2 / 3, 2 / 3, 2 / 3, 1])
    assert chances(np.ones(4), 4) == pytest.approx(np.ones(4))


def test_a_draw_has_the_probabilities_it_states():
    """Of 4,000 seeds each candidate is drawn as often as its probability says, within five standard errors,
    the number drawn is always the same, and each is as often in the simple random sample of one in four.
    """
    names, size = [f"u{i}" for i in range(12)], np.arange(1.0, 13)
    drawn, simple, p = np.zeros(12), np.zeros(12), np.zeros(12)
    for seed in range(4000):
        order, chance, first = sampling.places_by_chance(names, 4, size, seed=seed)
        assert (len(set(order.tolist())), first) == (4, 1)
        drawn[order] += 1
        simple[order[:first]] += 1
        p[order] = chance
    assert p.sum() == pytest.approx(4)
    assert (np.abs(drawn / 4000 - p) < 5 * np.sqrt(p * (1 - p) / 4000) + 0.01).all()
    assert simple / 4000 == pytest.approx(np.full(12, 1 / 12), abs=5 * math.sqrt(11 / 144 / 4000))


def test_the_simple_random_sample_and_the_others_by_hand():
    """Sizes 1, 1, 2, 4 and two drawn, half of them at random: of four names one enters with 1/4, and then
    one of three. Of all four that is (2 − 1)·4/(4 − 1) = 4/3 of sizes 1, 1, 2, 4 of 8: 1/6, 1/6, 1/3, 2/3.
    So 1/4 + 3/4·1/6 = 3/8, 3/8, 1/2, 3/4, as with a floor of one half.
    """
    sizes = np.array([1.0, 1, 2, 4])
    found = {}
    for seed in range(20):
        order, chance, _ = sampling.places_by_chance("abcd", 2, sizes, seed=seed, share=0.5)
        found |= dict(zip(order.tolist(), chance.tolist(), strict=True))
    assert [found[place] for place in range(4)] == pytest.approx([0.375, 0.375, 0.5, 0.75])


def test_the_order_of_candidates_changes_no_draw():
    table = pd.DataFrame({"unit": [f"u{i}" for i in range(30)]})
    size = np.arange(1.0, 31)
    again = np.random.default_rng(0).permutation(30)
    one = sampling.draw_by_chance(table, 8, size, seed=3)
    other = sampling.draw_by_chance(table.iloc[again], 8, size[again], seed=3)
    assert one.unit.tolist() == other.unit.tolist()
    assert one.chance.tolist() == pytest.approx(other.chance.tolist())


def test_weights_by_hand():
    """Chances ½, ½, ¼, ¼ weigh 2, 2, 4, 4 of 12: people 2, 4, 4, 6 have mean (4 + 8 + 16 + 24)/12 = 13/3, the
    judges' 1, 3, 3, 5, one less, 10/3, and 3.5 over all eight; λ = 1, so θ = 13/3 + 3.5 − 10/3 = 4.5.
    Residuals are 0; var(y)/N with shares 2, 2, 4, 4 of 12 and 4/3 for n − 1 is all the variance.
    """
    arrays = [np.array(v, dtype=float) for v in ([2, 4, 4, 6], [1, 3, 3, 5], [4, 4, 4, 4])]
    found = corrected_mean(*arrays, chance=np.array([0.5, 0.5, 0.25, 0.25]))
    assert found.people.value == pytest.approx(13 / 3)
    assert found.value.value == pytest.approx(4.5)
    variance = ((7 / 3) ** 2 * 2 + (1 / 3) ** 2 * 2 + (1 / 3) ** 2 * 4 + (5 / 3) ** 2 * 4) / 12 * 4 / 3 / 8
    half = 4.302653 * math.sqrt(variance)
    assert found.value.high - found.value.value == pytest.approx(half, rel=1e-5)


def test_equal_chances_are_an_even_draw():
    rng = np.random.default_rng(0)
    judged = rng.normal(0, 1, 400)
    people_ = judged + rng.normal(0, 0.5, 400)
    even = corrected_mean(people_[:100], judged[:100], judged[100:])
    drawn = corrected_mean(people_[:100], judged[:100], judged[100:], chance=np.full(100, 0.25))
    assert drawn.value.value == pytest.approx(even.value.value)
    assert drawn.value.half_width == pytest.approx(even.value.half_width, rel=0.02)


def world(rng, items=2000, trouble=(0.15, 0.15, 0.15, 1.5), noise=0.2):
    """Judges who disagree where they err: `trouble` holds their errors; people have a `noise` of theirs."""
    quality = rng.normal(3, 0.6, items)
    two = quality + rng.normal(0, rng.choice(trouble, items), (2, items))
    judged, spread = two.mean(axis=0), two.std(axis=0, ddof=1)
    return quality + rng.normal(0, noise, items), judged, spread


def test_a_draw_by_expected_error_is_unbiased_and_narrower():
    """Of 300 draws of 80 from 2,000: 90 to 99% of the intervals hold the mean, the error is unbiased, and the
    spread of the estimates is less than that of even draws.
    """
    rng = np.random.default_rng(1)
    truth, judged, spread = world(rng, trouble=(*[0.05] * 9, 1.5), noise=0.05)
    pilot = np.where(np.arange(2000) < 60, truth, np.nan)
    size = expected_error(judged, spread, pilot)
    by_chance, even, held = [], [], []
    for seed in range(300):
        mine, chance, _ = sampling.places_by_chance(range(2000), 80, size, seed=seed)
        rest = np.setdiff1d(np.arange(2000), mine)
        drawn = corrected_mean(truth[mine], judged[mine], judged[rest], chance=chance)
        by_chance.append(drawn.value.value)
        held.append(drawn.value.low <= truth.mean() <= drawn.value.high)
        mine = rng.choice(2000, 80, replace=False)
        rest = np.setdiff1d(np.arange(2000), mine)
        even.append(corrected_mean(truth[mine], judged[mine], judged[rest]).value.value)
    assert 0.9 <= np.mean(held) <= 0.995
    assert np.mean(by_chance) == pytest.approx(truth.mean(), abs=4 * np.std(by_chance) / math.sqrt(300))
    assert np.std(by_chance) < 0.95 * np.std(even)


def test_without_a_pilot_the_judges_disagreement_counts():
    found = expected_error(np.array([3.0, 3, 3]), np.array([0.0, 1.0, np.nan]), np.full(3, np.nan))
    assert found[1] > found[0]
    assert (expected_error(np.full(4, np.nan), np.full(4, np.nan), np.ones(4)) == 1).all()


def test_a_first_draw_by_disagreement_is_hardly_wider_than_an_even_one():
    """Likert judges whose disagreement is chance: by their standard deviation alone it would be 13% wider."""
    rng = np.random.default_rng(0)
    quality = rng.normal(size=2000)
    cuts = (-1.5, -0.5, 0.5, 1.5)
    judges = np.searchsorted(cuts, quality + 0.8 * rng.normal(size=(3, 2000))).astype(float)
    person = np.searchsorted(cuts, quality + 0.8 * rng.normal(size=2000)).astype(float)
    judged, spread = judges.mean(axis=0), judges.std(axis=0, ddof=1)

    def width(size):
        widths = []
        for seed in range(60):
            mine, chance, _ = sampling.places_by_chance(range(2000), 100, size, seed=seed)
            rest = np.setdiff1d(np.arange(2000), mine)
            widths.append(
                corrected_mean(person[mine], judged[mine], judged[rest], chance=chance).value.half_width
            )
        return np.mean(widths)

    even = width(np.ones(2000))
    assert width(by_disagreement(spread)) < 1.05 * even
    assert width(spread) > 1.08 * even


def test_what_one_more_rater_and_item_buy_by_hand():
    """Items (1, 2), (3, 3), (5, 6), (1, 1): raters' means 2.5 and 3, squares of items 2·(1.25² + .25² + 2.75²
    + 1.75²) = 24.5, of raters 8·.25² = .5 and ½ left: mean squares 49/6, 1/2 and 1/6. Variances σ²ᵢ = 4, σ²ᵣ
    = (1/3)/4 = 1/12, σ²ₑ = 1/6.
    """
    table = read_ratings(people({"ann": [1, 3, 5, 1], "bob": [2, 3, 6, 1]}))
    widths = designs(table, "quality")

    def half(raters, items):
        return 1.96 * math.sqrt(4 / items + 1 / 12 / raters + 1 / 6 / raters / items)

    assert flat(widths).set_index("raters").half[3] == pytest.approx(half(3, 4))
    assert f"takes {half(2, 4) - half(3, 4):.3f} from the ± {half(2, 4):.3f} of" in widths.notes[0]
    assert "of people's mean over 4 items by 2 annotators" in widths.notes[0]
    assert f"one more item takes {half(2, 4) - half(2, 5):.3f}" in widths.notes[0]


@pytest.mark.parametrize(
    ("ratings", "why"),
    [
        (people({"ann": [1, 2, 3, 4]}), "fewer than two people"),
        (people({"ann": [1, 2, 1, 2], "bob": [2, 1, 2, 1]}), "do not agree on any difference"),
        (people({"ann": [3] * 4, "bob": [3] * 4}), "all ratings are equal"),
        (people({"ann": [1, 2, None, None], "bob": [None, None, 3, 1]}), "are not told apart"),
    ],
    ids=["one annotator", "opposite", "constant", "no item in common"],
)
def test_designs_that_cannot_be_compared_have_a_reason(ratings, why):
    found = flat(designs(read_ratings(ratings), "quality"))
    assert found.half.isna().all()
    assert why in found.reason[0]


def test_more_items_are_named_for_every_headline_figure():
    """Bias of differences 0, 2, 0, 2 …, of SD 1 on 200 items: 2·1.96/√200 = 0.277 wide, and half on 800."""
    rng = np.random.default_rng(0)
    quality = rng.normal(3, 1, 200)
    given = {name: quality + rng.normal(0, 0.5, 200) for name in ("ann", "bob", "cy")}
    target = np.mean(list(given.values()), axis=0)
    table = read_ratings(study(given, {"j": target + np.tile([0.0, 2.0], 100)}))
    found = flat(needed(table, "quality", [["j"]], resamples=400)).set_index("figure")
    assert [name.split(" of ")[0] for name in found.index] == [
        "Spearman's ρ",
        "Difference",
        "Bias",
        "MAE",
    ]
    assert found.width["Bias of j"] == pytest.approx(0.277, rel=0.05)
    assert found.half["Bias of j"] == pytest.approx(800, rel=0.15)
    assert (found.half_more == found.half - 200).all()


def test_how_many_more_items_halve_the_interval_is_said_of_the_judges() -> None:
    rows = (
        {"figure": "People's alpha", "column": "alpha", "half_more": estimate(681), "half": estimate(931)},
    )
    judges = {"figure": "ρ of j", "column": "spearman", "half_more": estimate(607), "half": estimate(831)}
    table = replace(NEEDED, rows=(*rows, judges, {"figure": "MAE", "column": "mae"}))
    said = answer(table, "Final")
    assert "half as wide on Final (ρ of j), about 607 more items (831 in all), for these annotators" in said
    assert "about 681 more" in answer(replace(NEEDED, rows=rows), "Final")
    unknown = {"figure": "ρ", "column": "spearman", "half_more": undefined("no"), "half": undefined("no")}
    assert answer(replace(NEEDED, rows=(unknown,)), "Final") == ""


DISAGREED = np.tile([0.0, 1.0], 20)
"""Judges agree on every other item, and differ by a standard deviation of 1 on the rest."""

MISSED = np.tile([3.0, 5.0, 3.0, 1.0], 10)
"""People give 3 where judges agree, and 5 or 1 where they do not."""


def test_no_item_gets_less_than_a_quarter_of_the_mean_error():
    """All judges' means are 3, as is people's: |residual| 0 where judges agree and 2 where not, which is
    2·spread. The mean is 1, so 0 becomes 1/4; (1/4 + 2)/2 = 9/8, and sizes are 2/9 and 16/9 of the mean.
    """
    found = expected_error(np.full(40, 3.0), DISAGREED, MISSED)
    assert found[:4] == pytest.approx([2 / 9, 16 / 9, 2 / 9, 16 / 9])
    assert (expected_error(np.full(40, 3.0), DISAGREED, np.full(40, 3.0)) == 1).all()
