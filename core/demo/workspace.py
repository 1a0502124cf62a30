"""The demo workspace: a recording of real runs against mock models and of simulated annotators.

`data/demo/` holds it: the rows of its database, and the files that lie beside it in a workspace.
"""

import lzma
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from types import ModuleType
from urllib.error import URLError
from urllib.parse import urlsplit
from urllib.request import urlopen

from concord.errors import ConcordError, WorkspaceError
from concord.files import SHIPPED, extras
from concord.llm.models import load_models
from concord.store import conversations, rows, studies
from concord.workspace import Workspace

RECORDED = SHIPPED / "data" / "demo"
ROWS = RECORDED / "rows.jsonl.xz"
"""What `concord.store.rows` reads. `make record-demo` writes it."""
PORT = 8601
ADDRESS = "http://127.0.0.1:{port}/v1"
SEED = 7

VISITOR = "You"
"""The annotator that whoever opens the demo is."""
TRIAL = "try-the-desk"
"""The study that the visitor rates."""


def is_there(workspace: Workspace) -> bool:
    """Whether the workspace holds the demo."""
    with workspace.read() as db:
        return TRIAL in studies.names(db)


def load(workspace: Workspace) -> None:
    """Put the demo into a workspace. Raises WorkspaceError for one that holds something else."""
    with workspace.write() as db:
        if conversations.count(db) or studies.names(db):
            raise WorkspaceError(
                f"{workspace.path} holds other conversations. The demo needs its own workspace: give a new "
                "folder with --workspace."
            )
        copy_files(workspace, ADDRESS.format(port=free_port()))
        with lzma.open(ROWS, "rt", encoding="utf-8") as lines:
            rows.insert(db, lines)


def copy_files(workspace: Workspace, address: str) -> None:
    """Put the demo's files into a workspace, its models at this address. A models.toml that names models
    stays.
    """
    for source in RECORDED.rglob("*.toml"):
        target = workspace.path / source.relative_to(RECORDED)
        if target != workspace.models_path or not load_models(target):
            text = source.read_text(encoding="utf-8").replace(ADDRESS.format(port=PORT), address)
            target.parent.mkdir(exist_ok=True)
            target.write_text(text, encoding="utf-8")


def mock_server() -> ModuleType:
    """The module of the mock server. Raises MissingExtra where what serves it is not installed."""
    extras.require("aiohttp", "anyio", purpose="The mock server")
    from concord.demo import server

    return server


@contextmanager
def serving(workspace: Workspace) -> Iterator[None]:
    """The mock server that the workspace's models name, for as long as the block lasts.

    A server that is up already is used. Raises ConfigError where something else has its port.
    """
    models = load_models(workspace.models_path)
    address = next((m.base_url for m in models.values() if m.simulated and m.base_url), None)
    if address is None or _answers(address):
        yield
        return
    server = mock_server()
    with server.running(partial(server.make_app, SEED), port=urlsplit(address).port or PORT):
        yield


def _answers(address: str) -> bool:
    try:
        with urlopen(f"{address}/models", timeout=2) as reply:
            return b"mock-" in reply.read()
    except (URLError, OSError):
        return False


def free_port() -> int:
    """The first of some ports that is free: another demo's server would stop with that demo."""
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
        f"The ports {PORT} to {PORT + 49} are all in use, and the mock models need one. Free a port."
    )
