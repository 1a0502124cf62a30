"""models.toml, and what becomes of a call when the endpoint will not have it."""

from __future__ import annotations

import asyncio
import dataclasses
import json

import pytest

from concord.codes import Failure
from concord.conversation import Message
from concord.errors import CallFailed, ConfigError
from concord.llm import api_errors, gates
from concord.llm.client import DEFAULT_CONCURRENCY, Client, limits, merge, request
from concord.llm.families import families
from concord.llm.models import Model, Price, load_models
from concord.runs.examining import examine
from tests.mock.server import running

HELLO = (
    Message("system", "Be brief."),
    Message("user", "Hello."),
    Message("assistant", "Hi."),
    Message("user", "Bye."),
)


def written(tmp_path, text):
    file = tmp_path / "models.toml"
    file.write_text(text)
    return file


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("[models.a", "not valid TOML"),
        ("[model.a]\n", "found “model”"),
        ("models = 3\n", "models"),
        ("[models]\na = 3\n", r"written \[models.a\]"),
        ('[models.a]\napi_key = "sk-1"\n', "holds a key"),
        ("[models.a]\nmax_concurrency = 0\n", "max_concurrency"),
        ('[models.a]\nreplies = "xml"\n', "replies"),
        ('[models.a]\nbase_ulr = "x"\n', "no setting “base_ulr”. Did you mean “base_url”"),
        ("[models.a]\nprice = { input = 1 }\n", "price.output"),
        ("[models.a]\nprice = 3\n", "written { input = 2.5, output = 10.0 }"),
        ('[models.a]\nname = "b"\n', "remove the setting “name”"),
        ("[models.a]\nmax_concurrency = 9223372036854775808\n", "64 bits"),
        ("[models.a]\nparams = { temperature = nan }\n", "nan"),
        ('[models.""]\nmodel = "x"\n', "name"),
        (f'[models.{"a" * 501}]\nmodel = "x"\n', "name"),
        ('[models.a]\nmodle = "x"\nprice = 3\n', "written { input.*Did you mean “model”"),
    ],
)
def test_a_file_that_cannot_be_used_names_itself_and_the_place(tmp_path, text, says):
    with pytest.raises(ConfigError, match=says) as caught:
        load_models(written(tmp_path, text))
    assert "models.toml" in str(caught.value)


def test_families_are_read_alone_and_as_a_setting(tmp_path):
    file = written(tmp_path, '[models.b]\nfamily = "gpt"\n[models.a]\nfamily = "llama"\n[models.c]\n')
    assert families(file) == (("a", "llama"), ("b", "gpt"))
    assert load_models(file)["b"].family == "gpt"
    assert families(tmp_path / "none.toml") == ()
    with pytest.raises(ConfigError, match="family"):
        families(written(tmp_path, "[models.a]\nfamily = 3\n"))


ADDRESSES = {
    "https://[::1/v1": "is not an address",
    "https://[::1]x/v1": "is not an address",
    "http://[x]/v1": "is not an address",
    "http://host:99999/v1": "is not an address",
    "http://host:port/v1": "is not an address",
    "http:///v1": "is not an address",
    "host/v1": "is not an address",
    "file:///etc/passwd": "is not an address",
    "http://a..b/v1": "is not an address",
    "http://a b/v1": "is not an address",
    "http://a\\u0000b/v1": "is not an address",
    "http://a\\nb/v1": "is not an address",
    "https://key:sk-secret@host/v1": "holds credentials",
    "https://sk-secret@host/v1": "holds credentials",
    "https://host/v1?api_key=sk-secret": "holds credentials",
    "https://host/v1?x=1&Subscription-Key=sk-secret": "holds credentials",
}


@pytest.mark.parametrize(("address", "says"), ADDRESSES.items())
def test_an_address_that_is_none_or_holds_credentials_is_refused(tmp_path, monkeypatch, address, says):
    with pytest.raises(ConfigError, match=f"“base_url”: {says}") as caught:
        load_models(written(tmp_path, f'[models.a]\nbase_url = "{address}"\n'))
    assert "sk-secret" not in str(caught.value)
    if "\\u" not in address:
        monkeypatch.setenv("OPENAI_BASE_URL", address.replace("\\n", "\n"))
        with pytest.raises(ConfigError, match=f"OPENAI_BASE_URL {says}") as caught:
            _ = Model(name="a").configuration
        assert "sk-secret" not in str(caught.value)
    assert Model(name="a", base_url="http://[::1]:8000/v1").configuration


