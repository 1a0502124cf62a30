"""What browsers report from a desk: applied in order, and once however often it arrives.

An annotator's browser names a rated item by the item, not by its placement: an item that was taken back and
dealt anew is the same item, and a late answer to it is taken.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import timedelta
from hashlib import blake2b
from itertools import groupby
from typing import Annotated, Any, Literal, NamedTuple, Self

from pydantic import BaseModel, BeforeValidator, Field, ValidationError, model_validator
from sqlite_utils import Database

from concord.errors import ConcordError, NotAllowed, StudyError
from concord.questions import MOST_WORDS
from concord.store import placements, settings, studies
from concord.store.database import find, now
from concord.store.writer import applied


def _at_most_an_hour(seconds: Any) -> Any:
    """A time at work; no answer is lost because somebody read for longer."""
    return min(seconds, 3600) if isinstance(seconds, int | float) else seconds


class Event(BaseModel):
    """One thing done at a desk about `item`; `text` is the reason beside an answer, of a skip, or a flag.

    `score` is an answer's value: a score, or one of the words that the question has as answers; None takes
    the answer back. `seconds` is time at work on the item since the last event.
    """

    item: int | Annotated[str, Field(max_length=500)]
    do: Literal["answer", "submit", "skip", "reopen", "flag", "time"]
    criterion: str = Field("", max_length=200)
    score: Annotated[float, Field(allow_inf_nan=False)] | Annotated[str, Field(max_length=50)] | None = None
    text: str = Field("", max_length=MOST_WORDS)
    seconds: Annotated[float, BeforeValidator(_at_most_an_hour)] = Field(0.0, ge=0, allow_inf_nan=False)

    @model_validator(mode="after")
    def _short(self) -> Self:
        """Only an answer may be as long as a reply, which it corrects."""
        if self.do != "answer" and len(self.text) > placements.REASON:
            raise ValueError(f"a comment has at most {placements.REASON} characters")
        return self

    @property
    def number(self) -> float | None:
        """The score of a question whose answers are numbers. Raises StudyError for a word."""
        if isinstance(self.score, str):
            raise StudyError("The answer to this question is a number.")
        return self.score


@dataclass(frozen=True)
class Refusal:
    """An event that could not be applied, and why: a sentence for whoever sits at the desk."""

    n: int
    item: int | str
    message: str


class ReportResult(NamedTuple):
    """What became of a report: the number of the last stored event of each window, and what was refused."""

    marks: dict[str, int]
    refused: list[Refusal]


class Numbers:
    """The numbers by which a browser knows the items of one desk: they do not tell units from hidden items.

    A permutation of 48 bits (four rounds of a Feistel network), above 2⁴⁸, by a secret of the workspace.
    The number of a unit itself means nothing: a flag set by it would tell units from hidden items.
    """

    def __init__(self, db: Database, study: str, rater: int | str):
        self._key = f"{settings.get(db, _SECRET)} {study} {rater}".encode()

    def shown(self, item: int) -> int:
        """The number of an item in the browser."""
        left, right = divmod(item, _HALF)
        for part in range(_ROUNDS):
            left, right = right, left ^ self._mixed(part, right)
        return _HALF**2 + left * _HALF + right

    def item(self, shown: int) -> int:
        """The number of the item that a browser means; 0, which no item has, for a number of no desk."""
        if not _HALF**2 <= shown < 2 * _HALF**2:
            return 0
        left, right = divmod(shown - _HALF**2, _HALF)
        for part in reversed(range(_ROUNDS)):
            left, right = right ^ self._mixed(part, left), left
        return left * _HALF + right

    def meant(self, event: Any) -> Any:
        """An event as the browser reports it, about the item it means; what is no event stays as it is."""
        match event:
            case {"item": int(shown)}:
                return {**event, "item": self.item(shown)}
        return event

    def _mixed(self, part: int, half: int) -> int:
        digest = blake2b(b"%d %d" % (part, half), key=blake2b(self._key).digest(), digest_size=3).digest()
        return int.from_bytes(digest, "big")


_SECRET = "desk numbers"
_HALF = 2**24
_ROUNDS = 4


def of(rater: int) -> str:
    """The name of an annotator's desk."""
    return f"annotator {rater}"


def apply(db: Database, rater: int, client: str, events: Iterable[Any]) -> tuple[int, list[Refusal]]:
    """Apply what one browser reports of the items of a study: see `once`."""
    return once(db, of(rater), client, events, lambda event: _apply(db, rater, event))


