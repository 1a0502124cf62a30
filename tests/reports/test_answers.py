"""Short answers: the worst group, what a judge favours, who is severe, where a verdict leads."""

from types import SimpleNamespace
from typing import Any

import pytest

from concord.estimate import Estimate
from concord.reports import answers
from concord.reports.features import FEATURES, OWN_FAMILY
from concord.table import Column, Table

SURE, UNSURE = Estimate(0.5, 0.2, 0.8, n=40), Estimate(0.1, -0.2, 0.4, n=40)


def table(name: str, rows: list[dict[str, Any]]) -> dict[str, Table]:
    columns = tuple(map(Column, dict.fromkeys(name for row in rows for name in row)))
    return {name: Table(name, name, columns, tuple(rows))}


@pytest.fixture
def evidence(monkeypatch: pytest.MonkeyPatch) -> SimpleNamespace:
    """Evidence of which the test gives the sections."""
    sections: dict[str, dict[str, Table]] = {}
    monkeypatch.setattr(answers, "section", lambda _, name, __: sections[name])
    monkeypatch.setattr(answers, "unmeasured", lambda _: {"own family": "no family is given"})
    monkeypatch.setattr(answers, "whom", lambda *_: "for these 3 annotators")
    ratings = SimpleNamespace(judges=("a", "b"), people=(1, 2))
    return SimpleNamespace(sections=sections, names={}, ratings=ratings, options=SimpleNamespace(margin=0.1))


def test_the_worst_group_is_named_of_those_with_an_interval(evidence: Any) -> None:
    def row(group: str, bias: Estimate, rho: Estimate, **more: str) -> dict[str, Any]:
        return {"rater": "a", "group": group, "bias": bias, "spearman": rho, **more}

    low = Estimate(0.2, -0.1, 0.5, n=30)
    alone = row("z", Estimate(-3.0, n=1), Estimate(-1.0, n=3))
    evidence.sections["players"] = table("players", [row("x", UNSURE, low), alone])
    far = Estimate(-0.7, -0.9, -0.5, n=20)
    evidence.sections["scenarios"] = table("facets", [row("y", far, SURE, facet="topic")])
    assert answers.farthest(evidence, "wit", "a") == [
        "Worst by bias of 2 groups: topic y, -0.70 points (-0.90 to -0.50), 20 items.",
        "Worst by correlation of 2 groups: player x, ρ 0.20 (-0.10 to 0.50), 30 items.",
        "The worst of many groups looks worse than it is; intervals are for these 3 annotators.",
    ]
    assert answers.farthest(evidence, "wit", "b") == []


def test_a_judge_is_named_whose_interval_leaves_out_0_and_a_reason_where_nothing_is_measured(
    evidence: Any,
) -> None:
    length = FEATURES["reply_chars"]
    rows = [
        {"rater": "a", "feature": length, "step": "+54.2", "effect": SURE},
        {"rater": "b", "feature": length, "step": "+54.2", "effect": UNSURE},
        {"rater": "Avg(a, b)", "feature": length, "step": "+54.2", "effect": SURE},
    ]
    evidence.sections["bias"] = table("feature_bias", rows)
    long, family = answers.favours(evidence, "wit").values()
    assert long == (
        "a gives longer replies more than people do: +0.50 points (+0.20 to +0.80) for 54 characters more. "
        "Avg(a, b) give longer replies more than people do: +0.50 points (+0.20 to +0.80) for 54 characters "
        "more. Not shown for b: its interval holds 0."
    )
    assert family == "Not known: no family is given."
    rows.append({"rater": "b", "feature": OWN_FAMILY, "step": "yes, against no", "effect": SURE})
    evidence.sections["bias"] = table("feature_bias", rows)
    _, family = answers.favours(evidence, "wit").values()
    assert family == "b gives its own family more than people do: +0.50 points (+0.20 to +0.80)."


def test_the_most_severe_annotator_is_a_person(evidence: Any) -> None:
    rows = [
        {"rater": "a", "kind": "judge", "severity": Estimate(2.0, 1.0, 3.0)},
        {"rater": "Ann", "kind": "person", "severity": SURE},
        {"rater": "Bo", "kind": "person", "severity": UNSURE},
    ]
    evidence.sections["raters"] = table("raters", rows)
    said = answers.severest(evidence, "wit")
    assert said == ["Ann is the most severe annotator: 0.50 points (0.20 to 0.80) below the average one."]
    rows[1]["severity"] = Estimate(0.3, -0.1, 0.7)
    evidence.sections["raters"] = table("raters", rows)
    assert answers.severest(evidence, "wit") == [
        "The annotators may be equally severe: Ann is farthest, 0.30 points (-0.10 to 0.70) below the "
        "average one."
    ]
    evidence.sections["raters"] = table("raters", rows[:2])
    assert answers.severest(evidence, "wit") == []


@pytest.mark.parametrize(
    ("word", "left", "benchmark", "page"),
    [
        ("at least as good", 0, "pingpong", "leaderboard"),
        ("worse", 500, "pingpong", "agreement"),
        ("not known yet", 500, "pingpong", "samples"),
        ("not known yet", 5, "pingpong", "runs"),
        ("not known yet", 5, "mine", "import"),
        ("not known yet", 0, "pingpong", "runs"),
        ("not known yet", 0, "mine", "import"),
        ("not known yet", None, "mine", "import"),
    ],
)
def test_what_is_left_is_drawn_before_more_is_made_or_imported(
    evidence: Any, word: str, left: int | None, benchmark: str, page: str
) -> None:
    # 0.04 below on 100 items, half the interval 0.1: (1.96 + 0.84) x 0.05 / 0.06 is 2.33, whose square less 1
    # is some 440 more items.
    rows = ({"rater": "a", "difference": Estimate(-0.04, -0.14, 0.06, n=100)},)
    glance = Table("glance", "", (Column("rater"),), rows)
    of = SimpleNamespace(word=word, members=("a",), rows=glance, repair=False)
    evidence.names["a"] = "a"
    evidence.of = SimpleNamespace(study=SimpleNamespace(name="s", benchmark=benchmark, rubric=""))
    step = answers.next_step(evidence, of, left)
    assert step.page == page
    assert ("draw" in step.at) == (page == "samples")
    first = {"runs": "a run", "import": "an import"}.get(page)
    few = f"Only 5 more can be drawn: {first} comes first."
    assert (step.text == few) == (left == 5)
    waited = answers.next_step(evidence, of, left, ["Ada", "Ben", "Cleo", "Dov", "Eva"])
    if word == "not known yet":
        said = "Answers still to come by Ada, Ben, Cleo and 2 more."
        assert waited == (said, "samples", {"study": "s"}, "Follow the study")
    else:
        assert waited == step, "a settled verdict waits for nobody"
    nobody = SimpleNamespace(word="undefined", repair=False)
    assert answers.next_step(evidence, nobody, left, ["Ada"]).text == "Answers still to come by Ada."
    of.repair = True
    assert answers.next_step(evidence, of, left).page == "rubrics"
