"""The table at a glance: joined from its sections, with a verdict; two panels side by side."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from concord.estimate import Estimate, undefined
from concord.statistics.claims import beside_person
from concord.statistics.glance import glance, panel_difference
from concord.statistics.held_out import held_out
from concord.statistics.judges import judge_figures
from concord.statistics.ratings import Ratings, read_ratings
from concord.table import Table

from .frames import study


def rated(items: int = 80, **anonymous: bool) -> Ratings:
    """Three people and two judges on the same truth, the second judge much noisier."""
    rng = np.random.default_rng(1)
    truth = rng.normal(size=items)

    def likert(noise: float) -> list[int]:
        return np.clip(np.round(3 + truth + noise * rng.normal(size=items)), 1, 5).astype(int).tolist()

    rows = study({name: likert(1.2) for name in "abc"}, {"good": likert(0.1), "bad": likert(8.0)})
    return read_ratings(rows, **anonymous)  # type: ignore[arg-type]


def at_a_glance(table: Ratings) -> tuple[Table, Table, Table]:
    judges = judge_figures(table, "quality", panels=(), resamples=100)
    beside = held_out(table, "quality", panels=(), resamples=100)
    return glance(judges, beside, {"good": "Good"}, first="good"), judges, beside


def test_a_row_joins_what_the_sections_say_of_a_judge():
    found, judges, beside = at_a_glance(rated())
    assert [row["rater"] for row in found.rows] == ["bad", "good"]
    for row, judge, other in zip(found.rows, judges.rows, beside.rows, strict=True):
        assert [row[name] for name in ("bias", "mae", "n", "spearman")] == [
            judge[name] for name in ("bias", "mae", "n", "spearman")
        ]
        assert [row[name] for name in ("judge", "person", "difference")] == [
            other[name] for name in ("judge", "person", "difference")
        ]
    assert [row["name"] for row in found.rows] == ["bad", "Good"]
    assert [row["verdict"] for row in found.rows] == ["not known yet", "at least as good"]


@pytest.mark.parametrize(
    ("difference", "n", "said"),
    [
        (Estimate(0.1, -0.09, 0.2), 50, "at least as good"),
        (Estimate(-0.05, -0.09, -0.01), 50, "at least as good"),
        (Estimate(0.1, -0.1, 0.2), 50, "not known yet"),
        (Estimate(-0.1, -0.2, 0.0), 50, "not known yet"),
        (Estimate(-0.1, -0.2, -0.01), 50, "worse"),
        (Estimate(0.1, n=5, reason="no interval: 5 items are too few"), 5, "too few"),
        (undefined("nobody has three items"), 2, "too few"),
        (undefined("the judge does not vary"), 50, "undefined"),
        (None, 50, "undefined"),
    ],
)
def test_the_verdict_is_read_off_the_interval(difference, n, said):
    assert beside_person([difference], [n], 0, margin=0.1) == [said]


def test_other_rows_need_more_than_an_interval_of_their_own():
    """0.19 ± 0.1 and 50 items: t = 3.8, one-sided p = .0002; 0.02 ± 0.1 above −0.1: t = 2.4, p = .01 > .005 /
    2."""
    rows = [
        Estimate(*ends, n=50) for ends in ((0.02, -0.08, 0.12), (0.02, -0.08, 0.12), (-0.19, -0.29, -0.09))
    ]
    words = beside_person(rows, [50] * 3, 0, margin=0.1)
    assert words == ["at least as good", "not known yet", "worse"]


def test_without_names_of_people_there_is_no_ceiling():
    found, judges, _ = at_a_glance(rated(anonymous_people=True))
    shown = [column.name for column in found.shown]
    assert "spearman" in shown
    assert not {"judge", "person", "difference", "verdict"} & {*shown}
    assert found.estimates("spearman") == judges.estimates("spearman")
    assert "Nobody can be held out" in found.notes[0]


def test_two_panels_are_compared_on_the_items_that_both_rated():
    """One is the good judge, the other both; the noisy one has no rating of the last twenty items."""
    table = rated()
    table["quality"].judges["bad"][60:] = np.nan
    [row] = panel_difference(table, "quality", ("good",), ("bad", "good"), resamples=200).rows
    scores = table["quality"]
    good, bad, target = scores.judges["good"][:60], scores.judges["bad"][:60], scores.target[:60]
    alone, both = (stats.spearmanr(of, target).statistic for of in (good, (good + bad) / 2))
    assert row["n"] == 60
    assert [row[name].value for name in ("rho", "other_rho")] == pytest.approx([alone, both])
    assert row["difference"].value == pytest.approx(alone - both)
    assert row["difference"].low > 0


def test_a_judge_with_one_answer_is_undefined_and_not_compared():
    """Its ρ is undefined in any case; by kappa it would be 0 by construction, and the best of bad judges."""
    table = rated()
    table["quality"].judges["bad"][:] = 4.0
    row = next(row for row in at_a_glance(table)[0].rows if row["rater"] == "bad")
    assert (row["verdict"], row["n"]) == ("undefined", 80)
    for name in ("judge", "difference", "spearman"):
        assert row[name] == undefined("gives every item the same answer; agreement is undefined", n=80)
    table["quality"].judges["bad"][9:] = np.nan  # of nine items, nothing is said
    row = next(row for row in at_a_glance(table)[0].rows if row["rater"] == "bad")
    assert "same answer" not in row["difference"].reason
