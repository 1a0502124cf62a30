"""A parameter that an endpoint refuses is left out or renamed, said once, and kept with the results."""

from __future__ import annotations

import asyncio
import json

import pytest

from concord.conversation import Message
from concord.errors import CallFailed, ConfigError
from concord.llm.adapting import refused
from concord.llm.client import Client
from concord.llm.models import Model
from concord.runs import engine, planning
from concord.runs.plans import PlayPlan
from concord.store import configurations, conversations
from tests.conftest import toml
from tests.mock.server import running

HELLO = [Message("user", "Hello. Reply with JSON.")]
SENT = {
    "temperature": 0.6,
    "top_p": 0.9,
    "max_tokens": 100,
    "seed": 1,
    "response_format": {"type": "json_schema", "json_schema": {"name": "reply"}},
}


def error(message, **fields):
    return json.dumps({"error": {"message": message, "type": "invalid_request_error", **fields}})


NESTED = error(
    'litellm.BadRequestError: OpenAIException - { "error": { "message": "Unsupported parameter: '
    '\'temperature\' is not supported with this model.", "param": "temperature" } }'
)
PLAN = PlayPlan(
    "pingpong",
    {"players": ("player",), "interrogator": ("user",), "judges": ("a",)},
    {"characters": ["tully"], "situations": ["reality"]},
)


@pytest.mark.parametrize(
    ("content", "change"),
    [
        (
            error(
                "Unsupported parameter: 'max_tokens' is not supported with this model. Use "
                "'max_completion_tokens' instead.",
                param="max_tokens",
                code="unsupported_parameter",
            ),
            {"max_tokens": "max_completion_tokens"},
        ),
        (
            error(
                "Unsupported value: 'temperature' does not support 0.6 with this model. Only the default "
                "(1) value is supported.",
                param="temperature",
            ),
            {"temperature": "unset"},
        ),
        (error("Unsupported parameter: 'top_p'.", param="top_p"), {"top_p": "unset"}),
        (error("`temperature` and `top_p` cannot both be specified for this model."), {"top_p": "unset"}),
        (error("This response_format type is unavailable now"), {"response_format": "json_object"}),
        (error("litellm.UnsupportedParamsError: x does not support parameters: ['seed']"), {"seed": "unset"}),
        (NESTED, {"temperature": "unset"}),
        ('{"detail": "seed: Extra inputs are not permitted"}', {"seed": "unset"}),
        ("temperature is not supported", {"temperature": "unset"}),
        # Nothing of these is an unsupported parameter.
        (error("max_tokens is too large: 100. This model supports at most 50 completion tokens"), {}),
        (error("'max_tokens' or 'max_completion_tokens' is too large: 100. The context has 50 tokens."), {}),
        (error("temperature 1.5 is not supported: it must be between 0 and 1"), {}),
        (error("This model's maximum context length is 2048 tokens"), {}),
        (error("'logit_bias' is not supported with this model", param="logit_bias"), {}),
        (error("The response was filtered"), {}),
        ("", {}),
        ("[]", {}),
    ],
)
def test_what_an_error_refuses(content, change):
    assert refused(content, SENT, {}) == change


def test_what_models_toml_sets_itself_is_not_left_out():
    said = error("Unsupported parameter: 'temperature'", param="temperature")
    assert refused(said, SENT, {"temperature": 0.6}) == {}
    assert refused(said, SENT, {"top_p": 0.6}) == {"temperature": "unset"}


def test_of_json_formats_the_next_weaker_is_tried():
    said = error("response_format is not supported")
    weaker = {**SENT, "response_format": {"type": "json_object"}}
    assert refused(said, weaker, {}) == {"response_format": "unset"}


def ask(model, times=1, **how):
    """The completions, and what was changed on the way."""

    async def go():
        async with Client({"m": model}, retries=0) as client:
            asked = (client.complete("m", HELLO, **how) for _ in range(times))
            return await asyncio.gather(*asked), client.adaptations, client.model("m")

    return asyncio.run(go())


PARAMS = {"temperature": 0.6, "top_p": 0.9, "max_tokens": 100}
SCHEMA = {
    "type": "object",
    "properties": {"ok": {"type": "boolean"}},
    "required": ["ok"],
    "additionalProperties": False,
}


