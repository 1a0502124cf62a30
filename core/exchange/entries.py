"""One row of a file as Concord's nouns: its conversations, votes and scores, as its form tells."""

import hashlib
import json
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from typing import Any

from concord.conversation import Conversation, Message, Role, Turn
from concord.errors import ImportRefused
from concord.exchange import dialogue
from concord.exchange.cells import name_in, nfc
from concord.exchange.dialogue import SPEAKERS, Roles, from_list
from concord.exchange.rows import AROUND
from concord.exchange.shapes import (
    EACH,
    ROWS,
    WON,
    Paths,
    ScorePaths,
    Several,
    Shape,
    Side,
    Votes,
    at,
    first,
    parsed,
    part_at,
)
from concord.files import has_half_characters
from concord.files.limits import NAME
from concord.rating import Comparison, Rater, RaterKind
from concord.runs.registry import SCENARIO
from concord.scores import LARGEST

FACET = 80
"""Characters of the value of a facet."""
_ONE_TEXT = (
    *("content", "text", "input", "question", "query", "prompt", "output", "answer", "response", "result"),
    "generations",
    "message",
)
_WORDS: Mapping[str, float] = {
    **dict.fromkeys(("true", "yes", "pass", "passed", "correct", "c"), 1.0),
    **dict.fromkeys(("false", "no", "fail", "failed", "incorrect", "i", "n"), 0.0),
    "p": 0.5,
}
"""ScorePaths that are words. “C”, “P”, “I” and “N” are Inspect's: correct, partial, incorrect, no answer."""
_NAMES = """
english=en chinese=zh russian=ru french=fr german=de spanish=es portuguese=pt japanese=ja italian=it
korean=ko arabic=ar turkish=tr dutch=nl polish=pl vietnamese=vi ukrainian=uk indonesian=id czech=cs
hindi=hi persian=fa hebrew=he swedish=sv greek=el romanian=ro hungarian=hu danish=da finnish=fi
norwegian=no thai=th bulgarian=bg
"""
_LANGUAGES = dict(pair.split("=") for pair in _NAMES.split())
AS_GIVEN = "^position"
"""The name under which a score of somebody without a name has the place in its list."""
_TEXT = 500
"""Characters of a text that is kept in the metadata."""


@dataclass(frozen=True, slots=True)
class GivenScore:
    """A score that a file gives a conversation. `by` is who gave it, “” where the file does not say."""

    conversation: str
    turn: int | None
    criterion: str
    score: float
    kind: RaterKind
    by: str
    why: str = ""


@dataclass(frozen=True)
class Entry:
    """What one row holds. `unread` are scores that are neither numbers nor known words, as they stand.

    `left_out` names what of its messages is in none of the conversations.
    """

    conversations: tuple[Conversation, ...]
    votes: tuple[Comparison, ...] = ()
    scores: tuple[GivenScore, ...] = ()
    unread: tuple[str, ...] = ()
    left_out: tuple[str, ...] = ()


@dataclass(frozen=True)
class Reading:
    """How rows are read: their form, the benchmark they belong to, and the roles of speakers by name."""

    shape: Shape
    benchmark: str
    roles: Roles = field(default_factory=lambda: SPEAKERS)


