"""A parameter that an endpoint refuses fails the call, with the line of models.toml that sends it no more."""

import asyncio
import json

import pytest

from concord.conversation import Message
from concord.errors import CallFailed
from concord.llm.api_errors import status_error
from concord.llm.client import Client
from concord.llm.models import Model
from tests.mock.server import running

HELLO = [Message("user", "Hello. Reply with JSON.")]
RENAME = 'rename = { max_tokens = "max_completion_tokens" }'


def error(message, **fields):
    return json.dumps({"error": {"message": message, "type": "invalid_request_error", **fields}})


@pytest.mark.parametrize(
    ("content", "line"),
    [
        (error("Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens' instead."), RENAME),
        (error("Unsupported value", param="temperature"), 'params = { temperature = "unset" }'),
        (error("`temperature` and `top_p` cannot both be given"), 'params = { temperature = "unset" }'),
        (error("This response_format type is unavailable now"), 'replies = "json_object"'),
        (error('The upstream said {"error": {"message": "no seed here"}}'), "seed = false"),
        ('{"detail": "seed: Extra inputs are not permitted"}', "seed = false"),
        ("top_p is not supported", 'params = { top_p = "unset" }'),
        # Nothing of these is a parameter that can be left out.
        (error("This model's maximum context length is 2048 tokens"), ""),
        (error("'logit_bias' is not supported with this model", param="logit_bias"), ""),
        (error("messages: the model refuses these"), ""),
        ("", ""),
        ("[]", ""),
    ],
)
def test_the_line_is_named(content, line):
    sentence = str(status_error(400, {}, content.encode(), Model(name="m", seed=True)))
    assert (f"write {line} for it in models.toml" in sentence) if line else "models.toml" not in sentence


def test_of_json_formats_the_next_weaker_is_named_and_a_server_error_names_nothing():
    model = Model(name="m", replies="json_object")
    said = error("response_format is not supported").encode()
    assert 'replies = "text"' in str(status_error(422, {}, said, model))
    assert "replies" not in str(status_error(500, {}, said, model))


def test_the_lines_it_names_one_after_the_other_are_what_the_endpoint_wants():
    params = {"temperature": 0.6, "top_p": 0.9, "max_tokens": 100}

    async def ask(model):
        async with Client({"m": model}, retries=0) as client:
            return await client.complete("m", HELLO, params=params)

    with running(like="openai-reasoning") as url:
        settings = {"name": "m", "base_url": url, "model": "mock-fixed"}
        for line, change in (
            (RENAME, {"rename": {"max_tokens": "max_completion_tokens"}}),
            ('temperature = "unset"', {"params": {"temperature": "unset"}}),
            ('top_p = "unset"', {"params": {"temperature": "unset", "top_p": "unset"}}),
        ):
            with pytest.raises(CallFailed) as failure:
                asyncio.run(ask(Model(**settings)))
            assert line in str(failure.value)
            settings |= change
        assert asyncio.run(ask(Model(**settings))).text
