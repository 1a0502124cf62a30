"""The spending limit holds for all runs of a plan, at once and one after another, and after `kill -9`."""

from __future__ import annotations

import asyncio
import json
import subprocess
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
from click.testing import CliRunner

from concord.cli import main
from concord.codes import Failure
from concord.errors import CallFailed, ConfigError, RunStopped
from concord.llm.models import Model, Price
from concord.rating import Spent
from concord.runs import engine, planning
from concord.runs.budget import Budget
from concord.store import runs as stored
from concord.workspace import Workspace
from tests import warm
from tests.conftest import toml
from tests.runs.runs_helpers import calls_made, concord_run, plan

CENT = 'price = { input = 0.0, output = 100.0 }\nmodel = "m"'
"""A token out costs 0.0001: the replies below cost what they say."""


class Endpoint(ThreadingHTTPServer):
    """Answers every call with the same usage, and counts what it has charged."""

    daemon_threads = True
    block_on_close = False

    def __init__(self, tokens, latency):
        super().__init__(("127.0.0.1", 0), Handler)
        self.tokens, self.latency, self.charged, self.lock = tokens, latency, 0, threading.Lock()

    @property
    def cost(self):
        return self.charged * 1e-4


class Handler(BaseHTTPRequestHandler):
    server: Endpoint
    protocol_version = "HTTP/1.1"

    def do_POST(self):
        self.rfile.read(int(self.headers["Content-Length"]))
        with self.server.lock:
            # Paid as soon as it arrives, whether or not anybody waits for the answer.
            self.server.charged += self.server.tokens
        time.sleep(self.server.latency)
        message = {"role": "assistant", "content": '{"next_utterance": "Hello there."}'}
        told = {
            "id": "x",
            "model": "m",
            "choices": [{"index": 0, "message": message, "finish_reason": "stop"}],
            "usage": {"prompt_tokens": 10, "completion_tokens": self.server.tokens},
        }
        body = json.dumps(told).encode()
        try:
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)
        except ConnectionError:
            pass  # the client was killed

    def log_message(self, *_):
        pass


@contextmanager
def endpoint(tokens, latency=0.02):
    with Endpoint(tokens, latency) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield server
        server.shutdown()


def at(tmp_path, server, entry=CENT):
    made = Workspace.open(tmp_path / "workspace")
    url = f"http://127.0.0.1:{server.server_port}/v1"
    made.models_path.write_text(toml(url, player=entry, user=entry))
    return made


PLAN = plan(judges=(), repeats=10)
"""20 conversations of eight calls: 160 calls."""


def run(workspace, limit, the_plan=PLAN):
    return engine.execute(workspace, planning.job(workspace, the_plan), max_cost=limit)


@pytest.mark.parametrize("tokens", [50, 85, 500])
def test_it_spends_at_most_the_difference_of_one_call_beyond_its_limit(tmp_path, tokens):
    """The plan guesses 50 and 120 tokens out for each call; the endpoint charges as many, or five times."""
    with endpoint(tokens) as server:
        workspace = at(tmp_path, server)
        ended = run(workspace, 0.5)
        assert ended.state == "stopped"
        assert "spending limit of 0.5" in ended.message
        assert server.cost == pytest.approx(ended.spent.cost)
        # The first call of each model is a guess; from then on the mean is the truth.
        assert 0.5 - 0.012 <= server.cost <= 0.5 + max(0, tokens - 50) * 1e-4
        assert (ended.max_cost, ended.elsewhere) == (0.5, 0)


def test_a_plan_that_was_started_three_times_spends_its_limit_once(tmp_path):
    with endpoint(100) as server:
        workspace = at(tmp_path, server)
        ended = [run(workspace, 0.5) for _ in range(3)]
        assert 0.49 <= server.cost <= 0.5 + 1e-9
        assert [one.elsewhere for one in ended] == pytest.approx([0, server.cost, server.cost])
        assert "other runs of its plan 0.50" in ended[2].message
        further = run(workspace, 0.8)
        assert 0.79 <= server.cost <= 0.8 + 1e-9
        assert further.spent.cost == pytest.approx(server.cost - ended[0].spent.cost)
        assert run(workspace, 0.1, plan(judges=(), repeats=11)).elsewhere == 0, "another plan"