def read(fields: Mapping[str, Any], reading: Reading, where: str) -> Entry:
    """The conversations, votes and scores of a row. Raises ImportRefused."""
    shape = reading.shape
    sides, left_out = list[tuple[Any, str, tuple[Message, ...]]](), list[str]()
    of_parts = _parts(fields, shape.several, where)
    for part in of_parts:
        try:
            sides += [(part, *_side(part, side, reading, where)) for side in shape.sides]
        except NoReply as error:
            left_out = [f"{first_of(shape.several)} (parts in which nobody replies)"]
            if shape.several is None or (part is of_parts[-1] and not sides):
                why = first(fields, shape.failed)
                reason = f"{where}: it ended with an error and has no reply: {_short(why)}."
                raise error if why in (None, "success") else ImportRefused(reason) from error
    parts = [part for part, *_ in sides[:: len(shape.sides)]]
    cut = at(fields, shape.votes.turn) if shape.votes is not None and shape.votes.turn else None
    if cut is not None:
        whole = [messages for *_, messages in sides]
        sides = [(part, player, _until(messages, cut, where)) for part, player, messages in sides]
        if [len(messages) for *_, messages in sides] != [*map(len, whole)]:
            left_out = [
                f"{path} (after the turn of the vote)" for side in shape.sides for path in side.messages
            ]
    key = _key(fields, shape) or _digest([side[1:] for side in sides])
    players = [player for _, player, _ in sides]
    scenario = _short(first(fields, shape.scenario)) if shape.scenario else key if len(sides) > 1 else ""
    until = "" if cut is None else f"@{cut}"
    conversations = []
    for place, (part, player, messages) in enumerate(sides):
        name = key if len(sides) == 1 else f"{key}/{player}"
        if players.count(player) > 1:
            name += f"/{_MARKS[place] if place < len(_MARKS) else place + 1}"
        facets = {called: _short(first(part, paths)) for called, paths in shape.facets.items()}
        facets |= {SCENARIO: scenario + until} if scenario else {}
        conversations.append(
            Conversation(
                benchmark=reading.benchmark,
                key=name_in(where, "key", f"{reading.benchmark}/{name}{until}"),
                player=player,
                messages=messages,
                language=_language(fields, shape, where),
                facets={called: value for called, value in facets.items() if value},
                context=_context(part, shape),
                meta=_meta(fields),
            )
        )
    if twice := [c for c in conversations[1:] if c.key == conversations[0].key]:
        raise ImportRefused(f"{where}: two conversations have the key “{twice[0].key}”.")
    votes = _votes(fields, parts, shape.votes, conversations, reading.benchmark, where) if shape.votes else ()
    scores, unread = list[GivenScore](), list[str]()
    for (part, *_), conversation in zip(sides, conversations, strict=True) if len(shape.sides) == 1 else ():
        given, not_read = _scores(part, shape, conversation)
        scores += given
        unread += not_read
    return Entry(tuple(conversations), votes, tuple(scores), tuple(unread), tuple(left_out))


class NoReply(ImportRefused):
    """A dialogue in which nobody replies."""


def first_of(several: Several | None) -> str:
    """What the several conversations of a row are called."""
    return several.at[0] if several is not None else ""


_MARKS = "abcdefghijklmnopqrstuvwxyz"


def _parts(fields: Mapping[str, Any], several: Several | None, where: str) -> list[Mapping[str, Any]]:
    """The row as often as it holds a conversation, with what is that one's own at “@”."""
    if several is None:
        return [fields]
    value = parsed(first(fields, several.at))
    if several.threads == "replies":
        value = _flat(value, None)
    elif isinstance(value, Mapping):
        value = dialogue.transposed(value) or list(value.values())
    if not isinstance(value, list) or not value:
        raise ImportRefused(f"{where}: there is no list at {' or '.join(several.at)}. Remove the row.")
    if several.threads:
        value = _threads([each for each in value if isinstance(each, Mapping)], several.threads)
    return [{**fields, EACH: each} for each in value if isinstance(each, Mapping | str)]


def _flat(message: Any, parent: Any) -> list[Mapping[str, Any]]:
    """A message and those in its replies, each with its place and its parent's."""
    flat, left = list[Mapping[str, Any]](), [(message, parent)]
    while left:
        one, above = left.pop()
        if isinstance(one, Mapping):
            flat.append({**one, "id": len(flat), "parent": above})
            replies = one.get("replies")
            left += [(each, len(flat) - 1) for each in reversed(replies if isinstance(replies, list) else [])]
    return flat


def _threads(messages: Sequence[Mapping[str, Any]], how: str) -> list[Mapping[str, Any]]:
    """Each way through a tree of messages from its root to a message that nothing follows.

    Of replies to choose from each is an end, and the chosen one is followed too.
    """
    above, by_id = dict[Any, Any](), dict[Any, Any]()
    number: Any
    parent: Any
    question = chosen = None
    for place, message in enumerate(messages):
        if how == "unchosen":
            user = message.get("role") == "user"
            number, parent = place, chosen if user else question
            question = place if user else question
            chosen = chosen if user or message.get("if_chosen") is False else place
        else:
            number = str(first(message, ("message_id", "id", "uuid")))
            parent = str(first(message, ("parent_id", "parent", "parent_message_uuid")))
        by_id[number], above[number] = message, parent
    followed = set(above.values())
    threads = list[Mapping[str, Any]]()
    for end in by_id:
        if by_id[end].get("role") == "user" if how == "unchosen" else end in followed:
            continue
        way, here = list[Any](), end
        while here in by_id and len(way) < len(by_id):
            way.append(by_id[here].get("message", by_id[here]) if how == "parent" else by_id[here])
            here = above[here]
        threads.append({"messages": [e for e in reversed(way) if isinstance(e, Mapping)], "last": by_id[end]})
    return threads


