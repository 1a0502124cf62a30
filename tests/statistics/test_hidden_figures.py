"""Test–retest of annotators and hits on gold items, by hand."""

import math

import pytest

from concord.statistics.hidden import annotator_retest, gold_hits, share
from concord.statistics.intervals import student

FIRST = [1.0, 2.0, 3.0, 4.0, 5.0, 2.0, 3.0, 4.0]
SECOND = [1.0, 3.0, 3.0, 4.0, 4.0, 2.0, 5.0, 4.0]


def row(first, second, **options):
    [found] = annotator_retest({"ann": (first, second, [math.nan] * len(first))}, **options).rows
    return found


def test_the_three_figures_of_eight_items():
    found = row(FIRST, SECOND)
    # Differences 0, 1, 0, 0, −1, 0, 2, 0: five alike of 8, their sum is 2, that of their squares 6.
    assert found["exact"].value == pytest.approx(5 / 8)
    assert found["difference"].value == pytest.approx(2 / 8)
    # Σa = 24, Σb = 26, Σa² = 84, Σb² = 96. Squared distance by chance: 84/8 + 96/8 − 2 · 24/8 · 26/8 = 3.
    # κ = 1 − (6/8) / 3.
    assert found["kappa"].value == pytest.approx(0.75)
    for name in ("exact", "kappa", "difference"):
        low, high = found[name].interval
        assert low < found[name].value < high
        assert found[name].n == 8


def test_seven_items_have_no_interval_and_none_of_one_answer_has_kappa():
    found = row(FIRST[:7], SECOND[:7])
    for name in ("exact", "kappa", "difference"):
        assert found[name].interval is None
        assert found[name].reason == "no interval: 7 items are too few, at least 8 are needed"
    constant = row([3.0] * 8, [3.0] * 8)
    assert (constant["exact"].value, constant["kappa"].value) == (1.0, None)
    assert constant["kappa"].reason == "the same answer every time"


def test_categories_have_plain_kappa_and_no_difference():
    # Five of 8 alike: 0.625. By chance, answers 0 · 0.5 · 0.375 + 0.5 · 0.625 = 0.5.
    first, second = [0, 0, 0, 0, 1, 1, 1, 1], [0, 0, 1, 1, 1, 1, 1, 0]
    found = row(list(map(float, first)), list(map(float, second)), nominal=True)
    assert found["kappa"].value == pytest.approx((0.625 - 0.5) / 0.5)
    assert "difference" not in found


def test_hits_with_the_interval_of_two_more_values():
    found = share(8, 10)
    # Eight ones, two zeros, and one more of each: mean 9/12, Σ squares 9 · 0.25² + 3 · 0.75² = 2.25.
    half = student(11) * math.sqrt(2.25 / 11 / 12)
    assert found.value == 0.8
    assert found.interval == pytest.approx((0.75 - half, min(1.0, 0.75 + half)))
    assert (share(3, 7).interval, share(0, 0).reason) == (None, "no item was submitted")


def test_attention_checks_are_gold_items_with_columns_of_their_own():
    found = gold_hits({"ann": [(True, False)] * 6 + [(False, True), (True, True)]})
    [row] = found.rows
    assert (row["n"], row["hits"].value, row["checks"], row["passed"]) == (8, 7 / 8, 2, 1)
