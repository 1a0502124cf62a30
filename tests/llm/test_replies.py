"""Replies are untrusted: forgiven for their form, never for a missing or impossible value, and asked again a
bounded number of times.
"""

from __future__ import annotations

import asyncio
import json
from typing import Annotated

import pytest
from pydantic import Field

from concord.codes import Failure
from concord.conversation import Message
from concord.errors import CallFailed
from concord.llm import verdicts
from concord.llm.completions import PLAIN, Completion, ReplyDetails
from concord.llm.replies import REASKS, Reason, Reply, Text, Unusable, answer, json_schema, read
from concord.rating import Spent


class Verdict(Reply):
    explanation: str
    score: Annotated[int, Field(ge=1, le=10)]


@pytest.mark.parametrize(
    "text",
    [
        '{"explanation": "fine", "score": 7}',
        '```json\n{"explanation": "fine", "score": 7}\n```',
        'Sure!\n{"explanation": "fine", "score": 7}\nHope this helps.',
        '{"explanation": "fine", "score": "7"}',
        '{"explanation": "fine", "score": 7.0, "extra": true}',
        '{"explanation": "on\ntwo lines", "score": 7}',
        '{"explanation": "fine", "score": 7} And once more: {"score": 7, "explanation": "fine"}',
    ],
)
def test_slips_of_form_are_forgiven(text):
    assert read(text, Verdict).score == 7


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "no JSON object"),
        ("I would give it a 7.", "no JSON object"),
        ('[{"explanation": "fine", "score": 7}', "cannot be read"),
        ('{"explanation": "fine", "score": 7', "cannot be read"),
        ('{"draft": {"explanation": "fine", "score": 3}, "explanation": "fi', "cannot be read"),
        ('{"explanation": "fine", "good_score": 3, "score": 1 0}', "cannot be read"),
        ('{"explanation": "fine", "score": 8 or 9}', "cannot be read"),
        ('{"explanation": "fine", "score": ≥7}', "cannot be read"),
        ('{"explanation": "fine", "score": 7%}', "cannot be read"),
        ('{"explanation": "fine", "score": "7%"}', "one number"),
        ('{"explanation": "fine", "score": "1_0"}', "one number"),
        ('{"explanation": "fine", "score": "+7"}', "one number"),
        ('{"explanation": "fine", "score": 3, "score": 8}', "cannot be read"),
        ('{"explanation": "fine", "score": NaN}', "cannot be read"),
        ('{"explanation": "", "score": 3} or {"explanation": "", "score": 8}', "differ"),
        ("{'explanation': 'fine', 'score': 7}", "cannot be read"),
        ('{"explanation": "fine", "score": 7,}', "cannot be read"),
        ('{"explanation": "a "fine" one", "score": 7}', "cannot be read"),
        ("[" * 400, "no JSON object"),
        ("{" * 200, "no JSON object"),
        ('{"a":' * 250, "cannot be read"),
        ('{"a":' * 20_000, "cannot be read"),
        ("(" * 250, "no JSON object"),
        ("{ " * 20_000, "no JSON object"),
        ("{}" * 51, "JSON values"),
        ("x" * 100_001, "longer"),
        ('{"explanation": "fine"}', "score"),
        ('{"explanation": "fine", "score": 11}', "score"),
        ('{"explanation": "fine", "score": 0}', "score"),
        ('{"explanation": "fine", "score": null}', "score"),
        ('{"explanation": "fine", "score": 7.5}', "score"),
    ],
)
def test_a_missing_or_impossible_value_is_not(text, says):
    with pytest.raises(Unusable, match=says):
        read(text, Verdict)


def test_the_schema_sent_forbids_other_fields_and_requires_all():
    schema = json_schema(Verdict)
    assert schema["additionalProperties"] is False
    assert schema["required"] == ["explanation", "score"]


def ask(replies, check=None, reply=Verdict):
    """Answers with the given completions in turn; returns what came of it and what was sent each time."""
    sent = []

    async def call(step, messages, /):
        sent.append((step, list(messages)))
        text, cut = replies[len(sent) - 1]
        return Completion(text, cut, Spent(1, 10, 5, 0.5, 1.0))

    return asyncio.run(answer(call, "judge", [Message("user", "Rate.")], reply, check)), sent