def test_twins_share_one_limit(tmp_path):
    with endpoint(100) as server, ThreadPoolExecutor(2) as pool:
        workspace = at(tmp_path, server)
        for done in [pool.submit(run, workspace, 0.5) for _ in range(2)]:
            assert done.result().state == "stopped"
        assert 0.3 <= server.cost <= 0.5 + 1e-9


def test_killed_again_and_again_it_keeps_its_limit(tmp_path):
    """A call in flight is paid for, though nobody is left to note it: what was granted counts."""
    with endpoint(100, latency=0.1) as server:
        workspace = at(tmp_path, server)
        words = ("--characters", "tully,mizuki", "--situations", "reality", "--repeats", "10")
        command = concord_run(workspace, *words, "--max-cost", "0.8")
        for kill in range(3):
            before = server.charged
            process = warm.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            while server.charged < before + 1000:
                assert process.poll() is None, kill
                time.sleep(0.01)
            process.kill()
            process.wait()
        with workspace.read() as db:
            counted = sum(one.spent.cost for one in stored.recent(db))
        assert counted < server.cost, "calls in flight were lost"
        ended = run(workspace, 0.8)
        assert ended.state == "stopped"
        assert server.cost <= 0.8 + 1e-9
        assert server.cost >= ended.spent.cost + counted


def test_a_price_that_is_missing_is_named_before_anything_is_paid(workspace):
    text = workspace.models_path.read_text()
    priced = "[models.user]\nprice = { input = 1, output = 1 }"
    workspace.models_path.write_text(text.replace("[models.user]", priced))
    before = calls_made(workspace)
    with pytest.raises(ConfigError, match="none for “a”, “b”, “player”"):
        engine.execute(workspace, planning.job(workspace, plan()), max_cost=1.0)
    assert calls_made(workspace) == before
    with workspace.read() as db:
        assert stored.recent(db) == []


def test_resumed_by_its_number_it_keeps_its_limit(tmp_path):
    with endpoint(100) as server:
        workspace = at(tmp_path, server)
        first = run(workspace, 0.2)
        spent = server.cost
        head = ["--workspace", str(workspace.path), "run", "resume", str(first.id)]
        told = CliRunner().invoke(main, head)
        assert server.cost == spent
        assert f"cost 0.00 of 0.2, {spent:.2f} by other runs of its plan" in told.output
        CliRunner().invoke(main, [*head, "--max-cost", "0.3"])
        assert spent < server.cost <= 0.3 + 1e-9


MODELS = {"m": Model(name="m", price=Price(input=0, output=1_000_000))}
"""A token out costs 1."""


def of(limit, guess=10.0):
    said = []

    async def freely(amount):
        """Nothing is stored."""

    def halt(why):
        said.append(why)
        budget.stop()

    budget = Budget(limit, MODELS, {"m": guess}, freely, halt)
    return budget, said


async def call(budget, tokens, most=20, gate=None):
    async with budget.reserved("m", 100, most) as held:
        if gate is not None:
            await gate.wait()
        held.usage = Spent(1, 10, tokens, float(tokens))


def test_calls_wait_for_room_for_their_maximal_cost():
    async def go():
        budget, _ = of(50)
        gate = asyncio.Event()
        calls = [asyncio.create_task(call(budget, 10, gate=gate)) for _ in range(4)]
        await asyncio.sleep(0)
        await asyncio.sleep(0.01)
        in_flight = len(budget._in_flight)
        gate.set()
        await asyncio.gather(*calls)
        return in_flight, budget._spent

    # Each may write 20 tokens: two fit into 50. What two cost, 20, leaves room for the others.
    assert asyncio.run(go()) == (2, 40)


def test_a_call_that_is_alone_needs_room_for_what_it_is_expected_to_cost():
    async def go():
        budget, said = of(15)
        await call(budget, 10)  # the most is 20, expected are 10
        with pytest.raises(RunStopped):
            await call(budget, 10)  # 10 are expected, and 5 are left
        return said

    [said] = asyncio.run(go())
    assert said.startswith("Stopped at the spending limit of 15: this run has spent 10.00, and the next call")


@pytest.mark.parametrize(("error", "lost"), [("timeout", 10), ("server", 0)])
def test_a_call_that_timed_out_counts_with_what_it_was_expected_to_cost(error, lost):
    async def go():
        budget, _ = of(100)

        async def fail():
            async with budget.reserved("m", 100, 20):
                raise CallFailed("no answer", code=Failure(error))

        with pytest.raises(CallFailed):
            await fail()
        return budget.lost

    assert asyncio.run(go()) == lost