def beside(
    fields: Mapping[str, Any], shape: Shape, meta: Mapping[str, Any], *, around: bool = False
) -> tuple[list[str], list[str]]:
    """The names of a row's fields that are metadata only, and the paths of what is not kept.

    `meta` is the row's metadata; with `around`, what stands around the rows is looked at too.
    """
    used = _used(fields, shape)
    used_names = {path.partition(".")[0] for path in used}
    here = {name: value for name, value in fields.items() if name not in meta and (around or name != AROUND)}
    left_out = [*_beside(here, used), *_unread(fields, shape, used)]
    if shape.several is not None:
        place = next(path for path in shape.several.at if at(fields, path) is not None)
        left_out = [re.sub(r"^@(\.messages(?=\.))?", place, name) for name in left_out]
    if shape.turns is not None:  # what is equal in all rows is metadata, and some say where the rows belong
        placed = {*shape.turns.by, *shape.turns.order}
        placed |= {n for n in fields if all(row.get(n) == fields[n] for row in fields[ROWS])}
        left_out = [name for name in left_out if name.removeprefix(f"{ROWS}.") not in placed]
    return [name for name in meta if name not in used_names], list(dict.fromkeys(left_out))


def _unread(fields: Mapping[str, Any], shape: Shape, used: set[str]) -> Iterator[str]:
    """What facets, messages and scores do not take of the values at their paths."""
    for paths in shape.facets.values():
        value = first(fields, paths)
        if isinstance(value, Mapping) or len(" ".join(str(value).split())) > FACET:
            yield f"{paths[0]} (a facet has {FACET} characters)"
    threads = shape.several is not None and bool(shape.several.threads)
    for part in _parts(fields, shape.several, ""):
        for role, paths in (spoken for side in shape.sides for spoken in side.parts):
            path, value = part_at(part, paths)
            rest = () if value is None else _beside_words(value, role, path)
            links = {f"{path}.{name}" for name in _LINKS} if threads else set()
            yield from (name for name in rest if name not in used and name not in links)
        for scores in shape.scores:
            inner = {*scores.name, *scores.value, *scores.why, *scores.by, *scores.only, scores.kind}
            given = parsed(at(part, scores.at))
            listed = (
                given.values() if isinstance(given, Mapping) else given if isinstance(given, list) else ()
            )
            for entry in () if scores.criterion else listed:
                if isinstance(entry, Mapping) and scores.only and first(entry, scores.only) is None:
                    yield f"{scores.at}.…"
                elif isinstance(entry, Mapping):
                    yield from (f"{scores.at}.{name}" for name in _beside(entry, inner))


_LINKS = ("message_id", "parent_id", "message_tree_id", "id", "parent", "replies", "children", "if_chosen")
"""What says where in a tree a message stands."""


def uses(fields: Mapping[str, Any], shape: Shape) -> dict[str, str]:
    """The paths of a form that lead to something in a row, with what each is taken as.

    Of several paths it is the one that counts. The last names of a “@” stand for those in every entry.
    """
    votes, taken = shape.votes, dict[str, str]()
    part = _first_part(fields, shape.several)
    every: list[tuple[str, Paths]] = [
        *((f"context “{heading}”", paths) for heading, paths in shape.context.items()),
        *((f"facet “{name}”", paths) for name, paths in shape.facets.items()),
        *((f"score “{s.criterion}”" if s.criterion else "scores", (s.at,)) for s in shape.scores),
        *(("reasons of a score", s.why) for s in shape.scores if s.criterion),
        *(("rater", s.by) for s in shape.scores),
        ("scenario", shape.scenario),
        ("language", shape.language),
        *(("player", side.player) for side in shape.sides),
        ("why it failed", shape.failed),
    ]
    key = next((path for path in shape.key if _joint(fields, path)), "")
    every += [("key", (part_,)) for part_ in key.split("+") if key]
    if votes is not None:
        every += [("vote", (path,)) for path in (*votes.columns, *votes.winner, *votes.less, votes.rank)]
        every += [("rater", votes.by), ("turn of the vote", (votes.turn,)), ("reasons of a vote", votes.why)]
    for name, paths in every:
        path = next((path for path in paths if path and at(part, path) is not None), "")
        taken |= {path: f"{taken[path]}, {name}" if path in taken and name not in taken[path] else name}
    for side in shape.sides:
        for role, paths in side.parts:
            path, _ = part_at(part, paths)
            taken[path] = "messages" if path in (*side.messages, *side.talk) else role
    if shape.turns is not None:
        row = first(fields, (f"{ROWS}.0",))
        order = next((path for path in shape.turns.order if at(row, path) is not None), "")
        taken |= {order: "order of the messages"}
    taken.pop("", None)
    return taken


