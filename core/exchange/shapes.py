"""The forms of conversations that Concord recognises, as data/shapes.toml has them: where each keeps what.

The settings are paths (`concord.exchange.row_paths`). Of several paths the first that leads to something
counts; “@” is one of several entries of which each is a conversation, “^” what stands around the rows.
"""

import re
from collections.abc import Mapping
from dataclasses import field
from functools import cache, cached_property
from typing import Any, Literal

from pydantic import ConfigDict, TypeAdapter
from pydantic.dataclasses import dataclass

from concord.codes import Scorer
from concord.conversation import Role
from concord.exchange.file_row import AROUND
from concord.exchange.row_paths import JSON_TEXT, TALK, Paths, first, value_at
from concord.files import SHIPPED, kept_toml
from concord.rating import RaterKind, Verdict
from concord.runs.registry import SLICES

_STRICT = ConfigDict(extra="forbid")
COLUMNS_OF = ".*"
"""The end of a path to which several columns of a table belong, such as `feedback_scores.*`."""
ENTRY = "@"
"""The name under which a row has one of its several entries."""
ROWS = "rows"
"""The name under which a conversation of several rows has them."""


@dataclass(frozen=True, config=_STRICT)
class Side:
    """One dialogue of a row: where its parts lie, put one after another, and who replied in it.

    `messages` leads to a list of messages, or the JSON of one, which have roles of their own, `talk` to a
    text that names who speaks (“Human: … Assistant: …”). At `system`,
    `user` and `assistant` a plain text is said by that role; a path that ends in “~” leads to a text that is
    messages or texts written as JSON, one that ends in “?” to one that may be. `player` leads to the name of
    the model, which is `unnamed` without.
    """

    system: Paths = ()
    messages: Paths = ()
    talk: Paths = ()
    user: Paths = ()
    assistant: Paths = ()
    player: Paths = ()
    unnamed: str = "unknown"

    @cached_property
    def parts(self) -> tuple[tuple[Role, Paths], ...]:
        """Where each part lies, with who says a plain text there."""
        messages = tuple(f"{path}{JSON_TEXT}" for path in self.messages)
        messages += tuple(f"{path}{TALK}" for path in self.talk)
        spoken: tuple[tuple[Role, Paths], ...] = (("user", self.user), ("assistant", self.assistant))
        return ("system", self.system), ("user", messages), *spoken


@dataclass(frozen=True, config=_STRICT)
class Votes:
    """Which of a row's sides somebody preferred.

    A path of `winner` leads to the winner as WON, or `words`, names it, a path of `columns` to whether it is
    this one, one of `thresholds` to a number, below the one given here where the first wins, above it where
    the second does, by far from a distance of `strong` on. `verdict` is the winner of every row. `rank` leads
    to the rank of each side, 1 the best. `turn` is the turn it is about. `rater` leads to who votes, a list
    in it to a judge's name and its prompt; without, `unnamed` does, a person unless `rater_kind` says judge
    or gold.
    """

    winner: Paths = ()
    columns: Mapping[str, Verdict] = field(default_factory=dict)
    words: Mapping[str, Verdict] = field(default_factory=dict)
    thresholds: Mapping[str, float] = field(default_factory=dict)
    strong: float = 0
    verdict: Verdict | None = None
    rank: str = ""
    reason: Paths = ()
    rater: Paths = ()
    rater_kind: RaterKind = "human"
    unnamed: str = ""
    turn: str = ""


WON: Mapping[str, Verdict] = {
    **dict.fromkeys(("model_a", "a", "a>b", "model_1", "left", "first", "chosen", "response_a"), "A"),
    **dict.fromkeys(("model_b", "b", "b>a", "model_2", "right", "second", "response_b"), "B"),
    **dict.fromkeys(("tie", "tie (bothbad)", "both_bad", "bothbad", "both_good", "c", "neither", "a=b"), "C"),
    **dict.fromkeys(("draw", "equal"), "C"),
}
"""What a winner is called."""


@dataclass(frozen=True, config=_STRICT)
class Several:
    """One row that holds several conversations: an entry each of what `entries` leads to, “@” in other paths.

    With `threads` it is a tree of messages, and each way from its root to an end is a conversation:
    “@.messages”, and “@.last”, the last message. Messages lie in each other's `replies`, name their `parent`,
    or follow each other, but for the `unchosen` ones.
    """

    entries: Paths
    threads: Literal["", "replies", "parent", "unchosen"] = ""


