"""What a chat completion says: text apart from thinking, lists of parts, refusals, why there is no text."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from concord.llm.completions import Broken, ReplyDetails, marks, read
from concord.llm.thinking import visible_reply as apart
from tests.llm.completions_helpers import body

NESTED = b'{"choices": [{"message": {"content": "", "reasoning": %s1%s}}]}' % (b"[" * 950, b"]" * 950)


@pytest.mark.parametrize(
    ("said", "text", "thinking"),
    [
        ("Hello.", "Hello.", ""),
        ("<think>hm [[4]]</think>\n\nRating: [[7]]", "Rating: [[7]]", "hm [[4]]"),
        ("<thinking>hm</thinking>Yes", "Yes", "hm"),
        ("<THINK>hm</THINK> Yes", " Yes", "hm"),
        ("hm, begun by the template</think>\nYes", "Yes", "hm, begun by the template"),
        ("<think>a<think>b</think>c</think>Yes", "Yes", "abc"),
        ("<think>a <think>b</think> 4", "", "a b 4"),
        ("[THINK]hm[/THINK]Yes", "Yes", "hm"),
        ("◁think▷hm◁/think▷Yes", "Yes", "hm"),
        ('<think type="deep">hm</think>Yes', "Yes", "hm"),
        ("<seed:think>hm</seed:think>Yes", "Yes", "hm"),
        ("<|START_THINKING|>hm<|END_THINKING|>Yes", "Yes", "hm"),
        ("<think>it leaks a `</think>` tag</think>Yes", "Yes", "it leaks a `` tag"),
        (
            "<|channel|>analysis<|message|>hm<|end|><|start|>assistant<|channel|>final<|message|>Yes",
            "Yes",
            "hm",
        ),
        ("<|channel|>analysis<|message|>hm", "", "hm"),
        ("analysisHm.assistantfinalYes", "Yes", "Hm."),
        ("analysisResult = 3", "analysisResult = 3", ""),
        (
            '{"why": "it leaks </think> and <think> tags"}',
            '{"why": "it leaks </think> and <think> tags"}',
            "",
        ),
        ("<think>cut off before its e", "", "cut off before its e"),
        ("Yes <think>hm</think>and no", "Yes and no", "hm"),
        ("The tag <think> opens it.", "The tag <think> opens it.", ""),
        ("  two spaces stay", "  two spaces stay", ""),
    ],
)
def test_thinking_is_taken_out_of_the_text(said, text, thinking):
    assert apart(said)[:2] == (text, thinking)


@given(st.text(alphabet="a[4] \n", max_size=40), st.text(alphabet="xy[7]\n", max_size=40))
def test_nothing_that_was_thought_is_left_in_the_text(thought, said):
    text, inside, _ = apart(f"<think>{thought}</think>{said}")
    assert text == said.lstrip("\n") or text in said
    assert inside == thought.strip()
    assert len(text) <= len(said)


@pytest.mark.parametrize(
    ("message", "text", "thinking"),
    [
        ({"content": "Yes", "reasoning_content": "hm"}, "Yes", "hm"),
        ({"content": "Yes", "reasoning": "hm"}, "Yes", "hm"),
        ({"content": "Yes", "reasoning_details": [{"type": "reasoning.text", "text": "hm"}]}, "Yes", "hm"),
        ({"content": [{"type": "text", "text": "Y"}, {"type": "text", "text": "es"}]}, "Yes", ""),
        ({"content": [{"type": "thinking", "thinking": "hm"}, {"type": "text", "text": "Yes"}]}, "Yes", "hm"),
        (
            {"content": [{"type": "thinking", "thinking": [{"type": "text", "text": "hm"}]}, "Yes"]},
            "Yes",
            "hm",
        ),
    ],
)
def test_thinking_and_parts_are_read_wherever_an_endpoint_puts_them(message, text, thinking):
    found = read(body(message))
    assert (found.text, found.details.thinking, found.details.lacks) == (text, thinking, "")


@pytest.mark.parametrize(
    ("usage", "cached"),
    [
        ({"prompt_tokens_details": {"cached_tokens": 8}}, 8),
        ({"prompt_cache_hit_tokens": 8}, 8),
        ({"prompt_tokens_details": {"cached_tokens": 800}}, 10),
        ({"prompt_tokens_details": None}, 0),
    ],
)
def test_cached_tokens_are_those_in_that_the_endpoint_says_it_knew(usage, cached):
    counted = {"prompt_tokens": 10, "completion_tokens": 20, **usage}
    assert read(body({"content": "Yes"}, usage=counted)).tokens == (10, 20, cached)


def test_tokens_of_thinking_are_counted_once():
    usage = {"prompt_tokens": 10, "completion_tokens": 20, "total_tokens": 30}
    usage["completion_tokens_details"] = {"reasoning_tokens": 15}
    found = read(body({"content": "Yes"}, usage=usage))
    assert (found.tokens, found.details.thinking_tokens) == ((10, 20, 0), 15)
    apart_from = {**usage, "completion_tokens": 5, "total_tokens": 30}
    assert read(body({"content": "Yes"}, usage=apart_from)).tokens == (10, 20, 0)


def test_a_refusal_is_the_replys_text_and_marked():
    found = read(body({"content": None, "refusal": "I cannot."}))
    assert (found.text, found.details.refused, found.details.lacks) == ("I cannot.", True, "")
    assert marks(found.cut, found.details) == {"refused": True}
    part = read(body({"content": [{"type": "refusal", "refusal": "I cannot."}]}))
    assert (part.text, part.details.refused) == ("I cannot.", True)


@pytest.mark.parametrize(
    ("message", "finish", "says"),
    [
        ({"content": None}, "stop", "null"),
        ({}, "stop", "null"),
        ({"content": ""}, "content_filter", "filter"),
        ({"content": None, "tool_calls": [{}]}, "tool_calls", "calls tools"),
        ({"content": "", "tool_calls": [{}]}, "stop", "calls tools"),
        ({"content": "<think>hm"}, "length", "length limit"),
        ({"content": "<think>hm"}, "stop", "thinking only"),
        ({"content": "<think>hm</think>"}, "stop", "thinking only"),
        ({"content": "", "reasoning_content": "hm"}, "stop", "thinking only"),
        ({"content": None, "reasoning": "hm"}, "stop", "thinking only"),
        ({"content": []}, "stop", "no part of type text"),
        ({"content": [{"type": "image_url", "image_url": {"url": "data:"}}]}, "stop", "no part of type text"),
        ({"content": ""}, "MAX_TOKENS", "length limit"),
        ({"content": ""}, "error", "ended with “error”"),
        ({"content": ""}, None, "not stop"),
        ({"content": ""}, "length", "length limit"),
    ],
)
def test_why_there_is_no_text_is_said_with_the_body(message, finish, says):
    found = read(body(message, finish))
    assert found.text == ""
    assert says in found.details.lacks
    assert json.loads(found.details.raw)["choices"][0]["finish_reason"] == finish


def test_an_empty_text_that_ended_as_it_should_lacks_nothing():
    found = read(body({"content": ""}))
    assert (found.text, found.details.lacks) == ("", "")


@pytest.mark.parametrize("finish", ["length", "max_tokens", "MAX_TOKENS", "error", "content_filter"])
def test_a_text_that_stopped_before_its_end_is_kept_and_marked(finish):
    found = read(body({"content": "Half a"}, finish))
    assert (found.text, found.cut, marks(found.cut, found.details)) == ("Half a", True, {"cut": True})


@pytest.mark.parametrize(
    ("content", "says", "status"),
    [
        (b"<html>A page", "not JSON but begins with “<html>A page”", 0),
        (b'{"choices": [{"mess', "not JSON", 0),
        (b"[]", "no object", 0),
        (b"[" * 200_000, "nested too deep", 0),
        (NESTED, "nested too deep", 0),
        (b"{}", "no `choices`", 0),
        (b'{"choices": []}', "no `choices`", 0),
        (b'{"choices": [3]}', "no `message`", 0),
        (b'{"choices": [{"message": {"content": 3}}]}', "neither text nor a list", 0),
        (b'{"error": {"code": 429, "message": "slow down"}}', "slow down", 429),
        (b'{"error": {"code": "502", "message": "gone"}, "choices": []}', "gone", 502),
        (b'{"choices": [{"error": {"code": 502, "message": "gone"}}]}', "gone", 502),
        (b'{"error": "gone"}', "gone", 0),
    ],
)
def test_a_body_that_is_no_completion_is_broken(content, says, status):
    with pytest.raises(Broken, match=says) as caught:
        read(content)
    assert caught.value.status == status


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(max_size=9),
        lambda inner: (
            st.lists(inner, max_size=3)
            | st.dictionaries(
                st.sampled_from(
                    [
                        "content",
                        "text",
                        "type",
                        "message",
                        "choices",
                        "refusal",
                        "usage",
                        "error",
                        "reasoning",
                        "finish_reason",
                        "completion_tokens",
                    ]
                ),
                inner,
                max_size=5,
            )
        ),
    )
)
def test_whatever_json_comes_is_read_or_broken(value):
    try:
        found = read(json.dumps(value).encode())
    except Broken:
        return
    assert isinstance(found.text, str)


def test_what_stands_beside_comes_back_from_the_journal():
    beside = ReplyDetails("hm", 3, True, "stop", "It is null.", "{}")
    assert ReplyDetails.from_dict(beside.as_dict()) == beside
    assert ReplyDetails().as_dict() == {}


def test_half_a_surrogate_pair_becomes_a_character_that_can_be_stored():
    whole = (
        b'{"choices": [{"message": {"content": "a \\ud83d\\ude00 b \\uD83D c"}, "finish_reason": "stop"}]}'
    )
    assert read(whole).text == "a \U0001f600 b \ufffd c"


def test_thinking_that_is_opened_again_and_again_takes_no_time():
    text = "<think>" * 20_000
    assert apart(f"hm</think>Yes {text}") == (f"Yes {text}", "hm", "hm")
