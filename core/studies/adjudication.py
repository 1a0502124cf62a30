"""Adjudication: a rule names items on which people differ, and one person settles each of their criteria.

What is settled is the score of one more rater, called “adjudicated”. It is no rating and replaces none.
"""

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from math import isnan, nan
from typing import Literal, NamedTuple

from sqlite_utils import Database

from concord.errors import StudyError, not_found
from concord.rating import Criterion, Rater
from concord.scores import FINAL
from concord.store import exclusions, informed, ratings, studies
from concord.store.informed import BlindAnswer, Informed
from concord.store.studies import Study
from concord.table import Column, Table


@dataclass(frozen=True)
class Rule:
    """Which items are to be settled.

    “range”: those where people's answers to a criterion (“”: any) lie at least `least` apart; on a scale that
    is narrower, from end to end; of categories, where two answers differ. “lowest”: the `n` items on which
    people differ most, by the mean over criteria of the range as a share of the scale.
    """

    way: Literal["range", "lowest"] = "range"
    least: float = 2.0
    n: int = 0
    criterion: str = ""

    def told(self, criteria: Sequence[Criterion]) -> str:
        """The rule in words, for a study that asks these criteria."""
        on = f"on “{self.criterion}”" if self.criterion else "on a criterion"
        if self.way == "lowest":
            return f"the {self.n} items of lowest agreement"
        named = {c.scale.named for c in criteria if self.criterion in ("", c.name)}
        if named == {True}:
            return f"different answers {on}"
        others = ", of categories different ones," if True in named else ""
        return f"answers at least {self.least:g} apart{others} {on}"

    def names(self, criterion: Criterion, by: float) -> bool:
        """Whether a range of answers to a criterion is one to settle."""
        if by <= 0 or self.criterion not in ("", criterion.name):
            return False
        nominal = criterion.scale.nominal or self.way == "lowest"
        return nominal or by >= min(self.least, criterion.scale.high - criterion.scale.low) - 1e-9


class Disputed(NamedTuple):
    """An item to settle: its unit, the criteria in dispute, and how far people are apart (0 to 1)."""

    unit: int
    criteria: tuple[str, ...]
    apart: float


def set_rule(db: Database, name: str, rule: Rule) -> str:
    """Adjudicate a study by a rule; returns in one sentence how many items it names.

    Raises NotFound for a study or criterion, StudyError for an anonymous study and a rule that cannot name
    anything: the rule before it stays then. What is settled already stays.
    """
    study = studies.get(db, name)
    if study.anonymous:
        raise StudyError(f"People's ratings in “{name}” have no names, so nobody's answers can be laid out.")
    if rule.criterion and rule.criterion not in (known := [c.name for c in study.criteria]):
        raise not_found("criterion", rule.criterion, known)
    if (rule.least <= 0) if rule.way == "range" else (rule.n < 1):
        raise StudyError("A rule needs a range above 0, or a number of items.")
    refuse_too_wide(study, rule)
    studies.remember(db, name, "adjudication", asdict(rule))
    return adjudication(db, name).told


def refuse_too_wide(study: Study, rule: Rule) -> None:
    """Raise StudyError for a range that is wider than every scale the rule looks at, with the widest one."""
    looked_at = [c.scale for c in study.criteria if rule.criterion in ("", c.name) and not c.scale.nominal]
    widest = max((scale.high - scale.low for scale in looked_at), default=rule.least)
    if rule.way == "range" and rule.least > widest:
        on = f"on “{rule.criterion}”" if rule.criterion else "on any criterion"
        raise StudyError(
            f"Answers {on} cannot lie {rule.least:g} apart. The largest possible difference is {widest:g}."
        )


class Question(NamedTuple):
    """A criterion in dispute: everybody's answers, and the answer that settled it."""

    criterion: Criterion
    given: Sequence[BlindAnswer]
    settled: Informed | None


