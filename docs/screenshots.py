"""The pictures of the README: the demo workspace, each main page in a real browser. Run by `make
screenshots`.
"""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from urllib.request import urlopen

from playwright.sync_api import Page, sync_playwright

ROOT = Path(__file__).resolve().parent.parent
PICTURES = ROOT / "docs" / "pictures"
BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
]

# name → address, width, height, colours
SHOTS = {
    "overview": ("/", 1280, 860, "light"),
    "runs": ("/runs", 1280, 1000, "light"),
    "conversations": ("/conversations?conversation=1", 1280, 1100, "light"),
    "desk": ("/rate?token={token}", 1280, 860, "light"),
    "desk-phone": ("/rate?token={token}", 390, 800, "dark"),
    "agreement": ("/agreement?study=demo", 1280, 1500, "light"),
    "leaderboard": ("/leaderboard", 1280, 900, "light"),
    "spot-check": ("/spot-check", 1280, 900, "light"),
    "town": ("/town?task=harvest-supper&architecture=GA%2BTDP", 1280, 2170, "light"),
}


def main() -> None:
    """Build the demo in a folder of its own, serve it, take the pictures."""
    sys.path.insert(0, str(ROOT))
    from concord.demo import workspace as demo
    from concord.demo.workspace import VISITOR
    from concord.store import access
    from concord.workspace import Workspace

    wanted = sys.argv[1:] or list(SHOTS)
    PICTURES.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        workspace = Workspace.open(Path(folder) / "demo")
        demo.build(workspace, lambda what, done: None)
        with workspace.write() as db:
            token = access.invite(db, VISITOR)
        port = _free_port()
        command = [
            sys.executable,
            "-m",
            "concord.cli",
            "--workspace",
            str(workspace.path),
            "app",
            "--no-browser",
            "--port",
            str(port),
        ]
        server = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True)
        try:
            assert server.stdout is not None
            link = next(word for word in server.stdout.readline().split() if "token=" in word)
            _wait(f"http://127.0.0.1:{port}/")
            with sync_playwright() as playwright:
                path = os.environ.get("CONCORD_CHROMIUM") or next(
                    filter(None, map(shutil.which, BROWSERS)), None
                )
                browser = playwright.chromium.launch(executable_path=path, args=FLAGS)
                context = browser.new_context()
                context.new_page().goto(link)
                signed_in = context.storage_state()
                for name in wanted:
                    address, width, height, colours = SHOTS[name]
                    page = browser.new_page(
                        viewport={"width": width, "height": height},
                        color_scheme=colours,
                        storage_state=signed_in,
                    )
                    page.goto(f"http://localhost:{port}{address.format(token=token)}")
                    _settle(page)
                    page.screenshot(path=PICTURES / f"{name}.png")
                    page.close()
                browser.close()
        finally:
            server.terminate()
            server.wait()


def _settle(page: Page) -> None:
    """Wait until the page has run and its charts are drawn."""
    page.wait_for_timeout(2000)
    page.wait_for_function(
        "!document.querySelector('[data-testid=stStatusWidget]') && "
        "!document.querySelector('[data-stale=true]')"
    )
    page.wait_for_timeout(3000)


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _wait(address: str) -> None:
    for _ in range(100):
        try:
            urlopen(address, timeout=1).close()
        except OSError:
            time.sleep(0.2)
        else:
            return
    sys.exit(f"The app did not come up at {address}.")


if __name__ == "__main__":
    main()