def columns(fields: Mapping[str, Any], shape: Shape) -> dict[str, str]:
    """`uses` as the row calls them: what stands in each of several entries by the path to them."""
    place = next(
        (path for path in (shape.several.at if shape.several else ()) if at(fields, path) is not None), ""
    )
    return {
        (place if shape.several and shape.several.threads else path.replace(EACH, place, 1))
        if path.startswith(EACH)
        else path: use
        for path, use in uses(fields, shape).items()
    }


def _first_part(fields: Mapping[str, Any], several: Several | None) -> Mapping[str, Any]:
    return fields if several is None else _parts(fields, several, "")[0]


def _used(fields: Mapping[str, Any], shape: Shape) -> set[str]:
    """The paths of `uses` as they stand in the row itself."""
    paths, several = set(uses(fields, shape)), shape.several
    if several is None:
        return paths
    place = next(path for path in several.at if at(fields, path) is not None)
    if several.threads:
        return {path for path in paths if not path.startswith(EACH)} | {place}
    count = len(_parts(fields, several, ""))
    inner = [path.removeprefix(EACH).removeprefix(".") for path in paths if path.startswith(EACH)]
    beside = {path for path in paths if not path.startswith(EACH)}
    return beside | {f"{place}.{n}.{path}".rstrip(".") for n in range(count) for path in inner}


def _beside(value: Any, used: set[str], path: str = "") -> Iterator[str]:
    """The paths of what lies beside the used paths, as far as it is not empty."""
    some = dict(value) if isinstance(value, Mapping) else dict(enumerate(value))
    for name, inner in some.items():
        here = f"{path}.{name}" if path else str(name)
        last = f"{path}.{name - len(some)}" if isinstance(name, int) else here
        if here in used or last in used or inner in (None, "", [], {}):
            continue
        inner = parsed(inner)
        within = here == AROUND or any(each.startswith((f"{here}.", f"{last}.")) for each in used)
        if within and isinstance(inner, Mapping | list):
            yield from _beside(inner, used, here)
        else:
            yield f"{path}.…" if isinstance(name, int) else here


def _beside_words(value: Any, role: Role, path: str) -> Iterator[str]:
    """The paths of what messages hold beside what was said."""
    if isinstance(value, Mapping) and not _is_message(value):
        name, inner = _inside(value)
        yield from (f"{path}.{other}" for other in _beside(value, {name}) if name)
        if name == "choices":
            yield from (f"{path}.{other}" for other in _beside({name: inner}, {"choices.0.message"}))
            name, inner = "choices.0.message", inner[0].get("message")
        yield from _beside_words(inner, role, f"{path}.{name}") if name else ()
    elif not _texts(value):
        for entry in _entries(value, role):
            yield from (f"{path}.{name}" for name in dialogue.unread(entry))


