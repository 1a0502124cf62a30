"""Spot-checks and comparisons, gone through by keyboard in a real browser, and compared with what the store
holds afterwards.
"""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Locator, Page, expect

from concord.benchmarks.simulbench.tables import SUBSETS, scored, subsets
from concord.store import access, conversations
from concord.store.conversations import Filter, Order
from concord.studies import audits, comparisons, dealing, pairings
from concord.studies.purposes import spotcheck
from concord.workspace import Workspace
from tests import pairs as made
from tests.browser.study_pages_helpers import press as press_cell
from tests.browser.study_pages_helpers import table

from .keeper import Server, serving
from .made_simulbench import HOSTILE, JUDGES, PLAYERS, SCRIPTS, make
from .widgets import visit

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def app(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    folder = tmp_path_factory.mktemp("spots")
    with serving(make(folder / "workspace"), folder / "log") as server:
        yield server


@pytest.fixture(scope="module")
def several(tmp_path_factory: pytest.TempPathFactory, demo_once: Path) -> Iterator[Server]:
    """The demo, which has several benchmarks."""
    folder = tmp_path_factory.mktemp("several")
    with serving(Workspace(shutil.copytree(demo_once, folder / "demo")), folder / "log") as server:
        yield server


def begin(page: Page, app: Server, address: str) -> None:
    page.goto(f"{app.url}/{address}")
    page.locator(".desk .about, .desk .end h1").first.wait_for()


def press(page: Page, keys: str) -> None:
    for key in keys.split():
        page.keyboard.press(key)


def saved(page: Page) -> None:
    expect(page.locator(".saving")).to_have_attribute("data-state", "saved")


def titled(page: Page, what: str) -> None:
    expect(page.locator(".about h2")).to_have_text(what)


def found(app: Server, person: str) -> list[tuple[str, str]]:
    """(judge, finding) of everything a person found, in the order of the judgements' keys."""
    return app.rows(
        "SELECT x.name, v.finding FROM findings v JOIN raters p ON p.id = "
        "v.rater_id JOIN judgements j ON j.id = v.judgement_id "
        "JOIN raters x ON x.id = j.rater_id WHERE p.name = ? ORDER BY v.placement_id",
        person,
    )


def cells(page: Page, *words: str) -> Locator:
    """The cells of the first row with these words, as a table tells them to a screen reader: numbers
    unrounded.
    """
    row = page.get_by_test_id("stDataFrame").locator("tr")
    for word in words:
        row = row.filter(has_text=word)
    return row.first.locator("td")


def chosen(app: Server, order: Order = "disagreement", **wanted: bool) -> list[spotcheck.Screen]:
    """What a spot-check shows of the conversations that a list begins with, by its order and filter."""
    with app.workspace.read() as db:
        listed = conversations.search(db, Filter("simulbench", **wanted), order)
        return [spotcheck.screen(db, c.id) for c in listed]


def these(screens: list[spotcheck.Screen], person: str) -> str:
    numbers = "%20".join(str(screen.conversation_id) for screen in screens)
    return f"spot-check?work=triage&as={person}&these={numbers}"


# -- spot-checks


def test_an_audit_is_drawn_and_its_figures_are_the_commands(app: Server, page: Page) -> None:
    # The first of the tests here: what others find of the same judgements would count, too.
    visit(page, f"{app.url}/spot-check")
    page.get_by_role("button", name="Draw an audit").click()
    page.get_by_label("Name", exact=True).fill("ten")
    page.get_by_label("Judgements", exact=True).fill("10")
    page.get_by_label("Seed", exact=True).fill("3")
    page.get_by_role("button", name="Draw", exact=True).click()
    expect(page.get_by_text("10 of 45 judgements were drawn.")).to_be_visible()
    page.get_by_role("button", name="Start").click()
    expect(page.locator(".question")).to_have_count(1)  # what other judges said is not shown
    expect(page.locator(".tally")).to_have_text("0 of 10")
    for keys in ("r r r", "r r r", "h h l"):
        press(page, keys)
        saved(page)
    expect(page.locator(".tally")).to_have_text("9 of 10")
    saved(page)
    page.reload()
    expect(page.locator(".tally")).to_have_text("9 of 10")
    press(page, "r")
    expect(page.locator(".end h1")).to_contain_text("All checked")
    saved(page)
    page.locator(".end").get_by_role("button", name="Spot-check").click()
    # Wilson for 7 of 10: (0.7 + 0.1921 ± 1.96 √(0.021 + 0.009604)) / 1.3841 = 0.397 to 0.892.
    every = cells(page, "all", "10")
    expect(every.filter(has_text=re.compile("39.7.*89.2"))).to_have_count(1)
    with app.workspace.read() as db:
        row = audits.findings(db, "simulbench", "ten").rows[0]
    assert (row["n"], row["too_high"], row["too_low"]) == (10, 2, 1)


def test_a_spot_check_starts_from_a_list_in_its_order(app: Server, page: Page) -> None:
    page.goto(f"{app.url}/conversations?benchmark=simulbench&order=disagreement")
    listed = chosen(app)
    page.get_by_role("link", name=f"Spot-check these {len(listed)}").click()
    page.get_by_label("Your name", exact=True).fill("Ada")
    page.get_by_label("Your name", exact=True).press("Enter")
    page.get_by_role("button", name=f"Look at these {len(listed)}").click()
    titled(page, str(listed[0].conversation.context["Task"]))
    expect(page.locator(".tally")).to_have_text(f"0 of {len(listed)}")
    press(page, "r r")
    saved(page)
    assert found(app, "Ada") == [(judge, "reasonable") for judge in JUDGES]
    page.reload()
    expect(page.locator(".tally")).to_have_text(f"1 of {len(listed)}")
    page.get_by_role("button", name="‹ Spot-check").click()
    expect(page.get_by_text("not the rate of all judgements").first).to_be_visible()
    page.get_by_role("link", name="Choose conversations").click()
    expect(page).to_have_url(re.compile("conversations.*order=lowest"))


def test_a_benchmark_chosen_in_the_list_is_none_of_the_next_pages(several: Server, page: Page) -> None:
    """The next page has a choice of its own by the same name."""
    page.goto(f"{several.url}/conversations?benchmark=support")
    page.get_by_role("link", name="Spot-check these 24").click()
    expect(page.get_by_role("button", name="Look at these 24")).to_be_visible()
    page.goto(f"{several.url}/conversations?benchmark=simulbench")
    expect(page.get_by_role("link", name="Spot-check these 50")).to_be_visible()
    page.get_by_role("link", name="Spot-check", exact=True).click()
    expect(page.get_by_role("heading", name="Random audit")).to_be_visible()


def test_keys_pressed_as_fast_as_they_go_land_where_they_belong(app: Server, page: Page) -> None:
    listed = chosen(app)
    assert {len(screen.judgements) for screen in listed} == {1, 2}  # an unreadable verdict is not asked about
    begin(page, app, these(listed, "Bo"))
    findings = ["reasonable", "too_high", "too_low"]
    expected, place = [], 0
    for screen in listed:
        for judgement in screen.judgements:
            finding = findings[place % 3]
            place += 1
            expected.append((judgement.judge, finding))
            press(page, {"reasonable": "r", "too_high": "h", "too_low": "l"}[finding])
        if place % 8 == 0:
            saved(page)  # nobody reads faster than the next ones come
    expect(page.locator(".end h1")).to_contain_text("All checked")
    saved(page)
    assert found(app, "Bo") == expected
    # None of the keys reached Streamlit, whose R runs a page again and whose C asks to clear its caches.
    press(page, "c r")
    expect(page.get_by_role("dialog")).to_have_count(0)


def test_undo_brings_the_item_back_and_takes_the_finding_away(app: Server, page: Page) -> None:
    begin(page, app, these(chosen(app), "Dee"))
    title = page.locator(".about h2").text_content() or ""
    where = page.locator(".about p").first.text_content() or ""
    press(page, "h l")
    expect(page.locator(".question.answered")).to_have_count(0)  # the next one
    press(page, "u")
    titled(page, title)
    expect(page.locator(".about p").first).to_have_text(where)
    expect(page.locator(".question.answered")).to_have_count(1)
    saved(page)
    assert found(app, "Dee") == [(JUDGES[0], "too_high")]
    press(page, "u")
    expect(page.locator(".question.answered")).to_have_count(0)
    saved(page)
    assert found(app, "Dee") == []


def test_a_note_goes_with_the_finding(app: Server, page: Page) -> None:
    begin(page, app, these(chosen(app), "Eve"))
    press(page, "w")
    expect(page.locator(".question textarea").first).to_be_focused()
    page.keyboard.type("rich in RHL 123")  # letters and digits that are keys elsewhere
    page.keyboard.press("Enter")
    expect(page.locator(".question textarea").first).to_have_value("rich in RHL 123")
    assert found(app, "Eve") == []
    press(page, "h")
    saved(page)
    assert app.rows(
        "SELECT v.finding, v.comment FROM findings v JOIN raters p ON p.id = v.rater_id WHERE p.name = 'Eve'"
    ) == [("too_high", "rich in RHL 123")]


def test_what_a_model_wrote_is_shown_letter_for_letter(app: Server, page: Page) -> None:
    hostile = next(s for s in chosen(app) if s.conversation.messages[-1].content == HOSTILE)
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    begin(page, app, these([hostile], "Eve"))
    expect(page.locator(".message.rated.reply .text")).to_have_text(HOSTILE)
    assert page.title() != "broken"
    assert not [url for url in asked if "elsewhere" in url or url.endswith("/x")]


# -- comparisons


def test_the_tables_of_comparisons_are_the_commands(app: Server, page: Page) -> None:
    with app.workspace.read() as db:
        seen = comparisons.compared(db, "simulbench")
    duel = next(row for row in seen.duels.rows if row["rater"] == seen.raters[0] and row["n"])
    # Shown first wins in four of eight scripts, which makes a tie of them; amber wins the rest.
    assert (duel["won"], duel["tied"], duel["lost"]) == (4, 4, 0)
    visit(page, f"{app.url}/comparisons?rater={JUDGES[0]}")
    page.get_by_text("The figures in tables").click()
    expect(cells(page, "amber", "birch")).to_have_text(
        ["amber", "birch", "50", "50", "0", "50", re.compile(r"^\["), "8", "0"]
    )
    # In the four odd scripts the verdict follows the place, each time to the first.
    flips = page.get_by_test_id("stDataFrame").filter(has_text="to the first").locator("tr")
    expect(flips.filter(has_text=JUDGES[0]).locator("td")).to_have_text([JUDGES[0], "50", "4", "8", "4", "0"])


# -- the leaderboard


def test_the_leaderboard_shows_the_papers_columns_and_leads_to_scripts(app: Server, page: Page) -> None:
    with app.workspace.read() as db:
        best = subsets(scored(db)).rows[0]
    visit(page, f"{app.url}/leaderboard?benchmark=simulbench")
    shown = [best[name] for name in SUBSETS]
    row = cells(page, best["model"])
    expect(row.first).to_be_attached()
    # A wide table has each interval in the cell of its mean.
    numbers = [
        float(text.split(" [")[0]) for text in row.all_text_contents() if re.match(r"[\d.]+( \[|$)", text)
    ]
    for mean in shown:
        if mean.defined:
            assert any(abs(number - mean.value) < 0.0051 for number in numbers)
    press_cell(page, table(page, "SimulBench"), 16, 0)
    expect(page).to_have_url(re.compile(r"/conversations\?.*player="))


def test_who_compares_blind_stands_beside_the_judges(app: Server, page: Page) -> None:
    with app.workspace.write() as db:
        pairings.new(db, "own", None, "simulbench")
        access.invite(db, "Gus")
        dealing.deal_study(db, "own", ["Gus"])
    page.goto(f"{app.url}/rate?as=Gus&study=own")
    page.locator(".desk .about").wait_for()
    with app.workspace.read() as db:
        dealt = [pair.shown for pair in made.on_desk(db, "Gus", "own")]
    assert len(dealt) == 3 * SCRIPTS
    for player in PLAYERS:
        assert player not in page.locator(".desk").inner_html()
    press(page, "a b 0")
    press(page, "u b")
    expect(page.locator(".tally")).to_have_text(f"3 of {3 * SCRIPTS}")
    saved(page)
    given = app.rows(
        "SELECT first_id, second_id, verdict FROM comparisons c JOIN raters x ON x.id = c.rater_id "
        "WHERE x.name = 'Gus' ORDER BY c.id"
    )
    assert given == [(*pair, verdict) for pair, verdict in zip(dealt, "ABB", strict=False)]
    visit(page, f"{app.url}/comparisons?pairs=own")
    page.get_by_text("The figures in tables").click()
    expect(page.get_by_role("heading", name="Agreement of judges and annotators")).to_be_visible()
    expect(page.get_by_text("people (1)")).to_be_visible()
