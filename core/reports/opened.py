"""What one conversation was given: means by criterion and rater, what judges gave each turn, and why."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Self

from sqlite_utils import Database

from concord.rating import Criterion, Rater
from concord.scores import Line, labels
from concord.store import ratings, summaries
from concord.store.ratings import Stored


@dataclass(frozen=True)
class Verdicts:
    """What judges gave one turn, or the whole: criterion → judge → its scores in words; and judge, criterion,
    score and reason of each that has a reason.
    """

    scores: dict[str, dict[str, str]] = field(default_factory=dict)
    reasons: list[tuple[str, str, str, str]] = field(default_factory=list)

    @property
    def judges(self) -> list[str]:
        """Those who gave a score, by name."""
        return sorted({judge for scores_of_judge in self.scores.values() for judge in scores_of_judge})


@dataclass(frozen=True)
class OpenedConversation:
    """The ratings of a conversation in the order of the questions, the means they make, and judgements."""

    questions: Mapping[str, Criterion]
    ratings: Sequence[Stored]
    lines: Sequence[Line]
    judgements: Sequence[Mapping[str, Any]]

    @classmethod
    def read(cls, db: Database, conversation_id: int) -> Self:
        """Of the conversation with this number."""
        questions = {c.name: c for c in ratings.criteria_of(db, conversation_id)}
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
        of_lines = [rater for line in self.lines for rater in line.raters]
        return labels([*of_lines, *(r.rater for r in self.ratings)], mark_simulated=True)

    def label(self, criterion: str) -> str:
        """A criterion as a reader sees it."""
        return self.questions[criterion].label if criterion in self.questions else criterion.capitalize()

    def word(self, r: Stored) -> str:
        """A score in the words of its question; a number where it is not asked (any more)."""
        question = self.questions.get(r.criterion)
        return question.scale_of(r.rater.kind).word(r.score) if question else f"{r.score:g}"

    def cells(self, line: Line) -> dict[Rater, str]:
        """What each rater gave on a line: the mean; of categories, which have none, the answers."""
        return {
            rater: self._answers(line, (r for r in self.ratings if r.rater == rater)) or f"{mean:.2f}"
            for rater, mean in line.raters.items()
        }

    def means(self, line: Line) -> tuple[str, str]:
        """The judges' and people's mean on a line; people's answers where they are categories."""
        if self._unordered(line):
            return "–", self._answers(line, (r for r in self.ratings if r.rater.kind == "human")) or "–"
        judges, people = ("–" if mean is None else f"{mean:.2f}" for mean in (line.judges, line.people))
        return judges, people

    def verdicts(self) -> dict[int, Verdicts]:
        """What judges gave each turn, by its number; under 0 what they gave the whole."""
        by_turn: dict[int, Verdicts] = {}
        for r in self.ratings:
            if r.rater.kind == "judge":
                label, judge, word = self.label(r.criterion), self.rater_names[r.rater], self.word(r)
                verdicts = by_turn.setdefault(r.turn or 0, Verdicts())
                row = verdicts.scores.setdefault(label, {})
                row[judge] = f"{row[judge]}, {word}" if judge in row else word
                if r.explanation:
                    verdicts.reasons.append((judge, label, word, r.explanation))
        return by_turn

    def _unordered(self, line: Line) -> bool:
        return line.criterion in self.questions and not self.questions[line.criterion].scale.ordered

    def _answers(self, line: Line, stored_ratings: Iterable[Stored]) -> str:
        """Answers by name to the criterion of a line, in one line; “” where they are numbers."""
        if not self._unordered(line):
            return ""
        answers = [r.score for r in stored_ratings if r.criterion == line.criterion]
        return self.questions[line.criterion].scale.words(answers) if answers else ""
