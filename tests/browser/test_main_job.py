"""The main job, from a run to a figure of agreement, as a researcher and two annotators do it: by clicking
and by keys.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator

import pytest
from click.testing import CliRunner
from playwright.sync_api import Page, expect

from concord.workspace import Workspace
from tests.mock.server import running

from .keeper import Server, holds, serving
from .widgets import choose, move

pytestmark = pytest.mark.browser

MODELS = ("mock-vivid", "mock-bland", "mock-user", "mock-judge-strict", "mock-judge-noisy")
ITEMS = 12


@pytest.fixture(scope="module")
def app(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """An empty workspace with five mock models, and the app serving it."""
    folder = tmp_path_factory.mktemp("main")
    with running(latency=0.02, seed=5) as url:
        workspace = Workspace.open(folder / "workspace")
        workspace.models_path.write_text(
            "\n".join(
                f'[models.{name}]\nbase_url = "{url}"\nmax_concurrency = 8\nseed = true\n' for name in MODELS
            )
        )
        with serving(workspace, folder / "log") as server:
            yield server


def test_from_a_run_to_a_figure_of_agreement(app: Server, page: Page) -> None:
    # The overview of an empty workspace says what to do; a run is planned, estimated, started, and watched to
    # its end.
    page.goto(app.url)
    expect(page.get_by_text("What to do next")).to_be_visible()
    move(page, f"{app.url}/runs")
    choose(page, "Players", "mock-vivid", "mock-bland")
    choose(page, "Interrogator", "mock-user")
    choose(page, "Judges", "mock-judge-strict", "mock-judge-noisy")
    choose(page, "Characters", "tully")
    page.keyboard.press("Escape")  # a list of several stays open
    # 2 players × 1 character × 8 situations = 16 conversations, and 2 judgements of each: 48 results
    expect(page.get_by_text("48 results to generate")).to_be_visible()
    page.get_by_role("button", name="Start").click()
    expect(page.get_by_text(re.compile(r"Run 1"))).to_be_visible()
    expect(page.get_by_role("heading", name="Run 1: finished")).to_be_visible()
    assert app.rows("SELECT count(*) FROM conversations") == [(16,)]
    assert app.rows("SELECT count(*) FROM judgements WHERE failure IS NULL") == [(32,)]

    # A conversation, with each judge's scores beside the turn.
    move(page, f"{app.url}/conversations?conversation=1")
    expect(page.get_by_role("heading", name=re.compile("mock-"))).to_be_visible()
    expect(page.get_by_text("mock", exact=False).first).to_be_visible()
    expect(page.get_by_text("User · turn 4")).to_be_visible()

    # A sample is drawn and kept, two annotators are invited, and it is dealt to them.
    move(page, f"{app.url}/samples")
    number = page.get_by_role("spinbutton", name="Conversations")
    number.fill(str(ITEMS))
    number.press("Enter")
    name = page.get_by_label("Name of the study")
    name.fill("trust")
    name.press("Enter")
    page.get_by_role("button", name="Create study").click()
    expect(page.get_by_text(f"{ITEMS} items", exact=False).first).to_be_visible()
    move(page, f"{app.url}/annotators")
    page.get_by_label("Names, one a line").fill("Ada\nBen")
    page.get_by_role("button", name="Create links").click()
    links = page.get_by_test_id("stCode").filter(has_text="token=")
    expect(links).to_have_count(3)  # one each, and all of them
    found = re.findall(r"token=([\w-]+)", page.inner_text("body"))
    tokens = list(dict.fromkeys(found))
    assert len(tokens) == 2
    move(page, f"{app.url}/samples?study=trust")
    page.get_by_role("button", name="Assign", exact=True).click()
    expect(page.get_by_text(f"Assigned. Ada: {ITEMS} items, Ben: {ITEMS} items.")).to_be_visible()

    # Both rate everything by keyboard alone, at desks of one browser.
    for person, token in enumerate(tokens):
        desk = page.context.new_page()
        desk.goto(app.link(token))
        expect(desk.get_by_role("button", name="Item 12, open")).to_be_visible()
        expect(desk.locator("body")).not_to_contain_text("mock-")
        for item in range(ITEMS):
            for criterion in range(3):
                desk.keyboard.press(str(1 + (item * (2 + person) + criterion) % 5))
            desk.keyboard.press("Enter")
        expect(desk.get_by_text(f"{ITEMS} of {ITEMS}").first).to_be_visible()
        expect(desk.get_by_role("status").first).to_contain_text(re.compile("saved", re.I))
        desk.close()
    assert app.rows("SELECT count(*) FROM ratings WHERE study_id IS NOT NULL") == [(2 * ITEMS * 3,)]
    assert app.rows("SELECT state, count(*) FROM placements GROUP BY state") == [("done", 2 * ITEMS)]

    # The figure on the page is the figure of the command.
    from concord.cli import main

    said = CliRunner().invoke(
        main, ["--workspace", str(app.workspace.path), "agreement", "--study", "trust", "--format", "json"]
    )
    figures = json.loads(said.stdout)
    final = figures["sections"]["final"]
    strict = next(j for j in final["judges"]["judges"]["rows"] if j["rater"] == "mock-judge-strict")
    move(page, f"{app.url}/agreement?study=trust&tab=judges")
    page.get_by_text("The figures in tables").click()
    judges = page.get_by_role("region", name=re.compile("^Judges and panels: Spearman")).first
    holds(judges.locator("tr").filter(has_text="Overall score").first, strict["spearman"]["value"])
    alpha = final["people"]["people"]["rows"][0]["value"]["value"]
    people = page.get_by_role("region", name=re.compile("^Annotators of")).first
    holds(people.locator("tr").filter(has_text="Overall score").first, alpha)

    # And the leaderboard has both players.
    move(page, f"{app.url}/leaderboard")
    expect(page.get_by_role("button", name="Conversations, judges, weights")).to_be_visible()
    expect(page.get_by_test_id("stDataFrame").first).to_be_visible()
