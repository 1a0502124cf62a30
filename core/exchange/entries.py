"""One row of a file as Concord's nouns: its conversations, votes and scores, as its form tells."""

import hashlib
import json
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from concord.conversation import Conversation, Message, Role, Turn
from concord.errors import ImportRefused
from concord.exchange import dialogue
from concord.exchange.cells import name_in, nfc
from concord.exchange.dialogue import SPEAKERS, Roles, from_list
from concord.exchange.rows import AROUND
from concord.exchange.shapes import WON, Paths, ScorePaths, Shape, Side, Votes, at, first, parsed, said
from concord.files import has_half_characters
from concord.files.limits import NAME
from concord.rating import Comparison, Rater, RaterKind, Verdict
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
    key = _key(fields, shape) or _digest(sides)
    scenario = _short(first(fields, shape.scenario)) if shape.scenario else ""
    until = "" if cut is None else f"@{cut}"
    conversations = []
    for (player, messages), mark in zip(sides, ("a", "b"), strict=False):
        name = key if len(sides) == 1 else f"{key}/{player}"
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
    return [name for name in meta if name not in used_names], list(dict.fromkeys(left_out))


def _unread(fields: Mapping[str, Any], shape: Shape, used: set[str]) -> Iterator[str]:
    """What facets, messages and scores do not take of the values at their paths."""
    for paths in shape.facets.values():
        value = first(fields, paths)
        if isinstance(value, Mapping) or len(" ".join(str(value).split())) > FACET:
            yield f"{paths[0]} (a facet has {FACET} characters)"
    for role, paths in (part for side in shape.sides for part in side.said):
        path, value = said(fields, paths)
        unsaid = () if value is None else _unsaid(value, role, path)
        yield from (name for name in unsaid if name not in used)
    for scores in shape.scores:
        given, inner = parsed(at(fields, scores.at)), {*scores.name, *scores.value, *scores.why, *scores.by}
        inner |= {*scores.only, scores.kind}
        entries = given.values() if isinstance(given, Mapping) else given if isinstance(given, list) else ()
        for entry in () if scores.criterion else entries:
            if isinstance(entry, Mapping):
                yield from (f"{scores.at}.{name}" for name in _beside(entry, inner))


def _used(fields: Mapping[str, Any], shape: Shape) -> set[str]:
    """The paths of a form that lead to something in a row: of several, the one that counts."""
    votes, spoken = shape.votes, {said(fields, paths)[0] for side in shape.sides for _, paths in side.said}
    every: list[Paths] = [*(side.player for side in shape.sides), shape.scenario, shape.language]
    every += [(part,) for path in shape.key for part in path.split("+")]
    every += [*shape.context.values(), *shape.facets.values(), *((scores.at,) for scores in shape.scores)]
    every += [scores.by for scores in shape.scores] + [
        scores.why for scores in shape.scores if scores.criterion
    ]
    if votes is not None:
        every += [*((path,) for path in (*votes.columns, *votes.winner)), votes.by, (votes.turn,)]
    beside = {next((path for path in paths if path and at(fields, path) is not None), "") for paths in every}
    return (spoken | beside) - {""}


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


def _unsaid(value: Any, role: Role, path: str) -> Iterator[str]:
    """The paths of what messages hold beside what was said."""
    if isinstance(value, Mapping) and not _is_message(value):
        name, inner = _inside(value)
        yield from (f"{path}.{other}" for other in _beside(value, {name}) if name)
        if name == "choices":
            yield from (f"{path}.{other}" for other in _beside({name: inner}, {"choices.0.message"}))
            name, inner = "choices.0.message", inner[0].get("message")
        yield from _unsaid(inner, role, f"{path}.{name}") if name else ()
    elif not _texts(value):
        for entry in _entries(value, role):
            yield from (f"{path}.{name}" for name in dialogue.unread(entry))


