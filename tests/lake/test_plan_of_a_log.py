"""A plan says first that judging a part of a log is enough, with both intervals and prices."""

import math

import numpy as np
import pytest

from concord.questions import LIKERT_5
from concord.reports.plan import PlanOptions, plan_of

SCORES = np.tile([1.0, 2.0, 4.0, 5.0, 5.0], 100)


def planned(**options):
    nobody = np.full(len(SCORES), np.nan)
    return plan_of(
        "Helpful", "a", SCORES, nobody, LIKERT_5, PlanOptions(agreement=0.7, labels=400, **options)
    )


def test_a_part_is_enough_with_both_intervals_and_prices():
    plan = planned(log=10_000_000, judge_price=0.002)
    deviation = SCORES.std(ddof=1)

    def half(judged):
        return 1.959964 * deviation * math.sqrt((1 - 0.49) / 400 + 0.49 * (1 / judged - 1e-7))

    # 5,000 is 3.8% wider than all, 1,000 is 17.7%
    assert half(1_000) / half(10_000_000) - 1 > 0.05 > half(5_000) / half(10_000_000) - 1
    first = plan.sentences[0]
    assert "5,000 of the 10,000,000 rows" in first
    assert f"± {half(5_000):.3f}, against ± {half(10_000_000):.3f}" in first
    assert "10.00 in place of 20,000.00" in first


@pytest.mark.parametrize("log", [0, 600])
def test_a_short_log_is_judged_whole(log):
    assert not planned(log=log).sentences[0].startswith("Judge a random")
