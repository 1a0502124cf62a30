"""Test–retest: whether a judge repeats its own answers."""

import numpy as np
import pytest

from concord.statistics.ratings import read_ratings
from concord.statistics.reliability import retest
from tests.statistics.frames import flat, study

SHROUT_FLEISS = np.array(  # Shrout and Fleiss (1979), table 2: six targets, four judges
    [[9, 2, 5, 8], [6, 1, 3, 2], [8, 4, 6, 8], [7, 1, 2, 6], [10, 5, 6, 9], [6, 2, 4, 7]], dtype=float
)


def test_retest_of_the_published_example():
    # Shrout and Fleiss (1979): ICC(1,1) of the six targets and four judges is .17.
    table = read_ratings(study({}, {"j": SHROUT_FLEISS.mean(axis=1).tolist()}))
    row = flat(retest(table, "quality", {"j": SHROUT_FLEISS.T.astype(float)}, resamples=50)).iloc[0]
    assert round(row["icc"], 2) == 0.17
    # Of the six targets' 36 pairs of answers only the third target's two eights are equal.
    assert row["exact"] == pytest.approx(1 / 36)


def test_retest_undefined():
    table = read_ratings(study({}, {"j": [3.0] * 5}))
    row = retest(table, "quality", {"j": np.full((1, 5), 3.0)}).rows[0]
    assert row["icc"].reason == row["exact"].reason == "fewer than two runs"
    constant = retest(table, "quality", {"j": np.full((2, 5), 3.0)}, resamples=20).rows[0]
    assert (constant["exact"].value, constant["icc"].reason) == (1, "all answers are equal")
