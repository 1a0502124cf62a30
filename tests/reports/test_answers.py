"""Where a verdict leads."""

from types import SimpleNamespace
from typing import Any

import pytest

from concord.estimate import Estimate
from concord.reports import answers
from concord.table import Column, Table


@pytest.fixture
def evidence() -> SimpleNamespace:
    """What the next step needs of evidence."""
    ratings = SimpleNamespace(judges=("a", "b"), people=(1, 2))
    return SimpleNamespace(names={}, ratings=ratings, options=SimpleNamespace(margin=0.1))


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
