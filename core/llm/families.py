"""The name and the family of each model, as models.toml says them; read without loading what calls models."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from concord.errors import ConfigError
from concord.files import read_toml


def families(path: Path) -> tuple[tuple[str, str], ...]:
    """The models that have a family, with it, by name. Raises ConfigError for one that is no text."""
    named = []
    for name, entry in _entries(path).items():
        family = entry.get("family", "") if isinstance(entry, dict) else ""
        if not isinstance(family, str):
            raise ConfigError(f'{path}: [models.{name}] “family” is a text, such as family = "gpt".')
        if family:
            named.append((str(name), family))
    return tuple(sorted(named))


def model_names(path: Path) -> tuple[str, ...]:
    """The names of the models; none without a file."""
    return tuple(map(str, _entries(path)))


def _entries(path: Path) -> Mapping[str, Any]:
    entries = read_toml(path).get("models", {}) if path.exists() else {}
    return entries if isinstance(entries, dict) else {}
