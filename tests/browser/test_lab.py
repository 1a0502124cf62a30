"""The judge lab by page: divide, keep a version, have it answer, compare, choose, open the sealed part."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import Page, expect

from concord.lab import parts
from concord.rubrics import rubric_store
from concord.store import lab, studies
from concord.workspace import Workspace
from tests.conftest import toml
from tests.mock import lab as mock
from tests.mock.server import running

from .keeper import Server, serving

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def app(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A rated study of a rubric, a mock judge whose price is known, and the app serving it."""
    folder = tmp_path_factory.mktemp("lab")
    with running(seed=3) as url:
        workspace = Workspace.open(folder / "workspace")
        priced = 'model = "mock-judge-strict"\nprice = { input = 1.0, output = 1.0 }'
        workspace.models_path.write_text(toml(url, judge=priced))
        mock.made(workspace, scenarios=12)
        first = rubric_store.find(workspace, mock.RUBRIC)
        with workspace.write() as db:
            every = [unit["key"] for unit in studies.units(db, mock.STUDY)]
            mock.answer(db, first, every, "judge")
        with serving(workspace, folder / "log") as server:
            yield server


def at_rest(page: Page) -> None:
    """The page is complete: nothing on it is of the script's run before."""
    expect(page.locator("[data-test-script-state=notRunning]")).to_be_attached()


def opens(page: Page, step: str) -> None:
    page.get_by_role("radio", name=step).click()
    expect(page.get_by_role("radio", name=step)).to_be_checked()
    at_rest(page)


def test_the_loop_by_page(app: Server, page: Page) -> None:
    page.goto(f"{app.url}/lab?study={mock.STUDY}")
    page.get_by_role("button", name="Divide the items").click()
    expect(page.get_by_text("24 items were divided")).to_be_visible()
    at_rest(page)

    instructions = page.get_by_label("Instructions to the judge")
    expect(instructions).to_have_value("Rate the reply.")
    instructions.fill(f"{mock.CURE}.")
    instructions.press("Control+Enter")
    at_rest(page)
    page.get_by_role("button", name="Save as a version").click()
    expect(page.get_by_text("shop v2 is saved")).to_be_visible()
    expect(page.get_by_text("shop v2 on the items of “develop”")).to_be_visible()
    at_rest(page)
    left = page.get_by_text("8 results to generate")
    expect(left).to_be_visible()
    page.get_by_role("button", name="Start", exact=True).click()
    expect(left).to_have_count(0)  # the page sees by itself that the run has ended
    expect(page.get_by_text("0 results to generate")).to_be_visible()
    expect(page.get_by_text("on 8 items of develop").first).to_be_visible()
    with app.workspace.write() as db:
        divided = parts.read(db, mock.STUDY)
        asked = {
            one.variant: one.conversations for one in lab.judge_uses(db, divided.conversations("develop"))
        }
        assert asked == {"shop v1": 8, "shop v2": 8}
        second = rubric_store.used(db, mock.RUBRIC, 2)
        mock.answer(db, second, divided.keys("select") + divided.keys("test"), "judge")

    opens(page, "Choose")
    expect(page.get_by_text("Best on select: judge by shop v2").first).to_be_visible()

    opens(page, "Sealed test")
    open_it = page.get_by_role("button", name="Open the test part")
    expect(open_it).to_be_disabled()
    page.get_by_label("Why the sealed part is opened now").fill("chosen on select")
    page.get_by_label("Why the sealed part is opened now").press("Enter")
    at_rest(page)
    page.get_by_text("I have chosen a judge.").click()
    open_it.click()
    expect(page.get_by_text("on 8 items of test").first).to_be_visible()

    opens(page, "Judge card")
    expect(page.get_by_text("not from the sealed part")).to_have_count(0)
    page.get_by_role("button", name="Check robustness").click()
    expect(page.get_by_text("Robustness", exact=True)).to_be_visible(timeout=60_000)
    with page.expect_download() as download:
        page.get_by_role("button", name="Download the card").click()
    saved = download.value.path().read_text(encoding="utf-8")
    assert "Judge card: judge by shop" in saved
    assert "asked again" in saved
    with app.workspace.read() as db:
        assert [one.detail for one in lab.openings(db, mock.STUDY)] == ["chosen on select"]
