"""The model behind a result: its configuration in models.toml and what its endpoint reported."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from functools import cached_property
from typing import Any, NamedTuple


@dataclass(frozen=True)
class Configuration:
    """A model as models.toml described it when it was called: its name there and the `model` at the endpoint.

    `endpoint` is an address without credentials; `parameters` are those of the entry, not of the prompt.
    """

    nickname: str
    endpoint: str
    model: str
    kind: str
    parameters: Mapping[str, Any]
    system: str
    replies: str

    @cached_property
    def hash(self) -> str:
        """Equal for equal configurations."""
        values = {field.name: getattr(self, field.name) for field in fields(self)}
        return hashlib.sha256(json.dumps(values, sort_keys=True).encode()).hexdigest()[:16]

    def __str__(self) -> str:
        return f"{self.model} at {self.endpoint}"

    def changes(self, now: Configuration) -> list[str]:
        """What is different now, such as “model is gpt-5, was gpt-4o”."""
        both = zip(asdict(self).items(), asdict(now).values(), strict=True)
        return [f"{name} is {_shown(new)}, was {_shown(old)}" for (name, old), new in both if new != old]


class Reported(NamedTuple):
    """The model's id and `system_fingerprint` in an endpoint's answer; “” if it gave none."""

    model: str = ""
    fingerprint: str = ""


UNREPORTED = Reported()


@dataclass(frozen=True)
class Use:
    """A configuration behind a result (None if not recorded), and how often which model was reported."""

    configuration: Configuration | None
    reported: Mapping[Reported, int]

    def __str__(self) -> str:
        if self.configuration is None:
            return "configuration not recorded"
        models = sorted({report.model for report in self.reported if report.model})
        if not models:
            return str(self.configuration)
        named = f"{len(models)} different models: {', '.join(models)}" if len(models) > 1 else models[0]
        return f"{self.configuration}; the endpoint reported {named}"

    def as_dict(self) -> dict[str, Any]:
        """Plain values, for a file."""
        settings = asdict(self.configuration) if self.configuration else {}
        return {**settings, "reported": [[*report, count] for report, count in self.reported.items()]}

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Use:
        """What `as_dict` gave. Raises KeyError, TypeError or ValueError for anything else."""
        texts = {
            name: str(values[name]) for name in ("nickname", "endpoint", "model", "kind", "system", "replies")
        }
        reported = {Reported(str(model), str(mark)): int(count) for model, mark, count in values["reported"]}
        return cls(Configuration(**texts, parameters=dict(values["parameters"])), reported)


def _shown(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, sort_keys=True)
