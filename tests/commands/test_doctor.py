"""`concord doctor` sends what roles send, and says what each kind of endpoint refuses, cuts or ignores."""

from __future__ import annotations

import asyncio

import pytest

from concord.llm.client import Client
from concord.llm.models import Model
from concord.runs.examining import examine, samples
from concord.runs.planning import materials
from concord.runs.registry import BENCHMARKS
from tests.mock.faults import Faults
from tests.mock.server import running


def found(workspace, model):
    return asyncio.run(examine({"m": model}, samples(materials(workspace))))["m"]


def served(url, model="mock-fixed", **settings):
    return Model(name="m", base_url=url, model=model, **settings)


@pytest.mark.parametrize(
    ("like", "settings", "says"),
    [
        ("", {"model": "gpt-9"}, "does not know “m” as “gpt-9”"),
        ("openai-reasoning", {}, 'write rename = { max_tokens = "max_completion_tokens" }'),
        ("json-object", {}, 'write replies = "json_object"'),
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


def test_a_refused_parameter_is_named_with_the_line_to_write(workspace):
    with running(like="anthropic") as url:
        wrong = found(workspace, served(url)).wrong
    assert 'write params = { temperature = "unset" } for it in models.toml' in wrong


def test_one_call_of_each_kind_is_sent_with_its_parameters_and_schema(workspace, monkeypatch, run):
    brought = materials(workspace)
    prompts = [b.prompt(brought, name) for b in BENCHMARKS.values() for name in b.prompts]
    few = samples(brought)
    assert len(few) < len(prompts) / 2
    kinds = [(frozenset(each.params), each.reply is None) for each in few]
    assert len(kinds) == len(set(kinds))
    assert set(kinds) == {(frozenset(each.params), each.reply is None) for each in prompts}
    sent = []
    real = Client.complete

    async def complete(self, name, messages, *, params=None, schema=None, seed=0):
        sent.append((frozenset(params), schema is None))
        return await real(self, name, messages, params=params, schema=schema, seed=seed)

    monkeypatch.setattr(Client, "complete", complete)
    done = run(workspace, "doctor", "a")
    assert (done.exit_code, "✓ a: answers as asked (served as mock-fixed" in done.output) == (0, True)
    assert set(kinds) <= set(sent)
