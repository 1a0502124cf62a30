"""How often a judge scores an item higher: counted by hand."""

import numpy as np
import pandas as pd

from concord.statistics.higher import higher
from concord.statistics.ratings import read_ratings


def test_two_of_three_items_are_higher():
    # Means of the two annotators: 2, 3, 4. The judge: 3, 3, 5. Above the mean: the first and the third.
    people = {"ann": (1, 3, 4), "bob": (3, 3, 4)}
    rows = [
        {"unit": unit, "criterion": "wit", "rater": rater, "kind": kind, "score": float(score), "repeat": 0}
        for kind, raters in (("human", people), ("judge", {"j": (3, 3, 5)}))
        for rater, scores in raters.items()
        for unit, score in enumerate(scores)
    ]
    [row] = higher(read_ratings(pd.DataFrame(rows)), "wit", resamples=0).rows
    assert row["n"] == 3
    assert np.isclose(row["higher"].value, 2 / 3)
