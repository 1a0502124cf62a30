"""Studies with nothing, or too little, in them: no figure raises, and what has no value has a reason."""

import json

import pytest

from core import agreement
from core.agreement import read_ratings, show, study_agreement

from .frames import frame, judges, people, study

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

FRAMES = {
    "reliability": lambda table, name: agreement.reliability(table, name, resamples=20),
    "judge_figures": lambda table, name: agreement.judge_figures(table, name, resamples=20),
    "held_out": lambda table, name: agreement.held_out(table, name, resamples=20),
    "ceilings": agreement.ceilings,
    "within_groups": lambda table, name: agreement.within_groups(table, name, {0: "a", 1: "b"}, resamples=20),
    "levels": lambda table, name: agreement.levels(table, name, {0: "a", 1: "b"}, resamples=20),
    "high_disagreement": lambda table, name: agreement.high_disagreement(table, name, resamples=20),
    "bands": lambda table, name: agreement.bands(table, name, resamples=20),
    "redundancy": lambda table, name: agreement.redundancy(table, name, resamples=20),
    "retest": lambda table, name: agreement.retest(table, name, table.judges, resamples=20),
    "replacement": agreement.replacement,
}


@pytest.fixture(params=sorted(STUDIES))
def ratings(request):
    return STUDIES[request.param]


@pytest.mark.parametrize("anonymous", [False, True])
def test_every_none_has_a_reason(ratings, anonymous):
    result = study_agreement(ratings, resamples=20, criteria=["quality"], anonymous_people=anonymous)
    assert json.loads(json.dumps(result, allow_nan=False)) == result

    def walk(node):
        if isinstance(node, dict):
            assert None not in node.values() or node.get("reason"), node
        for child in node.values() if isinstance(node, dict) else node if isinstance(node, list) else ():
            walk(child)

    walk(result)
    assert show.text(result)
    assert show.to_csv(result).startswith("criterion,")
    assert show.latex(result).startswith(r"\begin{table}")


@pytest.mark.parametrize("figure", sorted(FRAMES))
def test_every_nan_has_a_reason(ratings, figure):
    table = read_ratings(ratings, criteria=["quality"])
    for name in table.criteria:
        figures = FRAMES[figure](table, name)
        assert str(figures.basis)
        rows = figures.rows
        if len(rows) and figure != "reliability":
            rows = rows.drop(columns="commonest")[rows["n"] > 0] if figure == "judge_figures" else rows
            assert not (rows.isna().any(axis=1) & (rows["reason"] == "")).any()
        elif len(rows):
            assert not (rows["value"].isna() & (rows["reason"] == "")).any()


def test_the_rest_answers_too(ratings):
    table = read_ratings(ratings, criteria=["quality"])
    for name in table.criteria:
        search = agreement.best_panel(table, name, resamples=20)
        assert search.reason
        forecast = agreement.needed(table, name, resamples=20)
        assert (forecast.needed is None) == bool(forecast.reason)
        assert len(agreement.item_scores(table, name)) == len(table.units)
        assert agreement.answers(table, name)["share"].between(0, 1).all()
