"""The review of proposed tasks: what the browser is sent, and what it reports."""

from collections.abc import Sequence
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field
from sqlite_utils import Database

from concord.benchmarks.simulbench import review
from concord.benchmarks.simulbench.review import Review
from concord.benchmarks.simulbench.tasks import STORED, TASK, TYPES, SimulationTask
from concord.runs.benchmark import Materials
from concord.store import scenarios
from pages.desk.review.component import AHEAD, LINE, Moving, name

SHOWN = ("act", "task_description", "request_type", "type")


class Edited(BaseModel):
    """The fields that were changed."""

    model_config = ConfigDict(extra="ignore")
    act: str | None = Field(None, max_length=200)
    task_description: str | None = Field(None, max_length=20_000)
    request_type: str | None = Field(None, max_length=400)
    type: Literal["stateless", "stateful"] | None = None


class Decided(BaseModel):
    """What was decided about a task; `proposed` takes the decision back."""

    item: str
    state: Literal["proposed", "accepted", "rejected"]
    edited: Edited | None = None


def fixed(person: str, back: str) -> dict[str, Any]:
    """The constant part of what the browser is sent."""
    return {
        "desk": name("tasks", person),
        "kind": "task",
        "title": "Proposed tasks",
        "you": person,
        "back": back,
        "types": list(TYPES),
        "over": "All decided – thank you!",
        "nothing": "No task waits for a decision",
    }


def moving(db: Database, brought: Materials, wanted: Sequence[int | str] | None) -> Moving:
    """What waits for a decision; the tasks asked for."""
    line = scenarios.keys(db, STORED, TASK, "proposed")
    known = set(scenarios.keys(db, STORED, TASK))
    asked = line[: AHEAD + 1] if wanted is None else [str(key) for key in wanted if key in known]
    everything = review.known(db, brought) if asked else {}
    waiting = frozenset(line)
    items = [item(review.review(db, brought, key), everything, waiting) for key in asked]
    return Moving(line[:LINE], len(line), len(known), items)


def apply(db: Database, person: str, event: Decided) -> None:
    """Keep the decision, or take it back. Raises ConcordError for an edit that is no task."""
    if event.state == "proposed":
        review.reopen(db, event.item)
    elif event.state == "rejected":
        review.reject(db, event.item, person)
    else:
        review.accept(
            db, event.item, person, event.edited.model_dump(exclude_none=True) if event.edited else None
        )


def item(found: Review, everything: dict[str, SimulationTask], waiting: frozenset[str]) -> dict[str, Any]:
    """A task as it is shown, with the known tasks it resembles in full."""
    body = found.scenario.body
    words = {field: getattr(found.task, field) for field in SHOWN}
    by = f"by {body['model']}" if body.get("model") else f"from {found.scenario.source}"
    return {
        "id": found.task.id,
        "task": words,
        "proposed": {
            **words,
            **{k: v for k, v in dict(body.get("proposed") or {}).items() if k in SHOWN and v},
        },
        "state": found.scenario.state,
        "facts": [found.task.type, f"proposed {by}", *(["a mock"] if body.get("simulated") else [])],
        "resembles": [
            {
                "act": everything[like.task].act,
                "value": like.value,
                "facts": [everything[like.task].type, "waits as well" if like.task in waiting else "in use"],
                "task_description": everything[like.task].task_description,
            }
            for like in found.resembles[:5]
            if like.task in everything
        ],
    }
