"""The forms of conversations that Concord recognises, as data/shapes.toml has them: where each keeps what.

A path is names joined by dots; a number is a place in a list (-1: the last), “^” what stands around the list
of rows. Texts that hold JSON are read on the way, not at the end: what somebody said stays as it is, unless
the path ends in “~”. Of several paths the first that leads to something counts.
"""

from collections.abc import Mapping, Sequence
from dataclasses import field, replace
from functools import cache
from typing import Any

from pydantic import ConfigDict, TypeAdapter
from pydantic.dataclasses import dataclass

from concord.conversation import Role
from concord.errors import ConcordError
from concord.files import SHIPPED, kept_toml, parse_json
from concord.rating import RaterKind, Verdict
from concord.runs.registry import SLICES

Paths = tuple[str, ...]
_STRICT = ConfigDict(extra="forbid")
JSON_TEXT = "~"
"""The end of a path to a text that is written as JSON."""


@dataclass(frozen=True, config=_STRICT)
class Side:
    """One dialogue of a row: where its parts lie, put one after another, and who replied in it.

    `messages` leads to a list of messages, or the JSON of one, which have roles of their own. At `system`,
    `user` and `assistant` a plain text is said by that role; a path that ends in “~” leads to a text that is
    messages or texts written as JSON. `player` leads to the name of the model, which is `unnamed` without.
    """

    system: Paths = ()
    messages: Paths = ()
    user: Paths = ()
    assistant: Paths = ()
    player: Paths = ()
    unnamed: str = "unknown"

    @property
    def said(self) -> tuple[tuple[Role, Paths], ...]:
        """Where each part lies, with who says a plain text there."""
        messages = tuple(f"{path}{JSON_TEXT}" for path in self.messages)
        spoken: tuple[tuple[Role, Paths], ...] = (("user", self.user), ("assistant", self.assistant))
        return ("system", self.system), ("user", messages), *spoken


@dataclass(frozen=True, config=_STRICT)
class Votes:
    """Which of a row's two sides somebody preferred. `by` leads to who; `turn` to the turn it is about.

    A path of `winner` leads to the winner as WON names it, a path of `columns` to whether it is this one. A
    list in `by` is the judge's name and its prompt.
    """

    winner: Paths = ()
    columns: Mapping[str, Verdict] = field(default_factory=dict)
    by: Paths = ()
    turn: str = ""


WON: Mapping[str, Verdict] = {
    **dict.fromkeys(("model_a", "a", "model_1", "left", "first", "chosen"), "A"),
    **dict.fromkeys(("model_b", "b", "model_2", "right", "second"), "B"),
    **dict.fromkeys(("tie", "tie (bothbad)", "both_bad", "bothbad", "both_good", "c", "neither"), "C"),
}
"""What a winner is called."""


@dataclass(frozen=True, config=_STRICT)
class ScorePaths:
    """Scores of a row: one under `criterion`, or a mapping or a list of them.

    In a mapping a name leads to a score, to a list of scores of the turns, or to an object whose score lies
    at `value`. In a list each entry has its criterion at `name` and its score at `value`. `by` and `kind`
    lead to who gave it; a person is one whose kind is among `people`.
    """

    at: str
    criterion: str = ""
    name: Paths = ("name",)
    value: Paths = ()
    why: Paths = ()
    by: Paths = ()
    kind: str = ""
    people: tuple[str, ...] = ()
    rater: RaterKind = "judge"
    only: Paths = ()


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
    also: str = ""
    """What else its files hold, and how it is taken."""


_SHAPES = TypeAdapter(tuple[Shape, ...])


@cache
def shapes() -> tuple[Shape, ...]:
    """Every form: those of the benchmarks' published files, then the others. The first that fits counts."""
    files = [SHIPPED / "data" / name / "shapes.toml" for name in (*SLICES, "")]
    return _SHAPES.validate_python([shape for file in files for shape in kept_toml(file).get("shapes", ())])


