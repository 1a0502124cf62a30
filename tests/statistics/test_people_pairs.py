"""Annotators with each other, as PingPong's tables 6 and 7: ρ by hand, and against scipy."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from concord.statistics.people_pairs import MOST_COLUMNS, MOST_COMPARED, every_two, people_pairs, rho
from concord.statistics.ratings import read_ratings


def rated(scores):
    """Ratings of people, by name; None where somebody did not rate."""
    rows = [
        (f"i{item}", person, "human", "c", score)
        for person, given in scores.items()
        for item, score in enumerate(given)
        if score is not None
    ]
    return read_ratings(pd.DataFrame(rows, columns=["unit", "rater", "kind", "criterion", "score"]))


def test_each_with_each_the_others_and_all_by_hand():
    # Ann 1 2 3 4, Bob 1 2 4 3: two neighbours change places, 1 − 6·2/(4·15) = 0.8. Cem is the reverse: −1.
    table = people_pairs(rated({"Ann": [1, 2, 3, 4], "Bob": [1, 2, 4, 3], "Cem": [4, 3, 2, 1]}), "c")
    ann, bob, cem = table.rows
    assert (ann["person"], ann["with Bob"].value) == ("Ann", pytest.approx(0.8))
    assert ann["with Cem"].value == pytest.approx(-1.0)
    assert "with Ann" not in ann
    assert bob["with Ann"].value == pytest.approx(0.8)
    # The others of Ann: (1 + 4)/2, (2 + 3)/2, (4 + 2)/2, (3 + 1)/2 = 2.5, 2.5, 3, 2.
    assert ann["others"].value == pytest.approx(stats.spearmanr([1, 2, 3, 4], [2.5, 2.5, 3, 2])[0])
    # All: 2, 7/3, 3, 8/3.
    assert ann["all"].value == pytest.approx(stats.spearmanr([1, 2, 3, 4], [2, 7 / 3, 3, 8 / 3])[0])
    assert cem["all"].n == 4


def test_only_common_items_count_and_what_is_undefined_says_why():
    table = people_pairs(rated({"Ann": [1, 2, 3, None], "Bob": [3, 2, None, 1], "Cem": [2, 2, 2, 2]}), "c")
    ann = table.rows[0]
    assert (ann["with Bob"].value, ann["with Bob"].n) == (pytest.approx(-1.0), 2)
    assert ann["with Cem"].value is None
    assert ann["with Cem"].reason == "one of the two never varies"
    assert rho(np.array([1.0, np.nan]), np.array([np.nan, 1.0])).value is None


def test_of_many_annotators_readers_see_the_means_and_files_every_two():
    given = {f"p{i}": [1, 2, 3, 1 + i % 3] for i in range(MOST_COLUMNS + 1)}
    table = people_pairs(rated(given), "c")
    assert [column.name for column in table.shown] == ["person", "others", "all"]
    assert len(table.rows) == MOST_COLUMNS + 1
    assert table.notes
    assert len(every_two(table)) == (MOST_COLUMNS + 1) * MOST_COLUMNS
    # p0 1 2 3 1 and p1 1 2 3 2: ranks 1.5 3 4 1.5 and 1 2.5 4 2.5, deviations −1 .5 1.5 −1 and −1.5 0 1.5 0:
    # (1.5 + 0 + 2.25 + 0) / √(4.5 · 4.5) = 0.8333.
    pair = next(figure for one, other, figure in every_two(table) if (one, other) == ("p0", "p1"))
    assert pair.value == pytest.approx(3.75 / 4.5)


def test_of_a_crowd_those_with_the_most_ratings_are_compared():
    given = {f"p{i}": [1, 2, 3, 2] if i else [1, 2, None, None] for i in range(MOST_COMPARED + 1)}
    table = people_pairs(rated(given), "c")
    assert len(table.rows) == MOST_COMPARED + 1
    assert "with p0" not in {column.name for column in table.columns}
    assert {one for one, _, _ in every_two(table)} == {f"p{i}" for i in range(1, MOST_COMPARED + 1)}
    assert len(table.notes) == 2
