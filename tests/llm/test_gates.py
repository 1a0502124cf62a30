"""The retry layer: what is waited for, what is tried again, how many calls an endpoint is sent at once."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import pytest
from aiohttp import web

from concord.conversation import Message
from concord.demo.server import listening
from concord.errors import CallFailed
from concord.llm import api_errors, gates
from concord.llm import client as clients
from concord.llm.client import Client
from concord.llm.gates import Gate
from concord.llm.models import Model
from tests.mock.faults import Faults
from tests.mock.server import make_app, running

HELLO = (Message("user", "Hello."),)


def model(url, **more):
    return Model(name="m", base_url=url, **{"model": "mock-fixed", **more})


@contextmanager
def patient(monkeypatch) -> Iterator[None]:
    """Waits are short."""
    with monkeypatch.context() as patch:
        patch.setattr(clients, "FIRST_WAIT", 0.001)
        patch.setattr(gates, "PROBE_SECONDS", (0.01, 0.02))
        yield


def calls(one, number, retries=0):
    """What so many calls at once end in, and how many of them were throttled on the way."""

    async def go():
        async with Client({"m": one}, retries=retries) as client:
            asked = (client.complete("m", (Message("user", f"Hello {n}."),)) for n in range(number))
            return await asyncio.gather(*asked, return_exceptions=True), client.throttles

    return asyncio.run(go())


def test_throttled_calls_cost_no_retry():
    with running(faults=Faults(rate_limit=2, retry_after=0.001)) as url:
        done, throttles = calls(model(url), 30)
    assert not [d for d in done if isinstance(d, BaseException)]
    assert throttles >= 29


def test_concurrency_settles_at_what_the_endpoint_takes():
    with running(latency=0.02, faults=Faults(capacity=8)) as url:
        done, throttles = calls(model(url, max_concurrency=64), 600)
    assert not [d for d in done if isinstance(d, BaseException)]
    # 56 of the first 64 are refused; after that hardly any.
    assert throttles < 150


@pytest.mark.parametrize("fault", ["server_error", "dropped", "html", "broken", "no_choices", "error_body"])
def test_what_fails_for_a_while_is_tried_again(fault, monkeypatch):
    with patient(monkeypatch), running(faults=Faults(**{fault: 2})) as url:
        done, _ = calls(model(url, max_concurrency=1), 6, retries=3)
    assert not [d for d in done if isinstance(d, BaseException)]


@pytest.mark.parametrize(
    ("fault", "kind"),
    [
        ("server_error", "server"),
        ("html", "foreign_body"),
        ("broken", "foreign_body"),
        ("no_choices", "foreign_body"),
    ],
)
def test_what_stays_broken_is_the_endpoints_failure_with_its_body(fault, kind, monkeypatch):
    with patient(monkeypatch), running(faults=Faults(**{fault: 1})) as url:
        [failure], _ = calls(model(url), 1, retries=2)
    assert isinstance(failure, CallFailed)
    assert (failure.code, bool(failure.raw)) == (kind, True)


def test_no_call_holds_a_place_while_it_waits():
    """With one place, a call that is tried again lets the other go first."""
    order: list[str] = []

    async def go(url):
        ill, well = model(url, model="mock-bland", max_concurrency=1), model(url, max_concurrency=1)
        async with Client({"ill": ill, "m": well}, retries=1) as client:

            async def one(name):
                with pytest.MonkeyPatch.context():
                    try:
                        await client.complete(name, HELLO)
                    except CallFailed:
                        order.append("failed")
                    else:
                        order.append("answered")

            await asyncio.gather(one("ill"), one("m"))

    with running(faults=Faults(server_error=1, models=("mock-bland",))) as url:
        asyncio.run(go(url))
    assert order == ["answered", "failed"]


def test_a_body_that_trickles_ends_at_the_deadline():
    with running(faults=Faults(trickle=1)) as url:
        [failure], _ = calls(model(url, timeout=0.3), 1)
    assert isinstance(failure, CallFailed)
    assert failure.code == "timeout"


def test_an_endpoint_that_is_down_is_waited_for_and_the_client_says_so(monkeypatch):
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    told = []

    async def go():
        async with Client({"m": model(f"http://127.0.0.1:{port}/v1")}, retries=0) as client:
            asked = asyncio.gather(*(client.complete("m", HELLO) for _ in range(5)))
            while not client.status():
                await asyncio.sleep(0.01)
            told.append(client.status())
            async with listening(make_app(), port=port):
                done = await asked
            return done, client.status()

    with patient(monkeypatch):
        done, after = asyncio.run(go())
    assert len(done) == 5
    assert f"http://127.0.0.1:{port}/v1 cannot be reached" in told[0]
    assert after == ""


def test_one_call_that_kills_its_connection_does_not_stop_the_others(monkeypatch):
    """The endpoint answers others, so that call is tried again a bounded number of times."""
    with (
        patient(monkeypatch),
        running(faults=Faults(dropped=1, models=("mock-bland",))) as url,
    ):

        async def go():
            models = {"ill": model(url, model="mock-bland"), "m": model(url)}
            async with Client(models, retries=2) as client:

                async def others():
                    for _ in range(1000):
                        await client.complete("m", HELLO)

                well = asyncio.create_task(others())
                with pytest.raises(CallFailed) as caught:
                    await client.complete("ill", HELLO)
                well.cancel()
                return caught.value.code

        assert asyncio.run(go()) == "unreachable"


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_a_redirect_is_not_followed_and_names_the_address(status, monkeypatch):
    monkeypatch.setenv("MY_KEY", "sk-marker-of-the-key")
    seen: list[str] = []

    async def there(request):
        seen.append(request.headers.get("Authorization", ""))
        return web.json_response({})

    async def go():
        elsewhere = web.Application()
        elsewhere.router.add_route("*", "/{path:.*}", there)
        async with listening(elsewhere) as other:

            async def here(request):
                return web.Response(status=status, headers={"Location": f"{other}/chat/completions?a=1"})

            first = web.Application()
            first.router.add_route("*", "/{path:.*}", here)
            async with listening(first) as url, Client({"m": model(url, api_key_env="MY_KEY")}) as client:
                with pytest.raises(CallFailed, match="redirects calls for “m” to") as caught:
                    await client.complete("m", HELLO)
        return other, str(caught.value)

    other, said = asyncio.run(go())
    assert seen == []
    assert f"{other}/chat/completions ({status})" in said


class Hand:
    """A gate whose clock is set by hand."""

    def __init__(self, most=256):
        self.time = 100.0
        self.gate = Gate(most, "http://x/v1")
        self.gate._clock = lambda: self.time

    def fill(self):
        """Send as many calls as may be in flight; returns how many are."""
        while self.gate._may_pass():
            self.gate.in_flight += 1
        return self.gate.in_flight

    def answer(self, number):
        for _ in range(number):
            self.gate.record_answer()
            self.gate.leave()
            self.fill()

    def refuse(self, number, after=None):
        for _ in range(number):
            self.gate.throttled(self.time, after)
            self.gate.leave()


def by_hand(test):
    async def go():
        test(Hand())

    asyncio.run(go())


def test_calls_in_flight_double_with_each_round_up_to_the_most():
    def rounds(hand):
        found = []
        for _ in range(4):
            found.append(hand.fill())
            hand.answer(found[-1])
        assert found == [128, 256, 256, 256]

    by_hand(rounds)


def test_a_burst_that_is_refused_shows_the_capacity():
    def burst(hand):
        assert hand.fill() == 128
        hand.time += 1
        sent = 100.0
        for _ in range(16):
            hand.gate.throttled(sent, None)
            hand.gate.leave()
        hand.time += 60
        # 16 of 128 were refused: about 112 fit.
        assert 100 <= hand.gate.limit <= 112

    by_hand(burst)


def test_after_a_refusal_the_number_grows_slowly_near_where_it_was():
    def grow(hand):
        hand.fill()
        hand.time += 1
        hand.gate.throttled(100.0, None)
        hand.gate.leave()
        hand.time += 60
        start = hand.gate.limit
        assert start == 115
        for _ in range(10):
            hand.answer(hand.fill())
        # A call more in each round up to 95 % of 127, then one in ten rounds.
        assert start + 3 <= hand.gate.limit <= 122

    by_hand(grow)


def test_what_an_endpoint_asks_to_wait_holds_for_all_calls():
    def wait(hand):
        hand.gate.in_flight += 1
        hand.gate.throttled(100.0, 5.0)
        hand.gate.leave()
        assert hand.fill() == 0
        hand.time += 4.9
        assert hand.fill() == 0
        assert "throttles: 115 of 256" in hand.gate.status()
        hand.time += 0.1
        assert hand.fill() > 0

    by_hand(wait)


def test_whoever_is_cancelled_in_the_queue_takes_no_place():
    async def go():
        gate = Gate(1)
        await gate.enter()
        second, third = asyncio.create_task(gate.enter()), asyncio.create_task(gate.enter())
        await asyncio.sleep(0)
        gate.leave()  # the second has the place now, and is cancelled before it runs
        second.cancel()
        await asyncio.wait([second])
        await third
        assert gate.in_flight == 1

    asyncio.run(go())


@pytest.mark.parametrize(
    "stated", ["0", "-5", "nan", "inf", "", "Wed, 21 Oct 2015 07:28:00 GMT", "soon", "1e999"]
)
def test_retry_after_that_asks_for_no_time_to_come_says_nothing(stated):
    assert api_errors.retry_after({"retry-after": stated}) is None


def test_retry_after_is_a_number_or_a_date():
    assert api_errors.retry_after({"retry-after": "2.5"}) == 2.5
    assert api_errors.retry_after({"retry-after-ms": "0", "retry-after": "2"}) == 2
    date = format_datetime(datetime.now(UTC) + timedelta(seconds=60), usegmt=True)
    assert 55 < api_errors.retry_after({"retry-after": date}) <= 60
    far = format_datetime(datetime.now(UTC) + timedelta(days=300), usegmt=True)
    assert api_errors.retry_after({"retry-after": far}) > clients.THROTTLED_SECONDS


@pytest.mark.parametrize("after", [None, 0.001])
def test_an_endpoint_that_only_refuses_is_asked_less_and_less(after):
    """Whatever it says: 3,000 requests in two minutes were 25 a second."""

    async def go():
        gate, time, sent = Gate(16), 0.0, 0
        gate._clock = lambda: time
        while time < 120:
            time = max(time, gate._opens_at) + 0.001
            gate.throttled(time, after)
            sent += 1
        return sent

    assert asyncio.run(go()) < (300 if after else 40)
