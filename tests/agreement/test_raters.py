"""The severity and consistency of raters: a case by hand, simulations, what cannot be said."""

import itertools
import math

import numpy as np
import pandas as pd
import pytest

from concord.agreement import rasch
from concord.agreement.raters import RATERS, _verdict, raters, severity_sentence
from concord.agreement.ratings import read_ratings
from concord.estimate import Estimate, estimate
from tests.agreement.frames import FED, fed, flat, frame, people, study

LIKERT = {"quality": np.arange(1.0, 6.0)}


def measured(ratings, answers=LIKERT, players=None, **options):
    """The tables of the section by name."""
    given = {name: options.pop(name) for name in ("anonymous_people", "other_scale") if name in options}
    table = read_ratings(ratings, criteria=["quality"], **given)
    return {found.name: found for found in raters(table, "quality", answers, players, **options)}


def by_rater(tables):
    return flat(tables["raters"]).set_index("rater")


def likert(rng, place, severity, thresholds=(-1.5, -0.5, 0.5, 1.5), noise=0.0):
    """Answers 1–5 of one rater to items at these places, drawn from the model; `noise` moves each item."""
    place = place + rng.normal(0, noise, len(place)) if noise else place
    share = np.exp(rasch._logs((place - severity)[:, None], np.array(thresholds))[:, :, 0])
    return (share.cumsum(axis=1) < rng.random(len(place))[:, None]).sum(axis=1).clip(0, 4) + 1.0


def test_two_raters_and_two_answers_by_hand():
    """Of two raters of yes/no, only items on which they differ tell who is more severe: ann alone says yes to
    60, bob alone to 30, so bob is log(60/30) = 0.693 more severe, with variance 1/60 + 1/30 = 0.05 (Rasch's
    conditional estimate; any distribution of items gives it). Each is half of that from their mean.
    """
    pairs = [(1, 1)] * 100 + [(1, 0)] * 60 + [(0, 1)] * 30 + [(0, 0)] * 90
    ann, bob = zip(*pairs, strict=True)
    found = by_rater(
        measured(people({"ann": ann, "bob": bob}), {"quality": np.array([0.0, 1.0])}, resamples=0)
    )
    assert found.severity["bob"] == pytest.approx(math.log(2) / 2, abs=0.005)
    assert found.severity["ann"] == pytest.approx(-math.log(2) / 2, abs=0.005)
    half = (found.severity_high["bob"] - found.severity_low["bob"]) / 2
    assert half == pytest.approx(1.969 * math.sqrt(0.05) / 2, rel=0.02)


def test_what_went_into_a_simulation_comes_out():
    """Four people, three of them on each item, and a judge on half: within three standard errors."""
    rng = np.random.default_rng(5)
    place = rng.normal(0, 1.2, 600)
    severity = {"ann": -0.9, "bob": -0.1, "cy": 0.3, "dot": 0.7}
    rows = []
    for number, (name, true) in enumerate(severity.items()):
        given = likert(rng, place, true)
        rows += [(i, "quality", name, "human", s) for i, s in enumerate(given) if i % 4 != number]
    rows += [(i, "quality", "j", "judge", s) for i, s in enumerate(likert(rng, place, 0.5)) if i % 2]
    tables = measured(frame(rows), resamples=50)
    found = by_rater(tables)
    for name, true in {**severity, "j": 0.5}.items():
        error = (found.severity_high[name] - found.severity_low[name]) / 4
        assert error < 0.12
        assert found.severity[name] == pytest.approx(true, abs=3 * error)
    thresholds = tables["raters"].meta["thresholds"]
    assert thresholds == pytest.approx([-1.5, -0.5, 0.5, 1.5], abs=0.25)
    assert 0.4 < found.points["ann"] < 0.9
    assert tables["rater_items"].rows[0]["low"] < -1


