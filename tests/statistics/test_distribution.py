"""Score distribution: counts by hand, with and without a grid of answers."""

import numpy as np
import pandas as pd

from concord.statistics.distribution import score_distribution
from concord.statistics.ratings import read_ratings
from tests.statistics.frames import flat, judges, people, study


def test_each_value_counts_by_itself():
    rows = pd.concat([people({"ann": [1, 2, 2], "bob": [2, 2, None]}), judges({"j": [4] * 19 + [3]})])
    table = flat(score_distribution(read_ratings(rows), "quality")).set_index(["rater", "score"])
    assert table["count"].to_dict() == {
        ("All annotators", 1): 1,
        ("All annotators", 2): 4,
        ("ann", 1): 1,
        ("ann", 2): 2,
        ("bob", 2): 2,
        ("j", 3): 1,
        ("j", 4): 19,
    }
    assert table["share"]["All annotators", 2] == 4 / 5


def test_what_lies_between_two_answers_counts_with_the_nearer_one():
    rows = study({"ann": [1, 1, 2, 5]}, {"j": [1.4, 1.5, 4.6, 5]})
    table = flat(score_distribution(read_ratings(rows), "quality", np.arange(1.0, 6)))
    by = {rater: of.set_index("score").share.to_dict() for rater, of in table.groupby("rater")}
    assert by["ann"] == {1: 0.5, 2: 0.25, 3: 0, 4: 0, 5: 0.25}
    assert by["j"] == {1: 0.25, 2: 0.25, 3: 0, 4: 0, 5: 0.5}  # 1.5 goes up
