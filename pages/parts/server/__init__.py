"""The app as an ASGI application: `concord app` serves it with uvicorn, and so may any other ASGI server.

A request passes the middleware in the order of MIDDLEWARE, then the routes; what none of them answers goes
to Streamlit.
"""

import asyncio
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import streamlit as st
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route
from streamlit import delta_generator
from streamlit.runtime.pages_manager import PagesManager
from streamlit.starlette import App

from concord.files import SHIPPED
from concord.workspace import PUBLIC_URL
from pages.parts import imports
from pages.parts.navigation import SECTIONS
from pages.parts.server import entrance
from pages.parts.server.bounds import Bounds
from pages.parts.server.headers import SecurityHeaders
from pages.parts.server.internals import Internals, page
from pages.parts.server.same_origin import SameOrigin, public_origin

# Until the first run of `app.py` Streamlit takes `pages/` for a folder of bare scripts and answers a visit to
# any page's own address, an annotator's link too, with “page not found”.
PagesManager.uses_pages_directory = False
# Else the first page looks whether it was typed at a prompt, through the source of every module: 0.1 s.
delta_generator._use_warning_has_been_displayed = True

MIDDLEWARE = (
    Middleware(SecurityHeaders),
    Middleware(SameOrigin, public=public_origin(os.environ.get(PUBLIC_URL))),
    Middleware(Bounds),
    Middleware(Internals),
)
"""Each is a class in the file of its concern. The first sees a request first and its answer last."""


async def _page(request: Request) -> Response:
    """A page, or where the address holds a link's token the way on without it."""
    if "token" in request.query_params:
        return await asyncio.to_thread(entrance.by_link, request.scope)
    return page()


def _named_root(request: Request) -> Response:
    """Lead the overview's name to the root, relative to where it was asked."""
    return RedirectResponse(f"./?{request.url.query}" if request.url.query else "./")


ROUTES = (
    *(Route(f"/{each.address}", _page) for pages in SECTIONS.values() for each in pages),
    Route("/overview", _named_root),
    Route(entrance.SIGN_IN, entrance.SignIn().answer, methods=["POST"]),
)


def _unforeseen(error: Exception) -> bool:
    """Show a sentence for an unexpected error; Streamlit has written the details to the server's log."""
    st.error("An unexpected error occurred. The details are in the server's log.")
    return True


@asynccontextmanager
async def _lifespan(_: App) -> AsyncIterator[None]:
    imports.begin()
    yield


app = App(
    SHIPPED / "app.py",
    lifespan=_lifespan,
    routes=ROUTES,
    middleware=MIDDLEWARE,
    on_script_error=_unforeseen,
)
