"""No page of another site, and nobody without a page, opens a session or changes anything."""

from __future__ import annotations

import socket
from pathlib import Path
from urllib.error import HTTPError
from urllib.parse import urlsplit
from urllib.request import Request, urlopen

import pytest
from websockets.exceptions import InvalidStatus
from websockets.sync.client import connect

from concord.errors import ConfigError
from pages.parts.server.same_origin import is_own, origin, public_origin
from tests.browser.keeper import Server

from .conftest import served


def handshake(url: str, **headers: str) -> None:
    """Open a websocket and close it again. Raises InvalidStatus where it is refused."""
    where = urlsplit(url)
    with connect(
        f"ws://{where.netloc}/_stcore/stream",
        sock=socket.create_connection(("127.0.0.1", where.port)),
        additional_headers=headers,
    ):
        pass


@pytest.mark.parametrize(
    "foreign",
    [
        "http://localhost:9999",
        "http://localhost",
        "http://127.0.0.1:9999",
        "http://0.0.0.0:80",
        "https://example.org",
        "null",
        "file://",
        "{own}.example.org",
        "{own}/path",
        "{own}@example.org",
        "http://user@{host}",
        "ftp://{host}",
        None,
    ],
)
def test_a_websocket_of_another_site_is_refused_before_streamlit_sees_it(
    server: Server, foreign: str | None
) -> None:
    own = {"own": server.url, "host": urlsplit(server.url).netloc}
    handshake(server.url, Origin=server.url)
    with pytest.raises(InvalidStatus) as refused:
        handshake(server.url, **({"Origin": foreign.format(**own)} if foreign else {}))
    assert refused.value.response.status_code == 403


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "PATCH"])
@pytest.mark.parametrize("path", ["/_stcore/upload_file/a/b", "/", "/rate"])
def test_a_change_that_another_site_asks_for_is_refused(server: Server, method: str, path: str) -> None:
    for headers in ({}, {"Origin": "http://localhost:9999"}, {"Origin": "null"}):
        with pytest.raises(HTTPError, match="403") as refused:
            urlopen(Request(server.url + path, method=method, headers=headers))
        assert b"does not come from a page of this server" in refused.value.read()


@pytest.mark.parametrize(
    ("address", "is_one"),
    [
        ("https://Concord.example.org", "https://concord.example.org"),
        ("https://concord.example.org:443/", "https://concord.example.org"),
        ("http://concord.example.org:443", "http://concord.example.org:443"),
        ("http://[::1]:8501", "http://[::1]:8501"),
        ("https://bücher.example", "https://xn--bcher-kva.example"),
        ("concord.example.org", None),
        ("https://", None),
        ("https://concord.example.org/app", None),
        ("https://concord.example.org?a", None),
        ("https://concord.example.org:99999", None),
        ("https://[::1", None),
        ("https://concord.example.org\n", None),
        ("https://concord.example.org, https://example.org", None),
        ("javascript:alert(1)", None),
    ],
)
def test_an_origin_is_scheme_host_and_port(address: str, is_one: str | None) -> None:
    assert origin(address) == is_one


@pytest.mark.parametrize(
    ("came_from", "host", "public", "own"),
    [
        (["https://lab.org"], ["lab.org"], "", True),
        (["https://lab.org"], ["lab.org:443"], "", True),
        (["https://lab.org"], ["127.0.0.1:8501"], "", False),
        (["https://lab.org"], ["127.0.0.1:8501"], "https://lab.org", True),
        (["http://lab.org"], ["lab.org"], "https://lab.org", False),
        # Behind a proxy that hides the Host this is a page on the visitor's own machine.
        (["http://127.0.0.1:8501"], ["127.0.0.1:8501"], "https://lab.org", False),
        (["https://lab.org", "https://else.org"], ["lab.org"], "", False),
        (["https://lab.org"], ["lab.org", "else.org"], "", False),
        (["https://lab.org"], [], "", False),
        ([], ["lab.org"], "", False),
        (["null"], ["null"], "", False),
    ],
)
def test_the_own_address_is_the_public_one_else_the_host(
    came_from: list[str], host: list[str], public: str, own: bool
) -> None:
    as_sent = [tuple(value.encode() for value in values) for values in (came_from, host)]
    assert is_own(*as_sent, public_origin(public)) is own


def test_behind_a_proxy_only_the_public_address_may_connect(tmp_path: Path) -> None:
    with served(tmp_path, "--public-url", "https://lab.example.org") as (behind, others_asked):
        handshake(behind.url, Origin="https://lab.example.org")
        with pytest.raises(InvalidStatus):
            handshake(behind.url, Origin=behind.url)
        # Streamlit compares Origin and Host too, and asks for its external address where they differ.
        assert not others_asked()


def test_a_public_url_with_a_path_is_refused_in_a_sentence() -> None:
    with pytest.raises(ConfigError, match="is not a server address"):
        public_origin("https://lab.example.org/concord")
