"""Where a verdict leads."""

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest

from concord.codes import Advice, Verdict
from concord.estimate import Estimate
from concord.questions import categories
from concord.reports import answers
from concord.reports.agreement_report import report_of
from concord.store.studies import Study
from concord.studies.studies import StudyRatings
from concord.table import Column, Table
from tests.reports.agreement_report_helpers import CRITERIA, FEW, frame
from tests.reports.verdict_helpers import two_judges


@pytest.fixture
def evidence() -> SimpleNamespace:
    """What the next step needs of evidence."""
    ratings = SimpleNamespace(judges=("a", "b"), people=(1, 2))
    return SimpleNamespace(names={}, ratings=ratings, options=SimpleNamespace(margin=0.1))


@pytest.mark.parametrize(
    ("verdict", "left", "benchmark", "page"),
    [
        (Verdict.AS_GOOD, 0, "pingpong", "leaderboard"),
        (Verdict.WORSE, 500, "pingpong", "agreement"),
        (Verdict.INCONCLUSIVE, 500, "pingpong", "samples"),
        (Verdict.INCONCLUSIVE, 5, "pingpong", "runs"),
        (Verdict.INCONCLUSIVE, 5, "mine", "import"),
        (Verdict.INCONCLUSIVE, 0, "pingpong", "runs"),
        (Verdict.INCONCLUSIVE, 0, "mine", "import"),
        (Verdict.INCONCLUSIVE, None, "mine", "import"),
    ],
)
def test_what_is_left_is_drawn_before_more_is_made_or_imported(
    evidence: Any, verdict: Verdict, left: int | None, benchmark: str, page: str
) -> None:
    # 0.04 below on 100 items, half the interval 0.1: (1.96 + 0.84) x 0.05 / 0.06 is 2.33, whose square less 1
    # is some 440 more items.
    rows = ({"rater": "a", "difference": Estimate(-0.04, -0.14, 0.06, n=100)},)
    glance = Table("glance", "", (Column("rater"),), rows)
    of = SimpleNamespace(verdict=verdict, members=("a",), rows=glance, advice=Advice.NONE)
    evidence.names["a"] = "a"
    evidence.data = SimpleNamespace(study=SimpleNamespace(name="s", benchmark=benchmark, rubric=""))
    step = answers.next_step(evidence, of, left)
    assert step.page == page
    assert ("draw" in step.parameters) == (page == "samples")
    few = f"Only 5 more can be drawn. {step.label} first."
    assert (step.text == few) == (left == 5)
    waited = answers.next_step(evidence, of, left, ["Ada", "Ben", "Cleo", "Dov", "Eva"])
    if verdict == Verdict.INCONCLUSIVE:
        said = "Answers still to come by Ada, Ben, Cleo and 2 more."
        assert waited == (said, "samples", {"study": "s"}, "Follow the study")
    else:
        assert waited == step, "a settled verdict waits for nobody"
    nobody = SimpleNamespace(verdict=Verdict.UNDEFINED, advice=Advice.NONE)
    assert answers.next_step(evidence, nobody, left, ["Ada"]).text == "Answers still to come by Ada."
    of.advice = Advice.REPAIR_QUESTION
    assert answers.next_step(evidence, of, left).page == "rubrics"


def test_a_price_that_is_not_known_is_never_0() -> None:
    assert answers.per_thousand(None, "USD") == "price unknown"
    assert answers.per_thousand(0.0, "USD") == "0.00 USD for 1,000 conversations by all its judges"
    assert answers.per_thousand(1234.5, "") == "1,234.50 for 1,000 conversations by all its judges"


@pytest.mark.parametrize(
    ("low", "high", "word"), [(-0.05, 0.09, "Yes"), (0.02, 0.3, "No"), (-0.05, 0.2, "Inconclusive")]
)
def test_whether_a_cheaper_panel_does_is_said_with_difference_and_price(
    low: float, high: float, word: str
) -> None:
    pair = {"difference": Estimate((low + high) / 2, low, high, n=60), "n": 60}
    sentence = answers.cheaper(pair, 0.1, [12.5, None], "USD")
    assert sentence.startswith(word)
    assert f"(95% CI {-high:+z.2f} to {-low:+z.2f}, 60 items" in sentence
    assert "conversations: unknown with the second, 12.50 USD with the first." in sentence
    assert answers.cheaper({"difference": Estimate(None, n=0, reason="two ties"), "n": 0}, 0.1, [], "") == (
        "Unknown: two ties."
    )


def test_the_panel_to_try_first_excludes_the_dearest_or_worst_judge() -> None:
    report = two_judges(0.3, 4.0, 0.5)
    weakest = ("k", "which agrees least with annotators")
    for prices in ({}, {"j": 2.0}, {"j": 2.0, "k": None}, {"j": 2.0, "k": 2.0}):
        assert answers.left_out(report, "final", prices) == weakest
    assert answers.left_out(report, "final", {"j": 2.5, "k": 2.0}) == ("j", "the dearest")


def test_items_whose_answers_differ_are_listed_by_name() -> None:
    """People say a, b, a and tie on the last; the judge says a, a, b, a: two differ."""
    tone = replace(CRITERIA[0], scale=categories(("a", "b")))
    people = {("human", "ann"): [0, 1, 0, 0], ("human", "bo"): [0, 1, 0, 1], ("judge", "j"): [0, 0, 1, 0]}
    table = frame({rater: [[float(one), 3.0] for one in of] for rater, of in people.items()})
    of = StudyRatings(Study("s", (tone,)), table.query("criterion == @tone.name"), (tone.name,), (), {})
    rows = answers.answers_that_differ(report_of(of, FEW), tone.name, "j").rows
    assert [(row["judge"], row["people"]) for row in rows] == [("a", "b"), ("b", "a")]
