"""The family of each model, as models.toml says it; read without loading what calls models."""

from pathlib import Path

from concord.errors import ConfigError
from concord.files import read_toml


def families(path: Path) -> tuple[tuple[str, str], ...]:
    """The models that have a family, with it, by name. Raises ConfigError for one that is no text."""
    entries = read_toml(path).get("models", {}) if path.exists() else {}
    named = []
    for name, entry in entries.items() if isinstance(entries, dict) else ():
        family = entry.get("family", "") if isinstance(entry, dict) else ""
        if not isinstance(family, str):
            raise ConfigError(f'{path}: [models.{name}] “family” is a text, such as family = "gpt".')
        if family:
            named.append((str(name), family))
    return tuple(sorted(named))
