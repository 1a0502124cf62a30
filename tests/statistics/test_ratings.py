"""The long frame is numbered, and *final* computed from sums."""

from typing import NamedTuple

import numpy as np
import pandas as pd
import pytest

from concord.errors import StudyError
from concord.statistics.figures import basis
from concord.statistics.ratings import FINAL, read_ratings
from tests.statistics.frames import frame, judges, people, study


def test_scores_by_unit():
    table = read_ratings(study({"ann": [1, 2, None], "bob": [3, None, None]}, {"j": [5, None, 4.5]}))
    scores = table["quality"]
    assert table.units == [0, 1, 2]  # unit 2 has a judge's rating only, and stays
    np.testing.assert_array_equal(scores.target, [2, 2, np.nan])
    np.testing.assert_array_equal(scores.present, [2, 1, 0])
    np.testing.assert_array_equal(scores.judges["j"], [5, np.nan, 4.5])


def test_a_person_and_everybody_else():
    scores = read_ratings(people({"ann": [1, 2, 5], "bob": [3, None, 4], "cy": [5, None, None]}))["quality"]
    np.testing.assert_array_equal(scores.scores_of(1), [3, np.nan, 4])
    np.testing.assert_array_equal(scores.mean_of_others(0), [4, np.nan, 4])
    np.testing.assert_array_equal(scores.mean_of_others(2), [2, np.nan, np.nan])


def test_the_order_of_rows_is_nothing():
    rows = study({"ann 2": [1, 2, 4], "ann 10": [3, 3, 1]}, {"j": [5, 1, 4.5]})
    table, shuffled = read_ratings(rows), read_ratings(rows.sample(frac=1, random_state=1))
    assert table.people == shuffled.people == ("ann 2", "ann 10")
    np.testing.assert_array_equal(table["quality"].target, shuffled["quality"].target)


def test_final_is_the_mean_of_the_counted_criteria():
    rows = pd.concat(
        [
            people({"ann": [1, 2], "bob": [3, 4]}, "fluency"),
            people({"ann": [2, 3], "bob": [5, None]}, "character"),
            people({"ann": [1, 1], "bob": [0, 0]}, "refusal"),
            judges({"j": [4, 5]}, "fluency"),
            judges({"j": [3, None]}, "character"),
        ]
    )
    table = read_ratings(rows, final_criteria=["fluency", "character"])
    final = table[FINAL]
    # ann: (1 + 2)/2 and (2 + 3)/2; bob rated both only on unit 0: (3 + 5)/2.
    np.testing.assert_array_equal(final.scores_of(0), [1.5, 2.5])
    np.testing.assert_array_equal(final.scores_of(1), [4, np.nan])
    # Unit 0: (1 + 2 + 3 + 5)/4; unit 1: ann alone.
    np.testing.assert_array_equal(final.target, [2.75, 2.5])
    np.testing.assert_array_equal(final.judges["j"], [3.5, np.nan])
    assert list(table.criteria) == ["fluency", "character", "refusal", FINAL]


def test_final_of_anonymous_people_is_the_mean_of_means():
    rows = pd.concat(
        [people({"1": [1, 2], "2": [3, None]}, "a"), people({"1": [4, None], "2": [4, None]}, "b")]
    )
    final = read_ratings(rows, anonymous_people=True)[FINAL]
    # Unit 0: ((1 + 3)/2 + (4 + 4)/2)/2 = 3; unit 1 has nobody on b. Nobody is followed from a to b.
    np.testing.assert_array_equal(final.target, [3, np.nan])
    assert len(final.item) == 0
    assert "annotators have no names" in final.unlinked


def test_no_final_and_given_final():
    assert list(read_ratings(people({"ann": [1, 2]}), final_criteria=[]).criteria) == ["quality"]
    given = read_ratings(pd.concat([people({"ann": [1, 2]}), people({"ann": [5, 5]}, FINAL)]))
    np.testing.assert_array_equal(given[FINAL].target, [5, 5])


