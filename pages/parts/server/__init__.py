"""The app as an ASGI application: `concord app` serves it with uvicorn, and so may any other ASGI server.

A request passes the middleware in the order of MIDDLEWARE; what none of it answers goes to
Streamlit.
"""

import os

import streamlit as st
from starlette.middleware import Middleware
from streamlit.runtime.pages_manager import PagesManager
from streamlit.starlette import App

from concord.files import SHIPPED
from concord.workspace import PUBLIC_URL
from pages.parts.server.addresses import NamedRoot, Operators
from pages.parts.server.bounds import Bounds
from pages.parts.server.entrance import Entrance
from pages.parts.server.headers import SecurityHeaders
from pages.parts.server.page_settings import PageSettings
from pages.parts.server.same_origin import SameOrigin, public_origin

# Until the first run of `app.py` Streamlit takes `pages/` for a folder of bare scripts and answers a visit to
# any page's own address, an annotator's link too, with “page not found”.
PagesManager.uses_pages_directory = False

MIDDLEWARE = (
    Middleware(SecurityHeaders),
    Middleware(SameOrigin, public=public_origin(os.environ.get(PUBLIC_URL))),
    Middleware(Bounds),
    Middleware(Operators),
    Middleware(Entrance),
    Middleware(NamedRoot),
    Middleware(PageSettings),
)
"""Each is a class in the file of its concern. The first sees a request first and its answer last."""


def _unforeseen(error: Exception) -> bool:
    """Show a sentence for an unexpected error; Streamlit has written the details to the server's log."""
    st.error("Something went wrong here that should not have. The details are in the server's log.")
    return True


app = App(
    SHIPPED / "app.py",
    middleware=MIDDLEWARE,
    on_script_error=_unforeseen,
)
