"""People among themselves: published examples, arithmetic by hand."""

import numpy as np
import pandas as pd
import pytest

from concord.statistics.ratings import read_ratings
from concord.statistics.reliability import gwet, icc, people_per_item, reliability, spearman_brown

from .frames import flat, judges, people
from .test_alpha import PUBLISHED

SHROUT_FLEISS = np.array(  # Shrout and Fleiss (1979), table 2: six targets, four judges
    [[9, 2, 5, 8], [6, 1, 3, 2], [8, 4, 6, 8], [7, 1, 2, 6], [10, 5, 6, 9], [6, 2, 4, 7]], dtype=float
)


def figures(table, **options):
    return flat(reliability(read_ratings(people(table)), "quality", resamples=50, **options)).set_index(
        "coefficient"
    )


def test_icc_of_the_published_example():
    single, several = icc(SHROUT_FLEISS)
    assert (round(single, 2), round(several, 2)) == (0.29, 0.62)


def test_icc_needs_everybody_on_every_item():
    rows = figures({f"p{i}": column.tolist() for i, column in enumerate(SHROUT_FLEISS.T)})
    assert round(rows["value"]["icc_single"], 2) == 0.29
    rows = figures({"ann": [1, 2, 3], "bob": [1, 3, None]})
    assert np.isnan(rows["value"]["icc_mean"])
    assert rows["reason"]["icc_mean"] == "not everybody rated every item"
    rows = figures({"ann": [2, 2, 2], "bob": [2, 2, 2]})
    assert rows["reason"]["icc_single"] == "all ratings are equal"


def test_ac1_of_the_published_example():
    # The same 4 × 12 ratings as Krippendorff's; Gwet (2014) gives AC1 = .775 beside alpha (nominal) = .743.
    given = [[None if np.isnan(x) else x for x in row] for row in PUBLISHED]
    table = read_ratings(people({f"p{number}": row for number, row in enumerate(given)}))
    assert round(gwet(table["quality"], "identity"), 3) == 0.775


def test_ac2_by_hand():
    # Items (1,1), (1,2), (3,3); quadratic weights 1, .75 (one apart), 0 (two apart).
    # Agreement (1 + .75 + 1)/3 = 11/12. Shares of the values 1/2, 1/6, 1/3: Σ π(1 − π) = 11/18;
    # T/(q(q − 1)) = (3 + 2·1.5)/6 = 1.
    # (11/12 − 11/18)/(1 − 11/18) = 11/14.
    table = read_ratings(people({"ann": [1, 1, 3], "bob": [1, 2, 3]}))
    assert gwet(table["quality"]) == pytest.approx(11 / 14)


def test_ac2_of_final():
    # Means of two criteria: (1, 1), (1, 1.5), (2, 2), that is the example by hand at half its distances.
    rows = pd.concat([people({"ann": [1, 1, 2], "bob": [1, b, 2]}, c) for c, b in (("x", 1), ("y", 2))])
    table = reliability(read_ratings(rows), "final", resamples=20)
    found = flat(table).set_index("coefficient")
    assert found["value"]["ac2"] == pytest.approx(11 / 14)
    [row] = [row for row in table.rows if row["coefficient"] == "ac2"]
    assert row["value"].reason == "", "it is defined, and no interval is asked for"


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
    assert "4 items rated by 1 to 2 (median 1.5) people each" in found.notes[0]
    assert "20 resamples of items, seed 4" in found.notes[0]


def test_one_person_and_nobody():
    rows = figures({"ann": [1, 2, 3]})
    assert rows["value"].isna().all()
    assert rows["reason"]["alpha_ordinal"] == "no item was rated by two people"
    nobody = reliability(read_ratings(judges({"j": [1, 2]})), "quality", resamples=20)
    assert flat(nobody)["value"].isna().all()
    assert nobody.meta["basis"]["items"] == 0
