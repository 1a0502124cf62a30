"""What a held-out comparison holds beside the difference: halves, z, without each annotator or judge."""

import numpy as np
import pytest
from scipy import stats

from concord.statistics.claims import p_above
from concord.statistics.held_out import held_out, rarer_answers, without_each, without_members
from concord.statistics.ratings import read_ratings
from tests.statistics.frames import study


def scores():
    """Three annotators, two judges that follow them, and one that answers by chance."""
    rng = np.random.default_rng(3)
    quality = rng.normal(3, 1, 120)

    def likert(noise):
        return np.clip(np.round(quality + noise * rng.normal(size=120)), 1, 5).tolist()

    people = {name: likert(0.6) for name in "abc"}
    judges = {"j": likert(0.6), "k": likert(0.6), "bad": rng.integers(1, 6, 120).astype(float).tolist()}
    return people, judges


PEOPLE, JUDGES = scores()


def table(people=PEOPLE, judges=JUDGES):
    return read_ratings(study(people, judges))


def test_the_half_and_z_are_of_the_same_figures():
    rows = {row["rater"]: row for row in held_out(table(), "quality", panels=(), resamples=100).rows}
    row = rows["j"]
    assert row["half"].value == pytest.approx(row["judge"].value - row["person"].value / 2)
    people, judge = {name: np.array(of) for name, of in PEOPLE.items()}, np.array(JUDGES["j"])
    others = {name: np.mean([of for other, of in people.items() if other != name], axis=0) for name in people}
    theirs = [stats.spearmanr(people[name], others[name]).statistic for name in people]
    its = [stats.spearmanr(judge, others[name]).statistic for name in people]
    assert row["z"] == pytest.approx((np.mean(its) - np.mean(theirs)) / np.std(theirs, ddof=1))


def test_without_each_annotator_is_the_comparison_of_those_left():
    points = without_each(table(), "quality", (), "spearman")["j"]
    left = {name: of for name, of in PEOPLE.items() if name != "b"}
    row = next(r for r in held_out(table(left), "quality", panels=(), resamples=0).rows if r["rater"] == "j")
    assert points["b"] == pytest.approx((row["judge"].value, row["person"].value))
    assert without_each(table(left), "quality", (), "spearman") == {}, "one alone would be left"


def test_the_judge_that_weakens_a_panel_is_found():
    found = {one.judge: one for one in without_members(table(), "quality", ("j", "k", "bad"), "spearman")}
    sure = [name for name, one in found.items() if p_above(one.gain, 0.0) < 0.001]
    assert sure == ["bad"]
    one = found["bad"]
    assert one.gain.value == pytest.approx(one.agreement_without - one.agreement)
    panels = held_out(table(), "quality", panels=[("j", "k"), ("j", "k", "bad")], resamples=0).rows
    values = {row["rater"]: row["judge"].value for row in panels}
    assert (one.agreement_without, one.agreement) == pytest.approx(
        (values["Avg(j, k)"], values["Avg(j, k, bad)"])
    )
    assert without_members(table(), "quality", ("j",), "spearman") == []


def test_by_level_as_well_a_shifted_judge_agrees_less():
    """Weighted κ of x and x + 1 is 1 − 1 / (2·var(x) + 1), with the variance over n; ρ is 1."""
    x = [1.0, 2.0, 3.0, 4.0] * 5
    of = table({"a": x, "b": x}, {"j": [value + 1 for value in x]})
    order, absolute = (
        held_out(of, "quality", panels=(), measure=by, resamples=0).rows[0]["judge"].value
        for by in ("spearman", "absolute")
    )
    assert order == pytest.approx(1)
    assert absolute == pytest.approx(1 - 1 / (2 * 1.25 + 1))


def test_where_answers_pile_up_an_interval_has_few_degrees_of_freedom():
    """Of 60 items 6 hold a rarer answer: half a degree for each; of 60 even ones n − 1 stay."""
    piled = [5.0] * 54 + [1.0, 2.0, 3.0, 4.0, 4.0, 3.0]
    people = {"a": piled, "b": piled[:55] + piled[:54:-1], "c": piled}
    of = table(people, {"j": piled})
    assert rarer_answers(of["quality"]) == 6
    assert held_out(of, "quality", panels=(), resamples=200).rows[0]["difference"].freedom == 3
    assert held_out(table(), "quality", panels=(), resamples=200).rows[0]["difference"].freedom == 119
