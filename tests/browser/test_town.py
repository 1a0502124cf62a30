"""The town page in a real browser: a concert in the park that one comes to, one comes too early for, and one
sleeps through.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import Locator, Page, expect

from concord.workspace import Workspace
from tests.browser.study_pages_helpers import press, table
from tests.browser.town_helpers import fill_town
from tests.filled import HOSTILE

from .keeper import Server, serving
from .widgets import choose, visit

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def app(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """The town, served."""
    folder = tmp_path_factory.mktemp("town")
    workspace = Workspace.open(folder / "workspace")
    fill_town(workspace)
    with serving(workspace, folder / "log") as server:
        yield server


COUNTED = "concert (public activity): 0.500, conversation ratio 0.50"


def opened(app: Server, page: Page, **asked: str) -> None:
    """The simulation with TDP."""
    more = "".join(f"&{name}={value}" for name, value in asked.items())
    visit(page, f"{app.url}/town?conversation=3{more}")
    expect(page.get_by_role("heading", name="Conversations")).to_be_visible()


def cells(of: Locator) -> list[str]:
    """The words of a table, once it is drawn."""
    expect(of.locator("td").nth(1)).to_be_attached()
    return of.locator("td").all_text_contents()


def on_map(page: Page, words: str) -> None:
    """The words stand in the description of the map, which says who is where."""
    expect(page.get_by_label(re.compile(f"Map of the town: .*{words}")).first).to_be_visible()


def test_a_workspace_without_simulations_says_what_to_run(server: Server, page: Page) -> None:
    visit(page, f"{server.url}/town")
    expect(page.get_by_text("No simulations yet")).to_be_visible()
    page.get_by_role("link", name="Start a run").click()
    expect(page).to_have_url(re.compile("/runs"))


def test_a_simulation_is_chosen_and_its_numbers_are_explained(app: Server, page: Page) -> None:
    visit(page, f"{app.url}/town")
    expect(page.get_by_text("Others who took part, averaged over the events")).to_be_visible()
    expect(page.get_by_text("mock").first).to_be_visible()
    # the same task, agent and model were simulated twice
    choose(page, "Simulation", "concert · GA · outgoing (2)")
    expect(page).to_have_url(re.compile("conversation=2"))
    choose(page, "Simulation", "concert · GA+TDP · outgoing (3)")
    expect(page.get_by_text("0.50").first).to_be_visible()
    expect(page.get_by_text("1 told of it before the day of the event ÷ 2 wanted.")).to_be_visible()
    expect(page).to_have_url(re.compile("conversation=3"))


def test_who_counted_and_who_missed_it_and_why(app: Server, page: Page) -> None:
    opened(app, page)
    shown = cells(table(page, COUNTED))
    assert "Nils Lindqvist" in shown
    assert "at the concert" in shown
    # she had been told and slept at home; Otto Brandt had not been told
    assert "did not do it there and then" in shown
    assert "Otto Brandt" not in shown


def test_what_the_performer_planned_is_shown_where_it_did(app: Server, page: Page) -> None:
    """On the town page of a performer that plans; letter for letter."""
    planned = page.get_by_text("What the performer planned (TDP)")
    visit(page, f"{app.url}/town?conversation=3")
    planned.click()
    expect(page.get_by_text(re.compile("Ask everybody"))).to_contain_text(HOSTILE)
    expect(page.get_by_text("Be in the park by five.")).to_be_visible()
    expect(page.get_by_text("Talk reminder")).to_be_visible()
    visit(page, f"{app.url}/town?conversation=1")
    expect(page.get_by_role("heading", name="Conversations")).to_be_visible()
    expect(planned).to_have_count(0)


def clock(page: Page) -> Locator:
    return page.get_by_role("slider", name="Town time")


def shows(page: Page, time: str) -> None:
    expect(page.get_by_test_id("stSliderThumbValue")).to_have_text(time)


def test_people_move_on_the_map_as_the_time_is_changed(app: Server, page: Page) -> None:
    opened(app, page)
    # it opens where somebody counted first
    shows(page, "Tue 14 Feb, 18:00")
    on_map(page, "Nils Lindqvist: Fern Park")
    clock(page).focus()
    page.keyboard.press("ArrowLeft")
    shows(page, "Tue 14 Feb, 17:30")
    on_map(page, "Nils Lindqvist: Saltbread Café")
    expect(page).to_have_url(re.compile(r"at=2023-02-14T17%3A30"))
    shared = page.url
    page.goto("about:blank")
    page.goto(shared)  # in a new session
    shows(page, "Tue 14 Feb, 17:30")


def test_the_map_fits_a_phone(app: Server, page: Page) -> None:
    page.set_viewport_size({"width": 390, "height": 844})
    opened(app, page)
    on_map(page, "Mireille Dupont: Fern Park")
    assert page.evaluate("document.documentElement.scrollWidth") <= 390


def test_a_row_of_the_evidence_leads_to_its_moment(app: Server, page: Page) -> None:
    opened(app, page)
    press(page, table(page, COUNTED), 16, 1)
    shows(page, "Tue 14 Feb, 17:30")
    on_map(page, "Yuki Nakamura: Kiln Cottage")


def test_a_conversation_is_read_at_its_moment_letter_for_letter(app: Server, page: Page) -> None:
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    opened(app, page)
    expect(page.get_by_text(f"Hold a concert. {HOSTILE}", exact=True)).to_be_visible()
    talks = table(page, "Conversations")
    talks.scroll_into_view_if_needed()
    press(page, talks, 16, 0)
    shows(page, "Mon 13 Feb, 10:00")
    page.get_by_text("What Mireille Dupont and Yuki Nakamura say").click()
    said = page.get_by_text(f"Come to my concert! {HOSTILE}", exact=True).first
    expect(said).to_be_visible()
    expect(page.get_by_text(f"Something about {HOSTILE}", exact=True)).to_be_visible()
    page.get_by_role("link", name="All that Mireille Dupont said").click()
    expect(page).to_have_url(re.compile(r"/conversations\?conversation=3"))
    expect(said).to_be_visible()
    page.get_by_role("link", name="See the score and its reasons").click()
    expect(page).to_have_url(re.compile(r"/town\?conversation=3"))
    assert not [url for url in asked if "example.org" in url]
    assert "broken" not in page.title()


def test_another_agents_simulation_of_the_task_is_shown_at_the_same_moment(app: Server, page: Page) -> None:
    opened(app, page, at="2023-02-14T19:00")
    on_map(page, "Nils Lindqvist: Fern Park")
    choose(page, "Simulation", "concert · GA · outgoing (1)")
    on_map(page, "Nils Lindqvist: Saltbread Café")
    shows(page, "Tue 14 Feb, 19:00")


def test_a_town_whose_file_is_missing_is_named(app: Server, page: Page) -> None:
    visit(page, f"{app.url}/town?conversation=4")
    expect(page.get_by_text(re.compile("There is no town “gone”"))).to_be_visible()


def test_an_address_that_leads_nowhere_says_so(app: Server, page: Page) -> None:
    opened(app, page, at="1999-01-01T00:00")
    expect(page.get_by_text(re.compile("There is no at “1999-01-01T00:00”"))).to_be_visible()
    visit(page, f"{app.url}/town?conversation=nothing")
    expect(page.get_by_text(re.compile("There is no conversation “nothing”"))).to_be_visible()


def test_the_leaderboard_sets_agents_side_by_side_and_leads_to_simulations(app: Server, page: Page) -> None:
    visit(page, f"{app.url}/leaderboard?benchmark=stss")
    agents = table(page, "STSS, action level: what was brought about")
    shown = cells(agents)
    # one of two came to the concert of GA+TDP, nobody to those of GA, which are of two tasks
    assert shown.index("GA+TDP") < shown.index("GA")
    assert "0.500" in shown
    expect(page.get_by_text("Why figures are undefined or lack an interval").first).to_be_visible()
    page.get_by_text("How this was measured").first.click()
    expect(page.get_by_text(re.compile("Some results come from rule-based mock models"))).to_be_visible()
    press(page, agents, 16, 0)
    expect(page).to_have_url(re.compile(r"/conversations\?.*architecture=GA%2BTDP"))
