"""Refuse a model whose entry in models.toml changed after results were stored."""

from collections.abc import Mapping
from dataclasses import replace

from concord.configuration import Configuration
from concord.errors import ConfigError
from concord.llm.models import Model
from concord.store import configurations
from concord.workspace import Workspace


def refuse_changed(workspace: Workspace, models: Mapping[str, Model]) -> None:
    """Raises ConfigError if a model has results of another configuration than its entry says now."""
    if changed := _changed(workspace, models):
        name, what = next(iter(changed.items()))
        others = f" So has the entry of {', '.join(list(changed)[1:])}." if len(changed) > 1 else ""
        raise ConfigError(
            f"The entry of “{name}” in {workspace.models_path} has changed since results were "
            "stored under this name: "
            f"{'; '.join(what)}.{others} Results of two configurations would be mixed. "
            "Restore the old setting, or give the entry another name there and run under that name."
        )


def adapted(workspace: Workspace, models: Mapping[str, Model]) -> dict[str, Model]:
    """The models, each adapted to what its endpoint refused when its latest results were made."""
    with workspace.read() as db:
        before = configurations.latest(db, models)
    return {name: model.adapt(_refused(before.get(name))) for name, model in models.items()}


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
