"""Models added, changed and removed in a workspace, each with its line of the audit log."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from concord.codes import AuditAct
from concord.files import limits, read_text
from concord.llm import entries, keys, presets
from concord.store import audit
from concord.workspace import Workspace


@dataclass(frozen=True)
class Change:
    """A change of models.toml: what was done, its text before and after, and the lines that were written."""

    act: str
    before: str
    after: str
    lines: str = ""


def add(workspace: Workspace, name: str, *, preset: str, **settings: Any) -> Change:
    """Add a model, as `presets.add` does. Raises NotFound, ConfigError."""
    with _recorded(workspace, AuditAct.MODEL_ADDED, name, {"preset": preset, **settings}) as before:
        lines = presets.add(workspace.models_path, name, preset=preset, **settings)
    return Change("added", before, _text(workspace), lines)


def change(workspace: Workspace, name: str, settings: Mapping[str, Any]) -> Change:
    """Change settings of a model, as `entries.change_entry` does; None removes one. Raises ConfigError."""
    with _recorded(workspace, AuditAct.MODEL_CHANGED, name, settings) as before:
        lines = entries.change_entry(workspace.models_path, name, settings)
    return Change("changed", before, _text(workspace), lines)


def remove(workspace: Workspace, name: str) -> Change:
    """Remove a model; what it said and judged stays stored. Raises ConfigError."""
    with _recorded(workspace, AuditAct.MODEL_REMOVED, name, {}) as before:
        entries.remove_entry(workspace.models_path, name)
    return Change("removed", before, _text(workspace))


def set_currency(workspace: Workspace, currency: str) -> Change:
    """Say what prices are in; “” for nothing said. Raises ConfigError."""
    with _recorded(workspace, AuditAct.CURRENCY_SET, currency or "none", {}) as before:
        entries.set_currency(workspace.models_path, currency)
    return Change("currency", before, _text(workspace))


def undo(workspace: Workspace, past_change: Change) -> None:
    """Give models.toml the text it had before a change. Raises ConfigError if it was changed since."""
    with _recorded(workspace, AuditAct.MODELS_RESTORED, past_change.act, {}):
        entries.restore(workspace.models_path, past_change.before, past_change.after)


@contextmanager
def _recorded(workspace: Workspace, act: AuditAct, name: str, settings: Mapping[str, Any]) -> Iterator[str]:
    """The text of models.toml before; the line of the log stays only where the change succeeds."""
    before = _text(workspace)
    facts = "" if keys.holds_key(dict(settings)) else audit.facts(**settings)
    with workspace.write() as db:
        audit.record(db, act, detail="; ".join(filter(None, [name, facts])))
        yield before


def _text(workspace: Workspace) -> str:
    path = workspace.models_path
    return read_text(path, most=limits.TOML_BYTES) if path.exists() else ""
