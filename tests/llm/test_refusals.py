"""What an endpoint refuses is recognised by the parameter it names, in whatever words and form it says so."""

from __future__ import annotations

import json

import pytest

from concord.conversation import Message
from concord.llm import handshake, refusals
from concord.llm.client import request
from concord.llm.models import Model

MODEL = Model(name="m", seed=True)
SCHEMA = {
    "type": "object",
    "properties": {
        "clear": {"type": "integer", "minimum": 1, "maximum": 5},
        "pattern": {"type": "array", "minItems": 1, "items": {"type": "integer", "enum": [1, 2]}},
    },
}
PARAMS = {
    "temperature": 0.0,
    "top_p": 0.95,
    "frequency_penalty": 0.0,
    "presence_penalty": 0.0,
    "max_tokens": 16000,
}
SAID = (Message("system", "You judge."), Message("user", "Reply with JSON."))

NO_TEMPERATURE = {"params": {"temperature": "unset"}}
NO_TOP_P = {"params": {"top_p": "unset"}}
NO_FREQUENCY = {"params": {"frequency_penalty": "unset"}}
NO_PRESENCE = {"params": {"presence_penalty": "unset"}}
NO_SEED = {"seed": False}
RENAMED = {"rename": {"max_tokens": "max_completion_tokens"}}
MERGED = {"system": "merge"}
UNBOUNDED = {"schema_without": ["bounds"]}
RANGES = {"schema_without": ["integer_enums"]}
WARM = {"at_least": {"temperature": 0.01}}
NOT_THINKING = {"params": {"enable_thinking": False}}


def at_most(tokens):
    return {"at_most": {"max_tokens": tokens}}


def error(message, **fields):
    return json.dumps({"error": {"message": message, **fields}})


def google(message, **fields):
    return json.dumps([{"error": {"code": 400, "message": message, "status": "INVALID_ARGUMENT", **fields}}])


def locs(*loc, msg="Extra inputs are not permitted"):
    return json.dumps({"detail": [{"type": "x", "loc": ["body", *loc], "msg": msg, "input": PARAMS}]})


def weaker(status, content, model=MODEL, params=PARAMS, schema=SCHEMA):
    """The settings of each weaker form, in their order, without forms that send the same."""
    body = request(model, SAID, params=params, schema=schema)
    forms = refusals.weaker(model, body, status, content)
    if forms is None:
        return None
    changed = [form for form in forms if request(form, SAID, params=params, schema=schema) != body]
    return [handshake.differences(model, form) for form in changed]


