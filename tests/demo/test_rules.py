"""The mock model of the product: with nothing else, every benchmark and every rubric can be tried."""

from __future__ import annotations

import json
from functools import partial

import pytest
from openai import APIStatusError, OpenAI

from concord.demo.rules import MockRequest, reply
from concord.demo.server import make_app, running
from concord.llm import verdicts
from concord.llm.models import load_models
from concord.llm.replies import json_schema, read
from concord.runs import engine, planning
from concord.runs.plans import PlayPlan, ProposePlan
from concord.runs.registry import BENCHMARKS
from concord.store import conversations, ratings
from tests.conftest import toml

PLAYERS, JUDGES = ("mock-player",), ("mock-judge-strict", "mock-judge-lenient")


@pytest.fixture(scope="module")
def address():
    with running(partial(make_app, 3)) as url:
        yield url


@pytest.fixture
def mocked(address, fresh):
    names = ("mock-player", "mock-user", *JUDGES)
    fresh.models_path.write_text(toml(address, **dict.fromkeys(names, "")))
    assert all(model.simulated for model in load_models(fresh.models_path).values())
    return fresh


def done(workspace, plan):
    ended = engine.execute(workspace, planning.job(workspace, plan))
    assert ended.state == "finished", ended.message
    with workspace.read() as db:
        failed = [row["message"] for row in db["failures"].rows]
        failed += [row["raw"] for row in db["judgements"].rows_where("failure IS NOT NULL")]
    assert not failed
    return ended


def test_pingpong_can_be_tried(mocked):
    models = {"players": PLAYERS, "interrogator": ("mock-user",), "judges": JUDGES}
    done(mocked, PlayPlan("pingpong", models, {"language": "en", "characters": ["mizuki"]}))
    with mocked.read() as db:
        assert len(ratings.judges(db, "pingpong")) == 2
        assert all(rater.simulated for rater in ratings.judges(db, "pingpong"))
        assert all(c.replies[0].startswith("(mock)") for _, c in conversations.of_benchmark(db, "pingpong"))


def test_simulbench_can_be_tried(mocked):
    models = {"simulators": PLAYERS, "user": ("mock-user",), "judges": JUDGES[:1]}
    done(mocked, PlayPlan("simulbench-dialogues", models, {"tasks": ["rpn-calculator", "rail-fence-clerk"]}))
    done(mocked, ProposePlan("simulbench", "mock-user", count=1, seed=1))


def test_stss_can_be_tried(mocked):
    models = {"players": PLAYERS, "residents": ("mock-user",)}
    done(mocked, PlayPlan("stss", models, {"tasks": ["board-games"]}))


@pytest.mark.parametrize("benchmark", BENCHMARKS)
def test_every_schema_of_the_shipped_prompts_is_filled(benchmark):
    for form in filter(None, BENCHMARKS[benchmark].prompts.values()):
        asked = MockRequest("mock-x", [("user", "Turn 1:\nassistant: Thank you.")], json_schema(form), "")
        read(reply(asked), form)


@pytest.mark.parametrize("model", JUDGES)
def test_a_verdict_has_the_form_that_the_prompt_asks_for(model):
    def said(text):
        return reply(MockRequest(model, [("user", text)], None, ""))

    rating, _ = verdicts.whole_number(said("It is thanks to you.\nRating: [[5]]"), 1, 10)
    assert 1 <= rating <= 10
    turn, _ = verdicts.whole_number(said("Turn 1\nUser: x\nTurn 2\nUser: y\nTurn: [[3]]"), 0, 2)
    assert turn in (0, 1, 2)
    sides = "=== Reply {0} ===\n{{}}\n=== End of reply {0} ===\n"
    sides = sides.format("A") + sides.format("B") + "[[A]] or [[B]]"
    kind, unkind = "Thank you, great, of course.", "No, never, useless, wrong."
    assert verdicts.preference(said(sides.format(kind, unkind))).verdict == "A"
    assert verdicts.preference(said(sides.format(unkind, kind))).verdict == "B"


def test_the_strict_judge_gives_less_than_the_lenient_one():
    schema = {"type": "object", "properties": {"score": {"type": "integer", "minimum": 0, "maximum": 100}}}

    def score(model, seed):
        return json.loads(reply(MockRequest(model, [("user", "a text")], schema, str(seed))))["score"]

    strict, lenient = (sum(score(model, seed) for seed in range(50)) for model in JUDGES)
    assert strict < lenient


def test_the_same_request_gets_the_same_reply_and_other_names_are_refused(address):
    client = OpenAI(base_url=address, api_key="none", max_retries=0)
    ask = partial(client.chat.completions.create, messages=[{"role": "user", "content": "Who are you?"}])
    first, again = ask(model="mock-me"), ask(model="mock-me")
    assert first.choices[0].message.content == again.choices[0].message.content
    assert "no language model" in first.choices[0].message.content
    assert ask(model="mock-me", max_tokens=2).choices[0].finish_reason == "length"
    with pytest.raises(APIStatusError) as refused:
        ask(model="gpt")
    assert refused.value.status_code == 404
    vectors = client.embeddings.create(model="mock-embeddings", input=["a cat", "a cat", "dogs"]).data
    assert vectors[0].embedding == vectors[1].embedding != vectors[2].embedding


@pytest.mark.parametrize("body", ["{", "[]", '{"model": "mock-x"}', '{"model": "mock-x", "messages": [1]}'])
def test_a_request_that_cannot_be_read_is_refused(address, body):
    import httpx2

    answer = httpx2.post(f"{address}/chat/completions", content=body)
    assert answer.status_code == 400
    assert "cannot be read" in answer.json()["error"]["message"]
