"""What a researcher does about a study while people rate it; each act is recorded with who, when and why."""

from collections import Counter
from collections.abc import Sequence

from sqlite_utils import Database

from concord.errors import StudyError
from concord.store import access, acts, crowds, exclusions, informed, placements, progress
from concord.studies import dealing
from concord.studies.purposes import extra as extra_raters


def close(db: Database, name: str, reason: str) -> None:
    """Close a study: desks show no item of it, nothing is dealt, and answers on their way are still stored.

    Raises NotFound, and StudyError where it is closed.
    """
    if acts.is_closed(db, name):
        raise StudyError(f"The study “{name}” is closed already.")
    acts.record(db, name, "closed", reason)


def reopen(db: Database, name: str, reason: str) -> None:
    """Open a closed study again; everybody finds their items as they were. Raises NotFound, StudyError."""
    if not acts.is_closed(db, name):
        raise StudyError(f"The study “{name}” is open.")
    acts.record(db, name, "reopened", reason)
    extra_raters.give(db, name)


def include(db: Database, name: str, annotator: str, reason: str) -> None:
    """Take an annotator in again, as `concord.store.exclusions.include` does; they may be an extra rater."""
    exclusions.include(db, name, annotator, reason)
    extra_raters.give(db, name)


def reassign(db: Database, name: str, annotator: str, reason: str) -> str:
    """Deal what an annotator who leaves has not begun to the others; returns in a sentence who has what now.

    What they submitted stays theirs, and what they broke off is rated by others as well. They are dealt
    nothing more unless a deal names them. Raises NotFound, and StudyError where nobody is left to rate.
    """
    access.annotator_id(db, annotator)
    if not set(access.annotators_of(db, name)) - {annotator} - acts.left(db, name):
        raise StudyError(f"Nobody but {annotator} has items of “{name}”. Deal it to somebody else first.")
    before = Counter(one.person for one in placements.queues(db, name))
    acts.record(db, name, "reassigned", reason, annotator)
    crowds.expire(db, name)
    dealing.follow(db, dealing.plan(db, name, without=[annotator]), without=[annotator])
    after = Counter(one.person for one in placements.queues(db, name))
    back = before[annotator] - after[annotator]
    changes = ((who, after[who] - before[who]) for who in sorted(before | after) if who != annotator)
    others = ", ".join(f"{who} {change:+d}" for who, change in changes if change) or "as before"
    items = "1 item" if back == 1 else f"{back} items"
    return f"{items} of “{name}” that {annotator} had not begun went back. Items of the others: {others}."


def requeued(annotator: str, count: int) -> str:
    """What `requeue` returned, in words."""
    what = "item of {} is" if count == 1 else "items of {} are"
    return f"{count} {what.format(annotator)} open again."


def requeue(db: Database, name: str, annotator: str, reason: str, keys: Sequence[str] = ()) -> int:
    """Open items of an annotator again: those of these conversations, or without any the skipped ones.

    Answers stay on the desk and do not count until the item is submitted again; what is changed then is kept
    as a revision. Returns the number of items. Raises NotFound, and StudyError where there is nothing to open
    and for an annotator who has seen others' answers or a judge's scores.
    """
    rater = access.annotator_id(db, annotator)
    if annotator in informed.revealed(db, name):
        raise StudyError(
            f"{annotator} has seen others' answers or a judge's scores: no new answer would be blind."
        )
    closed = [i for i in progress.items(db, name) if i.annotator == annotator and i.state != "open"]
    chosen = [i for i in closed if (i.key in keys if keys else i.state == "skipped")]
    if missing := [key for key in keys if key not in {i.key for i in chosen}]:
        raise StudyError(f"{annotator} has not submitted or skipped “{missing[0]}” in “{name}”.")
    if not chosen:
        raise StudyError(f"{annotator} has skipped nothing in “{name}”. Name the items to open again.")
    for item in chosen:
        placements.reopen(db, rater, placements.find_id(db, rater, item.unit))
        turn = f" turn {item.turn}" if item.turn else ""
        acts.record(db, name, "requeued", reason, annotator, f"{item.key}{turn}")
    return len(chosen)
