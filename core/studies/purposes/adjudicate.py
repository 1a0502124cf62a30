"""Adjudication: a rule names items on which people differ, and one person settles each of their criteria.

What is settled is the score of one more rater, called “adjudicated”. It is no rating and replaces none.
"""

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from math import isnan, nan

from sqlite_utils import Database

from concord.errors import StudyError, check_known
from concord.rating import Criterion
from concord.scores import FINAL
from concord.store import conversations, studies
from concord.store.answers import ItemAnswer
from concord.store.studies import Study, StudyRule
from concord.studies.purposes import Blind, Look, Question, ShownAnswer, VisibleAnswers
from concord.table import Cell, Column, Table


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
        labels = {c.name: c.label for c in criteria}
        place = f"on “{labels.get(self.criterion, self.criterion)}”" if self.criterion else "on a criterion"
        nominal = {c.scale.named for c in criteria if self.criterion in ("", c.name)}
        if nominal == {True}:
            return f"different answers {place}"
        categorical = ", of categories different ones," if True in nominal else ""
        return f"answers at least {self.least:g} apart{categorical} {place}"

    def names(self, criterion: Criterion, difference: float) -> bool:
        """Whether a range of answers to a criterion is one to settle."""
        if difference <= 0 or self.criterion not in ("", criterion.name) or criterion.scale.kind.content:
            return False
        return not criterion.scale.ordered or difference >= min(self.least, criterion.scale.width) - 1e-9


def rule_of(study: Study) -> Rule | None:
    """The rule that names what is settled; None where nothing is."""
    rule = study.rules.get("adjudicate")
    return Rule(rule.threshold, rule.criterion) if rule else None


def set_rule(db: Database, name: str, rule: Rule) -> None:
    """Adjudicate a study by a rule. What is settled already stays.

    Raises NotFound for a study or criterion, StudyError for an anonymous study and a rule that cannot name
    anything: the rule before it stays then.
    """
    study = studies.get(db, name)
    if study.anonymous:
        raise StudyError(
            f"People's ratings in “{name}” have no names, so the answers of single annotators cannot "
            "be shown."
        )
    if rule.criterion:
        check_known("criterion", rule.criterion, [criterion.name for criterion in study.criteria])
    if rule.least <= 0:
        raise StudyError("A rule needs a range above 0.")
    refuse_too_wide(study, rule)
    studies.set_rule(db, name, "adjudicate", StudyRule(rule.least, rule.criterion))


def refuse_too_wide(study: Study, rule: Rule) -> None:
    """Raise StudyError for a range that is wider than every scale the rule looks at, with the widest one."""
    widths: list[float] = []
    for criterion in study.criteria:
        if rule.criterion in ("", criterion.name) and criterion.scale.ordered:
            widths.append(criterion.scale.width)
    widest = max(widths, default=rule.least)
    if rule.least > widest:
        place = f"on “{rule.criterion}”" if rule.criterion else "on any criterion"
        raise StudyError(
            f"Answers {place} cannot differ by {rule.least:g}. The largest possible difference is {widest:g}."
        )


def shown_answers(_db: Database, study: Study, _rater: int | None, blind: Blind) -> VisibleAnswers:
    """Everybody's answers on the criteria that the rule names, from the lowest to the highest, by item.

    The item on which people differ most comes first.
    """
    rule = rule_of(study)
    if rule is None:
        return {}
    far: dict[int, float] = {}
    disputed: VisibleAnswers = {}
    for item, answers in blind().items():
        gaps: list[float] = []
        for criterion in study.criteria:
            answers_of_criterion = [answer for answer in answers if answer.criterion == criterion.name]
            if len(answers_of_criterion) < 2:
                continue
            scores = [answer.score for answer in answers_of_criterion]
            difference = max(scores) - min(scores)
            gaps.append(criterion.scale.apart(difference))
            if rule.names(criterion, difference):
                answers_of_criterion.sort(key=lambda answer: (answer.score, answer.reason))
                anonymous_answers = [_anonymous(answer) for answer in answers_of_criterion]
                disputed.setdefault(item, {})[criterion.name] = anonymous_answers
        if item in disputed:
            far[item] = sum(gaps) / len(gaps)
    return dict(sorted(disputed.items(), key=lambda one: (-far[one[0]], one[0])))


