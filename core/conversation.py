"""What was said: Message, Turn, Conversation, and the Unit of it that is rated."""

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple

Role = Literal["system", "user", "assistant", "tool"]
"""Who speaks. “tool” is a call of a tool or its result, written as text; it belongs to the reply after it."""
SYSTEM_PROMPT = "System prompt"
"""The heading under which a conversation's system messages are shown."""
IMAGES = "images"
"""In a message's meta: its images, by what stands in the text for them."""


@dataclass(frozen=True, slots=True)
class Message:
    """One utterance. `role` is the chat protocol's: an interrogator is the user, a player the assistant."""

    role: Role
    content: str
    meta: Mapping[str, Any] = field(default_factory=dict)
    """What the speaker said about the utterance beside it (a strategy, a plan), and the speaker's “name”
    where a file told it; never shown to an annotator, but for its images.
    """

    @property
    def tool_part(self) -> str:
        """What a message of a tool is: a call or its result."""
        return "Tool call" if "calls" in self.meta else "Tool result"

    @property
    def images(self) -> Mapping[str, str]:
        """Its images by what stands in the text for them: names in the store, or data URLs."""
        images: Mapping[str, str] = self.meta.get(IMAGES, {})
        return images


def system_prompt(messages: Iterable[Message]) -> str:
    """The text of the system messages; “” without one."""
    return "\n\n".join(message.content for message in messages if message.role == "system")


class Turn(NamedTuple):
    """A user's message and the reply to it; `number` counts from 1, `reply` is None while it is owed.

    `other_messages` are the system prompts before the user's message, and the calls and results of tools
    before the reply.
    """

    number: int
    user: Message | None
    reply: Message | None
    other_messages: tuple[Message, ...] = ()


@dataclass(frozen=True)
class Conversation:
    """A finished dialogue and what it was about.

    `key` names the planned piece of work it came from: the same plan gives the same key, so a plan minus the
    stored keys is what is left to do. `facets` are the benchmark's own words for what varied (character,
    situation, …): short strings one can filter, stratify and group by. `context` is what a reader needs
    beside the dialogue (the character card, the situation): a mapping from a heading to text, shown to
    annotators unless its heading starts with “_”.
    """

    benchmark: str
    key: str
    player: str
    messages: tuple[Message, ...]
    language: str = "en"
    facets: Mapping[str, str] = field(default_factory=dict)
    context: Mapping[str, Any] = field(default_factory=dict)
    meta: Mapping[str, Any] = field(default_factory=dict)
    trajectory: Mapping[str, Any] | None = None
    """What was done beside what was said: plain values, stored apart, None in a conversation read back."""

    def turns(self) -> Iterator[Turn]:
        """The dialogue as turns, each begun by a user's message; replies before the first are in turn 1.

        What a tool said after the last reply is a turn without user and reply.
        """
        number = 1
        user: Message | None = None
        tools: list[Message] = []
        for message in self.messages:
            if message.role == "user":
                if user is not None:
                    yield Turn(number, user, None, tuple(tools))
                    number += 1
                    tools = []
                user = message
            elif message.role == "assistant":
                yield Turn(number, user, message, tuple(tools))
                number += 1
                user = None
                tools = []
            else:
                tools.append(message)
        if user is not None or tools:
            yield Turn(number, user, None, tuple(tools))

    @property
    def replied_turns(self) -> tuple[int, ...]:
        """The numbers of the turns that have a reply."""
        return tuple(turn.number for turn in self.turns() if turn.reply is not None)

    def voice(self, message: Message) -> str:
        """“ 1”, “ 2” … by first appearance, where speakers of several names share the role; else “”.

        A number, because a name may tell which model speaks.
        """
        names = list(dict.fromkeys(m.meta.get("name", "") for m in self.messages if m.role == message.role))
        shared = len(names) > 1 and message.role in ("user", "assistant")
        return f" {names.index(message.meta.get('name', '')) + 1}" if shared else ""

    def reply_in(self, turn: int | None) -> Message | None:
        """The reply in a turn; None where there is none."""
        return next((t.reply for t in self.turns() if t.number == turn), None)

    def reply(self, turn: int | None) -> str:
        """The text of the reply in a turn; “” where there is none."""
        reply = self.reply_in(turn)
        return reply.content if reply else ""

    def texts(self) -> Iterator[str]:
        """Every text of it that somebody who rates it may be shown: its messages and its context."""
        yield from (message.content for message in self.messages)
        for value in self.context.values():
            yield value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)

    @property
    def replies(self) -> tuple[str, ...]:
        """The player's utterances, in order."""
        return tuple(m.content for m in self.messages if m.role == "assistant")


class Unit(NamedTuple):
    """What a rating is about: a conversation, or one turn of it (counted from 1)."""

    conversation: str
    turn: int | None = None
