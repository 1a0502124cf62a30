"""A served workspace to attack, whose process records every host that it asks for."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from concord.workspace import Workspace
from tests.browser.keeper import Server, fill, serving
from tests.browser.starting import ROOT

RECORDING = Path(__file__).resolve().parent / "recording"
OWN = {"127.0.0.1", "::1", "localhost", "None"}
"""Names of this machine; "None" is a socket that listens."""


@contextmanager
def served(folder: Path, *options: str) -> Iterator[tuple[Server, Callable[[], set[str]]]]:
    """A filled workspace as `concord app` serves it with such options, and the other hosts it has asked."""
    workspace = Workspace.open(folder / "whalebone")
    fill(workspace)
    record = folder / "hosts"
    record.touch()
    paths = f"{RECORDING}:{ROOT}"
    with serving(
        workspace, folder / "log", *options, PYTHONPATH=paths, CONCORD_RECORD=str(record)
    ) as running:
        yield running, lambda: set(record.read_text().splitlines()) - OWN


@pytest.fixture(scope="session")
def served_once(
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[tuple[Server, Callable[[], set[str]]]]:
    with served(tmp_path_factory.mktemp("security")) as both:
        yield both


@pytest.fixture
def server(served_once: tuple[Server, Callable[[], set[str]]]) -> Iterator[Server]:
    """A server. Whatever a test does to it, it asks no other host for anything."""
    running, others_asked = served_once
    yield running
    assert not others_asked()


def finish(attack: Coroutine[Any, Any, Any]) -> Any:
    """Run an attack; a server that never answers fails the test."""
    return asyncio.run(asyncio.wait_for(attack, 120))
