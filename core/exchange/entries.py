"""One row of a file as Concord's nouns: its conversations, votes and scores, as its form tells."""

import hashlib
import json
import math
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import combinations
from pathlib import Path
from typing import Any, NamedTuple

from concord.codes import Scorer
from concord.conversation import SYSTEM_PROMPT, Conversation, Message, Role, Turn, Unit, system_prompt
from concord.errors import ImportRefused
from concord.exchange import dialogue, promptfoo
from concord.exchange.cells import name_in, nfc
from concord.exchange.dialogue import SPEAKERS, Roles, Utterance
from concord.exchange.given import Given
from concord.exchange.otlp import objects
from concord.exchange.rows import AROUND, FileRow
from concord.exchange.shapes import (
    ENTRY,
    ROWS,
    WON,
    Paths,
    ScorePaths,
    Shape,
    Side,
    Votes,
    absent,
    at,
    failure,
    first,
    parsed,
    part_at,
)
from concord.files import has_half_characters
from concord.files.limits import NAME
from concord.rating import PROGRAM, Comparison, Rater, program
from concord.reading.cells import score_of_word
from concord.runs.registry import SCENARIO
from concord.scores import LARGEST

FACET = 80
"""Characters of the value of a facet."""
_ONE_TEXT = (
    "content",
    "text",
    "input",
    "question",
    "query",
    "prompt",
    "output",
    "answer",
    "response",
    "result",
    "generations",
    "message",
)
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


@dataclass
class RowReader:
    """Reads the conversations of a row, and notes what each path was taken as.

    What is not taken is excluded. Each of several entries has a reader of its own, where it is “@”; they
    share the notes, in which the same paths in all entries are one.
    """

    fields: Mapping[str, Any]
    shape: Shape
    taken: dict[str, str] = field(default_factory=dict)
    """Paths with what they were taken as, “@” by the path to the entries."""
    left: dict[str, None] = field(default_factory=dict)
    """Paths of what is not kept of what was taken."""
    spoken: set[str] = field(default_factory=set)

    def entry(self, inside: Any) -> "RowReader":
        """The reader of one of several entries."""
        return RowReader({**self.fields, ENTRY: inside}, self.shape, self.taken, self.left)

    @property
    def place(self) -> str:
        """Where several entries lie."""
        there = self.shape.several.at if self.shape.several is not None else ()
        return next((path for path in there if at(self.fields, path) is not None), "")

    @property
    def threads(self) -> bool:
        """Whether the entries are ways through a tree of messages."""
        return self.shape.several is not None and bool(self.shape.several.threads)

    def column(self, path: str) -> str:
        """A path of the form as one of the row: “@” is where the entries lie, and a tree is all one."""
        if not path.startswith(ENTRY):
            return path
        return self.place if self.threads else self.place + path.removeprefix(ENTRY)

    def first(self, paths: Paths, use: str) -> Any:
        """What the first of the paths leads to that leads to something, which is taken; None if none does."""
        if absent(self.fields, paths):
            return None
        for path in paths:
            if (value := at(self.fields, path)) is not None:
                self.take(path, use)
                return value
        return None

    def take(self, path: str, use: str) -> None:
        """Note that what lies at a path is taken."""
        before = self.taken.get(column := self.column(path), "")
        self.taken[column] = before if use in before else ", ".join(filter(None, (before, use)))

    def leave(self, path: str, inside: Iterable[str] = (), why: str = "") -> None:
        """Note that what lies inside of what was taken at a path is not kept; or the path, and why."""
        column = self.column(path)
        self.left |= dict.fromkeys([f"{column} ({why})"] if why else [f"{column}.{name}" for name in inside])

    def metadata(self, meta: Mapping[str, Any], *, around: bool = False) -> tuple[list[str], list[str]]:
        """The names of the row's fields that are metadata only, and the paths of what is not kept.

        `meta` is the row's metadata; with `around`, what stands around the rows is looked at too.
        """
        fields, turns = self.fields, self.shape.turns
        here = {n: value for n, value in fields.items() if n not in meta and (around or n != AROUND)}
        left_out = [*_beside(here, self.taken, self.place)]
        left_out += [name for name in self.left if name not in self.taken]
        if turns is not None:  # what is equal in all rows is metadata, and some say where the rows belong
            placed = {*turns.by, *turns.order}
            placed |= {n for n in fields if all(row.get(n) == fields[n] for row in fields[ROWS])}
            left_out = [name for name in left_out if name.removeprefix(f"{ROWS}.") not in placed]
        used_names = {path.partition(".")[0] for path in self.taken}
        return [name for name in meta if name not in used_names], list(dict.fromkeys(left_out))


