"""Preferences between two, counted by hand."""

import numpy as np
import pytest

from concord.statistics.position import PairOrders
from concord.statistics.preferences import preferences
from concord.statistics.ratings import panel_name, read_ratings
from tests.statistics.frames import study

A, B, TIE = 0.0, 1.0, 2.0
ANSWERS = {A: 1.0, B: 0.0, TIE: 0.5}


def rows(people, judges, **more):
    table = preferences(read_ratings(study(people, judges)), "quality", ANSWERS, resamples=0, **more)
    return {row["rater"]: row for row in table.rows}


def test_agreement_with_ties_and_without_by_hand():
    # Six pairs: equal on 1, 2, 4; both decide on 1, 2, 3 and 6, equal on 1 and 2 of these.
    row = rows({"ann": [A, B, A, TIE, A, A]}, {"j": [A, B, B, TIE, TIE, B]})["j"]
    assert (row["n"], row["equal"].value) == (6, pytest.approx(3 / 6))
    assert (row["equal_decided"].n, row["equal_decided"].value) == (4, pytest.approx(2 / 4))
    assert (row["ties"].value, row["ties_of_people"].value) == pytest.approx((2 / 6, 1 / 6))


def test_each_of_several_annotators_counts_alike():
    # Pair 1: both say A as the judge does (1). Pair 2: one of two does (1/2).
    row = rows({"ann": [A, A], "bob": [A, B]}, {"j": [A, A]})["j"]
    assert row["equal"].value == pytest.approx((1 + 0.5) / 2)


def test_a_panel_prefers_what_most_of_its_judges_do():
    panel = rows({"ann": [A, B]}, {"j": [A, B], "k": [A, A], "l": [B, B]})[panel_name(("j", "k", "l"))]
    assert panel["equal"].value == 1


def test_preferences_that_change_with_the_order_are_counted():
    # Pair 1 holds; pair 2 goes to the one shown first, pair 3 to the one shown second; 4 was asked once.
    orders = {"j": PairOrders(np.array([A, A, B, A]), np.array([A, B, A, np.nan]))}
    row = rows({"ann": [A, A, A, A]}, {"j": [A, TIE, TIE, A]}, orders=orders)["j"]
    assert (row["changed"].n, row["changed"].value) == (3, pytest.approx(2 / 3))
    assert (row["to_first"], row["to_second"]) == (1, 1)


def test_figures_are_undefined_without_decided_or_common_pairs():
    row = rows({"ann": [TIE, TIE, A]}, {"j": [A, B, None]})["j"]
    assert (row["equal_decided"].value, row["equal_decided"].reason) == (None, "only ties")
    row = rows({"ann": [A, None]}, {"j": [None, B]})["j"]
    assert (row["n"], row["equal"].value, row["equal"].reason) == (0, None, "no pair has both answers")
