"""Resampling of many items of few kinds, and of many that differ, and agreement of many people at once."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from scipy import sparse, stats

from concord.arrays import levels
from concord.statistics import figures, held_out, kinds
from concord.statistics.correlation import correlation, point, row_points, row_ranks
from concord.statistics.figures import PointEstimate, estimates
from concord.statistics.judges import judge_figures
from concord.statistics.kinds import KindWeights, Unlike
from concord.statistics.nominal import kappa
from concord.statistics.ratings import read_ratings
from concord.statistics.reliability import reliability
from concord.statistics.resampling import draws, mean, ratio
from concord.statistics.spread import covariance
from concord.statistics.study import study_agreement

KINDS = np.array([[1, 2], [2, 2], [3, 4], [5, 4], [4, 5], [2, 1.0]])
"""What a person and a judge said, by kind."""
NUMBER = np.array([4, 1, 3, 2, 5, 2])
KIND = np.repeat(np.arange(6), NUMBER)
PERSON, JUDGE = KINDS[KIND].T


def drawn(resamples=7, seed=3):
    """Counts of kinds, and the items that have been drawn so often, one after another."""
    counts = np.random.default_rng(seed).multinomial(17, NUMBER / 17, size=resamples)
    return counts, KindWeights(KIND, counts.T.astype(float))


def test_statistics_of_kinds_are_those_of_the_items_they_stand_for():
    counts, weights = drawn()
    again = [(np.repeat(KINDS, of, axis=0).T) for of in counts]
    assert correlation(PERSON, JUDGE)(weights) == pytest.approx(
        [stats.spearmanr(*of).statistic for of in again]
    )
    tau = [stats.kendalltau(*of).statistic for of in again]
    assert correlation(PERSON, JUDGE, "kendall")(weights) == pytest.approx(tau)
    assert mean(JUDGE - PERSON)(weights) == pytest.approx([(y - x).mean() for x, y in again])
    moments = [np.cov(*of, ddof=0)[0, 1] for of in again]
    assert covariance(PERSON, JUDGE)(weights) == pytest.approx(moments)
    equal = np.array([(x == y).mean() for x, y in again])
    chance = np.array([sum((x == v).mean() * (y == v).mean() for v in range(1, 6)) for x, y in again])
    assert kappa(PERSON, JUDGE)(weights) == pytest.approx((equal - chance) / (1 - chance))


def test_a_statistic_that_tells_items_of_a_kind_apart_is_refused():
    _, weights = drawn()
    place = np.arange(17.0)
    for refused in (
        lambda: mean(place)(weights),
        lambda: ratio(np.where(place == 0, np.nan, 1.0), np.ones(17))(weights),
        lambda: sparse.csc_array(place[None]) @ weights,
        lambda: np.asarray(weights, dtype=float),
        lambda: weights.astype(float) * (place > 2)[:, None],
        lambda: weights.sum(axis=1),
    ):
        with pytest.raises(Unlike):
            refused()


def test_weights_of_a_part_of_the_items_are_of_whole_kinds():
    counts, weights = drawn()
    inside = PERSON > 2
    part = weights[np.flatnonzero(inside)]
    assert part.shape == (int(inside.sum()), 7)
    assert part.sum(axis=0) == pytest.approx(counts[:, KINDS[:, 0] > 2].sum(axis=1))
    with pytest.raises(Unlike):
        weights[np.arange(3)]


def large(items=6_000, fine=False, seed=0):
    """Two people and two judges who rated all of many items on 1 to 5; `fine`: a judge with decimals."""
    rng = np.random.default_rng(seed)
    quality = rng.integers(1, 6, items)
    given = {
        name: np.clip(quality + rng.integers(-1, 2, items), 1, 5).astype(float)
        for name in ("ann", "bob", "j", "k")
    }
    if fine:
        given["k"] = given["k"] + rng.random(items)
    rows = [
        pd.DataFrame({"unit": range(items), "rater": name, "score": of}).assign(
            kind="judge" if name in "jk" else "human", criterion="quality"
        )
        for name, of in given.items()
    ]
    return read_ratings(pd.concat(rows, ignore_index=True), final_criteria=())


def one_by_one(monkeypatch):
    monkeypatch.setattr(figures, "kinds_of", lambda *_: None)


@pytest.mark.parametrize(
    "table_of",
    [
        lambda table, **how: judge_figures(table, "quality", panels=(), **how).rows[0],
        lambda table, **how: held_out.held_out(table, "quality", panels=(), **how).rows[0],
        lambda table, **how: held_out.held_out(table, "quality", panels=(), measure="kappa", **how).rows[0],
        lambda table, **how: {
            row["coefficient"]: row["value"] for row in reliability(table, "quality", **how).rows
        },
        lambda table, **how: study_agreement(table, panels=(), **how).criteria["quality"].alpha,
    ],
)
def test_kinds_have_the_intervals_of_single_items(monkeypatch, table_of):
    """Both are bootstraps of 800 resamples: their standard errors differ by chance, 1 in 28 each."""
    table = large()
    by_kind = table_of(table, resamples=800)
    one_by_one(monkeypatch)
    by_item = table_of(table, resamples=800)
    compared = 0
    for name, figure in by_kind.items():
        if getattr(figure, "interval", None):
            assert figure.value == by_item[name].value
            widths = [of.interval[1] - of.interval[0] for of in (figure, by_item[name])]
            assert widths[0] == pytest.approx(widths[1], rel=0.15)
            assert widths[0] != widths[1]
            compared += 1
    assert compared


def test_figures_that_tell_items_apart_are_drawn_one_by_one(monkeypatch):
    table = large()
    place = PointEstimate(mean(np.arange(6_000.0)), 6_000)
    [by_kind] = estimates([place], table, criterion="quality", resamples=700)
    one_by_one(monkeypatch)
    assert estimates([place], table, criterion="quality", resamples=700) == [by_kind]


def test_small_tables_are_drawn_one_by_one_whatever_their_kinds():
    table = large(400)
    assert table["quality"].kinds is None  # of 400 items the patterns are too many
    assert kinds.kinds_of(table, "quality", 1000) is None
    assert kinds.enough(table, 1000) == 1000


def test_many_items_that_differ_have_a_fifth_of_the_resamples():
    table = large(fine=True)
    assert table["quality"].kinds is None
    assert kinds.enough(large(), 1000) == 1000
    assert kinds.enough(table, 1000) == 4_000_000 // 6_000
    assert kinds.enough(large(30_000, fine=True), 1000) == 200


def test_items_that_nobody_rated_are_never_drawn():
    kind = np.array([0, 0, 1, -1, 1])
    for weights in kinds.draws(kind, 50, 1):
        total = np.ones(5) @ weights
        assert (total == 4).all()
        nobody = np.array([0, 0, 0, 1.0, 0])
        assert ((nobody @ weights) == 0).all()


def test_weights_of_items_count_as_often_as_they_are_drawn():
    """An item of weight 3 drawn twice counts 6: weights of one kind that differ make two kinds."""
    kind, inclusion = np.array([0, 0, 0, 0]), np.array([3.0, 1, 3, 1])
    heavy, light = np.array([1.0, 0, 1, 0]), np.array([0, 1.0, 0, 1])
    for weights in kinds.draws(kind, 20, 1, inclusion):
        threes, ones = heavy @ weights, light @ weights
        assert (threes % 3 == 0).all()
        assert threes / 3 + ones == pytest.approx(np.full(20, 4))
        assert len(np.unique(threes)) > 1


def test_levels_are_the_distinct_values_and_places_of_numpy():
    rng = np.random.default_rng(0)
    for values in (
        rng.integers(1, 6, 20_000) / 1.0,
        np.round(rng.integers(3, 16, 20_000) / 3, 9),
        rng.normal(size=3_000),
        np.round(rng.random(20_000), 6),
        np.array([2.0, 1.0, 2.0]),
        np.empty(0),
    ):
        found, place = levels(values)
        expected, inverse = np.unique(values, return_inverse=True)
        assert found.tolist() == expected.tolist()
        assert place.tolist() == inverse.tolist()


def test_ranks_of_rows_are_those_of_scipy_on_the_items_both_have():
    rng = np.random.default_rng(2)
    x, y = rng.integers(1, 6, (9, 30)) * 1.0, rng.integers(1, 4, (9, 30)) / 2
    missing = rng.random((9, 30)) < 0.3
    missing[8, 2:] = True
    missing[8, :2] = False
    x[missing], y[missing] = np.nan, np.nan
    y[7] = np.where(missing[7], np.nan, 2)
    n = (~missing).sum(axis=1)
    found = row_points(row_ranks(x), row_ranks(y), n)
    for row in range(7):
        there = ~missing[row]
        assert found[row] == point(x[row], y[row])
        assert found[row] == pytest.approx(stats.spearmanr(x[row][there], y[row][there]).statistic)
    assert np.isnan(found[7:]).all()  # one never varies; two items are too few


def gappy(seed, words=False):
    """Seven people and two judges, each of whom lacks a fifth of 40 items."""
    rng = np.random.default_rng(seed)
    quality = rng.normal(size=40)
    rows = []
    for name in (*"abcdefg", "j", "k"):
        score = np.digitize(quality + rng.normal(0, 0.7, 40), [0] if words else [-1, 0, 1]) + 1.0
        there = rng.random(40) > 0.2
        of = pd.DataFrame({"unit": np.arange(40)[there], "rater": name, "score": score[there]})
        rows.append(of.assign(kind="judge" if name in "jk" else "human", criterion="quality"))
    return read_ratings(pd.concat(rows, ignore_index=True), final_criteria=())


@pytest.mark.parametrize(("by", "most"), [("spearman", 0), ("spearman", 100), ("kappa", 0)])
def test_people_at_once_are_as_one_by_one(monkeypatch, by, most):
    """Agreement of all people in rows is that of each person alone, and so is what is resampled of it."""
    scores = gappy(5, words=by == "kappa")["quality"]
    # A judge that rated everything has the same items beside a person as that person has.
    scores = replace(scores, judges={**scores.judges, "j": np.nan_to_num(scores.judges["j"], nan=2.0)})
    judge = scores.contenders([("j", "k")])[0 if most else 2]
    [weights] = draws(40, 9, 1)
    together = held_out._compared(scores, by)(judge)
    monkeypatch.setattr(held_out, "CELLS_OF_ROWS", 1)
    if by == "spearman":
        monkeypatch.setattr(held_out, "MOST_IN_ROWS", most)
        monkeypatch.setattr(held_out, "MOST_RANKED", 0)
    alone = held_out._compared(scores, by)(judge)
    assert together.values.tolist() == alone.values.tolist()
    assert (together.items == alone.items).all()
    for person in together.defined.tolist():
        for one, other in zip(together.statistics(person), alone.statistics(person), strict=True):
            assert one(weights) == pytest.approx(other(weights), nan_ok=True)
        own = [float(of(np.ones((40, 1)))[0]) for of in together.statistics(person)]
        assert own == pytest.approx(together.values[person].tolist())
