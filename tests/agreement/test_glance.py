"""The table at a glance: joined from its sections, with a verdict; a panel beside its best judge."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from concord.estimate import Estimate, undefined
from concord.statistics.ceilings import held_out
from concord.statistics.glance import glance, panel_gain, verdict
from concord.statistics.judges import judge_figures
from concord.statistics.ratings import Ratings, read_ratings
from concord.table import Table

from .frames import people, study


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
    return glance(judges, beside, {"good": "Good"}), judges, beside


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
    assert [row["verdict"] for row in found.rows] == ["below", "at or above"]


@pytest.mark.parametrize(
    ("difference", "n", "said"),
    [
        (Estimate(0.1, 0.0, 0.2), 50, "at or above"),
        (Estimate(0.1, -0.01, 0.2), 50, "undecided"),
        (Estimate(-0.1, -0.2, 0.0), 50, "undecided"),
        (Estimate(-0.1, -0.2, -0.01), 50, "below"),
        (Estimate(0.1, n=5, reason="no interval: 5 items are too few"), 5, "too few"),
        (undefined("nobody has three items"), 2, "too few"),
        (undefined("the judge does not vary"), 50, "undefined"),
        (None, 50, "undefined"),
    ],
)
def test_the_verdict_is_read_off_the_interval(difference, n, said):
    assert verdict(difference, n) == said


def test_without_names_of_people_there_is_no_ceiling():
    found, judges, _ = at_a_glance(rated(anonymous_people=True))
    shown = [column.name for column in found.shown]
    assert "spearman" in shown
    assert not {"judge", "person", "difference", "verdict"} & {*shown}
    assert found.estimates("spearman") == judges.estimates("spearman")
    assert "Nobody can be held out" in found.notes[0]


def test_a_panel_stands_beside_its_best_judge_on_the_same_items():
    table = rated()
    [row] = panel_gain(table, "quality", {}, panels=[("bad", "good")], resamples=200).rows
    scores = table["quality"]
    panel = scores.panel(("bad", "good"))
    of_panel, of_judge = (
        stats.spearmanr(score, scores.target).statistic for score in (panel, scores.judges["good"])
    )
    assert (row["best"], row["n"]) == ("good", 80)
    assert row["panel"].value == pytest.approx(of_panel)
    assert row["judge"].value == pytest.approx(of_judge)
    assert row["difference"].value == pytest.approx(of_panel - of_judge)
    assert row["difference"].interval[1] < 0, "a judge of noise spoils the panel"


def test_a_panel_without_a_correlation_says_so():
    constant = pd.concat([people({"a": [1, 2, 3, 4]}), study({}, {"j": [2] * 4, "k": [3] * 4})])
    [row] = panel_gain(read_ratings(constant), "quality", {}, panels=[("j", "k")], resamples=10).rows
    assert (row["best"], row["difference"].value) == ("", None)
