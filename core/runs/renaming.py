"""Refuse a model whose entry in models.toml changed after results were stored, or give it a new name."""

import json
from collections.abc import Mapping

from concord.benchmarks.plans import Plan
from concord.errors import ConfigError
from concord.files import as_toml
from concord.llm.models import Model, load_models
from concord.store import configurations
from concord.workspace import Workspace


class ChangedModel(ConfigError):
    """A model has results of another configuration than its entry in models.toml says now."""


def refuse_changed(workspace: Workspace, models: Mapping[str, Model]) -> None:
    """Raises ChangedModel if a model has results of another configuration than its entry says now."""
    if changed := _changed(workspace, models):
        name, what = next(iter(changed.items()))
        others = f" So has the entry of {', '.join(list(changed)[1:])}." if len(changed) > 1 else ""
        raise ChangedModel(
            f"The entry of “{name}” in {workspace.models_path} has changed since results were "
            "stored under this name: "
            f"{'; '.join(what)}.{others} Results of two configurations would be mixed. "
            "Restore the old setting, or go on under another name with --as-new NAME."
        )


def as_new(workspace: Workspace, plan: Plan, name: str) -> Plan:
    """The plan with its changed model under a new name; its entry in models.toml is copied to that name.

    Raises ConfigError unless exactly one model of the plan has changed and the name is free.
    """
    known = load_models(workspace.models_path)
    used = {n: known[n] for names in plan.models.values() for n in names if n in known}
    changed = _changed(workspace, used)
    if len(changed) != 1:
        told = f"{', '.join(changed)} have changed: restore all but one." if changed else "None has."
        raise ConfigError(f"--as-new gives a new name to the one model whose entry has changed. {told}")
    [old] = changed
    copy = known[old].model_copy(update={"name": name})
    with workspace.read() as db:
        if configurations.taken(db, name) or known.get(name, copy) != copy:
            raise ConfigError(f"The name “{name}” is taken. Choose another one for --as-new.")
    if name not in known:
        with workspace.models_path.open("a", encoding="utf-8") as file:
            entry = copy.model_dump(exclude={"name"}, exclude_unset=True)
            file.write(f"\n[models.{json.dumps(name, ensure_ascii=False)}]\n{as_toml(entry)}")
    return plan.renamed(old, name)


def _changed(workspace: Workspace, models: Mapping[str, Model]) -> dict[str, list[str]]:
    """What has changed in the entries of models that have results, by name."""
    with workspace.read() as db:
        before = configurations.latest(db, models)
    found = {name: before[name].changes(models[name].configuration) for name in before}
    return {name: what for name, what in found.items() if what}
