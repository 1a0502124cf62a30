"""Every fault × every role: it ends in the reply, in a marked text or in a failure, and is never made up."""

from __future__ import annotations

import asyncio
from typing import get_args

import pytest

from concord.conversation import Message
from concord.errors import CallFailed
from concord.llm import client as clients
from concord.llm import gates, replies
from concord.llm.client import Client
from concord.llm.models import Model
from concord.runs import engine, planning
from concord.runs.plans import JudgePlan, PlayPlan
from concord.store import conversations
from tests.llm.fault_matrix_helpers import ROLES
from tests.mock.faults import Fault, Faults
from tests.mock.server import running

SILENT = ("simulbench-dialogues simulator", "simulbench target")
"""Roles whose replies may be empty."""

ENDPOINT = {
    "rate_limit": "rate_limit",
    "overloaded": "rate_limit",
    "server_error": "server",
    "unavailable": "unavailable",
    "error_body": "unavailable",
    "html": "foreign_body",
    "broken": "foreign_body",
    "no_choices": "foreign_body",
    "echo_ok": "foreign_body",
    "echo": "bad_request",
    "unauthorized": "key_refused",
    "no_credit": "no_credit",
    "dropped": "unreachable",
    "hang": "timeout",
    "trickle": "timeout",
}
"""Faults of the endpoint, and the kind of failure that they are if they stay."""
STOPS = ("unauthorized", "no_credit")
"""Faults that end a run: nothing that it would call next can be answered."""
NO_TEXT = {
    "null": "empty",
    "empty": "empty",
    "filtered": "refused",
    "tool_calls": "empty",
    "only_thinking": "empty",
}
"""Faults that leave no text, and what they fail with."""
HARMLESS = ("thinking", "reasoning", "parts")
MARKED = {"declined": ({"refused": True}, "unparseable"), "truncated": ({"cut": True}, "truncated")}
"""Faults that leave a text: how a text is marked, and what JSON fails with."""
OTHER_TEXT = ("malformed", "echo_reply")
"""Faults that leave another text: a text is what was said, and JSON is unparsable."""


@pytest.fixture(autouse=True)
def impatient(monkeypatch):
    monkeypatch.setattr(clients, "FIRST_WAIT", 0.001)
    monkeypatch.setattr(clients, "RETRIES", 1)
    monkeypatch.setattr(gates, "PROBE_SECONDS", (0.001, 0.001))
    monkeypatch.setattr(gates, "LONGEST_PAUSE", 0.001)


def asked(url, roles, timeout=60.0):
    """What each role's question ends in: its answer, or its failure."""

    async def go():
        model = Model(name="m", base_url=url, model="mock-fixed", timeout=timeout, max_concurrency=4)
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
        ended = asked(url, roles, 0.3 if ENDPOINT.get(fault) == "timeout" else 60.0)
    for role, found in ended.items():
        kind = found.code if isinstance(found, CallFailed) else "answered"
        assert not isinstance(found, CallFailed) or (found.reason and str(found)), role
        text = ROLES[role] is None
        if fault in ENDPOINT:
            assert kind == ENDPOINT[fault], role
        elif fault in NO_TEXT:
            silent = fault == "empty" and role in SILENT
            code = NO_TEXT[fault] if text or fault != "tool_calls" else "unparseable"
            assert kind == ("answered" if silent else code), role
            assert silent or found.raw, role
        elif fault in HARMLESS:
            assert (found.text, found.value) == (well[role].text, well[role].value), role
        elif fault in MARKED:
            marks, failure = MARKED[fault]
            assert kind == ("answered" if text else failure), role
            assert not text or found.meta == marks, role
        else:
            assert kind == ("answered" if text else "unparseable"), role


@pytest.mark.parametrize("fault", sorted({*ENDPOINT, *NO_TEXT} - {"echo", "hang", "trickle", *STOPS}))
def test_a_fault_that_passes_leaves_the_reply_as_it_is_without_it(fault, well, monkeypatch):
    """Every second call fails: each question ends in the reply that a well endpoint gives."""
    with running(faults=Faults(**{fault: 2, "retry_after": 0.001})) as url:
        ended = asked(url, ROLES)
    for role, found in ended.items():
        if fault == "empty" and role in SILENT:
            continue
        assert not isinstance(found, CallFailed), (role, str(found))
        assert (found.text, found.value) == (well[role].text, well[role].value), role


PLAYED = PlayPlan(
    "pingpong",
    {"players": ("player",), "interrogator": ("user",), "judges": ("a",)},
    {"characters": ["tully"], "situations": ["reality"]},
)


def carried_out(workspace, plan):
    """How a run ended, the conversations and verdicts that it stored, and its failures."""
    ended = engine.execute(workspace, planning.job(workspace, plan))
    with workspace.read() as db:
        found = [
            conversations.load(db, key) for _, key in conversations.keys_after(db, conversations.Filter())
        ]
        return ended, found, [dict(row) for row in db["judgements"].rows], list(db["failures"].rows)


def at_once(monkeypatch):
    """Faults that stay fail, and nothing is waited for."""
    monkeypatch.setattr(gates, "FIRST_SECONDS", 0.0)
    monkeypatch.setattr(clients, "THROTTLED_SECONDS", -1.0)


LASTING = sorted({*get_args(Fault)} - {"hang", "trickle"})


@pytest.mark.parametrize("fault", LASTING)
def test_players_that_meet_a_fault_leave_a_dialogue_or_a_failure(fault, faulty, monkeypatch):
    at_once(monkeypatch)
    workspace = faulty(retry_after=0.001, **{fault: 1})
    ended, found, verdicts, failures = carried_out(workspace, PLAYED)
    said = fault in HARMLESS
    assert ended.state == ("broken" if fault in STOPS else "finished")
    assert ended.stored + ended.done + ended.failed == ended.planned or fault in STOPS
    assert bool(found) == said
    for conversation in found:
        assert all(message.content.strip() for message in conversation.messages)
    for verdict in verdicts:
        assert said or verdict["failure"], "a score that nobody gave"
    assert found or (failures and all(f["reason"] and f["message"] for f in failures))


@pytest.mark.parametrize("fault", LASTING)
def test_a_run_of_judges_who_all_meet_a_fault_stores_no_score(fault, faulty, workspace, monkeypatch):
    """The conversation was played well; only its judge's endpoint is ill."""
    at_once(monkeypatch)
    engine.execute(
        workspace,
        planning.job(workspace, PlayPlan(PLAYED.benchmark, {**PLAYED.models, "judges": ()}, PLAYED.options)),
    )
    with running(faults=Faults(retry_after=0.001, **{fault: 1})) as url:
        ill = f'\n[models.ill]\nbase_url = "{url}"\nmodel = "mock-fixed"\n'
        workspace.models_path.write_text(workspace.models_path.read_text() + ill)
        ended, [conversation], verdicts, failures = carried_out(workspace, JudgePlan("pingpong", ("ill",)))
    assert len(conversation.messages) == 8
    scored = [verdict for verdict in verdicts if not verdict["failure"]]
    assert bool(scored) == (fault in HARMLESS)
    assert ended.state == ("broken" if fault in STOPS else "finished")
    assert scored or (failures and all(f["reason"] and f["message"] for f in failures))


def test_a_run_that_is_stopped_by_its_key_makes_no_further_call(faulty):
    ended, found, verdicts, failures = carried_out(faulty(unauthorized=1), PLAYED)
    assert (ended.state, ended.done, found, verdicts) == ("broken", 0, [], [])
    assert "refuses the key" in ended.message
    assert len(failures) == 1
