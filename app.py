"""The frame around every page: who is here, what they may open, and errors shown as sentences."""

from __future__ import annotations

from typing import Literal

import streamlit as st

from concord.errors import ConcordError, NotAllowed
from concord.store import holdings
from concord.store.sessions import Role
from pages.parts import imports, menu, theme
from pages.parts.address import arrived
from pages.parts.navigation import DESK, OPEN_TO, SECTIONS, PageFile, about
from pages.parts.people import AnnotatorHere
from pages.parts.session import current_visitor, sentence, workspace
from pages.parts.signin import sign_in, sign_out


def frame() -> None:
    """Run the page that was asked for, if whoever asks may see it."""
    st.set_page_config(page_title="Concord", page_icon=str(theme.ICON), layout="wide")
    imports.wait()
    try:
        who = current_visitor()
        if isinstance(who, AnnotatorHere):
            # A link may lead to the root or to the desk's own address; there is nothing else to go to.
            st.navigation([_page(DESK._replace(address="")), _page(DESK)], position="hidden").run()
        elif who is None:
            _no_page()
            sign_in(workspace())
        else:
            theme.brand()
            page = st.navigation(_sections(who.role))
            sign_out(workspace(), who)
            theme.aligned()
            theme.connection_notice()
            menu.begin()
            arrived(page.url_path)
            page.run()
            menu.draw()
            imports.page_drawn()
    except NotAllowed as error:
        _no_page()
        sentence(error)
    except ConcordError as error:
        sentence(error)


def _no_page() -> None:
    """Name the pages without running any, so that no address is called unknown and it survives the signing
    in.
    """
    st.navigation(_sections(), position="hidden")


def _sections(role: Role = "owner") -> dict[str, list[st.Page]]:
    """The pages of a role; where the overview is not among them, the root leads to the first one, which the
    menu names once.
    """
    allowed = {
        section: [page for page in pages if page.address in OPEN_TO[role]]
        for section, pages in SECTIONS.items()
    }
    found = {
        section: [_page(page, "visible" if _of_use(page) else "hidden") for page in pages]
        for section, pages in allowed.items()
        if pages
    }
    if "" not in OPEN_TO[role]:
        section, [first, *_] = next((section, pages) for section, pages in allowed.items() if pages)
        found[section].insert(0, _page(first._replace(address=""), visibility="hidden"))
    return found


def _of_use(page: PageFile) -> bool:
    """Whether the menu names a page: one of a single benchmark only where something of it is stored."""
    benchmarks = about(page)
    if not benchmarks:
        return True
    with workspace().read() as db:
        return any(holdings.holds(db, benchmark) for benchmark in benchmarks)


def _page(page: PageFile, visibility: Literal["visible", "hidden"] = "visible") -> st.Page:
    # Streamlit wants a name for the root too; nobody is led to it.
    return st.Page(
        page.path,
        title=page.title,
        icon=page.icon,
        url_path=page.address or "start",
        default=not page.address,
        visibility=visibility,
    )


frame()
