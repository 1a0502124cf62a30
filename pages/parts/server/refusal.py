"""Pages without Streamlit: a title and a sentence. Refusals are such pages for browsers, else text."""

from html import escape
from http import HTTPStatus

from starlette.datastructures import Headers
from starlette.responses import HTMLResponse, PlainTextResponse, Response
from starlette.types import Scope

_PAGE = """<!doctype html>
<html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>Concord: {title}</title>
<style>
:root {{ color-scheme: light dark; font: 1rem/1.5 system-ui, sans-serif; }}
body {{ max-width: 28rem; margin: 15vh auto; padding: 0 1rem; }}
h1 {{ font-size: 1.75rem; }}
button {{ font: inherit; padding: 0.5rem 1rem; }}
</style>
<h1>{title}</h1>
<p>{sentence}</p>
{form}
</html>
"""


def plain_page(title: str, sentence: str, status: int = 200, *, form: str = "") -> HTMLResponse:
    """A page of its own; `form` is HTML, the rest is text."""
    page = _PAGE.format(title=escape(title), sentence=escape(sentence), form=form)
    return HTMLResponse(page, status, {"Cache-Control": "no-store"})


def refusal(scope: Scope, sentence: str, status: int) -> Response:
    """The answer to a request that is refused."""
    if "text/html" not in Headers(scope=scope).get("accept", ""):
        return PlainTextResponse(f"{sentence}\n", status)
    return plain_page(HTTPStatus(status).phrase, sentence, status)
