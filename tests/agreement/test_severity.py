"""The severity of raters: cases by hand, simulations, what cannot be said."""

import itertools
import math

import numpy as np
import pandas as pd
import pytest
from scipy.stats import t, ttest_1samp, ttest_rel

from concord.statistics.ratings import read_ratings
from concord.statistics.severity import raters
from tests.agreement.frames import FED, fed, flat, frame, people, study


def measured(ratings, players=None, **options):
    given = {name: options.pop(name) for name in ("anonymous_people", "other_scale") if name in options}
    table = read_ratings(ratings, criteria=["quality"], **given)
    return raters(table, "quality", players, **options)


def by_rater(table):
    return flat(table).set_index("rater")


def likert(rng, place, severity):
    """Answers 1–5 to items at these places by a rater of this severity."""
    return (3 + place - severity + rng.normal(0, 0.7, len(place))).round().clip(1, 5)


def test_two_people_and_a_judge_are_the_t_tests():
    """Two people on the same items: half their mean difference, with half the paired t-test's interval. A
    judge: people's mean less its answers, with the t-test's interval.
    """
    rng = np.random.default_rng(0)
    ann, bob, judge = rng.integers(1, 6, (3, 30)).astype(float)
    cells = by_rater(measured(study({"ann": ann, "bob": bob}, {"j": judge}), resamples=0))
    paired = ttest_rel(ann, bob).confidence_interval()
    assert cells.severity["bob"] == pytest.approx((ann - bob).mean() / 2)
    assert (cells.severity_low["bob"], cells.severity_high["bob"]) == pytest.approx(
        (paired.low / 2, paired.high / 2)
    )
    single = ttest_1samp((ann + bob) / 2 - judge, 0).confidence_interval()
    assert (cells.severity_low["j"], cells.severity_high["j"]) == pytest.approx((single.low, single.high))


def test_nobody_is_severe_for_lenient_colleagues():
    """Ann and bob share items 0–9, bob and cy items 10–19. On the first ann gives 4 and bob 3, on the others
    bob 3 and cy 2: each is one point more severe than the one before, so −1, 0 and 1 about their mean; the
    plain difference from colleagues would call bob as severe as nobody (+0.5 and −0.5).
    """
    rows = [(i, "quality", "ann", "human", 4) for i in range(10)]
    rows += [(i, "quality", "bob", "human", 3) for i in range(20)]
    rows += [(i, "quality", "cy", "human", 2) for i in range(10, 20)]
    rows += [(i, "quality", "j", "judge", 3 + i % 2) for i in range(20)]
    cells = by_rater(measured(frame(rows), resamples=0))
    assert cells.severity[["ann", "bob", "cy"]].tolist() == pytest.approx([-1, 0, 1])
    # Adjusted, every item is at 3; the judge gives 3.5 on average.
    assert cells.severity["j"] == pytest.approx(-0.5)


def test_intervals_hold_what_they_claim():
    """Of 200 incomplete studies of 60 items, the intervals of people and a judge hold the truth in 92–98%."""
    rng = np.random.default_rng(11)
    truth = {"ann": -0.5, "bob": 0.1, "cy": 0.4}
    held = []
    for _ in range(200):
        place = rng.normal(0, 1.2, 60)
        given = {name: place - severity + rng.normal(0, 0.7, 60) for name, severity in truth.items()}
        for number, scores in enumerate(given.values()):
            scores[number::3] = np.nan
        cells = by_rater(measured(study(given, {"j": place - 0.2 + rng.normal(0, 1, 60)}), resamples=0))
        for name, true in {**truth, "j": 0.2}.items():
            held.append(cells.severity_low[name] <= true <= cells.severity_high[name])
    assert 0.92 <= np.mean(held) <= 0.98