GOOD = ('{"explanation": "fine", "score": 7}', False)


def test_the_model_is_told_what_was_wrong_and_every_attempt_is_counted():
    found, sent = ask([('{"explanation": "fine"}', False), GOOD])
    assert found.value.score == 7
    assert found.usage == Spent(2, 20, 10, 1.0, 2.0)
    assert [step for step, _ in sent] == ["judge", "judge again 1"]
    assert [m.role for m in sent[1][1]] == ["user", "assistant", "user"]
    assert "score" in sent[1][1][2].content


def test_a_cut_reply_is_never_repaired_into_a_score():
    # '{"explanation": "fine", "score": 1' may be the beginning of 10.
    found, sent = ask([('{"explanation": "fine", "score": 1', True), GOOD])
    assert found.value.score == 7
    assert "truncated" in sent[1][1][2].content


def test_a_cut_text_is_no_verdict_although_it_ends_in_one():
    """“[[1” may have become “[[10]]”, and “Not [[7]]” goes on: nothing is read from a text that was cut
    off.
    """
    found, sent = ask([("Good. Rating: [[7]]", True), ("Better. Rating: [[8]]", False)], verdict, reply=None)
    assert (found.text, len(sent)) == ("Better. Rating: [[8]]", 2)
    with pytest.raises(CallFailed) as caught:
        ask([("Good. Rating: [[7]]", True)] * 10, verdict, reply=None)
    assert caught.value.code == "truncated"


def verdict(text):
    verdicts.whole_number(text, 1, 10)


def test_asking_ends_and_the_last_raw_reply_is_kept():
    with pytest.raises(CallFailed) as caught:
        ask([("no", False)] * 10)
    assert (caught.value.code, caught.value.raw, caught.value.spent.calls) == (
        "unparseable",
        "no",
        1 + REASKS,
    )


def test_a_reply_that_parses_may_still_be_refused_by_the_caller():
    def check(verdict):
        if verdict.score == 7:
            raise Unusable("Not seven.")

    found, _ = ask([GOOD, ('{"explanation": "fine", "score": 8}', False)], check)
    assert found.value.score == 8


def test_plain_text_is_taken_as_it_is_even_when_cut():
    found, sent = ask([("Half a", True)], reply=None)
    assert (found.text, found.value, found.cut, found.meta) == ("Half a", None, True, {"cut": True})
    assert len(sent) == 1


def test_a_reply_without_text_is_asked_for_again_with_the_same_words():
    found, sent = ask([(" \n", False), ("Here.", False)], reply=None)
    assert (found.text, found.usage.calls) == ("Here.", 2)
    assert sent[0][1] == sent[1][1] == [Message("user", "Rate.")]


def test_a_reply_that_stays_without_text_is_a_failure_of_its_own_kind():
    with pytest.raises(CallFailed, match="It is empty") as caught:
        ask([("", False)] * 3, reply=None)
    assert (caught.value.code, caught.value.spent.calls, caught.value.reason) == (
        "empty",
        3,
        "an empty reply",
    )


@pytest.mark.parametrize(
    ("beside", "taken"),
    [
        (PLAIN, True),
        (ReplyDetails(finish="stop", thinking="hm"), True),
        (ReplyDetails(finish="content_filter", lacks="A content filter removed it.", raw="{body}"), False),
        (ReplyDetails(finish="stop", lacks="Its content is null.", raw="{body}"), False),
    ],
)
def test_where_an_empty_reply_may_be_right_only_an_empty_text_is_one(beside, taken):
    async def call(step, messages, /):
        return Completion("", False, Spent(1), details=beside)

    asked = answer(call, "reply", [Message("user", "mkdir x")], None, may_be_empty=True)
    if taken:
        assert asyncio.run(asked).text == ""
        return
    with pytest.raises(CallFailed, match=beside.lacks) as caught:
        asyncio.run(asked)
    filtered = beside.finish == "content_filter"
    code, calls = (Failure.REFUSED, 2) if filtered else (Failure.EMPTY, 3)
    assert (caught.value.code, caught.value.raw, caught.value.spent.calls) == (code, "{body}", calls)