NAMED = [
    # max_tokens
    (400, error("Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens' instead."), RENAMED),
    (400, error("Unsupported parameter.", param="max_tokens"), RENAMED),
    (422, locs("max_tokens"), RENAMED),
    (400, error("maxTokens is no field of this request"), RENAMED),
    (400, error("max_tokens is too large: 16000. It takes at most 4096 completion tokens."), at_most(4096)),
    (400, error("Invalid max_tokens value, the valid range of max_tokens is [1, 8192]"), at_most(8192)),
    (400, error("max_tokens: 16000 > 8192, the maximum for this model"), at_most(8192)),
    (
        400,
        error("`max_tokens` must be less than or equal to `8,192`: below the `context_window`"),
        at_most(8192),
    ),
    (400, error("<400> InvalidParameter: Range of max_tokens should be [1, 2000]"), at_most(2000)),
    (422, locs("max_tokens", msg="Input should be less than or equal to 4000"), at_most(4000)),
    (400, error("max_new_tokens must be < 4097"), at_most(4096)),
    (400, google("max_output_tokens must be between 1 and 8192"), at_most(8192)),
    (400, error("maxOutputTokens cannot exceed 8192"), at_most(8192)),
    (400, error("max_tokens must not be greater than 4096"), at_most(4096)),
    (400, error("The maximum number of output tokens is 4096"), at_most(4096)),
    (
        400,
        error("maxOutputTokens is 16000, the range is from 1 (inclusive) to 8193 (exclusive)"),
        at_most(8192),
    ),
    (400, error("Requested 16000 max_tokens; gpt-4-0613 of 2024-08-01 supports only 4096"), at_most(4096)),
    (400, error("max_tokens 16000 is too high, use 2048"), at_most(2048)),
    (400, error("max_tokens (16000) exceeds the limit of 8,192 tokens"), at_most(8192)),
    (400, json.dumps({"error_msg": "max tokens: at most 1024", "error_code": 3}), at_most(1024)),
    # temperature
    (400, error("Unsupported value: 'temperature' does not take 0. Only the default (1)."), NO_TEMPERATURE),
    (400, error("invalid temperature: only 1 is allowed for this model"), NO_TEMPERATURE),
    (400, error("Not supported", param="temperature"), NO_TEMPERATURE),
    (422, json.dumps({"error": "Input validation error: `temperature` must be strictly positive"}), WARM),
    (422, json.dumps({"message": "Invalid params: temperature must be in range (0, +inf)"}), WARM),
    (400, error("temperature must be greater than 0"), WARM),
    (400, error("Temperature: 0.0. It should be between 0.1 and 1"), {"at_least": {"temperature": 0.1}}),
    (400, error("Unknown parameter: 'temperature'. Supported parameters are: top_p, seed"), NO_TEMPERATURE),
    (
        400,
        json.dumps({"message": ["temperature must not be less than 0.2"]}),
        {"at_least": {"temperature": 0.2}},
    ),
    (400, error("", code="temperature_not_supported"), NO_TEMPERATURE),
    (400, error("参数 temperature 的取值范围为 (0, 2)"), WARM),
    # top_p, penalties, seed
    (400, error("`temperature` and `top_p` cannot both be set. Use only one."), NO_TOP_P),
    (400, error("Either topP or temperature may be altered, not both"), NO_TOP_P),
    (400, json.dumps({"message": "top_p is not supported"}), NO_TOP_P),
    (400, google("Penalty is not enabled for models/x"), NO_FREQUENCY),
    (400, json.dumps({"code": "bad", "error": "Argument not supported: frequencyPenalty"}), NO_FREQUENCY),
    (400, json.dumps({"error": "Model x does not support parameter presencePenalty."}), NO_PRESENCE),
    (400, json.dumps({"message": "property 'presence_penalty' is unsupported"}), NO_PRESENCE),
    (400, error("Presence-Penalty: unknown option"), NO_PRESENCE),
    (422, json.dumps({"message": json.loads(locs("seed")), "object": "error"}), NO_SEED),
    (400, error("[{'type': 'extra_forbidden', 'loc': ('body', 'seed'), 'input': {'top_p': 1}}]"), NO_SEED),
    (400, google('Unknown name "seed": Cannot find field.'), NO_SEED),
    (400, google("Bad", details=[{"fieldViolations": [{"field": "seed", "description": "?"}]}]), NO_SEED),
    (400, error("unknown field `seed`, expected one of `model`, `temperature`, `top_p`"), NO_SEED),
    (400, error("Provider returned error", metadata={"raw": error("random_seed is unknown")}), NO_SEED),
    (200, error("seed is not supported"), NO_SEED),
    (400, error("Additional properties are not allowed ('seed' was unexpected)"), NO_SEED),
    (
        400,
        error("Malformed input request: extraneous key [frequency_penalty] is not permitted"),
        NO_FREQUENCY,
    ),
    (200, json.dumps({"success": False, "errors": [{"code": 7, "msg": "top-p is invalid"}]}), NO_TOP_P),
    # The role of a system
    (400, error("'messages[0].role' does not take 'system' with this model."), MERGED),
    (400, error("Unsupported value", param="messages[0].role"), MERGED),
    (400, google("Developer instruction is not enabled for models/gemma-x"), MERGED),
    (500, error("System role not supported", type="server_error"), MERGED),
    (500, error("Jinja: Conversation roles must alternate user/assistant/user/…"), MERGED),
    (400, error("Only user and assistant roles are supported!"), MERGED),
    (400, error("invalid role in the messages: system"), MERGED),
    (422, "messages[0].role: unknown variant `system`, expected `user` or `assistant`", MERGED),
    (400, error('Unexpected role "system".'), MERGED),
    # The form of the reply
    (400, error("This response_format type is unavailable now"), UNBOUNDED),
    (400, error("Invalid schema for response_format: 'maxLength' is not permitted"), UNBOUNDED),
    (400, json.dumps({"error": "invalid format: only json is known"}), UNBOUNDED),
    (400, error("no response format `json_schema` here"), UNBOUNDED),
    (400, error("The JSON schema has features that xgrammar does not support."), UNBOUNDED),
    (500, error("Failed to parse grammar"), UNBOUNDED),
    (501, error("one or more response schemas specified unsupported field min_items"), UNBOUNDED),
    (400, error("schema: `minItems` is not supported", param="response_format"), UNBOUNDED),
    (
        400,
        error("output_format.schema: For 'integer' type, properties maximum, minimum are not supported"),
        UNBOUNDED,
    ),
    (400, json.dumps({"message": "Unsupported JSON schema fields: {'minItems'}"}), UNBOUNDED),
    (400, google("* generation_config.response_schema.properties[x].enum: only for STRING type"), RANGES),
    (400, error("In response_format 'enum' must hold strings"), RANGES),
    (400, error("response_format: additionalProperties is unknown"), UNBOUNDED),
    (
        422,
        json.dumps({"message": "unknown field: parameter 'strict' of json_schema"}),
        {"schema_without": ["strict"]},
    ),
    (400, json.dumps({"detail": "structured outputs are off"}), UNBOUNDED),
    # What thinks unless it is told not to
    (400, error("parameter.enable_thinking must be set to false for calls that do not stream"), NOT_THINKING),
    (400, error("Json mode is not available when enable_thinking is true"), NOT_THINKING),
]