@dataclass(frozen=True)
class Entry:
    """What one row holds, and how it was read.

    A score's rater has no name where the file does not say who gave it. `unread` are scores that are neither
    numbers nor known words, as they stand, `unknown` the criteria of scores whose scorer the file does not
    say; `line` is the row where
    Concord wrote it, which may hold other things than conversations.
    """

    conversations: tuple[Conversation, ...]
    walk: RowReader
    votes: tuple[Comparison, ...] = ()
    scores: tuple[Given, ...] = ()
    unread: tuple[str, ...] = ()
    unknown: tuple[str, ...] = ()
    line: FileRow | None = None
    images: Mapping[str, bytes] = field(default_factory=dict)
    """The images of its messages, by name."""
    named: Sequence[str] = ()
    """Images that are not kept, with the reason."""


@dataclass(frozen=True)
class Reading:
    """How rows are read: their form, the benchmark they belong to, and the roles of speakers by name."""

    shape: Shape
    benchmark: str
    roles: Roles = field(default_factory=dict)
    folder: Path = Path()
    """Where the file lies, and images beside it."""
    scorers: Mapping[str, Scorer] = field(default_factory=dict)
    """Who gave the scores on a criterion, where the file does not say it; “*” on any other."""
    show_system_prompt: bool = False
    """Whether the system prompt of a conversation is context, too, so that annotators and judges see it."""

    @cached_property
    def speakers(self) -> Roles:
        """The role of each speaker who is known."""
        return {**SPEAKERS, **self.shape.roles, **self.roles}


def read(fields: Mapping[str, Any], reading: Reading, where: str) -> Entry:
    """The conversations, votes and scores of a row. Raises ImportRefused."""
    shape, walk = reading.shape, RowReader(fields, reading.shape)
    sides = list[tuple[RowReader, str, tuple[Message, ...]]]()
    parts = _parts(walk, where)
    for part in parts:
        try:
            sides += [(part, *_side(part, side, reading, where)) for side in shape.sides]
        except NoReply as error:
            walk.leave(walk.place, why="parts without a reply")
            if shape.several is None or (part is parts[-1] and not sides):
                why = failure(fields, shape)
                reason = f"{where}: it has no reply, because it ended with an error: {_short(why)}."
                raise error if why in (None, "success") else ImportRefused(reason) from error
    if not sides:
        raise NoReply(f"{where}: it has no reply. Remove the row, or set the role of the speaker.")
    parts = [part for part, *_ in sides[:: len(shape.sides)]]
    cut = walk.first((shape.votes.turn,), "turn of the vote") if shape.votes and shape.votes.turn else None
    if cut is not None:
        whole = [messages for *_, messages in sides]
        sides = [(part, player, _until(messages, cut, where)) for part, player, messages in sides]
        if [len(messages) for *_, messages in sides] != [*map(len, whole)]:
            for path in (path for side in shape.sides for path in side.messages):
                walk.leave(path, why="after the turn of the vote")
    key = _key(walk) or _digest([side[1:] for side in sides])
    players = [player for _, player, _ in sides]
    scenario = _short(walk.first(shape.scenario, "scenario")) if shape.scenario else ""
    scenario = key if len(sides) > 1 and not shape.scenario else scenario
    language = walk.first(shape.language, "language")
    until = "" if cut is None else f"@{cut}"
    conversations = []
    for place, (part, player, messages) in enumerate(sides):
        name = key if len(sides) == 1 else f"{key}/{player}"
        if players.count(player) > 1:
            name += f"/{_MARKS[place] if place < len(_MARKS) else place + 1}"
        facets = {called: _facet(part, called, paths) for called, paths in shape.facets.items()}
        facets |= {SCENARIO: scenario + until} if scenario else {}
        conversations.append(
            Conversation(
                benchmark=reading.benchmark,
                key=name_in(where, "key", f"{reading.benchmark}/{name}{until}"),
                player=player,
                messages=messages,
                language=_language(language, where),
                facets={called: value for called, value in facets.items() if value},
                context=_context(part) | (_prompt(messages) if reading.show_system_prompt else {}),
                meta=_meta(fields),
            )
        )
    if twice := [c for c in conversations[1:] if c.key == conversations[0].key]:
        raise ImportRefused(f"{where}: two conversations have the key “{twice[0].key}”.")
    votes = _votes(walk, parts, shape.votes, conversations, reading.benchmark, where) if shape.votes else ()
    scores, unread, unknown = list[Given](), list[str](), list[str]()
    for (part, *_), conversation in zip(sides, conversations, strict=True) if len(shape.sides) == 1 else ():
        given, not_read, of_nobody = _scores(part, conversation, reading)
        scores += given
        unread += not_read
        unknown += of_nobody
    walk.first(shape.failed, "why it failed")
    if shape.turns is not None:
        row = first(fields, (f"{ROWS}.0",))
        if order := next((path for path in shape.turns.order if at(row, path) is not None), ""):
            walk.take(order, "order of the messages")
    return Entry(tuple(conversations), walk, votes, tuple(scores), tuple(unread), tuple(unknown))


