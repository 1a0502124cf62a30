"""What an endpoint refuses of one conversation is that conversation's failure; what stops a model stops no
other.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest

from concord.codes import Failure
from concord.runs import call_runner
from concord.runs.plans import JudgePlan
from tests.conftest import FIXED, toml
from tests.mock import kinds
from tests.mock.kinds import EndpointKind, RefusedCall
from tests.mock.server import running
from tests.runs.runs_helpers import plan, run

MODERATED = RefusedCall(403, "The input was flagged by our moderation: violence.")
FIREWALL = RefusedCall(403, "Request blocked. Reference 17.")
FILTERED = RefusedCall(400, "The response was filtered.", code="content_filter")
FORBIDDEN = RefusedCall(403, "Project p1 has no access to this model in your region.")
KEY = RefusedCall(401, "Incorrect API key.")


@dataclass
class Picky:
    """An endpoint that refuses by what is sent."""

    refuse: Callable[[str, int], RefusedCall | None] = lambda text, number: None
    asked: int = 0

    def refuses(self, body: dict[str, Any]) -> RefusedCall | None:
        self.asked += 1
        return self.refuse(str(body["messages"]), self.asked)


@pytest.fixture
def picky(monkeypatch):
    one = Picky()
    monkeypatch.setitem(kinds.KINDS, "picky", EndpointKind(one.refuses))
    return one


@pytest.fixture
def played(workspace, picky):
    """Eight conversations, and two judges: `a` at a picky endpoint, `b` elsewhere."""
    run(
        workspace,
        plan(judges=(), characters=("tully", "mizuki"), situations=("reality", "heckler"), repeats=2),
    )
    other = workspace.models_path.read_text().split('base_url = "')[1].split('"')[0]
    with running(like="picky") as url:
        text = toml(url, player=FIXED, user=FIXED, a=FIXED + "\nmax_concurrency = 1")
        workspace.models_path.write_text(text + toml(other, b=FIXED))
        yield workspace


def every_second_text(refusal):
    """Refuses half of the conversations, whenever they come, the first one too."""
    seen: list[str] = []

    def refuse(text, number):
        if text not in seen:
            seen.append(text)
        return None if seen.index(text) % 2 else refusal

    return refuse


def failures(workspace):
    with workspace.read() as db:
        return {row["work"]: row for row in db["failures"].rows}


@pytest.mark.parametrize("refusal", [MODERATED, FIREWALL, FILTERED])
def test_a_refusal_of_one_conversation_is_its_failure(played, picky, refusal):
    picky.refuse = every_second_text(refusal)
    ended = run(played, JudgePlan("pingpong", ("a", "b")))
    assert (ended.state, ended.done, ended.failed, ended.left) == ("finished", 12, 4, 0)
    rows = failures(played).values()
    assert {row["kind"] for row in rows} == {Failure.REFUSED.value}
    assert all(refusal.message in row["message"] for row in rows)
    asked = picky.asked
    again = run(played, JudgePlan("pingpong", ("a", "b")))
    assert (again.state, again.done, picky.asked) == ("finished", 0, asked), (
        "a rerun goes on and asks nothing"
    )
    picky.refuse = lambda text, number: None
    mended = run(played, JudgePlan("pingpong", ("a", "b")), retry_failed=True)
    assert (mended.state, mended.done) == ("finished", 4)


@pytest.mark.parametrize("refusal", [MODERATED, FILTERED])
def test_refusals_in_a_row_are_as_many_failures(played, picky, refusal, monkeypatch):
    monkeypatch.setattr(call_runner, "PATIENCE", 3)
    picky.refuse = lambda text, number: refusal
    ended = run(played, JudgePlan("pingpong", ("a",)))
    assert (ended.state, ended.failed, ended.left) == ("finished", 8, 0)


def test_bare_403s_after_an_answer_are_as_many_failures(played, picky, monkeypatch):
    monkeypatch.setattr(call_runner, "PATIENCE", 3)
    picky.refuse = lambda text, number: FIREWALL if number > 1 else None
    ended = run(played, JudgePlan("pingpong", ("a",)))
    assert (ended.state, ended.done, ended.failed) == ("finished", 1, 7)


def test_a_403_before_any_answer_waits_for_the_others_under_way(played, picky):
    picky.refuse = lambda text, number: FIREWALL if number == 1 else None
    ended = run(played, JudgePlan("pingpong", ("a",)))
    assert (ended.state, ended.done, ended.failed) == ("finished", 7, 1)
    [row] = failures(played).values()
    assert row["kind"] == Failure.REFUSED.value


@pytest.mark.parametrize(("refusal", "code"), [(FORBIDDEN, Failure.FORBIDDEN), (KEY, Failure.KEY_REFUSED)])
def test_a_model_that_is_never_answered_stops_alone(played, picky, refusal, code):
    picky.refuse = lambda text, number: refusal
    ended = run(played, JudgePlan("pingpong", ("a", "b")))
    assert (ended.state, ended.done) == ("broken", 8), "the other judge's work is done"
    assert refusal.message.rstrip(".") in ended.message
    assert {row["kind"] for row in failures(played).values()} == {code.value}
    picky.refuse = lambda text, number: None
    mended = run(played, JudgePlan("pingpong", ("a", "b")))
    assert (mended.state, mended.done, mended.left) == ("finished", 8, 0)


def test_a_key_that_is_refused_in_the_midst_stops_its_model_at_once(played, picky):
    picky.refuse = lambda text, number: KEY if number > 3 else None
    ended = run(played, JudgePlan("pingpong", ("a", "b")))
    assert (ended.state, ended.done) == ("broken", 11)
    assert ended.failed <= 1
    assert picky.asked == 4
