"""`concord app`: where it listens, and what it says when it cannot."""

from __future__ import annotations

import socket
from pathlib import Path

import pytest
from click.testing import CliRunner

from concord.cli import main
from concord.commands.app import _host_words, listen
from concord.workspace import Workspace


def test_a_port_that_is_taken_is_said_in_a_sentence(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        Workspace.open(tmp_path)
        result = CliRunner().invoke(
            main, ["--workspace", str(tmp_path), "app", "--no-browser", "--port", str(port)]
        )
    assert result.exit_code == 1
    assert (
        result.output
        == f"Error: Port {port} is in use, perhaps by Concord itself. Choose another port with --port, or "
        "any free one with --port 0.\n"
    )


def test_an_address_that_is_not_ours_is_said_in_a_sentence(tmp_path: Path) -> None:
    Workspace.open(tmp_path)
    result = CliRunner().invoke(
        main, ["--workspace", str(tmp_path), "app", "--no-browser", "--host", "192.0.2.1", "--port", "0"]
    )
    assert result.exit_code == 1
    assert result.output.startswith("Error: Concord cannot listen on 192.0.2.1:0: ")


def test_every_answer_leaves_at_once() -> None:
    """asyncio turns Nagle's algorithm off on accepted sockets only where the listening one says that it is
    TCP.
    """
    with listen("127.0.0.1", 0) as listening:
        assert listening.proto == socket.IPPROTO_TCP


@pytest.mark.parametrize(
    ("host", "shown"),
    [
        ("127.0.0.1", "localhost"),
        ("0.0.0.0", "localhost"),
        ("::", "localhost"),
        ("192.0.2.7", "192.0.2.7"),
        ("2001:db8::7", "[2001:db8::7]"),
        ("lab.example.org", "lab.example.org"),
    ],
)
def test_the_address_that_is_shown_can_be_opened(host: str, shown: str) -> None:
    assert _host_words(host) == shown


def test_garbage_collection_does_not_follow_every_rerun() -> None:
    """What makes a rerun six times dearer, by Streamlit's default, is off in the settings that lie beside
    app.py.
    """
    import tomllib

    settings = tomllib.loads((Path(__file__).resolve().parents[2] / ".streamlit/config.toml").read_text())
    assert settings["runner"]["postScriptGC"] is False
    assert settings["client"]["showErrorDetails"] == "none"
