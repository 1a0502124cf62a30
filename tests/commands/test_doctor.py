"""`concord doctor` sends what roles send, and says what each kind of endpoint refuses, cuts or ignores."""

from __future__ import annotations

import asyncio

import pytest

from concord.llm.client import Client
from concord.llm.handshake import Handshake
from concord.llm.models import Model, load_models
from concord.runs.examining import check, examine, samples, workspace_prompts
from concord.runs.planning import materials
from concord.runs.registry import BENCHMARKS
from concord.store import handshakes
from tests.mock.faults import Faults
from tests.mock.server import running


def found(workspace, model):
    return asyncio.run(examine({"m": model}, workspace_prompts(workspace), samples(materials(workspace))))[
        "m"
    ]


def served(url, model="mock-fixed", **settings):
    return Model(name="m", base_url=url, model=model, **settings)


@pytest.mark.parametrize(
    ("like", "settings", "says"),
    [
        ("", {"model": "gpt-9"}, "does not know “m” as “gpt-9”"),
        ("nothing", {}, "in every form that Concord knows"),
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
        seen = found(workspace, served(url, "mock-vivid")).observations
    assert seen == ("served as mock-vivid", "prompts of 3,000 words are read whole")


@pytest.mark.parametrize(
    ("like", "settings"),
    [
        (
            "openai-reasoning",
            {"params": {"temperature": "unset"}, "rename": {"max_tokens": "max_completion_tokens"}},
        ),
        ("json-object", {"replies": "json_object"}),
        ("gemma", {"system": "merge", "replies": "text"}),
        ("dashscope", {"params": {"enable_thinking": False}, "replies": "json_object"}),
        ("", {}),
    ],
)
def test_what_is_refused_is_settled_and_kept_for_runs(workspace, like, settings):
    with running(like=like) as url:
        model = served(url)
        found = check(workspace, {"m": model})["m"]
    assert (found.wrong, found.settings) == ("", settings)
    with workspace.read() as db:
        assert handshakes.get(db, model.asked_as)["settings"] == settings


def test_what_only_benchmarks_need_is_a_note_and_no_cross(workspace, run):
    with running(like="gemini") as url:
        found = check(workspace, {"m": served(url)})["m"]
        assert found.wrong == ""
        assert found.settings == {}, "no judge of this workspace sends penalties"
        assert any(
            note.startswith("stss (utterance): sent without frequency_penalty") for note in found.notes
        )
        workspace.models_path.write_text(f'[models.m]\nbase_url = "{url}"\nmodel = "mock-fixed"\n')
        assert run(workspace, "doctor").exit_code == 0


def test_the_rubrics_of_the_workspace_are_tried_first(workspace):
    usual = workspace_prompts(workspace)
    assert [prompt.benchmark for prompt in usual] == ["support"]
    (workspace.path / "rubrics").mkdir()
    (workspace.path / "rubrics" / "mine.toml").write_text(
        'unit = "each-reply"\n[[criteria]]\nname = "clear"\nstatement = "It is clear."\nscale = "1..5"\n'
    )
    (workspace.path / "rubrics" / "broken.toml").write_text("title = 3\n")
    assert [(prompt.benchmark, prompt.name) for prompt in workspace_prompts(workspace)] == [("mine", "judge")]
    with running(like="groq") as url:
        found = check(workspace, {"m": served(url)})["m"]
    assert found.settings == {"replies": "json_object"}, "its list of replies has a minItems"


def test_again_asks_as_if_nothing_were_known(workspace):
    with running() as url, workspace.write() as db:
        model = served(url)
        handshakes.put(db, model.asked_as, Handshake({"replies": "text"}).as_dict())
    with running(port=int(url.split(":")[-1].split("/")[0])):
        assert check(workspace, {"m": model})["m"].settings == {"replies": "text"}
        assert check(workspace, {"m": model}, fresh=True)["m"].settings == {}
        assert check(workspace, {"m": model})["m"].settings == {}


@pytest.mark.parametrize(
    "entry",
    [
        '[models.m]   # mine\nmodel = "mock-fixed"\nbase_url = "{url}"\n\n# after\n[models.n]\nmodel = "x"\n',
        '[models.m]\nmodel = "mock-fixed"\nparams = {{ temperature = 0.3 }}  # mine\nbase_url = "{url}"\n',
        '[models.m]\nmodel = "mock-fixed"\nbase_url = "{url}"\n[models.m.params]\ntemperature = 0.3\n# end\n',
        '[models."m"]\nmodel = "mock-fixed"\nbase_url = "{url}"',
    ],
)
def test_the_settled_form_is_written_and_the_rest_of_the_entry_stays(fresh, run, entry):
    with running(like="openai-reasoning") as url:
        fresh.models_path.write_text(entry.format(url=url))
        done = run(fresh, "doctor", "m", "--write")
        assert done.exit_code == 0, done.output
        model = load_models(fresh.models_path)["m"]
        assert model.params == {"temperature": "unset"}
        assert model.rename == {"max_tokens": "max_completion_tokens"}
        comments = [line for line in entry.splitlines() if "#" in line and "params" not in line]
        assert all(line in fresh.models_path.read_text() for line in comments)
        assert run(fresh, "doctor", "m").output.startswith("✓ m: answers as asked")


def test_an_entry_that_cannot_be_changed_names_the_lines_to_write(fresh, run):
    with running(like="openai-reasoning") as url:
        text = f'[models]\nm = {{ model = "mock-fixed", base_url = "{url}" }}\n'
        fresh.models_path.write_text(text)
        done = run(fresh, "doctor", "--write")
    assert done.exit_code == 1
    assert 'rename = { max_tokens = "max_completion_tokens" }' in done.output
    assert fresh.models_path.read_text() == text


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

    async def complete(self, name, messages, *, params=None, schema=None, **how):
        sent.append((frozenset(params), schema is None))
        return await real(self, name, messages, params=params, schema=schema, **how)

    monkeypatch.setattr(Client, "complete", complete)
    done = run(workspace, "doctor", "a")
    assert (done.exit_code, "✓ a: answers as asked (served as mock-fixed" in done.output) == (0, True)
    assert set(kinds) <= set(sent)
