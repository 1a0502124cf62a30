"""Decisions about stored tasks: a person accepts, edits or rejects a proposal."""

from collections.abc import Mapping
from typing import Any

from pydantic import ValidationError
from sqlite_utils import Database

from concord.benchmarks.simulbench import proposals
from concord.benchmarks.simulbench.proposals import Proposed
from concord.benchmarks.simulbench.tasks import STORED, TASK, TYPES, SimulationTask
from concord.errors import ConcordError
from concord.llm.replies import Unusable
from concord.scenario import Scenario
from concord.store import scenarios

WORDS = {"act": "The name", "task_description": "The description", "request_type": "The kind of request"}
"""What a person may change of a task, in their words."""
ACCEPTED_BY = "_accepted_by"
"""The key in a rejected task's body that names who had accepted it."""


def accept(db: Database, key: str, by: str, edited: Mapping[str, Any] | None = None) -> Scenario:
    """Accept a task. `edited` may hold another act, task_description, request_type, type and strategies.

    Who and when is kept, and so is what the model had proposed. Raises NotFound, or ConcordError for an edit
    that is no task.
    """
    known = scenarios.get(db, STORED, TASK, key)
    before = {name: value for name, value in known.body.items() if name != ACCEPTED_BY}
    if not edited:
        return scenarios.decide(db, STORED, TASK, key, "accepted", by, before)
    allowed = set(SimulationTask.model_fields) - {"id", "source"}
    changed = {name: value for name, value in edited.items() if name in allowed}
    for name, words in WORDS.items():
        if name in changed and not str(changed[name]).strip():
            raise ConcordError(f"{words} is empty.")
    if changed.get("type", TYPES[0]) not in TYPES:
        raise ConcordError(f"“{changed['type']}” is no type of task: it must be {' or '.join(TYPES)}.")
    body = {**before, **changed}
    try:
        task = SimulationTask.model_validate({**body, "id": key})
        proposals.check(
            Proposed(
                task_name=task.act, task_description=task.task_description, request_type=task.request_type
            )
        )
    except ValidationError as error:
        where = str(error.errors()[0]["loc"][0])
        raise ConcordError(f"{WORDS.get(where, f'“{where}”')} cannot be kept so.") from error
    except Unusable as error:
        message = str(error)
        for name, words in WORDS.items():
            message = message.replace(f'"{name}"', words)
        raise ConcordError(message) from error
    if body != before and "proposed" not in body:
        body["proposed"] = {
            name: known.body.get(name) for name in changed if known.body.get(name) != changed[name]
        }
    return scenarios.decide(db, STORED, TASK, key, "accepted", by, body)


def reject(db: Database, key: str, by: str) -> Scenario:
    """Reject a task; it stays in the store, and neither it nor its scripts are used. Raises NotFound."""
    known = scenarios.get(db, STORED, TASK, key)
    kept = {ACCEPTED_BY: known.decided_by} if known.state == "accepted" else {}
    return scenarios.decide(db, STORED, TASK, key, "rejected", by, {**known.body, **kept})


def reopen(db: Database, key: str) -> Scenario:
    """Take a decision back. Raises NotFound.

    A task accepted before it was rejected is accepted again; any other waits again, as it was proposed.
    """
    known = scenarios.get(db, STORED, TASK, key)
    body = dict(known.body)
    accepted_by = body.pop(ACCEPTED_BY, None)
    if known.state == "rejected" and accepted_by is not None:
        return scenarios.decide(db, STORED, TASK, key, "accepted", accepted_by, body)
    body |= body.pop("proposed", None) or {}
    return scenarios.decide(db, STORED, TASK, key, "proposed", "", body)
