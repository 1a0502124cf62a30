"""From an empty workspace to a report that is handed on, by browser alone: a model, forty chats, a rubric
with a dependent question, judges, a sample, three annotators, gold items, figures, the worst conversation,
a better judge.
"""

from __future__ import annotations

import json
import random
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from concord.demo.rules import quality
from concord.workspace import Workspace
from tests.mock.server import running

from .keeper import Server, serving
from .widgets import bring, choose, drawn, move, write_rubric

pytestmark = pytest.mark.browser

JUDGE, CHATS, DRAWN = "mock-judge-strict", 40, 24
PART = DRAWN // 3
"""Items of each part of the lab."""
RUBRIC = """
title = "Support chats"
[judge]
instructions = "Rate the reply."
[[criteria]]
name = "helpful"
statement = "The reply helps the customer."
scale = "1..5"
[[criteria]]
name = "verdict"
statement = "Was the customer served?"
categories = ["pass", "fail"]
[[criteria]]
name = "failure"
statement = "What went wrong?"
categories = ["late", "rude"]
when = { verdict = "fail" }
"""
WORDS = ("thanks", "sorry", "please", "never", "useless", "wrong", "glad", "policy")


@pytest.fixture(scope="module")
def app(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Server, str]]:
    """An empty workspace that the app serves, and the address of an endpoint."""
    folder = tmp_path_factory.mktemp("alone")
    with (
        running(latency=0.02, seed=5) as url,
        serving(Workspace.open(folder / "shop"), folder / "log") as one,
    ):
        yield one, url


def reply(chat: int) -> str:
    chance = random.Random(chat)
    return f"Chat {chat}: " + " ".join(chance.choice(WORDS) for _ in range(4)) + "."


