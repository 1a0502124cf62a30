"""`concord doctor` sends what roles send, and says what each kind of endpoint refuses, cuts or ignores."""

from __future__ import annotations

import asyncio

import pytest

from concord.llm.client import Client
from concord.llm.models import Model
from concord.runs.examining import examine, kinds, samples
from concord.runs.planning import materials
from concord.runs.registry import BENCHMARKS
from tests.mock.faults import Faults
from tests.mock.server import running


def found(workspace, model, *, benchmarks=BENCHMARKS, each=False):
    every = samples(materials(workspace), [BENCHMARKS[name] for name in benchmarks])
    return asyncio.run(examine({"m": model}, every, each=each))["m"]


def served(url, model="mock-fixed", **settings):
    return Model(name="m", base_url=url, model=model, **settings)


@pytest.mark.parametrize(
    ("like", "settings", "says"),
    [
        ("", {"model": "gpt-9"}, "does not know “m” as “gpt-9”"),
        ("openai-reasoning", {"params": {"temperature": 0.5}}, 'write temperature = "unset"'),
        ("openai-reasoning", {"roles": {"judges": {"temperature": 0.5}}}, "models.toml sets temperature"),
        ("ollama", {}, "read only 1,024 tokens of it"),
    ],
)
def test_what_is_wrong_comes_with_the_remedy(workspace, like, settings, says):
    with running(like=like) as url:
        assert says in found(workspace, served(url, **settings)).wrong


def test_a_reply_without_json_or_text_says_what_to_set(workspace):
    with running(faults=Faults(malformed=1)) as url:
        wrong = found(workspace, served(url, "mock-bland", replies="json_object")).wrong
        assert 'Try replies = "text"' in wrong
    with running(faults=Faults(only_thinking=1)) as url:
        assert "params = { max_tokens = 16000 }" in found(workspace, served(url)).wrong


def test_a_well_model_says_who_it_is_and_that_it_reads_prompts_whole(workspace):
    with running() as url:
        seen = found(workspace, served(url, "mock-vivid")).seen
    assert seen == ("served as mock-vivid", "prompts of 3,000 words are read whole")


def test_what_was_changed_of_calls_is_one_sentence(workspace):
    with running(like="anthropic") as url:
        told = found(workspace, served(url)).adaptation
    assert 'params = { top_p = "unset" }' in told


def test_each_role_of_a_benchmark_is_sent_with_its_parameters_and_schema(workspace, monkeypatch):
    sent = []
    real = Client.complete

    async def complete(self, name, messages, *, params=None, schema=None, seed=0, role=""):
        sent.append((role, dict(params or {}), schema))
        return await real(self, name, messages, params=params, schema=schema, seed=seed, role=role)

    monkeypatch.setattr(Client, "complete", complete)
    with running() as url:
        assert found(workspace, served(url), benchmarks=["pingpong"], each=True).wrong == ""
    by_role = {role: (params, schema) for role, params, schema in sent if role}
    assert by_role.keys() == {"players", "interrogator", "judges"}
    assert by_role["judges"][0]["max_tokens"] == 4096
    assert "scores" in by_role["judges"][1]["properties"]
    assert by_role["players"][1] is None


def test_every_role_that_models_talk_or_judge_in_has_prompts():
    """But for players and residents of a benchmark that borrows the prompts of another."""
    borrowed = {("stss-language", "players"), ("stss-language", "residents")}
    lacking = {
        (benchmark.name, role.name)
        for benchmark in BENCHMARKS.values()
        for role in benchmark.roles
        if role.kind == "chat" and not role.prompts
    }
    assert lacking <= borrowed
    for benchmark in BENCHMARKS.values():
        assert {name for role in benchmark.roles for name in role.prompts} <= set(benchmark.prompts)


def test_one_call_of_each_kind_unless_benchmarks_are_named(workspace, run):
    every = samples(materials(workspace), BENCHMARKS.values())
    few = kinds(every, served("http://x/v1"))
    assert len(few) < len(every) / 2
    wanted = {(frozenset(sample.params), sample.reply is None) for sample in every}
    assert {(frozenset(sample.params), sample.reply is None) for sample in few} == wanted
    done = run(workspace, "doctor", "a", "--benchmarks", "pingpong")
    assert (done.exit_code, "✓ a: answers as asked (served as mock-fixed" in done.output) == (0, True)
    assert "There is no benchmark" in run(workspace, "doctor", "a", "--benchmarks", "ping").output
