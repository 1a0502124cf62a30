"""The mock server's Batch API: files and batches, kept in memory, answered after `batch_seconds`."""

import asyncio
import json
import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

from aiohttp import web

from tests.mock.call import BadCall
from tests.mock.faults import Faults

PATH = "/v1/chat/completions"
Answer = Callable[[bytes], tuple[int, dict[str, Any]]]
"""From a request's body to status and answer; a completion is counted. Raises BadCall."""


@dataclass
class _Batch:
    """A batch; `begun` and `until` are times of the loop."""

    number: int
    lines: list[bytes]
    file: str
    metadata: dict[str, str]
    begun: float
    until: float
    status: str = "in_progress"
    why: str = ""
    outputs: dict[str, str] = field(default_factory=dict)
    done: int = 0

    def as_dict(self) -> dict[str, Any]:
        """The batch as the endpoint tells it."""
        error = {
            "code": self.why,
            "message": f"The mock server says {self.why}.",
            "line": None,
            "param": None,
        }
        return {
            "id": f"batch_{self.number}",
            "object": "batch",
            "endpoint": PATH,
            "completion_window": "24h",
            "created_at": 0,
            "input_file_id": self.file,
            "status": self.status,
            "metadata": self.metadata,
            "errors": {"object": "list", "data": [error]} if self.why else None,
            "request_counts": {"total": len(self.lines), "completed": self.done, "failed": 0},
            **self.outputs,
        }