def _side(fields: Any, side: Side, reading: Reading, where: str) -> tuple[str, tuple[Message, ...]]:
    """Who replies in a dialogue of a row, and its messages: lists one after another, then texts by turns.

    They are read together, so that a call in one list and its result in the next belong to one reply.
    """
    entries: list[Any] = []
    spoken: list[tuple[Role, list[str]]] = []
    for role, paths in side.parts:
        _, value = part_at(fields, paths)
        if value is None:
            continue
        if texts := _texts(value):
            spoken.append((role, texts))
            continue
        more = _entries(value, role)
        same = _role_texts(entries, reading, where) if entries else []
        begins = bool(same) and same == _role_texts(more, reading, where)[: len(same)]
        entries = more if begins else [*entries, *more]
    there = _role_texts(entries, reading, where) if entries and spoken else []
    for turn in range(max((len(texts) for _, texts in spoken), default=0)):
        for role, texts in spoken:
            if turn < len(texts):
                if role != "assistant" and (role, texts[turn]) in there:
                    continue  # the list of messages begins with the prompt
                # A system prompt, or the question to an answer that is a message, comes first.
                first_ = sum(_speaks(e, reading) == "system" for e in entries)
                place = first_ if role != "assistant" and turn == 0 else len(entries)
                entries.insert(place, {"role": _OWN[role], "content": texts[turn]})
    messages = from_list(entries, where, {**reading.roles, **_OWN_ROLES})
    if not messages:
        raise ImportRefused(f"{where}: the dialogue is empty. Remove the row.")
    if not any(m.role == "assistant" for m in messages):
        raise NoReply(f"{where}: nobody replies in the dialogue. Remove the row, or name the speaker.")
    if any(has_half_characters(m.content) for m in messages):
        raise ImportRefused(f"{where}: a text holds half of a character (a lone surrogate). Remove it.")
    named = first(fields, side.player)
    player = named if isinstance(named, str) else _short(named) if named is not None else side.unnamed
    return nfc(name_in(where, "player", player.strip() or side.unnamed)), messages


_OWN: Mapping[Role, str] = {role: f" {role}" for role in ("system", "user", "assistant", "tool")}
"""Who says a plain text: no speaker of a file is called so."""
_OWN_ROLES: Roles = {name: role for role, name in _OWN.items()}


def _speaks(entry: Any, reading: Reading) -> Role | None:
    return dialogue.role_of(entry, {**reading.roles, **_OWN_ROLES})


def _role_texts(entries: Sequence[Any], reading: Reading, where: str) -> list[tuple[Role, str]]:
    return [(m.role, m.content) for m in from_list(entries, where, {**reading.roles, **_OWN_ROLES})]


def _texts(value: Any) -> list[str]:
    """Plain texts; [] for messages."""
    if isinstance(value, str):
        return [value]
    if isinstance(value, list) and all(each is None or isinstance(each, str) for each in value):
        return [each or "" for each in value]
    if isinstance(value, list) and len(value) == 1 and isinstance(value[0], dict | list):
        return []
    if isinstance(value, int | float):
        return [str(value)]
    return []


def _entries(value: Any, role: Role) -> list[Any]:
    """The messages of a value that is no text: a list of them, one of them, or an object that holds some."""
    if isinstance(value, list) and value and all(map(_is_part, value)):
        return [{"role": _OWN[role], "content": value}]
    if isinstance(value, list):
        return [entry for each in value for entry in (each if isinstance(each, list) else [each])]
    if not isinstance(value, Mapping):
        return [{"role": _OWN[role], "content": str(value)}]
    if (listed := dialogue.transposed(value)) and _is_message(listed[0]):
        return listed
    if _is_message(value):
        return [value]
    name, inner = _inside(value)
    if name == "choices":
        return _entries(inner[0].get("message", inner[0].get("text")), role)
    if name:
        texts = _texts(inner)
        return [{"role": _OWN[role], "content": t} for t in texts] if texts else _entries(inner, role)
    return [{"role": _OWN[role], "content": json.dumps(value, ensure_ascii=False, default=str)}]


_PARTS = ("text", "tool_use", "thinking", "redacted_thinking", "image", "output_text")


def _is_part(value: Any) -> bool:
    """Whether something is a part of one message, which does not say who speaks."""
    if not isinstance(value, Mapping) or any(value.get(name) for name in dialogue.SPEAKS):
        return False
    return value.get("type") in _PARTS or ("type" not in value and isinstance(value.get("text"), str))


def _is_message(value: Mapping[str, Any]) -> bool:
    if _inside(value)[0] in ("messages", "choices"):
        return False
    named = any(isinstance(value.get(name), str) for name in ("role", "from", "sender", "speaker"))
    typed = isinstance(value.get("type"), str) and ("content" in value or "data" in value)
    return named or typed or "lc" in value or "kwargs" in value


