"""Plans: what a run is to do.

There are four kinds, each a frozen value that the store keeps and a process is started with.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import Any

Models = Mapping[str, tuple[str, ...]]
"""Names of models.toml by role."""
Where = Mapping[str, tuple[str, ...]]
"""Which stored conversations are meant: the values allowed by name of a facet, or of `language` or `player`.
"""


@dataclass(frozen=True)
class PlayPlan:
    """Play a benchmark and judge what was played: models by role and the chosen options.

    The same plan gives the same keys.
    """

    benchmark: str
    models: Models
    options: Mapping[str, Any] = field(default_factory=dict)

    def one(self, role: str) -> str:
        """The model of a role that takes one."""
        return self.models[role][0]

    def perhaps(self, role: str) -> str:
        """The model of a role that may be left empty; “” where it is."""
        return next(iter(self.models.get(role, ())), "")

    def renamed(self, names: Mapping[str, str]) -> PlayPlan:
        """The plan with some models under other names."""
        models = {role: tuple(names.get(n, n) for n in named) for role, named in self.models.items()}
        return replace(self, models=models)


@dataclass(frozen=True)
class JudgePlan:
    """Have judges rate the stored conversations of a benchmark."""

    benchmark: str
    judges: tuple[str, ...]
    where: Where = field(default_factory=dict)
    version: str = ""
    """Version of the prompt; the benchmark's own where empty."""
    judge_repeats: int = 1

    @property
    def models(self) -> Models:
        """The models by role."""
        return {"judges": self.judges}

    def renamed(self, names: Mapping[str, str]) -> JudgePlan:
        """The plan with some models under other names."""
        return replace(self, judges=tuple(names.get(n, n) for n in self.judges))


@dataclass(frozen=True)
class ComparePlan:
    """Have judges compare the stored conversations of some players two by two, each pair in both orders.

    The players need not be in models.toml: what they said is stored.
    """

    benchmark: str
    judges: tuple[str, ...]
    players: tuple[str, ...]
    where: Where = field(default_factory=dict)
    version: str = ""
    judge_repeats: int = 1

    @property
    def models(self) -> Models:
        """The models by role."""
        return {"judges": self.judges}

    def renamed(self, names: Mapping[str, str]) -> ComparePlan:
        """The plan with some models under other names."""
        return replace(self, judges=tuple(names.get(n, n) for n in self.judges))


@dataclass(frozen=True)
class ProposePlan:
    """Have a model propose scenarios of a benchmark: `count` of each type (all types where none is named).

    The same model, type, seed and number is the same call. Another seed draws other examples; a larger count
    continues a smaller one.
    """

    benchmark: str
    model: str
    types: tuple[str, ...] = ()
    count: int = 5
    seed: int = 0
    version: str = ""

    @property
    def models(self) -> Models:
        """The models by role."""
        return {"proposer": (self.model,)}

    def renamed(self, names: Mapping[str, str]) -> ProposePlan:
        """The plan with some models under other names."""
        return replace(self, model=names.get(self.model, self.model))


Plan = PlayPlan | JudgePlan | ComparePlan | ProposePlan

KINDS: Mapping[str, type[Plan]] = {
    "play": PlayPlan,
    "judge": JudgePlan,
    "compare": ComparePlan,
    "propose": ProposePlan,
}


def as_dict(plan: Plan) -> dict[str, Any]:
    """The plan as plain values, for the store and for a process to be started with."""
    kind = next(name for name, of in KINDS.items() if isinstance(plan, of))
    found: dict[str, Any] = json.loads(json.dumps({"kind": kind, **asdict(plan)}))
    return found


def from_dict(stored: Mapping[str, Any]) -> Plan:
    """The plan that was stored. Raises KeyError, TypeError or AttributeError for values that are none."""
    values = dict(stored if "kind" in stored else _with_kind(stored))
    kind = values.pop("kind")
    for name in ("models", "where"):
        if name in values:
            values[name] = {key: tuple(allowed) for key, allowed in values[name].items()}
    for name in ("judges", "players", "types"):
        if name in values:
            values[name] = tuple(values[name])
    return KINDS[kind](**values)


def _with_kind(stored: Mapping[str, Any]) -> dict[str, Any]:
    """A plan as it was stored before there were kinds: an option said what was to be done."""
    models, options = stored["models"], dict(stored["options"])
    common = {
        "benchmark": stored["benchmark"],
        "judges": models.get("judges", ()),
        "version": options.get("version", ""),
        "judge_repeats": options.get("judge_repeats", 1),
    }
    if options.get("stored_only"):
        language = options.get("language")
        return {"kind": "judge", **common, "where": {"language": [language]} if language else {}}
    if options.get("compare"):
        return {"kind": "compare", **common, "players": options["players"], "where": options["facets"]}
    if options.pop("propose", False):
        return {
            "kind": "propose",
            "benchmark": stored["benchmark"],
            "model": models["proposer"][0],
            **options,
        }
    return {"kind": "play", **stored}
