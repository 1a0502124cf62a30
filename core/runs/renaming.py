"""Refuse a model whose entry in models.toml changed after results were stored, or give it a new name."""

from collections.abc import Mapping
from dataclasses import replace

from concord.configuration import Configuration
from concord.errors import ConfigError
from concord.llm.models import Model, load_models, write_entry
from concord.runs.plans import Plan
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


def adapted(workspace: Workspace, models: Mapping[str, Model]) -> dict[str, Model]:
    """The models, each adapted to what its endpoint refused when its latest results were made."""
    with workspace.read() as db:
        before = configurations.latest(db, models)
    return {name: model.adapt(_refused(before.get(name))) for name, model in models.items()}


def as_new(workspace: Workspace, plan: Plan, name: str) -> Plan:
    """The plan with its changed model under a new name; its entry in models.toml is copied to that name.

    Raises ConfigError unless exactly one model of the plan has changed and the name is free.
    """
    models = load_models(workspace.models_path)
    used = {n: models[n] for names in plan.models.values() for n in names if n in models}
    changed = _changed(workspace, used)
    if len(changed) != 1:
        which = f"{', '.join(changed)} have changed: restore all but one." if changed else "None has."
        raise ConfigError(f"--as-new gives a new name to the one model whose entry has changed. {which}")
    [old] = changed
    copy = models[old].model_copy(update={"name": name})
    with workspace.read() as db:
        if configurations.taken(db, name) or models.get(name, copy) != copy:
            raise ConfigError(f"The name “{name}” is taken. Choose another one for --as-new.")
    if name not in models:
        write_entry(workspace.models_path, name, copy.model_dump(exclude={"name"}, exclude_unset=True))
    return plan.renamed(old, name)


def _changed(workspace: Workspace, models: Mapping[str, Model]) -> dict[str, list[str]]:
    """What has changed in the entries of models that have results, by name."""
    with workspace.read() as db:
        before = configurations.latest(db, models)
    changes = {}
    for name, was in before.items():
        now = models[name].adapt(_refused(was)).configuration
        changes[name] = _as_entered(was).changes(_as_entered(now))
    return {name: what for name, what in changes.items() if what}


def _refused(configuration: Configuration | None) -> Mapping[str, str]:
    refused: Mapping[str, str] = configuration.parameters.get("adapted", {}) if configuration else {}
    return refused


def _as_entered(configuration: Configuration) -> Configuration:
    """The configuration as if models.toml had said itself what the endpoint wants."""
    parameters = {name: value for name, value in configuration.parameters.items() if name != "adapted"}
    return replace(configuration, parameters=parameters)