def _inside(value: Mapping[str, Any]) -> tuple[str, Any]:
    """Where in an object its messages or its text lie, and what lies there; “” where the object is all."""
    if isinstance(inner := value.get("messages"), list) and inner:
        return "messages", inner
    if isinstance(inner := value.get("choices"), list) and inner and isinstance(inner[0], Mapping):
        return "choices", inner
    inside = ((name, value.get(name)) for name in _ONE_TEXT)
    return next(((name, inner) for name, inner in inside if inner not in (None, "")), ("", None))


def _until(messages: Sequence[Message], turn: Any, where: str) -> tuple[Message, ...]:
    """A dialogue up to and with the reply in a turn."""
    number, kept = 0, list[Message]()
    for message in messages:
        kept.append(message)
        number += message.role == "assistant"
        if message.role == "assistant" and number == turn:
            return tuple(kept)
    raise ImportRefused(f"{where}: the vote is about turn {turn!r}, but the dialogue has {number} replies.")


def _key(fields: Mapping[str, Any], shape: Shape) -> str:
    return next(filter(None, (_joint(fields, path) for path in shape.key)), "")


def _joint(fields: Mapping[str, Any], path: str) -> str:
    """What a path of a key leads to, or several with “+” between them; “” unless all are texts or numbers."""
    parts = [at(fields, part) for part in path.split("+")]
    named = all(isinstance(each, str | int) and not isinstance(each, bool) for each in parts)
    return "/".join(str(each).strip() for each in parts) if named else ""


def _digest(sides: Sequence[tuple[str, Sequence[Message]]]) -> str:
    """A key for a row that has none: equal rows have the same."""
    dialogues = [[player, [[m.role, m.content] for m in messages]] for player, messages in sides]
    return hashlib.sha256(json.dumps(dialogues).encode()).hexdigest()[:16]


def _language(fields: Mapping[str, Any], shape: Shape, where: str) -> str:
    language = first(fields, shape.language)
    name = str(language).strip() if language is not None else "en"
    return name_in(where, "language", _LANGUAGES.get(name.lower(), name) or "en")


def _context(fields: Mapping[str, Any], shape: Shape) -> dict[str, Any]:
    spoken = {part_at(fields, paths)[0] for side in shape.sides for _, paths in side.parts}
    beside = {
        heading: first(fields, tuple(path for path in paths if path not in spoken))
        for heading, paths in shape.context.items()
    }
    return {heading: _plain(value) for heading, value in beside.items() if value not in (None, [], {})}


def _meta(fields: Mapping[str, Any]) -> dict[str, Any]:
    """The fields of a row that are a single value of moderate length."""
    kept = {name: _plain(v) for name, v in fields.items() if not isinstance(v, Mapping | list | tuple)}
    return {
        name: value
        for name, value in kept.items()
        if (isinstance(value, str) and 0 < len(value) <= _TEXT) or isinstance(value, int | float)
    }


def _plain(value: Any) -> Any:
    """A value that JSON can keep."""
    if isinstance(value, float) and not math.isfinite(value):
        return None
    if value is None or isinstance(value, str | int | float):
        return value
    if isinstance(value, Mapping):
        return {str(name): _plain(inner) for name, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(inner) for inner in value]
    return str(value)


def _short(value: Any) -> str:
    """A value as that of a facet."""
    if isinstance(value, list | tuple):
        value = ", ".join(map(str, value))
    return "" if value is None or isinstance(value, Mapping) else " ".join(str(value).split())[:FACET]


