"""A conversation, drawn for researchers.

What a model wrote is shown letter for letter: no Markdown, no HTML, nothing is loaded for it.
"""

from collections.abc import Callable, Mapping
from typing import Any

import streamlit as st

from concord.conversation import SYSTEM_PROMPT, Conversation, Message, Turn, system_prompt
from concord.runs.registry import BENCHMARKS
from concord.store.conversations import ConversationSummary
from pages.parts.plain import breakable, first_words, plain

FIRST_WORDS = 60
"""Characters of what was asked first, where a conversation is named."""
FOLDED = 300
"""Characters of a system prompt or a tool's result; a longer one is folded away."""


def conversation_name(conversation: ConversationSummary) -> str:
    """What was asked first in a conversation, and its key, for a list to choose from."""
    return " · ".join(filter(None, [first_words(conversation.first, FIRST_WORDS), conversation.key]))


def history_by(conversation: Conversation) -> str:
    """Who wrote the replies before the last, if it was not the player but the model a script was cut from."""
    benchmark = BENCHMARKS.get(conversation.benchmark)
    return benchmark.speakers[1] if benchmark is not None and benchmark.last_reply_only else ""


def transcript(
    conversation: Conversation,
    *,
    side_notes: Callable[[Turn], None] | None = None,
    speakers: tuple[str, str] = ("User", "Reply"),
    before: str = "",
    letters: bool = False,
) -> None:
    """Draw every turn, and `side_notes` its reply what belongs to it, such as its scores.

    `before` names who wrote the replies before the last where somebody else did; `letters` draws what was
    said in columns that stand under each other, as terminals and boards need it.
    """
    turns = list(conversation.turns())
    for turn in turns:
        for message in turn.other_messages:
            if message.role == "system":
                draw_side_message(message)
        if turn.user is not None:
            with st.chat_message("user", avatar=":material/person:"):
                speaker = f"{_name(turn.user, speakers[0])} · turn {turn.number}"
                _message(speaker, turn.user.content, letters)
                images(turn.user)
                marks(turn.user.meta)
        for message in turn.other_messages:
            if message.role == "tool":
                draw_side_message(message)
        if turn.reply is not None:
            left, right = st.columns([3, 2], gap="medium") if side_notes else (st.container(), st.container())
            with left, st.chat_message("assistant", avatar=":material/chat:"):
                speaker = speakers[1] if turn is turns[-1] or not before else before
                speaker = _name(turn.reply, speaker)
                reply = turn.reply.content
                _message(speaker, reply or "(an empty reply)", letters and bool(reply))
                images(turn.reply)
                marks(turn.reply.meta)
            if side_notes is not None:
                with right:
                    side_notes(turn)
        elif side_notes is not None:
            side_notes(turn)


def _name(message: Message, default: str) -> str:
    """Who speaks: by name where a file told it, or where a resident of a town does."""
    return str(message.meta.get("name") or message.meta.get("speaker") or default)


def draw_side_message(message: Message) -> None:
    """Draw a system prompt, a call of a tool or its result: beside the dialogue, letter for letter."""
    with st.expander(plain(message_title(message)), expanded=len(message.content) <= FOLDED):
        st.code(breakable(message.content or "(nothing)"), language=None, wrap_lines=True)
    images(message)


def message_title(message: Message) -> str:
    """What a message beside the dialogue is."""
    if message.role == "system":
        return "System prompt"
    tools = message.meta.get("calls", message.meta.get("result"))
    names = ", ".join(map(str, tools)) if isinstance(tools, list) else str(tools or "")
    return message.tool_part + (f": {names}" if names else "")


def images(message: Message) -> None:
    """Draw the images of a message that was read with them."""
    for text, url in message.images.items():
        if url.startswith("data:image/"):
            st.image(url, plain(text))


def context(conversation: Conversation) -> None:
    """Draw the context (the card of a character, a task); headings that start with “_” are omitted."""
    for heading, text in conversation.context.items():
        prompt = heading == SYSTEM_PROMPT and system_prompt(conversation.messages)  # the dialogue has it
        if not heading.startswith("_") and not prompt:
            with st.expander(plain(heading)):
                st.text(breakable(str(text)))


def marks(meta: Mapping[str, Any]) -> None:
    """Draw how a reply ended, and what a model thought before it, folded."""
    if meta.get("cut"):
        st.badge("truncated at the length limit", color="orange")
    if meta.get("refused"):
        st.badge("the endpoint marked it as a refusal", color="orange")
    thinking = str(meta.get("thinking", ""))
    tokens = meta.get("thinking_tokens", 0)
    if thinking or tokens:
        with st.expander(plain("Thinking" + (f" · {tokens:,} tokens" if tokens else ""))):
            st.text(breakable(thinking or "The endpoint did not show it."))


def _message(speaker: str, text: str, letters: bool) -> None:
    st.caption(plain(speaker))
    if letters:
        st.code(breakable(text), language=None, wrap_lines=True)
        return
    # st.text is the one element that interprets nothing, not even Streamlit's own colours and icons.
    st.text(breakable(text))
