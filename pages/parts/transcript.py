"""A conversation, drawn for researchers. What a model wrote is shown letter for letter: no Markdown, no HTML, nothing is loaded for it."""

from __future__ import annotations

from collections.abc import Callable

import streamlit as st

from core.conversation import Conversation, Turn
from pages.parts.plain import plain


def transcript(
    conversation: Conversation,
    *,
    beside: Callable[[Turn], None] | None = None,
    speakers: tuple[str, str] = ("User", "Reply"),
) -> None:
    """Draw every turn. `beside` is called once a turn, beside the reply (below it on a narrow screen; after the user's message where
    a reply is owed), to draw what belongs to that turn, such as its scores."""
    for turn in conversation.turns():
        if turn.user is not None:
            with st.chat_message("user", avatar=":material/person:"):
                _said(f"{speakers[0]} · turn {turn.number}", turn.user.content)
        if turn.reply is not None:
            left, right = st.columns([3, 2], gap="medium") if beside is not None else (st.container(), None)
            with left, st.chat_message("assistant", avatar=":material/chat:"):
                _said(speakers[1], turn.reply.content or "(an empty reply)")
            if beside is not None and right is not None:
                with right:
                    beside(turn)
        elif beside is not None:
            beside(turn)


def context(conversation: Conversation) -> None:
    """Draw what was given beside the dialogue (the card of a character, a task); headings that start with “_” are left out."""
    for heading, text in conversation.context.items():
        if not heading.startswith("_"):
            with st.expander(plain(heading)):
                st.text(str(text))


def _said(who: str, text: str) -> None:
    st.caption(plain(who))
    # st.text is the one element that interprets nothing, not even Streamlit's own colours and icons.
    st.text(text)