def once(
    db: Database, desk: str, client: str, events: Iterable[Any], do: Callable[[Event], None]
) -> tuple[int, list[Refusal]]:
    """Apply what one browser reports, each event once. Returns the number of its last stored event, and the
    refusals.

    Every event has its number `n`, counted from 1, and the `item` it is about. The report holds all events
    that the browser does not know to be stored: those up to the mark were applied earlier and are passed
    over. An event that breaks a rule (an item that was taken back, a score off the scale) is refused whole
    and passed over, so that those behind it are applied; so is one that fails as nobody foresaw, because the
    browser reports it again at every visit until it is answered. What has no number is no event. The mark
    moves in the transaction that stores the answers.
    """
    last = mark(db, desk, client)
    refusals: list[Refusal] = []
    numbered = sorted(filter(None, map(_numbered, events)), key=lambda one: one[0])
    for n, item, reported in numbered:
        if n <= last:
            continue
        _, error = applied(db, lambda _, reported=reported: do(Event.model_validate(reported)))  # type: ignore[misc]
        if error is not None:
            refusals.append(Refusal(n, item, _reason(error)))
    if numbered and numbered[-1][0] > last:
        last = numbered[-1][0]
        row = {"desk": desk, "client": client, "event": last, "stored": now()}
        db.table("desk_reports").insert(row, replace=True)
    return last, refusals


def take(
    boxes: Mapping[str, Iterable[Any]],
    do: Callable[[str, list[Any]], tuple[int, list[Refusal]]],
) -> ReportResult:
    """Apply what the windows of one browser report together, in the order in which it was done. `do` applies
    events of one window, as `once` does.

    Two windows may have answered the same question while nothing got through; the later answer has to be
    applied last. Each event has the browser's time in `at`; within a window times grow with `n`.
    """
    reports: list[tuple[str, Any]] = []
    for client, events in boxes.items():
        for event in events:
            reports.append((client, event))
    reports.sort(key=lambda report: _time(report[1]))
    result = ReportResult({}, [])
    for client, group in groupby(reports, key=lambda report: report[0]):
        result.marks[client], refusals = do(client, [event for _, event in group])
        result.refused.extend(refusals)
    return result


def _time(event: Any) -> float:
    match event:
        case {"at": int(at) | float(at)}:
            return at
    return 0.0


def mark(db: Database, desk: str, client: str) -> int:
    """The number of a browser's last stored event; 0 where none has arrived."""
    row = find(db, "desk_reports", "event", desk=desk, client=client)
    return int(row["event"]) if row else 0


def in_use(db: Database, rater: int) -> dict[str, str]:
    """The browsers' windows that reported from an annotator's desk in the last ten minutes, newest first,
    with the time of their last report.
    """
    sql = (
        "SELECT client, stored FROM desk_reports WHERE desk = ? AND stored > ? ORDER BY stored DESC LIMIT 20"
    )
    return dict(db.execute(sql, [of(rater), now(-timedelta(minutes=10))]).fetchall())


def _reason(error: Exception) -> str:
    """Why an event was refused, for whoever sits at the desk."""
    if isinstance(error, ConcordError):
        return str(error)
    reason = error.errors()[0]["msg"] if isinstance(error, ValidationError) else type(error).__name__
    return f"This cannot be stored: {reason}. Answer this item again."


def _numbered(event: Any) -> tuple[int, int | str, Any] | None:
    match event:
        case {"n": int(n), "item": int(item) | str(item)} if n > 0:
            return n, item, event
        case {"n": int(n)} if n > 0:
            return n, 0, event
    return None


def _apply(db: Database, rater: int, event: Event) -> None:
    placement = placements.find_id(db, rater, event.item if isinstance(event.item, int) else 0)
    item = placements.get(db, rater, placement)
    if event.do not in ("time", "flag"):
        if placements.has_seen(db, rater, item.study):
            raise NotAllowed(
                "You have seen the other annotators' answers, so your answers are locked. Your change was "
                "not stored."
            )
        if item.purpose != "training" and placements.untrained(db, item.study, rater):
            raise NotAllowed("This item opens after you pass the training. Your change was not stored.")
    match event.do:
        case "answer":
            store = placements.rank if studies.get(db, item.study).ranks else placements.answer
            store(db, rater, placement, event.criterion, event.number, event.text)
        case "submit":
            placements.submit(db, rater, placement)
        case "skip":
            for part, _ in placements.parts(db, placement):
                placements.skip(db, rater, part, event.text)
        case "reopen":
            for part, _ in placements.parts(db, placement):
                placements.reopen(db, rater, part)
        case "flag":
            placements.flag(db, rater, placement, event.text)
    if event.seconds:
        placements.add_seconds(db, rater, placement, event.seconds)