@pytest.mark.parametrize(("status", "content", "first"), NAMED)
def test_the_part_that_is_named_is_weakened(status, content, first):
    assert weaker(status, content)[0] == first


@pytest.mark.parametrize(
    ("status", "content"),
    [
        (
            400,
            error(
                "This model's maximum context length is 8192 tokens: 3000 in the messages, max_tokens 16000"
            ),
        ),
        (
            400,
            error(
                "'max_tokens' is too large: 16000. The maximum context length is 4096 tokens",
                param="max_tokens",
            ),
        ),
        (
            422,
            json.dumps(
                {"error": "`inputs` tokens + `max_new_tokens` must be <= 4096. Given: 30 `inputs` tokens"}
            ),
        ),
        (400, error("input length and `max_tokens` exceed context limit: 190000 + 20000 > 200000")),
        (400, error("the request exceeds the available context size")),
        (400, error("prompt is too long: 9000")),
        (400, error("max_tokens must be at least 1, got -1203")),
        (400, error("The sum of prompt tokens (3000) and max_tokens (16000) exceeds 8192")),
        (400, error("max_tokens 16000: the total number of tokens may not exceed 8192")),
        (400, error("Too long", code="context_length_exceeded", param="max_tokens")),
        (400, error("Filtered by the content management policy", code="content_filter", param="prompt")),
        (400, error("This request was refused by moderation")),
        (404, error("The model `gpt-9` does not exist or you do not have access to it.")),
        (404, "404 page not found"),
        (400, error("messages: text content blocks must be non-empty")),
        (500, error("Internal error of the server")),
        (500, error("The temperature of the machine is high")),
        (401, error("seed is not supported")),
        (429, error("response_format is not supported")),
        (200, error("overloaded")),
    ],
)
def test_what_no_form_of_the_request_would_help_is_no_refusal(status, content):
    assert weaker(status, content) is None


def test_a_schema_is_weakened_by_steps_to_text():
    said = error("response_format is not supported")
    assert weaker(400, said) == [UNBOUNDED, {"replies": "json_object"}, {"replies": "text"}]
    less = Model(name="m", replies="json_object")
    assert weaker(400, said, less) == [{"replies": "text"}]


