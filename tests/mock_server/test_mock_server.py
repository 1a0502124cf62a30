"""The mock server, through the openai client and bare HTTP."""

import asyncio
import json
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from http.client import HTTPException
from urllib.request import Request, urlopen

import openai
import pytest
from aiohttp import web

from concord.demo import server
from concord.errors import ConfigError
from tests.mock.faults import Faults, read_faults
from tests.mock.personas import models
from tests.mock.server import FINGERPRINT, running, tokens

from .dialogues import ROOT

HELLO = [
    {"role": "system", "content": "You are Nell. You keep the lamp at Cold Point."},
    {"role": "user", "content": "Hi! Who are you?"},
]
REPLY = {
    "type": "object",
    "properties": {"next_utterance": {"type": "string"}},
    "required": ["next_utterance"],
    "additionalProperties": False,
}


@pytest.fixture(scope="module")
def url():
    with running() as url:
        yield url


def ask(url, *, key="any", times=1, **request):
    """The completions of the same request sent `times` times at once, or the errors they end in."""

    async def go():
        async with openai.AsyncOpenAI(base_url=url, api_key=key, max_retries=0, timeout=10) as client:
            request.setdefault("messages", HELLO)
            calls = [client.chat.completions.create(**request) for _ in range(times)]
            return await asyncio.gather(*calls, return_exceptions=True)

    got = asyncio.run(go())
    if times > 1:
        return got
    if isinstance(got[0], BaseException):
        raise got[0]
    return got[0]


def calls(url, method="GET"):
    with urlopen(Request(f"{url}/_calls", method=method)) as reply:
        return json.load(reply)


def test_a_completion_has_the_protocols_shape(url):
    got = ask(url, model="mock-vivid")
    assert (got.object, got.model, got.system_fingerprint) == (
        "chat.completion",
        "mock-vivid",
        FINGERPRINT,
    )
    assert (got.choices[0].finish_reason, got.choices[0].message.role) == ("stop", "assistant")
    text = got.choices[0].message.content
    assert text
    assert got.usage.completion_tokens == tokens(text)
    assert got.usage.total_tokens == got.usage.prompt_tokens + got.usage.completion_tokens


def test_every_model_is_listed_and_named_a_simulated(url):
    async def go():
        async with openai.AsyncOpenAI(base_url=url, api_key="any") as client:
            return [m.id async for m in client.models.list()], await client.models.retrieve("mock-user")

    listed, one = asyncio.run(go())
    assert listed == list(models())
    assert all(name.startswith("mock-") for name in listed)
    assert one.id == "mock-user"


def test_a_reply_does_not_depend_on_order_or_server(url):
    ask(url, model="mock-parrot")
    with running() as other, running(seed=1) as seeded:
        first, second, third = (
            ask(u, model="mock-vivid").choices[0].message.content for u in (url, other, seeded)
        )
    assert first == second != third


def test_a_schema_is_honoured(url):
    format = {"type": "json_schema", "json_schema": {"name": "reply", "schema": REPLY, "strict": True}}
    for model in ("mock-user", "mock-vivid", "mock-fixed"):
        got = ask(url, model=model, response_format=format).choices[0].message.content
        assert list(json.loads(got)) == ["next_utterance"]


def test_stop_and_limits(url):
    whole = ask(url, model="mock-vivid").choices[0].message.content
    stopped = ask(url, model="mock-vivid", stop=[whole[10:14]])
    assert stopped.choices[0].message.content == whole[: whole.index(whole[10:14])]
    short = ask(url, model="mock-vivid", max_tokens=3).choices[0]
    assert short.finish_reason == "length"
    assert whole.startswith(short.message.content)
    assert tokens(short.message.content) <= 3
    assert tokens("a" * 40) == 10
    assert tokens("ж" * 40) == 20


