"""Plans: the four kinds of work a run can do, as frozen values that the store keeps, and how it is done."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, TypedDict

from concord.errors import ConfigError

Models = Mapping[str, tuple[str, ...]]
"""Names of models.toml by role."""
Where = Mapping[str, tuple[str, ...]]
"""A filter of stored conversations: the values allowed by name of a facet, or of `language` or `player`."""


PROPOSER = "proposer"
"""The role of a model that proposes scenarios."""


@dataclass(frozen=True)
class PlayPlan:
    """Play a benchmark and judge what was played. The same plan gives the same keys."""

    benchmark: str
    models: Models
    options: Mapping[str, Any] = field(default_factory=dict)

    def one(self, role: str) -> str:
        """The model of a role that takes one."""
        return self.models[role][0]

    def perhaps(self, role: str) -> str:
        """The model of a role that may be left empty; “” if it is."""
        return next(iter(self.models.get(role, ())), "")


@dataclass(frozen=True)
class _OfJudges:
    """What plans that only judge have in common."""

    benchmark: str
    judges: tuple[str, ...]

    @property
    def models(self) -> Models:
        """The models by role."""
        return {"judges": self.judges}


@dataclass(frozen=True)
class JudgePlan(_OfJudges):
    """Have judges rate the stored conversations of a benchmark."""

    where: Where = field(default_factory=dict)
    version: str = ""
    """Version of the prompt; empty for the benchmark's own. Of a rubric, the number."""
    judge_repeats: int = 1
    rubric: str = ""
    """The rubric they rate by; empty for the benchmark's questions."""
    among: tuple[str, ...] = ()
    """The keys of the conversations they rate; empty for all that `where` allows."""


@dataclass(frozen=True)
class ComparePlan(_OfJudges):
    """Have judges compare the stored conversations of some players two by two, each pair in both orders.

    The players need not be in models.toml: their conversations are stored.
    """

    players: tuple[str, ...] = ()
    where: Where = field(default_factory=dict)
    version: str = ""
    judge_repeats: int = 1
    study: str = ""
    """The study of pairs that they compare, by its rubric; empty for the benchmark's question."""


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
        return {PROPOSER: (self.model,)}


Plan = PlayPlan | JudgePlan | ComparePlan | ProposePlan

KINDS: Mapping[str, type[Plan]] = {
    "play": PlayPlan,
    "judge": JudgePlan,
    "compare": ComparePlan,
    "propose": ProposePlan,
}


class RunOptions(TypedDict, total=False):
    """How a run is carried out."""

    max_cost: float | None
    """It stops there (see `concord.runs.budget`); None: nowhere."""
    retry_failed: bool
    """Retry calls without a usable reply."""
    batch: bool
    """Send calls in batches; the run ends when all wait at the endpoint."""
    wait: bool
    """Stay until batches are answered."""


def as_dict(plan: Plan) -> dict[str, Any]:
    """The plan as plain values."""
    kind = next(name for name, plan_class in KINDS.items() if isinstance(plan, plan_class))
    values: dict[str, Any] = json.loads(json.dumps({"kind": kind, **asdict(plan)}))
    return values


def from_dict(values: Mapping[str, Any]) -> Plan:
    """The plan of stored values. Raises ConfigError if they are not a plan."""
    try:
        return _plan(values)
    except (KeyError, TypeError, AttributeError, ValueError) as error:
        lacks = f"it lacks {error}" if isinstance(error, KeyError) else str(error)
        raise ConfigError(
            f"This plan of a run cannot be read: {lacks.rstrip('.')}. It was written by another program, "
            "or by a development version of Concord. Start the run again."
        ) from error


def _plan(plan_values: Mapping[str, Any]) -> Plan:
    values = dict(plan_values)
    kind = values.pop("kind")
    for name in ("models", "where"):
        if name in values:
            values[name] = {key: tuple(allowed) for key, allowed in values[name].items()}
    for name in ("judges", "players", "types", "among"):
        if name in values:
            values[name] = tuple(values[name])
    return KINDS[kind](**values)
