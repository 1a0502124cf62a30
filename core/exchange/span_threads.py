"""Threads of dialogue in spans: which spans go on with which, by the messages that they share."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from concord.conversation import Conversation
from concord.errors import ImportRefused
from concord.exchange import dialogue
from concord.exchange.conventions import Entries, SpanDialogue
from concord.exchange.otlp import (
    ATTRIBUTES,
    SPAN,
)
from concord.exchange.row_paths import first, value_at
from concord.exchange.span_fields import operation, span_id

MODEL_ATTRIBUTES = (
    "gen_ai.response.model",
    "gen_ai.request.model",
    "llm.model_name",
    "llm.response.model",
    "llm.request.model",
    "ai.response.model",
    "ai.model.id",
    "langfuse.observation.model.name",
)


class Mark(NamedTuple):
    """What is compared of a message: who says what, or which tool is called."""

    role: str
    words: str
    entry: int


@dataclass
class Thread:
    """A dialogue of one or more spans. `ends` is where each span's own part ends, as a number of entries."""

    entries: Entries
    marks: list[Mark]
    lane: tuple[str, ...]
    base: dict[str, Any]
    ends: dict[str, int] = field(default_factory=dict)
    attributes: set[str] = field(default_factory=set)
    model: str = ""
    choices: int = 1


def thread_of(fields: dict[str, Any], speech: SpanDialogue, place: str) -> Thread:
    """The thread of one span."""
    marks = _marks(speech.entries, place)
    instructions = [mark.words for mark in marks if mark.role == "system"]
    agent = str(value_at(fields[ATTRIBUTES], "gen_ai.agent.name") or "")
    marks = [mark for mark in marks if mark.role != "system"]
    model = first(fields[ATTRIBUTES], MODEL_ATTRIBUTES)
    return Thread(
        speech.entries,
        marks,
        (operation(fields), agent, *instructions),
        fields,
        {span_id(fields[SPAN]): len(speech.entries)},
        {*speech.attributes},
        str(model or ""),
        speech.choices,
    )


def _marks(entries: Entries, place: str) -> list[Mark]:
    marks = list[Mark]()
    for number, entry in enumerate(entries, 1):
        try:
            spoken = dialogue.utterances([entry], place, {**dialogue.SPEAKERS, "*": "user"})
        except ImportRefused:
            continue  # it is refused with its place where the conversation is read
        for message, calls in spoken:
            words = "" if message.role == "tool" else message.content
            if words or message.role == "tool":
                marks.append(Mark(message.role, words, number))
            marks += [
                Mark("call", name, number) for name in message.meta.get("calls", ()) or (calls and [""])
            ]
    return marks


def take_thread(threads: list[Thread], new: Thread, ancestors: set[str], *, continues: bool) -> None:
    """Add the dialogue of a span to those of the spans before it, but for the spans above it."""
    for thread in threads:
        if (places := _positions(new.marks, thread.marks)) is not None:
            end = places[-1] if len(new.marks) else 0
            thread.ends |= dict.fromkeys(new.ends, end)
            _instruct(thread, [entry for entry in new.entries if _is_system(entry)])
            thread.attributes |= new.attributes if new.base is thread.base else set()
            thread.model = thread.model or new.model
            return
    place = len(threads)
    for number, thread in reversed([*enumerate(threads)]):
        if (places := _positions(thread.marks, new.marks)) is None:
            continue
        entry_of = {mark.entry: entry for mark, entry in zip(thread.marks, places, strict=True)}
        for span, end in thread.ends.items():
            reached = [entry_of[mark.entry] for mark in thread.marks if mark.entry <= end]
            new.ends.setdefault(span, max(reached, default=0))
        new.model = new.model or thread.model
        del threads[number]
        place = number
    before = [thread for thread in reversed(threads) if span_id(thread.base[SPAN]) not in ancestors]
    lane = next((t for t in before if t.lane == new.lane), None) if continues else None
    if lane is None and new.marks and new.marks[0].role == "tool":
        lane = next((t for t in before if t.marks and t.marks[-1].role == "call"), None)
    if lane is None or place < len(threads):
        threads.insert(place, new)
        return
    size = min(len(lane.marks), len(new.marks))
    pairs = [mark[:2] for mark in lane.marks], [mark[:2] for mark in new.marks]
    shared = next((n for n in range(size, 0, -1) if pairs[0][-n:] == pairs[1][:n]), 0)
    begin = new.marks[shared - 1].entry if shared else 0
    rest = [entry for entry in new.entries[begin:] if not _is_system(entry)]
    left = len(new.entries) - len(rest)
    lane.ends |= {span: len(lane.entries) + max(0, end - left) for span, end in new.ends.items()}
    lane.marks += [
        Mark(mark.role, mark.words, len(lane.entries) + mark.entry - left) for mark in new.marks[shared:]
    ]
    lane.entries = [*lane.entries, *rest]
    lane.model = new.model or lane.model


def _instruct(thread: Thread, instructions: Entries) -> None:
    """Put the system prompt of a call before the dialogue of a span above it that has none."""
    if not instructions or any(map(_is_system, thread.entries)):
        return
    shift = len(instructions)
    thread.entries = [*instructions, *thread.entries]
    thread.marks = [mark._replace(entry=mark.entry + shift) for mark in thread.marks]
    thread.ends = {span: end + shift if end else end for span, end in thread.ends.items()}


def _is_system(entry: Mapping[str, Any]) -> bool:
    return str(entry.get("role", "")).lower() in ("system", "developer")


def _positions(sequence: Sequence[Mark], marks: Sequence[Mark]) -> list[int] | None:
    """Where the messages of a dialogue stand in another in the same order; None where one does not."""
    places = list[int]()
    position = iter(marks)
    for mark in sequence:
        place = next((item.entry for item in position if item[:2] == mark[:2]), None)
        if place is None:
            return None
        places.append(place)
    return places or None


def last_turn(entries: Entries) -> int:
    """The turn of the last reply in a dialogue; 0 without one."""
    roles = {**dialogue.SPEAKERS, "*": "user"}
    messages = dialogue.from_list(entries, "", roles) if entries else ()
    turns = Conversation("", "", "", messages).turns()
    return max((turn.number for turn in turns if turn.reply is not None), default=0)