def test_units_of_any_kind():
    class Unit(NamedTuple):
        conversation: str
        turn: int | None

    units = [Unit("b", 2), Unit("a", None), Unit("b", 1), "c", 7]
    table = read_ratings(frame([(unit, "q", "ann", "human", score) for score, unit in enumerate(units)]))
    assert set(table.units) == set(units)
    assert [table["q"].target[table.units.index(unit)] for unit in units] == [0, 1, 2, 3, 4]


def test_units_without_judges_keep_people_and_are_counted_by_reason():
    rows = study({"ann": [1, 2, 3, 4]}, {"j": [5, 6, 7, 8]})
    assert read_ratings(rows, without_judges={1: "gold", 99: "gold"}).left_out == {"gold": 1}
    table = read_ratings(rows, without_judges={0: "refused", 3: "refused", 2: "gold"})
    assert table["quality"].target.tolist() == [1, 2, 3, 4]
    assert np.isnan(table["quality"].judges["j"]).tolist() == [True, False, True, True]
    assert table.left_out == {"refused": 2, "gold": 1}
    assert table.open("quality").tolist() == [False, True, False, False]


def test_the_flag_that_closes_units_is_compared_on_all():
    rows = pd.concat([study({"ann": [1, 2]}, {"j": [5, 6]}, name) for name in ("quality", "refusal")])
    table = read_ratings(rows, without_judges={0: "refused"}, flags=["refusal"])
    assert table["refusal"].judges["j"].tolist() == [5, 6]
    assert np.isnan(table["quality"].judges["j"]).tolist() == [True, False]
    assert np.isnan(table["final"].judges["j"]).tolist() == [True, False]
    assert "1 where refused" in basis(table, "quality")["text"]
    assert "refused" not in basis(table, "refusal")["text"]
    assert basis(table, "refusal")["left_out"] == {}


def test_facets():
    table = read_ratings(people({"ann": [1, 2, 3]}))
    codes, names = table.facet({0: "llama", 2: "gpt"})
    assert names == ["gpt", "llama"]
    assert codes.tolist() == [1, -1, 0]
    assert table.facet(pd.Series({1: "x"}))[0].tolist() == [-1, 0, -1]


def test_unknown_names():
    table = read_ratings(study({"ann": [1, 2]}, {"j": [1, 2]}))
    with pytest.raises(StudyError, match="no criterion “fun”"):
        table["fun"]
    with pytest.raises(StudyError, match=r"“k”, who is not in this study\. Its judges: j"):
        table["quality"].panel(["j", "k"])


def test_a_row_without_a_score_is_missing():
    assert read_ratings(people({"ann": [1, 2]}).assign(score=[1, np.nan])).units == [0]


def test_rated_items():
    table = read_ratings(
        pd.concat([study({"ann": [1, None, None]}, {"j": [1, 2, 3]}), people({"bob": [None, 2]}, "b")])
    )
    assert table.rated.tolist() == [0, 1]
    assert read_ratings(judges({"j": [1, 2]})).rated.tolist() == [0, 1]


def test_categorical_columns_and_unit_tuples():
    rows = study({"ann": [1, 2, 3]}, {"j": [3, 2, 1]})
    units = [("a", 1), ("a", None), ("b", 1)]
    rows = rows.assign(unit=[units[unit] for unit in rows["unit"]])
    categories = rows.astype({"criterion": "category", "rater": "category", "kind": "category"})
    for frame_ in (rows, categories):
        table = read_ratings(frame_, without_judges={("a", None): "refused"})
        scores = table["quality"]
        given = dict(zip(table.units, zip(scores.target, scores.judges["j"], strict=True), strict=True))
        assert (given["a", 1], given["b", 1]) == ((1, 3), (3, 1))
        assert np.isnan(given["a", None][1])


def test_a_judges_final_is_on_another_scale_where_one_of_its_criteria_is():
    rows = pd.concat([study({"ann": [1, 2]}, {"j": [5, 6], "k": [1, 2]}, name) for name in "abc"])
    other = {"a": {"j": "off by 4"}, "c": {"j": "off by 5"}}
    table = read_ratings(rows, other_scale=other)
    assert table.no_level("final", ["j"]) == table.no_level("final", ["j", "k"]) == "off by 4 (a)"
    assert (table.no_level("final", ["k"]), table.no_level("b", ["j"])) == ("", "")