def test_intervals_hold_what_they_claim():
    """Of 60 studies of 60 items each, the intervals of people and a judge hold the truth in 90 to 99%."""
    rng = np.random.default_rng(11)
    held = []
    for _ in range(60):
        place = rng.normal(0, 1.2, 60)
        truth = {"ann": -0.5, "bob": 0.0, "cy": 0.5}
        given = {name: likert(rng, place, true) for name, true in truth.items()}
        found = by_rater(measured(study(given, {"j": likert(rng, place, 0.4)}), resamples=0))
        for name, true in {**truth, "j": 0.4}.items():
            held.append(found.severity_low[name] <= true <= found.severity_high[name])
    assert 0.90 <= np.mean(held) <= 0.99


def test_who_is_erratic_and_who_is_too_regular():
    """An annotator who answers by chance is above 1, a judge that averages twelve raters below."""
    rng = np.random.default_rng(2)
    place = rng.normal(0, 1.5, 300)
    given = {name: likert(rng, place, 0.0) for name in ("ann", "bob", "cy", "dot")}
    given["eve"] = rng.integers(1, 6, 300).astype(float)
    judge = np.mean([likert(rng, place, 0.0) for _ in range(12)], axis=0)
    found = by_rater(measured(study(given, {"mean of 12": judge}), resamples=200))
    assert found.fit["eve"] == "misfit: erratic"
    assert found.fit["mean of 12"] == "misfit: too regular"
    assert (found.fit[["ann", "bob", "cy", "dot"]] == "as expected").all()
    # An interval beside 1 is not enough: the mean square has to lie beyond the bounds that are stated.
    assert _verdict(estimate(0.63, 0.57, 0.70, n=250)) == "as expected"
    assert _verdict(estimate(0.59, 0.53, 0.66, n=250)) == "misfit: too regular"
    assert "outside 0.6 to 1.4" in RATERS.caption


def test_an_answer_between_two_keeps_its_place_in_the_mean():
    """A judge of 2.5 and 3.5 is as severe as one who says 2 and 3, then 3 and 4, in turn."""
    rng = np.random.default_rng(3)
    place = np.repeat(rng.normal(0, 1, 100), 2)
    given = {name: likert(rng, place, 0.0) for name in ("ann", "bob")}
    middle = np.where(place > 0, 3.5, 2.5)
    whole = middle + np.tile([-0.5, 0.5], 100)
    found = by_rater(measured(study(given, {"middle": middle, "whole": whole}), resamples=0))
    assert found.severity["middle"] == pytest.approx(found.severity["whole"], abs=0.05)


