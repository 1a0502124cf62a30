"""A rubric: what is asked of a conversation or its replies, and how a judge is told. A frozen value."""

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

from concord.conversation import SYSTEM_PROMPT, Conversation, Message, system_prompt
from concord.errors import StudyError
from concord.rating import Criterion

UnitKind = Literal["conversation", "each-reply", "last-reply", "marked-reply"]
Reasons = Literal["before", "after", "none"]

SystemPrompt = Literal["none", "judges", "everyone"]
"""Who sees a conversation's system prompt beside the other fields; annotators are among everyone."""
TURN = "turn"
"""The facet that says which reply is marked, unless the rubric names another."""

EXAMPLE = Conversation(
    "",
    "example",
    "",
    (Message("user", "Where is my parcel?"), Message("assistant", "May I have the number of your order?")),
)
"""What a prompt is filled with where the workspace holds no conversation."""
STARTER = {
    "name": "helpful",
    "statement": "The assistant does what can be done for the user.",
    "scale": "1..5",
}
"""The question that a new rubric begins with."""


class DialogueLine(NamedTuple):
    """One message as a judge's template sees it; `rated` marks a reply that the questions are about."""

    turn: int
    role: str
    text: str
    rated: bool


@dataclass(frozen=True)
class Example:
    """A conversation with people's answers, which a template may show a judge. It is never shown beside the
    conversation of its `key`, nor beside one that is alike in all facets of `apart`; where there are none,
    beside one whose first message stands in its text.
    """

    key: str
    apart: Mapping[str, str]
    text: str
    answers: str

    def shown_beside(self, conversation: Conversation) -> bool:
        """Whether it tells a judge nothing of this conversation."""
        if self.key == conversation.key:
            return False
        if self.apart:
            return any(conversation.facets.get(name) != value for name, value in self.apart.items())
        first = next((m.content for m in conversation.messages if m.role == "user"), "")
        return not first.strip() or first.strip() not in self.text


@dataclass(frozen=True)
class JudgePart:
    """What only judges see: templates of the two messages, instructions, fields, and parameters of the call.

    `reasons` says whether the judge writes its reason before its answer, after it, or not at all. `template`
    is the benchmark's template that is sent instead, where the rubric is a benchmark's.
    """

    system: str
    user: str
    instructions: str
    reasons: Reasons
    show: tuple[str, ...]
    params: Mapping[str, Any]
    template: str = ""
    pair_system: str = ""
    pair_user: str = ""
    """The two messages of a pairwise question, which is asked in a call of its own."""
    guidelines: bool = True
    """Whether the guidelines for people are part of the prompt, where its templates use them."""
    examples: tuple[Example, ...] = ()
    """What a template may show as “examples”."""


@dataclass(frozen=True)
class Rubric:
    """One rubric. `show` names the fields that people and judges see beside the dialogue; None: all.

    `criteria` are asked of one unit, `pairs` of two: which of them is better. `explained` tells people more
    of single criteria. `body` is the file's content, completed by the templates: the rubric can be read from
    it again.
    """

    name: str
    title: str
    unit: UnitKind
    marked: str
    language: str
    guidelines: str
    explained: Mapping[str, str]
    show: tuple[str, ...] | None
    criteria: tuple[Criterion, ...]
    judge: JudgePart
    body: Mapping[str, Any]
    pairs: tuple[Criterion, ...] = ()
    system_prompt: SystemPrompt = "none"

    @property
    def hash(self) -> str:
        """What tells one version from another: the content, not comments or the order of fields."""
        text = json.dumps(self.body, ensure_ascii=False, sort_keys=True)
        return hashlib.sha256(text.encode()).hexdigest()[:16]

    @property
    def guidance(self) -> str:
        """What annotators can read at the desk, in Markdown: the guidelines, and what explains questions."""
        parts = [self.guidelines]
        parts += explained([c for c in self.criteria if c.name in self.explained], self.explained)
        return "\n\n".join(part.strip() for part in parts if part.strip())

    @property
    def ranks(self) -> bool:
        """Whether groups of conversations are put in order, in place of pairs that are compared."""
        return any(criterion.scale.kind.ranks for criterion in self.pairs)

    @property
    def per_turn(self) -> bool:
        """Whether its ratings are about single replies."""
        return self.unit != "conversation"

    def asked_of(self, conversation: Conversation) -> tuple[Criterion, ...]:
        """The questions that are asked of a conversation. Raises StudyError where there are none."""
        facets = {**conversation.facets, "player": conversation.player, "language": conversation.language}
        criteria = tuple(c for c in self.criteria if c.asked_of(facets))
        if not criteria:
            raise StudyError("None of the rubric's questions is asked of this conversation.")
        return criteria

    @property
    def mixed(self) -> bool:
        """Whether some questions are about replies and others about the conversation as a whole."""
        return any(criterion.whole for criterion in self.criteria)

    def units(self, conversation: Conversation) -> tuple[int | None, ...]:
        """What people rate, one item each: the turns that are rated, and None for the conversation as a whole
        where a question is about that. Raises StudyError as `asked_of` and `turns` do.
        """
        whole = {criterion.whole for criterion in self.asked_of(conversation)}
        turns = self.turns(conversation)
        return (*(turns if False in whole else ()), *([None] if True in whole else ()))

    def turns(self, conversation: Conversation) -> tuple[int | None, ...]:
        """The turns that are rated; (None,) for the conversation as a whole.

        Raises StudyError for a conversation that has none, or no mark where a marked reply is rated.
        """
        if self.unit == "conversation":
            if not conversation.messages:
                raise StudyError("The conversation is empty.")
            return (None,)
        replied = conversation.replied_turns
        if not replied:
            raise StudyError("The conversation has no reply to rate.")
        if self.unit == "each-reply":
            return replied
        if self.unit == "last-reply":
            return (replied[-1],)
        mark = conversation.facets.get(self.marked, conversation.meta.get(self.marked, ""))
        if str(mark) not in map(str, replied):
            raise StudyError(
                f"No reply is marked: the facet “{self.marked}” must be the number of a turn with a reply."
            )
        return (int(mark),)


