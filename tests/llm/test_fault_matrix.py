"""Every fault × every role: it ends in the reply, in a marked text or in a failure, and is never made up."""

from __future__ import annotations

import asyncio
from typing import get_args

import pytest

from concord.benchmarks import BENCHMARKS
from concord.conversation import Message
from concord.demo.mock.faults import Fault, Faults
from concord.demo.mock.server import running
from concord.errors import CallFailed
from concord.llm import client as clients
from concord.llm import gates, replies
from concord.llm.client import Client
from concord.llm.models import Model

ROLES = {
    f"{benchmark.name} {prompt}": reply
    for benchmark in BENCHMARKS.values()
    for prompt, reply in benchmark.prompts.items()
}
"""Every prompt of every benchmark, and the schema of its replies; None for a text."""
SILENT = ("simulbench-dialogues simulator", "simulbench target")
"""Roles whose replies may be empty."""

ENDPOINT = {
    "rate_limit": "rate_limit",
    "overloaded": "rate_limit",
    "server_error": "server",
    "unavailable": "server",
    "error_body": "server",
    "html": "server",
    "broken": "server",
    "no_choices": "server",
    "echo_ok": "server",
    "echo": "bad_request",
    "dropped": "unreachable",
    "hang": "timeout",
    "trickle": "timeout",
}
"""Faults of the endpoint, and the kind of failure that they are if they stay."""
NO_TEXT = ("null", "empty", "filtered", "tool_calls", "only_thinking")
HARMLESS = ("thinking", "reasoning", "parts")
MARKED = {"declined": ({"refused": True}, "unparsable"), "truncated": ({"cut": True}, "truncated")}
"""Faults that leave a text: how a text is marked, and what JSON fails with."""
OTHER_TEXT = ("malformed", "echo_reply")
"""Faults that leave another text: a text is what was said, and JSON is unparsable."""


@pytest.fixture(autouse=True)
def impatient(monkeypatch):
    monkeypatch.setattr(clients, "FIRST_WAIT", 0.001)
    monkeypatch.setattr(clients, "RETRIES", 1)
    monkeypatch.setattr(gates, "PROBE_SECONDS", (0.001, 0.001))
    monkeypatch.setattr(gates, "LONGEST_PAUSE", 0.001)


def asked(url, roles):
    """What each role's question ends in: its answer, or its failure."""

    async def go():
        model = Model(name="m", base_url=url, model="mock-fixed", timeout=0.3, max_concurrency=4)
        async with Client({"m": model}) as client:

            async def one(role):
                reply = ROLES[role]
                schema = replies.json_schema(reply) if reply else None

                async def call(step, messages, /):
                    return await client.complete("m", messages, schema=schema)

                said = [Message("user", f"Reply with JSON as {role}." if reply else "Hello.")]
                try:
                    return await replies.answer(call, role, said, reply, may_be_empty=role in SILENT)
                except CallFailed as failure:
                    return failure

            # One after the other: which call a fault falls on does not depend on chance.
            return {role: await one(role) for role in roles}

    return asyncio.run(go())


@pytest.fixture(scope="module")
def well():
    with running() as url:
        return asked(url, ROLES)


def test_every_fault_has_its_row():
    rows = (*ENDPOINT, *NO_TEXT, *HARMLESS, *MARKED, *OTHER_TEXT)
    assert sorted(rows) == sorted(get_args(Fault))


def test_without_faults_every_role_is_answered(well):
    assert [role for role, ended in well.items() if isinstance(ended, CallFailed)] == []


@pytest.mark.parametrize("fault", get_args(Fault))
def test_a_fault_that_stays_is_a_failure_or_marked_and_never_made_up(fault, well, monkeypatch):
    monkeypatch.setattr(gates, "FIRST_SECONDS", 0.0)
    monkeypatch.setattr(clients, "THROTTLED_SECONDS", -1.0)
    if ENDPOINT.get(fault) == "timeout":
        monkeypatch.setattr(clients, "RETRIES", 0)
    # A call that hangs takes its whole timeout: two roles, a text and JSON, stand for all.
    roles = list(ROLES)[:2] if ENDPOINT.get(fault) == "timeout" else ROLES
    with running(faults=Faults(**{fault: 1, "retry_after": 0.001})) as url:
        ended = asked(url, roles)
    for role, found in ended.items():
        kind = found.kind if isinstance(found, CallFailed) else "answered"
        text = ROLES[role] is None
        if fault in ENDPOINT:
            assert kind == ENDPOINT[fault], role
        elif fault in NO_TEXT:
            silent = fault == "empty" and role in SILENT
            assert kind == ("answered" if silent else "empty"), role
            assert silent or found.raw, role
        elif fault in HARMLESS:
            assert (found.text, found.value) == (well[role].text, well[role].value), role
        elif fault in MARKED:
            marks, failure = MARKED[fault]
            assert kind == ("answered" if text else failure), role
            assert not text or found.meta == marks, role
        elif fault == "malformed" and not text and kind == "answered":
            # A quote and a brace are missing, which is repaired: what was said is all there is.
            given = [v for _, value in found.value for v in (value if isinstance(value, list) else [value])]
            assert all(str(value) in well[role].text for value in given), role
        else:
            assert kind == ("answered" if text else "unparsable"), role


@pytest.mark.parametrize("fault", sorted({*ENDPOINT, *NO_TEXT} - {"echo", "hang", "trickle"}))
def test_a_fault_that_passes_leaves_the_reply_as_it_is_without_it(fault, well, monkeypatch):
    """Every second call fails: each question ends in the reply that a well endpoint gives."""
    with running(faults=Faults(**{fault: 2, "retry_after": 0.001})) as url:
        ended = asked(url, ROLES)
    for role, found in ended.items():
        if fault == "empty" and role in SILENT:
            continue
        assert not isinstance(found, CallFailed), (role, str(found))
        assert (found.text, found.value) == (well[role].text, well[role].value), role
