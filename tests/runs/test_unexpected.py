"""No reply ends a run: a piece of work that fails in a way nobody foresaw fails alone, and can be retried."""

from __future__ import annotations

from dataclasses import replace

import pytest

from concord.errors import RunStopped
from concord.llm.client import Client
from concord.runs import engine, planning
from concord.runs.call_runner import Asker
from concord.runs.plans import PlayPlan
from concord.store import ratings
from concord.store import runs as stored

PLAN = PlayPlan(
    "pingpong",
    {"players": ("player",), "interrogator": ("user",), "judges": ("a", "b")},
    {"characters": ["tully"], "situations": ["reality"]},
)


def run(workspace, **how):
    return engine.execute(workspace, planning.job(workspace, PLAN), **how)


def reasons(workspace, number):
    with workspace.read() as db:
        return stored.reasons(db, number)


@pytest.mark.parametrize(("model", "done", "failed"), [("a", 2, 1), ("player", 0, 3)])
def test_work_that_fails_as_nobody_foresaw_fails_alone(workspace, monkeypatch, model, done, failed):
    ask = Asker.__call__

    async def failing(self, step, asked_model, *rest, **how):
        answer = await ask(self, step, asked_model, *rest, **how)
        if asked_model == model:
            raise RecursionError("too deep")
        return answer

    with monkeypatch.context() as patched:
        patched.setattr(Asker, "__call__", failing)
        ended = run(workspace)
        assert (ended.state, ended.done, ended.failed) == ("finished", done, failed)
        (why,) = reasons(workspace, ended.id)
        assert (why.reason, why.models) == ("unexpected: RecursionError", (model,))
        assert "too deep" in why.message
        assert why.raw, "the reply that it failed at is kept"
        again = run(workspace)
        assert (again.spent.calls, again.done) == (0, 0), "it waits for a retry on demand"
    retried = run(workspace, retry_failed=True)
    assert (retried.state, retried.done, retried.failed) == ("finished", failed, 0)


@pytest.mark.parametrize("text", ["[" * 400, '{"a":' * 250, "{ " * 20_000, "half \ud83d"])
def test_a_degenerate_reply_is_a_failure_of_its_judge(workspace, monkeypatch, text):
    complete = Client.complete

    async def degenerate(self, name, messages, **how):
        done = await complete(self, name, messages, **how)
        return replace(done, text=text.encode("utf-8", "replace").decode()) if name == "a" else done

    with monkeypatch.context() as patched:
        patched.setattr(Client, "complete", degenerate)
        ended = run(workspace)
        assert (ended.state, ended.done, ended.failed) == ("finished", 2, 1)
    retried = run(workspace, retry_failed=True)
    assert (retried.state, retried.done, retried.failed) == ("finished", 1, 0)


def test_a_reply_that_no_reader_survived_is_asked_again_from_the_journal(workspace, monkeypatch):
    """An older version kept the reply, crashed, and crashed at each later start."""
    complete = Client.complete

    async def degenerate(self, name, messages, **how):
        done = await complete(self, name, messages, **how)
        return replace(done, text="[" * 400) if name == "a" else done

    call = Asker._call

    async def stopped(self, step, model, *rest):
        done = await call(self, step, model, *rest)
        if model == "a":
            raise RunStopped("The process died here.")
        return done

    with monkeypatch.context() as patched:
        patched.setattr(Client, "complete", degenerate)
        patched.setattr(Asker, "_call", stopped)
        assert run(workspace).done == 2
    with workspace.read() as db:
        assert any(call["reply"].startswith("[[[") for call in db["journal"].rows)
    ended = run(workspace)
    assert (ended.state, ended.failed) == ("finished", 0)


def test_a_result_the_store_refuses_is_a_failure_of_that_work(workspace, monkeypatch):
    save = ratings.save_judgement

    def refusing(db, judgement, by):
        save(db, judgement, by)
        if judgement.judge.name == "a":
            raise UnicodeEncodeError("utf-8", "\ud83d", 0, 1, "surrogates not allowed")

    with monkeypatch.context() as patched:
        patched.setattr(ratings, "save_judgement", refusing)
        ended = run(workspace)
    # Of a conversation and two judgements
    assert (ended.state, ended.stands) == ("finished", "finished with failures")
    assert (ended.planned, ended.done, ended.failed, ended.left) == (3, 2, 1, 0)
    (why,) = reasons(workspace, ended.id)
    assert (why.reason, why.models, why.failed) == ("unexpected: UnicodeEncodeError", ("a",), 1)
    with workspace.read() as db:
        assert [judge.name for judge in ratings.judges(db)] == ["b"], "what was stored of it is undone"
    assert run(workspace, retry_failed=True).done == 1
