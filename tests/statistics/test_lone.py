"""Annotators who agree with nobody, and who only seem so on rare answers."""

import numpy as np
import pytest

from concord.statistics.claims import p_above
from concord.statistics.lone import lone
from concord.statistics.ratings import read_ratings
from tests.statistics.frames import study


def likert(rng, quality, noise):
    return np.clip(np.round(quality + noise * rng.normal(size=len(quality))), 1, 5).tolist()


def test_who_answers_anything_agrees_with_nobody():
    rng = np.random.default_rng(2)
    quality = rng.normal(3, 1, 120)
    people = {name: likert(rng, quality, 0.6) for name in "ab"}
    people["c"] = rng.integers(1, 6, 120).astype(float).tolist()
    found = {one.person: one for one in lone(read_ratings(study(people, {})), "quality", "spearman")}
    assert [name for name, one in found.items() if p_above(one.contrast, 0.0) < 0.001] == ["c"]
    # c's own agreement is the mean of two pairs, that of the others the one of a with b.
    assert found["c"].contrast.value == pytest.approx(
        found["c"].between_others / 2 - found["c"].with_annotator
    )


def test_the_means_are_over_pairs_by_hand():
    """a and b give the same order, c the opposite of nine items of ten: ρ of a and c is −1, of a and b 1."""
    order = [float(n) for n in range(10)]
    people = {"a": order, "b": order, "c": order[::-1]}
    found = {one.person: one for one in lone(read_ratings(study(people, {})), "quality", "spearman")}
    assert (found["c"].with_annotator, found["c"].between_others) == pytest.approx((-1.0, 1.0))
    assert (found["a"].with_annotator, found["a"].between_others) == pytest.approx((0.0, -1.0))


@pytest.mark.parametrize("rows", [60, 600])
def test_rare_answers_accuse_nobody(rows):
    """A yes in 20: of 60 rows no contrast has an interval, of 600 all annotators agree as little."""
    for seed in range(20):
        rng = np.random.default_rng(seed)
        seen = rng.normal(size=rows) + 0.8 * rng.normal(size=(3, rows))
        people = dict(zip("abc", (seen > 2.1).astype(float).tolist(), strict=True))
        found = lone(read_ratings(study(people, {})), "quality", "kappa", resamples=200)
        assert not [one for one in found if p_above(one.contrast, 0.0) < 0.001 / 3]
        assert rows > 60 or all(one.contrast.interval is None for one in found)


def test_two_annotators_are_not_told_apart():
    assert lone(read_ratings(study({"a": [1, 2, 3], "b": [3, 2, 1]}, {})), "quality", "spearman") == []
