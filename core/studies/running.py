"""What a researcher does about a study while people rate it; each act is recorded with who, when and why."""

from collections.abc import Mapping, Sequence

from sqlite_utils import Database

from concord.codes import AuditAct
from concord.errors import StudyError
from concord.store import (
    access,
    audit,
    closings,
    crowds,
    departures,
    exclusions,
    known,
    placements,
    studies,
    training,
)
from concord.store.known import Gold, KnownKind, UnitKey
from concord.store.purposes import QUEUED
from concord.store.studies import StudyRule
from concord.studies import annotation_flow, dealing
from concord.studies.purposes import gold
from concord.studies.purposes.training import PassRule
from concord.studies.purposes.training import rule_of as training_rule


def close(db: Database, name: str, reason: str) -> None:
    """Close a study: desks show no item of it, nothing is dealt, and answers on their way are still stored.

    Raises NotFound, and StudyError where it is closed.
    """
    closings.close(db, name, reason)


def reopen(db: Database, name: str, reason: str) -> None:
    """Open a closed study again; everybody finds their items as they were. Raises NotFound, StudyError."""
    closings.reopen(db, name, reason)
    annotation_flow.deal(db, name)


def include(db: Database, name: str, annotator: str, reason: str) -> None:
    """Include an annotator again, as `concord.store.exclusions.include` does; they may be an extra rater."""
    exclusions.include(db, name, annotator, reason)
    annotation_flow.deal(db, name)


def reassign(db: Database, name: str, annotator: str, reason: str) -> str:
    """Deal what an annotator who leaves has not begun to the others; returns in a sentence who has what now.

    What they submitted stays theirs, and what they broke off is rated by others as well. They are dealt
    nothing more unless a deal names them. Raises NotFound, and StudyError where nobody is left to rate.
    """
    access.annotator_id(db, annotator)
    before = access.items_of(db, name)
    if not before.keys() - {annotator} - departures.departed(db, name):
        raise StudyError(f"Only {annotator} has items of “{name}”. Assign it to another annotator first.")
    departures.depart(db, name, annotator, reason)
    crowds.expire(db, name)
    dealing.follow(db, dealing.plan(db, name, unavailable=[annotator]), unavailable=[annotator])
    after = access.items_of(db, name)
    gained = {
        annotator_name: after.get(annotator_name, 0) - before.get(annotator_name, 0)
        for annotator_name in sorted(before | after)
    }
    back = -gained.pop(annotator, 0)
    changes = (
        ", ".join(
            f"{name_of_annotator} {change:+d}" for name_of_annotator, change in gained.items() if change
        )
        or "as before"
    )
    items = "1 item" if back == 1 else f"{back} items"
    return f"{items} of “{name}” that {annotator} had not begun went to the others, who now have: {changes}."


def set_gold(db: Database, name: str, golds: Sequence[Gold]) -> None:
    """Replace the gold items of a study and mix them into what lies on desks. Raises NotFound.

    Whoever has rated everything gets none.
    """
    known.set_gold(db, name, golds)
    audit.record(db, AuditAct.GOLD_ITEMS_SET, name, detail=f"{len({gold.unit for gold in golds})} new")
    annotation_flow.deal(db, name)


def mark_gold(db: Database, name: str, rows: Sequence[Mapping[str, str]], kind: KnownKind = "gold") -> None:
    """Add one item whose answers are known, in place of what was known of it, to those of a study.

    `rows` have the columns of a file of gold items, one a criterion. Raises NotFound, ImportRefused where an
    answer cannot be used, and what `set_training` raises.
    """
    new = gold.entries(db, name, [("This item", row) for row in rows], kind)
    units = {one.unit for one in new}
    before = [one for one in known.gold(db, name, kind) if one.unit not in units]
    _replace(db, name, [*before, *new], kind)


def unmark_gold(db: Database, name: str, unit: UnitKey, kind: KnownKind = "gold") -> None:
    """Take one item whose answers are known out of a study. Answers to it stay stored, and count no more."""
    _replace(db, name, [one for one in known.gold(db, name, kind) if one.unit != unit], kind)


def _replace(db: Database, name: str, golds: Sequence[Gold], kind: KnownKind) -> None:
    if kind == "gold":
        set_gold(db, name, golds)
    elif golds:
        set_training(db, name, golds, training_rule(studies.get(db, name)) or PassRule())
    else:
        end_training(db, name)


def end_training(db: Database, name: str) -> None:
    """Remove a study's training, so that it opens to everybody who has items. Raises NotFound."""
    placements.remove(db, [one.id for one in placements.placed(db, name, ["training"]) if not one.begun])
    known.set_gold(db, name, [], "training")
    studies.set_rule(db, name, "training", None)
    annotation_flow.deal(db, name)


def set_training(db: Database, name: str, golds: Sequence[Gold], rule: PassRule) -> None:
    """Put a training before a study; everybody who has items, or gets some, does it first.

    Without `golds` the items stay, and the rule changes: who has failed gets the attempts that are added.
    Raises NotFound, and StudyError for a rule that cannot be, where somebody has begun the study or another
    training, and for items without explanation.
    """
    if not (0 <= rule.bound <= 1 and rule.attempts > 0):
        raise StudyError("The rule needs a share from 0 to 1 and at least one attempt.")
    units = {gold.unit for gold in golds or known.gold(db, name, "training")}
    if not units:
        raise StudyError(f"“{name}” has no training items yet. Upload a file of them.")
    if golds:
        _refuse_begun(db, name)
        if unexplained := units - {gold.unit for gold in golds if gold.explanation}:
            raise StudyError(
                f"{len(unexplained)} training items have no explanation. Explain why the answer is right."
            )
        placements.remove(db, [item.id for item in placements.placed(db, name, ["training"])])
        known.set_gold(db, name, golds, "training")
        audit.record(db, AuditAct.TRAINING_ITEMS_SET, name, detail=f"{len(units)} new")
    studies.set_rule(db, name, "training", StudyRule(rule.bound, attempts=rule.attempts))
    annotation_flow.deal(db, name)


def admit(db: Database, name: str, annotator: str, reason: str) -> None:
    """Open a study to an annotator who has not passed its training; it is recorded.

    Units that wait for an extra rater may get one then. Raises NotFound, and StudyError where it is open to
    them.
    """
    if not placements.untrained(db, name, access.annotator_id(db, annotator)):
        raise StudyError(f"“{name}” is open to {annotator} already.")
    training.decide(db, name, annotator, "admitted", reason)
    annotation_flow.deal(db, name)


def _refuse_begun(db: Database, name: str) -> None:
    if people_begun := {one.person for one in placements.placed(db, name, QUEUED) if one.begun}:
        have = "has" if len(people_begun) == 1 else "have"
        raise StudyError(
            f"{', '.join(sorted(people_begun))} {have} begun “{name}” already, but training comes before the "
            "first item. Draw a new study, or put these items among the others with `concord study gold`."
        )