def chats(folder: Path) -> Path:
    """Forty chats with a system prompt and a topic."""
    file = folder / "chats.jsonl"
    said = [
        {
            "messages": [
                {"role": "system", "content": "You answer for a shop."},
                {"role": "user", "content": f"Where is order {chat}?"},
                {"role": "assistant", "content": reply(chat)},
            ],
            "model": f"assistant-{chat % 2}",
            "topic": ("parcel", "refund")[chat // 2 % 2],
        }
        for chat in range(CHATS)
    ]
    file.write_text("\n".join(map(json.dumps, said)))
    return file


def rate(desk: Page, person: int) -> None:
    """Rate all there is; whoever comes third presses the same key always."""
    for place in range(DRAWN):
        expect(desk.locator(".chip[aria-current]")).to_have_text(str(place + 1))
        text = desk.locator(".message.reply").first.text_content() or ""
        chance = random.Random(f"{person} {text}")
        good = min(1.0, max(0.0, quality(text) + chance.gauss(0, 0.1)))
        desk.keyboard.press("3" if person == 2 else str(1 + round(4 * good)))
        failed = person < 2 and good < 0.5
        desk.keyboard.press("2" if failed else "1")
        if failed:
            desk.keyboard.press("1")
        desk.keyboard.press("Enter")
    expect(desk.locator(".saving")).to_have_attribute("data-state", "saved")


def select_first(page: Page) -> None:
    """Select the first row of the first table."""
    page.get_by_test_id("stDataFrame").first.click(position={"x": 15, "y": 50})


def answered(page: Page, items: int) -> None:
    """A judge answers so many items by the version that is chosen."""
    left = page.get_by_text(f"{items} results to generate")
    expect(left).to_be_visible()
    page.get_by_role("button", name="Start", exact=True).click()
    expect(left).to_have_count(0)
    expect(page.get_by_text(f"({items} planned; {items} stored already)")).to_be_attached()


def test_by_browser_alone(app: tuple[Server, str], page: Page, tmp_path: Path) -> None:
    server, endpoint = app
    page.goto(server.url)
    expect(page.get_by_text("What to do next")).to_be_visible()

    move(page, f"{server.url}/models")
    choose(page, "Where it is served", "vllm")
    page.get_by_label("Name here").fill(JUDGE)
    page.get_by_role("textbox", name="Id at the endpoint").fill(JUDGE)
    address = page.get_by_role("textbox", name="Address", exact=True)
    address.fill(endpoint)
    address.press("Enter")
    page.get_by_role("button", name="Add this model").click()
    drawn(page, f"{JUDGE} is added")

    bring(server, page, chats(tmp_path), "40 rows")
    page.get_by_role("button", name="Import", exact=True).click()
    drawn(page, f"{CHATS} new conversations")
    page.get_by_role("button", name="Create a rubric: the questions about them").click()

    write_rubric(server, page, "support", RUBRIC)
    page.get_by_role("link", name="Let judges rate by it").click()
    drawn(page, "Judgements per judge and conversation")
    choose(page, "Judges", JUDGE)
    page.keyboard.press("Escape")
    page.get_by_role("button", name="Start").click()
    expect(page.get_by_role("heading", name=re.compile("finished"))).to_be_visible()

    move(page, f"{server.url}/conversations?group=topic")
    drawn(page, "Select a row to list its conversations.")
    select_first(page)
    drawn(page, f"{CHATS // 2} conversations")
    expect(page).to_have_url(re.compile(r"topic=parcel$"))

    move(page, f"{server.url}/samples?draw=new&rubric=support")
    drawn(page, "Questions")
    many = page.get_by_role("spinbutton", name="Conversations")
    many.fill(str(DRAWN))
    many.press("Enter")
    name = page.get_by_label("Name of the study")
    name.fill("pilot")
    name.press("Enter")
    page.get_by_role("button", name="Create study").click()
    drawn(page, f"created: {DRAWN} items")

    page.get_by_role("button", name="Invite annotators").click()
    page.get_by_label("Names, one a line").fill("Ada\nBen\nCleo")
    page.get_by_role("button", name="Create links").click()
    expect(page.get_by_test_id("stCode").filter(has_text="token=")).to_have_count(4)
    tokens = list(dict.fromkeys(re.findall(r"token=([\w-]+)", page.inner_text("body"))))
    page.get_by_role("link", name="Assign them a sample").click()
    page.get_by_role("button", name="Assign", exact=True).click()
    drawn(page, f"Assigned. Ada: {DRAWN} items")
    for person, token in enumerate(tokens):
        desk = page.context.new_page()
        desk.goto(server.link(token))
        rate(desk, person)
        desk.close()

    page.bring_to_front()
    move(page, f"{server.url}/annotators?study=pilot")
    choose(page, "Annotator of this study", "Cleo")
    page.get_by_role("button", name="Exclude from figures").click()
    reason = page.get_by_label("Reason", exact=True)
    reason.fill("always the same answer")
    reason.press("Enter")
    page.get_by_role("button", name="Exclude from figures: Cleo").click()
    drawn(page, "Exclude from figures: Cleo, in the study")

    page.get_by_role("link", name="Repeats and gold items").click()
    page.get_by_text("Gold items", exact=True).click()
    drawn(page, "Mark a conversation")
    choose(page, "Helpful", "5")
    page.get_by_role("button", name="Add gold item").click()
    drawn(page, "is now a gold item of “pilot”")

    page.get_by_role("button", name="See agreement").click()
    drawn(page, "Which judge?")
    page.get_by_text("Where does it fail?").click()
    drawn(page, "Largest differences")
    select_first(page)
    expect(page.get_by_role("heading", name="Dialogue")).to_be_visible()
    page.get_by_role("link", name="Back to Agreement").click()
    drawn(page, "Which judge?")

    move(page, f"{server.url}/lab?study=pilot")
    page.get_by_role("button", name="Divide the items").click()
    drawn(page, f"{DRAWN} items were divided")
    instructions = page.get_by_label("Instructions to the judge")
    instructions.fill("Judge what was done for the customer.")
    instructions.press("Control+Enter")
    page.get_by_role("button", name="Save as a version").click()
    drawn(page, "support v2 is saved")
    answered(page, PART)
    page.get_by_role("radio", name="Choose").click()
    drawn(page, "Let a judge answer “select”")
    answered(page, PART)
    page.get_by_role("radio", name="Sealed test").click()
    drawn(page, f"has not answered {PART} conversations of “test” yet")
    answered(page, PART)
    reason = page.get_by_label("Why the sealed part is opened now")
    reason.fill("better on select")
    reason.press("Enter")
    page.get_by_text("I have chosen a judge.").click()
    page.get_by_role("button", name="Open the test part").click()
    drawn(page, "Agreement with annotators on the part “test” of pilot")

    move(page, f"{server.url}/agreement?study=pilot")
    with page.expect_download() as download:
        page.get_by_role("button", name="Report (HTML)").click()
    report = download.value.path().read_text(encoding="utf-8")
    assert "Cleo" in report
    assert "always the same answer" in report
