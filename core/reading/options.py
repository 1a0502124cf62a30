"""What a user states about a table of labels; all of it optional."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field

from concord.errors import ConfigError
from concord.questions import Scale

NO_ID = "none"
"""The id that says that rows are numbered."""
NO_MISSING = "none"
"""What says that every value is an answer, however far off it lies."""


@dataclass(frozen=True)
class TableOptions:
    """What a user states about the columns of a table.

    `people`, `judges` and `gold` are columns, or raters of a table with a rating a row; `id` is “none” where
    rows are numbered. `rater`, `score`, `kind`, `criterion_column` and `run` are columns of a table with a
    rating a row. From `passing` on a number passes. `missing` are values that stand for no answer,
    `categories` names of answers without an order, `order` names of answers from the least.
    """

    people: tuple[str, ...] = ()
    judges: tuple[str, ...] = ()
    id: str = ""
    group_columns: tuple[str, ...] = ()
    criteria: tuple[str, ...] = ()
    scales: Mapping[str, Scale] = field(default_factory=dict)
    passing: float | None = None
    gold: tuple[str, ...] = ()
    text: str = ""
    rater: str = ""
    score: str = ""
    kind: str = ""
    criterion_column: str = ""
    run: str = ""
    missing: tuple[str, ...] = ()
    categories: tuple[str, ...] = ()
    order: tuple[str, ...] = ()
    other_columns: tuple[str, ...] = ()
    """Columns that hold no answers and are read with each item, such as its weight."""
    excluded: tuple[tuple[str, str], ...] = ()
    """Groups whose rows are not read: a column and its value."""

    def __post_init__(self) -> None:
        """Raises ConfigError for a set of answers with fewer than two, and for a pass from no number."""
        for option, answers in (("categories", self.categories), ("order", self.order)):
            if answers and len({answer.casefold() for answer in answers}) < max(2, len(answers)):
                message = "needs at least two answers, each of them once"
                raise ConfigError(f"{option} {message}: {', '.join(answers)}.")
        if self.passing is not None and not math.isfinite(self.passing):
            raise ConfigError(f"The lowest number that passes must be finite: {self.passing}.")

    @property
    def criterion(self) -> str:
        """The first criterion that is stated; “” where none is."""
        return self.criteria[0] if self.criteria else ""

    @property
    def raters(self) -> tuple[str, ...]:
        """Everybody who is stated."""
        return (*self.people, *self.judges, *self.gold)


NO_OPTIONS = TableOptions()


def group_of(text: str) -> tuple[str, str]:
    """The column and the value of “topic=medical”. Raises ConfigError."""
    column, sign, value = text.partition("=")
    if not sign or not column.strip():
        raise ConfigError(f"{text} names no group: write COLUMN=VALUE, such as topic=medical.")
    return column.strip(), value.strip()


def order_of(text: str) -> tuple[str, ...]:
    """The answers of “poor<fair<good”, from the least; also of “good>fair>poor”. Commas part them too."""
    falling = ">" in text and "<" not in text
    parts = [part.strip() for part in text.replace(">", "<").replace(",", "<").split("<")]
    names = tuple(part for part in parts if part)
    return names[::-1] if falling else names
