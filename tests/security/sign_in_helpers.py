"""What several tests take from `test_sign_in`: PASSPHRASE, refusal, sign_in."""

from __future__ import annotations

import json
from urllib.error import HTTPError
from urllib.request import Request, urlopen

import pytest

from tests.browser.keeper import Server

PASSPHRASE = "eleven ships in one night"


def sign_in(server: Server, said: object, source: str = "", **headers: str) -> str:
    """The cookie that a sign-in gives, with its attributes. Raises HTTPError where it is refused."""
    told = {"Origin": server.url, "Content-Type": "application/json", **headers}
    if source:
        told["X-Forwarded-For"] = source
    body = said if isinstance(said, bytes) else json.dumps(said).encode()
    with urlopen(Request(f"{server.url}/sign-in", body, told), timeout=60) as answer:
        return str(answer.headers["Set-Cookie"])


def refusal(server: Server, said: object, source: str = "", **headers: str) -> str:
    """The sentence with which a sign-in is refused."""
    with pytest.raises(HTTPError, match="403") as refused:
        sign_in(server, said, source, **headers)
    assert refused.value.headers["Set-Cookie"] is None
    return str(json.loads(refused.value.read())["message"])
