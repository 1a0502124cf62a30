"""The way from one part of the page to another."""

import streamlit as st


def button(label: str, part: str, icon: str = ":material/arrow_downward:") -> None:
    """A button that shows another part of the page."""
    st.button(label, icon=icon, on_click=_show, args=(part,))


def _show(part: str) -> None:
    st.query_params["part"] = part
