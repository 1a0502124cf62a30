"""Training before a study: items with explained answers, and a test to pass before its own items open.

Training items are gold items in numbered attempts. Their answers are no ratings and enter no other figure.
"""

import random
from collections import Counter
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from sqlite_utils import Database

from concord.estimate import Estimate
from concord.statistics.hidden import share
from concord.store import known, placements, studies
from concord.store import training as results
from concord.store.actor import acting
from concord.store.placements import QueueEntry
from concord.studies.purposes import Desk, DeskLayout
from concord.studies.purposes import extra as extra_raters
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
        return f"at least {self.bound:.0%} of the items right, {attempts}"


class TrainingAttempt(NamedTuple):
    """An attempt of an annotator: how many items it has, are submitted, and were hit."""

    annotator: str
    number: int
    items: int
    items_done: int
    hit: int

    @property
    def is_over(self) -> bool:
        """Whether all of it is submitted."""
        return self.items_done == self.items

    def passes(self, rule: PassRule) -> bool:
        """Whether a finished attempt is passed."""
        return self.hit >= rule.bound * self.items - 1e-9


def rule_of(study: studies.Study) -> PassRule | None:
    """The rule of a study's training; None where it has none."""
    rule = study.rules.get("training")
    return PassRule(rule.threshold, rule.attempts or PassRule.attempts) if rule else None


def lay(db: Database, study: studies.Study) -> Callable[[Desk], DeskLayout]:
    """The next attempt for who has items, has not passed, has none open and may have another."""
    rule = rule_of(study)
    items = [*known.by_item(db, study.name, "training")]

    def layout_of(desk: Desk) -> DeskLayout:
        if rule is None or desk.departed or not placements.untrained(db, study.name, desk.rater):
            return DeskLayout(desk.entries_begun)
        return _next(study, rule, items, desk) if desk.queue else DeskLayout(desk.entries)

    return layout_of


def _next(study: studies.Study, rule: PassRule, items: Sequence[int], desk: Desk) -> DeskLayout:
    number = max((item.attempt for item in desk.entries), default=0) + 1
    if number > rule.attempts or any(not item.closed for item in desk.entries):
        return DeskLayout(desk.entries)
    order = [*items]
    random.Random(f"{study.seed} {study.name} {desk.person} {number}").shuffle(order)
    new_positions = [(unit, FIRST + number * 1e6 + place) for place, unit in enumerate(order)]
    return DeskLayout(desk.entries, new_positions, number)


def after(db: Database, name: str, rater: int, _items: Collection[int]) -> None:
    """Record whether the attempt that is finished was passed; else the next one begins, where one is left."""
    if not placements.untrained(db, name, rater):
        return
    study = studies.get(db, name)
    rule = rule_of(study)
    own_attempts = attempts(db, name, rater)
    if rule is None or not own_attempts or not own_attempts[-1].is_over:
        return
    last = own_attempts[-1]
    reason = f"attempt {last.number}: {last.hit} of {last.items} training items right"
    decisions = {(one.annotator, one.attempt) for one in results.results(db, name)}
    if (last.annotator, last.number) in decisions:
        return
    with acting("training"):
        outcome: results.Outcome = "passed" if last.passes(rule) else "failed"
        results.decide(db, name, last.annotator, outcome, reason, last.number)
    if last.passes(rule):
        extra_raters.give(db, name)
    else:
        entries = placements.placed(db, name, ["training"], rater)
        layout = lay(db, study)(Desk(last.annotator, rater, entries, entries, False))
        placements.place(db, rater, "training", layout.new, layout.attempt)


def attempts(db: Database, name: str, rater: int | None = None) -> list[TrainingAttempt]:
    """Every attempt at a study's training (or this annotator's), by annotator. Raises NotFound."""
    hits: dict[tuple[str, int, int], bool] = {}
    for check in known.checks(db, name, "training"):
        key = check.annotator, check.attempt, check.item
        hits[key] = hits.get(key, True) and check.hit
    hit = Counter(key[:2] for key, right in hits.items() if right)
    entries: dict[tuple[str, int], list[QueueEntry]] = {}
    for item in placements.placed(db, name, ["training"], rater):
        entries.setdefault((item.person, item.attempt), []).append(item)
    return [
        TrainingAttempt(*key, len(items), sum(item.state == "done" for item in items), hit[key])
        for key, items in sorted(entries.items())
    ]


def standing(db: Database, name: str, rater: int) -> dict[str, Any] | None:
    """What an annotator is told of their training; None where there is none, or it is behind them.

    `left` is how many attempts they have beside the present one, `is_over` whether none is left.
    """
    if not placements.untrained(db, name, rater):
        return None
    rule = rule_of(studies.get(db, name))
    entries = placements.placed(db, name, ["training"], rater)
    number = max((item.attempt for item in entries), default=0)
    is_over = bool(entries) and all(item.closed for item in entries)
    return {"attempt": number, "left": max(0, rule.attempts - number) if rule else 0, "over": is_over}


def tables(db: Database, name: str) -> list[Table]:
    """Every attempt at a study's training, one a row, and who was admitted; nothing where it has none."""
    rule = rule_of(studies.get(db, name))
    if rule is None:
        return []
    rows: list[dict[str, Any]] = []
    admitted = {one.annotator: one for one in results.results(db, name) if one.outcome == "admitted"}
    for one in attempts(db, name):
        rate: Estimate | None = share(one.hit, one.items_done) if one.items_done else None
        verdict = f"{one.items_done} of {one.items} done"
        if one.is_over:
            verdict = "passed" if one.passes(rule) else "not passed"
        note = f"admitted by {admitted[one.annotator].decided_by}" if one.annotator in admitted else ""
        row = {"annotator": one.annotator, "attempt": one.number, "items": one.items, "hits": rate}
        rows.append({**row, "verdict": verdict, "note": note})
    columns = (
        *map(Column, ("annotator", "attempt", "items")),
        Column("hits", percent=True, interval="ends"),
        Column("verdict"),
        *((Column("note"),) if admitted else ()),
    )
    return [
        Table(
            "training",
            "Training",
            columns,
            tuple(rows),
            caption="Who has passed the training that opens the study.",
            notes=(f"To pass: {rule.words}. All other figures exclude answers to training items.",),
        )
    ]