@dataclass(frozen=True, config=_STRICT)
class Turns:
    """One conversation that has several rows: those with one value at `conversation`, in the order of
    `order`.

    Without `conversation` it is the whole file. They lie at “rows” in the first of them. `speaker` and `text`
    lead to who speaks in a row and what, where their names do not say so.
    """

    conversation: Paths = ()
    order: Paths = ()
    speaker: Paths = ()
    text: Paths = ()


@dataclass(frozen=True, config=_STRICT)
class JoinedFile:
    """Rows of a second file (`--join`) that belong to those of the first: its `key` is theirs at `row_key`.

    They stand there in `field`: one, or with `as_list` a list. Rows of the first file may be parts of what
    `key` names, each with its id at `part`: a joined row is about the part that it names at `subject`, else
    about the one that has nothing at `parent`.
    """

    name: str
    has: Paths
    key: Paths
    row_key: Paths
    field: str
    as_list: bool = False
    part: Paths = ()
    subject: Paths = ()
    parent: Paths = ()


@dataclass(frozen=True, config=_STRICT)
class ScorePaths:
    """Scores of a row: one under `criterion`, or a mapping or a list of them; where `path` ends in “*”,
    columns that begin so and end as the parts of a score are called.

    In a mapping a name leads to a score, to a list of scores of the turns, or to an object whose score lies
    at `value`. In a list each entry has its criterion at `name` and its score at `value`. `rater` and `kind`
    lead to who gave it: a kind, of the entry or at `row_kind` of the row (“=”: the criterion's name), is
    among `people`, `judges` or `code` (“*”: any other), else it is `scorer`: unknown where kinds are named, a
    judge where none are; `owner` names it only where it is a person. `inside` an entry of a list are the
    scores that it consists of, by name. At `authors` an entry has the score of each of several, of which its
    own is the mean; at `edits` its earlier scores, where it was changed. `audit` leads to
    Braintrust's list of changes, of which one on a page is a person's. `comment` leads to a person's reasons,
    `turn` to the turn that it is about. What lies `unless` at a path makes it no score (a word that ends in
    “: ” is how it begins). What is `graded` is read as promptfoo's result. Where raters are `anonymous`, a
    list has one score of each, who may be another in the next row: their study is anonymous.
    """

    path: str
    criterion: str = ""
    name: Paths = ("name",)
    value: Paths = ()
    reason: Paths = ()
    rater: Paths = ()
    owner: Paths = ()
    kind: Paths = ()
    row_kind: Paths = ()
    inside: str = ""
    authors: str = ""
    edits: str = ""
    audit: str = ""
    people: tuple[str, ...] = ()
    judges: tuple[str, ...] = ()
    code: tuple[str, ...] = ()
    scorer: Scorer | None = None
    comment: Paths = ()
    unless: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    graded: bool = False
    required: Paths = ()
    turn: Paths = ()
    anonymous: bool = False


@dataclass(frozen=True, config=_STRICT)
class SpanRows:
    """Rows that are spans of traces: those of the `scorers` types belong to their parent, which has their
    scores under `name`. Where the outermost span is of a `closed` type, others in it are no conversations.
    """

    id: Paths
    root: Paths
    parent: Paths
    type: Paths
    scorers: tuple[str, ...]
    closed: tuple[str, ...]
    scores: str
    reason: Paths
    name: str


