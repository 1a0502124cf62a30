"""The little style that Streamlit's own theme settings cannot express. Colours and fonts stand in
`.streamlit/config.toml`.
"""

from __future__ import annotations

from pathlib import Path

import streamlit as st

ICON = Path(__file__).resolve().parent / "icon.svg"
"""Of our own, because Streamlit fetches the icons it knows by name from the internet."""


def whole_window() -> None:
    """Give the page all of the window, as the desk needs it: no padding, no limit to the width, no empty bar
    on top.
    """
    st.html(
        """<style>
        [data-testid="stMainBlockContainer"] { padding: 0; max-width: none; }
        [data-testid="stVerticalBlock"] { gap: 0; }
        [data-testid="stHeader"] { background: transparent; pointer-events: none; }
        [data-testid="stHeader"] * { pointer-events: auto; }
        </style>"""
    )


def connection_notice() -> None:
    """Say when the server is gone: Streamlit's page disables everything then, and its dialog is turned off.

    The notice waits two seconds, so that a connection replaced at once says nothing.
    """
    st.html(
        """<style>
        [data-testid="stApp"]:not([data-test-connection-state="CONNECTED"])::after {
            content: "No connection to the server. This page goes on when it is back.";
            position: fixed; z-index: 1000000; top: 8px; left: 50%; transform: translateX(-50%);
            padding: 6px 14px; border: 1px solid #8a5a00; border-radius: 8px; pointer-events: none;
            background: #fff4de; color: #5c3c00; font: 600 14px/1.4 sans-serif;
            animation: 2s step-end concord-late;
        }
        @keyframes concord-late { from { visibility: hidden } }
        </style>"""
    )


def aligned() -> None:
    """Have the first figures of a table with row names stand below their heading: Streamlit sets them a
    little to the left of it.
    """
    st.html("""<style>[data-testid="stTable"][class] th + td { padding-left: 1rem; }</style>""")
