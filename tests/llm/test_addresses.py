"""Addresses with a query, headers of an entry, and proxies: what arrives at an endpoint."""

from __future__ import annotations

import asyncio
import json

import pytest
from aiohttp import web

from concord.conversation import Message
from concord.demo.server import listening
from concord.errors import ConfigError
from concord.llm import batch
from concord.llm.client import Client
from concord.llm.models import Model, load_models

HELLO = [Message("user", "Hello.")]
SECRET = "an-azure-key-of-a-test"
COMPLETION = {
    "model": "mock-x",
    "choices": [{"index": 0, "message": {"role": "assistant", "content": "Hi."}, "finish_reason": "stop"}],
}


def asked(settings, ask=None, answer=None):
    """The requests that arrive at an endpoint when a model with these settings is called, and the replies."""
    arrived = []

    async def handle(request: web.Request) -> web.Response:
        arrived.append((request.path_qs, {name.lower(): value for name, value in request.headers.items()}))
        return web.json_response(answer(request) if answer else COMPLETION)

    async def go():
        app = web.Application()
        app.router.add_route("*", "/{path:.*}", handle)
        async with listening(app) as url:
            filled = {
                k: v.replace("URL", url.removesuffix("/v1")) if isinstance(v, str) else v
                for k, v in settings.items()
            }
            model = Model(name="m", **filled)
            async with Client({"m": model}, retries=0) as client:
                return await (ask or call)(client, model)

    return arrived, asyncio.run(go())


async def call(client, _model):
    return await client.complete("m", HELLO)


@pytest.mark.parametrize(
    ("base", "path"),
    [
        ("URL/v1", "/v1/chat/completions"),
        ("URL/v1/", "/v1/chat/completions"),
        ("URL", "/chat/completions"),
        (
            "URL/openai/deployments/x?api-version=2024-10-21",
            "/openai/deployments/x/chat/completions?api-version=2024-10-21",
        ),
        ("URL/v1/?a=1&b=%20x", "/v1/chat/completions?a=1&b=%20x"),
        ("URL/v1?flag", "/v1/chat/completions?flag"),
    ],
)
def test_the_query_of_an_address_stays_at_its_end(base, path):
    arrived, _ = asked({"base_url": base})
    assert [where for where, _ in arrived] == [path]


def test_the_batch_api_keeps_the_address_and_its_query():
    answer = lambda request: {"id": "b", "object": "batch", "status": "completed"}  # noqa: E731
    arrived, standing = asked(
        {"base_url": "URL/openai/deployments/x?api-version=1"},
        lambda client, model: batch.look(client, model, "b"),
        answer,
    )
    assert arrived[0][0] == "/openai/deployments/x/batches/b?api-version=1"
    assert standing.is_final


def test_headers_are_sent_and_secret_ones_are_read_from_the_environment(monkeypatch):
    monkeypatch.setenv("AZURE_KEY", SECRET)
    headers = {"api-key": {"env": "AZURE_KEY"}, "X-Team": "evaluation"}
    arrived, _ = asked({"base_url": "URL/v1", "headers": headers})
    [(_, sent)] = arrived
    assert (sent["api-key"], sent["x-team"]) == (SECRET, "evaluation")
    assert "authorization" not in sent
    monkeypatch.setenv("OTHER_KEY", "another-key-of-a-test")
    [(_, sent)] = asked({"base_url": "URL/v1", "headers": headers, "api_key_env": "OTHER_KEY"})[0]
    assert sent["authorization"] == "Bearer another-key-of-a-test"
    own = {"Authorization": {"env": "AZURE_KEY"}}
    [(_, sent)] = asked({"base_url": "URL/v1", "headers": own})[0]
    assert sent["authorization"] == SECRET