@pytest.mark.parametrize(
    ("body", "said"),
    [
        (b"{", "not JSON"),
        (b"[]", "JSON object"),
        ({"messages": HELLO}, "name a model"),
        ({"model": "mock-vivid"}, "`messages` must be a list"),
        ({"model": "mock-vivid", "messages": []}, "at least one message"),
        ({"model": "mock-vivid", "messages": ["hi"]}, "messages[0] must be an object"),
        (
            {"model": "mock-vivid", "messages": [{"role": "cook", "content": "hi"}]},
            "messages[0].role must be one of",
        ),
        (
            {"model": "mock-vivid", "messages": [{"role": "user", "content": 3}]},
            "messages[0].content must be text",
        ),
        ({"model": "mock-vivid", "messages": [{"role": "assistant", "content": "x"}]}, "nothing to answer"),
        ({"model": "mock-vivid", "messages": HELLO, "stream": True}, "Streaming is not offered"),
        (
            {"model": "mock-vivid", "messages": HELLO, "temperature": 3},
            "`temperature` must be between 0 and 2",
        ),
        ({"model": "mock-vivid", "messages": HELLO, "temperature": "hot"}, "`temperature` must be a number"),
        ({"model": "mock-vivid", "messages": HELLO, "max_tokens": 0}, "`max_tokens` must be at least 1"),
        ({"model": "mock-vivid", "messages": HELLO, "stop": 5}, "`stop` must be"),
        ({"model": "mock-vivid", "messages": HELLO, "n": 2}, "one choice"),
        (
            {"model": "mock-vivid", "messages": HELLO, "response_format": {"type": "xml"}},
            "response_format.type",
        ),
        (
            {"model": "mock-vivid", "messages": HELLO, "response_format": {"type": "json_object"}},
            "must mention JSON",
        ),
        (
            {"model": "mock-vivid", "messages": HELLO, "response_format": {"type": "json_schema"}},
            "needs a `name`",
        ),
        (
            {
                "model": "mock-vivid",
                "messages": HELLO,
                "response_format": {
                    "type": "json_schema",
                    "json_schema": {"name": "r", "strict": True, "schema": {**REPLY, "required": []}},
                },
            },
            "missing: next_utterance",
        ),
    ],
)
def test_a_bad_request_is_told_what_is_wrong_with_it(url, body, said):
    data = body if isinstance(body, bytes) else json.dumps(body).encode()
    with pytest.raises(openai.BadRequestError) as refused:
        raise_for(url, data)
    assert said in refused.value.message
    assert refused.value.type == "invalid_request_error"


def raise_for(url, data):
    with openai.OpenAI(base_url=url, api_key="any", max_retries=0) as client:
        client.post(
            "/chat/completions",
            content=data,
            cast_to=object,
            options={"headers": {"Content-Type": "application/json"}},
        )


def test_unknown_model_and_unknown_address(url):
    with pytest.raises(openai.NotFoundError, match="There is no model 'gpt-9'"):
        ask(url, model="gpt-9")
    with openai.OpenAI(base_url=url, api_key="any", max_retries=0) as client:
        with pytest.raises(openai.NotFoundError, match="offers no POST"):
            client.images.generate(prompt="a lamp")
        with pytest.raises(openai.NotFoundError, match=r"'x' here\. Known: mock-embeddings"):
            client.embeddings.create(model="x", input="y")


def test_embeddings_have_the_protocols_shape(url):
    with openai.OpenAI(base_url=url, api_key="any", max_retries=0) as client:
        got = client.embeddings.create(model="mock-embeddings", input=["a lamp", "the sea"], dimensions=8)
    assert (got.object, got.model, [e.index for e in got.data]) == ("list", "mock-embeddings", [0, 1])
    # “a” and “lamp” each add 1 or −1 somewhere: two places of 1/√2, or one of 1.
    assert sum(x * x for x in got.data[0].embedding) == pytest.approx(1, abs=1e-5)
    assert (len(got.data[1].embedding), got.usage.total_tokens) == (8, 2)


def test_a_key_can_be_required():
    with running(require_key="open sesame") as url:
        assert ask(url, key="open sesame", model="mock-fixed").choices
        with pytest.raises(openai.AuthenticationError) as refused:
            ask(url, key="open barley", model="mock-fixed")
        assert "barley" not in str(refused.value)
        assert "sesame" not in str(refused.value)


def test_calls_are_counted():
    with running(latency=0.1) as url:
        ask(url, model="mock-bland", times=3)
        ask(url, model="mock-vivid")
        with pytest.raises(openai.NotFoundError):
            ask(url, model="nobody")
        told = calls(url)
        assert told["answered"] == {"mock-bland": 3, "mock-vivid": 1}
        assert told["failed"] == {"404": 1}
        assert told["repeated"] == 2  # three times the same request: two of them paid twice
        assert (told["in_flight"], told["peak_in_flight"]) == (0, 3)
        calls(url, "DELETE")
        assert calls(url)["answered"] == {}


