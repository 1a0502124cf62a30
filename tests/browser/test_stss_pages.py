"""STSS in a browser alone: choose a task, simulate it, see the town, freeze scenes, play and judge them."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import Page, expect

from concord.workspace import Workspace
from tests.mock.server import running

from .keeper import Server, serving
from .widgets import choose

pytestmark = pytest.mark.browser

MODELS = ("mock-outgoing", "mock-resident", "mock-judge-strict")


@pytest.fixture(scope="module")
def app(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A workspace with mock models and nothing else, and the app serving it."""
    folder = tmp_path_factory.mktemp("stss")
    with running(seed=3) as url:
        workspace = Workspace.open(folder / "workspace")
        workspace.models_path.write_text(
            "\n".join(f'[models.{name}]\nbase_url = "{url}"\nseed = true\n' for name in MODELS)
        )
        with serving(workspace, folder / "log") as server:
            yield server


def follow(page: Page, name: str) -> None:
    page.get_by_test_id("stMain").get_by_role("link", name=name, exact=True).first.click()


def menu(page: Page, name: str) -> None:
    page.get_by_test_id("stSidebarNav").get_by_role("link", name=name, exact=True).click()


def start(page: Page) -> None:
    page.get_by_role("button", name="Start", exact=True).click()
    expect(page.get_by_role("heading", name=re.compile(r"Run \d+: finished"))).to_be_visible()


def test_from_a_task_to_the_tables(app: Server, page: Page) -> None:
    # The runs of STSS lead to its towns, where a task is chosen for a run.
    page.goto(f"{app.url}/runs?benchmark=stss")
    follow(page, "STSS")
    expect(page.get_by_text("30 tasks: 10 public activity")).to_be_visible()
    choose(page, "Tasks of the run", "board-games")
    page.keyboard.press("Escape")
    follow(page, "Start a run with 1 task")
    choose(page, "Players", "mock-outgoing")
    page.keyboard.press("Escape")
    choose(page, "Residents", "mock-resident")
    choose(page, "Architectures", "GA+TDP")
    page.keyboard.press("Escape")
    expect(page.get_by_text("1 result to generate")).to_be_visible()
    start(page)
    menu(page, "Town")
    expect(page.get_by_text("Who is where").first).to_be_visible()

    # Scenes are frozen, taken back, frozen again; models play them, a judge judges.
    menu(page, "STSS")
    page.get_by_role("radio", name="Scenes").click()
    page.get_by_role("button", name=re.compile(r"Freeze \d+ new scene")).click()
    expect(page.get_by_text(re.compile(r"^\d+ scenes? frozen"))).to_be_visible()
    page.get_by_role("button", name="Undo the last change").click()
    expect(page.get_by_text("The new scenes were removed.")).to_be_visible()
    page.get_by_role("button", name=re.compile(r"Freeze \d+ new scene")).click()
    expect(page.get_by_text(re.compile(r"^\d+ scenes? frozen"))).to_be_visible()
    follow(page, "Let models play the scenes")
    choose(page, "Players", "mock-outgoing")
    page.keyboard.press("Escape")
    choose(page, "Residents", "mock-resident")
    choose(page, "Judges", "mock-judge-strict")
    page.keyboard.press("Escape")
    start(page)
    page.goto(f"{app.url}/leaderboard?benchmark=stss")
    expect(page.get_by_text("STSS, language level: what was said")).to_be_visible()
