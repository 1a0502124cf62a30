"""PingPong in a browser alone: a character set is imported, played and judged, and its ranking compared."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import Page, expect

from concord.workspace import Workspace
from tests.mock.server import running

from .keeper import Server, serving
from .widgets import choose

pytestmark = pytest.mark.browser

MODELS = ("mock-vivid", "mock-bland", "mock-user", "mock-judge-strict")
CARD = {"system_prompt": "Keep bees.", "example_prompt": "", "greeting": "Good day.", "summary": "A keeper."}
SETTINGS = {
    "en": {
        "characters": [{"char_name": name, **CARD} for name in ("Wren", "Lark")],
        "situations": [{"text": "You lost a swarm.", "num_turns": 2, "tags": [tag]} for tag in ("a", "b")],
    }
}


@pytest.fixture(scope="module")
def app(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A workspace with mock models and nothing else, and the app serving it."""
    folder = tmp_path_factory.mktemp("pingpong")
    with running(seed=3) as url:
        workspace = Workspace.open(folder / "workspace")
        workspace.models_path.write_text(
            "\n".join(f'[models.{name}]\nbase_url = "{url}"\nseed = true\n' for name in MODELS)
        )
        with serving(workspace, folder / "log") as server:
            yield server


def file(name: str, text: str) -> dict[str, object]:
    return {"name": name, "mimeType": "text/plain", "buffer": text.encode()}


def test_from_settings_to_another_ranking(app: Server, page: Page) -> None:
    main = page.get_by_test_id("stMain")
    page.goto(f"{app.url}/runs?benchmark=pingpong")
    main.get_by_role("link", name="PingPong", exact=True).click()
    expect(page.get_by_text("64 conversations and 288 judged turns")).to_be_visible()
    page.get_by_text("Import settings of the authors").click()
    dropped = page.get_by_test_id("stFileUploader").locator("input")
    dropped.set_input_files(file("bees.json", json.dumps(SETTINGS)))  # type: ignore[arg-type]
    page.get_by_role("button", name="Import this set").click()
    expect(page.get_by_text("4 conversations and 8 judged turns")).to_be_visible()
    main.get_by_role("link", name="Start a run with this set").click()
    choose(page, "Players", "mock-vivid", "mock-bland")
    choose(page, "Interrogator", "mock-user")
    choose(page, "Judges", "mock-judge-strict")
    page.keyboard.press("Escape")
    expect(page.get_by_text("16 results to generate")).to_be_visible()
    page.get_by_role("button", name="Start", exact=True).click()
    expect(page.get_by_role("heading", name=re.compile(r"Run 1: finished"))).to_be_visible()
    main.get_by_role("link", name="Leaderboard", exact=True).click()

    # Another ranking of the same models, as slopes.
    page.get_by_text("Another benchmark's ranking").click()
    page.get_by_test_id("stFileUploader").locator("input").set_input_files(
        file("other.csv", "model,rank\nmock-vivid,2\nmock-bland,1\n")  # type: ignore[arg-type]
    )
    expect(page.get_by_test_id("stVegaLiteChart").nth(1)).to_be_visible()