class NoReply(ImportRefused):
    """A dialogue in which nobody replies."""


_MARKS = "abcdefghijklmnopqrstuvwxyz"


def _parts(walk: RowReader, where: str) -> list[RowReader]:
    """The row as often as it holds a conversation, with what is that one's own at “@”."""
    several = walk.shape.several
    if several is None:
        return [walk]
    value = parsed(first(walk.fields, several.at))
    if several.threads == "replies":
        value = _flat(value, None)
    listed = value if isinstance(value, list) else []
    if isinstance(value, Mapping):
        listed = dialogue.transposed(value) or [*value.values()]
    if not listed:
        raise ImportRefused(f"{where}: there is no list at {' or '.join(several.at)}. Remove the row.")
    if several.threads:
        listed = _threads([each for each in listed if isinstance(each, Mapping)], several.threads)
    return [walk.entry(each) for each in listed if isinstance(each, Mapping | str)]


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
            number = str(first(message, ("message_id", "messageId", "id", "uuid")))
            parent = str(first(message, _PARENT))
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


_PARENT = ("parent_id", "parent", "parentId", "parentMessageId", "parent_message_uuid")
_LINKS = (
    "message_id",
    "messageId",
    "message_tree_id",
    "id",
    *_PARENT[:4],
    "replies",
    "children",
    "childrenIds",
    "if_chosen",
)
"""What says where in a tree a message stands."""


def _beside(value: Any, used: Collection[str], entries: str = "", path: str = "") -> Iterator[str]:
    """The paths of what lies beside the used paths, as far as it is not empty; the same in all `entries`."""
    some = dict(value) if isinstance(value, Mapping) else dict(enumerate(value))
    for name, inner in some.items():
        if path and path == entries and (isinstance(name, int) or isinstance(inner, Mapping)):
            yield from _beside(inner, used, "", path) if isinstance(inner, Mapping) else (f"{path}.…",)
            continue
        here = f"{path}.{name}" if path else str(name)
        last = f"{path}.{name - len(some)}" if isinstance(name, int) else here
        if here in used or last in used:
            continue
        inner = parsed(inner)
        within = here == AROUND or any(each.startswith((f"{here}.", f"{last}.")) for each in used)
        if within and isinstance(inner, Mapping | list):
            yield from _beside(inner, used, entries, here)
        elif inner not in (None, "", [], {}):
            yield f"{path}.…" if isinstance(name, int) else here