def at(value: Any, path: str) -> Any:
    """What a path leads to in a row; None where it leads nowhere, or to null or an empty text."""
    if isinstance(value, str) and path and value.lstrip()[:1] in ("{", "["):
        try:
            value = parse_json(value)
        except ValueError:
            return None
    if not path:
        return None if value == "" else value
    if isinstance(value, Mapping) and path in value:
        return at(value[path], "")
    for end in (place for place, sign in enumerate(path) if sign == "."):
        if (inside := _step(value, path[:end])) is not None and (
            inner := at(inside, path[end + 1 :])
        ) is not None:
            return inner
    return _step(value, path)


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


def said(fields: Any, paths: Paths) -> tuple[str, Any]:
    """The first of the paths of a `Side` that leads to something, and what it leads to; ("", None) if none.

    Texts stay as they are; one that is marked as JSON is what it holds, if it is JSON.
    """
    for marked in paths:
        path = marked.removesuffix(JSON_TEXT)
        if (value := at(fields, path)) is not None:
            return path, parsed(value) if path != marked else value
    return "", None


def parsed(value: Any) -> Any:
    """A text that holds a JSON list, object or text as that; any other value as it is."""
    if isinstance(value, str) and value.lstrip()[:1] in ("[", "{", '"'):
        try:
            inner = parse_json(value)
        except ValueError:
            return value
        if isinstance(inner, list | dict | str) and inner:
            return inner
    return value


def shape_of(fields: Mapping[str, Any]) -> Shape | None:
    """The form of a row; None for a form that is not known."""
    return next((shape for shape in shapes() if has(fields, shape)), None)


def has(fields: Mapping[str, Any], shape: Shape) -> bool:
    """Whether a row has what a form needs. A name of the row's own counts even where it holds nothing."""
    return all(
        any(name in fields or at(fields, name) is not None for name in one.split("|")) for one in shape.has
    )


SPOKEN = ("messages", "system", "user", "assistant")
WORDS = (*SPOKEN, "key", "player", "language", "scenario")
PREFIXES = ("facet", "context", "score")


def mapped(mapping: Mapping[str, str]) -> Shape:
    """A form that is told with `--map NAME=PATH`. Raises ConcordError for a name that has no meaning."""
    for name in mapping:
        if name not in WORDS and (name.partition(":")[0] not in PREFIXES or not name.partition(":")[2]):
            raise ConcordError(
                f"--map {name}=…: “{name}” is unknown. It is {', '.join(WORDS)}, or "
                "facet:NAME, context:HEADING or score:CRITERION."
            )
    if "messages" not in mapping and "assistant" not in mapping:
        raise ConcordError(
            "--map must say where the messages are: messages=PATH, or user=PATH and assistant=PATH."
        )

    def named(prefix: str) -> dict[str, Paths]:
        return {n.partition(":")[2]: (path,) for n, path in mapping.items() if n.partition(":")[0] == prefix}

    def path(name: str) -> Paths:
        return (mapping[name],) if name in mapping else ()

    return Shape(
        "--map",
        tuple(mapping[name] for name in SPOKEN if mapping.get(name)),
        (Side(path("system"), path("messages"), path("user"), path("assistant"), path("player")),),
        key=path("key"),
        scenario=path("scenario"),
        language=path("language"),
        context=named("context"),
        facets=named("facet"),
        scores=tuple(ScorePaths(of[0], criterion=criterion) for criterion, of in named("score").items()),
    )


def also(shape: Shape, mapping: Mapping[str, str]) -> Shape:
    """A form that is known, with what `--map` says of it instead."""
    if {"messages", "user", "assistant"} & set(mapping):
        return mapped(mapping)
    own = mapped({**mapping, "messages": ""})
    return replace(
        shape,
        key=own.key or shape.key,
        scenario=own.scenario or shape.scenario,
        language=own.language or shape.language,
        context={**shape.context, **own.context},
        facets={**shape.facets, **own.facets},
        scores=(*shape.scores, *own.scores),
        sides=tuple(replace(side, player=own.sides[0].player or side.player) for side in shape.sides),
    )
