"""Guidelines that judges are sent."""

import pytest

from concord.errors import ConfigError
from concord.rubrics.reading import rubric_of
from concord.rubrics.rubric import EXAMPLE
from concord.runs.rubric_judge import pair_values, values


def test_a_pairwise_question_has_the_guidelines_of_the_rubric():
    helpful = {"name": "helpful", "statement": "It helps.", "scale": "1..5", "guideline": "Help counts."}
    better = {"name": "better", "statement": "Which is better?", "type": "pairwise"}
    rubric = rubric_of("support", {"guidelines": "Be strict.", "criteria": [helpful, better]}, "a test")
    sent = pair_values(rubric, rubric.pairs[0], EXAMPLE, EXAMPLE)
    alone = values(rubric, EXAMPLE)
    assert "Be strict." in sent["guidelines"]
    assert "Help counts." in sent["guidelines"]
    assert sent["guidelines"] == alone["guidelines"]
    assert [question["name"] for question in sent["questions"]] == ["better"]
    assert '"better"' in sent["reply_form"]
    assert '"helpful"' not in sent["reply_form"]


def test_examples_of_single_answers_follow_the_guideline_of_a_question():
    helpful = {
        "name": "helpful",
        "statement": "It helps.",
        "scale": "1..5",
        "anchors": {"1": "Not at all"},
        "guideline": "Help counts.",
        "examples": {"1": "“We cannot help.”", "5": "It is refunded."},
    }
    verdict = {"name": "verdict", "statement": "Is it right?", "categories": ["pass", "fail"]}
    criteria = [helpful, {**verdict, "examples": {"fail": "A wrong date."}}]
    rubric = rubric_of("support", {"criteria": criteria}, "a test")
    assert rubric.explained == {
        "helpful": "Help counts.\n\n- **1 Not at all**: “We cannot help.”\n- **5**: It is refunded.",
        "verdict": "- **fail**: A wrong date.",
    }
    assert "A wrong date." in rubric.guidance
    with pytest.raises(ConfigError, match="examples: “maybe” is no answer"):
        rubric_of("support", {"criteria": [{**verdict, "examples": {"maybe": "x"}}]}, "a test")