def _votes(
    fields: Mapping[str, Any],
    parts: Sequence[Mapping[str, Any]],
    votes: Votes,
    sides: Sequence[Conversation],
    benchmark: str,
    where: str,
) -> tuple[Comparison, ...]:
    """The votes of a row on its sides, the first of a pair shown as A. Raises ImportRefused."""
    by, why = first(fields, votes.by), str(first(fields, votes.why) or "")
    if isinstance(by, list | tuple) and by:
        rater = Rater(nfc(str(by[0]))[:NAME], "judge", str(by[1])[:NAME] if len(by) > 1 else "")
    else:
        unnamed = votes.who or f"voters of {benchmark}"
        rater = Rater(nfc(str(by))[:NAME] if by is not None else unnamed, votes.rater)
    if votes.rank:
        ranks = [_number(at(part, votes.rank)) for part in parts]
        return tuple(
            Comparison("", one.key, other.key, rater, "A" if a < b else "B" if a > b else "C")
            for (a, one), (b, other) in combinations(zip(ranks, sides, strict=True), 2)
            if a is not None and b is not None
        )
    verdict, answer, strong = votes.won, "", False
    for path in (*votes.columns, *votes.winner, *votes.less):
        value = at(fields, path)
        answer = answer or ("" if value is None else str(value))
        word = str(value).strip().lower()
        if path in votes.columns:
            verdict = verdict or (votes.columns[path] if word in ("1", "1.0", "true") else None)
        elif path in votes.less and (number := _number(value)) is not None:
            apart = number - votes.less[path]
            verdict, strong = "A" if apart < 0 else "B" if apart > 0 else "C", 0 < votes.strong <= abs(apart)
        else:
            verdict = verdict or votes.words.get(word) or (None if votes.words else WON.get(word))
    if verdict is None:
        must = ", ".join(votes.words) or "model_a, model_b, tie or tie (bothbad)"
        raise ImportRefused(f"{where}: the winner is “{answer[:80]}”. It must be {must}.")
    one, other = sides
    why = why or ("both bad" if "bad" in answer.lower() else "")
    return (Comparison("", one.key, other.key, rater, verdict, why, strong=strong),)


def _scores(
    fields: Mapping[str, Any], shape: Shape, conversation: Conversation
) -> tuple[tuple[GivenScore, ...], tuple[str, ...]]:
    given_scores, unread = dict[tuple[Any, ...], GivenScore](), []
    replies = [turn for turn in conversation.turns() if turn.reply is not None]
    for scores in shape.scores:
        for criterion, turn, value, why, entry in _given(fields, scores, replies):
            if (score := _number(value)) is None:
                unread.append(f"{criterion}: {str(value)[:40]}")
                continue
            person = scores.rater == "human" or (
                bool(scores.kind) and str(at(entry, scores.kind)).upper() in scores.people
            )
            by = first(entry, (AS_GIVEN, *scores.by)) if isinstance(entry, Mapping) else None
            by = first(fields, scores.by) if by is None else by
            who = nfc(str(by))[:NAME] if isinstance(by, str | int) else ""
            one = GivenScore(
                conversation.key,
                turn,
                nfc(criterion)[:NAME],
                score,
                "human" if person else "judge",
                who,
                str(why or ""),
            )
            given_scores[one.turn, one.criterion, one.kind, one.by] = one
    return tuple(given_scores.values()), tuple(unread)


def _given(
    fields: Mapping[str, Any], scores: ScorePaths, replies: Sequence[Turn]
) -> Iterator[tuple[str, int | None, Any, Any, Any]]:
    """(criterion, turn, value, reason, entry) of each score that a row has."""
    given_scores = parsed(at(fields, scores.at))
    if given_scores is None:
        return
    if scores.criterion:
        yield scores.criterion, None, at(fields, scores.at), first(fields, scores.why), fields
    elif isinstance(given_scores, list):
        for entry in given_scores:
            named = first(entry, scores.name)
            if named is None or (scores.only and first(entry, scores.only) is None):
                continue
            yield str(named), None, first(entry, scores.value), first(entry, scores.why), entry
    elif isinstance(given_scores, Mapping):
        for name, value in given_scores.items():
            about = value if isinstance(value, Mapping) else {}
            value = first(value, scores.value) if isinstance(value, Mapping) else value
            why = first(about, scores.why)
            if isinstance(value, list) and scores.unnamed:
                for place, each in enumerate(value, 1):
                    yield str(name), None, each, why, {AS_GIVEN: f"position {place}"}
            elif isinstance(value, list) and len(value) == len(replies):
                for turn, each in zip(replies, value, strict=True):
                    yield str(name), turn.number, each, why, about
            elif isinstance(value, Mapping):
                for inner, each in value.items():
                    yield f"{name}/{inner}", None, each, why, about
            elif value is not None:
                yield str(name), None, value, why, about
    else:
        yield scores.at.rpartition(".")[2], None, given_scores, "", fields


def _number(value: Any) -> float | None:
    if isinstance(value, bool | int | float):
        return float(value) if abs(value) <= LARGEST else None
    if isinstance(value, str):
        try:
            number = float(value)
        except ValueError:
            return _WORDS.get(value.strip().lower())
        return number if abs(number) <= LARGEST and "_" not in value else None
    return None
