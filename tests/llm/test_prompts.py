"""Prompts: files and versions, strict about names, sandboxed, hashed."""

from __future__ import annotations

import copy
from pathlib import Path
from typing import Annotated

import pytest
from pydantic import Field

from concord.conversation import Message
from concord.errors import ConfigError, NotFound
from concord.llm.prompts import load_prompt, versions
from concord.llm.replies import Reply, Text, Unusable, json_schema, read
from concord.runs.benchmark import Materials
from concord.runs.registry import BENCHMARKS
from concord.workspace import SHIPPED


class Said(Reply):
    said: str


@pytest.fixture
def folder(tmp_path) -> Path:
    place = tmp_path / "prompts" / "toy" / "v1"
    place.mkdir(parents=True)
    (place / "talk_system.jinja").write_text("You are {{ name }}.")
    (place / "talk_user.jinja").write_text("Say something to {{ who }}.\n")
    (place / "prompts.toml").write_text("[talk]\nparams = { temperature = 0.5 }\n")
    return tmp_path / "prompts"


def load(folder, version="v1", base="v1", more=()):
    return load_prompt([*more, folder], "toy", version, "talk", Said, base)


def test_the_system_message_the_dialogue_so_far_and_the_user_message(folder):
    asked = load(folder).render(
        [Message("user", "Hi", {"secret": 1}), Message("assistant", "Hello")], name="Bo", who="Al"
    )
    assert [(m.role, m.content) for m in asked.messages] == [
        ("system", "You are Bo."),
        ("user", "Hi"),
        ("assistant", "Hello"),
        ("user", "Say something to Al."),
    ]
    assert asked.params == {"temperature": 0.5}
    assert all(not m.meta for m in asked.messages), "what stands beside an utterance is not sent"


def test_an_undefined_name_is_an_error_that_says_what_may_be_used(folder):
    with pytest.raises(ConfigError, match=r"toy/v1/talk_user\.jinja.*“?'?who.*name"):
        load(folder).render(name="Bo")


@pytest.mark.parametrize(
    ("text", "says"), [("{% if %}", "not valid Jinja, line 1"), ("{{ x", "not valid Jinja")]
)
def test_a_template_that_cannot_be_read_is_named(folder, text, says):
    (folder / "toy" / "v1" / "talk_user.jinja").write_text(text)
    with pytest.raises(ConfigError, match=says):
        load(folder)


def test_templates_are_sandboxed(folder):
    (folder / "toy" / "v1" / "talk_user.jinja").write_text("{{ ''.__class__.__mro__[1].__subclasses__() }}")
    with pytest.raises(ConfigError, match="cannot be filled"):
        load(folder).render(name="Bo")


def test_a_version_takes_what_it_lacks_from_the_benchmarks_own(folder):
    place = folder / "toy" / "mine"
    place.mkdir()
    (place / "talk_user.jinja").write_text("Shout at {{ who }}.")
    asked = load(folder, "mine").render(name="Bo", who="Al")
    assert [m.content for m in asked.messages] == ["You are Bo.", "Shout at Al."]
    assert asked.params == {"temperature": 0.5}
    (folder / "toy" / "cold").mkdir()
    (folder / "toy" / "cold" / "prompts.toml").write_text("[talk]\nparams = { temperature = 0 }\n")
    cold = load(folder, "cold").render(name="Bo", who="Al")
    assert [m.content for m in cold.messages] == ["You are Bo.", "Say something to Al."]
    assert cold.params == {"temperature": 0}


def test_the_workspaces_file_goes_before_the_shipped_one(folder, tmp_path):
    own = tmp_path / "own"
    (own / "toy" / "v1").mkdir(parents=True)
    (own / "toy" / "v1" / "talk_system.jinja").write_text("I am {{ name }}.")
    changed = load(folder, more=[own])
    assert changed.render(name="Bo", who="Al").messages[0].content == "I am Bo."
    assert changed.hash != load(folder).hash, "a changed prompt is told by its hash"


def test_the_hash_covers_templates_parameters_and_schema(folder):
    first = load(folder)
    assert load(folder).hash == first.hash
    (folder / "toy" / "v1" / "prompts.toml").write_text("[talk]\nparams = { temperature = 0.6 }\n")
    assert load(folder).hash != first.hash
    assert load_prompt([folder], "toy", "v1", "talk", None).hash != load(folder).hash


def test_an_unknown_version_and_a_missing_prompt(folder):
    with pytest.raises(NotFound, match="Known: v1"):
        load(folder, "v2")
    with pytest.raises(ConfigError, match=r"judge_system\.jinja"):
        load_prompt([folder], "toy", "v1", "judge", None)


SHIPPED_PROMPTS = [(b, name) for b in BENCHMARKS.values() for name in b.prompts]