def _side(walk: RowReader, side: Side, reading: Reading, where: str) -> tuple[str, tuple[Message, ...]]:
    """Who replies in a dialogue of a row, and its messages: lists one after another, then texts by turns.

    They are joined together, so that a call in one list and its result in the next belong to one reply.
    """
    utterances = list[Utterance]()
    spoken: list[tuple[Role, list[str]]] = []
    for role, paths in side.parts:
        path, value = part_at(walk.fields, paths, role)
        if value is None:
            continue
        walk.take(path, "messages" if path in (*side.messages, *side.talk) else role)
        walk.spoken.add(path)
        if texts := _texts(value):
            spoken.append((role, texts))
            continue
        more = _utterances(value, role, walk, path, reading, where)
        begins = bool(utterances) and _words(more[: len(utterances)]) == _words(utterances)
        utterances = more if begins else [*utterances, *more]
    # A list of texts by turns is what came before: a question that it holds too is asked again.
    history = any(path in walk.spoken for path in side.talk) and bool(utterances)
    answered = history and any(role == "assistant" for role, _ in spoken)
    there = [] if history or not spoken else _words(utterances)
    for turn in range(max((len(texts) for _, texts in spoken), default=0)):
        for role, texts in spoken:
            if turn < len(texts):
                if role != "assistant" and (role, texts[turn], ()) in there:
                    continue  # the list of messages begins with the prompt
                # A system prompt, or the question to an answer that is a message, comes first.
                systems = sum(each.message.role == "system" for each in utterances)
                first_place = role == "system" or (role == "user" and not answered)
                place = systems if first_place and turn == 0 else len(utterances)
                utterances.insert(place, Utterance(Message(role, texts[turn])))
    messages = dialogue.joined(utterances)
    if not messages:
        raise ImportRefused(f"{where}: the dialogue is empty. Remove the row.")
    if not any(m.role == "assistant" for m in messages):
        raise NoReply(f"{where}: the dialogue has no reply. Remove the row, or set the role of the speaker.")
    if has_half_characters("".join([m.content for m in messages])):
        raise ImportRefused(f"{where}: a text has an incomplete character (a lone surrogate). Remove it.")
    named = walk.first(side.player, "player")
    player = named if isinstance(named, str) else _short(named) if named is not None else side.unnamed
    return nfc(name_in(where, "player", player.strip() or side.unnamed)), messages


def _words(utterances: Sequence[Utterance]) -> list[tuple[Role, str, tuple[str, ...]]]:
    return [(message.role, message.content, calls) for message, calls in utterances]


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


def _utterances(
    value: Any, role: Role, walk: RowReader, path: str, reading: Reading, where: str
) -> list[Utterance]:
    """What is said in a value that is no text: messages, one of them, or an object that holds some."""
    roles, entries = reading.speakers, list[Any]()
    if isinstance(value, list) and value and all(map(is_part, value)):
        entries, roles = [{"role": role, "content": value}], SPEAKERS
    elif isinstance(value, list):
        entries = [entry for each in value for entry in (each if isinstance(each, list) else [each])]
    elif not isinstance(value, Mapping):
        return [Utterance(Message(role, str(value)))]
    elif (listed := dialogue.transposed(value)) and is_message(listed[0]):
        entries = listed
    elif is_message(value):
        entries = [value]
    else:
        name, inner = inside(value)
        walk.leave(path, _beside(value, {name}) if name else ())
        texts = _texts(inner) if name else [json.dumps(value, ensure_ascii=False, default=str)]
        utterances = [Utterance(Message(role, text)) for text in texts]
        return utterances or _utterances(inner, role, walk, f"{path}.{name}", reading, where)
    left = set[str]()
    utterances = dialogue.utterances(entries, where, roles, left)
    walk.leave(path, sorted(left.difference(_LINKS) if walk.threads else left))
    return utterances


_PARTS = ("text", "tool_use", "thinking", "redacted_thinking", "image", "image_url", "output_text")