def test_latency_is_kept():
    with running(latency=0.2) as url:
        begun = time.monotonic()
        ask(url, model="mock-fixed", times=4)
        assert time.monotonic() - begun >= 0.2


def test_faults_fall_on_every_nth_call():
    outcomes = []
    with running(faults=Faults(rate_limit=3, server_error=4, retry_after=0.25)) as url:
        for _ in range(12):
            try:
                outcomes.append(ask(url, model="mock-fixed").object)
            except openai.APIStatusError as error:
                outcomes.append((error.status_code, error.response.headers.get("Retry-After")))
    ok = "chat.completion"
    assert outcomes == [
        ok,
        ok,
        (429, "0.25"),
        (500, None),
        ok,
        (429, "0.25"),
        ok,
        (500, None),
        (429, "0.25"),
        ok,
        ok,
        (429, "0.25"),
    ]


def test_the_client_gets_through_faults_by_retrying():
    with running(faults=Faults(rate_limit=2, dropped=3, retry_after=0.01)) as url:
        client = openai.OpenAI(base_url=url, api_key="any", max_retries=5)
        assert [client.chat.completions.create(model="mock-fixed", messages=HELLO).object for _ in range(4)]
        assert calls(url)["failed"].keys() == {"429", "dropped"}


def test_broken_replies():
    format = {"type": "json_schema", "json_schema": {"name": "reply", "schema": REPLY}}
    with running(faults=Faults(malformed=2, truncated=3)) as url:
        whole, malformed, truncated = (
            ask(url, model="mock-user", response_format=format).choices[0] for _ in range(3)
        )
    assert json.loads(whole.message.content)
    for broken, finish in ((malformed, "stop"), (truncated, "length")):
        assert broken.finish_reason == finish
        with pytest.raises(json.JSONDecodeError):
            json.loads(broken.message.content)


def test_a_hanging_call_is_left_by_the_client_and_forgotten():
    with running(faults=Faults(hang=1)) as url:
        client = openai.OpenAI(base_url=url, api_key="any", max_retries=0, timeout=0.2)
        with pytest.raises(openai.APITimeoutError):
            client.chat.completions.create(model="mock-fixed", messages=HELLO)
        for _ in range(100):
            if calls(url)["in_flight"] == 0:
                break
            time.sleep(0.02)
        assert calls(url)["in_flight"] == 0


def test_faults_can_be_narrowed_to_models_and_written_as_text():
    faults = read_faults("server_error=1, models=mock-user+mock-bland")
    assert faults == Faults(server_error=1, models=("mock-user", "mock-bland"))
    with running(faults=faults) as url:
        assert ask(url, model="mock-fixed").choices
        with pytest.raises(openai.InternalServerError):
            ask(url, model="mock-bland")
    with pytest.raises(ConfigError, match="no fault “flood”"):
        read_faults("flood=2")
    with pytest.raises(ConfigError, match="needs a number"):
        read_faults("hang=often")


def test_a_port_that_is_taken_is_named(url):
    port = int(url.split(":")[2].split("/")[0])
    with pytest.raises(ConfigError, match=f"127.0.0.1:{port}"), running(port=port):
        pass


def test_the_command_says_where_it_listens_and_ends_when_told():
    process = subprocess.Popen(
        [sys.executable, "-m", "concord.cli", "mock", "--port", "0"],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        url = process.stdout.readline().split()[-1]
        assert ask(url, model="mock-anything").choices
    finally:
        process.terminate()
    assert process.wait(10) == 0


def test_it_ends_with_a_call_in_flight_without_an_error(caplog):
    """aiohttp fails where a call ends at the moment at which it stops waiting for it, after 0.2 s."""
    begun = threading.Event()

    def make():
        ended = asyncio.Event()

        async def answer(_request):
            begun.set()
            await ended.wait()
            return web.Response()

        async def late(_app):
            loop = asyncio.get_running_loop()
            loop.call_later(0.19, time.sleep, 0.05)
            loop.call_later(0.195, ended.set)

        app = web.Application()
        app.router.add_get("/v1/call", answer)
        app.on_shutdown.append(late)
        return app

    with ThreadPoolExecutor(1) as pool:
        with server.running(make) as url:
            call = pool.submit(urlopen, f"{url}/call")
            assert begun.wait(5)
        assert isinstance(call.exception(), OSError | HTTPException)
    assert "InvalidStateError" not in caplog.text