def test_an_answer_holds_the_reply_and_what_it_cost():
    found, _ = ask([GOOD])
    assert (found.text, found.cut, found.usage) == (GOOD[0], False, Spent(1, 10, 5, 0.5, 1.0))
    plain, _ = ask([("It is fine.", False)], reply=None)
    assert (plain.text, plain.value, plain.usage) == ("It is fine.", None, Spent(1, 10, 5, 0.5, 1.0))


def test_the_model_sees_its_own_reply_beside_what_was_wrong():
    _, sent = ask([("no", False), GOOD])
    assert sent[1][1][:2] == [Message("user", "Rate."), Message("assistant", "no")]
    assert sent[1][1][2].content.startswith("This reply cannot be used. It holds no JSON object. Give")


def test_a_reply_that_is_always_cut_off_is_a_failure_of_that_kind():
    with pytest.raises(CallFailed, match=r"^No usable reply after 3 attempts: It was truncated") as caught:
        ask([('{"explanation": "fine", "score": 7}', True)] * 10)
    assert (caught.value.code, caught.value.raw) == ("truncated", GOOD[0])
    assert caught.value.spent == Spent(3, 30, 15, 1.5, 3.0)


def test_at_most_five_faults_are_named():
    class Many(Reply):
        a: int
        b: int
        c: int
        d: int
        e: int
        f: int

    with pytest.raises(Unusable) as caught:
        read("{}", Many)
    assert [fault.split(":")[0] for fault in str(caught.value).split("; ")] == ["a", "b", "c", "d", "e"]


class Scored(Reply):
    turn: int
    score: int


class OnTurns(Reply):
    why: str
    scores: list[Scored]


def test_the_schema_of_a_verdict_on_turns_allows_these_turns_only():
    schema = json_schema(OnTurns, (1, 2, 4))
    assert schema["properties"]["scores"] | {"minItems": 3, "maxItems": 3} == schema["properties"]["scores"]
    assert schema["$defs"]["Scored"]["properties"]["turn"]["enum"] == [1, 2, 4]
    assert "enum" not in schema["$defs"]["Scored"]["properties"]["score"]
    assert "minItems" not in json.dumps(json_schema(OnTurns)), "the schema itself is as it was"
    assert json_schema(Scored, (1,)) == json_schema(Scored), "a verdict on no list of turns"


def test_a_reason_that_may_be_missing_is_sent_as_any_other_text():
    class Old(Reply):
        why: Text

    class New(Reply):
        why: Reason

    assert Old.model_json_schema() | {"title": "New"} == New.model_json_schema()


@pytest.mark.parametrize("finish", ["content_filter", "SAFETY", "error", "PROHIBITED_CONTENT"])
def test_what_the_endpoint_ended_is_not_called_too_long(finish):
    """The model is not told to be shorter, and the failure names the cause."""
    sent = []

    async def call(step, messages, /):
        sent.append(list(messages))
        return Completion("Half of", True, Spent(1), details=ReplyDetails(finish=finish))

    with pytest.raises(CallFailed, match=f"finish_reason {finish}") as caught:
        asyncio.run(answer(call, "judge", [Message("user", "Rate.")], Verdict))
    assert all(messages == [Message("user", "Rate.")] for messages in sent)
    filtered = finish != "error"
    assert (caught.value.code, len(sent)) == (
        Failure.REFUSED if filtered else Failure.TRUNCATED,
        2 if filtered else 3,
    )


def test_arguments_of_a_tool_call_that_fit_are_the_reply():
    def completion(text, *arguments):
        lacks = "" if text else "It only calls tools."
        return Completion(text, False, Spent(1), details=ReplyDetails(lacks=lacks, arguments=arguments))

    def asked(done, reply=Verdict):
        async def call(step, messages, /):
            return done

        return asyncio.run(answer(call, "judge", [Message("user", "Rate.")], reply))

    assert asked(completion("", GOOD[0])).value.score == 7
    assert asked(completion("Here it is.", GOOD[0])).value.score == 7
    for wrong in (("", GOOD[0], GOOD[0].replace("7", "8")), ("", '{"x": 1}')):
        with pytest.raises(CallFailed):
            asked(completion(*wrong))
    with pytest.raises(CallFailed, match="only calls tools"):
        asked(completion("", GOOD[0]), reply=None)
