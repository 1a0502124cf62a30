"""The open workspace, who is looking at it, and parts of a page that are redrawn alone."""

from collections.abc import Callable
from functools import wraps
from typing import Any
from urllib.parse import urlsplit

import streamlit as st

from concord.errors import ConcordError
from concord.runs.registry import register_own
from concord.store import settings
from concord.store.database import keep_open
from concord.workspace import Workspace
from pages.parts.people import AnnotatorHere, Researcher, SignedOut, who_is_here
from pages.parts.ways import explain


@st.cache_resource(show_spinner=False)
def workspace() -> Workspace:
    """The workspace of this server (CONCORD_WORKSPACE, else ./workspace), opened and migrated once."""
    opened_workspace = Workspace.chosen()
    register_own(opened_workspace.path)
    keep_open(opened_workspace.db_path)
    return opened_workspace


def current_visitor() -> Researcher | AnnotatorHere | None:
    """Who is looking at this page. None for somebody who has to sign in first.

    Raises NotAllowed for a link that does not work, SignedOut for an annotator who was signed in.
    """
    return who_is_here(workspace())


def opened_at() -> str:
    """The address this page was opened at. The researcher corrects it if annotators use another one."""
    with workspace().read() as db:
        url = urlsplit(st.context.url or settings.address(db))
    return f"{url.scheme}://{url.netloc}"


def on_telephone() -> bool:
    """Whether the browser says that it is a telephone's, which has room for fewer columns."""
    return "Mobi" in (st.context.headers.get("User-Agent") or "")


def researching() -> bool:
    """Whether a researcher is here. Raises SignedOut where nobody is, or no more."""
    visitor = current_visitor()
    if visitor is None:
        raise SignedOut
    return isinstance(visitor, Researcher)


def owning() -> bool:
    """Whether an owner is here, visitor may say where keys are sent."""
    visitor = current_visitor()
    return isinstance(visitor, Researcher) and visitor.role == "owner"


def sentence(error: ConcordError) -> None:
    """Show an error as one sentence, with the pages that do what its commands do."""
    explain(str(error), workspace().command, st.error, icon=":material/error:")


def live(draw: Callable[..., None], *, seconds: float | None = None) -> Callable[..., None]:
    """A part of a page that is redrawn alone: when something in it is used, and every so many seconds.

    Like the frame, which is not run then, it checks who is here and shows errors.
    """

    @wraps(draw)
    def guarded(*args: Any, **keywords: Any) -> None:
        try:
            if not isinstance(current_visitor(), Researcher):
                st.rerun()
            draw(*args, **keywords)
        except ConcordError as error:
            sentence(error)

    return st.fragment(guarded, run_every=seconds)