def test_clusters_widen_the_interval():
    """Items that are copies of ten tell what the ten tell."""
    rng = np.random.default_rng(1)
    ten = {name: rng.integers(1, 6, 10).astype(float) for name in ("ann", "bob")}
    copies = {name: np.repeat(scores, 8) for name, scores in ten.items()}
    prompt = {item: item // 8 for item in range(80)}
    plain = by_rater(measured(people(copies), resamples=0))
    alike = by_rater(measured(people(copies), resamples=0, clusters=prompt))
    one_each = by_rater(measured(people(ten), resamples=0))
    assert alike.severity_high["ann"] == pytest.approx(one_each.severity_high["ann"])
    assert alike.severity_high["ann"] > plain.severity_high["ann"]


def alternating(n, *answers):
    return list(itertools.islice(itertools.cycle(answers), n))


@pytest.mark.parametrize(
    ("ratings", "rater", "why"),
    [
        (people({"ann": alternating(20, 1, 3, 5)}), "ann", "two raters who share items"),
        (study({"ann": [1, 2]}, {"j": [2, 1]}), "j", "at least 8 are needed"),
        (people({"ann": [3] * 20, "bob": [3] * 20}), "bob", "all answers are equal"),
        (
            people(
                {
                    "ann": alternating(20, 2, 4, 3) + [None] * 9,
                    "bob": alternating(20, 3, 4, 2) + [None] * 9,
                    "cy": [None] * 20 + alternating(9, 1, 3),
                }
            ),
            "cy",
            "shares no item with the others",
        ),
        (
            study(
                {"ann": alternating(20, 2, 4, 3) + [None] * 9, "bob": alternating(20, 3, 4, 2) + [None] * 9},
                {"j": [None] * 20 + alternating(9, 1, 3)},
            ),
            "j",
            "0 answers on items that people rated",
        ),
    ],
    ids=["one annotator", "two items", "constant", "not connected", "a judge apart"],
)
def test_what_cannot_be_said_has_a_reason(ratings, rater, why):
    cells = by_rater(measured(ratings, resamples=10))
    assert math.isnan(cells.severity[rater])
    assert why in cells.reason[rater]


def test_a_judge_on_another_scale_has_no_severity():
    ratings = study({"ann": alternating(20, 2, 4, 3), "bob": alternating(20, 3, 4, 2)}, {"j": range(20)})
    other = {"quality": {"j": "judges answer on different scales"}}
    cells = by_rater(measured(ratings, other_scale=other, resamples=10))
    assert "different scales" in cells.reason["j"]
    assert not math.isnan(cells.severity["bob"])


def test_a_judge_beside_one_person_has_the_difference_from_them():
    ann = alternating(20, 2, 4, 3)
    cells = by_rater(measured(study({"ann": ann}, {"j": [score - 1 for score in ann]}), resamples=0))
    assert cells.severity["j"] == pytest.approx(1)


def test_people_without_names_have_none():
    """FED: five unnamed answers an item; judges are compared with their mean."""
    if not FED.is_dir():
        pytest.skip("the FED data is not there")
    ratings = fed()
    ratings = ratings[(ratings.criterion == "Overall")].assign(criterion="quality")
    runs = ratings.kind == "judge"
    ratings.loc[runs, "score"] = ratings[runs].score - 1
    table = measured(ratings, anonymous_people=True, resamples=50)
    assert [row["kind"] for row in table.rows] == ["judge"] * 5
    assert flat(table).severity_low.notna().all()


def test_sparse_annotators_and_no_warning(recwarn):
    """200 annotators with ten items each: an answer for all who are linked."""
    rng = np.random.default_rng(8)
    place = rng.normal(0, 1, 400)
    rows = []
    for person in range(200):
        items = rng.choice(400, 10, replace=False)
        given = likert(rng, place[items], rng.normal(0, 0.5))
        rows += [(i, "quality", f"p{person}", "human", s) for i, s in zip(items, given, strict=True)]
    cells = by_rater(measured(frame(rows), resamples=10))
    assert cells.severity.notna().sum() > 195
    assert not recwarn.list


def test_the_order_of_rows_changes_nothing():
    rng = np.random.default_rng(8)
    place = rng.normal(0, 1, 60)
    given = study({"ann": likert(rng, place, 0), "bob": likert(rng, place, 1)}, {"j": likert(rng, place, 0)})
    one, other = (measured(rows, resamples=20).rows for rows in (given, given.sample(frac=1, random_state=1)))
    pd.testing.assert_frame_equal(pd.DataFrame(map(str, one)), pd.DataFrame(map(str, other)))


def test_the_interval_of_a_judge_holds_the_error_of_severities():
    """Ann and bob rate items 0–9, ann alone 10–19; a judge gives all. Severities are s = mean (b − a)/2 of
    ann and −s of bob. An item stands at (a + b)/2, or at a + s where ann is alone, so that the judge's is J =
    (Σ₀₋₉ ((a + b)/2 − j) + Σ₁₀₋₁₉ (a − j) + 10·s)/20, and 10·s = Σ₀₋₉ (b − a)/2: an item below 10 adds
    (b − j)/20. About their means that is u = ((a + b)/2 − j − J + (b − a)/2 − s)/20, of others
    (a + s − j − J)/20; the half width is t₁₉·√(Σu²·20/19).
    """
    rng = np.random.default_rng(2)
    a, b, j = rng.integers(1, 6, (3, 20)).astype(float)
    first = np.arange(20) < 10
    s = (b - a)[first].mean() / 2
    place = np.where(first, (a + b) / 2, a + s)
    value = (place - j).mean()
    u = (place - j - value + np.where(first, (b - a) / 2 - s, 0)) / 20
    half = t.ppf(0.975, 19) * math.sqrt((u**2).sum() * 20 / 19)
    bob = [score if both else None for score, both in zip(b, first, strict=True)]
    cells = by_rater(measured(study({"ann": a, "bob": bob}, {"j": j}), resamples=0))
    assert cells.severity["ann"] == pytest.approx(s)
    assert cells.severity["j"] == pytest.approx(value)
    assert (cells.severity_low["j"], cells.severity_high["j"]) == pytest.approx((value - half, value + half))


def test_how_far_severity_moves_the_mean_of_a_player():
    """sy gives each item 1 less than lou. On items 1 to 8 both answer, so that severities are 0.5 and -0.5.
    Only lou rated a's two further items, each half a point too high: of a's six items two move by -0.5,
    a's mean by -1/6. Nobody's mean moves where both rated all items.
    """
    sy = [2, 3, 4, 2, 3, 4, 1, 2]
    lou = [score + 1 for score in sy]
    players = dict(enumerate(["a"] * 4 + ["b"] * 4 + ["a"] * 2))
    table = measured(people({"sy": [*sy, None, None], "lou": [*lou, 5, 3]}), players)
    assert table.notes[0] == (
        "Were all annotators equally severe, people's mean of a player would move by at most 0.17 points (a)."
    )
    table = measured(people({"sy": sy, "lou": lou}), players)
    assert "at most 0.00 points" in table.notes[0]
    assert "would move" not in measured(people({"sy": sy, "lou": lou}), {0: "a"}).notes[0]
