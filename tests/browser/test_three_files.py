"""Files that others wrote, each with a rubric of one's own, from the file to a figure, by page."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner
from playwright.sync_api import Page, expect

from concord.cli import main
from concord.workspace import Workspace
from tests.commands.three_files_helpers import BETTER, ITEMS, RUBRIC, arena, fed
from tests.mock.server import running

from .keeper import Server, holds, serving
from .widgets import bring, choose, drawn, move, write_rubric

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def app(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """An empty workspace with a mock judge, and the app serving it."""
    folder = tmp_path_factory.mktemp("files")
    with running(latency=0.02, seed=5) as url:
        workspace = Workspace.open(folder / "workspace")
        workspace.models_path.write_text(f'[models.mock-judge-strict]\nbase_url = "{url}"\nseed = true\n')
        with serving(workspace, folder / "log") as server:
            yield server


def judged(page: Page) -> None:
    """A judge is chosen and started."""
    choose(page, "Judges", "mock-judge-strict")
    page.keyboard.press("Escape")
    page.get_by_role("button", name="Start").click()


def figures(app: Server, *command: str) -> dict:
    said = CliRunner().invoke(main, ["--workspace", str(app.workspace.path), *command, "--format", "json"])
    assert said.exit_code == 0, said.output
    return json.loads(said.stdout)


def test_from_dialogues_to_agreement(app: Server, page: Page, tmp_path: Path) -> None:
    write_rubric(app, page, "mine", RUBRIC)
    bring(app, page, fed(tmp_path)[0], "of the form “FED dialogues”, 12 rows")
    page.get_by_role("button", name="Import", exact=True).click()
    expect(page.get_by_text(f"{ITEMS} new conversations")).to_be_visible()

    move(page, f"{app.url}/samples")
    drawn(page, "Questions")
    name = page.get_by_label("Name of the study")
    name.fill("pilot")
    name.press("Enter")
    page.get_by_role("button", name="Create study").click()
    expect(page.get_by_text("created: 12 items")).to_be_visible()
    move(page, f"{app.url}/annotators")
    page.get_by_label("Names, one a line").fill("Ada\nBen")
    page.get_by_role("button", name="Create links").click()
    expect(page.get_by_test_id("stCode").filter(has_text="token=")).to_have_count(
        3
    )  # one each, and all of them
    tokens = list(dict.fromkeys(re.findall(r"token=([\w-]+)", page.inner_text("body"))))
    move(page, f"{app.url}/samples?study=pilot")
    page.get_by_role("button", name="Assign", exact=True).click()
    expect(page.get_by_text(f"Assigned. Ada: {ITEMS} items, Ben: {ITEMS} items.")).to_be_visible()

    for person, token in enumerate(tokens):
        desk = page.context.new_page()
        desk.goto(app.link(token))
        expect(desk.get_by_role("button", name="Item 12, open")).to_be_visible()
        for item in range(ITEMS):
            expect(desk.locator(".chip[aria-current]")).to_have_text(str(item + 1))
            desk.keyboard.press(str(1 + item * (1 + person) % 5))
            desk.keyboard.press("Enter")
        expect(desk.get_by_text(f"{ITEMS} of {ITEMS}").first).to_be_visible()
        expect(desk.locator(".saving")).to_have_attribute("data-state", "saved")
        desk.close()

    move(page, f"{app.url}/runs")
    page.get_by_role("tab", name="Let judges rate").click()
    drawn(page, "Judgements per judge and conversation")
    judged(page)
    expect(page.get_by_role("heading", name=re.compile("finished"))).to_be_visible()
    move(page, f"{app.url}/agreement?study=pilot&tab=judges")
    page.get_by_text("The figures in tables").click()
    part = figures(app, "agreement", "--study", "pilot")["sections"]["pleasant"]
    (judge,) = part["judges"]["judges"]["rows"]
    assert judge["n"] == ITEMS
    table = page.get_by_role("region", name="Order and level of judges and panels")
    holds(table.locator("tr").filter(has_text=judge["rater"]).first, judge["spearman"]["value"])


def test_from_votes_to_agreement_with_judges(app: Server, page: Page, tmp_path: Path) -> None:
    write_rubric(app, page, "better", BETTER)
    bring(app, page, arena(tmp_path), "of the form “Chatbot Arena”, 12 rows")
    choose(page, "Import the votes as answers to the rubric", "better")
    page.get_by_role("button", name="Import", exact=True).click()
    expect(page.get_by_text("24 new conversations, 12 comparisons.")).to_be_visible()

    move(page, f"{app.url}/comparisons")
    drawn(page, "Create a study of pairs")
    page.get_by_text("Create a study of pairs").click()
    whose = page.get_by_label("Conversations", exact=True).and_(page.locator("input")).first
    expect(whose).to_have_value("arena")
    pairs = page.get_by_role("spinbutton", name="Pairs, or groups, at most", exact=True)
    pairs.fill("0")
    pairs.press("Enter")
    name = page.get_by_label("Name of the study")
    name.fill("battles")
    name.press("Enter")
    page.get_by_role("button", name="Create study of pairs").click()
    drawn(page, "12 pairs of arena")
    move(page, f"{app.url}/comparisons?pairs=battles")  # a press beside a run may take the choice back
    drawn(page, "12 pairs of arena")
    page.get_by_text("Let judges compare", exact=True).click()
    judged(page)
    # The form is folded once there are results.
    expect(page.get_by_text("All results of this plan are stored.").first).to_be_attached()
    expect(page.locator("[data-test-script-state=notRunning]")).to_be_attached()
    page.get_by_text("The figures in tables").click()
    agreement = page.get_by_test_id("stDataFrame").locator("tr").filter(has_text="mock-judge-strict")
    rows = figures(app, "compare", "battles")["tables"]["agreement"]["rows"]
    match = next(m for m in rows if (m["a"], m["b"]) == ("mock-judge-strict", "people"))
    assert match["equal"]["n"] == ITEMS
    row = agreement.filter(has_text=re.compile("strictpeople")).first.inner_text()
    shown = re.search(r"people\s*([\d.]+)", row)
    assert shown is not None
    assert float(shown[1]) == pytest.approx(100 * match["equal"]["value"], abs=0.05)

    move(page, app.url)
    drawn(page, "12 pairs of arena · compared by 4 people and 1 judge")
