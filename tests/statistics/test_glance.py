"""The table at a glance: joined from its sections, with a verdict; two panels side by side."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from concord.codes import Verdict
from concord.estimate import Estimate, undefined
from concord.statistics.claims import (
    LOOKS,
    Contrasts,
    decided_by,
    look_at,
    p_above,
    share_of_look,
    verdicts,
)
from concord.statistics.glance import glance, panel_difference
from concord.statistics.held_out import held_out
from concord.statistics.judges import judge_figures
from concord.statistics.ratings import Ratings, read_ratings
from concord.table import Table
from tests.statistics.frames import study


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
        assert [row[name] for name in ("judge", "person", "difference", "half")] == [
            other[name] for name in ("judge", "person", "difference", "half")
        ]
    assert [row["name"] for row in found.rows] == ["bad", "Good"]
    assert [row["verdict"] for row in found.rows] == [Verdict.INCONCLUSIVE, Verdict.AS_GOOD]


def compared(difference: Estimate | None, n: int = 50, half: float = 0.2, judge: float = 0.5) -> Contrasts:
    """A judge whose half and own agreement lie so far above 0, ± 0.1."""
    ends = (Estimate(value, value - 0.1, value + 0.1, n) for value in (half, judge))
    half_, judge_ = ends
    return Contrasts(judge_, difference, half_, n)


@pytest.mark.parametrize(
    ("difference", "n", "code"),
    [
        (Estimate(0.1, -0.09, 0.2), 50, Verdict.AS_GOOD),
        (Estimate(-0.05, -0.09, -0.01), 50, Verdict.SLIGHTLY_BELOW),
        (Estimate(0.1, -0.1, 0.2), 50, Verdict.INCONCLUSIVE),
        (Estimate(-0.1, -0.2, 0.0), 50, Verdict.INCONCLUSIVE),
        (Estimate(-0.1, -0.2, -0.01), 50, Verdict.WORSE),
        (Estimate(0.1, n=5, reason="no interval: 5 items are too few"), 5, Verdict.TOO_FEW),
        (undefined("no annotator has three varying items"), 2, Verdict.TOO_FEW),
        (undefined("the judge does not vary"), 50, Verdict.UNDEFINED),
        (None, 50, Verdict.UNDEFINED),
    ],
)
def test_the_verdict_is_read_off_the_interval(difference, n, code):
    assert verdicts([compared(difference, n)], 0, margin=0.1) == [code]


@pytest.mark.parametrize(("half", "judge"), [(0.09, 0.5), (0.2, 0.09)])
def test_a_judge_that_may_lose_half_or_be_a_coin_is_not_as_good(half, judge):
    """Its difference is shown to lie within 0.1; an interval of ± 0.1 about 0.09 holds 0."""
    within = Estimate(-0.03, -0.07, -0.01, 3000)
    assert verdicts([compared(within)], 0, margin=0.1) == [Verdict.SLIGHTLY_BELOW]
    assert verdicts([compared(within, half=half, judge=judge)], 0, margin=0.1) == [Verdict.WORSE]


def test_other_rows_need_more_than_an_interval_of_their_own():
    """0.19 ± 0.1 and 50 items: t = 3.8, one-sided p = .0002; 0.02 ± 0.1 above −0.1: t = 2.4, p = .01 > .005 /
    2."""
    ends = ((0.02, -0.08, 0.12), (0.02, -0.08, 0.12), (-0.19, -0.29, -0.09))
    rows = [compared(Estimate(*of, n=50)) for of in ends]
    codes = verdicts(rows, 0, margin=0.1)
    assert codes == [Verdict.AS_GOOD, Verdict.INCONCLUSIVE, Verdict.WORSE]


def test_a_verdict_that_one_annotator_decides_falls():
    """Without b the judge loses 0.2 of 0.7, more than 0.1; without c 0.08 of 0.12, more than half."""
    points = {"a": (0.7, 0.6), "b": (0.5, 0.7), "c": (0.04, 0.12)}
    assert decided_by(Verdict.AS_GOOD, points, margin=0.1) == "b"
    assert decided_by(Verdict.SLIGHTLY_BELOW, {"a": points["a"], "c": points["c"]}, margin=0.1) == "c"
    assert decided_by(Verdict.AS_GOOD, {"a": points["a"]}, margin=0.1) == ""
    assert decided_by(Verdict.WORSE, points, margin=0.1) == "a"
    assert decided_by(Verdict.WORSE, {"b": points["b"]}, margin=0.1) == ""
    assert decided_by(Verdict.INCONCLUSIVE, points, margin=0.1) == ""


def test_a_copy_is_not_as_good():
    """Its figures hold for no judge, so that a good verdict is inconclusive; another one stays."""
    judges = judge_figures(rated(), "quality", panels=(), resamples=100)
    beside = held_out(rated(), "quality", panels=(), resamples=100)
    plain = glance(judges, beside, {}, first="good")
    rows = glance(judges, beside, {}, first="good", copies={"good": "a", "bad": "b"}).rows
    assert [row["verdict"] for row in plain.rows][1] == Verdict.AS_GOOD
    assert rows[1]["verdict"] == Verdict.INCONCLUSIVE
    assert rows[0]["verdict"] == plain.rows[0]["verdict"]
    assert rows[1]["copy_of"] == "a"


def test_equal_answers_of_all_have_a_bound_of_their_difference():
    """80 of 80 equal: at most 1 − .025^(1/80) = 4.5% are unequal; of even answers p_e = 1/2, so that the
    difference lies within 2 · 4.5% = 9 points of κ, and the judge is as good. Of 60 it may be 12 points.
    """
    found = {}
    for items in (60, 80):
        answers = [0, 1] * (items // 2)
        table = read_ratings(study({"a": answers, "b": answers}, {"j": answers}))
        judges = judge_figures(table, "quality", panels=(), resamples=100)
        beside = held_out(table, "quality", panels=(), measure="kappa", resamples=100)
        [row] = glance(judges, beside, {}, first="j", measure="kappa").rows
        assert row["difference"].low == pytest.approx(-2 * (1 - 0.025 ** (1 / items)))
        found[items] = row["verdict"]
    assert found == {60: Verdict.INCONCLUSIVE, 80: Verdict.AS_GOOD}


def test_looks_are_counted_by_how_many_items_were_rated():
    assert look_at(60, ()) == 0, "the first look has all of the error"
    assert look_at(60, (60,)) == 0, "the same items are the same look"
    assert look_at(200, (60,)) == 2
    assert look_at(200, (60, 130, 200, 400)) == 3


def test_a_look_goes_by_a_part_of_the_degrees_of_freedom():
    """0.1 ± 0.0981 with 14 degrees: (0.1 + 0.1) / (0.0981 / 2.145) = 4.37 standard errors, of Student's t
    with 7.
    """
    figure = Estimate(0.1, 0.0019, 0.1981, 60, freedom=14)
    error = 0.0981 / stats.t.ppf(0.975, 14)
    assert p_above(figure, -0.1, freedom_part=0.5) == pytest.approx(stats.t.sf(0.2 / error, 7))


def test_looks_spend_the_error_of_one():
    """Pocock's increments: ln(1 + (e − 1) / 5) = 0.2954 at the first of five looks, 0.2278 at the second."""
    shares = [share_of_look(look) for look in range(1, LOOKS + 1)]
    assert shares[:2] == pytest.approx([0.025 * 0.2954, 0.025 * 0.2278], abs=1e-5)
    assert sum(shares) == pytest.approx(share_of_look(0))
    assert share_of_look(LOOKS + 1) == 0
    sure = compared(Estimate(0.1, 0.09, 0.11))
    assert verdicts([sure], 0, margin=0.1, look=LOOKS + 1) == [Verdict.INCONCLUSIVE]
    # 0 ± 0.09 is 2.18 standard errors above −0.1: p = .015, enough for one look and not for the first.
    near = compared(Estimate(0.0, -0.09, 0.09))
    assert verdicts([near], 0, margin=0.1) == [Verdict.AS_GOOD]
    assert verdicts([near], 0, margin=0.1, look=1) == [Verdict.INCONCLUSIVE]


def test_without_names_of_people_there_is_no_ceiling():
    found, judges, _ = at_a_glance(rated(anonymous_people=True))
    shown = [column.name for column in found.shown]
    assert "spearman" in shown
    assert not {"judge", "person", "difference", "verdict"} & {*shown}
    assert found.estimates("spearman") == judges.estimates("spearman")
    assert "No annotator can be held out" in found.notes[0]


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
    assert (row["verdict"], row["n"]) == (Verdict.UNDEFINED, 80)
    for name in ("judge", "difference", "spearman"):
        assert row[name] == undefined("gives every item the same answer; agreement is undefined", n=80)
    table["quality"].judges["bad"][9:] = np.nan  # of nine items, nothing is said
    row = next(row for row in at_a_glance(table)[0].rows if row["rater"] == "bad")
    assert "same answer" not in row["difference"].reason