def test_severity_changes_who_is_first_where_it_fell_on_one_player():
    """Severe sy rates b's items, lenient lou a's, and both a tenth of all: a's lead is lou's."""
    rng = np.random.default_rng(9)
    n = 400
    player = np.tile(["a", "b"], n // 2)
    place = np.where(player == "b", 0.4, -0.1) + rng.normal(0, 1, n)
    sy, lou = likert(rng, place, 1.2), likert(rng, place, -1.2)
    both = np.arange(n) % 10 < 4
    sy[~both & (player == "a")] = np.nan
    lou[~both & (player == "b")] = np.nan
    cells = {"sy": [None if np.isnan(s) else s for s in sy], "lou": [None if np.isnan(s) else s for s in lou]}
    tables = measured(people(cells), players=dict(enumerate(player)), resamples=100)
    fair = flat(tables["fair"]).set_index("group")
    assert fair.people["a"] > fair.people["b"]
    assert fair.fair["b"] > fair.fair["a"]
    assert (fair.place["a"], fair.fair_place["a"]) == (1, 2)
    said = severity_sentence(tables)
    assert said.startswith("Adjusting people's means for the annotators' severity would change the order")
    assert "b would be first, not a." in said
    low, high = (tables["fair"].rows[at]["fair"].interval for at in (0, 1))
    assert ("neither order is settled" in said) == (low[1] >= high[0] and high[1] >= low[0])


def test_where_everybody_rated_everything_nothing_is_said():
    rng = np.random.default_rng(4)
    place = rng.normal(0, 1, 40)
    given = {"ann": likert(rng, place, -1), "bob": likert(rng, place, 1)}
    tables = measured(people(given), players=dict(enumerate(["a", "b"] * 20)), resamples=20)
    fair = flat(tables["fair"])
    assert (fair.place == fair.fair_place).all()
    assert read_ratings(people(given))["quality"].same_items
    assert "would leave the order" in severity_sentence(tables)


def alternating(n, *answers):
    return list(itertools.islice(itertools.cycle(answers), n))


@pytest.mark.parametrize(
    ("ratings", "rater", "why"),
    [
        (people({"ann": alternating(20, 1, 3, 5)}), "ann", "two raters who share items"),
        (study({"ann": [1, 2]}, {"j": [2, 1]}), "j", "at least 8 are needed"),
        (
            people({"ann": alternating(20, 2, 4, 3), "bob": alternating(20, 3, 4, 2), "cy": [5] * 20}),
            "cy",
            "always gives the highest answer",
        ),
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
    ids=["one annotator", "two items", "an end only", "constant", "not connected", "a judge apart"],
)
def test_what_cannot_be_said_has_a_reason(ratings, rater, why):
    found = by_rater(measured(ratings, resamples=10))
    assert math.isnan(found.severity[rater])
    assert why in found.reason[rater]


def test_a_judge_on_another_scale_is_not_placed():
    ratings = study({"ann": alternating(20, 2, 4, 3), "bob": alternating(20, 3, 4, 2)}, {"j": range(20)})
    other = {"quality": {"j": "judges answer on different scales"}}
    found = by_rater(measured(ratings, other_scale=other, resamples=10))
    assert "different scales" in found.reason["j"]
    assert not math.isnan(found.severity["bob"])


def test_judges_alone_make_the_axis():
    rng = np.random.default_rng(6)
    place = rng.normal(0, 1, 200)
    given = study({}, {"j": likert(rng, place, -0.5), "k": likert(rng, place, 0.5)})
    tables = measured(given, resamples=10)
    assert by_rater(tables).severity["k"] == pytest.approx(0.5, abs=0.2)
    assert "fair" not in tables


def test_people_without_names_are_one_rater():
    """FED: five unnamed answers an item make the axis, on which the mean person is 0."""
    if not FED.is_dir():
        pytest.skip("the FED data is not there")
    ratings = fed()
    ratings = ratings[(ratings.criterion == "Overall")].assign(criterion="quality")
    runs = ratings.kind == "judge"
    ratings.loc[runs, "score"] = ratings[runs].score - 1
    tables = measured(ratings, {"quality": np.arange(0.0, 5.0)}, anonymous_people=True, resamples=50)
    [row] = [row for row in tables["raters"].rows if row["kind"] == "person"]
    assert row["severity"] == Estimate(0.0, n=row["n"])
    placed = flat(tables["raters"]).query("kind == 'judge'")
    assert len(placed) == 5
    assert placed.severity_low.notna().all()


def test_sparse_annotators_and_no_warning(recwarn):
    """200 annotators with ten items each: an answer for all who are linked, in a few seconds."""
    rng = np.random.default_rng(8)
    place = rng.normal(0, 1, 400)
    rows = []
    for person in range(200):
        items = rng.choice(400, 10, replace=False)
        given = likert(rng, place[items], rng.normal(0, 0.5))
        rows += [(i, "quality", f"p{person}", "human", s) for i, s in zip(items, given, strict=True)]
    found = by_rater(measured(frame(rows), resamples=10))
    assert found.severity.notna().sum() > 195
    assert not recwarn.list


def test_the_order_of_rows_changes_nothing():
    rng = np.random.default_rng(8)
    place = rng.normal(0, 1, 60)
    given = study({"ann": likert(rng, place, 0), "bob": likert(rng, place, 1)}, {"j": likert(rng, place, 0)})
    one, other = (
        measured(rows, resamples=20)["raters"].rows for rows in (given, given.sample(frac=1, random_state=1))
    )
    pd.testing.assert_frame_equal(pd.DataFrame(map(str, one)), pd.DataFrame(map(str, other)))