@dataclass(frozen=True, config=_STRICT)
class Shape:
    """A form of rows. A row has it if each of `has` leads to something; of names joined by “|” one is enough.

    Names of a `key` that are joined by “+” make it together. `scenario` tells what was asked: only
    conversations of one scenario are compared. `context` is shown beside the dialogue, by heading; `facets`
    are filtered by.
    """

    name: str
    has: Paths
    sides: tuple[Side, ...]
    key: Paths = ()
    scenario: Paths = ()
    language: Paths = ()
    context: Mapping[str, Paths] = field(default_factory=dict)
    facets: Mapping[str, Paths] = field(default_factory=dict)
    votes: Votes | None = None
    scores: tuple[ScorePaths, ...] = ()
    several: Several | None = None
    turns: Turns | None = None
    like: Mapping[str, str] = field(default_factory=dict)
    """Patterns (`re`) that are found in the texts at these paths; of paths joined by “|” the first counts."""
    unlike: Mapping[str, str] = field(default_factory=dict)
    """Patterns that are not found at these paths."""
    allowed: Paths = ()
    """The names that a row may have, where it may have no others."""
    roles: Mapping[str, Role] = field(default_factory=dict)
    """Who speakers are, by the names that only this form gives them."""
    nested: SpanRows | None = None
    spans: bool = False
    """Whether its rows are spans of OpenTelemetry, of which several may be one conversation."""
    log: bool = False
    """Whether rows of other forms are passed over, as in logs of many things."""
    failed: Paths = ()
    """Where a row says why it has no reply."""
    failed_if: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """What lies at a path in a row that failed; of paths joined by “|” the first counts."""
    excluded: Paths = ()
    """Fields that are excluded."""
    holds: str = ""
    """What has the form, for docs/formats.md."""
    note: str = ""
    """What else its files hold, and how it is taken."""


@dataclass(frozen=True, config=_STRICT)
class OtherFile:
    """A form of rows that are no conversations, and what to do with it."""

    name: str
    has: Paths
    remedy: str


@dataclass(frozen=True, config=_STRICT)
class Forms:
    """Every form, those of the benchmarks' published files first; the first that fits counts. What a second
    file may hold, and files that other commands read or that hold no conversations.
    """

    shapes: tuple[Shape, ...]
    joins: tuple[JoinedFile, ...]
    other_files: tuple[OtherFile, ...]


@cache
def forms() -> Forms:
    """The forms that data/shapes.toml and those of the benchmarks have."""
    tables = dict(kept_toml(SHIPPED / "data" / "shapes.toml"))
    common = {name: tables.pop(name) for name in ("common", "spans")}
    of_benchmarks = (kept_toml(SHIPPED / "data" / name / "shapes.toml") for name in SLICES)
    shapes: list[dict[str, Any]] = []
    for file in (*of_benchmarks, tables):
        shapes += [dict(shape) for shape in file.get("shapes", ())]
    for name, settings in common.items():
        shapes = [{**settings, **shape} if shape.get(name) else shape for shape in shapes]
    for shape in shapes:
        shape.pop("common", None)
    return TypeAdapter(Forms).validate_python(tables | {"shapes": shapes})


def failure(fields: Mapping[str, Any], shape: Shape) -> Any:
    """Why a row failed, as it says; None for one that did not."""
    for paths, values in shape.failed_if.items():
        if (value := first(fields, tuple(paths.split("|")))) is not None and str(value) not in values:
            return None
    return first(fields, shape.failed)


def shape_of(fields: Mapping[str, Any]) -> Shape | None:
    """The form of a row; None for a form that is not known."""
    return next((shape for shape in forms().shapes if has(fields, shape)), None)


def has(fields: Mapping[str, Any], shape: Shape | JoinedFile | OtherFile) -> bool:
    """Whether a row has what a form needs. A name of the row's own counts even where it holds nothing."""
    has_fields = all(any(_holds(fields, name) for name in one.split("|")) for one in shape.has)
    if not has_fields or not isinstance(shape, Shape):
        return has_fields
    like = ((first(fields, tuple(paths.split("|"))), pattern) for paths, pattern in shape.like.items())
    if not all(re.search(pattern, _begins(value)) for value, pattern in like):
        return False
    for path, pattern in shape.unlike.items():
        value = value_at(fields, path)
        if value is not None and re.search(pattern, _begins(value)):
            return False
    return not shape.allowed or fields.keys() <= {*shape.allowed, AROUND}


def _holds(fields: Mapping[str, Any], name: str) -> bool:
    """Whether a row has something at a path; one that ends in “.*” is what its columns begin with."""
    if name.endswith(COLUMNS_OF):
        return any(str(column).startswith(name.removesuffix("*")) for column in fields)
    return name in fields or value_at(fields, name) is not None


def _begins(value: Any) -> str:
    """A text as it is; of a list or an object no more than the signs that it has."""
    if isinstance(value, list):
        return "[, "
    return "{" if isinstance(value, Mapping) else str(value)
