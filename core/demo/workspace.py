"""The demo workspace: real runs against the mock server and simulated annotators, all of it marked mock.

What is built for a benchmark is in its slice's module `demo`: `build`, `is_complete` and the MODELS it needs.
"""

import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import ModuleType
from urllib.error import URLError
from urllib.parse import urlsplit
from urllib.request import urlopen

from concord.errors import ConcordError
from concord.files import PACKAGE
from concord.llm.models import load_models
from concord.runs import engine, planning
from concord.runs.plans import Plan
from concord.runs.registry import SLICES, part
from concord.workspace import Workspace

PORT = 8601
SEED = 7
HEAD = """\
# Mock models: they follow rules and are no language models. Replace them with your own to measure one.

"""
ENTRY = """\
[models.{name}]
base_url = "http://127.0.0.1:{port}/v1"
max_concurrency = 32
seed = true
price = {{ input = 0.0, output = 0.0 }}
"""


VISITOR = "You"
"""The annotator that whoever opens the demo is."""

Told = Callable[[str, float], None]
"""Told what is being done, and how much of it is done (0 to 1)."""


def parts() -> tuple[ModuleType, ...]:
    """The slices' parts of the demo, in the order in which they are built."""
    return tuple(found for name in SLICES if (found := part(name, "demo")))


def is_complete(workspace: Workspace) -> bool:
    """Whether the demo was built to its end."""
    return all(found.is_complete(workspace) for found in parts())


def build(workspace: Workspace, told: Told) -> None:
    """Bring the workspace to its full state; what an interrupted build stored is kept and not made again."""
    if not load_models(workspace.models_path):
        workspace.models_path.write_text(_models(free_port()), encoding="utf-8")
    with serving(workspace):
        for found in parts():
            found.build(workspace, told)


def run(workspace: Workspace, doing: str, told: Told, plan: Plan) -> None:
    """Run a plan of a slice's part to its end; failed judgements are kept. Raises ConcordError."""
    ended = engine.execute(
        workspace,
        planning.job(workspace, plan),
        watch=lambda p: told(doing, (p.stored + p.done + p.failed) / max(1, p.planned)),
    )
    if ended.state != "finished":
        raise ConcordError(f"The demo's run {ended.id} ended {ended.state}: {ended.message} Start it again.")


@contextmanager
def serving(workspace: Workspace) -> Iterator[bool]:
    """The mock server that the workspace's models name, for as long as the block lasts.

    A server that is up already is used. Gives whether it is another process's, which may stop at any time.
    """
    models = load_models(workspace.models_path)
    address = next((m.base_url for m in models.values() if m.simulated and m.base_url), None)
    if address is None or _answers(address):
        yield address is not None
        return
    port = str(urlsplit(address).port)
    command = [sys.executable, "-m", "concord.cli", "mock", "--port", port, "--seed", str(SEED)]
    # Its standard input closes when this process ends, however it ends.
    process = subprocess.Popen(
        [*command, "--with-parent"],
        cwd=PACKAGE.parent,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        assert process.stdout is not None
        if not process.stdout.readline():
            raise ConcordError(
                f"The mock server cannot use port {port}. Free it, or name another port in "
                f"{workspace.models_path} and start again."
            )
        yield False
    finally:
        process.terminate()
        process.wait()


def _answers(address: str) -> bool:
    try:
        with urlopen(f"{address}/models", timeout=2) as reply:
            return b"mock-" in reply.read()
    except (URLError, OSError):
        return False


def free_port() -> int:
    """The usual port, or the next one that is free: another demo's server would stop with that demo."""
    for port in range(PORT, PORT + 50):
        with socket.socket() as probe:
            # A port that was given back a moment ago is free.
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                probe.bind(("127.0.0.1", port))
            except OSError:
                continue
            return port
    raise ConcordError(
        f"The ports {PORT} to {PORT + 49} are all taken; the mock server needs one of them. Free one."
    )


def _models(port: int) -> str:
    chat = dict.fromkeys(name for found in parts() for name in found.MODELS)
    embedder = ENTRY.format(name="mock-embeddings", port=port) + 'kind = "embeddings"\n'
    return HEAD + "\n".join([*(ENTRY.format(name=name, port=port) for name in chat), embedder])
