"""People among themselves: published examples, arithmetic by hand."""

import numpy as np
import pandas as pd
import pytest

from concord.statistics.ratings import read_ratings
from concord.statistics.reliability import (
    components,
    gwet,
    people_per_item,
    reliability,
    spearman_brown,
)
from concord.statistics.resampling import full_sample
from tests.statistics.frames import flat, judges, people

SHROUT_FLEISS = np.array(  # Shrout and Fleiss (1979), table 2: six targets, four judges
    [[9, 2, 5, 8], [6, 1, 3, 2], [8, 4, 6, 8], [7, 1, 2, 6], [10, 5, 6, 9], [6, 2, 4, 7]], dtype=float
)
NOT_APART = "items, annotators and chance cannot be separated"
RATERS = {f"p{i}": column.tolist() for i, column in enumerate(SHROUT_FLEISS.T)}


def figures(table, **options):
    return flat(reliability(read_ratings(people(table)), "quality", resamples=50, **options)).set_index(
        "coefficient"
    )


def value(statistic, items):
    return np.array(statistic(full_sample(items)))[..., 0]


def test_components_of_the_published_example():
    """Shrout and Fleiss (1979), table 3: BMS 11.24, JMS 32.49, EMS 1.02 of six targets and four judges, so
    that variances are (11.24 − 1.02)/4, (32.49 − 1.02)/6 and 1.02; of one and of four judges ICC(2,·) is .29
    and .62, ICC(3,·) .71 and .91.
    """
    scores = read_ratings(people(RATERS))["quality"]
    assert value(components(scores), 6) == pytest.approx([10.22 / 4, 31.47 / 6, 1.02], abs=0.005)
    rows = figures(RATERS)["value"]
    assert [round(rows[name], 2) for name in ("icc_single", "icc_mean")] == [0.29, 0.62]


def test_components_of_items_that_some_did_not_rate():
    """Henderson's method 1: sums of squared sums over their numbers are y′Py of the projections P on items,
    on raters and on 1, whose expectations are the traces of P·V. Here written with the matrices themselves.
    """
    rng = np.random.default_rng(3)
    given = rng.integers(1, 6, (7, 3)).astype(float)
    given[0, 0] = given[1, 1] = given[5, 2] = given[6, 0] = given[6, 1] = np.nan
    item, rater = np.nonzero(~np.isnan(given))
    y = given[item, rater]
    by_item, by_rater, one = np.eye(7)[item], np.eye(3)[rater], np.ones((len(y), 1))
    a, b, mean = (z @ np.linalg.pinv(z) for z in (by_item, by_rater, one))
    forms = [a - mean, b - mean, np.eye(len(y)) - a - b + mean]
    parts = [by_item @ by_item.T, by_rater @ by_rater.T, np.eye(len(y))]
    expected = [[np.trace(form @ part) for part in parts] for form in forms]
    truth = np.linalg.solve(expected, [y @ form @ y for form in forms])
    columns = {f"p{r}": [None if np.isnan(x) else x for x in given[:, r]] for r in range(3)}
    of = components(read_ratings(people(columns))["quality"])
    assert value(of, 7) == pytest.approx(truth)
    # An item drawn twice is two items.
    twice = {name: [*scores, scores[3]] for name, scores in columns.items()}
    weights = np.ones((7, 1))
    weights[3] = 2
    again = components(read_ratings(people(twice))["quality"])
    assert np.array(of(weights))[:, 0] == pytest.approx(value(again, 8))


@pytest.mark.parametrize(
    ("table", "why"),
    [
        ({"ann": [2, 2, 2], "bob": [2, 2, 2]}, "all ratings are equal"),
        ({"ann": [1, 2, 3]}, "fewer than two annotators"),
        (
            {"ann": [1, 2, None, None], "bob": [None, None, 3, 1]},
            NOT_APART,
        ),
    ],
    ids=["equal", "one person", "no item in common"],
)
def test_components_that_are_unknown_have_a_reason(table, why):
    rows = figures(table)
    assert [rows["reason"][name] for name in ("icc_single", "icc_mean")] == [why] * 2


def test_coefficients_have_intervals():
    rng = np.random.default_rng(0)
    quality = rng.normal(3, 1, 40)
    given = {name: (quality + rng.normal(0, 0.6, 40)).round().clip(1, 5) for name in ("ann", "bob", "cy")}
    rows = figures(given)
    of = rows.loc[["ac2", "mean_of_people", "icc_single", "icc_mean"]]
    assert (of.value_low < of.value).all()
    assert (of.value < of.value_high).all()


