"""The family of each model, as models.toml or its name says it; read without loading what calls models."""

import re
from collections.abc import Iterable
from pathlib import Path

from concord.errors import ConfigError
from concord.files import read_toml

BY_NAME = {
    "gpt": r"gpt|chatgpt|o[134]",
    "claude": "claude|opus|sonnet|haiku",
    "gemini": "gemini|gemma",
    "llama": "llama",
    "mistral": "mistral|mixtral|ministral",
    "qwen": "qwen|qwq",
    "deepseek": "deepseek",
    "command": "command",
    "grok": "grok",
    "phi": "phi",
}
"""Families of models by a word that their names hold, before a digit or a sign."""


def families_of_names(names: Iterable[str]) -> tuple[tuple[str, str], ...]:
    """The names of models that say their family, such as “judge_gpt-4o”, with it; a name of two has none."""
    models = []
    for name in dict.fromkeys(names):
        families = [
            family
            for family, pattern in BY_NAME.items()
            if re.search(rf"(?<![a-z])(?:{pattern})(?![a-z])", name.casefold())
        ]
        if len(families) == 1:
            models.append((name, families[0]))
    return tuple(models)


def families(path: Path) -> tuple[tuple[str, str], ...]:
    """The models that have a family, with it, by name. Raises ConfigError for one that is no text."""
    entries = read_toml(path).get("models", {}) if path.exists() else {}
    pairs = []
    for name, entry in entries.items() if isinstance(entries, dict) else ():
        family = entry.get("family", "") if isinstance(entry, dict) else ""
        if not isinstance(family, str):
            raise ConfigError(f'{path}: [models.{name}] “family” is a text, such as family = "gpt".')
        if family:
            pairs.append((str(name), family))
    return tuple(sorted(pairs))
