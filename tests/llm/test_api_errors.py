"""Errors of endpoints: causes in the endpoint's words, and what is asked again."""

from __future__ import annotations

import asyncio
import json

import pytest

from concord.codes import Failure, Retry
from concord.conversation import Message
from concord.errors import CallFailed
from concord.llm import api_errors
from concord.llm.client import Client
from concord.llm.completions import Broken, read
from concord.llm.models import Model
from tests.llm.completions_helpers import body

MODEL = Model(name="m", base_url="http://x/v1", model="served")


def status(number, content, **headers):
    text = content if isinstance(content, bytes) else json.dumps(content).encode()
    return api_errors.status_error(number, headers, text, MODEL)


def of_200(content):
    text = json.dumps(content).encode()
    with pytest.raises(Broken) as caught:
        read(text)
    return api_errors.body_error(caught.value, text, MODEL)


@pytest.mark.parametrize(
    "content",
    [
        {"error": {"message": "Your organization must be verified"}},
        {"detail": "Your organization must be verified"},
        [{"error": {"message": "Your organization must be verified", "status": "PERMISSION_DENIED"}}],
        {"errors": [{"message": "Your organization must be verified"}]},
        b"<html><head><title>403</title><style>a{}</style></head><b>Your organization must be verified</b>",
    ],
)
def test_a_403_says_what_the_endpoint_says(content):
    failed = status(403, content)
    assert failed.code is Failure.FORBIDDEN
    assert "Your organization must be verified" in str(failed)
    assert "<" not in str(failed)
    alone = api_errors.refused_alone(failed, MODEL)
    assert (alone.code, alone.status, alone.raw) == (Failure.REFUSED, 403, failed.raw)
    assert "Your organization must be verified" in str(alone)


@pytest.mark.parametrize(
    ("content", "code", "words"),
    [
        ({"detail": "No such deployment"}, Failure.BAD_REQUEST, "No such deployment"),
        ({"detail": [{"loc": ["body"], "msg": "field required"}]}, Failure.BAD_REQUEST, "field required"),
        ({"errors": [{"message": "Bad route"}]}, Failure.BAD_REQUEST, "Bad route"),
        ({"message": "Unknown account"}, Failure.BAD_REQUEST, "Unknown account"),
        ({"error": "Unknown account"}, Failure.BAD_REQUEST, "Unknown account"),
        ({"detail": "The server is overloaded, try again"}, Failure.SERVER, "overloaded"),
        ({"promptFeedback": {"blockReason": "PROHIBITED_CONTENT"}}, Failure.REFUSED, "PROHIBITED_CONTENT"),
        ({"hello": "world"}, Failure.FOREIGN_BODY, "OpenAI protocol"),
    ],
)
def test_a_body_of_status_200_that_says_no_is_shown(content, code, words):
    failed = of_200(content)
    assert failed.code is code
    assert words in str(failed)
    assert (failed.code.retry is Retry.NEVER) == (code in (Failure.BAD_REQUEST, Failure.REFUSED))


class Endpoint(Client):
    """A client whose endpoint gives the same answer to every attempt."""

    def __init__(self, answer):
        super().__init__({"m": MODEL})
        self.answer, self.asked = answer, 0

    async def attempt(self, model, path, body):
        self.asked += 1
        if isinstance(self.answer, bytes):
            return self.answer
        raise self.answer


def asked(answer):
    async def go():
        async with Endpoint(answer) as client:
            with pytest.raises(CallFailed) as caught:
                await client.complete("m", [Message("user", "Hi")])
            return caught.value, client.asked

    return asyncio.run(go())


def test_a_body_that_says_no_is_asked_once():
    failed, times = asked(b'{"detail": "No such deployment"}')
    assert ("No such deployment" in str(failed), times) == (True, 1)


def test_an_endpoint_that_asks_for_too_long_a_wait_is_quoted():
    failed, times = asked(status(429, {"error": {"message": "slow"}}, **{"retry-after": "400"}))
    assert (failed.code, times) == (Failure.RATE_LIMIT, 1)
    assert "400 s" in str(failed)
    assert "slow" in str(failed)


@pytest.mark.parametrize(
    ("message", "finish", "remedy"),
    [
        ({"content": None, "reasoning_content": "hm"}, "stop", "max_tokens"),
        ({"content": "", "reasoning_content": "hm"}, "length", "max_tokens"),
        ({"content": None, "tool_calls": [{"function": {"name": "f"}}]}, "tool_calls", 'replies = "text"'),
        ({"content": None}, "content_filter", "filter"),
    ],
)
def test_a_reply_without_text_names_its_remedy(message, finish, remedy):
    assert remedy in read(body(message, finish)).details.lacks


def test_what_a_filter_removed_is_not_called_too_long():
    for finish in ("content_filter", "SAFETY", "error"):
        assert "length" not in read(body({"content": ""}, finish)).details.lacks


@pytest.mark.parametrize(
    "message",
    [
        {"content": None, "tool_calls": [{"function": {"name": "reply", "arguments": '{"a": 1}'}}]},
        {"content": "", "tool_calls": [{"function": {"name": "reply", "arguments": {"a": 1}}}]},
        {"content": None, "function_call": {"name": "reply", "arguments": '{"a": 1}'}},
    ],
)
def test_arguments_of_tool_calls_are_kept(message):
    assert read(body(message, "tool_calls")).details.arguments == ('{"a": 1}',)


def test_tool_calls_of_any_form_raise_nothing():
    for calls in (3, "x", [3], [{"function": 3}], [{"function": {"arguments": 3}}], {"a": 1}):
        assert read(body({"content": "Yes", "tool_calls": calls})).details.arguments == ()
