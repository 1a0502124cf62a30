"""One row of a file as Concord's nouns: its conversations, votes and scores, as its form tells."""

import hashlib
import json
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from concord.benchmarks import SCENARIO
from concord.conversation import Conversation, Message, Role, Turn
from concord.errors import ImportRefused
from concord.exchange.cells import name_in, nfc
from concord.exchange.dialogue import SPEAKERS, Roles, from_list
from concord.exchange.rows import AROUND
from concord.exchange.shapes import ScorePaths, Shape, Side, Votes, at, first
from concord.files import has_half_characters, parse_json
from concord.files.limits import NAME
from concord.rating import Comparison, Rater, RaterKind, Verdict

FACET = 80
"""Characters of the value of a facet."""
_ONE_TEXT = (
    *("content", "text", "input", "question", "query", "prompt", "output", "answer", "response", "result"),
    "generations",
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
    """What one row holds. `unread` are scores that are neither numbers nor known words, as they stand."""

    conversations: tuple[Conversation, ...]
    votes: tuple[Comparison, ...] = ()
    scores: tuple[GivenScore, ...] = ()
    unread: tuple[str, ...] = ()


@dataclass(frozen=True)
class Reading:
    """How rows are read: their form, the benchmark they belong to, and the roles of speakers by name."""

    shape: Shape
    benchmark: str
    roles: Roles = field(default_factory=lambda: SPEAKERS)


def read(fields: Mapping[str, Any], reading: Reading, where: str) -> Entry:
    """The conversations, votes and scores of a row. Raises ImportRefused."""
    shape = reading.shape
    sides = [_side(fields, side, reading, where) for side in shape.sides]
    cut = at(fields, shape.votes.turn) if shape.votes is not None and shape.votes.turn else None
    if cut is not None:
        sides = [(player, _until(messages, cut, where)) for player, messages in sides]
    asked = _key(fields, shape) or _digest(sides)
    scenario = _short(first(fields, shape.scenario)) if shape.scenario else ""
    until = "" if cut is None else f"@{cut}"
    conversations = []
    for (player, messages), mark in zip(sides, ("a", "b"), strict=False):
        name = asked if len(sides) == 1 else f"{asked}/{player}"
        if len(sides) == 2 and sides[0][0] == sides[1][0]:
            name += f"/{mark}"
        facets = {called: _short(first(fields, paths)) for called, paths in shape.facets.items()}
        facets |= {SCENARIO: scenario + until} if scenario else {}
        conversations.append(
            Conversation(
                benchmark=reading.benchmark,
                key=name_in(where, "key", f"{reading.benchmark}/{name}{until}"),
                player=player,
                messages=messages,
                language=_language(fields, shape, where),
                facets={called: value for called, value in facets.items() if value},
                context=_context(fields, shape),
                meta=_meta(fields),
            )
        )
    if twice := [c for c in conversations[1:] if c.key == conversations[0].key]:
        raise ImportRefused(f"{where}: two conversations have the key “{twice[0].key}”.")
    votes = _votes(fields, shape.votes, conversations, reading.benchmark, where) if shape.votes else ()
    scores, unread = _scores(fields, shape, conversations[0]) if len(sides) == 1 else ((), ())
    return Entry(tuple(conversations), votes, scores, unread)


def _side(fields: Any, side: Side, reading: Reading, where: str) -> tuple[str, tuple[Message, ...]]:
    messages: list[Message] = []
    spoken: list[tuple[Role, list[str]]] = []
    for role, paths in side.said:
        value = _parsed(first(fields, paths), side.quoted)
        if value is None:
            continue
        if texts := _texts(value):
            spoken.append((role, texts))
            continue
        read = from_list(_entries(value, role), where, reading.roles)
        same = [(m.role, m.content) for m in messages]
        begins = bool(same) and same == [(m.role, m.content) for m in read[: len(same)]]
        messages = list(read) if begins else [*messages, *read]
    for turn in range(max((len(texts) for _, texts in spoken), default=0)):
        for role, texts in spoken:
            if turn < len(texts):
                said = Message(role, texts[turn])
                if role != "assistant" and any((m.role, m.content) == (role, said.content) for m in messages):
                    continue  # the list of messages begins with the prompt
                # A system prompt, or the question to an answer that is a message, comes first.
                place = sum(m.role == "system" for m in messages) if role != "assistant" else len(messages)
                messages.insert(place if turn == 0 else len(messages), said)
    if not messages:
        raise ImportRefused(f"{where}: the dialogue is empty. Remove the row.")
    if not any(m.role == "assistant" for m in messages):
        raise ImportRefused(f"{where}: nobody replies in the dialogue. Remove the row, or name the speaker.")
    if any(has_half_characters(m.content) for m in messages):
        raise ImportRefused(f"{where}: a text holds half of a character (a lone surrogate). Remove it.")
    named = first(fields, side.player)
    player = named if isinstance(named, str) else _short(named) if named is not None else side.unnamed
    return nfc(name_in(where, "player", player.strip() or side.unnamed)), tuple(messages)


def _parsed(value: Any, quoted: bool = False) -> Any:
    """A text that holds a JSON list or object (`quoted`: or text) as that; any other value as it is."""
    if isinstance(value, str) and value.lstrip()[:1] in (("[", "{", '"') if quoted else ("[", "{")):
        try:
            found = parse_json(value)
        except ValueError:
            return value
        if isinstance(found, list | dict | str) and found:
            return found
    return value


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
    if isinstance(value, list):
        return [entry for each in value for entry in (each if isinstance(each, list) else [each])]
    if not isinstance(value, Mapping):
        return [{"role": role, "content": str(value)}]
    if isinstance(inner := value.get("messages"), list) and inner:
        return _entries(inner, role)
    if isinstance(choices := value.get("choices"), list) and choices and isinstance(choices[0], Mapping):
        return _entries(choices[0].get("message", choices[0].get("text")), role)
    if (
        any(isinstance(value.get(name), str) for name in ("role", "from"))
        or "lc" in value
        or "kwargs" in value
    ):
        return [value]
    if isinstance(value.get("type"), str) and ("content" in value or "data" in value):
        return [value]
    for name in _ONE_TEXT:
        if (found := _parsed(value.get(name))) is not None and found != "":
            texts = _texts(found)
            return [{"role": role, "content": t} for t in texts] if texts else _entries(found, role)
    return [{"role": role, "content": json.dumps(value, ensure_ascii=False, default=str)}]


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
    for path in shape.key:
        found = [at(fields, part) for part in path.split("+")]
        if all(isinstance(each, str | int) and not isinstance(each, bool) for each in found):
            return "/".join(str(each).strip() for each in found)
    return ""


def _digest(sides: Sequence[tuple[str, Sequence[Message]]]) -> str:
    """A key for a row that has none: equal rows have the same."""
    said = [[player, [[m.role, m.content] for m in messages]] for player, messages in sides]
    return hashlib.sha256(json.dumps(said).encode()).hexdigest()[:16]


def _language(fields: Mapping[str, Any], shape: Shape, where: str) -> str:
    told = first(fields, shape.language)
    name = str(told).strip() if told is not None else "en"
    return name_in(where, "language", _LANGUAGES.get(name.lower(), name) or "en")


def _context(fields: Mapping[str, Any], shape: Shape) -> dict[str, Any]:
    found = {heading: first(fields, paths) for heading, paths in shape.context.items()}
    return {heading: _plain(value) for heading, value in found.items() if value not in (None, [], {})}


def _meta(fields: Mapping[str, Any]) -> dict[str, Any]:
    """The fields of a row that are a single value of moderate length."""
    kept = {name: _plain(value) for name, value in fields.items() if name != AROUND}
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
    fields: Mapping[str, Any], votes: Votes, sides: Sequence[Conversation], benchmark: str, where: str
) -> tuple[Comparison, ...]:
    verdict: Verdict | None = None
    told = ""
    for path, means in votes.won:
        value = at(fields, path)
        told = told or ("" if value is None else str(value))
        verdict = verdict or means.get(str(value).strip().lower())
    if verdict is None:
        raise ImportRefused(
            f"{where}: the winner is “{told[:80]}”. It must be model_a, model_b, tie or tie (bothbad)."
        )
    by = first(fields, votes.by)
    if isinstance(by, list | tuple) and by:
        rater = Rater(nfc(str(by[0]))[:NAME], "judge", str(by[1])[:NAME] if len(by) > 1 else "")
    else:
        rater = Rater(nfc(str(by))[:NAME] if by is not None else f"voters of {benchmark}", votes.kind)
    one, other = sides
    key = f"{one.key}|{other.key}|{rater.name}|{rater.variant}|0|import"
    why = "both bad" if "bad" in told.lower() else str(first(fields, votes.why) or "")
    return (Comparison(key, one.key, other.key, rater, verdict, why),)


