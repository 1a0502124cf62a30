"""Test–retest: whether a judge repeats its own answers."""

import numpy as np
import pytest

from concord.statistics.ratings import read_ratings
from concord.statistics.reliability import retest

from .frames import flat, study

SHROUT_FLEISS = np.array(  # Shrout and Fleiss (1979), table 2: six targets, four judges
    [[9, 2, 5, 8], [6, 1, 3, 2], [8, 4, 6, 8], [7, 1, 2, 6], [10, 5, 6, 9], [6, 2, 4, 7]], dtype=float
)


def test_retest_of_the_published_example():
    # Shrout and Fleiss (1979): ICC(1,1) of the six targets and four judges is .17.
    runs = {f"run {i}": column.tolist() for i, column in enumerate(SHROUT_FLEISS.T)}
    row = flat(retest(read_ratings(study({}, runs)), "quality", {"j": list(runs)}, resamples=50)).iloc[0]
    assert round(row["icc"], 2) == 0.17
    # Of the six targets' 36 pairs of answers only the third target's two eights are equal.
    assert row["exact"] == pytest.approx(1 / 36)


def test_retest_undefined():
    row = retest(read_ratings(study({}, {"a": [1, 2]})), "quality", {"j": ["a"]}).rows[0]
    assert row["icc"].reason == row["exact"].reason == "fewer than two runs"
    rows = study({}, {"a": [3] * 5, "b": [3] * 5})
    constant = retest(read_ratings(rows), "quality", {"j": ["a", "b"]}, resamples=20).rows[0]
    assert (constant["exact"].value, constant["icc"].reason) == (1, "all answers are equal")