def _side(fields: Any, side: Side, reading: Reading, where: str) -> tuple[str, tuple[Message, ...]]:
    messages: list[Message] = []
    spoken: list[tuple[Role, list[str]]] = []
    for role, paths in side.said:
        _, value = said(fields, paths)
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
                message = Message(role, texts[turn])
                if role != "assistant" and any((m.role, m.content) == (role, texts[turn]) for m in messages):
                    continue  # the list of messages begins with the prompt
                # A system prompt, or the question to an answer that is a message, comes first.
                place = sum(m.role == "system" for m in messages) if role != "assistant" else len(messages)
                messages.insert(place if turn == 0 else len(messages), message)
    if not messages:
        raise ImportRefused(f"{where}: the dialogue is empty. Remove the row.")
    if not any(m.role == "assistant" for m in messages):
        raise ImportRefused(f"{where}: nobody replies in the dialogue. Remove the row, or name the speaker.")
    if any(has_half_characters(m.content) for m in messages):
        raise ImportRefused(f"{where}: a text holds half of a character (a lone surrogate). Remove it.")
    named = first(fields, side.player)
    player = named if isinstance(named, str) else _short(named) if named is not None else side.unnamed
    return nfc(name_in(where, "player", player.strip() or side.unnamed)), tuple(messages)


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
    if _is_message(value):
        return [value]
    name, inner = _inside(value)
    if name == "choices":
        return _entries(inner[0].get("message", inner[0].get("text")), role)
    if name:
        texts = _texts(inner)
        return [{"role": role, "content": t} for t in texts] if texts else _entries(inner, role)
    return [{"role": role, "content": json.dumps(value, ensure_ascii=False, default=str)}]


def _is_message(value: Mapping[str, Any]) -> bool:
    if _inside(value)[0] in ("messages", "choices"):
        return False
    named = any(isinstance(value.get(name), str) for name in ("role", "from"))
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
    for path in shape.key:
        parts = [at(fields, part) for part in path.split("+")]
        if all(isinstance(each, str | int) and not isinstance(each, bool) for each in parts):
            return "/".join(str(each).strip() for each in parts)
    return ""


def _digest(sides: Sequence[tuple[str, Sequence[Message]]]) -> str:
    """A key for a row that has none: equal rows have the same."""
    dialogues = [[player, [[m.role, m.content] for m in messages]] for player, messages in sides]
    return hashlib.sha256(json.dumps(dialogues).encode()).hexdigest()[:16]


def _language(fields: Mapping[str, Any], shape: Shape, where: str) -> str:
    language = first(fields, shape.language)
    name = str(language).strip() if language is not None else "en"
    return name_in(where, "language", _LANGUAGES.get(name.lower(), name) or "en")


def _context(fields: Mapping[str, Any], shape: Shape) -> dict[str, Any]:
    spoken = {said(fields, paths)[0] for side in shape.sides for _, paths in side.said}
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
    fields: Mapping[str, Any], votes: Votes, sides: Sequence[Conversation], benchmark: str, where: str
) -> tuple[Comparison, ...]:
    verdict: Verdict | None = None
    answer = ""
    for path in (*votes.columns, *votes.winner):
        value = at(fields, path)
        answer = answer or ("" if value is None else str(value))
        word = str(value).strip().lower()
        this = votes.columns.get(path) if word in ("1", "1.0", "true") else None
        verdict = verdict or (this if path in votes.columns else WON.get(word))
    if verdict is None:
        raise ImportRefused(
            f"{where}: the winner is “{answer[:80]}”. It must be model_a, model_b, tie or tie (bothbad)."
        )
    by = first(fields, votes.by)
    if isinstance(by, list | tuple) and by:
        rater = Rater(nfc(str(by[0]))[:NAME], "judge", str(by[1])[:NAME] if len(by) > 1 else "")
    else:
        rater = Rater(nfc(str(by))[:NAME] if by is not None else f"voters of {benchmark}", "human")
    one, other = sides
    why = "both bad" if "bad" in answer.lower() else ""
    return (Comparison("", one.key, other.key, rater, verdict, why),)


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
        yield scores.criterion, None, given_scores, first(fields, scores.why), fields
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
        return float(value) if abs(value) <= LARGEST else None
    if isinstance(value, str):
        try:
            number = float(value)
        except ValueError:
            return _WORDS.get(value.strip().lower())
        return number if abs(number) <= LARGEST and "_" not in value else None
    return None
