"""Nominal alpha and kappa beside hand arithmetic, published examples and a plain implementation."""

from __future__ import annotations

import itertools
import re

import krippendorff
import numpy as np
import pytest
from hypothesis import given

from concord.statistics.nominal import nominal
from concord.statistics.ratings import read_ratings
from tests.statistics.frames import flat, matrix, people, sparse, study


def value(figures, a="", b=""):
    rows = flat(figures).rename(columns={"value_low": "low", "value_high": "high"})
    (row,) = rows[(rows.a == a) & (rows.b == b)].to_dict("records")
    return row


def test_kappa_by_hand():
    # Fifty applications, two readers: both yes 20, both no 15, 5 and 10 apart. p_o = 35/50 = .7; yes
    # 25/50 and 30/50: p_e = .5 × .6 + .5 × .4 = .5; kappa = (.7 − .5) / (1 − .5) = .4.
    table = people(
        {"Ada": [1] * 20 + [1] * 5 + [0] * 10 + [0] * 15, "Ben": [1] * 20 + [0] * 5 + [1] * 10 + [0] * 15}
    )
    row = value(nominal(read_ratings(table), "quality", resamples=100), "Ada", "Ben")
    assert row["value"] == pytest.approx(0.4)
    assert (row["agreement"], row["n"]) == (0.7, 50)
    assert row["low"] < 0.4 < row["high"]


def test_alpha_of_krippendorffs_binary_example():
    # Krippendorff (2011), two observers, ten units, binary: alpha = 0.095.
    table = people({"Meg": [0, 1, 0, 0, 0, 0, 0, 0, 1, 0], "Owen": [1, 1, 1, 0, 0, 1, 0, 0, 0, 0]})
    assert value(nominal(read_ratings(table), "quality", resamples=0))["value"] == pytest.approx(
        0.095, abs=0.0005
    )


def test_alpha_of_krippendorffs_nominal_example():
    # Krippendorff (2011), four observers, twelve units, missing data: alpha nominal = 0.743.
    rows = {
        "A": [1, 2, 3, 3, 2, 1, 4, 1, 2, None, None, None],
        "B": [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, None, 3],
        "C": [None, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, None],
        "D": [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, None],
    }
    row = value(nominal(read_ratings(people(rows)), "quality", resamples=0))
    assert row["value"] == pytest.approx(0.743, abs=0.0005)
    assert row["n"] == 11  # the last unit has one value


@given(sparse(values=3))
def test_alpha_is_that_of_the_library_and_kappa_that_of_the_definition(cells):
    table = people({f"r{i}": [None if np.isnan(c) else c for c in row] for i, row in enumerate(cells)})
    if table.empty:
        return
    found = nominal(read_ratings(table), "quality", resamples=0)
    wide = matrix(table)
    try:
        expected = krippendorff.alpha(wide.to_numpy(), level_of_measurement="nominal")
    except (ValueError, AssertionError, RuntimeWarning):
        expected = np.nan
    assert value(found)["value"] == pytest.approx(expected, nan_ok=True)
    for a, b in itertools.combinations(wide.index, 2):
        both = wide.loc[[a, b]].dropna(axis=1)
        x, y = both.to_numpy() if both.size else (np.empty(0), np.empty(0))
        p_o = np.mean(x == y) if len(x) else np.nan
        p_e = sum(np.mean(x == v) * np.mean(y == v) for v in {*x, *y})
        kappa = (p_o - p_e) / (1 - p_e) if len(x) and p_e < 1 - 1e-12 else np.nan
        assert value(found, a, b)["value"] == pytest.approx(kappa, nan_ok=True)


def test_judges_with_each_person_and_with_the_majority():
    table = study({"A": [1, 1, 0, 0], "B": [1, 0, 0, 0], "C": [1, 1, 0, 1]}, {"j": [1, 1, 0, 1]})
    found = nominal(read_ratings(table), "quality", resamples=0)
    # Majority 1 1 0 0; the judge differs on the last: p_o = 3/4; yes 2/4 and 3/4: p_e = 1/2; kappa = 1/2.
    assert value(found, "j", "majority of people")["value"] == pytest.approx(0.5)
    assert value(found, "j", "C")["value"] == 1


def test_a_tie_has_no_majority():
    found = nominal(
        read_ratings(study({"A": [1, 1, 0], "B": [0, 1, 0]}, {"j": [1, 1, 0]})), "quality", resamples=0
    )
    assert value(found, "j", "majority of people")["n"] == 2


@pytest.mark.parametrize(
    ("persons", "reason"),
    [
        ({"A": [1, None], "B": [None, 0]}, "no shared items"),
        ({"A": [1, 1], "B": [1, 1]}, "0 ÷ 0: both gave one answer to all items"),
    ],
)
def test_undefined_says_why(persons, reason):
    row = value(nominal(read_ratings(people(persons)), "quality", resamples=10), "A", "B")
    assert np.isnan(row["value"])
    assert row["reason"] == reason


@pytest.mark.parametrize(
    ("persons", "reason"),
    [
        (
            {"A": [1, 1, 1, 1], "B": [1, 1, 1, 0]},
            "A gave one answer to all items, so kappa is 0 whatever the other answers",
        ),
        (
            {"A": [1, 0, 1, 1], "B": [0, 0, 0, 0]},
            "B gave one answer to all items, so kappa is 0 whatever the other answers",
        ),
        (
            {"A": [1, 1], "B": [0, 0]},
            "each gave one answer to all items, and the answers differ: kappa is 0 by construction",
        ),
    ],
)
def test_a_kappa_that_cannot_be_other_than_0_says_so(persons, reason):
    # With A always 1, p_e = P(B = 1) = p_o, and kappa = 0 ÷ (1 − p_e).
    row = value(nominal(read_ratings(people(persons)), "quality", resamples=0), "A", "B")
    assert row["value"] == 0
    assert row["note"].startswith(reason)


def test_a_missing_interval_says_why():
    """Two of eight pass: of the resamples (6/8)⁸ = 10 % have none that does, and both are constant in
    them.
    """
    row = value(
        nominal(
            read_ratings(people({"A": [1] * 6 + [0] * 2, "B": [1] * 6 + [0] * 2})), "quality", resamples=4000
        ),
        "A",
        "B",
    )
    assert row["value"] == 1
    assert np.isnan(row["low"])
    assert re.fullmatch(r"no interval: undefined in (9|1[0-2])% of the resamples", row["reason"])


def test_a_kappa_on_few_rarer_answers_has_no_interval():
    """Of 60 rows 9 pass, fewer than ten of more than three in four; of 36 rows 9 are a quarter, and
    enough.
    """
    rows = {items: [1] * 9 + [0] * (items - 9) for items in (36, 60)}
    few, enough = (
        value(nominal(read_ratings(people({"A": rows[n], "B": rows[n][::-1]})), "quality"), "A", "B")
        for n in (60, 36)
    )
    assert few["reason"] == "no interval: fewer than 10 items have a rarer answer"
    assert np.isfinite(enough["low"])


def test_one_person_has_nobody_to_agree_with():
    found = nominal(read_ratings(people({"A": [1, 0, 1]})), "quality", resamples=10)
    assert len(found.rows) == 1
    assert found.rows[0]["value"].reason == "no item was rated by two annotators"
