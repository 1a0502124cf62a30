"""The little style that Streamlit's own theme settings cannot express. Colours and fonts stand in `.streamlit/config.toml`."""

from __future__ import annotations

from pathlib import Path

import streamlit as st

ICON = Path(__file__).resolve().parent / "icon.svg"
"""Of our own, because Streamlit fetches the icons it knows by name from the internet."""


def whole_window() -> None:
    """Give the page all of the window, as the desk needs it: no padding, no limit to the width, no empty bar on top."""
    st.html(
        """<style>
        [data-testid="stMainBlockContainer"] { padding: 0; max-width: none; }
        [data-testid="stVerticalBlock"] { gap: 0; }
        [data-testid="stHeader"] { background: transparent; pointer-events: none; }
        [data-testid="stHeader"] * { pointer-events: auto; }
        </style>"""
    )


def aligned() -> None:
    """Have the first figures of a table with row names stand below their heading: Streamlit sets them a little to the left of it."""
    st.html("""<style>[data-testid="stTable"][class] th + td { padding-left: 1rem; }</style>""")
