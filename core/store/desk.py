"""What an annotator's browser reports from the desk: applied in order, and once however often it arrives."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Literal

from pydantic import BaseModel, Field, ValidationError
from sqlite_utils import Database

from core.errors import ConcordError, StudyError
from core.store import studies
from core.store.database import now


class Event(BaseModel):
    """One thing done at the desk. `n` counts the events of one browser from 1; `seconds` is time at work on the item since the last."""

    n: int = Field(ge=1)
    item: int
    do: Literal["answer", "submit", "skip", "reopen", "flag", "time"]
    criterion: str = ""
    score: float | None = None
    text: str = Field("", max_length=4000)
    seconds: float = Field(0.0, ge=0, le=3600, allow_inf_nan=False)


@dataclass(frozen=True)
class Refusal:
    """An event that could not be applied, and why: a sentence for the annotator."""

    n: int
    item: int
    message: str


def apply(db: Database, rater: int, client: str, events: Iterable[Any]) -> tuple[int, list[Refusal]]:
    """Apply what one browser reports; returns the number of its last event in the store, and what was refused.

    The report is the browser's whole backlog: events at or below the mark were applied earlier and are passed over. An event
    that breaks a rule (an item that was taken back, a score off the scale) is refused and passed, so that it cannot
    hold up those behind it. The mark moves in the same transaction as the answers. Raises StudyError for what is no report.
    """
    told = sorted((_read(event) for event in events), key=lambda event: event.n)
    last = mark(db, rater, client)
    fresh = [event for event in told if event.n > last]
    refused: list[Refusal] = []
    for event in fresh:
        if isinstance(event, Refusal):
            refused.append(event)
            continue
        try:
            _apply(db, rater, event)
        except ConcordError as error:
            refused.append(Refusal(event.n, event.item, str(error)))
    if fresh:
        last = fresh[-1].n
        db.execute(
            "INSERT INTO desk_marks (rater_id, client, n, seen) VALUES (?, ?, ?, ?) "
            "ON CONFLICT (rater_id, client) DO UPDATE SET n = excluded.n, seen = excluded.seen",
            [rater, client, last, now()],
        )
    return last, refused


def mark(db: Database, rater: int, client: str) -> int:
    """The number of a browser's last event in the store; 0 where none arrived yet."""
    row = db.execute("SELECT n FROM desk_marks WHERE rater_id = ? AND client = ?", [rater, client]).fetchone()
    return row[0] if row else 0


def _read(event: Any) -> Event | Refusal:
    try:
        return Event.model_validate(event)
    except ValidationError as error:
        match event:
            case {"n": int(n), "item": int(item)}:
                return Refusal(
                    n, item, "The desk sent something that cannot be read. Answer this item again."
                )
        raise StudyError("The desk sent something that cannot be read. Reload the page.") from error


def _apply(db: Database, rater: int, event: Event) -> None:
    match event.do:
        case "answer":
            studies.answer(db, rater, event.item, event.criterion, event.score)
        case "submit":
            studies.submit(db, rater, event.item)
        case "skip":
            studies.skip(db, rater, event.item, event.text)
        case "reopen":
            studies.reopen(db, rater, event.item)
        case "flag":
            studies.flag(db, rater, event.item, event.text)
    if event.seconds:
        studies.add_seconds(db, rater, event.item, event.seconds)
