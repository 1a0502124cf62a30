"""The types of questions: how each is answered at the desk and by a judge, and how its agreement is measured.

A criterion's scale says of which type it is; `type_of` is the only place that decides.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Literal, get_args

from pydantic import Field

from concord.rating import Criterion

Name = Literal["likert", "yes-no", "categories", "number", "pairwise"]
Level = Literal["ordinal", "nominal", "interval"]


@dataclass(frozen=True)
class QuestionType:
    """One type of question.

    `level` is the level of measurement, by which Krippendorff's alpha is computed. `reply` gives the type of
    a judge's answer in its reply's schema, `score` the score of such an answer, `example` how the answer is
    written in the form that the judge is shown.
    """

    about: str
    level: Level
    widget: Literal["options", "number", "pair"]
    reply: Callable[[Criterion], Any]
    score: Callable[[Criterion, Any], float]
    example: Callable[[Criterion], str]


def _points(criterion: Criterion) -> Any:
    values = [int(value) for value in criterion.scale.values]
    if values == list(range(values[0], values[-1] + 1)):
        return _range(criterion)
    return Literal[tuple(values)]


def _range(criterion: Criterion) -> Any:
    return Annotated[int, Field(ge=int(criterion.scale.low), le=int(criterion.scale.high))]


def _from_to(criterion: Criterion) -> str:
    return f"<{criterion.scale.low:g} to {criterion.scale.high:g}>"


def _named(criterion: Criterion) -> Any:
    return Literal[criterion.scale.labels[::-1] if criterion.scale.pairwise else criterion.scale.labels]


def _place(criterion: Criterion, value: str) -> float:
    return criterion.scale.values[criterion.scale.labels.index(value)]


def _either(criterion: Criterion) -> str:
    return " or ".join(f'"{label}"' for label in get_args(_named(criterion)))


TYPES: Mapping[Name, QuestionType] = {
    "likert": QuestionType(
        "A scale of whole numbers, with words for its levels.",
        "ordinal",
        "options",
        _points,
        lambda criterion, value: float(value),
        _from_to,
    ),
    "yes-no": QuestionType(
        "Yes or no.",
        "nominal",
        "options",
        lambda criterion: bool,
        lambda criterion, value: float(value),
        lambda criterion: "true or false",
    ),
    "categories": QuestionType(
        "One of several answers without an order.",
        "nominal",
        "options",
        _named,
        _place,
        _either,
    ),
    "number": QuestionType(
        "A whole number in a range, such as 0 to 100.",
        "interval",
        "number",
        _range,
        lambda criterion, value: float(value),
        _from_to,
    ),
    "pairwise": QuestionType(
        "Which of two conversations, or of two last replies, is better.",
        "nominal",
        "pair",
        _named,
        _place,
        _either,
    ),
}


def type_of(criterion: Criterion) -> Name:
    """The type of a question, from its scale."""
    scale = criterion.scale
    if scale.pairwise:
        return "pairwise"
    if scale.nominal:
        return "categories"
    if scale.continuous:
        return "number"
    return "yes-no" if scale.values == (0, 1) else "likert"
