"""Whether judges were sent guidelines, in words."""

import pytest

from concord.rubrics.guidance import sentences
from concord.rubrics.reading import rubric_of
from concord.rubrics.rubric import EXAMPLE
from concord.runs.rubric_judge import pair_values, values

SENT = {"v2": None, "support v1": "Be strict.", "support v2": ""}


@pytest.mark.parametrize(
    ("version", "people", "said"),
    [
        ("support v1", "Be strict.\n", "The judge was sent the guidelines that people read."),
        ("support v1", "Other.", "The judge was sent the guidelines of the rubric; people read others."),
        ("support v1", "", "The judge was sent the guidelines of the rubric; people had none."),
        ("support v1", None, "The judge was sent the guidelines of the rubric."),
        ("support v2", "Be strict.", "The judge was sent no guidelines; the guidelines went to people only."),
        (
            "v2",
            "Be strict.",
            "The judge was asked by the benchmark's prompt, without guidelines; "
            "the guidelines went to people only.",
        ),
        ("v2", None, "The judge was asked by the benchmark's prompt, without guidelines."),
        (
            "",
            "Be strict.",
            "The judge was not asked in this workspace: whether with guidelines is not known.",
        ),
    ],
)
def test_what_judges_and_people_were_given_is_one_sentence(version, people, said):
    assert sentences({"a": version}, SENT, people) == [said]


def test_judges_who_were_given_the_same_share_a_sentence():
    assert sentences({"a": "support v1", "b": "support v1"}, SENT, None) == [
        "The judges were sent the guidelines of the rubric."
    ]
    assert sentences({"a": "support v1", "b": "v2", "c": "v2"}, SENT, None) == [
        "a was sent the guidelines of the rubric.",
        "b, c were asked by the benchmark's prompt, without guidelines.",
    ]
    assert sentences({}, SENT, "Be strict.") == []


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
