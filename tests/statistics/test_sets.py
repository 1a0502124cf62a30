"""Agreement on sets of labels beside published examples, hand arithmetic and another implementation."""

import numpy as np
import pytest

from concord.statistics.alpha import alpha, point, value_counts
from concord.statistics.nominal import kappa, nominal
from concord.statistics.ratings import read_ratings
from concord.statistics.resampling import full_sample
from concord.statistics.sets import alike, members, most_said, with_label
from tests.statistics.frames import flat, people


def code(labels):
    return float(sum(2 ** "abcde".index(label) for label in labels))


def codes(*sets):
    return np.array([code(labels) for labels in sets])


@pytest.mark.parametrize(
    ("one", "other", "distance"),
    [  # The examples of NLTK's masi_distance, which rounds 1/3 and 2/3: 0.665 and 0.868.
        ("ab", "abcd", 1 - 2 / 4 * 2 / 3),
        ("abcd", "cde", 1 - 2 / 5 * 1 / 3),
        ("ab", "ab", 0),
        ("a", "b", 1),
        ("", "a", 1),
        ("", "", 0),
    ],
)
def test_masi_distance(one, other, distance):
    assert 1 - alike(codes(one, other))[0, 1] == pytest.approx(distance)
    assert 1 - alike(codes(other, one))[0, 1] == pytest.approx(distance)


THREE = {
    "Ada": codes("a", "ab", "b", "", "abc", "c"),
    "Ben": codes("a", "b", "b", "", "ab", "ac"),
    "Cy": codes("ab", "ab", "c", "a", "abc", "c"),
}


def test_alpha_and_weighted_kappa_equal_those_of_nltk():
    # AnnotationTask(…, distance=MASI with exact thirds): alpha() and weighted_kappa_pairwise("c1", "c2").
    counts, values = value_counts(np.tile(np.arange(6), 3), np.concatenate([*THREE.values()]), 6)
    assert point(counts, values, "masi") == pytest.approx(0.33870967741935465)
    weighted = kappa(THREE["Ada"], THREE["Ben"], of_sets=True)(full_sample(6))
    assert float(weighted[0]) == pytest.approx(0.5802469135802468)
    assert float(alpha(counts, values, "nominal")(full_sample(6))[0]) < 0.33, "labels in common count"


def test_alpha_by_hand():
    # Two items, both rated twice: {a} and {a, b}; {c} and {c}. Within items one pair of distance
    # 1 − 1/2 · 2/3 = 2/3, each way: D_o = 2 · 2/3 ÷ 4 = 1/3. Of the 12 ordered pairs the distances are
    # a–ab 2/3 (2 pairs), a–c 1 (4), ab–c 1 (4), c–c 0 (2): D_e = (4/3 + 8) ÷ 12 = 7/9. 1 − 3/7 = 4/7.
    counts, values = value_counts(np.array([0, 0, 1, 1]), codes("a", "ab", "c", "c"), 2)
    assert point(counts, values, "masi") == pytest.approx(4 / 7)


def test_most_people_say_a_label_when_more_than_half_do():
    counts, values = value_counts(np.array([0, 0, 0, 1, 1]), codes("ab", "b", "c", "a", "ab"), 3)
    said = most_said(counts.toarray(), values)
    assert said[:2].tolist() == [code("b"), code("a")]
    assert np.isnan(said[2]), "nobody answered"
    assert members(said).tolist()[0] == [False, True]
    assert with_label(said, 0).tolist()[:2] == [0, 1]


def test_figures_of_a_criterion_of_sets():
    table = people(THREE | {"judge": THREE["Ada"]})
    table.loc[table.rater == "judge", "kind"] = "judge"
    ratings = read_ratings(table, sets=["quality"])
    rows = flat(nominal(ratings, "quality", ["late", "rude", "wrong"], resamples=0))
    assert rows.coefficient.tolist()[0] == "alpha_masi"
    by = {(row.a, row.b): row.value for row in rows.itertuples()}
    assert by["judge", "Ada"] == pytest.approx(1)
    # Most people: a, ab, b, none, ab + c (2 of 3), c: of “late” the judge agrees on all six items.
    assert by["judge", "majority of people: late"] == pytest.approx(1)
    assert by["judge", "majority of people"] == pytest.approx(1)


def test_nobody_and_equal_answers_are_undefined():
    alone = read_ratings(people({"Ada": codes("a", "b")}), sets=["quality"])
    row = flat(nominal(alone, "quality", resamples=0)).iloc[0]
    assert np.isnan(row.value)
    assert row.reason == "no item was rated by two annotators"
    same = read_ratings(people({"Ada": codes("a", "a"), "Ben": codes("a", "a")}), sets=["quality"])
    assert flat(nominal(same, "quality", resamples=0)).iloc[0].reason == "all ratings are equal"