@dataclass(frozen=True, eq=False)
class Adjudication:
    """A study's answers as an adjudicator sees them: people's submitted ones, and what is settled."""

    study: Study
    given: Mapping[int, Sequence[BlindAnswer]]
    """People's answers by unit, without those of excluded annotators."""
    settled: Mapping[int, Mapping[str, Informed]]

    @property
    def rule(self) -> Rule | None:
        """The rule; None where nothing is adjudicated."""
        kept = self.study.meta.get("adjudication")
        return Rule(**kept) if kept else None

    @property
    def rule_told(self) -> str:
        """The rule in words; “” where there is none."""
        return self.rule.told(self.study.criteria) if self.rule else ""

    @property
    def rated_twice(self) -> int:
        """How many items have a criterion that two people answered."""
        return sum(len({g.criterion for g in of}) < len(of) for of in self.given.values())

    @cached_property
    def disputed(self) -> list[Disputed]:
        """The items that the rule names, the one on which people differ most first."""
        rule = self.rule
        if rule is None:
            return []
        asked = {c.name: c for c in self.study.criteria}
        found = []
        for unit, given in self.given.items():
            of: dict[str, list[float]] = {}
            for one in given:
                of.setdefault(one.criterion, []).append(one.score)
            ranges = {name: max(of[name]) - min(of[name]) for name in asked if len(of.get(name, ())) > 1}
            criteria = [c for c, by in ranges.items() if rule.names(asked[c], by)]
            if criteria:
                apart = sum(_share(asked[c], by) for c, by in ranges.items()) / len(ranges)
                found.append(Disputed(unit, tuple(criteria), apart))
        found.sort(key=lambda one: (-one.apart, one.unit))
        return found if rule.way == "range" else found[: rule.n]

    @property
    def done(self) -> set[int]:
        """The units in dispute of which every criterion is settled."""
        return {i.unit for i in self.disputed if set(i.criteria) <= self.settled.get(i.unit, {}).keys()}

    def questions(self, item: Disputed) -> list[Question]:
        """What is to be settled of an item, people's answers from the lowest to the highest."""
        return [
            Question(
                criterion,
                sorted(
                    (g for g in self.given[item.unit] if g.criterion == criterion.name),
                    key=lambda g: (g.score, g.reason),
                ),
                self.settled.get(item.unit, {}).get(criterion.name),
            )
            for criterion in self.study.criteria
            if criterion.name in item.criteria
        ]

    @property
    def told(self) -> str:
        """How many items the rule names, in one sentence."""
        name, n = self.study.name, self.rated_twice
        if self.rule is None:
            return f"The study “{name}” has no rule: nothing is adjudicated."
        if not n:
            return f"Study “{name}”: no item was rated by two people yet, so there is nothing to adjudicate."
        if not self.disputed:
            return f"Study “{name}”: the rule finds nothing; no item of {n} has {self.rule_told}."
        return (
            f"Study “{name}”, {self.rule_told}: {len(self.disputed)} of {n} items, {len(self.done)} of them "
            "settled."
        )


def _share(criterion: Criterion, by: float) -> float:
    scale = criterion.scale
    return float(by > 0) if scale.nominal else by / (scale.high - scale.low)


def adjudication(db: Database, name: str) -> Adjudication:
    """The answers of a study as they stand. Raises NotFound."""
    out = [one.rater for one in exclusions.excluded(db, name).values()]
    given: dict[int, list[BlindAnswer]] = {}
    for one in informed.blind(db, name, out):
        given.setdefault(one.unit, []).append(one)
    settled: dict[int, dict[str, Informed]] = {}
    for answer in informed.answers(db, name, "adjudicate"):
        settled.setdefault(answer.unit, {})[answer.criterion] = answer
    return Adjudication(studies.get(db, name), given, settled)


