"""The result of a button, shown once at the top of the page by the next run."""

from __future__ import annotations

import streamlit as st

from core.errors import ConcordError
from pages.parts.plain import plain

_KEY = "told"


def done(sentence: str) -> None:
    """Report that something was done."""
    st.session_state[_KEY] = (True, sentence)


def refused(error: ConcordError) -> None:
    """Report that something could not be done, and why."""
    st.session_state[_KEY] = (False, str(error))


def show() -> None:
    """Say it.

    The place is there even when nothing is said, so that nothing below it moves to another place of the page.
    """
    place = st.empty()
    if _KEY in st.session_state:
        well, sentence = st.session_state.pop(_KEY)
        (place.success if well else place.error)(
            plain(sentence), icon=":material/check:" if well else ":material/error:"
        )
