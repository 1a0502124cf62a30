"""The forms of conversations that Concord recognises, as data/shapes.toml has them: where each keeps what.

A path is names joined by dots; a number is a place in a list (-1: the last), “^” what stands around the list
of rows, “@” one of several entries of which each is a conversation. Texts that hold JSON are read on the
way, not at the end: what somebody said stays as it is, unless the path ends in “~”. Of several paths the
first that leads to something counts.
"""

import ast
import re
from collections.abc import Mapping, Sequence
from dataclasses import field, replace
from functools import cache, cached_property
from typing import Any, Literal

from pydantic import ConfigDict, TypeAdapter
from pydantic.dataclasses import dataclass

from concord.codes import Scorer
from concord.conversation import Role
from concord.errors import ConcordError
from concord.exchange.rows import AROUND
from concord.files import SHIPPED, kept_toml, parse_json
from concord.rating import RaterKind, Verdict
from concord.runs.registry import SLICES

Paths = tuple[str, ...]
_STRICT = ConfigDict(extra="forbid")
JSON_TEXT = "~"
"""The end of a path to a text that is written as JSON."""
TALK = "#"
"""The end of a path to a text that is a whole dialogue: “Human: … Assistant: …”."""
CHAT = "?"
"""The end of a path to a text that may be messages with roles, written as JSON, and is itself otherwise."""
_PYTHON = re.compile(r"\s*(\[\s*)?\{\s*'")
_PYTHON_TEXT = 2**20
"""Characters of a text that is read as Python writes lists and dicts."""
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
    this one, one of `less` to a number, below the one given here where the first wins, above it where the
    second does, by far from a distance of `strong` on. `won` is the winner of every row. `rank` leads to the
    rank of each side, 1 the best. `turn` is the turn it is about. `by` leads to who votes, a list in it to a
    judge's name and its prompt; without, `who` does, a person unless `rater` says judge or gold.
    """

    winner: Paths = ()
    columns: Mapping[str, Verdict] = field(default_factory=dict)
    words: Mapping[str, Verdict] = field(default_factory=dict)
    less: Mapping[str, float] = field(default_factory=dict)
    strong: float = 0
    won: Verdict | None = None
    rank: str = ""
    why: Paths = ()
    by: Paths = ()
    rater: RaterKind = "human"
    who: str = ""
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
    """One row that holds several conversations: an entry each of what `at` leads to, “@” in other paths.

    With `threads` it is a tree of messages, and each way from its root to an end is a conversation:
    “@.messages”, and “@.last”, the last message. Messages lie in each other's `replies`, name their `parent`,
    or follow each other, but for the `unchosen` ones.
    """

    at: Paths
    threads: Literal["", "replies", "parent", "unchosen"] = ""


@dataclass(frozen=True, config=_STRICT)
class Turns:
    """One conversation that has several rows: those that are equal `by` these paths, in the order of `order`.

    Without `by` it is the whole file. They lie at “rows” in the first of them. `speaker` and `text` lead to
    who speaks in a row and what, where their names do not say so.
    """

    by: Paths = ()
    order: Paths = ()
    speaker: Paths = ()
    text: Paths = ()


@dataclass(frozen=True, config=_STRICT)
class Joined:
    """Rows of a second file (`--join`) that belong to those of the first: its `key` is theirs at `to`.

    They are put there as `put`: one, or `many` as a list. Rows of the first file may be parts of what `key`
    names, each with its id at `part`: a joined row is about the part that it names at `subject`, else about
    the one that has nothing at `parent`.
    """

    name: str
    has: Paths
    key: Paths
    to: Paths
    put: str
    many: bool = False
    part: Paths = ()
    subject: Paths = ()
    parent: Paths = ()


@dataclass(frozen=True, config=_STRICT)
class ScorePaths:
    """Scores of a row: one under `criterion`, or a mapping or a list of them; where `at` ends in “*”, columns
    that begin so and end as the parts of a score are called.

    In a mapping a name leads to a score, to a list of scores of the turns, or to an object whose score lies
    at `value`. In a list each entry has its criterion at `name` and its score at `value`. `by` and `kind`
    lead to who gave it: a kind, of the entry or at `around` of the row (“=”: the criterion's name), is among
    `people`, `judges` or `code` (“*”: any other), else it is `rater`: unknown where kinds are named, a judge
    where none are; `owner` names it only where it is a person. `inside` an entry of a list are the scores
    that it consists of, by name. At `authors` an entry has the score of each of several, of which its own is
    the mean; at `edits` its earlier scores, where somebody has changed it. `audit` leads to Braintrust's list
    of changes, of which one on a page is a person's. `comment` leads to a person's reasons, `turn` to the
    turn that it is about. What lies `unless` at a path makes it no score (a word that ends in “: ” is how it
    begins). What is `graded` is read as promptfoo's result. Where raters are `unnamed`, a list has one score
    of each, who may be another in the next row: their study is anonymous.
    """

    at: str
    criterion: str = ""
    name: Paths = ("name",)
    value: Paths = ()
    why: Paths = ()
    by: Paths = ()
    owner: Paths = ()
    kind: Paths = ()
    around: Paths = ()
    inside: str = ""
    authors: str = ""
    edits: str = ""
    audit: str = ""
    people: tuple[str, ...] = ()
    judges: tuple[str, ...] = ()
    code: tuple[str, ...] = ()
    rater: Scorer | None = None
    comment: Paths = ()
    unless: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    graded: bool = False
    only: Paths = ()
    turn: Paths = ()
    unnamed: bool = False


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
    only: Paths = ()
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
    out: Paths = ()
    """Fields that are excluded."""
    holds: str = ""
    """What has the form, for docs/formats.md."""
    also: str = ""
    """What else its files hold, and how it is taken."""


@dataclass(frozen=True, config=_STRICT)
class Elsewhere:
    """A form of rows that are no conversations, and what to do with it."""

    name: str
    has: Paths
    how: str


@dataclass(frozen=True, config=_STRICT)
class Forms:
    """Every form, those of the benchmarks' published files first; the first that fits counts. What a second
    file may hold, and files that other commands read or that hold no conversations.
    """

    shapes: tuple[Shape, ...]
    joined: tuple[Joined, ...]
    elsewhere: tuple[Elsewhere, ...]


@cache
def forms() -> Forms:
    """The forms that data/shapes.toml and those of the benchmarks have."""
    tables = dict(kept_toml(SHIPPED / "data" / "shapes.toml"))
    common = {name: tables.pop(name) for name in ("usual", "spans")}
    of_benchmarks = (kept_toml(SHIPPED / "data" / name / "shapes.toml") for name in SLICES)
    shapes: list[dict[str, Any]] = []
    for file in (*of_benchmarks, tables):
        shapes += [dict(shape) for shape in file.get("shapes", ())]
    for name, settings in common.items():
        shapes = [{**settings, **shape} if shape.get(name) else shape for shape in shapes]
    for shape in shapes:
        shape.pop("usual", None)
    return TypeAdapter(Forms).validate_python(tables | {"shapes": shapes})


def at(value: Any, path: str) -> Any:
    """What a path leads to in a row; None where it leads nowhere, or to null or an empty text."""
    if type(value) is dict and path:
        if path in value:
            return None if (inside := value[path]) == "" else inside
        for name, rest in _splits(path):
            inside = value.get(name)
            if inside is not None and (inner := at(inside, rest)) is not None:
                return inner
        return None
    if isinstance(value, str) and path and value.lstrip()[:1] in ("{", "["):
        try:
            value = parse_json(value)
        except ValueError:
            return None
    if not path:
        return None if value == "" else value
    if isinstance(value, Mapping) and path in value:
        return at(value[path], "")
    for name, rest in _splits(path):
        if (inside := _step(value, name)) is not None and (inner := at(inside, rest)) is not None:
            return inner
    return _step(value, path)


@cache
def _splits(path: str) -> tuple[tuple[str, str], ...]:
    """The ways to divide a path into a name and the rest."""
    dots = (place for place, sign in enumerate(path) if sign == ".")
    return tuple((path[:place], path[place + 1 :]) for place in dots)


@cache
def _heads(paths: Paths) -> frozenset[str]:
    """The names under which one of these paths may begin in an object."""
    bare = {path.rstrip(JSON_TEXT + TALK + CHAT) for path in paths}
    return frozenset(bare | {head for path in bare for head, _ in _splits(path)})


def absent(fields: Any, paths: Paths) -> bool:
    """Whether an object has no field at which one of the paths may begin: most rows lack most of them."""
    return type(fields) is dict and "" not in paths and _heads(paths).isdisjoint(fields)


def _step(value: Any, name: str) -> Any:
    if isinstance(value, Mapping):
        return value.get(name)
    if isinstance(value, Sequence) and not isinstance(value, str) and name.removeprefix("-").isdecimal():
        place = int(name[:9])
        return value[place] if -len(value) <= place < len(value) else None
    return None


def first(value: Any, paths: Paths) -> Any:
    """What the first of the paths leads to that leads to something; None where none does."""
    return next((inside for path in paths if (inside := at(value, path)) is not None), None)


def part_at(fields: Any, paths: Paths, role: Role) -> tuple[str, Any]:
    """The first of the paths of a `Side` that leads to something, and what it leads to; ("", None) if none.

    Texts stay as they are; one that is marked as JSON is what it holds, if it is JSON.
    """
    if absent(fields, paths):
        return "", None
    for marked in paths:
        path = marked.rstrip(JSON_TEXT + TALK + CHAT)
        if (value := at(fields, path)) is not None:
            if marked.endswith(TALK):
                return path, talk(value)
            if marked.endswith(CHAT):
                return path, chat(value, role)
            return path, parsed(value) if path != marked else value
    return "", None


_TALK = re.compile(
    r"(?:^\s*|\n\n)(Human|Assistant|User|System|AI|Bot): ?"
    r"|(?:^|\s*)### (Human|Assistant|User|System|Instruction|Input|Response):\s*"
    r"|\s*<\|im_start\|>(\w+)\n"
    r"|\s*(?:<\|begin_of_text\|>)?<\|start_header_id\|>(\w+)<\|end_header_id\|>\s*"
)
_TALK_ENDS = re.compile(r"\s*(?:<\|im_end\|>|<\|eot_id\|>|<\|end_of_text\|>)\s*$")


def talk(value: Any) -> Any:
    """The messages of a text in which “Human:” and “Assistant:”, or the marks of a chat template, begin what
    they say; of a list of texts that two say by turns; any other as it is.
    """
    texts = (
        [text for each in value for text in (each if isinstance(each, list) else [each])]
        if isinstance(value, list)
        else []
    )
    if len(texts) > 1 and all(isinstance(text, str) for text in texts):
        return [{"role": "user" if n % 2 == 0 else "assistant", "content": t} for n, t in enumerate(texts)]
    places = [*_TALK.finditer(value)] if isinstance(value, str) else []
    if not places or value[: places[0].start()].strip():
        return value
    ends = [*(place.start() for place in places[1:]), len(value)]
    turns = [
        (next(filter(None, place.groups())), _TALK_ENDS.sub("", value[place.end() : end]))
        for place, end in zip(places, ends, strict=True)
    ]
    return [{"role": speaker, "content": words} for speaker, words in turns if words]


def chat(value: Any, role: Role) -> Any:
    """The messages with roles that a text holds as JSON, a reply's none of a user's; any other as it is."""
    inner = parsed(value)
    entries = inner if isinstance(inner, list) else [inner]
    roles = [entry.get("role", entry.get("type")) for entry in entries if isinstance(entry, Mapping)]
    whole = len(roles) == len(entries) and all(isinstance(each, str) for each in roles)
    return inner if whole and not (role == "assistant" and {*roles} & {"user", "human"}) else value


def parsed(value: Any) -> Any:
    """A text that holds a list, object or text as JSON or as Python writes it; any other value as it is."""
    if isinstance(value, str) and value.lstrip()[:1] in ("[", "{", '"'):
        try:
            inner = parse_json(value)
        except ValueError:
            inner = _of_python(value)
        if isinstance(inner, list | dict | str) and inner:
            return inner
    return value


def _of_python(text: str) -> Any:
    """What a cell holds where pandas wrote a list or a dict as Python does; None for any other."""
    if not _PYTHON.match(text) or len(text) > _PYTHON_TEXT:
        return None
    try:
        # NumPy puts no commas between objects; in a text a line break is written as an escape.
        return ast.literal_eval(text.replace("}\n {", "}, {"))
    except (ValueError, SyntaxError, RecursionError, MemoryError):
        return None


def failure(fields: Mapping[str, Any], shape: Shape) -> Any:
    """Why a row failed, as it says; None for one that did not."""
    for paths, values in shape.failed_if.items():
        if (value := first(fields, tuple(paths.split("|")))) is not None and str(value) not in values:
            return None
    return first(fields, shape.failed)


def shape_of(fields: Mapping[str, Any]) -> Shape | None:
    """The form of a row; None for a form that is not known."""
    return next((shape for shape in forms().shapes if has(fields, shape)), None)


def has(fields: Mapping[str, Any], shape: Shape | Joined | Elsewhere) -> bool:
    """Whether a row has what a form needs. A name of the row's own counts even where it holds nothing."""
    there = all(any(_holds(fields, name) for name in one.split("|")) for one in shape.has)
    if not there or not isinstance(shape, Shape):
        return there
    like = ((first(fields, tuple(paths.split("|"))), pattern) for paths, pattern in shape.like.items())
    if not all(re.search(pattern, _begins(value)) for value, pattern in like):
        return False
    for path, pattern in shape.unlike.items():
        value = at(fields, path)
        if value is not None and re.search(pattern, _begins(value)):
            return False
    return not shape.only or fields.keys() <= {*shape.only, AROUND}


def _holds(fields: Mapping[str, Any], name: str) -> bool:
    """Whether a row has something at a path; one that ends in “.*” is what its columns begin with."""
    if name.endswith(COLUMNS_OF):
        return any(str(column).startswith(name.removesuffix("*")) for column in fields)
    return name in fields or at(fields, name) is not None


def _begins(value: Any) -> str:
    """A text as it is; of a list or an object no more than the signs that it has."""
    if isinstance(value, list):
        return "[, "
    return "{" if isinstance(value, Mapping) else str(value)


SPOKEN = ("messages", "talk", "system", "user", "assistant", "first", "second")
OF_TURNS = ("conversation", "speaker", "text", "order")
WORDS = (*SPOKEN, *OF_TURNS, "winner", "gold", "rater", "key", "player", "language", "scenario")
PREFIXES = ("facet", "context", "score", "human", "code", "out")


def mapped(mapping: Mapping[str, str], recognised: Shape | None = None) -> Shape:
    """A form that is told with `--map NAME=PATH`: of its own, or added to one that is recognised.

    Raises ConcordError for a name that has no meaning.
    """
    for name in mapping:
        if name not in WORDS and (name.partition(":")[0] not in PREFIXES or not name.partition(":")[2]):
            raise ConcordError(
                f"--map {name}=…: “{name}” is unknown. It is {', '.join(WORDS)}, or facet:NAME, "
                "context:HEADING, score:CRITERION (a judge's), human:CRITERION (a person's), code:CRITERION "
                "(a program's) or out:COLUMN."
            )
    pair = "first" in mapping and "second" in mapping
    if recognised is None and not pair and not {"messages", "talk", "assistant", *OF_TURNS} & set(mapping):
        raise ConcordError(
            "--map must say where the messages are: messages=PATH, user=PATH and assistant=PATH, for two "
            "replies first=PATH and second=PATH, or for a turn a row conversation=PATH."
        )

    def named(prefix: str) -> dict[str, Paths]:
        return {n.partition(":")[2]: (path,) for n, path in mapping.items() if n.partition(":")[0] == prefix}

    def path(name: str, default: Paths = ()) -> Paths:
        return (mapping[name],) if name in mapping else default

    needs = tuple(mapping[name] for name in (*SPOKEN, "conversation") if mapping.get(name))
    base = recognised or Shape("--map", needs, (Side(),))
    turns = base.turns
    if {*OF_TURNS} & set(mapping):
        by, order, speaker, text = map(path, ("conversation", "order", "speaker", "text"))
        turns = Turns(by, order, speaker, text)
        base = replace(base, sides=(Side(messages=(ROWS,), player=base.sides[0].player),), several=None)
        base = replace(base, key=by)
    messages = {name: path(name) for name in ("messages", "talk", "user", "assistant") if name in mapping}
    own: dict[str, Any] = messages | {name: path(name) for name in ("system", "player") if name in mapping}
    sides = base.sides
    if pair:
        sides = tuple(Side(**own | {"assistant": path(name)}, unnamed=name) for name in ("first", "second"))
    else:
        if {"messages", "talk"} & set(messages) or {"user", "assistant"} <= set(messages):
            sides = (Side(player=sides[0].player, system=sides[0].system),)
        sides = tuple(replace(side, **own) for side in sides)
    several = None if pair or messages else base.several
    votes = Votes(path("winner"), by=path("rater")) if "winner" in mapping else base.votes
    if "gold" in mapping:
        votes = Votes(path("gold"), rater="gold", who="gold")
    scores = tuple(
        ScorePaths(paths[0], criterion=criterion, rater=kind, by=path("rater"))
        for prefix, kind in _SCORED.items()
        for criterion, paths in named(prefix).items()
    )
    return replace(
        base,
        sides=sides,
        votes=votes if len(sides) == 2 or several is not None else None,
        several=several,
        turns=turns,
        key=path("key", base.key),
        scenario=path("scenario", base.scenario),
        language=path("language", base.language),
        context={**base.context, **named("context")},
        facets={**base.facets, **named("facet")},
        scores=(*base.scores, *scores),
        out=tuple(paths[0] for paths in named("out").values()),
    )


_SCORED: Mapping[str, Scorer] = {
    "score": Scorer.JUDGE,
    "human": Scorer.HUMAN,
    "code": Scorer.CODE,
}
