"""Security headers on every answer."""

import base64
import hashlib
import re
from functools import cache

from starlette.datastructures import MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from pages.parts.server.internals import BASE, PAGE


class SecurityHeaders:
    """Sets the headers on every answer, those of other middleware and of refusals included."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass on, and set the headers of what comes back."""
        if scope["type"] != "http":
            return await self.app(scope, receive, send)

        async def with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                MutableHeaders(scope=message).update(headers())
            await send(message)

        await self.app(scope, receive, with_headers)


@cache
def headers() -> dict[str, str]:
    """Every header by its name."""
    return {
        "Content-Security-Policy": "; ".join(
            f"{name} {' '.join(sources)}" for name, sources in policy().items()
        ),
        # Other sites never learn an address of this one. It is not “no-referrer”, under which browsers
        # withhold the Origin of forms that are sent to this server itself.
        "Referrer-Policy": "same-origin",
        "X-Frame-Options": "DENY",
        "X-Content-Type-Options": "nosniff",
        "Cross-Origin-Opener-Policy": "same-origin",
        "Cross-Origin-Resource-Policy": "same-origin",
    }


def policy() -> dict[str, tuple[str, ...]]:
    """What a page may load, by kind: from this server only, and no plugin, frame or base address at all.

    Streamlit needs three exceptions. It writes the styles of its parts into the page ('unsafe-inline' for
    styles). It imports the script of a component, which Python sends over the websocket, from a blob: address
    that only a running script can make. Its page holds two scripts inline, each named by its hash. Nothing
    needs 'unsafe-eval' or WebAssembly: Vega's expressions are interpreted.
    """
    return {
        "default-src": ("'none'",),
        "script-src": ("'self'", "blob:", *inline_scripts(PAGE), hashed(BASE)),
        "style-src": ("'self'", "'unsafe-inline'"),
        "img-src": ("'self'", "data:", "blob:"),
        "font-src": ("'self'", "data:"),
        "media-src": ("'self'",),
        "connect-src": ("'self'",),
        "form-action": ("'self'",),
        "frame-ancestors": ("'none'",),
        "base-uri": ("'none'",),
    }


def inline_scripts(page: str) -> list[str]:
    """The sources that allow the scripts which lie in a page itself: a hash for each."""
    scripts = re.findall(r"<script>(.*?)</script>", page, re.DOTALL)
    return [hashed(script) for script in scripts]


def hashed(script: str) -> str:
    """The source that allows a script which lies in a page."""
    return f"'sha256-{base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()}'"
