"""Models as they were called last, unless an entry of models.toml changed since results were stored."""

from collections.abc import Mapping
from dataclasses import replace

from concord.configuration import Configuration
from concord.errors import ConfigError
from concord.llm.models import Model
from concord.store import configurations
from concord.workspace import Workspace


def adapted(workspace: Workspace, models: Mapping[str, Model]) -> dict[str, Model]:
    """The models, each adapted to what its endpoint refused when its latest results were made.

    Raises ConfigError if a model has results of another configuration than its entry says now.
    """
    with workspace.read() as db:
        before = configurations.latest(db, models)
    refused = {name: was.parameters.get("adapted", {}) for name, was in before.items()}
    now = {name: model.adapt(refused.get(name, {})) for name, model in models.items()}
    changes = {n: _as_entered(w).changes(_as_entered(now[n].configuration)) for n, w in before.items()}
    changed = {name: what for name, what in changes.items() if what}
    for name, what in changed.items():
        others = f" So has the entry of {', '.join(list(changed)[1:])}." if len(changed) > 1 else ""
        raise ConfigError(
            f"The entry of “{name}” in {workspace.models_path} has changed since results were "
            "stored under this name: "
            f"{'; '.join(what)}.{others} Results of two configurations would be mixed. "
            "Restore the old setting, or give the entry another name there and run under that name."
        )
    return now


def _as_entered(configuration: Configuration) -> Configuration:
    """The configuration as if models.toml had said itself what the endpoint wants."""
    parameters = {name: value for name, value in configuration.parameters.items() if name != "adapted"}
    return replace(configuration, parameters=parameters)
