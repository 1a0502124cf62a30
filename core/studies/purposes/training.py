"""Training before a study: items with explained answers, and a test to pass before its own items open.

Training items are gold items in numbered attempts. Their answers are no ratings and enter no other figure.
"""

import random
from collections.abc import Collection, Sequence
from dataclasses import asdict, dataclass, fields
from typing import Any, NamedTuple

from sqlite_utils import Database

from concord.errors import StudyError
from concord.estimate import Estimate
from concord.statistics.hidden import share
from concord.store import access, acts, audit, known, placements, studies
from concord.store.actor import acting
from concord.store.known import Check, Gold
from concord.store.purposes import QUEUED
from concord.studies.purposes import extra as extra_raters
from concord.studies.purposes.gold import hits
from concord.table import Column, Table

FIRST = -1e9
"""Where training lies on a desk: before everything else."""


@dataclass(frozen=True)
class PassRule:
    """An attempt is passed where at least the share `bound` of its items is hit; there are `attempts`."""

    bound: float = 0.7
    attempts: int = 2

    @property
    def words(self) -> str:
        """The rule in words."""
        attempts = f"{self.attempts} attempt{'s' if self.attempts > 1 else ''}"
        return f"at least {self.bound:.0%} of the items hit, {attempts}"


class TrainingAttempt(NamedTuple):
    """An attempt of an annotator: how many items it has, are submitted, and were hit."""

    annotator: str
    number: int
    items: int
    done: int
    hit: int

    def passes(self, rule: PassRule) -> bool:
        """Whether a finished attempt is passed."""
        return self.hit >= rule.bound * self.items - 1e-9


def rule_of(study: studies.Study) -> PassRule | None:
    """The rule of a study's training; None where it has none. Fields of another release are ignored."""
    kept = study.meta.get("training")
    names = {field.name for field in fields(PassRule)}
    return PassRule(**{name: kept[name] for name in names & kept.keys()}) if kept else None


def begin(db: Database, name: str, golds: Sequence[Gold], rule: PassRule) -> None:
    """Put a training before a study; everybody who has items, or gets some, does it first.

    Without `golds` the items stay, and the rule changes: who has failed gets the attempts that are added.
    Raises NotFound, and StudyError for a rule that cannot be, where somebody has begun the study or another
    training, and for items without explanation.
    """
    if not (0 <= rule.bound <= 1 and rule.attempts > 0):
        raise StudyError("A rule needs a share from 0 to 1, and at least one attempt.")
    units = {gold.unit for gold in golds or known.gold(db, name, "training")}
    if not units:
        raise StudyError(f"“{name}” has no training items yet. Bring a file of them.")
    if golds or rule_of(studies.get(db, name)) is None:
        _refuse_begun(db, name)
    if golds:
        if unexplained := units - {gold.unit for gold in golds if gold.explanation}:
            raise StudyError(
                f"{len(unexplained)} training items have no explanation. Say why an answer is right."
            )
        for person in placements.people(db, name):
            there = placements.unrated(db, name, access.annotator_id(db, person), "training")
            placements.remove(db, [item.id for item in there])
        known.set_gold(db, name, golds, "training")
        audit.record(db, "training items set", name, detail=f"{len(units)} new")
    studies.remember(db, name, "training", asdict(rule))
    lay(db, name, {a.name for a in access.annotators(db) if a.revoked})


def end(db: Database, name: str) -> None:
    """Take the training away: the study's items are open to everybody. Raises NotFound.

    Attempts that were made stay stored.
    """
    studies.remember(db, name, "training", None)
    for person in placements.people(db, name):
        rater = access.annotator_id(db, person)
        placements.remove(db, [i.id for i in placements.unrated(db, name, rater, "training") if not i.begun])
    extra_raters.give(db, name)


def lay(db: Database, name: str, gone: Collection[str] = (), *, strictly: bool = False) -> None:
    """Lay the next attempt on the desk of everybody who has items, has none open and may have another."""
    rule = rule_of(studies.get(db, name))
    if rule is None:
        return
    for person in sorted({one.person for one in placements.queues(db, name)} - {*gone}):
        rater = access.annotator_id(db, person)
        if placements.untrained(db, name, rater):
            _next(db, name, person, rater, rule)


def after(db: Database, name: str, rater: int, items: Collection[int]) -> None:
    """Decide on the attempt that ends with these items."""
    if placements.untrained(db, name, rater):
        _decide(db, name, rater)


def admit(db: Database, name: str, annotator: str, reason: str) -> None:
    """Open a study to an annotator who has not passed its training; it is recorded.

    Units that wait for an extra rater may get one then. Raises NotFound, and StudyError where it is open to
    them.
    """
    rater = access.annotator_id(db, annotator)
    if not placements.untrained(db, name, rater):
        raise StudyError(f"“{name}” is open to {annotator} already.")
    acts.record(db, name, "admitted", reason, annotator)
    placements.remove(db, [i.id for i in placements.unrated(db, name, rater, "training") if not i.begun])
    extra_raters.give(db, name)


