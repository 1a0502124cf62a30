"""Undefined figures on the pages of rankings, until these draw Tables."""

from __future__ import annotations

import streamlit as st

from pages.parts.plain import plain

UNDEFINED = ":gray[undefined]"


def reasons_below(reasons: list[tuple[str, str]]) -> None:
    """Why figures are undefined: a line for each."""
    for of, reason in reasons:
        st.caption(f"- {plain(of)}: {plain(reason)}")
