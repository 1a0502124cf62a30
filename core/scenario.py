"""What a benchmark is run on and lives in the workspace: a Scenario, and whether it may be used."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

State = Literal["proposed", "accepted", "rejected", "discarded"]
"""Proposed waits for a person, who accepts or rejects; discarded by a rule, as it tells nobody apart."""


@dataclass(frozen=True)
class Scenario:
    """A task, a script: brought from a file, proposed by a model, or cut from a dialogue. `body` is the
    benchmark's own.

    `key` is unique within benchmark and kind; `source` says where it came from, `decided_by` and `decided`
    who settled its state and when (empty while nobody has).
    """

    benchmark: str
    kind: str
    key: str
    body: Mapping[str, Any]
    state: State
    source: str
    decided_by: str = ""
    decided: str | None = None
    created: str = ""
