"""The open workspace, and who is looking at it."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import streamlit as st

from core.errors import ConcordError
from core.store.database import hold_open
from core.workspace import Workspace
from pages.parts.people import AnnotatorHere, Researcher, who_is_here


@st.cache_resource(show_spinner=False)
def workspace() -> Workspace:
    """The workspace of this server (CONCORD_WORKSPACE, else ./workspace), opened and migrated once."""
    chosen = Workspace.chosen()
    _held_open(chosen.db_path)
    return chosen


@st.cache_resource(show_spinner=False)
def _held_open(path: Path) -> sqlite3.Connection:
    return hold_open(path)


def here() -> Researcher | AnnotatorHere | None:
    """Who is looking at this page. None for somebody who has to sign in first.

    Raises NotAllowed for a link that does not work.
    """
    return who_is_here(workspace())


def sentence(error: ConcordError) -> None:
    """Show an error as one sentence."""
    st.error(str(error), icon=":material/error:")
