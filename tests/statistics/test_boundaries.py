"""Bounds that decide a verdict, a flag or an interval, each from both sides."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest
from scipy import stats

import concord
from concord.codes import Claim, DriftOutcome, Verdict
from concord.estimate import Estimate, undefined
from concord.reports.advice import disagree
from concord.reports.flags import on_criterion
from concord.statistics.claims import CLAIMS, Contrasts, verdicts
from concord.statistics.drift import drift
from concord.statistics.group_differences import group_differences
from concord.statistics.held_out import held_out
from concord.statistics.oddities import EXACT, chance_of_hits
from concord.statistics.ratings import read_ratings
from tests.statistics.frames import study

MARGIN = 0.1
OTHERS = CLAIMS[Claim.OTHER_JUDGES].share
CLEAR = Estimate(0.8, 0.7, 0.9, 1000, freedom=math.inf)
"""An agreement of which nobody doubts that it is above 0."""


def with_p(p, bound):
    """A difference whose p of lying on the wrong side of a bound is this one, by the normal distribution."""
    error = abs(bound) / stats.norm.isf(p)
    half = stats.norm.isf(0.025) * error
    return Estimate(0.0, -half, half, 1000, freedom=math.inf)


def as_good(p):
    return Contrasts(CLEAR, with_p(p, MARGIN), CLEAR, 1000)


def worse(p):
    """A judge that loses 0.5 or so, with this p of losing nothing."""
    shift = with_p(p, 0.5)
    low, high = shift.interval
    below = Estimate(-0.5, low - 0.5, high - 0.5, 1000, freedom=math.inf)
    return Contrasts(CLEAR, below, CLEAR, 1000)


UNMEASURED = [Contrasts(None, undefined("nobody"), None, 0), Contrasts(None, None, None, 0)]


@pytest.mark.parametrize(("of", "decided"), [(as_good, Verdict.AS_GOOD), (worse, Verdict.WORSE)])
@pytest.mark.parametrize("others", [1, 2, 3, 5])
def test_other_judges_share_one_rate_of_error(of, decided, others):
    """Of so many others each has the share over their number: the page's own and those without an interval
    are none of them.
    """
    for part, expected in ((0.97, decided), (1.03, Verdict.INCONCLUSIVE)):
        compared = [of(1e-9), *(of(part * OTHERS / others) for _ in range(others)), *UNMEASURED]
        found = verdicts(compared, 0, margin=MARGIN)
        assert found[0] == decided
        assert found[1 : others + 1] == [expected] * others


@pytest.mark.parametrize(
    ("low", "high", "weak"),
    [
        (-0.1, 0.3, True),
        (0.0, 0.39, True),
        (-0.1, 0.4, False),  # may be more than weak
        (-0.1, 0.9, False),
        (0.05, 0.3, False),  # sure to be above 0
        (0.05, 0.19, True),  # and slight at most
        (0.05, 0.2, False),
    ],
)
def test_annotators_are_said_to_disagree_within_two_bounds(low, high, weak):
    assert disagree(Estimate((low + high) / 2, low, high, 50)) == weak


def test_annotators_without_an_interval_are_not_said_to_disagree():
    assert not disagree(Estimate(-0.5, n=4))
    assert not disagree(None)


@pytest.mark.parametrize(
    ("passes", "fails", "rare"),
    [
        (41, 19, True),
        (41, 20, False),  # twenty are enough
        (19, 41, True),
        (19, 19, False),  # of two halves none is the rarer one
        (19, 18, True),
        (25, 0, True),
    ],
)
def test_the_rarer_answer_is_counted_where_it_is_rare(passes, fails, rare):
    person = ["pass"] * passes + ["fail"] * fails
    judge = ["fail", *person[1:]]
    report = concord.check(
        pd.DataFrame({"human": person, "judge": judge}),
        scales={"": "0:fail,1:pass"} if not fails else None,
        resamples=20,
    ).report
    claims = {flag.claim for flag in on_criterion(report, report.main, report.primary_panel)}
    assert (Claim.RARE in claims) == rare


@pytest.mark.parametrize(("rarer", "measured"), [(19, False), (20, True), (21, True)])
def test_a_difference_of_kappas_takes_twenty_rarer_answers(rarer, measured):
    person = [1] * rarer + [0] * (100 - rarer)
    other = [0, *person[1:-1], 1]
    judge = [*person[:5], *([0] * 3), *person[8:]]
    table = read_ratings(study({"Ada": person, "Ben": other}, {"j": judge}))
    [row] = held_out(table, "quality", measure="kappa", resamples=100).rows
    assert (row["difference"].interval is not None) == measured
    assert row["difference"].defined


def test_drift_is_excluded_by_90_and_shown_by_95_percent():
    """4 of 18 items move by 1 on 0..1: with ± 1 added the sum is 4, the variance (6 − 20 · 0.2²) / 19, and
    its root over √20 is 0.11698. t₁₉ is 1.7291 and 2.0930: 0.2222 ± 0.2023 and ± 0.2448. So 90%
    exclude 0, and 95% do not.
    """
    old, new = np.zeros(18), np.array([1.0] * 4 + [0.0] * 14)
    found = drift(old, new, 0.01, (0.0, 1.0))
    assert found.shift.interval == pytest.approx((0.2222 - 0.2023, 0.2222 + 0.2023), abs=1e-4)
    assert found.outcome == DriftOutcome.INCONCLUSIVE
    # The same within a margin beyond 0.4245, though the 95% interval ends at 0.4671.
    assert drift(old, new, 0.44, (0.0, 1.0)).outcome == DriftOutcome.UNCHANGED
    assert drift(old, new, 0.42, (0.0, 1.0)).outcome == DriftOutcome.INCONCLUSIVE
    five = np.array([1.0] * 6 + [0.0] * 12)
    assert drift(old, five, 0.01, (0.0, 1.0)).outcome == DriftOutcome.MOVED


def test_p_of_groups_counts_every_facet_that_was_looked_at():
    """The least p of two facets is multiplied by two (Bonferroni), of three by three."""
    rng = np.random.default_rng(8)
    quality = rng.normal(3, 1, 80)
    group = {item: "ab"[item % 2] for item in range(80)}
    noise = {
        f"noise {n}": {item: "xy"[int(of)] for item, of in enumerate(rng.integers(0, 2, 80))} for n in "12"
    }
    people = {name: (quality + rng.normal(0, 0.5, 80)).tolist() for name in ("ann", "bob")}
    judge = quality + rng.normal(0, 0.5, 80) + 0.35 * (np.arange(80) % 2)
    table = read_ratings(study(people, {"j": judge.tolist()}))
    alone, *_ = group_differences(table, "quality", {"group": group}, ["j"], nominal=False)
    assert 0.002 < alone.p < 0.2
    for number in (1, 2):
        others = dict(list(noise.items())[:number])
        found, *_ = group_differences(table, "quality", {"group": group, **others}, ["j"], nominal=False)
        assert found.facet == "group"
        assert found.p == pytest.approx((number + 1) * alone.p, rel=0.25)
        assert found.compared == (number + 1) * alone.compared


@pytest.mark.parametrize("hits", [290, 300, 301, 310, 330])
def test_the_normal_chance_of_hits_is_corrected_towards_more(hits):
    """“At least 300” begins at 299.5: without the correction, or with it the other way, it is 2 or 3 points
    off.
    """
    assert EXACT < 600
    assert chance_of_hits(hits, np.full(600, 0.5)) == pytest.approx(
        stats.binom.sf(hits - 1, 600, 0.5), abs=1e-3
    )