def _scores(
    fields: Mapping[str, Any], shape: Shape, conversation: Conversation
) -> tuple[tuple[GivenScore, ...], tuple[str, ...]]:
    found, unread = dict[tuple[Any, ...], GivenScore](), []
    replies = [turn for turn in conversation.turns() if turn.reply is not None]
    for scores in shape.scores:
        for criterion, turn, value, why, entry in _given(fields, scores, replies):
            if (score := _number(value)) is None:
                unread.append(f"{criterion}: {str(value)[:40]}")
                continue
            person = scores.rater == "human" or (
                bool(scores.kind) and str(at(entry, scores.kind)).upper() in scores.people
            )
            by = first(entry, scores.by) if isinstance(entry, Mapping) else None
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
            found[one.turn, one.criterion, one.kind, one.by] = one
    return tuple(found.values()), tuple(unread)


def _given(
    fields: Mapping[str, Any], scores: ScorePaths, replies: Sequence[Turn]
) -> Iterator[tuple[str, int | None, Any, Any, Any]]:
    """(criterion, turn, value, reason, entry) of each score that a row has."""
    told = _parsed(at(fields, scores.at))
    if told is None:
        return
    if scores.criterion:
        yield scores.criterion, None, told, first(fields, scores.why), fields
    elif isinstance(told, list):
        for entry in told:
            named = first(entry, scores.name)
            if named is None or (scores.only and first(entry, scores.only) is None):
                continue
            yield str(named), None, first(entry, scores.value), first(entry, scores.why), entry
    elif isinstance(told, Mapping):
        for name, value in told.items():
            about = value if isinstance(value, Mapping) else {}
            value = first(value, scores.value) if isinstance(value, Mapping) else value
            why = first(about, scores.why)
            if isinstance(value, list) and len(value) == len(replies):
                for turn, each in zip(replies, value, strict=True):
                    yield str(name), turn.number, each, why, about
            elif isinstance(value, Mapping):
                for inner, each in value.items():
                    yield f"{name}/{inner}", None, each, why, about
            elif value is not None:
                yield str(name), None, value, why, about


def _number(value: Any) -> float | None:
    if isinstance(value, bool | int | float):
        return float(value) if math.isfinite(value) else None
    if isinstance(value, str):
        try:
            number = float(value)
        except ValueError:
            return _WORDS.get(value.strip().lower())
        return number if math.isfinite(number) and "_" not in value else None
    return None
