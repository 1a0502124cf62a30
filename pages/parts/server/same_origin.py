"""No other site may open a session or change anything: a request's Origin is compared with its own address.

The own address is what `concord app --public-url` names (CONCORD_PUBLIC_URL), else the Host of the request.
Browsers send Origin with every websocket and with every request that is neither GET nor HEAD, so that a
missing one is refused too. Streamlit would take a page on any port of localhost for its own, and would ask a
service on the internet for the server's address before it refused others, while everybody waits.
"""

import logging
from urllib.parse import urlsplit

from starlette.types import ASGIApp, Receive, Scope, Send

from concord.errors import ConfigError
from pages.parts.server.refusal import refusal

log = logging.getLogger("concord")
_PORTS = {"http": 80, "https": 443}
_READING = ("GET", "HEAD", "OPTIONS")
_REFUSED = "The request was refused because it does not come from a page of this server."
_POLICY_VIOLATION = 1008
_LOGGED = 100


class SameOrigin:
    """Refuses websockets and changes that another site asks for, or nobody knows who."""

    def __init__(self, app: ASGIApp, public: str | None = None) -> None:
        self.app = app
        self.public = public
        self.logged: set[tuple[tuple[bytes, ...], ...]] = set()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Refuse, or pass on."""
        websocket = scope["type"] == "websocket"
        if not websocket and (scope["type"] != "http" or scope["method"] in _READING):
            return await self.app(scope, receive, send)
        came_from = _header(scope, b"origin")
        host = _header(scope, b"host")
        if not is_own(came_from, host, self.public):
            self._log(came_from, host)
            if websocket:
                return await send({"type": "websocket.close", "code": _POLICY_VIOLATION})
            return await refusal(scope, _REFUSED, 403)(scope, receive, send)
        # A proxy may have put another Host. Streamlit compares again and has to find the same.
        others = [(name, value) for name, value in scope["headers"] if name != b"host"]
        named = urlsplit(came_from[0]).netloc
        await self.app({**scope, "headers": [*others, (b"host", named)]}, receive, send)

    def _log(self, *request: tuple[bytes, ...]) -> None:
        if request in self.logged or len(self.logged) >= _LOGGED:
            return
        self.logged.add(request)
        came_from, host = (b", ".join(values)[:100].decode("latin-1") or "nothing" for values in request)
        log.warning(
            "A request from %r to %r was refused: it is not from a page of this server. If it is, name the "
            "server's address with --public-url.",
            came_from,
            host,
        )


def is_own(came_from: tuple[bytes, ...], host: tuple[bytes, ...], public: str | None) -> bool:
    """Whether the one Origin of a request is the address of this server."""
    if len(came_from) != 1 or len(host) != 1:
        return False
    page = origin(came_from[0].decode("latin-1"))
    named = host[0].decode("latin-1")
    own = (public,) if public else (origin(f"http://{named}"), origin(f"https://{named}"))
    return page is not None and page in own


def origin(url: str) -> str | None:
    """The origin of an address, as browsers write it: `https://example.org`, with a port only where it is not
    the scheme's own.

    None for what is no origin: another scheme than http and https, no host, a name and password, a path, a
    query, an impossible port.
    """
    try:
        split = urlsplit(url)
        host = (split.hostname or "").encode("idna").decode()
        port = split.port
    except ValueError:
        return None
    more = split.username is not None or split.path not in ("", "/") or split.query or split.fragment
    if more or not host or split.scheme not in _PORTS or any(c.isspace() or not c.isprintable() for c in url):
        return None
    named = f"[{host}]" if ":" in host else host
    return f"{split.scheme}://{named}" + ("" if port in (None, _PORTS[split.scheme]) else f":{port}")


def public_origin(url: str | None) -> str | None:
    """The origin of the configured address; None where none is configured. Raises ConfigError."""
    if not url:
        return None
    own = origin(url)
    if own is None:
        raise ConfigError(
            f"--public-url {url} (CONCORD_PUBLIC_URL) is not a server address. Write http:// or https://, "
            "the host and, if needed, the port; without a path."
        )
    return own


def _header(scope: Scope, name: bytes) -> tuple[bytes, ...]:
    return tuple(value for header, value in scope["headers"] if header == name)
