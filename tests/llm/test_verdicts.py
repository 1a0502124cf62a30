"""Verdicts in plain text: the final answer is read, never one in the midst of the reasons."""

import pytest

from concord.llm import verdicts
from concord.llm.replies import Unusable


@pytest.mark.parametrize(
    ("text", "score"),
    [
        ("It is fine.\nRating: [[7]]", 7),
        ("Some would say [[9]], but the format is broken.\n\nRating: [[4]]", 4),
        ("**Rating:** **[[8]]**.", 8),
        ("Rating: [5]", 5),
        ("[[5]]", 5),
        ("**Rating**: [[5]]", 5),
        ("[5]\nIt is fine.", 5),
        ("A [[10]] is for perfection. Rating: [3]", 3),
        ("Rating: [[6]]\n\nNote that row[3] is wrong and a [[9]] needs more.", 6),
        ("The cell matrix[2] holds [1, 2] and not [[1, 2]]. Rating: [[ 2 ]]", 2),
        ("It prints [0] where [1] is due. Score: [[3]]", 3),
        ("Rating: [[7.0]]", 7),
        ("Twice the same: [8] it is, [8].", 8),
    ],
)
def test_the_final_answer_counts(text, score):
    assert verdicts.whole_number(text, 1, 10)[0] == score


@pytest.mark.parametrize(
    "text",
    [
        "",
        "I liked it a lot.",
        "Rating: 7",
        "Rating: [[0]]",
        "Rating: [[11]]",
        "Rating: [[-3]]",
        "Rating: [[7.5]]",
        "Rating: [[seven]]",
        "It is [3] or [4], hard to say",
        "see row[7]",
        "[5]",
        "A [[9]]",
        "I give it a [[9]], and then",
        "Rating: [[4]] would be harsh for such a reply. I settle on\n[[6]]",
        "[[7](https://example.org)",
    ],
)
def test_what_is_no_whole_number_on_the_scale_is_unusable(text):
    with pytest.raises(Unusable):
        verdicts.whole_number(text, 1, 10)


def test_an_answer_off_the_scale_is_not_replaced_by_one_from_the_reasons():
    with pytest.raises(Unusable, match="from 1 to 10, not 11"):
        verdicts.whole_number("A [[5]] would do for others. Rating: [[11]]", 1, 10)


def test_the_explanation_is_what_stands_before_the_answer():
    assert verdicts.whole_number("It is “fine”.\n\n**Rating:** [[7]]", 1, 10) == (7, "It is “fine”.")
    assert verdicts.whole_number("Turn 2 fails.\n\nTurn: [[2]]", 0, 4) == (2, "Turn 2 fails.")


@pytest.mark.parametrize(
    ("text", "verdict"),
    [
        ("Response [A] is shorter than [B].\n\n[[B]]", "B"),
        ("Verdict: [a]", "A"),
        ("My final verdict is: [[A]]\n", "A"),
    ],
)
def test_preferences(text, verdict):
    assert verdicts.preference(text)[0] == verdict


@pytest.mark.parametrize(
    "text",
    [
        "[[D]]",
        "[[A]] at first sight, but then\n\n[[C]]",
        "Reply [A] beats reply [B] by far",
        "A",
        "[[AB]]",
        "[[7]]",
    ],
)
def test_what_is_no_preference_is_unusable(text):
    with pytest.raises(Unusable):
        verdicts.preference(text)
