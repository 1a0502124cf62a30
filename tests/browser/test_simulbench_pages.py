"""SimulBench from proposals to a spot-check, in a browser alone: no command, no dead end."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import Page, expect

from concord.store import audit
from concord.workspace import Workspace
from tests.mock.server import running
from tests.simulbench.conftest import models

from .keeper import Server, serving
from .widgets import choose, until

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def app(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A workspace with mock models and nothing else, and the app serving it."""
    folder = tmp_path_factory.mktemp("simulbench")
    with running(seed=3) as url:
        workspace = Workspace.open(folder / "workspace")
        workspace.models_path.write_text(models(url))
        with serving(workspace, folder / "log") as server:
            yield server


def start(page: Page) -> None:
    page.get_by_role("button", name="Start", exact=True).click()
    expect(page.get_by_role("heading", name=re.compile(r"Run \d+: finished"))).to_be_visible()


def follow(page: Page, name: str) -> None:
    page.get_by_test_id("stMain").get_by_role("link", name=name, exact=True).first.click()


def menu(page: Page, name: str) -> None:
    page.get_by_test_id("stSidebarNav").get_by_role("link", name=name, exact=True).click()


def test_from_proposals_to_a_spot_check(app: Server, page: Page) -> None:
    # The runs of SimulBench lead to its page.
    page.goto(f"{app.url}/runs")
    page.get_by_role("radio", name="SimulBench", exact=True).click()
    expect(
        page.get_by_text("There are no such scripts").or_(page.get_by_text("Choose targets"))
    ).to_be_visible()
    follow(page, "SimulBench")

    # A model proposes tasks; one is accepted, one rejected, and taken back.
    choose(page, "Model", "mock-user")
    choose(page, "Types", "stateful")
    page.keyboard.press("Escape")
    number = page.get_by_label("Proposals of each type")
    number.fill("2")
    number.press("Enter")
    expect(page.get_by_text("2 results to generate")).to_be_visible()
    page.get_by_role("button", name="Start", exact=True).click()
    expect(page.get_by_text("accept or reject 2 proposed tasks")).to_be_visible()
    expect(page.get_by_text("Proposal 1 of 2")).to_be_visible()
    page.get_by_role("button", name="Accept").click()
    expect(page.get_by_text("was accepted")).to_be_visible()
    page.get_by_role("button", name="Reject").click()
    expect(page.get_by_text("was rejected")).to_be_visible()
    page.get_by_role("button", name="Undo").click()
    expect(page.get_by_text("Proposal 1 of 1")).to_be_visible()
    page.keyboard.press("x")
    expect(page.get_by_text("was rejected")).to_be_visible()
    with app.workspace.read() as db:
        lines = [line.words for line in audit.lines(db)]
    assert lines == ["task rejected", "task proposed", "task rejected", "task accepted"]

    # Dialogues of two tasks, with a judge who looks for challenging turns.
    follow(page, "Make dialogues")
    choose(page, "Simulators", "mock-sim-hasty")
    choose(page, "User", "mock-user")
    choose(page, "Judges", "mock-judge-strict")
    choose(page, "Tasks", "rpn-calculator", "rail-fence-clerk")
    start(page)
    menu(page, "SimulBench")

    # Scripts are cut, set aside and used again.
    page.get_by_role("button", name="Extract scripts").click()
    page.get_by_role("button", name=re.compile(r"Extract \d+ new scripts")).click()
    expect(page.get_by_text(re.compile(r"^\d+ scripts extracted"))).to_be_visible()
    [(scripts,)] = app.rows("SELECT count(*) FROM scenarios WHERE kind = 'script'")
    assert scripts >= 6
    page.get_by_role("button", name="Undo: remove the extracted scripts").click()
    expect(page.get_by_text("The last change was undone.")).to_be_visible()
    assert app.rows("SELECT count(*) FROM scenarios WHERE kind = 'script'") == [(0,)]
    page.get_by_role("button", name=re.compile(r"Extract \d+ new scripts")).click()
    expect(page.get_by_text(re.compile(r"^\d+ scripts extracted"))).to_be_visible()

    # Models answer, judges score.
    follow(page, "Let models answer")
    choose(page, "Targets", "mock-sim-steady", "mock-sim-hasty")
    choose(page, "Judges", "mock-judge-strict", "mock-judge-lenient")
    page.keyboard.press("Escape")
    start(page)
    follow(page, "Leaderboard")
    expect(
        page.get_by_role("heading", name=re.compile("scores significantly higher|Inconclusive which"))
    ).to_be_visible()

    # Toxicity.
    menu(page, "SimulBench")
    until(
        lambda: page.get_by_role("radio", name="Toxicity").click(),
        page.get_by_role("button", name=re.compile(r"Score \d+ texts")),
    )
    page.get_by_role("button", name=re.compile(r"Score \d+ texts")).click()
    expect(page.get_by_text("Every text has its score.")).to_be_visible()

    # An audit is drawn, and a judgement checked; a second person checks the same.
    follow(page, "Spot-check")
    page.get_by_role("button", name="Draw an audit").click()
    page.get_by_label("Judgements", exact=True).fill("2")
    page.get_by_role("button", name="Draw", exact=True).click()
    check(page, "researcher", "r")
    expect(page.get_by_text("all reviewers together 2")).to_be_visible()
    check(page, "Bea", "r")
    expect(page.get_by_text("checked 2 judgements both: 100.0% equal")).to_be_attached()
    menu(page, "SimulBench")
    expect(page.get_by_text("Every step was done.")).to_be_visible()


def check(page: Page, person: str, key: str) -> None:
    """Look at both judgements of the audit."""
    page.get_by_label("Your name", exact=True).fill(person)
    page.get_by_label("Your name", exact=True).press("Enter")
    page.get_by_role("button", name="Start", exact=True).click()
    expect(page.locator(".tally")).to_have_text("0 of 2")
    page.keyboard.press(key)
    expect(page.locator(".tally")).to_have_text("1 of 2")
    page.keyboard.press(key)
    expect(page.locator(".end h1")).to_contain_text("All checked")
    expect(page.locator(".saving")).to_have_attribute("data-state", "saved")
    page.locator(".end").get_by_role("button", name="Spot-check").click()
