"""Decisions about stored tasks: a person accepts, edits or rejects a proposal."""

from collections.abc import Mapping

from sqlite_utils import Database

from concord.benchmarks.simulbench.proposals import Proposed, check
from concord.benchmarks.simulbench.tasks import STORED, TASK, SimulationTask
from concord.errors import ConcordError
from concord.files import valid
from concord.llm.replies import Unusable
from concord.scenario import Scenario
from concord.store import scenarios


def accept(db: Database, key: str, by: str, edited: Mapping[str, str] | None = None) -> Scenario:
    """Accept a task. `edited` may hold another act, task_description, request_type and type.

    Who and when is kept, and so is what the model had proposed. Raises NotFound, or ConcordError for an edit
    that is no task.
    """
    known = scenarios.get(db, STORED, TASK, key)
    body = {**known.body, **(edited or {})}
    if edited:
        where = "It cannot be kept so"
        valid(SimulationTask, {**body, "id": key}, where, ConcordError)
        task = {name: body[of] for name, of in _NAMES.items()}
        try:
            check(valid(Proposed, task, where, ConcordError))
        except Unusable as error:
            raise ConcordError(str(error)) from error
    if changed := {name: known.body.get(name) for name in body if body[name] != known.body.get(name)}:
        body.setdefault("proposed", changed)
    return scenarios.decide(db, STORED, TASK, key, "accepted", by, body)


_NAMES = {"task_name": "act", "task_description": "task_description", "request_type": "request_type"}
"""The names of the published tasks' generator, and ours."""


def reject(db: Database, key: str, by: str) -> Scenario:
    """Reject a task; it stays in the store, and neither it nor its scripts are used. Raises NotFound."""
    return scenarios.decide(db, STORED, TASK, key, "rejected", by)