@pytest.mark.parametrize(
    ("like", "change"),
    [
        (
            "openai-reasoning",
            {"max_tokens": "max_completion_tokens", "temperature": "unset", "top_p": "unset"},
        ),
        ("anthropic", {"top_p": "unset"}),
        ("litellm", {"temperature": "unset", "top_p": "unset", "seed": "unset"}),
        ("json-object", {"response_format": "json_object"}),
        ("strict", {"seed": "unset"}),
        ("vllm", {}),
        ("azure", {"max_tokens": "max_completion_tokens", "temperature": "unset", "top_p": "unset"}),
    ],
)
def test_calls_that_are_refused_at_once_are_adapted_once(like, change):
    with running(like=like) as url:
        model = Model(name="m", base_url=url, model="mock-fixed", seed=True)
        answered, told, now = ask(model, 8, params=PARAMS, schema=SCHEMA)
    assert len(answered) == 8
    assert now.adapted == change
    assert len(told) == bool(change)
    assert now.entry == model
    assert now.configuration.parameters.get("adapted", {}) == change


def test_a_parameter_that_is_not_to_be_left_out_fails():
    with running(like="openai-reasoning") as url:
        model = Model(name="m", base_url=url, model="mock-fixed", params={"temperature": 0.6})
        with pytest.raises(CallFailed, match="'temperature' does not support"):
            ask(model, params=PARAMS)


def test_the_sentence_names_the_lines_for_models_toml(tmp_path):
    with running(like="openai-reasoning") as url:
        model = Model(name="m", base_url=url, model="mock-fixed")
        _, told, _ = ask(model, params=PARAMS)
        assert "sent max_completion_tokens in place of max_tokens and no temperature and no" in told["m"]
        assert 'rename = { max_tokens = "max_completion_tokens" }' in told["m"]
        assert 'params = { temperature = "unset", top_p = "unset" }' in told["m"]
        said = {"params": {"temperature": "unset", "top_p": "unset"}}
        said["rename"] = {"max_tokens": "max_completion_tokens"}
        assert ask(Model(name="m", base_url=url, model="mock-fixed", **said), params=PARAMS)[1] == {}


@pytest.fixture
def reasoning(workspace):
    """The workspace with an endpoint that takes neither temperature nor max_tokens."""
    with running(like="openai-reasoning") as url:
        fixed = 'model = "mock-fixed"'
        workspace.models_path.write_text(toml(url, player=fixed, user=fixed, a=fixed))
        yield workspace


def test_a_run_says_so_once_and_results_point_to_what_was_sent(reasoning):
    ended = engine.execute(reasoning, planning.job(reasoning, PLAN))
    assert (ended.state, ended.failed) == ("finished", 0)
    assert ended.message.count("“player” is sent max_completion_tokens") == 1
    with reasoning.read() as db:
        [number] = [found.id for found in conversations.search(db)]
        made = {use.configuration.nickname: use for use in configurations.of_conversation(db, number)}
        [judged] = configurations.of_judgements(db, number).values()
    change = {"max_tokens": "max_completion_tokens", "temperature": "unset", "top_p": "unset"}
    for use in (*made.values(), judged):
        assert use.configuration.parameters["adapted"] == change


def test_the_next_run_begins_adapted_and_the_lines_of_the_sentence_change_nothing(reasoning):
    engine.execute(reasoning, planning.job(reasoning, PLAN))
    wider = PlayPlan("pingpong", PLAN.models, {**PLAN.options, "repeats": 2})
    ended = engine.execute(reasoning, planning.job(reasoning, wider))
    assert (ended.done, ended.failed, ended.message) == (2, 0, "")
    text = reasoning.models_path.read_text()
    lines = (
        'params = { temperature = "unset", top_p = "unset" }\n'
        'rename = { max_tokens = "max_completion_tokens" }\n'
    )
    reasoning.models_path.write_text(text.replace("[models.player]\n", f"[models.player]\n{lines}"))
    assert planning.job(reasoning, wider).models["player"].adapted
    reasoning.models_path.write_text(
        text.replace("[models.player]\n", "[models.player]\nparams = { temperature = 1 }\n")
    )
    with pytest.raises(ConfigError, match="entry of “player”"):
        planning.job(reasoning, wider)
