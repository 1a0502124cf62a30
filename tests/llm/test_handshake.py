"""The handshake: the strongest form that an endpoint takes, in few requests, and what is known of it."""

from __future__ import annotations

import asyncio
import json

import pytest

from concord.codes import Failure
from concord.conversation import Message
from concord.llm import handshake
from concord.llm.api_errors import AttemptFailed, status_error
from concord.llm.client import request
from concord.llm.handshake import Handshake
from concord.llm.models import Model

MODEL = Model(name="m")
PARAMS = {"temperature": 0.0, "top_p": 0.9, "max_tokens": 9000}
SCHEMA = {"type": "object", "properties": {"clear": {"type": "integer", "minimum": 1, "maximum": 5}}}
SAID = (Message("system", "You judge."), Message("user", "Reply with JSON."))


def body(model, params=PARAMS, schema=SCHEMA):
    return request(model, SAID, params=params, schema=schema)


class Endpoint:
    """Answers requests of which nothing is refused; `rules` are tests of the body, and the words."""

    def __init__(self, *rules, status=400):
        self.rules, self.status, self.asked = rules, status, []

    async def ask(self, model):
        sent = body(model)
        self.asked.append(sent)
        for refuses, words in self.rules:
            if refuses(sent):
                raise status_error(self.status, {}, json.dumps({"error": {"message": words}}).encode(), model)
        return "answered"


def settle(endpoint, model=MODEL):
    settled, answer = asyncio.run(handshake.settle(model, body, endpoint.ask))
    assert answer == "answered"
    return handshake.differences(model, settled)


def has(name):
    return lambda sent: name in sent


def form(*types):
    return lambda sent: (sent.get("response_format") or {}).get("type") in types


def bounded(sent):
    return "minimum" in json.dumps(sent.get("response_format"))


def system(sent):
    return any(message["role"] == "system" for message in sent["messages"])


def test_what_is_taken_as_it_is_takes_one_request():
    endpoint = Endpoint()
    assert settle(endpoint) == {}
    assert len(endpoint.asked) == 1


def test_one_part_after_the_other_is_weakened_and_no_other():
    endpoint = Endpoint(
        (has("max_tokens"), "Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens'."),
        (has("temperature"), "'temperature' is not supported"),
        (system, "System role not supported"),
        (bounded, "response_format: 'minimum' is not supported"),
    )
    assert settle(endpoint) == {
        "rename": {"max_tokens": "max_completion_tokens"},
        "params": {"temperature": "unset"},
        "system": "merge",
        "schema_without": ["bounds"],
    }
    assert len(endpoint.asked) == 5, "one request a refusal, and the answer"


def test_of_a_reply_s_forms_the_strongest_that_is_taken_is_kept():
    refused = Endpoint((form("json_schema"), "This response_format type is unavailable now"))
    assert settle(refused) == {"replies": "json_object"}
    refused = Endpoint((has("response_format"), "structured outputs are unavailable"))
    assert settle(refused) == {"replies": "text"}


def test_a_refusal_without_a_name_costs_no_part_that_it_is_not_about():
    endpoint = Endpoint((has("top_p"), "Invalid request"))
    assert settle(endpoint) == {"params": {"top_p": "unset"}}
    both = Endpoint((lambda sent: "top_p" in sent or system(sent), "Bad Request"))
    settled = settle(both)
    assert settled["params"]["top_p"] == "unset", "alone no part helps: all are at their weakest"
    assert settled["system"] == "merge"


@pytest.mark.parametrize(
    ("words", "code"),
    [
        ("Nothing is right with this request", Failure.BAD_REQUEST),
        ("parameters: no", Failure.BAD_REQUEST),
        ("temperature is not supported", Failure.FORM_REFUSED),
        ("response_format is wrong", Failure.FORM_REFUSED),
    ],
)
def test_an_endpoint_that_refuses_everything_is_asked_a_few_times(words, code):
    endpoint = Endpoint((lambda sent: True, words))
    with pytest.raises(AttemptFailed) as failure:
        settle(endpoint)
    assert len(endpoint.asked) <= handshake.ASKS
    assert len({json.dumps(sent) for sent in endpoint.asked}) == len(endpoint.asked), "none is sent twice"
    if words != "Nothing is right with this request":
        assert failure.value.code is code


def test_another_failure_ends_a_handshake_as_it_is():
    endpoint = Endpoint((lambda sent: True, "This model's maximum context length is 100 tokens"))
    with pytest.raises(AttemptFailed) as failure:
        settle(endpoint)
    assert len(endpoint.asked) == 1
    assert failure.value.code is not Failure.FORM_REFUSED


def known(*shapes, **settings):
    return Handshake(settings, tuple(handshake.shape(body(MODEL, *one), one[1]) for one in shapes))


JUDGED, TALKED = (PARAMS, SCHEMA), ({"temperature": 0.0, "max_tokens": 300}, None)


@pytest.mark.parametrize(
    ("params", "schema", "covered"),
    [
        (PARAMS, SCHEMA, True),
        (*TALKED, True),
        ({**PARAMS, "max_tokens": 9001}, SCHEMA, False),
        ({**PARAMS, "temperature": 1.2}, SCHEMA, False),
        ({**PARAMS, "presence_penalty": 0.0}, SCHEMA, False),
        (PARAMS, {"type": "object", "properties": {"x": {"enum": [1, 2]}}}, False),
    ],
)
def test_a_request_is_known_where_one_with_all_that_it_has_was_answered(params, schema, covered):
    assert known(JUDGED).covers(handshake.shape(body(MODEL, params, schema), schema)) is covered


def test_a_part_that_no_earlier_request_had_changes_nothing_of_them():
    """Results of before and after are of the same requests; otherwise their configurations are told apart."""
    before = known(JUDGED)
    penalised = {**PARAMS, "presence_penalty": 0.0}
    asked = handshake.shape(body(MODEL, penalised), SCHEMA)
    without = MODEL.changed(params={"presence_penalty": "unset"})
    after = handshake.extended(MODEL, before, without, asked)
    assert after.extends == (MODEL.configuration.hash,)
    assert len(after.shapes) == 2
    cold = MODEL.changed(params={"temperature": "unset"})
    after = handshake.extended(MODEL, before, cold, asked)
    assert after.extends == ()
    assert len(after.shapes) == 1, "what was known was answered with a temperature"


def test_what_was_settled_is_kept_as_settings_of_the_entry():
    entry = Model(name="m", params={"top_k": 3}, rename={"a": "b"})
    assert entry.configuration.replies == "json_schema"
    changed = entry.changed(
        params={"top_k": 3, "temperature": "unset"},
        rename={"a": "b", "max_tokens": "max_completion_tokens"},
        replies="json_object",
    )
    assert changed.configuration.replies == "json_object"
    settings = handshake.differences(entry, changed)
    assert settings["params"] == {"temperature": "unset"}
    stored = Handshake.from_dict(json.loads(json.dumps(Handshake(settings).as_dict())))
    assert handshake.settled_model(entry, stored) == changed
    assert handshake.settled_model(entry, stored).configuration == changed.configuration
    assert handshake.settled_model(entry, None) is entry
