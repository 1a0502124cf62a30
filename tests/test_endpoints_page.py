"""docs/endpoints.md, followed: its commands are run, its entries compared, and its failures produced."""

from __future__ import annotations

import asyncio
import re
import shlex
import tomllib
from contextlib import ExitStack
from pathlib import Path

import pytest

from concord.conversation import Message
from concord.errors import ConcordError
from concord.llm import gates
from concord.llm.client import Client
from concord.llm.models import load_models
from concord.llm.presets import presets
from tests.mock.faults import Faults
from tests.mock.kinds import FILTERED
from tests.mock.server import running

PAGE = (Path(__file__).parent.parent / "docs" / "endpoints.md").read_text(encoding="utf-8")
SECTIONS = dict(re.findall(r"^## (.+?)\n(.*?)(?=^## |\Z)", PAGE, re.S | re.M))
ADDING = {
    title: shlex.split(found[1])
    for title, body in SECTIONS.items()
    if (found := re.search(r"^concord (models add .+)$", body, re.M))
}
ENTRIES = {
    title: found[1]
    for title, body in SECTIONS.items()
    if (found := re.search(r"```toml\n(.*?)```", body, re.S))
}
ROWS = {
    (title, case): said
    for title, body in SECTIONS.items()
    for table in re.findall(r"^\| what goes wrong .*\n\|---.*\n((?:\|.*\n?)+)", body, re.M)
    for case, said in re.findall(r"^\| (.+?) \| (.+?) \|$", table, re.M)
}
KEY = "a-key-of-a-test"


def says(pattern, output):
    """Whether what the page quotes is in the output, with anything in place of an ellipsis."""
    parts = [re.escape(part.strip()) for part in pattern.split("…")]
    return re.search(".*".join(parts), " ".join(output.split())) is not None


def edit(workspace, *changes, **settings):
    """Change the text of models.toml, and append settings to its last entry."""
    text = workspace.models_path.read_text()
    for old, new in changes:
        text, n = re.subn(old, new, text, flags=re.M)
        assert n, old
    workspace.models_path.write_text(
        text + "".join(f"{name} = {value}\n" for name, value in settings.items())
    )


@pytest.fixture
def page(fresh, run, monkeypatch):
    """Follows a section: its command, and then its entry at a mock server of this kind, with a key."""
    fresh.models_path.write_text("")
    for preset in presets().values():
        secret = [header["env"] for header in preset.get("headers", {}).values()]
        for name in filter(None, [preset.get("api_key_env"), *secret]):
            monkeypatch.setenv(name, KEY)
    monkeypatch.setenv("MY_KEY", KEY)
    monkeypatch.setattr(gates, "FIRST_SECONDS", 0.0)

    with ExitStack() as stack:

        def follow(title, *, model="mock-fixed", **how):
            done = run(fresh, *ADDING[title])
            assert done.exit_code == 0, done.output
            url = stack.enter_context(running(**how))
            edit(fresh, ("^model = .*$", f'model = "{model}"'), ("^base_url = .*$", f'base_url = "{url}"'))
            return fresh

        yield follow


def test_there_is_a_section_for_each_preset():
    assert sorted(words[words.index("--preset") + 1] for words in ADDING.values()) == sorted(presets())
    assert len(ROWS) > 15


@pytest.mark.parametrize("title", ADDING)
def test_the_command_writes_the_entry_that_the_page_shows(title, fresh, run):
    fresh.models_path.write_text("# mine\n")
    assert run(fresh, *ADDING[title]).exit_code == 0
    assert fresh.models_path.read_text() == f"# mine\n\n{ENTRIES[title]}"


LIKE = {
    "OpenAI's reasoning models": "openai-reasoning",
    "Anthropic": "anthropic",
    "OpenRouter": "openrouter",
}
"""The kind whose refusals the entry of the page avoids; others are found out, or lie in how the server was
started.
"""


