"""What the desk sends to an annotator's browser: the dialogue, the questions, and nothing that tells whose
dialogue it is.
"""

from __future__ import annotations

import json

import pytest

from concord.conversation import Conversation, Message
from concord.questions import LIKERT_5, YES_NO, Scale, points
from concord.store.placements import Placement
from concord.store.studies import Study
from pages.desk.sent import answers_of, dialogue


def test_an_item_holds_no_name_key_facet_or_meta() -> None:
    hidden = Conversation(
        "secret-benchmark",
        "secret-key",
        "secret-player",
        (
            Message("system", "secret-system"),
            Message("user", "Hello", {"plan": "secret"}),
            Message("assistant", "Aye", {"model": "secret"}),
        ),
        facets={"character": "secret-facet"},
        context={"Card": {"name": "Keeper", "traits": ["dry", "slow"]}, "_situation": "secret-situation"},
        meta={"prompts": "secret-prompt"},
    )
    study = Study("secret-study", (), speakers={"assistant": "Keeper"})
    task = Placement(3, "secret-study", 99, 1, "open", "", "", 3.0, {"wit": 4.0})
    sent = dialogue(study, task, hidden) | answers_of(7, task)
    assert "secret" not in json.dumps(sent)
    assert sent == {
        "id": 7,
        "turn": 1,
        "language": "en",
        "said": [
            {"turn": 1, "reply": False, "speaker": "User", "text": "Hello"},
            {"turn": 1, "reply": True, "speaker": "Keeper", "text": "Aye"},
        ],
        "context": [["Card", "**name**: Keeper\n**traits**:\n- dry\n- slow"]],
        "answers": {"wit": 4.0},
        "reasons": {},
        "state": "open",
        "reason": "",
        "flag": "",
    }


@pytest.mark.parametrize(
    ("scale", "keys", "shown"),
    [
        (LIKERT_5, "1 2 3 4 5", "1 2 3 4 5"),
        (YES_NO, "0 1", "0 1"),
        (points(1, 10), "1 2 3 4 5 6 7 8 9 0", "1 2 3 4 5 6 7 8 9 10"),
        (points(0, 4), "0 1 2 3 4", "0 1 2 3 4"),
        (points(0, 10), "0 1 2 3 4 5 6 7 8 9 x", "0 1 2 3 4 5 6 7 8 9 10"),
        # No digits to press for the values themselves: the keys count places.
        (Scale((-1, 0, 1), ("worse", "same", "better")), "1 2 3", "-1 0 1"),
    ],
)
def test_every_answer_has_a_key_of_its_own(scale: Scale, keys: str, shown: str) -> None:
    offered = scale.kind.options(scale)
    assert " ".join(o.key for o in offered) == keys
    assert " ".join(o.shown for o in offered) == shown
    assert all(o.value in scale for o in offered)


def test_answers_beyond_the_eleventh_have_no_key_but_can_be_clicked() -> None:
    assert [o.key for o in points(1, 13).kind.options(points(1, 13))] == [*"1234567890x", "", ""]