def explained(criteria: Sequence[Criterion], texts: Mapping[str, str]) -> list[str]:
    """A section of guidelines for each question: its statement, and what is told of it in `texts`."""
    return [f"## {c.label}\n\n*{c.statement}*\n\n{texts.get(c.name, '').strip()}" for c in criteria]


def sides(unit: UnitKind, *compared: Conversation) -> tuple[list[DialogueLine], list[list[DialogueLine]]]:
    """The dialogue that two or more conversations have in common, and what is compared of each.

    Of conversations that is all, and nothing is in common; of last replies it is the reply. Raises StudyError
    where a conversation has none, or where the last replies answer different dialogues.
    """
    every = [lines_of(conversation, (None,)) for conversation in compared]
    if not all(every):
        raise StudyError("The conversation is empty.")
    if unit != "last-reply":
        return [], every
    if not all(side[-1].role.startswith("assistant") for side in every):
        raise StudyError("A conversation does not end in a reply that could be compared.")
    if any(side[:-1] != every[0][:-1] for side in every):
        raise StudyError(
            "The two last replies answer different dialogues. Compare these conversations as a whole: "
            'unit = "conversation".'
        )
    return every[0][:-1], [side[-1:] for side in every]


def opening(unit: UnitKind, conversation: Conversation) -> str:
    """What two conversations must have in common to be compared: the messages before the (last) reply."""
    messages = list(conversation.messages)
    ends = (n for n, message in enumerate(messages) if message.role == "assistant")
    end = len(messages) - 1 if unit == "last-reply" else next(ends, len(messages))
    return json.dumps([[m.role, m.content] for m in messages[:end]], ensure_ascii=False)


def lines_of(conversation: Conversation, rated: tuple[int | None, ...]) -> list[DialogueLine]:
    """The dialogue without its system messages; the turns in `rated` are marked."""
    numbers: dict[int, int] = {}
    for turn in conversation.turns():
        numbers |= {id(message): turn.number for message in (turn.user, turn.reply) if message is not None}
    found = []
    number = 1
    for message in conversation.messages:
        number = numbers.get(id(message), number)
        if message.role != "system":
            is_rated = message.role == "assistant" and number in rated
            role = message.role + conversation.voice(message)
            found.append(DialogueLine(number, role, message.content, is_rated))
    return found


def fields(conversation: Conversation) -> dict[str, Any]:
    """What can be shown beside a dialogue: its context, system prompt, facets and meta, by heading."""
    prompt = system_prompt(conversation.messages)
    values: dict[str, Any] = {**conversation.meta, **conversation.facets}
    values |= {SYSTEM_PROMPT: prompt} if prompt else {}
    return values | {name.removeprefix("_"): value for name, value in conversation.context.items()}


def shown(
    conversation: Conversation, wanted: Sequence[str] | None, *, system: bool = False
) -> Iterator[tuple[str, Any]]:
    """The fields that are shown, in the order wanted; None: the context whose headings have no “_”.

    `system` shows the system prompt first, whatever is wanted.
    """
    there = fields(conversation)
    in_context = wanted is None and SYSTEM_PROMPT in conversation.context  # shown among the context, then
    if system and SYSTEM_PROMPT in there and not in_context and SYSTEM_PROMPT not in (wanted or ()):
        yield SYSTEM_PROMPT, there[SYSTEM_PROMPT]
    if wanted is None:
        yield from ((name, text) for name, text in conversation.context.items() if not name.startswith("_"))
        return
    yield from ((name, there[name]) for name in wanted if there.get(name) not in (None, ""))