def _anonymous(answer: ItemAnswer) -> ShownAnswer:
    flag = f"(flagged) {answer.flag}" if answer.flag else ""
    return ShownAnswer("", answer.score, "\n".join(filter(None, (answer.reason, flag))))


def summary(look: Look) -> str:
    """How many items the rule names, in one sentence."""
    name = look.study.name
    rule = rule_of(look.study)
    if rule is None:
        return f"The study “{name}” has no rule for adjudication."
    words = rule.words(look.study.criteria)
    if not look.items:
        return f"Study “{name}”: no item with two annotators has {words}."
    return f"Study “{name}”, {words}: {len(look.items)} items, {len(look.answered_items)} of them settled."


def queue_table(db: Database, look: Look) -> Table:
    """The items that the rule names, one criterion a row: everybody's answers, and what settled it.

    An item is shown by what was asked first, by its key where nothing was: a key may name the model.
    """
    places = {unit["id"]: unit for unit in studies.units(db, look.study.name)} if look.items else {}
    openings = conversations.openings(db, {places[item]["conversation_id"] for item in look.items})
    rows: list[dict[str, Cell]] = []
    for item, questions in look.items.items():
        place = places[item]
        opening = openings.get(place["conversation_id"]) or place["key"]
        for question in questions:
            rows.append({"item": opening, "turn": place["turn"], **_queue_row(question)})
    labels = {criterion.name: criterion.label for criterion in look.study.criteria}
    columns = [
        Column("item"),
        Column("criterion", words=labels),
        Column("answers"),
        Column("settled"),
        Column("reason"),
        Column("by"),
    ]
    if any(row["turn"] for row in rows):
        columns.insert(1, Column("turn"))
    notes = (summary(look),)
    return Table("adjudication_queue", "Items to adjudicate", tuple(columns), tuple(rows), notes=notes)


def _queue_row(question: Question) -> dict[str, Cell]:
    """Everybody's answers to a question, and what settled it."""
    scale = question.criterion.scale
    row: dict[str, Cell] = {
        "criterion": question.criterion.name,
        "answers": scale.words([answer.score for answer in question.shown_answers]),
        "settled": "",
        "reason": "",
        "by": "",
    }
    if question.answer:
        row["settled"] = scale.word(question.answer.score)
        row["reason"] = question.answer.reason
        row["by"] = question.answer.person
    return row


def scores_on(
    adjudicated: Sequence[ItemAnswer], criterion: str, means: Mapping[str, Mapping[Hashable, float]]
) -> dict[Hashable, float]:
    """The settled score of each unit on a criterion, or on final.

    `means` is people's mean of the criteria that count, criterion → unit → mean; final is the mean over them
    of the settled score, and of people's mean where a criterion was not in dispute. Units without a settled
    criterion are not there.
    """
    by_unit: dict[Hashable, dict[str, float]] = {}
    for answer in adjudicated:
        by_unit.setdefault(answer.item, {})[answer.criterion] = answer.score
    scores: dict[Hashable, float] = {}
    if criterion != FINAL:
        for unit, scores_of_unit in by_unit.items():
            if criterion in scores_of_unit:
                scores[unit] = scores_of_unit[criterion]
        return scores
    for unit, scores_of_unit in by_unit.items():
        parts = [scores_of_unit.get(name, mean.get(unit, nan)) for name, mean in means.items()]
        if scores_of_unit.keys() & means.keys() and not any(map(isnan, parts)):
            scores[unit] = sum(parts) / len(parts)
    return scores