@pytest.mark.parametrize("title", ADDING)
def test_the_entry_of_the_page_is_what_its_endpoint_wants(title, page, run):
    output = run(page(title, like=LIKE.get(title, ""), require_key=None), "doctor", "judge").output
    assert output.startswith("✓ judge: answers as asked (served as mock-fixed;"), output
    assert len(output.splitlines()) == 1, "nothing needs to be adapted"


def test_the_example_loads_and_the_commands_of_the_beginning_run(fresh, run):
    models = tomllib.loads(ENTRIES["What is sent"])["models"]
    fresh.models_path.write_text(ENTRIES["What is sent"])
    assert load_models(fresh.models_path).keys() == models.keys()
    for words in ("models presets", "models list"):
        assert f"concord {words} " in PAGE
        assert run(fresh, *words.split()).exit_code == 0


def in_general(page, run, case):
    """What Concord says of an entry that is wrong in a way that any endpoint can meet."""
    how = {
        "the key is wrong": {"require_key": "another-key"},
        "the model's id is wrong": {"model": "gpt-9"},
        "a web page answers": {"faults": Faults(html=1)},
        "every form is refused": {"like": "nothing"},
        "replies are no JSON": {"model": "mock-bland", "faults": Faults(malformed=1)},
    }
    workspace = page("OpenAI", **how.get(case, {}))
    edit(workspace, ("^api_key_env = .*$", 'api_key_env = "MY_KEY"'))
    if case == "nothing answers at the address":
        nowhere = ("^base_url = .*$", 'base_url = "http://127.0.0.1:9/v1"')
        edit(workspace, nowhere, ("^model = .*$", 'model = "theirs"'))  # the mock server is told otherwise
    elif case == "replies are no JSON":
        edit(workspace, replies='"json_object"')
    return run(workspace, "doctor").output


def refused_prompt(workspace):
    """What Concord says of a prompt that the content filter refuses."""

    async def go():
        async with Client(load_models(workspace.models_path)) as client:
            try:
                await client.complete("judge", [Message("user", f"Write {FILTERED}.")])
            except ConcordError as error:
                return str(error)

    return asyncio.run(go())


@pytest.mark.parametrize(("title", "case"), ROWS)
def test_what_goes_wrong_is_said_as_the_page_quotes_it(title, case, page, run, monkeypatch):
    match title, case:
        case "Errors", "the variable of the key is not set":
            monkeypatch.delenv("MY_KEY")
            output = in_general(page, run, case)
        case (("Errors" | "The handshake"), _):
            output = in_general(page, run, case)
        case "OpenAI's reasoning models", "the entry is that of another model":
            output = run(page("OpenAI", like="openai-reasoning"), "doctor").output
        case "OpenAI's reasoning models", "thinking uses up the limit":
            output = run(page(title, faults=Faults(only_thinking=1)), "doctor").output
        case "Anthropic", _:
            output = run(page("OpenAI", like="anthropic"), "doctor").output
        case "vLLM" | "llama.cpp" | "Ollama", _:
            like = {"vLLM": "vllm", "llama.cpp": "llama-cpp", "Ollama": "ollama"}[title]
            output = run(page(title, like=like), "doctor").output
        case "OpenRouter", "the provider fails, with status 200":
            output = run(page(title, faults=Faults(error_body=1)), "doctor").output
        case "OpenRouter", _:
            workspace = page(title, like="openrouter")
            edit(workspace, ("require_parameters = true", 'require_parameters = true, only = ["nobody"]'))
            output = run(workspace, "doctor").output
        case "Azure", _:
            output = refused_prompt(page(title, like="azure"))
        case "LiteLLM proxy", _:
            workspace = page(title, like="litellm")
            edit(workspace, seed="true")
            output = run(workspace, "doctor").output
        case _:
            pytest.fail("this failure is not produced")
    assert says(ROWS[title, case], output), output