def is_part(value: Any) -> bool:
    """Whether something is a part of one message, which does not say who speaks."""
    if not isinstance(value, Mapping) or any(value.get(n) for n in (*dialogue.SPEAKS, *dialogue.ALSO)):
        return False
    return value.get("type") in _PARTS or ("type" not in value and isinstance(value.get("text"), str))


def is_message(value: Mapping[str, Any]) -> bool:
    """Whether an object is a message, which says who speaks or of which type it is."""
    if inside(value)[0] not in (*_ONE_TEXT, ""):
        return False
    named = any(isinstance(value.get(name), str) for name in ("role", "from", "sender", "speaker"))
    typed = isinstance(value.get("type"), str) and ("content" in value or "data" in value)
    return named or typed or "lc" in value or "kwargs" in value


def inside(value: Mapping[str, Any]) -> tuple[str, Any]:
    """Where in an object its messages or its text lie, and what lies there; “” where the object is all."""
    if isinstance(inner := value.get("messages"), list) and inner:
        return "messages", inner
    if isinstance(inner := value.get("choices"), list) and inner and isinstance(inner[0], Mapping):
        kind = "message" if "message" in inner[0] else "text"
        return f"choices.0.{kind}", inner[0].get(kind)
    if value.keys() <= {"value", "type"} and value.get("value") not in (None, ""):
        return "value", value["value"]
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


def key_of(fields: Mapping[str, Any], shape: Shape) -> str:
    """The key that a row names, without the name of its benchmark; “” where it names none."""
    return _key(RowReader(fields, shape))


def _key(walk: RowReader) -> str:
    """What the first path of a key leads to, or several with “+” between them: texts or numbers; else “”."""
    if absent(walk.fields, walk.shape.key) and not any("+" in path for path in walk.shape.key):
        return ""
    for path in walk.shape.key:
        parts = [at(walk.fields, part) for part in path.split("+")]
        named = all(isinstance(each, str | int) and not isinstance(each, bool) for each in parts)
        if named and (key := "/".join(str(each).strip() for each in parts)):
            for part in path.split("+"):
                walk.take(part, "key")
            return key
    return ""


def _digest(sides: Sequence[tuple[str, Sequence[Message]]]) -> str:
    """A key for a row that has none: equal rows have the same."""
    dialogues = [[player, [[m.role, m.content] for m in messages]] for player, messages in sides]
    return hashlib.sha256(json.dumps(dialogues).encode()).hexdigest()[:16]


def _language(language: Any, where: str) -> str:
    name = str(language).strip() if language is not None else "en"
    return name_in(where, "language", _LANGUAGES.get(name.lower(), name) or "en")


WHOLE = "*"
"""The path of a context that is all other fields of a row."""


def _context(walk: RowReader) -> dict[str, Any]:
    values: dict[str, Any] = {}
    for heading, paths in walk.shape.context.items():
        if paths == (WHOLE,):
            outside = (ENTRY, AROUND, walk.place)
            values[heading] = {name: value for name, value in walk.fields.items() if name not in outside}
            for name in values[heading]:
                walk.take(name, f"context “{heading}”")
        elif not absent(walk.fields, paths):
            unspoken = tuple(path for path in paths if path not in walk.spoken)
            values[heading] = walk.first(unspoken, f"context “{heading}”")
    return {heading: _plain(value) for heading, value in values.items() if value not in (None, [], {})}


def _prompt(messages: Sequence[Message]) -> dict[str, str]:
    """The system prompt of a dialogue as context; empty without one."""
    prompt = system_prompt(messages)
    return {SYSTEM_PROMPT: prompt} if prompt else {}


