"""Overview, conversations and leaderboard in a real browser."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote, urlsplit

import pytest
from playwright.sync_api import Page, expect

from concord.conversation import Conversation, Message, Unit
from concord.rating import Judgement, Rater, Rating
from concord.store import conversations, ratings, runs, studies
from concord.store.studies import Study
from concord.workspace import Workspace
from tests.browser.study_pages_helpers import press, table
from tests.conftest import FIXED, toml
from tests.filled import HOSTILE, fill

from .keeper import Server, serving
from .widgets import move, visit

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def app(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A workspace full of conversations of four players, and models that no test calls."""
    folder = tmp_path_factory.mktemp("study")
    workspace = Workspace.open(folder / "workspace")
    workspace.models_path.write_text(toml("http://localhost:9/v1", player=FIXED, user=FIXED, judge=FIXED))
    with workspace.write() as db:
        fill(db, languages=("en", "ru"))
    with serving(workspace, folder / "log") as server:
        yield server


# Overview


def test_the_overview_says_what_is_here_and_leads_on(app: Server, page: Page) -> None:
    visit(page, app.url)
    expect(page.get_by_text("Some results come from rule-based mock models")).to_be_visible()
    expect(page.get_by_text(re.compile(r"Answers still to come: .*, by Cleo"))).to_be_visible()
    expect(page.get_by_text("the panel of 3 judges is inconclusive")).to_be_visible()
    expect(page.get_by_test_id("stVegaLiteChart")).to_have_count(1)
    page.get_by_role("link", name="Browse them all").click()
    expect(page).to_have_url(re.compile("/conversations"))
    expect(page.get_by_text("128 conversations")).to_be_visible()


# Conversations


def test_a_filter_stands_in_the_address_and_the_address_in_the_filters(app: Server, page: Page) -> None:
    visit(page, f"{app.url}/conversations?benchmark=pingpong&player=birch&character=robot&language=en")
    expect(page.get_by_text("4 conversations")).to_be_visible()
    expect(page.get_by_label("Character", exact=True).first).to_be_visible()
    page.get_by_label("Said in the dialogue").fill("the riddle goes on")
    page.get_by_label("Said in the dialogue").press("Enter")
    expect(page.get_by_text("No conversation matches these filters")).to_be_visible()
    page.get_by_label("Said in the dialogue").fill("of the riddle")
    page.get_by_label("Said in the dialogue").press("Enter")
    expect(page.get_by_text("1 conversation", exact=True)).to_be_visible()
    expect(page).to_have_url(re.compile(r"text=of"))
    shared = page.url
    page.goto("about:blank")
    page.goto(shared)
    expect(page.get_by_text("1 conversation", exact=True)).to_be_visible()


def test_a_conversation_is_opened_walked_on_from_and_left_to_the_same_list(app: Server, page: Page) -> None:
    visit(page, f"{app.url}/conversations?player=cedar&order=lowest")
    expect(page.get_by_text("32 conversations")).to_be_visible()
    [(lowest,)] = app.rows(
        "SELECT c.id FROM conversations c JOIN summaries s ON s.conversation_id = c.id WHERE "
        "c.player = 'cedar' "
        "ORDER BY s.final LIMIT 1"
    )
    press(page, table(page, "Conversations found"), 16, 0)
    expect(page).to_have_url(re.compile(rf"conversation={lowest}\b"))
    expect(page.get_by_role("heading", name=re.compile("cedar: "))).to_be_visible()
    expect(page.get_by_role("button", name="Previous")).to_be_disabled()
    page.keyboard.press("ArrowRight")
    expect(page).not_to_have_url(re.compile(rf"conversation={lowest}\b"))
    expect(page.get_by_role("button", name="Previous")).to_be_enabled()
    page.keyboard.press("ArrowLeft")
    expect(page).to_have_url(re.compile(rf"conversation={lowest}\b"))
    page.get_by_role("button", name=re.compile("^Next")).click()
    expect(page).not_to_have_url(re.compile(rf"conversation={lowest}\b"))
    page.get_by_role("button", name="All conversations").click()
    expect(page.get_by_text("32 conversations")).to_be_visible()


def test_what_a_model_wrote_is_shown_letter_for_letter(app: Server, page: Page) -> None:
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    [(which,), *_] = app.rows("SELECT id FROM conversations WHERE key LIKE '%/robot/%/birch/%'")
    visit(page, f"{app.url}/conversations?conversation={which}")
    expect(page.get_by_text(HOSTILE)).to_be_visible()
    assert page.title() != "broken"
    assert not [url for url in asked if urlsplit(url).hostname == "example.org"]


