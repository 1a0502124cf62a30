"""What an annotator's browser reports from the desk: applied in order, and once however often it arrives.

The browser names an item by its study unit: the number of an assignment may pass to another unit when items are taken back and
dealt anew, and a late answer would land on the wrong dialogue.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import groupby
from typing import Any, Literal, TypeVar

from pydantic import BaseModel, Field, ValidationError
from sqlite_utils import Database

from core.errors import ConcordError, NotAllowed, StudyError
from core.store import studies
from core.store.database import now


class Told(BaseModel):
    """Something a browser reports, about the thing `item`; `n` counts the reports of one browser from 1."""

    n: int = Field(ge=1)
    item: int


class Event(Told):
    """One thing done at the desk, about the study unit `item`; `seconds` is time at work on it since the last."""

    do: Literal["answer", "submit", "skip", "reopen", "flag", "time"]
    criterion: str = ""
    score: float | None = None
    text: str = Field("", max_length=4000)
    seconds: float = Field(0.0, ge=0, le=3600, allow_inf_nan=False)


T = TypeVar("T", bound=Told)


@dataclass(frozen=True)
class Refusal:
    """An event that could not be applied, and why: a sentence for the annotator."""

    n: int
    item: int
    message: str


def apply(db: Database, rater: int, client: str, events: Iterable[Any]) -> tuple[int, list[Refusal]]:
    """Apply what one browser reports of the items of a study: see `once`."""
    return once(db, rater, client, events, Event, lambda event: _apply(db, rater, event))


def once(
    db: Database, rater: int, client: str, events: Iterable[Any], kind: type[T], do: Callable[[T], None]
) -> tuple[int, list[Refusal]]:
    """Do what one browser reports, each event once; returns the number of its last event in the store, and what was refused.

    The report is the browser's whole backlog: events at or below the mark were applied earlier and are passed over. An event
    that breaks a rule (an item that was taken back, a score off the scale) is refused and passed, so that it cannot
    hold up those behind it. The mark moves in the same transaction as the answers. Raises StudyError for what is no report.
    """
    told = sorted((_read(event, kind) for event in events), key=lambda event: event.n)
    last = mark(db, rater, client)
    fresh = [event for event in told if event.n > last]
    refused: list[Refusal] = []
    for event in fresh:
        if isinstance(event, Refusal):
            refused.append(event)
            continue
        try:
            do(event)
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


def in_order(boxes: Mapping[str, Iterable[Any]]) -> Iterator[tuple[str, list[Any]]]:
    """What the windows of one browser report together, in the order in which it was done: (window, events) one after the other.

    Two windows may have answered the same question while nothing got through; the later answer has to be applied last. Each
    event has the browser's time in `at`; within a window times grow with `n`.
    """
    told = [(client, event) for client, events in boxes.items() for event in events]
    told.sort(key=lambda one: _time(one[1]))
    for client, group in groupby(told, key=lambda one: one[0]):
        yield client, [event for _, event in group]


def _time(event: Any) -> float:
    match event:
        case {"at": int(at) | float(at)}:
            return at
    return 0.0


def mark(db: Database, rater: int, client: str) -> int:
    """The number of a browser's last event in the store; 0 where none arrived yet."""
    row = db.execute("SELECT n FROM desk_marks WHERE rater_id = ? AND client = ?", [rater, client]).fetchone()
    return row[0] if row else 0


def _read(event: Any, kind: type[T]) -> T | Refusal:
    try:
        return kind.model_validate(event)
    except ValidationError as error:
        match event:
            case {"n": int(n), "item": int(item)}:
                return Refusal(
                    n, item, "The desk sent something that cannot be read. Answer this item again."
                )
        raise StudyError("The desk sent something that cannot be read. Reload the page.") from error


def assignment(db: Database, rater: int, unit: int) -> int:
    """The assignment by which a unit lies on an annotator's desk. Raises NotAllowed where it does not (any more)."""
    row = db.execute(
        "SELECT id FROM assignments WHERE rater_id = ? AND unit_id = ?", [rater, unit]
    ).fetchone()
    if row is None:
        raise NotAllowed("This item is not on your desk any more, and your answer was not taken.")
    found: int = row[0]
    return found


def units(db: Database, rater: int, study: str) -> list[tuple[int, str, bool]]:
    """The items of a study on an annotator's desk, in their order: (unit id, state, flagged)."""
    return [
        (unit, state, bool(flagged))
        for unit, state, flagged in db.execute(
            "SELECT a.unit_id, a.state, a.flag <> '' FROM assignments a JOIN study_units u ON u.id = a.unit_id "
            "JOIN studies t ON t.id = u.study_id WHERE a.rater_id = ? AND t.name = ? ORDER BY a.position",
            [rater, study],
        )
    ]


def _apply(db: Database, rater: int, event: Event) -> None:
    item = assignment(db, rater, event.item)
    match event.do:
        case "answer":
            studies.answer(db, rater, item, event.criterion, event.score)
        case "submit":
            studies.submit(db, rater, item)
        case "skip":
            studies.skip(db, rater, item, event.text)
        case "reopen":
            studies.reopen(db, rater, item)
        case "flag":
            studies.flag(db, rater, item, event.text)
    if event.seconds:
        studies.add_seconds(db, rater, item, event.seconds)