def test_ac2_by_hand():
    # Items (1,1), (1,2), (3,3); quadratic weights 1, .75 (one apart), 0 (two apart).
    # Agreement (1 + .75 + 1)/3 = 11/12. Shares of the values 1/2, 1/6, 1/3: Σ π(1 − π) = 11/18;
    # T/(q(q − 1)) = (3 + 2·1.5)/6 = 1.
    # (11/12 − 11/18)/(1 − 11/18) = 11/14.
    table = read_ratings(people({"ann": [1, 1, 3], "bob": [1, 2, 3]}))
    assert value(gwet(table["quality"]), 3) == pytest.approx(11 / 14)


def test_ac2_of_final():
    # Means of two criteria: (1, 1), (1, 1.5), (2, 2), that is the example by hand at half its distances.
    rows = pd.concat([people({"ann": [1, 1, 2], "bob": [1, b, 2]}, c) for c, b in (("x", 1), ("y", 2))])
    table = reliability(read_ratings(rows), "final", resamples=20)
    found = flat(table).set_index("coefficient")
    assert found["value"]["ac2"] == pytest.approx(11 / 14)
    [row] = [row for row in table.rows if row["coefficient"] == "ac2"]
    assert row["value"].reason == "no interval: 3 items are too few, at least 8 are needed"


def test_shares_of_agreement_by_hand():
    # Items 1,1,2 (of three pairs one equal, all near), 1,4 (one pair, apart), 3 alone (no pair): four pairs.
    rows = figures({"ann": [1, 1, 3], "bob": [1, 4, None], "cy": [2, None, None]})
    assert rows["value"]["exact"] == pytest.approx(1 / 4)
    assert rows["value"]["within_one"] == pytest.approx(3 / 4)


def test_the_mean_of_people_is_of_their_harmonic_mean():
    # Items of 2, 2 and 8 people: 3 / (1/2 + 1/2 + 1/8) = 8/3; the median, 2, is less, the mean, 4, more.
    rows = {f"p{n}": [None if n > 1 else 1 + n, None if n > 1 else 4, n % 3 + 2] for n in range(8)}
    table = read_ratings(people(rows))
    assert people_per_item(table["quality"]) == pytest.approx(8 / 3)
    found = figures(rows)["value"]
    single = found["alpha_interval"]
    assert found["mean_of_people"] == pytest.approx(8 / 3 * single / (1 + 5 / 3 * single))


def test_spearman_brown():
    assert spearman_brown(0.5, 2) == pytest.approx(2 * 0.5 / 1.5)
    assert np.isnan(spearman_brown(-0.2, 3))
    table = {"ann": [1, 2, 3, 4, 5], "bob": [2, 1, 3, 5, 4]}
    rows = figures(table)
    single = rows["value"]["alpha_interval"]
    assert rows["value"]["mean_of_people"] == pytest.approx(2 * single / (1 + single))
    opposite = figures({"ann": [1, 2, 3], "bob": [3, 2, 1]})
    assert opposite["reason"]["mean_of_people"] == "alpha is below 0"


def test_what_the_figures_rest_on():
    rows = pd.concat(
        [people({"ann": [1, 2, 3, 4], "bob": [1, 2, None, None]}), judges({"j": [1, 1, 1, 1, 1]})]
    )
    found = reliability(read_ratings(rows), "quality", resamples=20, seed=4)
    assert found.meta["basis"]["items"] == 4
    assert found.meta["basis"]["people_per_item"] == (1, 1.5, 2)
    assert found.meta["basis"]["left_out"] == {"without a person's rating": 1}
    assert "4 items rated by 1 to 2 (median 1.5) annotators each" in found.notes[0]
    assert "20 resamples of items, seed 4" in found.notes[0]


def test_one_person_and_nobody():
    rows = figures({"ann": [1, 2, 3]})
    assert rows["value"].isna().all()
    assert rows["reason"]["alpha_ordinal"] == "no item was rated by two annotators"
    nobody = reliability(read_ratings(judges({"j": [1, 2]})), "quality", resamples=20)
    assert flat(nobody)["value"].isna().all()
    assert nobody.meta["basis"]["items"] == 0
