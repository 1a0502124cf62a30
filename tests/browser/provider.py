"""An OpenID Connect provider on this machine, which confirms whatever account it is told to."""

from __future__ import annotations

import json
import secrets
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit

from joserfc import jwk, jwt

CLIENT = "concord"


class Provider(ThreadingHTTPServer):
    """`account` holds the claims about the account that signs in next."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Answers)
        self.url = f"http://localhost:{self.server_address[1]}"
        self.key = jwk.RSAKey.generate_key(2048, {"kid": "one"})
        self.account: dict[str, Any] = {}
        self.nonces: dict[str, str] = {}

    def id_token(self, code: str) -> str:
        """The signed claims for a code that was given out."""
        issued = int(time.time())
        claims = {"iss": self.url, "aud": CLIENT, "sub": "1", "iat": issued, "exp": issued + 600}
        claims |= {"nonce": self.nonces.pop(code), **self.account}
        return jwt.encode({"alg": "RS256", "kid": "one"}, claims, self.key)


class _Answers(BaseHTTPRequestHandler):
    server: Provider

    def do_GET(self) -> None:
        where = urlsplit(self.path)
        asked = {name: values[0] for name, values in parse_qs(where.query).items()}
        url = self.server.url
        if where.path == "/.well-known/openid-configuration":
            self._json(
                {
                    "issuer": url,
                    "authorization_endpoint": f"{url}/authorize",
                    "token_endpoint": f"{url}/token",
                    "jwks_uri": f"{url}/keys",
                    "id_token_signing_alg_values_supported": ["RS256"],
                }
            )
        elif where.path == "/keys":
            self._json({"keys": [self.server.key.as_dict(private=False)]})
        elif where.path == "/authorize":
            code = secrets.token_hex(8)
            self.server.nonces[code] = asked["nonce"]
            back = urlencode({"code": code, "state": asked["state"]})
            self.send_response(302)
            self.send_header("Location", f"{asked['redirect_uri']}?{back}")
            self.end_headers()

    def do_POST(self) -> None:
        said = parse_qs(self.rfile.read(int(self.headers["Content-Length"])).decode())
        token = self.server.id_token(said["code"][0])
        self._json({"access_token": "unused", "token_type": "Bearer", "id_token": token})

    def _json(self, value: object) -> None:
        body = json.dumps(value).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Say nothing."""


@contextmanager
def provider() -> Iterator[Provider]:
    """A provider that answers for the length of the block."""
    with Provider() as running:
        Thread(target=running.serve_forever, daemon=True).start()
        yield running
        running.shutdown()