def test_judges_explain_themselves_beside_the_turn(app: Server, page: Page) -> None:
    [(which,), *_] = app.rows(
        "SELECT conversation_id FROM scores s JOIN raters r ON r.id = s.rater_id WHERE r.kind = "
        "'human' LIMIT 1"
    )
    visit(page, f"{app.url}/conversations?conversation={which}")
    first = page.get_by_text("Why", exact=True).first
    reason = page.get_by_text("'fluency': I think").first
    expect(reason).to_be_visible()  # reasons as short as these are in sight
    first.click()
    expect(reason).to_be_hidden()
    expect(page.get_by_text("Ratings of each annotator")).to_be_visible()
    page.get_by_text("Provenance").click()
    expect(page.get_by_text("Key: pingpong/v2/")).to_be_visible()


def test_names_are_shown_letter_for_letter_too(tmp_path: Path, page: Page) -> None:
    name = "**n** ![x](https://example.org/x.png) :red[r] $x$ <b>b</b>"
    # An invisible word joiner keeps the address from becoming a link.
    letters = re.compile(re.escape(name).replace("https:", "https:\u2060?"))
    workspace = Workspace.open(tmp_path / "workspace")
    with workspace.write() as db:
        fill(db)
        for language in ("en", name):
            said = (Message("user", name), Message("assistant", name))
            facets = {"character": name, "situation": name, "interrogator": name}
            conversation = Conversation(
                "pingpong",
                f"hostile/{language}",
                name,
                said,
                language,
                facets,
                {name: name, f"_{name}": name},
            )
            conversations.save(db, conversation)
            rated = tuple(
                Rating(Unit(conversation.key, 1), c, 1.0, name)
                for c in ("fluency", "in_character", "entertaining")
            )
            ratings.save_judgement(
                db, Judgement(f"{conversation.key}|a", conversation.key, Rater(name, "judge"), rated)
            )
            ratings.save_judgement(
                db,
                Judgement(
                    f"{conversation.key}|b",
                    conversation.key,
                    Rater(name, "judge"),
                    failure=name,
                    raw=name,
                    repeat=1,
                ),
            )
        number = conversations.find_id(db, f"hostile/{name}")
        studies.create(db, Study("hostile", (), name))
        studies.add_units(db, "hostile", [(number or 0, None, name)])
        plan = {"benchmark": name, "models": {name: [name]}, "options": {}}
        runs.end(db, runs.start(db, name, plan, 1), "broken", name)
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    main = page.get_by_test_id("stMain")
    with serving(workspace, tmp_path / "log") as server:
        server.sign_in(page.context)
        page.goto(server.url)
        for address, seen in (
            ("", "Assign it to annotators"),
            ("runs", "Runs"),
            (f"conversations?player={quote(name)}", "2 conversations"),
            (f"conversations?conversation={number}", "Dialogue"),
            (f"leaderboard?language={quote(name)}", "Select a row"),
        ):
            move(page, f"{server.url}/{address}")
            expect(main.get_by_text(seen).first).to_be_visible()
            if address == "runs":
                page.get_by_role("tab", name="Earlier runs").click()
                expect(main.get_by_text("broken").first).to_be_visible()
            for folded in main.get_by_test_id("stExpander").locator("summary").all():
                unfolded = folded.locator("xpath=..").get_attribute("open") is not None
                if folded.is_visible() and not unfolded:  # those of another tab are not visible
                    folded.click()
            expect(main.get_by_text(letters).first).to_be_visible()
            made = main.locator("img, .katex, b").evaluate_all(
                "found => found.map(e => e.outerHTML.slice(0, 300))"
            )
            assert not made, (address, made)
            expect(main.locator("strong").filter(has_text=re.compile("^n$"))).to_have_count(0)
    assert not [url for url in asked if urlsplit(url).hostname == "example.org"]


# Leaderboard


def test_a_row_opens_into_scores_by_facet_and_these_into_conversations(app: Server, page: Page) -> None:
    visit(page, f"{app.url}/leaderboard")
    page.get_by_text("How this was measured").first.click()
    expect(page.get_by_text("Some results come from rule-based mock models").first).to_be_visible()
    press(page, table(page, re.compile("^PingPong")), 16, 0)
    expect(page.get_by_role("heading", name="alder: character × situation")).to_be_visible()
    press(page, table(page, "alder: character × situation"), 16, 0)
    expect(page).to_have_url(re.compile(r"/conversations\?.*player=alder.*character=goblin"))


def test_the_pages_fit_a_phone(app: Server, page: Page) -> None:
    page.set_viewport_size({"width": 390, "height": 800})
    visit(page, app.url)
    for address in ("", "runs", "conversations", "conversations?conversation=1", "leaderboard"):
        move(page, f"{app.url}/{address}")
        expect(page.get_by_role("heading").first).to_be_visible()
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), address