def _facet(walk: RowReader, name: str, paths: Paths) -> str:
    value = walk.first(paths, f"facet “{name}”")
    if value is None:
        return ""
    if isinstance(value, Mapping) or len(" ".join(str(value).split())) > FACET:
        walk.leave(paths[0], why=f"a facet has {FACET} characters")
    return _short(value)


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
    walk: RowReader,
    parts: Sequence[RowReader],
    votes: Votes,
    sides: Sequence[Conversation],
    benchmark: str,
    where: str,
) -> tuple[Comparison, ...]:
    """The votes of a row on its sides, the first of a pair shown as A. Raises ImportRefused."""
    by, reason = walk.first(votes.by, "rater"), str(walk.first(votes.why, "reasons of a vote") or "")
    if isinstance(by, list | tuple) and by:
        rater = Rater(nfc(str(by[0]))[:NAME], "judge", str(by[1])[:NAME] if len(by) > 1 else "")
    else:
        unnamed = votes.who or f"voters of {benchmark}"
        rater = Rater(nfc(str(by))[:NAME] if by is not None else unnamed, votes.rater)
    if votes.rank:
        ranks = [_number(part.first((votes.rank,), "vote")) for part in parts]
        return tuple(
            Comparison("", one.key, other.key, rater, "A" if a < b else "B" if a > b else "C")
            for (a, one), (b, other) in combinations(zip(ranks, sides, strict=True), 2)
            if a is not None and b is not None
        )
    verdict, answer, strong = votes.won, "", False
    for path in (*votes.columns, *votes.winner, *votes.less):
        value = walk.first((path,), "vote")
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
    reason = reason or ("both bad" if "bad" in answer.lower() else "")
    return (Comparison("", one.key, other.key, rater, verdict, reason, strong=strong),)


class RowScore(NamedTuple):
    """A score as it stands in a row: its value is not yet a number, and who gave it may be unknown."""

    criterion: str
    value: Any
    scorer: Scorer
    by: str = ""
    why: str = ""
    turn: int | None = None


def _scores(
    walk: RowReader, conversation: Conversation, reading: Reading
) -> tuple[tuple[Given, ...], tuple[str, ...], tuple[str, ...]]:
    """The scores of a row, those that are no numbers, and the criteria of those whose scorer is unknown."""
    given_scores, unread, unknown = dict[tuple[Any, ...], Given](), list[str](), list[str]()
    if not walk.shape.scores:
        return (), (), ()
    replies = [turn for turn in conversation.turns() if turn.reply is not None]
    for scores in walk.shape.scores:
        for one in _graded(walk, scores) if scores.graded else _given(walk, scores, replies):
            if (score := _number(one.value)) is None:
                unread.append(f"{one.criterion}: {str(one.value)[:40]}")
                continue
            criterion, scorer = nfc(one.criterion)[:NAME], one.scorer
            if scorer == Scorer.UNKNOWN:
                scorer = reading.scorers.get(criterion) or reading.scorers.get("*") or scorer
            if scorer == Scorer.UNKNOWN:
                unknown.append(criterion)
                for path in (scores.at, *(scores.why if scores.criterion else ())):
                    walk.leave(path, why="scores without a known source")
                continue
            by = nfc(one.by)[:NAME]
            rater = Rater(by, "human" if scorer == Scorer.HUMAN else "judge")
            rater = program(by[: NAME - len(PROGRAM)]) if scorer == Scorer.CODE else rater
            unit = Unit(conversation.key, one.turn)
            given_scores[unit, criterion, rater] = Given(unit, criterion, rater, score, explanation=one.why)
    return tuple(given_scores.values()), tuple(unread), tuple(unknown)


def _graded(walk: RowReader, scores: ScorePaths) -> Iterator[RowScore]:
    """The scores of a result of promptfoo."""
    for path in ("score", "namedScores", scores.at):
        walk.first((path,), "scores")
    used = {"pass", "score", "namedScores"}
    for grade in promptfoo.grades(walk.fields):
        used |= {*grade.used}
        if grade.value is not None:
            yield RowScore(grade.criterion, grade.value, grade.scorer, why=grade.why)
    grading = at(walk.fields, scores.at)
    walk.leave(scores.at, _beside(grading, used) if isinstance(grading, Mapping) else ())


