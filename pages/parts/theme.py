"""Styles that Streamlit's theme settings (`.streamlit/config.toml`) cannot express."""

from pathlib import Path

import streamlit as st

ICON = Path(__file__).resolve().parent / "icon.svg"
"""A file, because Streamlit fetches the icons that it knows by name from the internet."""


WORDMARK = Path(__file__).resolve().parent / "wordmark.svg"


def brand() -> None:
    """Show the product's name above the navigation, and let the page fill the window."""
    st.logo(str(WORDMARK), size="medium", icon_image=str(ICON))
    st.html(
        """<style>
        [data-testid="stMainBlockContainer"] { padding: 4rem clamp(1rem, 2.5vw, 5rem) 6rem; }
        @media (min-width: 769px) {
            :root:has([data-testid="stSidebar"][data-collapsed="false"]) .stMainBlockContainer {
                padding-top: 1.5rem;
            }
        }
        </style>"""
    )


def whole_window() -> None:
    """Give the page the whole window: no padding, no limit to the width, no empty bar on top."""
    st.html(
        """<style>
        [data-testid="stMainBlockContainer"] { padding: 0 !important; max-width: none; }
        [data-testid="stVerticalBlock"] { gap: 0; }
        [data-testid="stHeader"] { background: transparent; pointer-events: none; }
        [data-testid="stHeader"] * { pointer-events: auto; }
        </style>"""
    )


def connection_notice() -> None:
    """Show a notice when the connection to the server is lost for two seconds. Streamlit's dialog is off."""
    st.html(
        """<style>
        [data-testid="stApp"]:not([data-test-connection-state="CONNECTED"])::after {
            content: "No connection to the server. This page continues when the connection is back.";
            position: fixed; z-index: 1000000; top: 8px; left: 50%; transform: translateX(-50%);
            padding: 6px 14px; border: 1px solid #8a5a00; border-radius: 8px; pointer-events: none;
            background: #fff4de; color: #5c3c00; font: 600 14px/1.4 sans-serif;
            animation: 2s step-end concord-late;
        }
        @keyframes concord-late { from { visibility: hidden } }
        </style>"""
    )


def aligned() -> None:
    """Adapt parts to the width of the window, align the first column of figures in tables that have row
    names with its heading, and write a chosen segment or tab in the text's colour: the dark theme's primary
    is none.
    """
    st.html(
        """<style>
        [data-testid="stTable"][class] th + td { padding-left: 1rem; }
        button[data-rac][data-variant][data-selected="true"], [data-testid="stTab"][data-selected="true"],
        [data-testid="stTab"][data-selected="true"] p, [data-testid="stCaptionContainer"] code {
            color: inherit;
        }
        [data-testid="stCaptionContainer"]:has(.stMarkdownBadge) { opacity: 1; }
        [data-testid="stMultiSelectTagsContainer"] {
            flex-wrap: wrap; overflow: visible; height: auto; mask-image: none;
        }
        [role="group"]:has(> [data-testid="stMultiSelectTagsContainer"]) { height: auto; max-height: none; }
        [data-testid="stButtonGroup"]:has(> label) > [role] { min-height: 2.5rem; align-items: center; }
        [data-testid="stPageLink-NavLink"]:focus-visible {
            outline: 2px solid currentColor; outline-offset: -2px;
        }
        @media (hover: none) { [data-testid="stDataFrame"] { margin-top: 2rem; } }
        @media (min-width: 641px) and (max-width: 1000px) {
            [data-testid="stColumn"] { min-width: 14rem; }
            [data-testid="stColumn"]:has([data-testid="stButtonGroup"]) { min-width: 100%; }
        }
        @media (max-width: 640px) {
            [data-testid="stButtonGroup"] [role]:has(> [data-variant="segmented_control"]) { gap: 0.25rem; }
            [data-testid="stButtonGroup"] [data-variant="segmented_control"] {
                border-radius: 0.5rem; border-style: solid; border-width: 1px; margin: 0;
            }
            [data-testid="stTable"] :is(th, td) {
                overflow-wrap: anywhere; padding-inline: 0.15rem; font-size: 0.78rem;
            }
            [data-testid="stTable"][class] th + td { padding-left: 0.4rem; }
        }
        </style>"""
    )
