"""Prompts: Jinja templates, the schema of the reply, and sampling parameters, in versions that are frozen."""

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import product
from pathlib import Path
from typing import Any

from jinja2 import Template, TemplateError, TemplateSyntaxError

from concord.conversation import Message
from concord.errors import ConfigError, check_known
from concord.files import kept_toml, read_text
from concord.llm.replies import Reply, json_schema
from concord.llm.templates import compiled, rendered


@dataclass(frozen=True)
class RenderedPrompt:
    """What is sent, the reply's form, the prompt's name, and the turns that the reply must be about.

    `program_input` is what a program that judges gets in place of the messages, `judged` are the texts that a
    verdict is about, in which an answer may be planted. `plain` is what a model that cannot write JSON is
    sent instead, where the prompt has such a form; `labelled` says that the reply is to be labelled lines.
    """

    messages: tuple[Message, ...]
    params: Mapping[str, Any]
    reply: type[Reply] | None
    name: str = ""
    turns: tuple[int, ...] = ()
    program_input: Mapping[str, Any] = field(default_factory=dict)
    judged: tuple[str, ...] = ()
    plain: tuple[Message, ...] = ()
    labelled: bool = False

    @property
    def schema(self) -> Mapping[str, Any] | None:
        """The JSON schema of the reply; None for a text, and for labelled lines."""
        return json_schema(self.reply, self.turns) if self.reply and not self.labelled else None

    def asked_as(self, replies: str) -> "RenderedPrompt":
        """The form for a model of these `replies` (models.toml): the plain one for “text”, if any."""
        if replies != "text" or not self.plain:
            return self
        return replace(self, messages=self.plain, plain=(), labelled=True)


@dataclass(frozen=True)
class Prompt:
    """One prompt of one version. `hash` covers templates, parameters and the reply's schema.

    It does not cover the plain form: whether that was sent is part of a model's configuration.
    """

    benchmark: str
    version: str
    name: str
    reply: type[Reply] | None
    params: Mapping[str, Any]
    sources: Mapping[str, str]
    hash: str
    _templates: Mapping[str, Template] = field(repr=False, compare=False)
    _plain: Template | None = field(default=None, repr=False, compare=False)

    def render(self, history: Sequence[Message] = (), **values: Any) -> RenderedPrompt:
        """The system message, the dialogue so far, and the user message; parts without a template are left
        out.

        Raises ConfigError if a template uses a name that it is not given.
        """
        texts = {part: self._fill(part, values) for part in self._templates}
        # An empty template gives no message; an empty utterance (a terminal without output) is kept.
        messages = [Message("system", texts["system"])] if texts.get("system") else []
        messages += [Message(m.role, m.content) for m in history]
        if texts.get("user"):
            messages.append(Message("user", texts["user"]))
        prompt = RenderedPrompt(tuple(messages), self.params, self.reply, self.name)
        if self._plain is None:
            return prompt
        turns = [Message(m.role, m.content) for m in history]
        return replace(prompt, plain=(*turns, Message("user", self._fill("plain", values))))

    def _fill(self, part: str, values: Mapping[str, Any]) -> str:
        template = self._plain if part == "plain" else None
        try:
            return rendered(template or self._templates[part], values).strip()
        except (TemplateError, TypeError) as error:
            raise ConfigError(
                f"The prompt {self.benchmark}/{self.version}/{self.name}_{part}.jinja cannot be filled: "
                f"{error}. It may use: {', '.join(sorted(values))}."
            ) from error

    @property
    def plain_form(self) -> bool:
        """Whether it has a form for models that cannot write JSON."""
        return self._plain is not None

    @cached_property
    def body(self) -> str:
        """What is stored with results, so that a hash can be looked up later."""
        return json.dumps({"templates": dict(self.sources), "params": dict(self.params)}, ensure_ascii=False)


def versions(folders: Sequence[Path], benchmark: str) -> list[str]:
    """The versions of a benchmark's prompts, shipped and of the workspace."""
    return sorted({p.name for f in folders for p in (f / benchmark).glob("*") if p.is_dir()})


def load_prompt(
    folders: Sequence[Path],
    benchmark: str,
    version: str,
    name: str,
    reply: type[Reply] | None,
    base: str = "",
) -> Prompt:
    """A prompt, each file from the first folder that has it. What a version lacks comes from version `base`.

    Files: `<name>_system.jinja`, `<name>_user.jinja`, and the table [<name>] of `prompts.toml`; at least one
    of them. A prompt of parameters only sends the dialogue as it is; an empty template gives no message.
    `<name>_plain.jinja` is the whole prompt for models whose replies are text, if there is one.
    Raises NotFound for an unknown version, ConfigError for a file that cannot be used.
    """
    check_known(f"version of the {benchmark} prompts", version, versions(folders, benchmark))
    places = [f / benchmark / v for v in dict.fromkeys([version, base or version]) for f in folders]
    tables = [table for place in places if (table := _table(place, name)) is not None]
    sources: dict[str, Path] = {}
    for part, place in product(("system", "user"), places):
        if (file := place / f"{name}_{part}.jinja").is_file():
            sources.setdefault(part, file)
    if not sources and not tables:
        raise ConfigError(
            f"The {benchmark} prompts {version} have no {name}_system.jinja or {name}_user.jinja "
            f"in {places[0]}, and their prompts.toml has no table [{name}]."
        )
    params: Any = next((table["params"] for table in tables if "params" in table), {})
    texts = {part: read_text(file) for part, file in sources.items()}
    schema = reply.model_json_schema() if reply else None
    digest = hashlib.sha256(json.dumps([texts, params, schema], sort_keys=True).encode()).hexdigest()[:16]
    templates = {part: _compile(texts[part], file) for part, file in sources.items()}
    plain = next((file for place in places if (file := place / f"{name}_plain.jinja").is_file()), None)
    in_words = _compile(read_text(plain), plain) if plain else None
    return Prompt(benchmark, version, name, reply, params, texts, digest, templates, in_words)


def _table(place: Path, name: str) -> dict[str, Any] | None:
    """The table of a prompt in a folder's prompts.toml; None without one. Raises ConfigError."""
    table = kept_toml(place / "prompts.toml").get(name)
    if table is None:
        return None
    if not isinstance(table, dict) or not isinstance(table.get("params", {}), dict):
        raise ConfigError(f"prompts.toml in {place} must hold [{name}] as a table, with params as one.")
    if unknown := sorted(table.keys() - {"params"}):
        raise ConfigError(f"prompts.toml in {place}: [{name}] has {unknown[0]}. It may have params only.")
    return table


def _compile(text: str, file: Path) -> Template:
    try:
        return compiled(text)
    except TemplateError as error:
        line = f", line {error.lineno}" if isinstance(error, TemplateSyntaxError) else ""
        raise ConfigError(f"The prompt {file} is not valid Jinja{line}: {error.message}.") from error
