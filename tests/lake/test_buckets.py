"""Files in a bucket: a server on this machine that speaks as much of S3 as is needed to list and read."""

from __future__ import annotations

import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import ClassVar
from urllib.parse import parse_qs, urlsplit
from xml.sax.saxutils import escape

import pytest

from concord.errors import ImportRefused
from concord.lake import engines
from tests.lake.logs import conversation, lines, planned, rows, table

fs = pytest.importorskip("pyarrow.fs")
pytestmark = pytest.mark.skipif(not hasattr(fs, "S3FileSystem"), reason="this pyarrow has no S3")


class Bucket(BaseHTTPRequestHandler):
    """Answers GET, HEAD and the listing of objects, whose bodies are `objects` by their names."""

    protocol_version = "HTTP/1.1"
    objects: ClassVar[dict[str, bytes]] = {}

    def log_message(self, *_args):
        """Say nothing."""

    def _send(self, status, body=b"", **headers):
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def do_HEAD(self):
        """An object's size, or 404."""
        name = urlsplit(self.path).path.partition("/logs/")[2]
        if name not in self.objects:
            return self._send(404)
        self.send_response(200)
        self.send_header("Content-Length", str(len(self.objects[name])))
        self.send_header("Last-Modified", "Mon, 05 Jan 2026 08:00:00 GMT")
        self.end_headers()
        return None

    def do_GET(self):
        """An object, a part of it, or the listing."""
        address = urlsplit(self.path)
        query = {key: value[0] for key, value in parse_qs(address.query, keep_blank_values=True).items()}
        if "list-type" in query:
            return self._send(200, self._listing(query.get("prefix", "")), Content_Type="application/xml")
        body = self.objects.get(address.path.partition("/logs/")[2])
        if body is None:
            return self._send(404, b"<Error><Code>NoSuchKey</Code></Error>", Content_Type="application/xml")
        part = self.headers.get("Range", "").removeprefix("bytes=")
        if not part:
            return self._send(200, body)
        first, last = (int(end) for end in part.split("-"))
        span = f"bytes {first}-{min(last, len(body) - 1)}/{len(body)}"
        return self._send(206, body[first : last + 1], Content_Range=span)

    def _listing(self, prefix):
        contents = "".join(
            f"<Contents><Key>{escape(name)}</Key><Size>{len(body)}</Size>"
            "<LastModified>2026-01-05T08:00:00.000Z</LastModified></Contents>"
            for name, body in sorted(self.objects.items())
            if name.startswith(prefix)
        )
        return (
            '<?xml version="1.0" encoding="UTF-8"?><ListBucketResult><Name>logs</Name>'
            f"<Prefix>{escape(prefix)}</Prefix><KeyCount>{len(self.objects)}</KeyCount><MaxKeys>1000</MaxKeys>"
            f"<IsTruncated>false</IsTruncated>{contents}</ListBucketResult>"
        ).encode()


@pytest.fixture
def bucket(tmp_path, monkeypatch):
    """A bucket “logs” with a file of JSON Lines and one of Parquet, a hundred conversations."""
    log = [conversation(number) for number in range(100)]
    first = lines(tmp_path / "one.jsonl", log[:50])
    second = table(tmp_path / "two.parquet", log[50:], row_group_size=30)
    objects = {"june/one.jsonl": first.read_bytes(), "june/two.parquet": second.read_bytes()}
    handler = type("Filled", (Bucket,), {"objects": objects | {"may/notes.txt": b"no conversation"}})
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    monkeypatch.setenv("AWS_ENDPOINT_URL", f"http://127.0.0.1:{server.server_port}")
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.setenv(name, "nothing")
    monkeypatch.setenv("AWS_DEFAULT_REGION", "us-east-1")
    yield [first, second]
    server.shutdown()
    server.server_close()


@pytest.mark.parametrize("address", ["s3://logs/june", "s3://logs/june/*"])
def test_files_in_a_bucket_are_judged_as_those_of_a_folder(workspace, bucket, tmp_path, address):
    engines.execute(planned(workspace, bucket, tmp_path / "here", ["a"]))
    ended = engines.execute(planned(workspace, [address], tmp_path / "out", ["a"]))
    assert (ended.state, ended.judged) == ("finished", 100)
    assert rows(tmp_path / "out") == rows(tmp_path / "here")


def test_what_is_not_in_the_bucket_is_named(workspace, bucket, tmp_path):
    with pytest.raises(ImportRefused, match="s3://logs/july"):
        planned(workspace, ["s3://logs/july"], tmp_path / "out")
    with pytest.raises(ImportRefused, match=r"s3://logs/may/notes\.txt"):
        planned(workspace, ["s3://logs/may"], tmp_path / "out")
