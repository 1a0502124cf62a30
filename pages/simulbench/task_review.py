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
from pages.desk import form
from pages.desk.component import name
from pages.desk.form import DeskEvent, Moving

SHOWN = ("act", "task_description", "request_type", "type")


class Edited(BaseModel):
    """The fields that were changed."""

    model_config = ConfigDict(extra="ignore")
    act: str | None = Field(None, max_length=200)
    task_description: str | None = Field(None, max_length=20_000)
    request_type: str | None = Field(None, max_length=400)
    type: Literal["stateless", "stateful"] | None = None


class Decided(DeskEvent):
    """What was decided about a task, also with other words; None takes the decision back."""

    edited: Edited | None = None


DECISION = {
    "name": "decision",
    "label": "Decision",
    "statement": "",
    "options": [
        {"value": "accepted", "shown": "Accept", "label": "Accept", "key": "a"},
        {"value": "rejected", "shown": "Reject", "label": "Reject", "key": "x"},
    ],
    "reason": "",
    "required": True,
    "across": True,
}


def fixed(person: str, back: str) -> dict[str, Any]:
    """The constant part of what the browser is sent."""
    over, nothing = "All decided – thank you!", "No task waits for a decision"
    desk = name("tasks", person)
    more = {"types": list(TYPES), "raw": "prose"}
    return form.fixed(
        desk, "task", "Proposed tasks", person, back, [DECISION], over=over, nothing=nothing, **more
    )


def moving(db: Database, brought: Materials, wanted: Sequence[int | str] | None) -> Moving:
    """What waits for a decision, what was decided; the tasks asked for."""
    waiting, known = scenarios.keys(db, STORED, TASK, "proposed"), scenarios.keys(db, STORED, TASK)
    there, still = {*known}, {*waiting}
    shown, count = form.windowed([(key, "open" if key in still else "done", False) for key in known])
    asked = [str(key) for key in form.ahead(shown, wanted) if key in there]
    everything = review.known(db, brought) if asked else {}
    items = [item(review.review(db, brought, key), everything, frozenset(waiting)) for key in asked]
    return Moving(shown, items, count)


def apply(db: Database, person: str, event: Decided) -> None:
    """Keep the decision, or take it back. Raises ConcordError for an edit that is no task."""
    key = str(event.item)
    if event.do != "answer":
        return
    if event.score is None:
        review.reopen(db, key)
    elif event.score == "rejected":
        review.reject(db, key, person)
    else:
        edited = event.edited.model_dump(exclude_none=True) if event.edited else None
        review.accept(db, key, person, edited or None)


def item(found: Review, everything: dict[str, SimulationTask], waiting: frozenset[str]) -> dict[str, Any]:
    """A task as it is shown, with the known tasks it resembles in full."""
    body, task, state = found.scenario.body, found.task, found.scenario.state
    by = f"by {body['model']}" if body.get("model") else f"from {found.scenario.source}"
    request = {"turn": None, "reply": True, "speaker": "Task", "text": task.task_description}
    alike = []
    for like in found.resembles[:5]:
        if other := everything.get(like.task):
            where = "waits as well" if like.task in waiting else "in use"
            about = f"{other.act}, {round(100 * like.value)} % alike, {other.type}, {where}"
            alike.append([about, other.task_description])
    return {
        "id": task.id,
        "turn": None,
        "language": "en",
        "about": {
            "title": task.act,
            "facts": [task.type, f"proposed {by}", *(["a mock"] if body.get("simulated") else [])],
            "tags": [],
        },
        "said": [request],
        "context": [["Every request is", task.request_type]],
        "task": {name: getattr(task, name) for name in SHOWN},
        "beside": {
            "decision": {
                "score": "" if alike else "It resembles no known task",
                "said": alike,
                "own": None,
            }
        },
        "answers": {} if state == "proposed" else {"decision": state},
        "reasons": {},
        "state": "open" if state == "proposed" else "done",
        "reason": "",
        "flag": "",
    }
