"""What one conversation was given: means by criterion and rater, what judges gave each turn, and why."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple, Self

from sqlite_utils import Database

from concord.rating import Criterion, Rater, criteria_by_name
from concord.scores import Line, labels
from concord.store import ratings, summaries
from concord.store.ratings import StoredRating


class JudgeReason(NamedTuple):
    """Why a judge gave a score, which is in words."""

    judge: str
    criterion: str
    score: str
    reason: str


@dataclass(frozen=True)
class Verdicts:
    """What judges gave one turn, or the whole: criterion → judge → its scores in words; and the reasons."""

    scores: dict[str, dict[str, str]] = field(default_factory=dict)
    reasons: list[JudgeReason] = field(default_factory=list)

    @property
    def judges(self) -> list[str]:
        """Those who gave a score, by name."""
        judges: set[str] = set()
        for score_by_judge in self.scores.values():
            judges.update(score_by_judge)
        return sorted(judges)


@dataclass(frozen=True)
class OpenedConversation:
    """The ratings of a conversation in the order of the questions, the means they make, and judgements."""

    questions: Mapping[str, Criterion]
    ratings: Sequence[StoredRating]
    lines: Sequence[Line]
    judgements: Sequence[Mapping[str, Any]]

    @classmethod
    def read(cls, db: Database, conversation_id: int) -> Self:
        """Of the conversation with this number."""
        questions = criteria_by_name(ratings.criteria_of(db, conversation_id))
        place = {name: number for number, name in enumerate(questions)}
        stored_ratings = sorted(
            ratings.of_conversation(db, conversation_id), key=lambda r: place.get(r.criterion, len(place))
        )
        return cls(
            questions,
            stored_ratings,
            summaries.scorecard(db, conversation_id),
            ratings.judgements_of(db, conversation_id),
        )

    @cached_property
    def rater_names(self) -> dict[Rater, str]:
        """What to call each rater."""
        raters: list[Rater] = []
        for line in self.lines:
            raters += line.raters
        raters += [rating.rater for rating in self.ratings]
        return labels(raters, mark_simulated=True)

    def label(self, criterion: str) -> str:
        """A criterion as a reader sees it."""
        if criterion in self.questions:
            return self.questions[criterion].label
        return criterion.capitalize()

    def word(self, rating: StoredRating) -> str:
        """A score in the words of its question; a number where it is not asked (any more)."""
        question = self.questions.get(rating.criterion)
        if question is None:
            return f"{rating.score:g}"
        return question.scale_of(rating.rater.kind).word(rating.score)

    def cells(self, line: Line) -> dict[Rater, str]:
        """What each rater gave on a line: the mean; of categories, which have none, the answers."""
        cells: dict[Rater, str] = {}
        for rater, mean in line.raters.items():
            ratings_of_rater = [rating for rating in self.ratings if rating.rater == rater]
            cells[rater] = self._answers(line, ratings_of_rater) or f"{mean:.2f}"
        return cells

    def means(self, line: Line) -> tuple[str, str]:
        """The judges' and people's mean on a line; people's answers where they are categories."""
        if self._unordered(line):
            ratings_of_people = [rating for rating in self.ratings if rating.rater.kind == "human"]
            return "–", self._answers(line, ratings_of_people) or "–"
        return _mean(line.judges), _mean(line.people)

    def verdicts(self) -> dict[int, Verdicts]:
        """What judges gave each turn, by its number; under 0 what they gave the whole."""
        by_turn: dict[int, Verdicts] = {}
        for rating in self.ratings:
            if rating.rater.kind == "judge":
                label = self.label(rating.criterion)
                judge = self.rater_names[rating.rater]
                word = self.word(rating)
                verdicts = by_turn.setdefault(rating.turn or 0, Verdicts())
                row = verdicts.scores.setdefault(label, {})
                row[judge] = f"{row[judge]}, {word}" if judge in row else word
                if rating.explanation:
                    verdicts.reasons.append(JudgeReason(judge, label, word, rating.explanation))
        return by_turn

    def _unordered(self, line: Line) -> bool:
        return line.criterion in self.questions and not self.questions[line.criterion].scale.ordered

    def _answers(self, line: Line, stored_ratings: Iterable[StoredRating]) -> str:
        """Answers by name to the criterion of a line, in one line; “” where they are numbers."""
        if not self._unordered(line):
            return ""
        answers = [rating.score for rating in stored_ratings if rating.criterion == line.criterion]
        if not answers:
            return ""
        return self.questions[line.criterion].scale.words(answers)


def _mean(value: float | None) -> str:
    return "–" if value is None else f"{value:.2f}"
