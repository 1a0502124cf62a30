"""How endpoints differ and fail in the body of an answer, each by its name in `Faults`."""

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping
from typing import Any

from aiohttp import web

THOUGHT = 'First thought: {"scores": []} or [[4]]? A [[4]] it may be.'
"""What the quirks of thinking think; nothing of it may reach a score."""


def _message(reply: dict[str, Any], finish: str | None = None, **fields: Any) -> dict[str, Any]:
    """A completion with other fields in its message, and another finish_reason where one is given."""
    [choice] = reply["choices"]
    changed = {**choice, "message": {**choice["message"], **fields}}
    return {**reply, "choices": [changed | ({"finish_reason": finish} if finish else {})]}


def _said(reply: dict[str, Any]) -> str:
    text: str = reply["choices"][0]["message"]["content"]
    return text


def _thoughts_counted(reply: dict[str, Any]) -> dict[str, Any]:
    usage = {**reply["usage"], "completion_tokens_details": {"reasoning_tokens": 15}}
    usage["completion_tokens"] += 15
    usage["total_tokens"] += 15
    return {**reply, "usage": usage}


_CALL = {"id": "call_1", "type": "function", "function": {"name": "search", "arguments": "{}"}}

COMPLETIONS: Mapping[str, Callable[[dict[str, Any]], dict[str, Any]]] = {
    "null": lambda reply: _message(reply, content=None),
    "empty": lambda reply: _message(reply, content=""),
    "filtered": lambda reply: _message(reply, "content_filter", content=""),
    "tool_calls": lambda reply: _message(reply, "tool_calls", content=None, tool_calls=[_CALL]),
    "declined": lambda reply: _message(reply, content=None, refusal="I cannot take part in this."),
    "thinking": lambda reply: _message(reply, content=f"<think>{THOUGHT}</think>\n\n{_said(reply)}"),
    "only_thinking": lambda reply: _message(reply, "length", content=f"<think>{THOUGHT}"),
    "reasoning": lambda reply: _thoughts_counted(_message(reply, reasoning_content=THOUGHT)),
    "parts": lambda reply: _message(reply, content=[{"type": "text", "text": _said(reply)}]),
    "no_choices": lambda reply: {**reply, "choices": []},
}
"""Changes of a chat completion that is otherwise as it should be."""


def _html(request: web.Request) -> web.Response:
    return web.Response(text="<html><body>A proxy's page</body></html>", content_type="text/html")


def _broken(request: web.Request) -> web.Response:
    return web.Response(body=b'{"id": "x", "choices": [{"mess', content_type="application/json")


def _error_body(request: web.Request) -> web.Response:
    return web.json_response({"error": {"code": 502, "message": "The provider returned an error"}})


def _overloaded(request: web.Request) -> web.Response:
    return web.json_response({"error": {"type": "overloaded_error", "message": "Overloaded"}}, status=529)


def _unavailable(request: web.Request) -> web.Response:
    return web.Response(status=503, text="no healthy upstream")


def _unauthorized(request: web.Request) -> web.Response:
    return web.json_response({"error": {"message": "This key was withdrawn"}}, status=401)


def _no_credit(request: web.Request) -> web.Response:
    return web.json_response({"error": {"message": "Insufficient credits"}}, status=402)


def _echo(request: web.Request) -> web.Response:
    said = f"Bad request with {request.headers.get('Authorization', 'no key')}"
    return web.json_response({"error": {"message": said}}, status=400)


def _echo_ok(request: web.Request) -> web.Response:
    """A body of status 200 that is no completion and repeats the key."""
    return web.Response(text=f"<pre>Authorization: {request.headers.get('Authorization', '')}</pre>")


def _echo_reply(request: web.Request) -> web.Response:
    """A completion whose text repeats the key."""
    said = f"I was sent {request.headers.get('Authorization', '')} with this."
    choice = {"index": 0, "message": {"role": "assistant", "content": said}, "finish_reason": "stop"}
    return web.json_response({"id": "x", "model": "mock", "choices": [choice]})


def _trickle(request: web.Request) -> web.Response:
    async def drops() -> AsyncIterator[bytes]:
        while True:
            yield b" "
            await asyncio.sleep(0.02)

    return web.Response(body=drops(), content_type="application/json")


RESPONSES: Mapping[str, Callable[[web.Request], web.Response]] = {
    "html": _html,
    "broken": _broken,
    "error_body": _error_body,
    "overloaded": _overloaded,
    "unavailable": _unavailable,
    "unauthorized": _unauthorized,
    "no_credit": _no_credit,
    "echo": _echo,
    "echo_ok": _echo_ok,
    "echo_reply": _echo_reply,
    "trickle": _trickle,
}
"""Answers in place of a completion."""
