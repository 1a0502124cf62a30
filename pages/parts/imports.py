"""What pages import that takes long, loaded in a thread of its own before a page waits for it."""

from importlib import import_module
from threading import Event, Thread

FIRST = ("pages.parts.charts", "pages.parts.reports")
"""What the overview needs, from the moment at which the server starts."""
LATER = (
    "pages.trust.agreement_tabs",
    "concord.exchange.publish",
    "concord.studies.audits",
    "concord.studies.comparisons",
    "concord.reports.leaderboard_table",
    "pages.desk.component",
)
"""What other pages need, once a first page is drawn, which so is not slowed down."""

_start = Event()
_end_of_first = Event()
_first_page = Event()


def begin() -> None:
    """Start loading."""
    if not _start.is_set():
        _start.set()
        Thread(target=_load, name="imports", daemon=True).start()


def wait() -> None:
    """Wait until the first of them are loaded: packages that import in circles must not be imported twice at
    once.
    """
    if _start.is_set():
        _end_of_first.wait()


def page_drawn() -> None:
    """Go on with the others."""
    _first_page.set()


def _load() -> None:
    try:
        for name in FIRST:
            import_module(name)
    finally:
        _end_of_first.set()
    _first_page.wait()
    for name in LATER:
        import_module(name)