def attempts(db: Database, name: str) -> list[TrainingAttempt]:
    """Every attempt at a study's training, by annotator. Raises NotFound."""
    given: dict[tuple[str, int], list[Check]] = {}
    for check in known.checks(db, name, "training"):
        given.setdefault((check.annotator, check.attempt), []).append(check)
    every = []
    for person in placements.people(db, name):
        there = placements.unrated(db, name, access.annotator_id(db, person), "training")
        for number in sorted({item.attempt for item in there}):
            of = given.get((person, number), [])
            items = [item for item in there if item.attempt == number]
            hit = sum(right for right, _ in hits(of).get(person, []))
            done = sum(item.state == "done" for item in items)
            every.append(TrainingAttempt(person, number, len(items), done, hit))
    return every


def standing(db: Database, name: str, rater: int) -> dict[str, Any] | None:
    """What an annotator is told of their training; None where there is none, or it is behind them.

    `left` is how many attempts they have beside the present one, `over` whether none is left.
    """
    if not placements.untrained(db, name, rater):
        return None
    rule = rule_of(studies.get(db, name))
    placed = placements.unrated(db, name, rater, "training")
    number = max((item.attempt for item in placed), default=0)
    over = bool(placed) and all(item.state == "done" for item in placed)
    return {"attempt": number, "left": max(0, rule.attempts - number) if rule else 0, "over": over}


def table(db: Database, name: str) -> Table:
    """Every attempt at a study's training, one a row, and who was admitted. Raises NotFound."""
    study = studies.get(db, name)
    rule = rule_of(study)
    rows: list[dict[str, Any]] = []
    admitted = {act.annotator: act for act in acts.every(db, name) if act.what == "admitted"}
    for one in attempts(db, name):
        rate: Estimate | None = share(one.hit, one.done) if one.done else None
        verdict = f"{one.done} of {one.items} done"
        if one.done == one.items and rule:
            verdict = "passed" if one.passes(rule) else "not passed"
        note = f"admitted by {admitted[one.annotator].by}" if one.annotator in admitted else ""
        row = {"annotator": one.annotator, "attempt": one.number, "items": one.items, "hits": rate}
        rows.append({**row, "verdict": verdict, "note": note})
    columns = (
        *map(Column, ("annotator", "attempt", "items")),
        Column("hits", percent=True, interval="ends"),
        Column("verdict"),
        *((Column("note"),) if admitted else ()),
    )
    sentence = f"Passed is {rule.words}. " if rule else ""
    return Table(
        "training",
        "Training",
        columns,
        tuple(rows),
        caption="Who has passed the training that opens the study.",
        notes=(f"{sentence}Answers to training items are no ratings and enter no other figure.",),
    )


def _refuse_begun(db: Database, name: str) -> None:
    if begun := {one.person for one in placements.placed(db, name, QUEUED) if one.begun}:
        have = "has" if len(begun) == 1 else "have"
        raise StudyError(
            f"{', '.join(sorted(begun))} {have} begun “{name}” already: training comes before the first "
            "item. Draw a new study, or put these items among the others with `concord study gold`."
        )


def _next(db: Database, name: str, person: str, rater: int, rule: PassRule) -> None:
    """Lay the next attempt at all training items, where one is left."""
    there = placements.unrated(db, name, rater, "training")
    number = max((item.attempt for item in there), default=0) + 1
    if number > rule.attempts or any(item.state == "open" for item in there):
        return
    units = known.items(db, name, "training")
    random.Random(f"{studies.get(db, name).seed} {name} {person} {number}").shuffle(units)
    at = [(unit, FIRST + number * 1e6 + place) for place, unit in enumerate(units)]
    placements.place(db, rater, "training", at, attempt=number)


def _decide(db: Database, name: str, rater: int) -> None:
    """Record whether the attempt that is finished was passed; else the next one begins, where one is left."""
    rule, there = rule_of(studies.get(db, name)), placements.unrated(db, name, rater, "training")
    if rule is None or not there or any(item.state == "open" for item in there):
        return
    person = next(a.name for a in access.annotators(db) if a.id == rater)
    last = [one for one in attempts(db, name) if one.annotator == person][-1]
    reason = f"attempt {last.number}: {last.hit} of {last.items} training items hit"
    if any(act.annotator == person and act.reason == reason for act in acts.every(db, name)):
        return
    passed = last.passes(rule)
    with acting("training"):
        acts.record(db, name, "passed" if passed else "failed", reason, person)
    if passed:
        extra_raters.give(db, name)
    else:
        _next(db, name, person, rater, rule)
