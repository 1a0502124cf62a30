"""Audit log: who decided or exported what, and when."""

import streamlit as st

from concord.store import audit
from concord.store import studies as stored
from pages.parts.address import listed
from pages.parts.navigation import heading
from pages.parts.session import workspace
from pages.parts.table import draw


def page() -> None:
    """Draw the page."""
    heading("audit")
    with workspace().read() as db:
        names = ["", *stored.names(db), *stored.names(db, pairs=True)]
    name = listed("Study", "study", names, "", format_func=lambda one: one or "every")
    with workspace().read() as db:
        lines = audit.table(db, name)
    if lines.rows:
        st.caption("Select a row to read all of its details.")
    if chosen := draw(lines, titled=False, selectable=True):
        st.text(str(chosen["detail"]))


page()
