"""A run finds out what an endpoint takes with its first request, uses that answer, and never asks again."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field

import pytest

from concord.codes import Failure
from concord.conversation import Message
from concord.errors import CallFailed, RunStopped
from concord.llm import handshake
from concord.llm.models import load_models
from concord.runs import engine, planning
from concord.runs.handshakes import Handshakes, Request
from concord.runs.plans import JudgePlan
from concord.store import configurations
from concord.store import handshakes as stored
from tests.conftest import FIXED, toml
from tests.mock import kinds
from tests.mock.kinds import EndpointKind, RefusedCall
from tests.mock.server import running
from tests.runs.runs_helpers import calls_made, plan, run

JUDGED = JudgePlan("pingpong", ("a",))


@dataclass
class Fickle:
    """An endpoint whose refusals change: each of `refused` is a parameter."""

    refused: set[str] = field(default_factory=set)
    asked: int = 0

    def refuses(self, body):
        self.asked += 1
        for name in sorted(self.refused & body.keys()):
            return RefusedCall(400, f"'{name}' is not supported with this model.", param=name)
        return None


@pytest.fixture
def fickle(monkeypatch):
    one = Fickle()
    monkeypatch.setitem(kinds.KINDS, "fickle", EndpointKind(one.refuses))
    return one


@pytest.fixture
def played(workspace, fickle):
    """Four conversations without judgements, and judges at an endpoint whose refusals change."""
    run(workspace, plan(judges=(), characters=("tully", "mizuki"), situations=("reality", "heckler")))
    with running(like="fickle") as url:
        workspace.models_path.write_text(toml(url, player=FIXED, user=FIXED, a=FIXED, b=FIXED))
        yield workspace


def made_by(workspace, name="a"):
    with workspace.read() as db:
        found = configurations.every(db).values()
    return [one for one in found if one.nickname == name]


def known(workspace, name="a"):
    """What is known of the endpoint of a model; None before it was asked."""
    model = load_models(workspace.models_path)[name]
    with workspace.read() as db:
        return stored.get(db, model.asked_as)


def test_what_is_refused_is_left_out_and_part_of_the_configuration(played, fickle):
    fickle.refused = {"temperature", "top_p"}
    ended = run(played, JUDGED)
    assert (ended.state, ended.done, ended.failed) == ("finished", 4, 0)
    assert fickle.asked == 4 + 2, "one request for each refusal, and no more"
    assert ended.spent.calls == calls_made(played) == 4, "each answer is used, that of the handshake too"
    [configuration] = made_by(played)
    assert configuration.parameters["temperature"] == configuration.parameters["top_p"] == "unset"
    assert "without temperature and top_p" in ended.message
    assert known(played)["settings"] == {"params": {"temperature": "unset", "top_p": "unset"}}


def test_a_later_run_asks_nothing_again(played, fickle):
    fickle.refused = {"temperature"}
    run(played, JUDGED)
    fickle.asked = 0
    ended = run(played, JudgePlan("pingpong", ("a",), judge_repeats=2))
    assert (ended.done, fickle.asked) == (4, 4)
    assert len(made_by(played)) == 1


def test_an_endpoint_that_takes_everything_costs_nothing_and_says_nothing(played, fickle):
    ended = run(played, JUDGED)
    assert (fickle.asked, ended.spent.calls, ended.message) == (4, 4, "")
    assert made_by(played) == [load_models(played.models_path)["a"].configuration]


def test_an_endpoint_that_changes_its_mind_stops_its_model(played, fickle):
    run(played, JUDGED)
    fickle.refused, fickle.asked = {"temperature"}, 0
    ended = run(played, JudgePlan("pingpong", ("a",), judge_repeats=2))
    assert ended.state == "broken"
    assert ended.done == 0
    assert "concord doctor a --again" in ended.message
    with played.read() as db:
        assert {row["kind"] for row in db["failures"].rows} <= {Failure.FORM_REFUSED.value}
    assert len(made_by(played)) == 1, "no result was made in another form"


def test_results_of_another_form_are_not_mixed_with(played, fickle):
    """Results were made before anything was known of the endpoint, which refuses a part of them now."""
    run(played, JUDGED)
    with played.write() as db:
        db["settings"].delete_where("key LIKE 'handshake %'")
    fickle.refused = {"temperature"}
    ended = run(played, JudgePlan("pingpong", ("a",), judge_repeats=2))
    assert ended.state == "broken"
    assert "another name" in ended.message
    assert known(played) is None


def test_a_handshake_that_is_interrupted_leaves_nothing_and_begins_again(played, fickle, monkeypatch):
    fickle.refused = {"temperature"}
    settle = handshake.settle

    async def interrupted(model, body, ask):
        await settle(model, body, ask)
        raise RunStopped("The process died here.")

    with monkeypatch.context() as patched:
        patched.setattr(handshake, "settle", interrupted)
        run(played, JUDGED)
    assert known(played) is None
    assert made_by(played) == []
    assert run(played, JUDGED).done == 4
    assert known(played) is not None


def test_an_endpoint_that_refuses_everything_is_asked_a_few_times(played, monkeypatch):
    asked = []

    def refuses(body):
        asked.append(body)
        return RefusedCall(400, "No.")

    monkeypatch.setitem(kinds.KINDS, "no", EndpointKind(refuses))
    with running(like="no") as url:
        played.models_path.write_text(toml(url, a=FIXED))
        ended = run(played, JUDGED)
    assert ended.done == 0
    assert len(asked) <= handshake.ASKS + 3, "the first one in every form, the others once"
    with played.read() as db:
        assert any("in every form" in row["message"] for row in db["failures"].rows)


def test_a_request_of_another_kind_is_a_handshake_of_its_own(played, fickle):
    """What it leaves out no earlier request had: results of before are not mixed with others."""
    run(played, JUDGED)
    fickle.refused = {"frequency_penalty"}
    entry = load_models(played.models_path)["a"]
    of = handshake.Handshake.from_dict(known(played))
    penalised = {**of.shapes[0], "frequency_penalty": 0.0}
    assert not of.covers(penalised)
    after = handshake.extended(entry, of, entry.changed(params={"frequency_penalty": "unset"}), penalised)
    with played.write() as db:
        stored.put(db, entry.asked_as, after.as_dict())
    fickle.asked = 0
    ended = run(played, JudgePlan("pingpong", ("a",), judge_repeats=2))
    assert (ended.state, ended.done, fickle.asked) == ("finished", 4, 4)
    assert len(made_by(played)) == 2


def test_of_many_calls_at_once_only_one_is_refused(played, fickle):
    fickle.refused = {"temperature"}
    ended = run(played, JudgePlan("pingpong", ("a", "b"), judge_repeats=4))
    assert ended.done == 32
    assert fickle.asked == 32 + 2, "one refusal for each of two judges"


def test_an_endpoint_that_ignores_the_schema_is_judged_all_the_same(played, monkeypatch):
    monkeypatch.setitem(kinds.KINDS, "deaf", EndpointKind(ignores=("response_format",)))
    with running(like="deaf") as url:
        played.models_path.write_text(toml(url, a='model = "mock-judge-strict"'))
        ended = run(played, JUDGED)
    assert (ended.state, ended.done, ended.failed) == ("finished", 4, 0)
    assert ended.message == ""


def test_an_estimate_makes_no_handshake(played, fickle):
    planning.survey(played, planning.job(played, JUDGED))
    assert fickle.asked == 0
    assert engine.execute(played, planning.job(played, JUDGED)).done == 4


@pytest.mark.parametrize("fails", [False, True])
def test_calls_that_waited_for_the_handshake_are_made_at_once(workspace, mock, fails):
    """Also where the endpoint has failed for another reason: then they do not wait for another handshake."""
    workspace.models_path.write_text(toml(mock, a=FIXED))
    shaken = Handshakes(load_models(workspace.models_path), {})
    asked, under_way = [], []

    async def ask(model, _shaking):
        asked.append(model.name)
        if len(asked) > 1:
            await everyone.wait()
        elif fails:
            raise CallFailed("It is busy.", code=Failure.SERVER)
        return "yes"

    async def latest():
        return None

    async def together():
        messages = [Message("user", "Is it?")]
        requests = [Request("a", "kind", messages, {}, None, number) for number in range(10)]
        answers = asyncio.gather(
            *(shaken.answer(one, ask, latest) for one in requests), return_exceptions=True
        )
        for _ in range(100):
            await asyncio.sleep(0)
        under_way.append(len(asked))
        everyone.set()
        return await answers

    everyone = asyncio.Event()
    first, *others = asyncio.run(together())
    assert under_way == [10]
    assert isinstance(first, CallFailed) == fails
    assert [answer for answer, _ in others] == ["yes"] * 9
