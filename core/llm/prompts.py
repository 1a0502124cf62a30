"""A prompt is a Jinja file, the schema of its reply, and its sampling parameters; versions lie side by side
and are frozen once published.
"""

from __future__ import annotations

import hashlib
import json
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any

from jinja2 import StrictUndefined, Template, TemplateError, TemplateSyntaxError
from jinja2.sandbox import ImmutableSandboxedEnvironment

from core.conversation import Message
from core.errors import ConfigError, not_found
from core.llm.replies import Reply

# Templates are text a user may bring from anywhere: they can read what they are given and nothing else.
_environment = ImmutableSandboxedEnvironment(undefined=StrictUndefined, keep_trailing_newline=False)


@dataclass(frozen=True)
class RenderedPrompt:
    """A rendered prompt: what is sent, what is expected back."""

    messages: tuple[Message, ...]
    params: Mapping[str, Any]
    reply: type[Reply] | None


@dataclass(frozen=True)
class Prompt:
    """One prompt of one version. `hash` covers the templates, the parameters and the reply's schema."""

    benchmark: str
    version: str
    name: str
    reply: type[Reply] | None
    params: Mapping[str, Any]
    sources: Mapping[str, str]
    hash: str
    _templates: Mapping[str, Template] = field(repr=False, compare=False)

    def render(self, history: Sequence[Message] = (), **values: Any) -> RenderedPrompt:
        """System message, then the dialogue so far, then the user message; parts without a template are left
        out.

        Raises ConfigError where a template uses a name that it is not given.
        """
        said = {part: self._fill(part, values) for part in self._templates}
        # An empty template is no message; an empty utterance of the dialogue (a terminal's silence) is one.
        messages = [Message("system", said["system"])] if said.get("system") else []
        messages += [Message(m.role, m.content) for m in history]
        if said.get("user"):
            messages.append(Message("user", said["user"]))
        return RenderedPrompt(tuple(messages), self.params, self.reply)

    def _fill(self, part: str, values: Mapping[str, Any]) -> str:
        try:
            return self._templates[part].render(values).strip()
        except (TemplateError, TypeError) as error:
            raise ConfigError(
                f"The prompt {self.benchmark}/{self.version}/{self.name}_{part}.jinja cannot be "
                f"filled: {error}. "
                f"It may use: {', '.join(sorted(values))}."
            ) from error

    def body(self) -> str:
        """What is stored beside results, so that a hash can be read years later."""
        return json.dumps({"templates": dict(self.sources), "params": dict(self.params)}, ensure_ascii=False)


def versions(folders: Sequence[Path], benchmark: str) -> list[str]:
    """The versions of a benchmark's prompts, shipped and brought along."""
    return sorted({p.name for f in folders for p in (f / benchmark).glob("*") if p.is_dir()})


def load_prompt(
    folders: Sequence[Path],
    benchmark: str,
    version: str,
    name: str,
    reply: type[Reply] | None,
    base: str = "",
) -> Prompt:
    """A prompt from the first folder that has each of its files. What a version lacks comes from the version
    `base`.

    Files: `<name>_system.jinja`, `<name>_user.jinja`, and the table [<name>] of `prompts.toml`; at least one
    of them. A prompt
    of parameters only says nothing of its own: the dialogue is sent as it stands.
    Raises NotFound for an unknown version, ConfigError for a file that cannot be used.
    """
    known = versions(folders, benchmark)
    if version not in known:
        raise not_found(f"version of the {benchmark} prompts", version, known)
    places = [f / benchmark / v for v in dict.fromkeys([version, base or version]) for f in folders]
    sources = {}
    for part in ("system", "user"):
        file = _first(places, f"{name}_{part}.jinja")
        if file is not None:
            sources[part] = file
    table: Mapping[str, Any] | None = None
    for place in places:
        table = _tables(place / "prompts.toml").get(name)
        if table is not None:
            break
    if not sources and table is None:
        raise ConfigError(
            f"The {benchmark} prompts {version} have no {name}_system.jinja or {name}_user.jinja "
            f"in {places[0]}, "
            f"and their prompts.toml has no table [{name}]."
        )
    params: Mapping[str, Any] = (table or {}).get("params", {})
    texts = {part: _text(file) for part, file in sources.items()}
    schema = reply.model_json_schema() if reply else None
    digest = hashlib.sha256(json.dumps([texts, params, schema], sort_keys=True).encode()).hexdigest()[:16]
    templates = {part: _compile(texts[part], file) for part, file in sources.items()}
    return Prompt(benchmark, version, name, reply, params, texts, digest, templates)


def _first(places: Sequence[Path], name: str) -> Path | None:
    return next((place / name for place in places if (place / name).is_file()), None)


def _text(file: Path) -> str:
    try:
        return file.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"The prompt {file} cannot be read: {error}.") from error


def _compile(text: str, file: Path) -> Template:
    try:
        return _environment.from_string(text)
    except TemplateSyntaxError as error:
        raise ConfigError(
            f"The prompt {file} is not valid Jinja, line {error.lineno}: {error.message}."
        ) from error


@lru_cache(maxsize=64)
def _parsed(file: Path, changed: float) -> Mapping[str, Any]:
    try:
        return tomllib.loads(file.read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ConfigError(f"{file} is not valid TOML: {error}.") from error


def _tables(file: Path) -> Mapping[str, Any]:
    return _parsed(file, file.stat().st_mtime) if file.is_file() else {}