def _scorer(
    walk: RowReader, scores: ScorePaths, criterion: str, entry: Mapping[str, Any]
) -> tuple[Scorer, str]:
    """Who gave a score, as far as the file says it, and the name."""
    if scores.rater == Scorer.HUMAN:
        return Scorer.HUMAN, _by(walk, scores, entry)
    for change in reversed(objects(parsed(at(walk.fields, scores.audit))) if scores.audit else []):
        path = first(change, ("audit_data.path", "path"))
        if isinstance(path, list) and path[-1:] == [criterion] and str(change.get("source")).lower() == "app":
            by = first(change, ("metadata.user_id", "metadata.email", "metadata.id"))
            return Scorer.HUMAN, str(by or "")
    if not (scores.kind or scores.around):
        return scores.rater or Scorer.JUDGE, _by(walk, scores, entry)
    if EDITED in entry:
        return Scorer.UNKNOWN, _by(walk, scores, entry)
    words = (
        []
        if entry is walk.fields
        else [criterion.partition("/")[0] if path == ITSELF else at(entry, path) for path in scores.kind]
    )
    words += [at(walk.fields, path) for path in scores.around]
    of = {**dict.fromkeys(scores.people, Scorer.HUMAN), **dict.fromkeys(scores.judges, Scorer.JUDGE)}
    of |= dict.fromkeys(scores.code, Scorer.CODE)
    upper = [str(word).upper() for word in words if word is not None]
    matches = [of[word] for word in upper if word in of] or [of[ANY] for _ in upper[:1] if ANY in of]
    scorer = next(iter(matches), scores.rater or Scorer.UNKNOWN)
    rater = _by(walk, scores, entry)
    owner = first(entry, scores.owner) if scorer == Scorer.HUMAN and not rater else None
    return scorer, str(owner) if isinstance(owner, str | int) else rater


def _by(walk: RowReader, scores: ScorePaths, entry: Mapping[str, Any]) -> str:
    """The name of who gave a score; “” where the file does not say it."""
    by = first(entry, (AS_GIVEN, *scores.by)) if entry is not walk.fields else None
    by = walk.first(scores.by, "rater") if by is None else by
    return str(by) if isinstance(by, str | int) else ""


def _given(walk: RowReader, scores: ScorePaths, replies: Sequence[Turn]) -> Iterator[RowScore]:
    """Each score that a row has."""
    for criterion, turn, value, reason, entry in _entries(walk, scores, replies):
        scorer, by = _scorer(walk, scores, criterion, entry)
        if scorer == Scorer.HUMAN and scores.comment:
            reason = walk.first(scores.comment, "reasons of a score")
        yield RowScore(criterion, value, scorer, by, str(reason or ""), turn)


def _entries(
    walk: RowReader, scores: ScorePaths, replies: Sequence[Turn]
) -> Iterator[tuple[str, int | None, Any, Any, Mapping[str, Any]]]:
    """(criterion, turn, value, reason, entry) of each score that a row has."""
    if any(_matches(str(at(walk.fields, path)), values) for path, values in scores.unless.items()):
        return
    use = f"score “{scores.criterion}”" if scores.criterion else "scores"
    value = _columns(walk, scores) if scores.at.endswith(WHOLE) else walk.first((scores.at,), use)
    given_scores = parsed(value)
    if given_scores is None:
        return
    if scores.criterion and not isinstance(given_scores, list):
        yield scores.criterion, None, value, walk.first(scores.why, "reasons of a score"), walk.fields
        return
    listed = isinstance(given_scores, list)
    if listed:
        entries = [entry for entry in map(parsed, given_scores) if isinstance(entry, Mapping)]
        if scores.inside:
            entries = [score for entry in entries for score in _inside(entry, scores.inside)]
        named = [(scores.criterion or first(entry, scores.name), entry) for entry in entries]
    elif isinstance(given_scores, Mapping):
        named = list(given_scores.items())
    else:
        named = [(scores.at.rpartition(".")[2], given_scores)]
    ways = [scores.value, scores.why, scores.by, scores.kind, scores.turn]
    ways += [scores.name] if listed else []
    ways += [(path,) for path in (scores.authors, scores.edits) if path]
    versions = [(name, version) for name, score in named for version in _versions(score, scores)]
    for name, value in versions:
        about = value if isinstance(value, Mapping) else {}
        if scores.only and first(about, scores.only) is None:
            walk.leave(scores.at, "…")
            continue
        used = {next((path for path in paths if at(about, path) is not None), "") for paths in ways}
        walk.leave(scores.at, _beside(about, {*used, *scores.only}))
        value = first(about, scores.value) if about and (scores.value or listed) else value
        reason = first(about, scores.why)
        if name is None:
            continue
        if isinstance(value, list) and scores.unnamed:
            for place, each in enumerate(value, 1):
                yield str(name), None, each, reason, {AS_GIVEN: f"position {place}"}
        elif isinstance(value, list) and len(value) == len(replies):
            for turn, each in zip(replies, value, strict=True):
                yield str(name), turn.number, each, reason, about
        elif isinstance(value, Mapping):
            for within, each in value.items():
                yield f"{name}/{within}", None, each, reason, about
        elif value is not None:
            turn = first(about, scores.turn)
            yield str(name), turn if isinstance(turn, int) else None, value, reason, about


