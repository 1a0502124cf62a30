"""How tests, measurements and pictures start Chromium and a server."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

from playwright.sync_api import expect

from tests import warm

# Where it is slow, it is the machine: no test is about time, unless it measures it.
expect.set_options(timeout=60_000)
ROOT = Path(__file__).resolve().parents[2]
Process = subprocess.Popen[str] | warm.Popen
ELSEWHERE = "elsewhere.test"
"""A name that leads to this machine, but is not this machine's: whoever asks for it comes from elsewhere."""


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
