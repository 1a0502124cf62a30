"""Parts of a page that are redrawn alone. Like the frame, they check who is here and show errors."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

import streamlit as st

from core.errors import ConcordError
from pages.parts.people import Researcher
from pages.parts.session import here, sentence


def live(draw: Callable[..., None], *, every: float | None = None) -> Callable[..., None]:
    """The part, redrawn when something in it is used, and every so many seconds.

    The frame is not asked then, so the part asks itself.
    """

    @wraps(draw)
    def guarded(*args: Any, **named: Any) -> None:
        try:
            if not isinstance(here(), Researcher):
                st.rerun()
            draw(*args, **named)
        except ConcordError as error:
            sentence(error)

    return st.fragment(guarded, run_every=every)
