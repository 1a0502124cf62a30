"""Ratings: Scale, Criterion, Rater, Rating, Judgement, Comparison, Annotation, Verification."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple

from concord.conversation import Unit

RaterKind = Literal["human", "judge"]
Verdict = Literal["A", "B", "C"]
"""A: the one shown first is better; B: the one shown second; C: neither."""
Finding = Literal["reasonable", "too_high", "too_low", "seen"]
"""What a person says of a judge's score and its reasons; “seen” is all there is to say of a verdict that
could not be read.
"""

Reason = Literal["", "optional", "required"]
"""Whether words may stand beside an answer; “” where none are asked for."""

MOST_POINTS = 1000
"""Whole numbers over a wider range than this are a continuous scale."""


@dataclass(frozen=True, slots=True)
class Scale:
    """A set of answers. `labels` are written out for every value, lowest first.

    A continuous scale names its two ends only, and every score between them is on it. A guessed scale was
    made of scores, not declared. The answers of a nominal scale are categories, numbered in the order in
    which they are shown: their numbers say nothing about more or less. Those of a pairwise scale say which of
    two is better: the first above 0, the second below, by far at the ends of a scale with strength.
    """

    values: tuple[float, ...]
    labels: tuple[str, ...]
    continuous: bool = False
    guessed: bool = field(default=False, compare=False)
    nominal: bool = False
    pairwise: bool = False

    def __post_init__(self) -> None:
        if len(self.values) != len(self.labels) or len(self.values) < 2:
            raise ValueError("a scale needs at least two values and one label for each")
        if list(self.values) != sorted(set(self.values)):
            raise ValueError("the values of a scale must rise")

    @property
    def low(self) -> float:
        """The lowest answer."""
        return self.values[0]

    @property
    def high(self) -> float:
        """The highest answer."""
        return self.values[-1]

    @property
    def named(self) -> bool:
        """Whether answers are read by name: categories, and one of two answers."""
        return self.nominal or (len(self.values) == 2 and not self.continuous)

    def word(self, score: float, *, level: bool = False) -> str:
        """A score as people read it: a category or one of two answers by name, everything else as a number.

        `level` writes the name of a level behind its number (“4 Agree”). A score that is no answer of the
        scale, such as a mean, is a number of at most three decimals.
        """
        number = f"{round(score, 3):g}"
        label = dict(zip(self.values, self.labels, strict=True)).get(score, number)
        if self.named or label == number:
            return label
        return f"{number} {label}" if level else number

    def words(self, scores: Sequence[float]) -> str:
        """Several scores in one line: names with the number of times, the most frequent first; else numbers
        in the order given.
        """
        if not self.named:
            return " ".join(map(self.word, scores))
        counted = Counter(map(self.word, scores)).most_common()
        return ", ".join(f"{word} × {n}" if n > 1 else word for word, n in counted)

    def __contains__(self, score: float) -> bool:
        return self.low <= score <= self.high if self.continuous else score in self.values


LIKERT_5 = Scale((1, 2, 3, 4, 5), ("Strongly disagree", "Disagree", "Neither", "Agree", "Strongly agree"))
YES_NO = Scale((0, 1), ("No", "Yes"))


def points(low: int, high: int) -> Scale:
    """A scale of whole numbers without words, such as 1 to 10."""
    values = tuple(range(low, high + 1))
    return Scale(values, tuple(map(str, values)))


def categories(names: Sequence[str]) -> Scale:
    """A scale of categories, numbered from 0 in this order."""
    return Scale(tuple(range(len(names))), tuple(names), nominal=True)


def preferences(*, ties: bool = True, strength: bool = False) -> Scale:
    """The answers to which of two is better, as judges write them."""
    second, first = (("B by far", "B"), ("A", "A by far")) if strength else (("B",), ("A",))
    labels = (*second, *(("tie",) if ties else ()), *first)
    most = len(second)
    values = tuple(value for value in range(-most, most + 1) if ties or value)
    return Scale(values, labels, nominal=True, pairwise=True)


def scale_of(text: str) -> Scale:
    """The scale that a text declares: “1..5”, “1-5” or “1:bad,2:fair,3:good”. Raises ValueError."""
    wholes = re.fullmatch(r"\s*(-?\d{1,9})\s*(?:-|\.\.)\s*(-?\d{1,9})\s*", text)
    if wholes:
        low, high = int(wholes[1]), int(wholes[2])
        if high - low > MOST_POINTS:
            return Scale((low, high), (str(low), str(high)), continuous=True)
        return points(low, high)
    pairs = [answer.partition(":") for answer in text.split(",")]
    values = tuple(float(value) for value, _, _ in pairs)
    if not all(map(math.isfinite, values)):
        raise ValueError("a scale has finite values")
    return Scale(values, tuple(label.strip() or value.strip() for value, _, label in pairs))


@dataclass(frozen=True, slots=True)
class Criterion:
    """A question asked of a unit. `statement` is what a rater agrees or disagrees with.

    `counted` says whether it enters *final* (a yes/no flag such as refusal does not). `conditional` means
    that it is asked of some conversations only: where nobody answered it, it is taken as not asked. `judged`
    is the scale that judges answer on, where it is another one than people's. `reason` says whether an answer
    may or must have a few words beside it. A question that is not `required` may be left out, and one with
    `only` is asked of conversations with these values of their facets.
    """

    name: str
    statement: str
    scale: Scale = LIKERT_5
    title: str = ""
    counted: bool = True
    conditional: bool = False
    judged: Scale | None = None
    reason: Reason = ""
    required: bool = True
    only: Mapping[str, tuple[str, ...]] = field(default_factory=dict, hash=False)

    def asked_of(self, facets: Mapping[str, str]) -> bool:
        """Whether it is asked of a conversation with these facets."""
        return all(facets.get(name) in values for name, values in self.only.items())

    def scale_of(self, kind: RaterKind) -> Scale:
        """The scale that people, or judges, answer on."""
        return self.judged if kind == "judge" and self.judged else self.scale

    @property
    def label(self) -> str:
        """The name as a reader sees it."""
        return self.title or self.name.replace("_", " ").capitalize()


@dataclass(frozen=True, slots=True)
class Rater:
    """A person or a model that rates.

    `variant` is the version of the prompt a judge answered (the same model under another prompt is another
    rater); `simulated` marks one that is neither a person nor a language model.
    """

    name: str
    kind: RaterKind
    variant: str = ""
    simulated: bool = False


@dataclass(frozen=True, slots=True)
class Rating:
    """One answer to one criterion about one unit."""

    unit: Unit
    criterion: str
    score: float
    explanation: str = ""


@dataclass(frozen=True)
class Spent:
    """What calls cost: tokens in and out, money in the currency of models.toml, seconds of waiting.

    `cached_tokens` are those of the tokens in that the endpoint had in its prompt cache. `unpriced` counts
    calls to models without a price, which add nothing to `cost`.
    """

    calls: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    cost: float = 0.0
    seconds: float = 0.0
    cached_tokens: int = 0
    unpriced: int = 0

    def __add__(self, other: Spent) -> Spent:
        return Spent(
            self.calls + other.calls,
            self.input_tokens + other.input_tokens,
            self.output_tokens + other.output_tokens,
            self.cost + other.cost,
            self.seconds + other.seconds,
            self.cached_tokens + other.cached_tokens,
            self.unpriced + other.unpriced,
        )

    def price(self, paid_in: str = "", *, digits: int = 2) -> str:
        """The cost in words: “at least” what is known where calls have no price, else “not known”."""
        cost = f"{self.cost:,.{digits}f} {paid_in}".strip()
        if not self.unpriced:
            return cost
        return f"at least {cost}" if self.cost else "not known"


NOTHING_SPENT = Spent()


@dataclass(frozen=True)
class Judgement:
    """What one judge made of one conversation: either ratings, or a failure with the raw reply; never both.

    `prompt` is the hash of the prompt that asked; `repeat` counts runs of the same judge from 0.
    """

    key: str
    conversation: str
    judge: Rater
    ratings: tuple[Rating, ...] = ()
    failure: str | None = None
    raw: str = ""
    prompt: str = ""
    repeat: int = 0
    spent: Spent = NOTHING_SPENT
    meta: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if (self.failure is None) == (not self.ratings):
            raise ValueError("a judgement holds ratings or a failure, one of the two")


@dataclass(frozen=True)
class Comparison:
    """Which of two conversations one rater preferred: `first` was shown as A, `second` as B. A verdict or a
    failure, never both.

    The same two in the other order are another comparison, so that a preference for a place can be told from
    one for a reply. `rubric` and `criterion` name the question; both are empty for a benchmark's own.
    `strong` says that one is better by far, where the question asks for that.
    """

    key: str
    first: str
    second: str
    rater: Rater
    verdict: Verdict | None = None
    explanation: str = ""
    failure: str | None = None
    raw: str = ""
    prompt: str = ""
    repeat: int = 0
    spent: Spent = NOTHING_SPENT
    rubric: str = ""
    criterion: str = ""
    strong: bool = False

    def __post_init__(self) -> None:
        if (self.failure is None) == (self.verdict is None):
            raise ValueError("a comparison holds a verdict or a failure, one of the two")
        if self.first == self.second:
            raise ValueError("a conversation cannot be compared with itself")


class Preference(NamedTuple):
    """Which of two is better, by far if `strong`, and why."""

    verdict: Verdict
    explanation: str = ""
    strong: bool = False

    @classmethod
    def of(cls, score: float, explanation: str = "") -> Preference:
        """The preference that an answer on a pairwise scale says."""
        return cls("A" if score > 0 else "B" if score < 0 else "C", explanation, abs(score) > 1)

    @property
    def score(self) -> int:
        """The answer on a pairwise scale."""
        return {"A": 1, "B": -1, "C": 0}[self.verdict] * (2 if self.strong else 1)


@dataclass(frozen=True, slots=True)
class Annotation:
    """One answer of a person at the desk, with the seconds they were at work on the item (idle time left
    out).
    """

    rating: Rating
    annotator: str
    seconds: float = 0.0
    comment: str = ""


@dataclass(frozen=True, slots=True)
class Verification:
    """What a person found of one judgement, having seen its score and its reasons.

    `corrected` is the score the person would have given instead; it may be left out, and a reasonable score
    needs none. Of a verdict that could not be read the finding is “seen”, with or without the score the
    person would have given.
    """

    judgement: str
    person: str
    finding: Finding
    comment: str = ""
    corrected: float | None = None
