"""Studies with nothing, or too little, in them: no figure raises, and what has no value has a reason."""

import json

import numpy as np
import pytest

from concord.statistics.alt_test import alt_test
from concord.statistics.confusion import decisions_at
from concord.statistics.distribution import score_distribution
from concord.statistics.feature_bias import feature_bias
from concord.statistics.held_out import held_out
from concord.statistics.items import group_agreement, largest_differences
from concord.statistics.judges import judge_figures
from concord.statistics.nominal import nominal
from concord.statistics.ratings import read_ratings
from concord.statistics.reliability import reliability, retest
from concord.statistics.study import (
    judges_table,
    people_table,
    severities,
    study_agreement,
)
from concord.statistics.systems import systems
from concord.table import RENDERERS, as_values
from tests.statistics.frames import frame, judges, people, study

STUDIES = {
    "no ratings": frame([]),
    "one rating": people({"ann": [1]}),
    "judges only": judges({"j": [1, 2, 3, 4], "k": [2, 3, 1, 5]}),
    "people only": people({"ann": [1, 2, 3], "bob": [2, 3, 1], "cy": [1, 1, 2]}),
    "constant": study({"ann": [3] * 5, "bob": [3] * 5}, {"j": [2] * 5, "k": [2] * 5}),
    "two items": study({"ann": [1, 2], "bob": [2, 1]}, {"j": [1, 2], "k": [2, 2]}),
    "no shared items": study(
        {"ann": [1, 2, None, None], "bob": [2, 1]}, {"j": [None, None, 1, 2], "k": [None, None, 2, 3]}
    ),
    "rounding": study({"ann": [0.1, 0.2, 0.3, 0.1 + 0.2]}, {"j": [0.3, 0.1, 0.2, 0.9]}),
}


FIGURES = {
    "reliability": lambda table, name: reliability(table, name, resamples=20),
    "judge_figures": lambda table, name: judge_figures(table, name, resamples=20),
    "held_out": lambda table, name: held_out(table, name, resamples=20),
    "within": lambda table, name: group_agreement(table, name, {"player": {0: "a", 1: "b"}}, resamples=20),
    "retest": lambda table, name: retest(table, name, {"j": [*table[name].judges.values()]}, resamples=20),
    "alt_test": alt_test,
    "raters": lambda table, name: severities(table, name, resamples=20),
    "feature_bias": lambda table, name: feature_bias(
        table, name, {"f": np.arange(len(table.units)) * 1.0}, players={0: "a", 1: "b"}, resamples=20
    ),
    "nominal": lambda table, name: nominal(table, name, resamples=20),
    "score_distribution": score_distribution,
    "systems": lambda table, name: systems(table, name, {0: "a", 1: "b"}, resamples=20),
    "thresholds": lambda table, name: decisions_at(table, name, 2, resamples=20),
}


@pytest.fixture(params=sorted(STUDIES))
def ratings(request):
    return STUDIES[request.param]


@pytest.mark.parametrize("anonymous", [False, True])
def test_every_none_has_a_reason(ratings, anonymous):
    table = read_ratings(ratings, criteria=["quality"], anonymous_people=anonymous)
    found = study_agreement(table, resamples=20)
    tables = [judges_table(found), people_table(found)]
    result = [as_values(table)["rows"] for table in tables]
    assert json.loads(json.dumps(result, allow_nan=False)) == result

    def walk(node):
        if isinstance(node, dict):
            assert node.get("value", 0) is not None or node["reason"], node
        for child in node.values() if isinstance(node, dict) else node if isinstance(node, list) else ():
            walk(child)

    walk(result)
    for table in tables:
        for render in RENDERERS.values():
            assert render(table)


@pytest.mark.parametrize("name", sorted(FIGURES))
@pytest.mark.parametrize("anonymous", [False, True])
def test_every_table_is_drawn_and_every_missing_figure_has_a_reason(ratings, name, anonymous):
    table = read_ratings(ratings, criteria=["quality"], anonymous_people=anonymous)
    for criterion in table.criteria:
        found = FIGURES[name](table, criterion)
        assert found.notes[0]
        # An Estimate without a value cannot be made without a reason; what is no Estimate is never nan.
        for row in found.rows:
            assert all(cell == cell for cell in row.values())
        values = as_values(found)
        assert json.loads(json.dumps(values, allow_nan=False))["rows"] == values["rows"]
        for render in RENDERERS.values():
            assert render(found)


def test_items_answer_too(ratings):
    table = read_ratings(ratings, criteria=["quality"])
    for name in table.criteria:
        for judge in table.judges:
            assert len(largest_differences(table, name, [judge])) <= len(table.units)