def _columns(walk: RowReader, scores: ScorePaths) -> list[dict[str, Any]] | None:
    """The scores of a table that has a column for each part of one, whose name stands in the middle, or, of
    its value, at the end.
    """
    begin, ends = scores.at.removesuffix(WHOLE), [*scores.value, *scores.why, *scores.kind]
    by_name = dict[str, dict[str, Any]]()
    bare = ITSELF in scores.value
    for column, value in walk.fields.items():
        if not column.startswith(begin) or value in (None, "", "-"):
            continue
        end = max((end for end in ends if str(column).endswith(f"_{end}")), key=len, default="")
        if end or bare:
            walk.take(column, "scores")
            name = column[len(begin) : -len(end) - 1] if end else column[len(begin) :]
            by_name.setdefault(name, {})[end or ITSELF] = value
    return [{"name": name, **parts} for name, parts in by_name.items() if name] or None


ITSELF, ANY = "=", "*"
"""The path to a criterion's own name, and any word that is not named."""
EDITED = "provenance"
"""What says of a score who changed it."""


def _matches(text: str, words: Collection[str]) -> bool:
    """Whether a text is one of these words, or begins as one that ends in “: ”."""
    return text in words or any(word.endswith(": ") and text.startswith(word) for word in words)


def _versions(value: Any, scores: ScorePaths) -> list[Any]:
    """A score as each of several gave it, and as it was before somebody changed it; else as it stands."""
    if not isinstance(value, Mapping):
        return [value]
    by_author = parsed(at(value, scores.authors)) if scores.authors else None
    if isinstance(by_author, Mapping) and by_author:
        authors = [(name, score) for name, score in by_author.items() if isinstance(score, Mapping)]
        return [{**value, "author": name, **_present(score)} for name, score in authors]
    edits = objects(at(value, scores.edits)) if scores.edits else []
    if len(edits) < 2 or not edits[-1].get(EDITED):
        return [value]
    return [edits[0], {**value, EDITED: edits[-1][EDITED]}]


def _inside(entry: Mapping[str, Any], path: str) -> Iterator[Mapping[str, Any]]:
    """The scores that an entry consists of, each with what the entry says of all; several words are one."""
    scores = parsed(at(entry, path))
    for name, value in scores.items() if isinstance(scores, Mapping) else ():
        score = dict(value) if isinstance(value, Mapping) else {"value": value}
        if isinstance(words := score.get("value"), list):
            score["value"] = ", ".join(map(str, words))
        yield {**{n: v for n, v in entry.items() if n != path}, "name": name, **score}


def _present(fields: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in fields.items() if value is not None}


def _number(value: Any) -> float | None:
    if isinstance(value, bool | int | float):
        return float(value) if abs(value) <= LARGEST else None
    if isinstance(value, str):
        try:
            number = float(value)
        except ValueError:
            return score_of_word(value)
        return number if abs(number) <= LARGEST and "_" not in value else None
    return None
