"""Adjudication: a rule names items on which people differ, and one person settles each of their criteria.

What is settled is the score of one more rater, called “adjudicated”. It is no rating and replaces none.
"""

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from math import isnan, nan
from typing import NamedTuple

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

    Those where people's answers to a criterion (“”: any) lie at least `least` apart; on a scale that is
    narrower, from end to end; of categories, where two answers differ.
    """

    least: float = 2.0
    criterion: str = ""

    def words(self, criteria: Sequence[Criterion]) -> str:
        """The rule in words, for a study that asks these criteria."""
        on = f"on “{self.criterion}”" if self.criterion else "on a criterion"
        named = {c.scale.named for c in criteria if self.criterion in ("", c.name)}
        if named == {True}:
            return f"different answers {on}"
        others = ", of categories different ones," if True in named else ""
        return f"answers at least {self.least:g} apart{others} {on}"

    def names(self, criterion: Criterion, by: float) -> bool:
        """Whether a range of answers to a criterion is one to settle."""
        if by <= 0 or self.criterion not in ("", criterion.name) or criterion.scale.kind.content:
            return False
        return not criterion.scale.ordered or by >= min(self.least, criterion.scale.width) - 1e-9


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
    if rule.criterion and rule.criterion not in (names := [c.name for c in study.criteria]):
        raise not_found("criterion", rule.criterion, names)
    if rule.least <= 0:
        raise StudyError("A rule needs a range above 0.")
    refuse_too_wide(study, rule)
    studies.remember(db, name, "adjudication", asdict(rule))
    return adjudication(db, name).summary


def refuse_too_wide(study: Study, rule: Rule) -> None:
    """Raise StudyError for a range that is wider than every scale the rule looks at, with the widest one."""
    looked_at = [c.scale for c in study.criteria if rule.criterion in ("", c.name) and c.scale.ordered]
    widest = max((scale.width for scale in looked_at), default=rule.least)
    if rule.least > widest:
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
    def rule_words(self) -> str:
        """The rule in words; “” where there is none."""
        return self.rule.words(self.study.criteria) if self.rule else ""

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
        by_name = {c.name: c for c in self.study.criteria}
        items = []
        for unit, given in self.given.items():
            of: dict[str, list[float]] = {}
            for one in given:
                of.setdefault(one.criterion, []).append(one.score)
            ranges = {name: max(of[name]) - min(of[name]) for name in by_name if len(of.get(name, ())) > 1}
            criteria = [c for c, by in ranges.items() if rule.names(by_name[c], by)]
            if criteria:
                apart = sum(by_name[c].scale.apart(by) for c, by in ranges.items()) / len(ranges)
                items.append(Disputed(unit, tuple(criteria), apart))
        return sorted(items, key=lambda one: (-one.apart, one.unit))

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
    def summary(self) -> str:
        """How many items the rule names, in one sentence."""
        name, n = self.study.name, self.rated_twice
        if self.rule is None:
            return f"The study “{name}” has no rule: nothing is adjudicated."
        if not n:
            return f"Study “{name}”: no item was rated by two people yet, so there is nothing to adjudicate."
        if not self.disputed:
            return f"Study “{name}”: the rule finds nothing; no item of {n} has {self.rule_words}."
        return (
            f"Study “{name}”, {self.rule_words}: {len(self.disputed)} of {n} items, {len(self.done)} of them "
            "settled."
        )


def adjudication(db: Database, name: str) -> Adjudication:
    """The answers of a study as they stand. Raises NotFound."""
    out = [one.rater for one in exclusions.excluded(db, name).values()]
    given = informed.by_unit(informed.blind(db, name, out))
    answers = informed.by_unit(informed.answers(db, name, "adjudicate"))
    settled = {unit: {answer.criterion: answer for answer in of} for unit, of in answers.items()}
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
        state = adjudication(db, name)
        item = next((one for one in state.disputed if one.unit == unit), None)
        if item is None:
            raise StudyError(
                f"{_called(db, name, unit)} is not in dispute (any more): {_why(state, db, unit)}."
            )
        criteria = {c.name: c for c in state.study.criteria if c.name in item.criteria}
        if criterion not in {c.name for c in state.study.criteria}:
            raise not_found("criterion", criterion, criteria)
        if criterion not in criteria:
            labels = ", ".join(each.label for each in criteria.values())
            raise StudyError(
                f"{_called(db, name, unit)} is not in dispute on “{criterion}”, only on {labels}."
            )
        if score not in criteria[criterion].scale:
            raise StudyError(f"{score:g} is not on the scale of “{criteria[criterion].label}”.")
        if not reason.strip():
            word = criteria[criterion].scale.word(score)
            raise StudyError(
                f"Say why “{criteria[criterion].label}” is {word}: a settled score has a reason."
            )
    informed.give(db, "adjudicate", unit, rater, criterion, score, reason.strip())


def _called(db: Database, name: str, unit: int) -> str:
    """An item by its key, with the turn where the study rates turns."""
    place = next((one for one in studies.units(db, name) if one["id"] == unit), None)
    if place is None:
        return "This item"
    return f"“{place['key']}”" + (f", turn {place['turn']}," if place["turn"] else "")


def _why(state: Adjudication, db: Database, unit: int) -> str:
    """Why an item is not in dispute; nobody is named to an adjudicator."""
    everybody = informed.by_unit(informed.blind(db, state.study.name))
    if any(one.unit == unit for one in Adjudication(state.study, everybody, {}).disputed):
        return "somebody who rated it was left out of the study"
    return f"the rule, {state.rule_words}, does not name it" if state.rule else "the study has no rule"


def queue_table(db: Database, state: Adjudication) -> Table:
    """The items that the rule names, one criterion a row: everybody's answers, and what settled it."""
    places = {unit["id"]: unit for unit in studies.units(db, state.study.name)} if state.disputed else {}
    rows = [
        {
            **{"item": places[item.unit]["key"], "turn": places[item.unit]["turn"]},
            "criterion": question.criterion.name,
            "answers": question.criterion.scale.words([given.score for given in question.given]),
            "settled": question.criterion.scale.word(question.settled.score) if question.settled else "",
            "reason": question.settled.reason if question.settled else "",
            "by": question.settled.person if question.settled else "",
        }
        for item in state.disputed
        for question in state.questions(item)
    ]
    columns = map(Column, ("item", "turn", "criterion", "answers", "settled", "reason", "by"))
    shown = tuple(c for c in columns if c.name != "turn" or any(row["turn"] for row in rows))
    return Table("adjudication_queue", "Items to adjudicate", shown, tuple(rows), notes=(state.summary,))


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
    scores = {}
    for unit, of in by_unit.items():
        parts = [of.get(name, mean.get(unit, nan)) for name, mean in means.items()]
        if of.keys() & means.keys() and not any(map(isnan, parts)):
            scores[unit] = sum(parts) / len(parts)
    return scores