def test_the_template_of_a_new_workspace_loads(workspace, tmp_path):
    from concord.workspace import MODELS_TEMPLATE

    template = MODELS_TEMPLATE.read_text(encoding="utf-8")
    assert load_models(written(tmp_path, template)) == {}
    uncommented = "\n".join(line.removeprefix("# ") for line in template.splitlines()[3:])
    assert load_models(written(tmp_path, uncommented))["gpt-4o"].max_concurrency == 16
    assert load_models(written(tmp_path, uncommented))["embedder"].kind == "embeddings"


def test_no_file_means_no_models(tmp_path):
    assert load_models(tmp_path / "models.toml") == {}


def test_cost_is_per_million_tokens():
    model = Model(name="a", price=Price(input=2.5, output=10.0))
    assert model.cost(1_000_000, 100_000) == pytest.approx(2.5 + 1.0)
    assert Model(name="a").cost(10**6, 10**6) == 0.0


def test_cached_tokens_and_batches_have_prices_of_their_own():
    price = Price(input=2.0, output=8.0, cached=0.5, batch=0.5)
    model = Model(name="a", price=price)
    million = 10**6
    # Half of the tokens in were cached: 0.5 million at 2, 0.5 million at 0.5, a million out at 8
    assert model.cost(million, million, million // 2) == pytest.approx(1.0 + 0.25 + 8.0)
    assert model.cost(million, million, million // 2, batch=True) == pytest.approx((1.0 + 0.25 + 8.0) / 2)
    bare = Model(name="a", price=Price(input=2.0, output=8.0))
    assert bare.cost(million, million, million, batch=True) == pytest.approx(10.0), (
        "what is not stated is full"
    )


def test_a_wrong_price_of_batches_is_told(tmp_path):
    entry = "[models.a]\nprice = { input = 1, output = 2, batch = 5 }"
    with pytest.raises(ConfigError, match=r"“price.batch”: input should be less than or equal to 1"):
        load_models(written(tmp_path, entry))


def test_models_on_one_endpoint_share_the_smallest_limit_stated():
    here = {"base_url": "http://here/v1"}
    models = [
        Model(name="a", max_concurrency=64, **here),
        Model(name="b", max_concurrency=8, **here),
        Model(name="c", **here),
    ]
    assert limits([*models, Model(name="d")]) == {("http://here/v1", ""): 8, ("", ""): DEFAULT_CONCURRENCY}


def test_without_a_system_role_the_first_user_message_instructs():
    assert [(m.role, m.content) for m in merge(HELLO)] == [
        ("user", "Be brief.\n\nHello."),
        ("assistant", "Hi."),
        ("user", "Bye."),
    ]
    assert [m.role for m in merge(HELLO[:1])] == ["user"]
    assert merge(HELLO[1:]) == list(HELLO[1:])


def test_the_models_own_parameters_override_the_prompts():
    model = Model(name="a", model="served", params={"temperature": 0.0})
    body = request(model, HELLO, params={"temperature": 0.6, "top_p": 0.9}, schema={"type": "object"}, seed=5)
    assert (body["model"], body["temperature"], body["top_p"]) == ("served", 0.0, 0.9)
    assert body["response_format"]["json_schema"]["schema"] == {"type": "object"}
    assert "seed" not in body
    assert request(model.model_copy(update={"seed": True}), HELLO, seed=5)["seed"] == 5


@pytest.mark.parametrize(
    ("replies", "sent"), [("json_schema", "json_schema"), ("json_object", "json_object"), ("text", None)]
)
def test_the_reply_format_asked_for_is_what_the_endpoint_supports(replies, sent):
    body = request(Model(name="a", replies=replies), HELLO, schema={"type": "object"})
    assert body.get("response_format", {}).get("type") == sent


def test_a_parameter_can_be_unset_or_renamed():
    model = Model(name="a", params={"temperature": "unset"}, rename={"max_tokens": "max_completion_tokens"})
    body = request(model, HELLO, params={"temperature": 0.6, "top_p": 0.9, "max_tokens": 50})
    assert {name for name in body if name not in ("model", "messages")} == {"top_p", "max_completion_tokens"}
    assert body["max_completion_tokens"] == 50
    told = model.configuration.parameters
    assert told == {"temperature": "unset", "rename": {"max_tokens": "max_completion_tokens"}}
    assert "rename" not in Model(name="a").configuration.parameters


def call(model, retries=0):
    async def go():
        async with Client({"m": model}, retries=retries) as client:
            return await client.complete("m", HELLO)

    return asyncio.run(go())


def test_a_reply_with_its_tokens_cost_and_time(mock):
    done = call(Model(name="m", base_url=mock, model="mock-bland", price=Price(input=1e6, output=0)))
    assert done.text
    assert not done.cut
    assert done.usage.calls == 1
    assert done.usage.cost == done.usage.input_tokens > 0
    assert done.usage.seconds > 0


def test_a_reply_that_hit_the_token_limit_says_so(mock):
    assert call(Model(name="m", base_url=mock, model="mock-vivid", params={"max_tokens": 3})).cut


def test_failures_are_sentences_with_a_remedy(mock, monkeypatch):
    monkeypatch.setenv("WRONG_KEY", "wrong")
    nobody = Model(name="m", base_url="http://127.0.0.1:9/v1", model="mock-bland")
    monkeypatch.setattr(gates, "FIRST_SECONDS", 0.0)
    with pytest.raises(CallFailed, match=r"cannot be reached.*`concord mock`") as caught:
        call(nobody)
    assert caught.value.code == "unreachable"
    with pytest.raises(CallFailed, match="Is the server up, and base_url right"):
        call(nobody.model_copy(update={"model": "gpt-9"}))
    with pytest.raises(CallFailed, match=r"does not know “m” as “gpt-9”") as caught:
        call(Model(name="m", base_url=mock, model="gpt-9"))
    with (
        running(require_key="right") as guarded,
        pytest.raises(CallFailed, match="environment variable WRONG_KEY") as caught,
    ):
        call(Model(name="m", base_url=guarded, model="mock-bland", api_key_env="WRONG_KEY"))
    assert caught.value.code is Failure.KEY_REFUSED


def test_too_many_calls_are_the_endpoints_affair_and_worth_another_try():
    found = api_errors.status_error(
        429, {"retry-after": "2"}, b"slow down", Model(name="m", base_url="http://x/v1")
    )
    assert (found.code, found.after) == (Failure.RATE_LIMIT, 2.0)
    assert "kept refusing calls for “m” (429): slow down" in str(found)


@pytest.mark.parametrize(
    ("status", "content", "code"),
    [
        (400, b'{"error": {"message": "no such field"}}', Failure.BAD_REQUEST),
        (400, b'{"error": {"code": "content_filter", "message": "filtered"}}', Failure.REFUSED),
        (401, b"", Failure.KEY_REFUSED),
        (402, b"", Failure.NO_CREDIT),
        (403, b"", Failure.FORBIDDEN),
        (403, b'{"error": {"message": "flagged by moderation"}}', Failure.REFUSED),
        (451, b'{"error": {"message": "Prohibited content"}}', Failure.REFUSED),
        (400, b'{"error": {"message": "Content Exists Risk"}}', Failure.REFUSED),
        (400, b'{"code": "data_inspection_failed", "message": "no"}', Failure.REFUSED),
        (
            400,
            b'{"error": {"code": "invalid_prompt", "message": "against our usage policy"}}',
            Failure.REFUSED,
        ),
        (400, b'{"error": {"message": "maximum context length is 8192 tokens"}}', Failure.CONTEXT_EXCEEDED),
        (413, b'{"detail": "Request too large"}', Failure.CONTEXT_EXCEEDED),
        (400, b'{"error": {"message": "max_tokens is too large"}}', Failure.BAD_REQUEST),
        (404, b"", Failure.UNKNOWN_MODEL),
        (408, b"", Failure.SERVER),
        (422, b"", Failure.BAD_REQUEST),
        (429, b'{"error": {"code": "insufficient_quota"}}', Failure.NO_CREDIT),
        (500, b"", Failure.SERVER),
        (503, b"<html>", Failure.UNAVAILABLE),
        (529, b"", Failure.RATE_LIMIT),
        (307, b"", Failure.REDIRECTED),
    ],
)
def test_the_code_of_an_error_says_what_is_done(status, content, code):
    found = api_errors.status_error(status, {}, content, Model(name="m", base_url="http://x/v1"))
    assert (found.code, found.status, found.reason) == (code, status, f"HTTP {status}")


def test_a_hanging_endpoint_times_out(tmp_path):
    from tests.mock.faults import Faults

    with running(faults=Faults(hang=1)) as url, pytest.raises(CallFailed, match=r"within 0\.3 s") as caught:
        call(Model(name="m", base_url=url, model="mock-bland", timeout=0.3))
    assert caught.value.code == "timeout"


def test_retry_after_is_honoured_and_the_call_succeeds():
    from tests.mock.faults import Faults

    with running(faults=Faults(rate_limit=2, retry_after=0.05)) as url:
        model = Model(name="m", base_url=url, model="mock-bland")
        assert call(model, retries=2).text
        assert call(model, retries=2).text


def test_doctor_says_which_model_is_ill_and_of_what(mock):
    models = {
        "well": Model(name="well", base_url=mock, model="mock-bland"),
        "ill": Model(name="ill", base_url=mock, model="gpt-9"),
    }
    found = asyncio.run(examine(models))
    assert found["well"].wrong == ""
    assert "does not know “ill”" in found["ill"].wrong


def test_no_key_is_ever_part_of_a_model(monkeypatch):
    monkeypatch.setenv("MY_KEY", "sk-secret")
    model = Model(name="m", api_key_env="MY_KEY")
    assert model.key() == "sk-secret"
    assert "sk-secret" not in model.model_dump_json() + repr(model)
    assert not dataclasses.is_dataclass(model)


KEY = "4f9a1c77d0b24e6f8a3355bb"


@pytest.mark.parametrize(
    "name",
    [
        f"sk-proj-{KEY}",
        f"sk_{KEY}",
        f"gsk_{KEY}{KEY}",
        f"hf_{KEY}",
        f"AIzaSy{KEY}",
        KEY,
        KEY.upper(),
        f"Bearer {KEY}",
        "MY KEY",
        "$MY_KEY",
        "",
        "4_KEY",
        "k" * 101,
    ],
)
def test_a_key_in_place_of_its_variable_is_refused_and_not_quoted(fresh, run, name):
    fresh.models_path.write_text(f"[models.m]\napi_key_env = {json.dumps(name)}\n")
    for words in (["models", "list"], ["doctor"], ["judge", "pingpong", "--judges", "m"]):
        done = run(fresh, *words)
        assert done.exit_code == 1
        assert "[models.m] “api_key_env”: is not the name of an environment variable" in done.output
        assert not name or name not in done.output
    fresh.models_path.write_text("")
    done = run(fresh, "models", "add", "m", "--preset", "vllm", "--model", "x", "--key-env", name)
    assert done.exit_code == 1
    assert fresh.models_path.read_text() == ""
    assert not name or name not in done.output


@pytest.mark.parametrize(
    "name", ["OPENAI_API_KEY", "my_key", "_K", "AZURE_OPENAI_KEY_2", "KEY2024ForProject"]
)
def test_names_of_variables_are_names(name):
    assert Model(name="m", api_key_env=name).key_variable == name


@pytest.mark.parametrize(
    "setting",
    [
        f'base_url = "https://host/v1/sk-{KEY}"',
        f'base_url = "https://host/v1?x=sk-{KEY}"',
        f'base_url = "https://host/v1#gsk_{KEY}"',
        f'model = "sk-or-v1-{KEY}"',
        f'params = {{ extra_headers = {{ Authorization = "{KEY}" }} }}',
        f'params = {{ extra_headers = {{ "X-Api-Key" = "{KEY}" }} }}',
        f'params = {{ extra_body = {{ options = ["Bearer {KEY}"] }} }}',
        f'params = {{ api_key = "{KEY}" }}',
        f'rename = {{ user = "nvapi-{KEY}" }}',
        f'headers = {{ Authorization = "Bearer {KEY}" }}',
    ],
)
def test_a_key_in_any_setting_is_refused_and_not_quoted(fresh, run, setting):
    fresh.models_path.write_text(f"[models.m]\n{setting}\n")
    done = run(fresh, "models", "list")
    assert done.exit_code == 1
    assert KEY not in done.output
    assert "Put it" in done.output or "put the key" in done.output or "no setting" in done.output


@pytest.mark.parametrize(
    "setting",
    [
        'base_url = "https://api.cloudflare.com/client/v4/accounts/4f9a1c77d0b24e6f8a3355bb4f9a1c77/ai/v1"',
        'model = "ft:gpt-4o-2024-08-06:org:suffix:9aBcDeFgH1"',
        'params = { max_tokens = 5, stop = ["<|eot_id|>"], logit_bias = { "50256" = -100 } }',
        'model = "accounts/fireworks/models/llama-v3p1-405b-instruct"',
    ],
)
def test_what_is_no_key_is_taken(fresh, setting):
    fresh.models_path.write_text(f"[models.m]\n{setting}\n")
    assert load_models(fresh.models_path)["m"]