def settle(
    db: Database, name: str, unit: int, criterion: str, score: float | None, reason: str, person: str
) -> None:
    """Settle a criterion of an item with a reason, or take that back (None); it replaces the person's own.

    Raises StudyError without a reason, for a score off the scale, for what the rule does not name, and where
    another adjudicator has settled the item; NotFound for a criterion.
    """
    rater = ratings.rater_id(db, Rater(person, "human"))
    if score is not None:
        found = adjudication(db, name)
        item = next((one for one in found.disputed if one.unit == unit), None)
        if item is None:
            raise StudyError(
                f"{_called(db, name, unit)} is not in dispute (any more): {_why(found, db, unit)}."
            )
        asked = {c.name: c for c in found.study.criteria if c.name in item.criteria}
        if criterion not in {c.name for c in found.study.criteria}:
            raise not_found("criterion", criterion, asked)
        if criterion not in asked:
            labels = ", ".join(each.label for each in asked.values())
            raise StudyError(
                f"{_called(db, name, unit)} is not in dispute on “{criterion}”, only on {labels}."
            )
        if score not in asked[criterion].scale:
            raise StudyError(f"{score:g} is not on the scale of “{asked[criterion].label}”.")
        if not reason.strip():
            word = asked[criterion].scale.word(score)
            raise StudyError(f"Say why “{asked[criterion].label}” is {word}: a settled score has a reason.")
    informed.give(db, "adjudicate", unit, rater, criterion, score, reason.strip())


def _called(db: Database, name: str, unit: int) -> str:
    """An item by its key, with the turn where the study rates turns."""
    place = next((one for one in studies.units(db, name) if one["id"] == unit), None)
    if place is None:
        return "This item"
    return f"“{place['key']}”" + (f", turn {place['turn']}," if place["turn"] else "")


def _why(found: Adjudication, db: Database, unit: int) -> str:
    """Why an item is not in dispute; nobody is named to an adjudicator."""
    given: dict[int, list[BlindAnswer]] = {}
    for one in informed.blind(db, found.study.name, ()):
        given.setdefault(one.unit, []).append(one)
    if any(one.unit == unit for one in Adjudication(found.study, given, {}).disputed):
        return "somebody who rated it was left out of the study"
    return f"the rule, {found.rule_told}, does not name it" if found.rule else "the study has no rule"


def queue_table(db: Database, found: Adjudication) -> Table:
    """The items that the rule names, one criterion a row: everybody's answers, and what settled it."""
    places = {unit["id"]: unit for unit in studies.units(db, found.study.name)} if found.disputed else {}
    rows = [
        {
            **{"item": places[item.unit]["key"], "turn": places[item.unit]["turn"]},
            "criterion": asked.criterion.name,
            "answers": asked.criterion.scale.words([given.score for given in asked.given]),
            "settled": asked.criterion.scale.word(asked.settled.score) if asked.settled else "",
            "reason": asked.settled.reason if asked.settled else "",
            "by": asked.settled.person if asked.settled else "",
        }
        for item in found.disputed
        for asked in found.questions(item)
    ]
    columns = map(Column, ("item", "turn", "criterion", "answers", "settled", "reason", "by"))
    shown = tuple(c for c in columns if c.name != "turn" or any(row["turn"] for row in rows))
    return Table("adjudication_queue", "Items to adjudicate", shown, tuple(rows), notes=(found.told,))


def scores_on(
    settled: Sequence[Informed], criterion: str, means: Mapping[str, Mapping[Hashable, float]]
) -> dict[Hashable, float]:
    """The settled score of each unit on a criterion, or on final.

    `means` is people's mean of the criteria that count, criterion → unit → mean; final is the mean over them
    of the settled score, and of people's mean where a criterion was not in dispute. Units without a settled
    criterion are not there.
    """
    by_unit: dict[Hashable, dict[str, float]] = {}
    for one in settled:
        by_unit.setdefault(one.unit, {})[one.criterion] = one.score
    if criterion != FINAL:
        return {unit: of[criterion] for unit, of in by_unit.items() if criterion in of}
    found = {}
    for unit, of in by_unit.items():
        parts = [of.get(name, mean.get(unit, nan)) for name, mean in means.items()]
        if of.keys() & means.keys() and not any(map(isnan, parts)):
            found[unit] = sum(parts) / len(parts)
    return found
