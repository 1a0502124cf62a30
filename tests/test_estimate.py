"""An estimate is a number or a reason, never nan."""

from __future__ import annotations

import math

import pytest

from concord.estimate import Estimate, estimate, too_few, undefined


def test_nan_becomes_a_reason():
    assert estimate(math.nan, n=2, reason="two items are too few") == undefined("two items are too few", n=2)
    assert estimate(math.nan).reason == "undefined"


def test_one_item_is_too_few_and_two_are():
    assert too_few(1, 8, "in common") == "1 item in common is too few, at least 8 are needed"
    assert too_few(2) == "2 items are too few"


def test_an_interval_with_a_nan_end_is_none():
    found = estimate(0.5, 0.4, math.nan, method="bootstrap", reason="undefined in 8% of the draws")
    assert found.interval is None
    assert found.half_width is None
    assert found.reason == "undefined in 8% of the draws"
    assert found.method == ""


@pytest.mark.parametrize(
    "wrong",
    [
        lambda: Estimate(math.nan),
        lambda: Estimate(math.inf),
        lambda: Estimate(None),
        lambda: Estimate(1.0, low=0.5),
        lambda: Estimate(None, 0.1, 0.2, reason="none"),
        lambda: Estimate(1.0, math.nan, math.nan),
    ],
)
def test_what_no_estimate_can_hold(wrong):
    with pytest.raises(ValueError, match=r"estimate|interval"):
        wrong()


def test_json_holds_the_ends_and_why_there_are_none():
    assert Estimate(1.0, 0.5, 1.5, 9, "bootstrap").as_json() == {
        "value": 1.0,
        "ci": [0.5, 1.5],
        "n": 9,
        "method": "bootstrap",
    }
    assert undefined("one rater", n=0).as_json() == {"value": None, "ci": None, "n": 0, "reason": "one rater"}


def test_an_estimate_is_a_number_with_an_interval():
    rho = Estimate(0.6234, 0.5, 0.7, 60)
    assert float(rho) == 0.6234
    assert rho > 0.6 >= 0.5
    assert rho < Estimate(0.7)
    assert not rho <= 0.5
    assert rho >= 0.6234
    assert f"{rho:.2f} {rho:+.1%}" == "0.62 +62.3%"
    assert f"{rho}" == str(rho)
    assert max([rho, Estimate(0.9), Estimate(0.1)]) == Estimate(0.9)
    missing = Estimate(None, reason="nobody rated it")
    assert math.isnan(float(missing))
    assert f"{missing:.2f}" == "undefined"
    assert not missing > 0
    assert not missing <= 0