def test_a_header_that_is_a_key_is_taken_out_of_what_an_endpoint_says(monkeypatch):
    monkeypatch.setenv("AZURE_KEY", SECRET)
    headers = {"api-key": {"env": "AZURE_KEY"}}

    def repeated(request):
        said = {"role": "assistant", "content": f"You sent {request.headers['api-key']}."}
        return {**COMPLETION, "choices": [{"index": 0, "message": said, "finish_reason": "stop"}]}

    _, reply = asked({"base_url": "URL/v1", "headers": headers}, answer=repeated)
    assert reply.text == "You sent (key)."


def test_a_header_whose_variable_is_not_set_is_said_before_any_call(monkeypatch):
    monkeypatch.delenv("AZURE_KEY", raising=False)
    model = Model(name="m", base_url="http://h/v1", headers={"api-key": {"env": "AZURE_KEY"}})
    with pytest.raises(ConfigError, match="set the environment variable AZURE_KEY"):
        model.sent_headers()
    monkeypatch.setenv("AZURE_KEY", "a\nb")
    with pytest.raises(ConfigError, match="line break"):
        model.sent_headers()


@pytest.mark.parametrize(
    ("headers", "says"),
    [
        ('{ "api-key" = "4f9a1c77d0b24e6f8a3355bb" }', "hold a key"),
        ('{ Authorization = "Bearer 4f9a1c77d0b24e6f8a3355bb" }', "hold a key"),
        ('{ "X-Auth-Token" = "4f9a1c77d0b24e6f8a3355bb" }', "hold a key"),
        ('{ "x y" = "1" }', "name that no header can have"),
        ('{ "X-A" = "one\\ntwo" }', "value for"),
        ('{ "api-key" = { env = "sk-4f9a1c77d0b24e6f8a3355bb" } }', "environment variable"),
        ('{ "api-key" = { file = "x" } }', "headers"),
    ],
)
def test_headers_that_cannot_be_are_refused_and_no_key_is_quoted(fresh, headers, says):
    fresh.models_path.write_text(f'[models.m]\nbase_url = "http://h/v1"\nheaders = {headers}\n')
    with pytest.raises(ConfigError) as refused:
        load_models(fresh.models_path)
    assert says in str(refused.value)
    assert "4f9a1c77d0b24e6f8a3355bb" not in str(refused.value)


def test_plain_headers_are_part_of_the_configuration_and_keys_are_not():
    model = Model(
        name="m", base_url="http://h/v1?api-version=1", headers={"X-Team": "e", "api-key": {"env": "A"}}
    )
    assert model.configuration.parameters == {"headers": {"X-Team": "e"}}
    newer = Model(name="m", base_url="http://h/v1?api-version=2", headers=model.headers)
    assert newer.configuration == model.configuration
    assert newer.asked_as != model.asked_as, "another api-version may take other requests"


@pytest.mark.parametrize("variable", ["HTTP_PROXY", "http_proxy", "ALL_PROXY"])
def test_an_address_of_this_machine_is_never_called_through_a_proxy(monkeypatch, variable):
    monkeypatch.delenv("NO_PROXY", raising=False)
    monkeypatch.delenv("no_proxy", raising=False)
    monkeypatch.setenv(variable, "http://127.0.0.1:9")
    arrived, reply = asked({"base_url": "URL/v1"})
    assert (len(arrived), reply.text) == (1, "Hi.")


def test_other_addresses_are_called_through_the_proxy(monkeypatch):
    monkeypatch.delenv("NO_PROXY", raising=False)
    monkeypatch.delenv("no_proxy", raising=False)
    asked_for = []

    async def handle(request: web.Request) -> web.Response:
        asked_for.append(str(request.url))
        return web.Response(text=json.dumps(COMPLETION), content_type="application/json")

    async def go():
        app = web.Application()
        app.router.add_route("*", "/{path:.*}", handle)
        async with listening(app) as url:
            monkeypatch.setenv("HTTP_PROXY", url.removesuffix("/v1"))
            model = Model(name="m", base_url="http://nowhere.example/v1")
            async with Client({"m": model}, retries=0) as client:
                return await client.complete("m", HELLO)

    assert asyncio.run(go()).text == "Hi."
    assert asked_for == ["http://nowhere.example/v1/chat/completions"]
