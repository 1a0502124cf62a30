"""The charts of thresholds and calibration: what they show, and nothing of nothing."""

import warnings

import numpy as np
import pytest

from concord.statistics.calibration import calibration_curves
from concord.statistics.ratings import read_ratings
from concord.statistics.thresholds import thresholds
from pages.trust.agreement_charts import PICTURES
from tests.agreement.frames import study
from tests.agreement.test_degenerate import STUDIES

PLAYERS = dict(enumerate("abc" * 40))


def tables(ratings):
    table = read_ratings(ratings, criteria=["quality"])
    given = {"panels": [table.judges] if len(table.judges) > 1 else [], "resamples": 20}
    found = {
        "thresholds": [
            *thresholds(table, "quality", 3, PLAYERS, **given),
        ],
        "calibration": [calibration_curves(table, "quality", **given)],
    }
    return {name: {table.name: table for table in made} for name, made in found.items()}


def titles(node):
    """The titles of all axes of a chart."""
    if isinstance(node, list):
        return set().union(*map(titles, node))
    if not isinstance(node, dict):
        return set()
    here = {of["title"] for name, of in node.get("encoding", {}).items() if name in "xy" and of.get("title")}
    return here.union(*map(titles, node.values()))


def test_every_section_has_its_charts():
    rng = np.random.default_rng(0)
    people = rng.integers(1, 6, 120)
    close = np.clip(people + rng.integers(-1, 2, 120), 1, 5)
    far = rng.integers(1, 6, 120)
    found = tables(study({"ann": people.tolist()}, {"j": close.tolist(), "k": far.tolist()}))
    drawn = {name: list(PICTURES[name](of)) for name, of in found.items()}
    assert {name: len(charts) for name, charts in drawn.items()} == {
        "thresholds": 1,
        "calibration": 1,
    }
    said = {name: titles(charts[-1][1].to_dict()) for name, charts in drawn.items()}
    assert said == {
        "thresholds": {"pass rate"},
        "calibration": {"judge's score", "people's mean"},
    }
    assert "n = 120" in drawn["thresholds"][0][0], "on how many items the figures rest"


@pytest.mark.parametrize("name", sorted(STUDIES))
def test_little_is_drawn_of_little(name):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        drawn = {
            section: [chart.to_dict() for _, chart in PICTURES[section](of)]
            for section, of in tables(STUDIES[name]).items()
        }
    assert {section: len(charts) for section, charts in drawn.items()} == {
        "thresholds": 0,
        "calibration": 0,
    }
