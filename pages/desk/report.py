"""What a desk in a browser may report at once: the bounds, checked before anything is read from it.

A desk of ours stays far below them (`outbox.js`), so that whoever passes them is no desk.
"""

from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from concord.errors import StudyError
from concord.questions import MOST_WORDS

EVENTS = 20
"""Events of one report, as many as `outbox.js` sends. How many reports come, `server.bounds` says."""
WINDOWS = 50
"""Windows of one browser that one report may speak for."""
ITEMS = 50
"""Items that one report may ask for."""
ID = 500
"""Characters of an item's id."""
TEXT = MOST_WORDS
"""Characters of any text in an event; each kind of event has closer limits of its own."""
NUMBER = 2**53
"""Browsers count exactly up to here, and SQLite stores it."""
DEPTH = 4
"""Lists and mappings within an event."""
Id = Annotated[int, Field(strict=True, gt=-NUMBER, lt=NUMBER)] | Annotated[str, Field(max_length=ID)]


class Report(BaseModel):
    """A report: its number, the events of each window, and the items wanted."""

    model_config = ConfigDict(extra="ignore")
    k: int = Field(ge=0, lt=NUMBER)
    boxes: dict[Annotated[str, Field(max_length=100)], list[dict[str, Any]]] = Field(max_length=WINDOWS)
    want: list[Id] = Field(max_length=ITEMS)


def checked(content: Mapping[str, Any]) -> dict[str, Any]:
    """A desk's report. An event out of bounds is there by its number alone, so that it is refused without the
    others: a browser reports it again until it is answered. Raises StudyError for what is no report.
    """
    try:
        report = Report.model_validate(content)
    except ValidationError as error:
        raise StudyError(UNREADABLE) from error
    events = [event for box in report.boxes.values() for event in box]
    if len(events) > EVENTS:
        raise StudyError(UNREADABLE)
    boxes = {client: [_bounded(event) for event in box] for client, box in report.boxes.items()}
    return {"k": report.k, "boxes": boxes, "want": list(dict.fromkeys(report.want))}


UNREADABLE = "The server could not read the last report of this page. Reload the page."


def _bounded(event: dict[str, Any]) -> dict[str, Any]:
    """An event; of one that is out of bounds only what says which it is."""
    if _is_small(event):
        return event
    return {name: event[name] for name in ("n", "at", "item") if name in event and _is_small(event[name])}


def _is_small(value: Any, depth: int = 0) -> bool:
    """Whether a value has bounded numbers, texts and depth; its size is bounded by that of the message."""
    match value:
        case str():
            return len(value) <= TEXT
        case int() | float():
            return abs(value) < NUMBER  # false for NaN
        case dict():
            return depth < DEPTH and all(
                len(key) <= ID and _is_small(element, depth + 1) for key, element in value.items()
            )
        case list():
            return depth < DEPTH and all(_is_small(element, depth + 1) for element in value)
    return value is None
