"""Entries of models.toml by kind of endpoint, as data/presets.toml has them."""

import json
import os
import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from concord.errors import ConfigError, check_known
from concord.files import SHIPPED, kept_toml
from concord.llm.entries import append_entry
from concord.llm.models import Model, load_models, read_entry
from concord.table import Column, Table

_BLANK = re.compile(r"\b[A-Z]{3,}\b")
"""A placeholder in an address, which the user replaces."""


def presets() -> Mapping[str, Mapping[str, Any]]:
    """The settings of an entry by kind of endpoint; `about` is no setting but says what differs there."""
    entries: dict[str, dict[str, Any]] = kept_toml(SHIPPED / "data" / "presets.toml")["presets"]
    return entries


def add(path: Path, name: str, *, preset: str, **values: Any) -> str:
    """Append an entry to models.toml and return its lines; nothing else in the file changes.

    `values` are settings in place of the preset's (model, base_url, api_key_env, family, price); None leaves
    the preset's, “” writes none.
    Raises NotFound for an unknown preset, ConfigError where the name is taken or a setting is missing or
    wrong.
    """
    available = presets()
    check_known("preset", preset, available)
    if name in load_models(path):
        raise ConfigError(f"“{name}” is in {path} already. Choose another name, or edit that entry.")
    stated_values = {key: value for key, value in values.items() if value is not None}
    settings_of_preset = {"model": "", **available[preset], **stated_values}
    settings = {key: value for key, value in settings_of_preset.items() if key != "about" and value != ""}
    url = str(settings.get("base_url", ""))
    if url == available[preset].get("base_url") and (word := blank(url)):
        raise ConfigError(
            f"The preset “{preset}” needs an address (--base-url): {url} with your name for {word}."
        )
    read_entry(path, name, settings)
    return append_entry(path, name, settings)


def blank(address: str) -> str:
    """The placeholder in a preset's address, which the user replaces; “” where it has none."""
    match = _BLANK.search(address)
    return match[0] if match else ""


def listed(models: Iterable[Model], money: str) -> Table:
    """Where models are served, what is sent, their price, and whether their key is set; never the key."""
    titles = {"price": f"Price per million tokens{f', {money}' if money else ''}"}
    names = ("name", "kind", "model", "endpoint", "key", "family", "price", "settings")
    columns = tuple(Column(name, titles.get(name, name.capitalize())) for name in names)
    return Table("models", "Models", columns, tuple(map(_row, models)))


def _row(model: Model) -> dict[str, str]:
    configuration = model.configuration
    price = model.price
    variables = [f"{name}{'' if os.environ.get(name) else ' (not set)'}" for name in model.variables]
    parameters_of_row = {"system": model.system, "replies": model.replies, **configuration.parameters}
    default = {"system": "native", "replies": "json_schema"}
    settings = (
        f"{name} {value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)}"
        for name, value in parameters_of_row.items()
        if default.get(name) != value
    )
    return {
        "name": model.name,
        "kind": model.kind,
        "model": model.served,
        "endpoint": configuration.endpoint,
        "key": ", ".join(variables) or "none needed",
        "family": model.family,
        "price": f"{price.input:g} in, {price.output:g} out" if price else "not known",
        "settings": "; ".join(settings),
    }
