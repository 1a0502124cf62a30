"""Against each kind of endpoint `models add` and `judge` are enough: no entry is edited, no reply is lost."""

from __future__ import annotations

import json
from functools import partial

import pytest

from concord.demo import server
from concord.demo.exchanges import exchanges
from concord.llm.models import load_models
from concord.llm.presets import presets
from concord.store import configurations

PRESET = {"openai-o1": "openai", "gemma": "gemini"}
"""The preset by which a model of a kind is added that has none of its own."""
RUBRIC = """\
unit = "each-reply"
[judge.params]
temperature = 0.0
top_p = 0.9
max_tokens = 9000
frequency_penalty = 0.0
presence_penalty = 0.0
[[criteria]]
name = "clear"
statement = "It is clear."
scale = "1..5"
[[criteria]]
name = "tone"
statement = "How does it sound?"
categories = ["warm", "cold"]
{more}
"""
LISTED = """\
[[criteria]]
name = "faults"
statement = "Which faults does it have?"
type = "multi-label"
categories = ["rude", "wrong"]
"""
CHATS = [
    [
        {"role": "system", "content": "You are the support of a shop."},
        {"role": "user", "content": f"Where is my parcel, number {n}?"},
        {"role": "assistant", "content": "Sorry. It is on its way, thanks for waiting."},
    ]
    for n in range(2)
]


@pytest.fixture
def shop(fresh, run, tmp_path, monkeypatch):
    """A workspace with two conversations and a rubric, and the keys of all presets."""
    for preset in presets().values():
        if name := preset.get("api_key_env"):
            monkeypatch.setenv(name, "a-key-of-a-test")
    monkeypatch.setenv("AZURE_OPENAI_API_KEY", "a-key-of-a-test")
    file = tmp_path / "chats.jsonl"
    lines = [{"id": f"c{n}", "messages": chat} for n, chat in enumerate(CHATS)]
    file.write_text("\n".join(map(json.dumps, lines)))
    assert run(fresh, "import", "conversations", file).exit_code == 0
    (fresh.path / "rubrics").mkdir()
    (fresh.path / "rubrics" / "support.toml").write_text(RUBRIC.format(more=LISTED))
    fresh.models_path.write_text("")
    return fresh


def add(run, workspace, kind, url):
    preset = PRESET.get(kind, kind)
    if kind == "azure":
        preset, url = (
            "azure-deployment",
            f"{url.removesuffix('/v1')}/openai/deployments/x?api-version=2024-02-01",
        )
    words = ("--preset", preset, "--model", "mock-judge-strict", "--base-url", url)
    done = run(workspace, "models", "add", "judge", *words)
    assert done.exit_code == 0, done.output


@pytest.mark.parametrize("kind", exchanges())
def test_a_model_that_is_added_judges(kind, shop, run):
    with server.running(partial(server.make_app, 0, kind)) as url:
        add(run, shop, kind, url)
        done = run(shop, "judge", "support", "--judges", "judge")
        assert done.exit_code == 0, done.output
        assert "2 of 2 stored" in done.output
        assert "2 calls" in done.output, "the handshake is a call that the run makes anyway"
        again = run(shop, "doctor", "judge")
        assert again.exit_code == 0, again.output


@pytest.mark.parametrize("kind", exchanges())
def test_what_doctor_settles_on_the_run_sends(kind, shop, run):
    with server.running(partial(server.make_app, 0, kind)) as url:
        add(run, shop, kind, url)
        found = run(shop, "doctor", "judge")
        assert found.exit_code == 0, found.output
        assert found.output.startswith("✓ judge: ")
        done = run(shop, "judge", "support", "--judges", "judge")
        assert "2 of 2 stored" in done.output, done.output
        written = run(shop, "doctor", "judge", "--write")
        assert written.exit_code == 0, written.output
        again = run(shop, "judge", "support", "--judges", "judge", "--judge-repeats", "2")
        assert again.exit_code == 0, again.output
    with shop.read() as db:
        assert len(configurations.every(db)) == 1, "the entry says now what was settled"
        [stored] = configurations.every(db).values()
    assert stored == load_models(shop.models_path)["judge"].configuration


def test_every_preset_but_the_mocks_has_an_exchange():
    named = {PRESET.get(kind, kind) for kind in exchanges()}
    assert named | {"azure-deployment", "mock"} == set(presets())


def test_the_mock_server_plays_only_kinds_that_there_are(fresh, run):
    done = run(fresh, "mock", "--like", "grok")
    assert done.exit_code == 1
    assert "no kind of endpoint “grok”. Did you mean “groq”" in done.output


@pytest.mark.parametrize(("kind", "exchange"), exchanges().items())
def test_each_refusal_is_met_and_answers_are_in_the_form_of_the_kind(kind, exchange):
    """A recorded refusal that no request meets, or whose body is broken, would test nothing."""
    whole = {"model": "mock-x", "messages": [{"role": "user", "content": "Hello."}]}
    assert exchange.refused(whole, "2025-01-01") is None or kind == "dashscope"
    completion = {"choices": [{"index": 0, "message": {"role": "assistant", "content": "Hi."}}]}
    played = exchange.answered(completion)
    assert played["choices"][0]["message"]["content"] == "Hi."
    assert played.keys() >= completion.keys() | exchange.answer.keys()
    for rule in exchange.refuses:
        body = rule["body"].replace("{value}", "1")
        assert not body.startswith(("{", "[")) or json.loads(body)
