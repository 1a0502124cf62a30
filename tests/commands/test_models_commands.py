"""`concord models`: entries by kind of endpoint, and what the file holds beside them stays as it is."""

from __future__ import annotations

import json

import pytest
from click.testing import CliRunner

from concord.cli import main
from concord.llm.models import load_models
from concord.llm.presets import presets

KINDS = presets()
OWN = """\
# A comment of one's own
[models.a]   # first
model = "x"
params = {temperature=0.5}
"""


def add(run, workspace, name, kind, *more):
    return run(workspace, "models", "add", name, "--preset", kind, "--model", "some-id", *more)


@pytest.mark.parametrize("kind", KINDS)
def test_each_preset_makes_an_entry_that_loads(fresh, run, kind):
    fresh.models_path.write_text(OWN)
    address = ("--base-url", "https://mine.example/v1") if kind.startswith("azure") else ()
    done = add(run, fresh, "new one", kind, *address)
    assert done.exit_code == 0, done.output
    assert fresh.models_path.read_text().startswith(OWN)
    model = load_models(fresh.models_path)["new one"]
    assert model.served == "some-id"
    assert model.base_url
    stored = model.model_dump(mode="json", exclude_unset=True)
    settings = {name: of for name, of in KINDS[kind].items() if name not in ("about", "base_url")}
    assert settings == {name: stored[name] for name in settings}
    assert kind in run(fresh, "models", "presets").output
    assert "doctor 'new one'` checks it" in done.output


def test_an_address_and_a_key_of_ones_own(fresh, run, monkeypatch):
    monkeypatch.setenv("MY_KEY", "secret-key")
    done = add(run, fresh, "m", "vllm", "--base-url", "http://gpu:9000/v1", "--key-env", "MY_KEY")
    model = load_models(fresh.models_path)["m"]
    assert (model.base_url, model.api_key_env) == ("http://gpu:9000/v1", "MY_KEY")
    assert "Set the environment variable" not in done.output
    monkeypatch.delenv("MY_KEY")
    assert "MY_KEY (not set)" in run(fresh, "models", "list").output
    assert "Set the environment variable MY_KEY" in add(run, fresh, "n", "vllm", "--key-env", "MY_KEY").output


@pytest.mark.parametrize(
    ("name", "kind", "more", "says"),
    [
        ("a", "vllm", (), "“a” is in"),
        ("b", "vlm", (), "no preset “vlm”. Did you mean “vllm”"),
        ("b", "azure", (), "needs an address"),
        ("b", "vllm", ("--base-url", "gpu:9000"), "is not an address"),
    ],
)
def test_what_cannot_be_added_leaves_the_file(fresh, run, name, kind, more, says):
    fresh.models_path.write_text(OWN)
    done = add(run, fresh, name, kind, *more)
    assert done.exit_code == 1
    assert says in done.output
    assert fresh.models_path.read_text() == OWN


def test_the_list_says_where_and_with_what_each_model_is_called(workspace, run):
    add(run, workspace, "deep", "openai-reasoning")
    table = json.loads(run(workspace, "models", "list", "--format", "json").output)["tables"]["models"]
    rows = {row["name"]: row for row in table["rows"]}
    assert rows["deep"]["model"] == "some-id"
    assert 'rename {"max_tokens": "max_completion_tokens"}' in rows["deep"]["settings"]
    assert rows["a"]["key"] == "none needed"


def test_where_no_table_can_follow_the_file_is_left(fresh, run):
    text = "models = { a = {model = 'x'} }\n"
    fresh.models_path.write_text(text)
    done = add(run, fresh, "b", "vllm")
    assert "Write each model as a table [models.NAME]" in done.output
    assert fresh.models_path.read_text() == text


@pytest.mark.parametrize(
    "words",
    [
        ["models", "add", "m", "--preset", "mock", "--model", "mock-a"],
        ["models", "list"],
        ["rubric", "new", "r"],
    ],
)
def test_a_workspace_that_is_made_by_the_way_is_said(tmp_path, monkeypatch, words):
    """`models add` without --workspace made a second workspace in the current folder without a word."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("CONCORD_WORKSPACE", raising=False)
    first, again = (CliRunner().invoke(main, words) for _ in range(2))
    assert (
        f"Created a workspace in {tmp_path / 'workspace'}; use --workspace for another folder."
        in first.stderr
    )
    assert "new workspace" not in again.stderr