@pytest.mark.parametrize(("benchmark", "name"), SHIPPED_PROMPTS, ids=lambda x: getattr(x, "name", x))
def test_every_prompt_a_benchmark_names_ships_with_its_sampling_parameters(benchmark, name):
    prompt = benchmark.prompt(Materials((SHIPPED / "prompts",), (SHIPPED / "data",)), name)
    assert prompt.sources or prompt.params, (
        "a prompt without words (the dialogue is sent as it stands) still has its parameters"
    )
    assert "temperature" in prompt.params


# What OpenAI documents for `strict`; lengths it refuses. `pattern` and `format` it knows, but other servers
# do not: llama.cpp answers 400
# to a pattern without anchors.
STRICT = {
    "object": {"properties", "required", "additionalProperties"},
    "array": {"items", "minItems", "maxItems"},
    "string": {"enum", "const"},
    "integer": {"minimum", "maximum", "enum", "const"},
    "number": {"minimum", "maximum", "enum", "const"},
    "boolean": set(),
    "null": set(),
}
SAID_OF_ANY = {"type", "title", "description"}


def refused(schema, where="reply"):
    """What a strict endpoint would refuse in a schema, by place."""
    if "$ref" in schema:
        return [f"{where}: {key} beside $ref" for key in schema.keys() - {"$ref"}]
    found = []
    if schema.keys() - SAID_OF_ANY == {"anyOf"}:  # such as a number or null
        return [each for part in schema["anyOf"] for each in refused(part, where)]
    if where == "reply":
        if schema.get("type") != "object":
            found.append("reply: not an object")
        for name, definition in schema.pop("$defs", {}).items():
            found += refused(definition, name)
    known = STRICT.get(schema.get("type"))
    if known is None:
        return [*found, f"{where}: type {schema.get('type')}"]
    found += [f"{where}: {key}" for key in schema.keys() - known - SAID_OF_ANY]
    if schema["type"] == "array":
        found += refused(schema["items"], f"{where}[]")
    if schema["type"] == "object":
        fields = schema.get("properties", {})
        if schema.get("additionalProperties") is not False:
            found.append(f"{where}: additionalProperties")
        found += [f"{where}.{name}: optional" for name in fields.keys() - schema.get("required", ())]
        for name, field in fields.items():
            found += refused(field, f"{where}.{name}")
    return found


@pytest.mark.parametrize(
    ("benchmark", "name"),
    [(b, name) for b, name in SHIPPED_PROMPTS if b.prompts[name]],
    ids=lambda x: getattr(x, "name", x),
)
def test_strict_endpoints_accept_every_reply_schema(benchmark, name):
    assert refused(copy.deepcopy(json_schema(benchmark.prompts[name]))) == []


def test_what_strict_endpoints_refuse_is_found():
    class Inner(Reply):
        text: Annotated[str, Field(min_length=1, pattern="x")]
        maybe: int | None = None

    class Outer(Reply):
        inner: list[Inner]
        free: dict[str, int]

    assert set(refused(Outer.model_json_schema())) == {
        "Inner.text: minLength",
        "Inner.text: pattern",
        "Inner.maybe: type None",
        "Inner.maybe: optional",
        "reply.free: additionalProperties",
    }


def test_a_blank_text_is_refused_here_where_no_schema_says_so():
    class Spoken(Reply):
        said: Text

    assert read('{"said": " well "}', Spoken).said == " well "
    for blank in ("", "  ", "\\n"):
        with pytest.raises(Unusable, match=r"said: .*empty"):
            read(f'{{"said": "{blank}"}}', Spoken)


def test_every_shipped_template_belongs_to_a_benchmark():
    """A forgotten file would be a prompt nobody is asked."""
    for folder in sorted((SHIPPED / "prompts").iterdir()):
        if folder.is_dir():
            benchmark = BENCHMARKS[folder.name]
            assert benchmark.version in versions([SHIPPED / "prompts"], folder.name)
            for file in (folder / benchmark.version).glob("*.jinja"):
                assert file.stem.rsplit("_", 1)[0] in benchmark.prompts, file


def test_an_empty_template_sends_no_message(folder):
    place = folder / "toy" / "stern"
    place.mkdir()
    (place / "talk_system.jinja").write_text("You are stern.")
    (place / "talk_user.jinja").write_text("")
    asked = load(folder, "stern")
    assert [m.content for m in asked.render().messages] == ["You are stern."]
    assert asked.params == {"temperature": 0.5}
    assert asked.hash != load(folder).hash


@pytest.mark.parametrize("line", ['user = "none"', 'tone = "none"'])
def test_a_table_of_a_prompt_has_parameters_alone(folder, line):
    (folder / "toy" / "v1" / "prompts.toml").write_text(f"[talk]\n{line}\n")
    with pytest.raises(ConfigError, match=r"It may have params only"):
        load(folder)
