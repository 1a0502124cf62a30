"""Weights are draws of items."""

import numpy as np
import pytest

from concord.statistics import resampling
from concord.statistics.resampling import draws


def all_draws(*args, **options):
    return np.concatenate(list(draws(*args, **options)), axis=1)


def test_a_resample_draws_as_many_items_as_there_are():
    weights = all_draws(30, 200, 0)
    assert weights.shape == (30, 200)
    assert (weights.sum(axis=0) == 30).all()
    assert len(np.unique(weights, axis=1).T) == 200
    # A draw leaves an item out with probability (1 − 1/30)³⁰ = .362; 6,000 cells put the share within ±.025
    # of it.
    assert abs((weights == 0).mean() - (1 - 1 / 30) ** 30) < 0.025


def test_the_seed_decides(monkeypatch):
    first = all_draws(30, 50, 7)
    assert (first == all_draws(30, 50, 7)).all()
    assert (first != all_draws(30, 50, 8)).any()
    monkeypatch.setattr(resampling, "CELLS", 30 * 7)
    assert len(list(draws(30, 50, 7))) == 8
    assert (first == all_draws(30, 50, 7)).all()


def test_clusters_move_together():
    clusters = np.array([0, 0, 2, 2, 2, -1, -1])
    weights = all_draws(7, 300, 0, clusters=clusters)
    assert (weights[0] == weights[1]).all()
    assert (weights[2] == weights[4]).all()
    assert (weights[5] != weights[6]).any()
    # Four clusters, so four draws: the pair, the three, and two items that stand alone.
    assert (weights[[0, 2, 5, 6]].sum(axis=0) == 4).all()


def test_more_items_than_there_are():
    assert (all_draws(10, 20, 0, size=40).sum(axis=0) == 40).all()


def test_no_items_no_draws():
    assert list(draws(0, 100, 0)) == []


def test_only_some_items():
    weights = all_draws(10, 40, 0, subset=np.array([2, 5, 7]))
    assert (weights.sum(axis=0) == 3).all()
    assert set(np.flatnonzero(weights.any(axis=1))) == {2, 5, 7}
    clusters = np.array([9, 9, 4, 9, 9, 4, 9, 4, 9, 9])
    assert (all_draws(10, 40, 0, subset=np.array([2, 5, 7]), clusters=clusters)[[2, 5, 7]] == 1).all()


def test_tables_of_a_report_share_their_draws(monkeypatch):
    among, clusters = np.array([0, 2, 3, 4]), np.array([0, 0, 1, 1, -1])
    first = all_draws(5, 300, 31), all_draws(5, 300, 31, subset=among, clusters=clusters)
    monkeypatch.setattr(np.random, "default_rng", None)
    assert (all_draws(5, 300, 31) == first[0]).all()
    all_draws(5, 300, 31)[0] = 7  # what a table does with its own changes no other
    assert (all_draws(5, 300, 31) == first[0]).all()
    assert (all_draws(5, 300, 31, subset=among, clusters=clusters) == first[1]).all()


def test_draws_of_a_large_study_are_not_kept(monkeypatch):
    kept = all_draws(5, 300, 4)
    monkeypatch.setattr(resampling, "CELLS", 10)
    assert (all_draws(5, 300, 4) == kept).all()
    monkeypatch.setattr(np.random, "default_rng", None)
    with pytest.raises(TypeError):
        all_draws(5, 300, 4)


def test_counts_beyond_a_byte():
    assert all_draws(1, 3, 0, size=1000).tolist() == [[1000] * 3]
    assert (all_draws(2, 50, 0, size=1000).sum(axis=0) == 1000).all()
