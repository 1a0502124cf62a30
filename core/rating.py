"""Ratings: Criterion, Rater, Rating, Judgement, Comparison, Finding."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from operator import add
from typing import Any, Literal, NamedTuple

from concord.conversation import Unit
from concord.questions import LIKERT_5, Scale

RaterKind = Literal["human", "judge", "gold"]
"""Gold labels are taken for right: judges and people are measured against them, and they are no person's."""
Verdict = Literal["A", "B", "C"]
"""A: the one shown first is better; B: the one shown second; C: neither."""
Finding = Literal["reasonable", "too_high", "too_low", "wrong"]
"""What a person says of a judge's score and its reasons.

Of an answer by name, such as a category, it is “wrong” in place of too high and too low.
"""
FINDINGS: Mapping[Finding, float] = {"reasonable": 0, "too_high": 1, "too_low": -1, "wrong": 2}
"""The values as which findings are stored."""

Reason = Literal["", "optional", "required"]
"""Whether words may stand beside an answer; “” where none are asked for."""


@dataclass(frozen=True, slots=True)
class Dependence:
    """The answers on which something depends: these values (of labels: any of these that applies), or those
    between two bounds, which are not among them.
    """

    values: tuple[float, ...] = ()
    below: float | None = None
    above: float | None = None

    def holds(self, scale: Scale, score: float) -> bool:
        """Whether an answer on a scale is one of them."""
        if self.values and scale.sets:
            return any(int(score) & int(value) or value == score for value in self.values)
        if self.values:
            return score in self.values
        return (self.below is None or score < self.below) and (self.above is None or score > self.above)

    def words(self, scale: Scale) -> str:
        """It in words, such as “fail” or “unclear”, below 3."""
        if self.values:
            return " or ".join(f"“{scale.word(value)}”" for value in self.values)
        bounds = {"above": self.above, "below": self.below}
        return " and ".join(f"{name} {bound:g}" for name, bound in bounds.items() if bound is not None)


@dataclass(frozen=True, slots=True)
class Criterion:
    """A question asked of a unit. `statement` is what a rater agrees or disagrees with.

    `counted` says whether it enters *final* (a yes/no flag such as refusal does not). `conditional` means
    that it is asked of some conversations only: where nobody answered it, it is taken as not asked. `judged`
    is the scale that judges answer on, where it is another one than people's. `reason` says whether an answer
    may or must have a few words beside it; it must where `explain` holds for the answer. A question that is
    not `required` may be skipped, and one with `only` is asked of conversations with these values of their
    facets. One with `when` is asked where the answers to the questions that it names, which stand before it,
    meet these conditions. One that is `whole` is about a conversation as a whole, where others of the same
    study are about its replies.
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
    whole: bool = False
    when: Mapping[str, Dependence] = field(default_factory=dict, hash=False)
    explain: Dependence | None = None

    def asked_of(self, facets: Mapping[str, str]) -> bool:
        """Whether it is asked of a conversation with these facets."""
        return all(facets.get(name) in values for name, values in self.only.items())

    def explained(self, score: float) -> bool:
        """Whether this answer must have words beside it."""
        by_answer = self.explain is not None and self.explain.holds(self.scale, score)
        return self.reason == "required" or by_answer

    def scale_of(self, kind: RaterKind) -> Scale:
        """The scale that people, or judges, answer on."""
        return self.judged if kind == "judge" and self.judged else self.scale

    @property
    def label(self) -> str:
        """The name as a reader sees it."""
        return self.title or self.name.replace("_", " ").capitalize()


def criteria_by_name(criteria: Iterable[Criterion]) -> dict[str, Criterion]:
    """Criteria by their names, in their order."""
    return {criterion.name: criterion for criterion in criteria}


def asked(criteria: Sequence[Criterion], answers: Mapping[str, float]) -> tuple[Criterion, ...]:
    """Those of the questions that are asked, given the answers by name.

    One that depends on others is asked where these are asked themselves and their answers meet its
    conditions.
    """
    by_name = criteria_by_name(criteria)
    decided: dict[str, bool] = {}

    def there(criterion: Criterion) -> bool:
        if criterion.name not in decided:
            decided[criterion.name] = all(
                name in by_name
                and name in answers
                and there(by_name[name])
                and condition.holds(by_name[name].scale, answers[name])
                for name, condition in criterion.when.items()
            )
        return decided[criterion.name]

    return tuple(criterion for criterion in criteria if there(criterion))


def conditions_in_words(criterion: Criterion, criteria: Sequence[Criterion]) -> str:
    """On what a question depends, such as Verdict is “fail”; “” where it is always asked."""
    by_name = criteria_by_name(criteria)
    return " and ".join(
        f"{by_name[name].label} is {condition.words(by_name[name].scale)}"
        for name, condition in criterion.when.items()
        if name in by_name
    )


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

    @property
    def program(self) -> str | None:
        """The name of the program that this judge is, “” for one without a name; None for any other rater."""
        if self.kind != "judge" or not (self.name == CODE or self.name.endswith(PROGRAM)):
            return None
        return "" if self.name == CODE else self.name.removesuffix(PROGRAM)


CODE = "code"
"""The judge that gives the scores of a program without a name."""
PROGRAM = f" ({CODE})"
"""The end of the name of any other."""


def program(name: str = "") -> Rater:
    """The judge that is the program of this name: its own name says that it is code."""
    bare = name.removesuffix(PROGRAM)
    return Rater(CODE if bare in ("", CODE) else bare + PROGRAM, "judge")


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
        return Spent(*map(add, vars(self).values(), vars(other).values()))

    def price(self, paid_in: str = "", *, digits: int = 2) -> str:
        """The cost in words: “at least” what is known where calls have no price, else “not known”."""
        small = 0 < self.cost < 10**-digits / 2  # it would round to nothing
        cost = (f"{self.cost:.1g}" if small else f"{self.cost:,.{digits}f}") + f" {paid_in}".rstrip()
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


class Order(NamedTuple):
    """The rank of each of several conversations, as they were shown, 1 the best; and why."""

    ranks: tuple[int, ...]
    explanation: str = ""


class Preference(NamedTuple):
    """Which of two is better, by far if `strong`, and why."""

    verdict: Verdict
    explanation: str = ""
    strong: bool = False

    @classmethod
    def of(cls, score: float, explanation: str = "") -> Preference:
        """The preference that an answer on a pairwise scale says."""
        verdict: Verdict = "C"
        if score > 0:
            verdict = "A"
        elif score < 0:
            verdict = "B"
        return cls(verdict, explanation, abs(score) > 1)

    @property
    def score(self) -> int:
        """The answer on a pairwise scale."""
        return {"A": 1, "B": -1, "C": 0}[self.verdict] * (2 if self.strong else 1)
