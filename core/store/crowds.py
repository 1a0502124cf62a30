"""People of a crowd platform: a study's link for them, who came by it, and what each has done.

The link's token is kept as a hash. Who comes is known by the platform's number of them, which is no secret:
it lets nobody in without the token.
"""

from collections.abc import Collection
from dataclasses import dataclass, fields
from datetime import timedelta
from typing import Literal, NamedTuple

from sqlite_utils import Database

from concord.rating import Rater
from concord.store import database, placements, ratings, sessions, studies
from concord.store.database import find, now, records
from concord.store.purposes import QUEUED, UNRATED

Platform = Literal["prolific", "mturk"]


@dataclass(frozen=True)
class Crowd:
    """A study's link: at most `quota` people, of whom each has `items` for so many `minutes`.

    `code` is the completion code of all; “” where each has one of their own. Who has missed `misses`
    attention checks or more gets `failed_code` (“”: the completion code), who has failed the training
    `screen_out_code` (“”: none).
    """

    study: str
    platform: Platform
    quota: int
    items: int
    minutes: int
    code: str = ""
    failed_code: str = ""
    screen_out_code: str = ""
    misses: int = 2


class Visitor(NamedTuple):
    """What the platform says of who comes: their number, that of their submission, and of the task."""

    worker: str
    submission: str
    task: str = ""


@dataclass(frozen=True)
class Worker:
    """Somebody who came by a study's link, and what they have done, hidden items included.

    `dealt` is how many items they had when their time was over; 0 before.
    """

    rater: int
    name: str
    worker: str
    submission: str
    task: str
    due: str
    returned: str | None
    code: str
    dealt: int
    done: int
    skipped: int
    open: int
    seconds: float

    @property
    def state(self) -> str:
        """“finished”, “timed out” or “at work”."""
        if self.returned:
            return "timed out"
        if not self.open:
            return "finished"
        return "timed out" if self.due < now() else "at work"


def keep(db: Database, crowd: Crowd, token: str) -> None:
    """Store a study's link, in place of the one before. Raises NotFound."""
    study = studies.study_id(db, crowd.study)
    db.table("crowd_links").delete_where("study_id = ?", [study])
    terms = {field.name: getattr(crowd, field.name) for field in fields(crowd) if field.name != "study"}
    link = {"study_id": study, "token_hash": sessions.hashed(token), "created": now()}
    database.insert(db, "crowd_links", {**link, **terms})


_CROWDS = (
    "SELECT t.name AS study, l.platform, l.quota, l.items, l.minutes, l.code, l.failed_code, "
    "l.screen_out_code, l.misses FROM crowd_links l "
    "JOIN studies t ON t.id = l.study_id WHERE "
)


def of_token(db: Database, token: str) -> Crowd | None:
    """The study's link with this token; None where there is none."""
    return next(iter(records(db, Crowd, _CROWDS + "l.token_hash = ?", [sessions.hashed(token)])), None)


def of_study(db: Database, study: str) -> Crowd | None:
    """The link of a study; None where it has none. Raises NotFound."""
    of_its = _CROWDS + "l.study_id = ?"
    return next(iter(records(db, Crowd, of_its, [studies.study_id(db, study)])), None)


def add(db: Database, crowd: Crowd, visitor: Visitor, code: str) -> Worker:
    """Make somebody who comes for the first time an annotator, named after the platform and their number.

    Each study has annotators of its own: the number is no secret, so by the link of one study nobody may come
    to a desk of another.
    """
    name = plain = f"{crowd.platform} {visitor.worker}"
    number = 1
    while find(db, "raters", "id", kind="human", name=name):
        number += 1
        name = f"{plain} ({number})"
    rater = ratings.rater_id(db, Rater(name, "human"))
    row = {
        "study_id": studies.study_id(db, crowd.study),
        "rater_id": rater,
        "platform": crowd.platform,
        **visitor._asdict(),
        "code": code,
        "created": now(),
        "expires": now(timedelta(minutes=crowd.minutes)),
    }
    database.insert(db, "crowd_workers", row)
    return workers(db, crowd.study, rater)[0]


def workers(db: Database, study: str, rater: int | None = None) -> list[Worker]:
    """Everybody who came by a study's link (or only this one), in the order in which they came.

    Raises NotFound.
    """
    return records(
        db,
        Worker,
        f"""
        SELECT w.rater_id AS rater, x.name, w.worker, w.submission, w.task, w.expires AS due,
               w.reclaimed AS returned, w.code, w.dealt,
               count(DISTINCT iif(i.state = 'done', i.entry, NULL)) AS done,
               count(DISTINCT iif(i.state = 'skipped', i.entry, NULL)) AS skipped,
               count(DISTINCT iif(i.state = 'open', i.entry, NULL)) AS open,
               ifnull(sum(i.seconds), 0) AS seconds
        FROM crowd_workers w JOIN raters x ON x.id = w.rater_id LEFT JOIN (
            SELECT p.rater_id, p.state, p.seconds, p.entry FROM placed_items p
            WHERE p.purpose IN {QUEUED} AND p.study_id = :study AND (:rater IS NULL OR p.rater_id = :rater)
        ) i ON i.rater_id = w.rater_id
        WHERE w.study_id = :study AND (:rater IS NULL OR w.rater_id = :rater)
        GROUP BY w.id ORDER BY w.id
        """,
        {"study": studies.study_id(db, study), "rater": rater},
    )


def returned(db: Database, study: str) -> set[str]:
    """The names of those whose time was over. Raises NotFound."""
    return {one.name for one in workers(db, study) if one.returned}


def expire(db: Database, study: str, names: Collection[str] = ()) -> list[str]:
    """Take back what people have not begun whose time ran out, and of `names`; returns their names.

    Answers stay.
    """
    late = [
        one
        for one in workers(db, study)
        if not one.returned and (one.state == "timed out" or one.name in names)
    ]
    for one in late:
        placements.reclaim(db, study, one.rater)
        free = [item.id for item in placements.placed(db, study, UNRATED, one.rater) if not item.begun]
        placements.remove(db, free)
        item_count = one.done + one.skipped + one.open
        db.execute(
            "UPDATE crowd_workers SET reclaimed = ?, dealt = ? WHERE study_id = ? AND rater_id = ?",
            [now(), item_count, studies.study_id(db, study), one.rater],
        )
    return [one.name for one in late]
