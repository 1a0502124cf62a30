"""Entries of models.toml by kind of endpoint, as data/presets.toml has them."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from concord.errors import ConfigError, not_found
from concord.files import kept_toml
from concord.llm.models import append_entry, load_models, read_entry

FILE = "presets.toml"
_BLANK = re.compile(r"\b[A-Z]{3,}\b")
"""A placeholder in an address, which the user replaces."""


@dataclass(frozen=True)
class Preset:
    """A kind of endpoint: what differs there, in a sentence, and the settings of an entry."""

    name: str
    about: str
    settings: Mapping[str, Any]


def presets(folders: Sequence[Path]) -> dict[str, Preset]:
    """The presets by name; one in an earlier folder stands for one of the same name in a later.

    Raises ConfigError for a file that cannot be used.
    """
    found: dict[str, Preset] = {}
    for folder in reversed(folders):
        entries = kept_toml(folder / FILE).get("presets", {})
        if not isinstance(entries, dict) or not all(isinstance(entry, dict) for entry in entries.values()):
            raise ConfigError(f"{folder / FILE} may hold [presets.NAME] tables only.")
        for name, entry in entries.items():
            settings = {key: value for key, value in entry.items() if key != "about"}
            found[name] = Preset(name, str(entry.get("about", "")), settings)
    return dict(sorted(found.items()))


def find(known: Mapping[str, Preset], name: str) -> Preset:
    """A preset by name. Raises NotFound."""
    if name not in known:
        raise not_found("preset", name, known)
    return known[name]


def add(
    path: Path, known: Mapping[str, Preset], name: str, *, preset: str, model: str, **given: str | None
) -> str:
    """Append an entry to models.toml and return its lines; nothing else in the file changes.

    `given` are settings in place of the preset's (base_url, api_key_env). Raises NotFound for an unknown
    preset, ConfigError where the name is taken or a setting is missing or wrong.
    """
    chosen = find(known, preset)
    if name in load_models(path):
        raise ConfigError(f"“{name}” is in {path} already. Choose another name, or edit the entry there.")
    own = {key: value for key, value in given.items() if value is not None}
    settings = {"model": model, **chosen.settings, **own}
    if blank := _BLANK.search(str(settings.get("base_url", ""))):
        raise ConfigError(
            f"The preset “{preset}” needs --base-url: {settings['base_url']} with your name for {blank[0]}."
        )
    read_entry(path, name, settings)
    return append_entry(path, name, settings)