class BatchApi:
    """The handlers. `answer` replies to one call, `admit` refuses a request without the key."""

    def __init__(
        self, faults: Faults, seed: int, answer: Answer, admit: Callable[[web.Request], web.Response | None]
    ):
        self.faults, self.answer, self.admit = faults, answer, admit
        self.random = random.Random(seed)
        self.files: dict[str, bytes] = {}
        self.batches: list[_Batch] = []
        self.arrived = 0
        """Lines that came, of all batches."""

    def add_to(self, app: web.Application) -> None:
        """Serve `/v1/files` and `/v1/batches`."""
        for method, path, handler in (
            ("POST", "files", self._upload),
            ("GET", "files", self._files),
            ("GET", "files/{name}/content", self._content),
            ("POST", "batches", self._create),
            ("GET", "batches", self._list),
            ("GET", "batches/{name}", self._look),
            ("POST", "batches/{name}/cancel", self._cancel),
            ("POST", "batches/{name}/end", self._end_now),
        ):
            app.router.add_route(method, f"/v1/{path}", self._guarded(handler))

    def _guarded(self, handler: Any) -> Any:
        async def handle(request: web.Request) -> web.StreamResponse:
            refused = self.admit(request)
            if refused is not None:
                return refused
            response: web.StreamResponse = await handler(request)
            return response

        return handle

    async def _upload(self, request: web.Request) -> web.Response:
        form = await request.post()
        file, purpose = form.get("file"), form.get("purpose")
        if not isinstance(file, web.FileField) or purpose != "batch":
            return _refused(400, "A file and the purpose “batch” are needed.")
        content = file.file.read()
        name = self._kept(content)
        if len(self.files) == 1:
            await asyncio.sleep(self.faults.batch_upload_seconds)
        told = {"id": name, "object": "file", "bytes": len(content), "created_at": 0, "status": "processed"}
        return web.json_response({**told, "filename": file.filename, "purpose": purpose})

    async def _files(self, request: web.Request) -> web.Response:
        told = [{"id": name, "object": "file", "bytes": len(kept)} for name, kept in self.files.items()]
        return web.json_response({"object": "list", "data": told, "has_more": False})

    async def _content(self, request: web.Request) -> web.Response:
        content = self.files.get(request.match_info["name"])
        if content is None:
            return _refused(404, "There is no such file.")
        return web.Response(body=content, content_type="application/octet-stream")

    async def _create(self, request: web.Request) -> web.Response:
        asked = await request.json()
        content = self.files.get(asked.get("input_file_id"))
        if content is None or asked.get("endpoint") != PATH:
            return _refused(400, "The file is unknown, or the endpoint is another one.")
        lines, now = content.splitlines(), asyncio.get_running_loop().time()
        until = now + self.faults.batch_seconds
        for one in self.batches:
            self._go_on(one)
        queue = sum(one.status == "in_progress" for one in self.batches)
        made = _Batch(
            len(self.batches) + 1, lines, asked["input_file_id"], asked.get("metadata") or {}, now, until
        )
        self.batches.append(made)
        full = self.faults.batch_queue and queue >= self.faults.batch_queue
        if full or (self.faults.batch_most and len(lines) > self.faults.batch_most):
            made.status, made.why = "failed", "token_limit_exceeded"
        elif self.faults.batch_invalid and made.number % self.faults.batch_invalid == 0:
            made.status, made.why = "failed", "invalid_json_line"
        if made.number == 1:
            await asyncio.sleep(self.faults.batch_create_seconds)
        if self.faults.batch_lost and made.number % self.faults.batch_lost == 0:
            if request.transport is not None:
                request.transport.abort()
            return _refused(500, "The connection is closed.")
        return web.json_response(made.as_dict())

    async def _list(self, request: web.Request) -> web.Response:
        for one in self.batches:
            self._go_on(one)
        newest = [one.as_dict() for one in reversed(self.batches)]
        after = request.query.get("after", "")
        start = next((n + 1 for n, one in enumerate(newest) if one["id"] == after), 0)
        page = newest[start : start + int(request.query.get("limit", "20"))]
        more = start + len(page) < len(newest)
        return web.json_response({"object": "list", "data": page, "has_more": more})

    async def _look(self, request: web.Request) -> web.Response:
        one = self._named(request)
        if one is None:
            return _refused(404, "There is no such batch.")
        self._go_on(one)
        return web.json_response(one.as_dict())

    async def _cancel(self, request: web.Request) -> web.Response:
        one = self._named(request)
        if one is None:
            return _refused(404, "There is no such batch.")
        self._go_on(one)
        if one.status == "in_progress":
            now = asyncio.get_running_loop().time()
            share = (now - one.begun) / max(1e-9, one.until - one.begun)
            self._end(one, "cancelled", round(share * len(one.lines)))
        return web.json_response(one.as_dict())

    async def _end_now(self, request: web.Request) -> web.Response:
        """End a batch as if its time had come, which no endpoint offers."""
        one = self._named(request)
        if one is None:
            return _refused(404, "There is no such batch.")
        one.until = 0.0
        return await self._look(request)

    def _named(self, request: web.Request) -> _Batch | None:
        name = request.match_info["name"]
        return next((one for one in self.batches if f"batch_{one.number}" == name), None)

    def _go_on(self, one: _Batch) -> None:
        """End a batch whose time has come."""
        if one.status == "in_progress" and asyncio.get_running_loop().time() >= one.until:
            expired = self.faults.batch_expired and one.number % self.faults.batch_expired == 0
            self._end(one, "expired" if expired else "completed", len(one.lines) // (2 if expired else 1))

    def _end(self, one: _Batch, status: str, answered: int) -> None:
        """Answer the first lines of a batch; the others are those that were not tried."""
        good: list[bytes] = []
        bad: list[bytes] = []
        for number, line in enumerate(one.lines):
            call = json.loads(line)
            if number >= answered:
                error = {"code": f"batch_{status}", "message": "It was not tried."}
                bad.append(_line(call["custom_id"], None, error))
            else:
                for status_code, text in self._answers(call):
                    (good if status_code == 200 else bad).append(text)
        self.random.shuffle(good)
        one.status, one.done = status, len(good)
        for name, lines in (("output_file_id", good), ("error_file_id", bad)):
            if lines:
                one.outputs[name] = self._kept(b"\n".join(lines) + b"\n")

    def _answers(self, call: dict[str, Any]) -> Iterator[tuple[int, bytes]]:
        """The lines that answer one call, each with its status; none for one that is lost."""
        self.arrived += 1
        name, body = call["custom_id"], json.dumps(call["body"], ensure_ascii=False).encode()
        fault = self.faults.of_line(self.arrived)
        if fault in ("batch_refused", "batch_error"):
            status = 400 if fault == "batch_refused" else 500
            yield status, _line(name, (status, {"error": {"message": "The mock server was told to fail."}}))
            return
        try:
            status, answer = self.answer(body)
        except BadCall as wrong:
            yield 400, _line(name, (400, {"error": {"message": str(wrong)}}))
            return
        good = _line(name, (status, answer))
        if status != 200:
            yield status, good
            return
        if fault == "batch_missing":
            return
        yield 200, good[: len(good) // 2] if fault == "batch_garbled" else good
        if fault == "batch_repeated":
            yield 200, good
            yield 200, _line("nobody asked this", (200, answer))

    def _kept(self, content: bytes) -> str:
        name = f"file-{len(self.files) + 1}"
        self.files[name] = content
        return name


def _line(name: str, answer: tuple[int, dict[str, Any]] | None, error: Any = None) -> bytes:
    response = {"status_code": answer[0], "request_id": "", "body": answer[1]} if answer else None
    told = {"id": f"batch_req_{name}", "custom_id": name, "response": response, "error": error}
    return json.dumps(told, ensure_ascii=False).encode("utf-8", "replace")


def _refused(status: int, message: str) -> web.Response:
    return web.json_response({"error": {"message": message, "type": "invalid_request_error"}}, status=status)
