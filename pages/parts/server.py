"""The app as an ASGI application: `concord app` serves it with uvicorn, and so may any other ASGI server."""

from __future__ import annotations

from pathlib import Path

import streamlit as st
from streamlit.runtime.pages_manager import PagesManager
from streamlit.starlette import App

# `pages/` is no folder of bare scripts. Streamlit learns that from the first run of `app.py`; until then it takes it for one and
# answers a visit to any page's own address, an annotator's link too, with “page not found”.
PagesManager.uses_pages_directory = False


def _unforeseen(error: Exception) -> bool:
    """What nobody foresaw: Streamlit has written the details to the server's log, the visitor gets a sentence."""
    st.error("Something went wrong here that should not have. The details are in the server's log.")
    return True


app = App(Path(__file__).resolve().parents[2] / "app.py", on_script_error=_unforeseen)
