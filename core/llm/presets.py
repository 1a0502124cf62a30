"""Entries of models.toml by kind of endpoint, as data/presets.toml has them."""

import json
import os
import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from concord.errors import ConfigError, check_known
from concord.files import SHIPPED, kept_toml
from concord.llm.models import Model, append_entry, load_models, read_entry
from concord.table import Column, Table

_BLANK = re.compile(r"\b[A-Z]{3,}\b")
"""A placeholder in an address, which the user replaces."""


def presets() -> Mapping[str, Mapping[str, Any]]:
    """The settings of an entry by kind of endpoint; `about` is no setting but says what differs there."""
    entries: dict[str, dict[str, Any]] = kept_toml(SHIPPED / "data" / "presets.toml")["presets"]
    return entries


def add(path: Path, name: str, *, preset: str, **given: Any) -> str:
    """Append an entry to models.toml and return its lines; nothing else in the file changes.

    `given` are settings in place of the preset's (model, base_url, api_key_env); None leaves the preset's.
    Raises NotFound for an unknown preset, ConfigError where the name is taken or a setting is missing or
    wrong.
    """
    available = presets()
    check_known("preset", preset, available)
    if name in load_models(path):
        raise ConfigError(f"“{name}” is in {path} already. Choose another name, or edit the entry there.")
    own = {key: value for key, value in given.items() if value is not None}
    settings = {"model": "", **available[preset], **own}
    del settings["about"]
    if "base_url" not in own and (blank := _BLANK.search(str(settings.get("base_url", "")))):
        raise ConfigError(
            f"The preset “{preset}” needs --base-url: {settings['base_url']} with your name for {blank[0]}."
        )
    read_entry(path, name, settings)
    return append_entry(path, name, settings)


def listed(models: Iterable[Model], money: str) -> Table:
    """Where models are served, what is sent, their price, and whether their key is set; never the key."""
    titles = {"price": f"Price per million tokens{f', {money}' if money else ''}"}
    names = ("name", "kind", "model", "endpoint", "key", "family", "price", "settings")
    columns = tuple(Column(name, titles.get(name, name.capitalize())) for name in names)
    return Table("models", "Models", columns, tuple(map(_row, models)))


def _row(model: Model) -> dict[str, str]:
    configuration, price = model.configuration, model.price
    variables = [f"{name}{'' if os.environ.get(name) else ' (not set)'}" for name in model.variables]
    given = {"system": model.system, "replies": model.replies, **configuration.parameters}
    default = {"system": "native", "replies": "json_schema"}
    settings = (
        f"{name} {value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)}"
        for name, value in given.items()
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
