"""docs/deploy.md is followed with real proxies: their configurations are taken out of it and started."""

from __future__ import annotations

import re
import shutil
import socket
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect

from concord.store import access, placements, studies
from concord.workspace import Workspace
from tests.browser.keeper import CRITERIA, SECRETS, fill, serving
from tests.browser.starting import ELSEWHERE, ROOT

pytestmark = pytest.mark.browser
PAGE = (ROOT / "docs/deploy.md").read_text(encoding="utf-8")


def configuration(language: str, app: str, port: int, folder: Path) -> str:
    """A configuration of the page, for the app's address, the proxy's port and files in a folder."""
    found = re.search(rf"```{language}\n(.*?)```", PAGE, re.DOTALL)
    assert found
    changes = {
        "concord.example.org {": f"{ELSEWHERE}:{port} {{",
        "concord.example.org": ELSEWHERE,
        "127.0.0.1:8501": app,
        "listen 443": f"listen 127.0.0.1:{port}",
        "listen 80": f"listen 127.0.0.1:{free_port()}",
        "/etc/ssl": str(folder),
        "/var/log/nginx": str(folder),
    }
    text = found[1]
    for said, put in changes.items():
        text = text.replace(said, put)
    return text


def nginx(app: str, port: int, folder: Path) -> list[str]:
    kinds = ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
    paths = "".join(f"{kind}_temp_path {folder}/{kind};\n" for kind in kinds)
    (folder / "nginx.conf").write_text(
        f"pid {folder}/pid;\nerror_log {folder}/error.log;\ndaemon off;\nevents {{}}\n"
        f"http {{\n{paths}{configuration('nginx', app, port, folder)}}}\n"
    )
    return ["nginx", "-p", str(folder), "-c", str(folder / "nginx.conf")]


def caddy(app: str, port: int, folder: Path) -> list[str]:
    (folder / "Caddyfile").write_text(
        f"{{\nadmin off\nauto_https disable_redirects\nstorage file_system {folder}\n}}\n"
        f"{configuration('caddy', app, port, folder)}"
    )
    return ["caddy", "run", "--adapter", "caddyfile", "--config", str(folder / "Caddyfile")]


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as probe:
        return int(probe.getsockname()[1])


@contextmanager
def proxied(
    start: Callable[[str, int, Path], list[str]], app: str, port: int, folder: Path
) -> Iterator[None]:
    """A proxy with a certificate of its own."""
    made = f"req -x509 -newkey rsa:2048 -nodes -subj /CN={ELSEWHERE} -keyout concord.key -out concord.crt"
    named = ["-addext", f"subjectAltName=DNS:{ELSEWHERE}"]
    subprocess.run(["openssl", *made.split(), *named], cwd=folder, check=True, capture_output=True)
    log = folder / "log"
    with log.open("w") as out:
        process = subprocess.Popen(start(app, port, folder), stdout=out, stderr=subprocess.STDOUT)
    try:
        while socket.socket().connect_ex(("127.0.0.1", port)):
            assert process.poll() is None, log.read_text()
            time.sleep(0.05)
        yield
    finally:
        process.terminate()
        process.wait(20)


@pytest.mark.parametrize("start", [nginx, caddy])
def test_behind_a_proxy_a_stranger_is_refused_and_an_annotator_rates(
    start: Callable[[str, int, Path], list[str]], browser: Browser, tmp_path: Path
) -> None:
    for program in (start.__name__, "openssl"):
        if not shutil.which(program, path="/usr/sbin:/usr/bin:/usr/local/bin"):
            pytest.skip(f"{program} is not installed.")
    workspace = Workspace.open(tmp_path / "whalebone")
    fill(workspace)
    with workspace.write() as db:
        access.set_passphrase(db, "eleven ships in one night")
        token = access.invite(db, "Ada")
        units = [unit["id"] for unit in studies.units(db, "keeper")][:3]
        placements.assign(db, access.annotator_id(db, "Ada"), units)
    port = free_port()
    url = f"https://{ELSEWHERE}:{port}"
    context = browser.new_context(ignore_https_errors=True)
    page = context.new_page()
    sockets: list[str] = []
    page.on("websocket", lambda opened: sockets.append(opened.url))
    with (
        serving(workspace, tmp_path / "app.log", "--public-url", url) as server,
        proxied(start, server.url.removeprefix("http://").replace("localhost", "127.0.0.1"), port, tmp_path),
    ):
        page.goto(url)
        expect(page.get_by_label("Researchers' passphrase")).to_be_visible()
        for secret in (*SECRETS, "whalebone", "keeper"):
            assert secret not in page.content()
        page.goto(f"{url}/rate?token={token}")
        page.locator(".message").first.wait_for()
        assert token not in page.url
        assert all(
            cookie["secure"] and cookie["httpOnly"]
            for cookie in context.cookies()
            if "concord" in cookie["name"]
        )
        for key in ("5", "4", "3", "Enter"):
            page.keyboard.press(key)
        expect(page.locator(".chip.done")).to_have_count(1)
        expect(page.locator(".saving")).to_have_attribute("data-state", "saved")
        assert sockets
        assert all(opened.startswith(f"wss://{ELSEWHERE}:{port}/") for opened in sockets)
        scores = (
            "SELECT criterion, score FROM ratings r JOIN raters x ON x.id = r.rater_id WHERE x.name = 'Ada'"
        )
        assert dict(server.rows(scores)) == {c.name: 5 - n for n, c in enumerate(CRITERIA)}
    context.close()
    assert not [log for log in tmp_path.glob("*.log") if token in log.read_text()]
