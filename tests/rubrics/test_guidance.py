"""Whether judges were sent guidelines, in words."""

import pytest

from concord.rubrics.guidance import sentences

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
