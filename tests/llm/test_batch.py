"""Outputs of batches, read line by line: nothing is made up, and no key is kept."""

from __future__ import annotations

import asyncio
import io
import json

import pytest

from concord.llm import batch
from concord.llm.client import Client
from concord.llm.models import Model

MODEL = Model(name="m", base_url="http://127.0.0.1:9/v1", api_key_env="BATCH_KEY")


@pytest.fixture(autouse=True)
def key(monkeypatch):
    monkeypatch.setenv("BATCH_KEY", "sk-a-key-that-is-secret")


def read(*lines: bytes):
    """What the lines of an output say, to a client that has used its key."""

    async def within():
        async with Client({"m": MODEL}) as client:
            await client.request(MODEL, lambda api: asyncio.sleep(0))
            return list(batch.results(client, MODEL, io.BytesIO(b"\n".join(lines))))

    return asyncio.run(within())


def answered(text, status=200):
    message = {"role": "assistant", "content": text}
    body = {"model": "m", "choices": [{"message": message, "finish_reason": "stop"}]}
    response = {"status_code": status, "body": body}
    return json.dumps({"custom_id": "one", "response": response}, ensure_ascii=False).encode()


def test_a_key_that_an_endpoint_repeats_is_taken_out():
    [found] = read(answered("Bearer sk-a-key-that-is-secret"))
    assert found.answer.text == "Bearer (key)"


def test_a_line_separator_within_a_text_ends_no_line():
    [found] = read(answered("one\u2028two\x85three"))
    assert found.answer.text == "one\u2028two\x85three"


@pytest.mark.parametrize("line", [b"{", b"[]", b"1", b'{"response": {}}', b'{"custom_id": 3}', b"\xff\xfe"])
def test_a_line_that_is_no_result_is_left_out(line):
    assert read(line) == []


@pytest.mark.parametrize(
    ("line", "again", "counts"),
    [
        ({"response": None, "error": {"code": "batch_expired"}}, True, 0),
        ({"response": None, "error": {"code": "server_error"}}, True, 1),
        ({"response": None}, True, 1),
        ({"response": {"status_code": 400, "body": {}}}, False, 1),
        ({"response": {"status_code": 429, "body": {}}}, True, 1),
        ({"response": {"status_code": "200", "body": {}}}, True, 2),
        ({"response": {"status_code": 200, "body": {"choices": []}}}, True, 2),
        ({"response": {"status_code": 200, "body": {"detail": "No such model"}}}, False, 1),
        ({"response": {"status_code": 200}}, True, 2),
    ],
)
def test_a_line_without_an_answer_says_whether_to_ask_again(line, again, counts):
    [found] = read(json.dumps({"custom_id": "one", **line}).encode())
    assert (found.answer, found.retry, found.counts) == (None, again, counts)
    assert str(found.failure)


BODY = {"model": "m", "choices": [{"message": {"content": "Yes"}, "finish_reason": "stop"}]}


@pytest.mark.parametrize(
    "response",
    [
        {"body": BODY},
        {"status_code": 200, "body": json.dumps(BODY)},
        {"body": json.dumps(BODY)},
        {"status_code": "200", "body": BODY},
        {"status_code": None, "body": BODY},
        BODY,
    ],
)
def test_an_answer_is_read_without_a_status_and_with_its_body_as_text(response):
    [found] = read(json.dumps({"custom_id": "one", "response": response}).encode())
    assert (found.answer.text, found.retry) == ("Yes", False)
