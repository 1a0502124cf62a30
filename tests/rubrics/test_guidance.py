"""Guidelines that judges are sent."""

from concord.rubrics.reading import rubric_of
from concord.rubrics.rubric import EXAMPLE
from concord.runs.rubric_judge import pair_values, values


def test_a_pairwise_question_is_sent_with_the_guidelines_of_the_whole_rubric():
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