def test_a_limit_is_lowered_renamed_and_left_out():
    forms = weaker(400, error("max_tokens must be at most 4096"))
    assert forms[:2] == [at_most(4096), RENAMED]
    assert forms[-1] == {"params": {"max_tokens": "unset"}}
    renamed = Model(name="m", rename={"max_tokens": "max_completion_tokens"})
    back = weaker(400, error("Unknown name: maxCompletionTokens. Use max_tokens"), renamed)
    assert back[0] == {"rename": {"max_tokens": "max_tokens"}}


def test_a_parameter_of_the_entry_alone_is_named_in_quotes_or_left():
    own = Model(name="m", params={"top_k": 3, "user": "me", "provider": {"only": ["x"]}})
    assert weaker(400, error("unknown parameter top_k"), own) == [{"params": {"top_k": "unset"}}]
    assert weaker(400, error("The field `user` is unknown"), own) == [{"params": {"user": "unset"}}]
    assert weaker(400, error("Provider returned error: seed"), own) is not None
    named = refusals.named_part(own, request(own, SAID), refusals.objection(error("Provider returned error")))
    assert named is None, "a word of the sentence is no parameter"


@pytest.mark.parametrize(
    "content", ["", "{}", "Bad Request", error("Invalid request"), error("Unsupported parameters")]
)
def test_where_no_part_is_named_each_is_tried_the_least_loss_first(content):
    forms = weaker(400, content)
    assert forms[:4] == [NO_SEED, NO_PRESENCE, NO_FREQUENCY, NO_TOP_P]
    assert forms.index(UNBOUNDED) < forms.index({"replies": "json_object"}) < forms.index({"replies": "text"})
    assert forms[-1]["replies"] == "text"
    assert forms[-1]["system"] == "merge"
    assert forms[-1]["params"].keys() == PARAMS.keys(), "at last all parts at their weakest"
    assert len(forms) < handshake.ASKS


def test_a_router_that_finds_nobody_for_all_parameters_is_asked_for_fewer():
    said = error("No endpoints found that can handle the requested parameters.", code=404)
    assert weaker(404, said)[0] == NO_SEED


def test_what_is_sent_that_a_complaint_repeats_names_nothing():
    """A schema error that quotes the whole request does not refuse what it quotes."""
    said = json.dumps({"detail": [{"loc": ["body", "top_p"], "msg": "no", "input": {"seed": 1}}]})
    assert weaker(422, said)[0] == NO_TOP_P


@pytest.mark.parametrize(
    ("text", "value", "ends"),
    [
        ("must be less than or equal to 1", 1.2, (None, 1)),
        ("expected a number between 0 and 1", 1.2, (None, 1)),
        ("must be in (0, 2)", 0.0, (0.01, None)),
        ("must be in (0, 2)", 2.5, (None, 1.99)),
        ("<400> must not be less than 3", 2.0, (3, None)),
        ("at least 0.1", 0.0, (0.1, None)),
        ("at most 2", 1.2, (None, None)),
        ("nothing of numbers", 1.0, (None, None)),
    ],
)
def test_ranges_are_read(text, value, ends):
    assert refusals.allowed(text, value) == ends


def test_a_limit_that_an_endpoint_requires_is_sent():
    params = {"temperature": 0.0}
    for said in (locs("max_tokens", msg="Field required"), error("max_tokens is required")):
        assert weaker(422, said, params=params)[0] == {"params": {"max_tokens": 4096}}


@pytest.mark.parametrize(
    "said",
    [
        error("Unsupported parameter: 'stop' is not supported with this model.", param="stop"),
        error("This model does not support stop sequences."),
        error("`stop` is not supported here"),
        error("Extra argument: stop"),
        locs("stop"),
        google('Invalid JSON payload received. Unknown name "stopSequences": Cannot find field.'),
    ],
)
def test_stop_sequences_are_dropped_where_they_are_refused(said):
    model = Model(name="m", params={"stop": ["\n\n"]})
    assert weaker(400, said, model, params={})[0] == {"params": {"stop": "unset"}}


def test_a_reply_that_stopped_refuses_no_stop_sequences():
    said = error("The model stopped and did not stop to think: invalid response")
    assert refusals.mentioned(said) is None
