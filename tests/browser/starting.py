"""How tests, measurements and pictures start Chromium and a server."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import wraps
from pathlib import Path
from typing import IO, Any, Concatenate, ParamSpec, TypeVar

from playwright.sync_api import Error, Locator, LocatorAssertions, expect

from tests import warm

# Where it is slow, it is the machine: no test is about time, unless it measures it.
expect.set_options(timeout=60_000)
P, R = ParamSpec("P"), TypeVar("R")
ROOT = Path(__file__).resolve().parents[2]
Process = subprocess.Popen[str] | warm.Popen
ELSEWHERE = "elsewhere.test"
"""A name that leads to this machine, but is not this machine's: whoever asks for it comes from elsewhere."""
ACTS = (
    "click",
    "check",
    "clear",
    "dblclick",
    "fill",
    "focus",
    "hover",
    "press",
    "press_sequentially",
    "select_option",
    "set_input_files",
    "tap",
    "uncheck",
)
"""What is done to an element."""
READS = ("bounding_box", "evaluate", "get_attribute", "inner_html", "inner_text", "input_value", "is_visible")
READS += ("scroll_into_view_if_needed", "text_content", "wait_for")
"""What is asked of one element."""
LEAVING = "all => all.some(one => one.closest('[data-stale=true]'))"
"""Whether an element was drawn by the run before, and not yet by the one that is under way."""
GIVES_WAY = 20.0
"""Seconds in which a run of a page takes away what it showed before."""


def patient() -> None:
    """Have every locator wait while a run of the page is under way.

    The run draws the new form before it takes the old one away. Until then a locator names both, which is an
    error at once, or what is typed goes into the form that is about to leave.
    """
    for name in (*ACTS, *READS):
        act = getattr(Locator, name)
        setattr(Locator, name, _alone(_drawn(act) if name in ACTS else act))
    for name in vars(LocatorAssertions):
        if name.startswith(("to_", "not_to_")):
            setattr(LocatorAssertions, name, _alone(getattr(LocatorAssertions, name)))


def _alone(act: Callable[P, R]) -> Callable[P, R]:
    """The same, done again while its locator names two elements, of which one is about to leave."""

    @wraps(act)
    def again(*arguments: P.args, **options: P.kwargs) -> R:
        end = time.monotonic() + GIVES_WAY
        while True:
            try:
                return act(*arguments, **options)
            except (AssertionError, Error) as error:
                if "strict mode violation" not in str(error) or time.monotonic() > end:
                    raise
            time.sleep(0.05)

    return again


def _drawn(act: Callable[Concatenate[Locator, P], R]) -> Callable[Concatenate[Locator, P], R]:
    """The same, once the run that is under way has drawn the element, or is over."""

    @wraps(act)
    def later(locator: Locator, /, *arguments: P.args, **options: P.kwargs) -> R:
        end = time.monotonic() + GIVES_WAY
        with suppress(Error):  # another page is on its way: `act` waits for it
            while locator.evaluate_all(LEAVING) and time.monotonic() < end:
                time.sleep(0.02)
        return act(locator, *arguments, **options)

    return later


def chromium() -> dict[str, Any]:
    """What Playwright's `chromium.launch` is called with: an installed browser before Playwright's own."""
    names = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
    flags = (
        "--no-sandbox",
        "--disable-gpu",
        "--disable-quic",
        "--no-first-run",
        "--disable-background-networking",
        "--disable-component-update",
        "--disable-sync",
        # The windows of a context share one process: each new one loads and compiles Streamlit's scripts, a
        # second of CPU.
        "--process-per-site",
        f"--host-resolver-rules=MAP {ELSEWHERE} 127.0.0.1",
    )
    path = os.environ.get("CONCORD_CHROMIUM") or next(filter(None, map(shutil.which, names)), None)
    return {"executable_path": path, "args": flags}


@contextmanager
def started(*arguments: str, log: IO[str] | None = None, **environment: str) -> Iterator[tuple[Process, str]]:
    """A server that Python runs, from the moment at which it prints its address, which comes with it."""
    process = subprocess.Popen(
        [sys.executable, *arguments],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=log,
        text=True,
        env={**os.environ, **environment},
    )
    with _speaking(process, log) as both:
        yield both


@contextmanager
def forked(*arguments: str, log: IO[str] | None = None) -> Iterator[tuple[Process, str]]:
    """The same in a tenth of a second: what it imports is imported already."""
    process = warm.Popen([sys.executable, *arguments], stdout=subprocess.PIPE, stderr=log)
    with _speaking(process, log) as both:
        yield both


@contextmanager
def _speaking(process: Process, log: IO[str] | None) -> Iterator[tuple[Process, str]]:
    assert process.stdout is not None
    try:
        said = ""
        while not (link := re.search(r"http://\S+", said)):
            said = process.stdout.readline()
            assert said, f"The server ended without an address: {Path(log.name).read_text() if log else ''}"
        yield process, link.group()
    finally:
        process.terminate()
        # Reads on: a server that says that it stops must not fail for a closed pipe.
        process.communicate(timeout=30)
