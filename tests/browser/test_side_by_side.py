"""A rubric's pairwise questions, answered by two people (one by thumb) and a judge; the figures by hand."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator

import pytest
from playwright.sync_api import Page, expect

from concord.conversation import Conversation, Message
from concord.rating import Comparison, Rater, Verdict
from concord.rubrics.reading import rubric_of
from concord.rubrics.rubric_store import Numbered
from concord.store import access, comparisons, conversations, placements, progress
from concord.studies import dealing, pairings
from concord.workspace import Workspace

from .keeper import Server, serving

pytestmark = pytest.mark.browser

RUBRIC = """
title = "Which answer helps more?"
unit = "last-reply"
guidelines = "Read both answers first."
[[criteria]]
name = "better"
type = "pairwise"
statement = "Which answer helps the user more?"
[[criteria]]
name = "kinder"
type = "pairwise"
statement = "Which answer is kinder?"
ties = false
strength = true
"""
# What each prefers, by prompt: the player, or “-” for neither.
ANN, BEN = ("x", "x", "-", "y"), ("x", "x", "x", "y")


@pytest.fixture(scope="module")
def arena(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Server, dict[str, str]]]:
    """A server with a study of four pairs that a judge compared, and the links of two people."""
    folder = tmp_path_factory.mktemp("arena")
    workspace = Workspace.open(folder / "arena")
    rubric = Numbered(rubric_of("side", tomllib.loads(RUBRIC), "side.toml"), 1)
    judge = Rater("j", "judge", "side v1")
    with workspace.write() as db:
        for prompt in range(4):
            for player in "xy":
                said = (
                    Message("user", f"Question {prompt}?"),
                    Message("assistant", f"An answer by **{player}**."),
                )
                conversations.save(db, Conversation("chats", f"{player}{prompt}", player, said))
        pairings.new(db, "sbs", rubric, "chats", seed=1)
        for prompt, (straight, swapped) in enumerate((("A", "B"), ("A", "B"), ("A", "B"), ("A", "A"))):
            for one, other, verdict in (("x", "y", straight), ("y", "x", swapped)):
                two = f"{one}{prompt}", f"{other}{prompt}"
                about = {"rubric": "side", "criterion": "better", "prompt": "h"}
                comparisons.save(db, Comparison("|".join(two), *two, judge, verdict, **about))
        tokens = {name: access.invite(db, name) for name in ("Ann", "Ben")}
        dealing.deal_study(db, "sbs", list(tokens))
    with serving(workspace, folder / "log") as server:
        yield server, {name: server.link(token, path="/rate") for name, token in tokens.items()}


def wanted(server: Server, person: str, prefers: tuple[str, ...]) -> list[Verdict]:
    """The verdicts that say what somebody prefers, by the sides that they are shown."""
    found: list[Verdict] = []
    with server.workspace.read() as db:
        rater = access.annotator_id(db, person)
        for number, *_ in placements.on_desk(db, rater, "sbs"):
            first, _ = placements.numbered(db, rater, number).shown
            shown = conversations.load(db, first)
            preferred = prefers[int(shown.key[1:])]
            found.append("C" if preferred == "-" else "A" if preferred == shown.player else "B")
    return found


def tally(page: Page, left: int) -> None:
    expect(page.locator(".tally")).to_have_text(f"{4 - left} of 4")


def saved(page: Page) -> None:
    expect(page.locator(".saving")).to_have_attribute("data-state", "saved")


def test_two_people_and_a_judge(arena: tuple[Server, dict[str, str]], page: Page, phone: Page) -> None:
    server, links = arena
    # Ann, by keyboard.
    page.goto(links["Ann"])
    expect(page.locator(".title")).to_have_text("Which answer helps more?")
    page.locator(".side").first.wait_for()
    assert not {"x0", "y0", "chats", "side v1"} & set(page.content().split())
    expect(page.locator(".side .text strong")).to_have_count(2)  # Markdown, as at the other desk
    page.keyboard.press("g")
    expect(page.get_by_role("dialog")).to_contain_text("Read both answers first.")
    page.keyboard.press("Escape")
    page.keyboard.press("s")
    expect(page.get_by_role("dialog")).to_contain_text("Why skip this item?")
    page.keyboard.press("1")
    tally(page, 3)
    page.keyboard.press("u")
    tally(page, 4)
    for place, verdict in enumerate(wanted(server, "Ann", ANN)):
        page.keyboard.press({"A": "1", "B": "2", "C": "0"}[verdict])
        expect(page.locator(".question.active")).to_contain_text("Which answer is kinder?")
        if not place:
            page.keyboard.press("0")
            expect(page.locator(".notice")).to_contain_text("“0” is not an answer to this question")
        page.keyboard.press("3")
        tally(page, 3 - place)
    expect(page.locator(".end h1")).to_contain_text("All compared")
    saved(page)

    # Ben, by thumb: the last pair is skipped, then answered after all.
    phone.goto(links["Ben"])
    phone.locator(".side").first.wait_for()
    assert phone.evaluate("document.documentElement.scrollWidth") <= 390
    for place, verdict in enumerate(wanted(server, "Ben", BEN)):
        better, kinder = phone.locator(".question").nth(0), phone.locator(".question").nth(1)
        better.get_by_role("radio", name="A tie" if verdict == "C" else f"{verdict} is better").tap()
        expect(better.locator("[aria-checked=true]")).to_have_count(1)
        kinder.get_by_role("radio", name="B by far").tap()
        tally(phone, 3 - place)
    saved(phone)

    strong = server.rows(
        "SELECT DISTINCT criterion, strong FROM comparisons WHERE rater_id IN "
        "(SELECT id FROM raters WHERE kind = 'human') ORDER BY 1, 2"
    )
    assert strong == [("better", 0), ("kinder", 1)]

    # The figures. Ann and Ben give equal answers to three of four pairs, and to all three where neither saw a
    # tie. Counted in both orders there are 16 answers, 7 for each player and 2 ties; of 8 items 2 have two
    # answers, so that alpha is 1 − (2 · 2 / 16) ÷ ((16² − 7² − 7² − 2²) / (16 · 15)) = 0.610.
    page.goto(f"{server.url}/comparisons?pairs=sbs")
    page.get_by_text("The figures in tables").click()
    rows = page.get_by_test_id("stDataFrame").locator("tr")
    among = rows.filter(has_text="each other").first
    expect(among).to_contain_text(re.compile(r"each other75\[.*\]100\[.*\]0\.610389"))
    # The judge prefers x but for the last pair, where it follows the order: a tie. People's vote prefers x in
    # three pairs and y in the last.
    expect(rows.filter(has_text="jpeople").first).to_contain_text("jpeople75[")
    # Three points to one: ln 3 apart, around 0.
    page.get_by_text("people (2)").click()
    expect(rows.filter(has_text=re.compile(r"x0\.549306")).first).to_be_attached()
    expect(page.get_by_text("A judge's win counts only if it wins in both orders").first).to_be_attached()


def test_texts_language_flag_and_time(arena: tuple[Server, dict[str, str]], page: Page) -> None:
    server, _ = arena
    workspace = server.workspace
    with workspace.write() as db:
        token = access.invite(db, "Cy")
        dealing.deal_study(db, "sbs", ["Cy"])
    page.goto(server.link(token, path="/rate"))
    page.locator(".side").first.wait_for()
    page.keyboard.press("t")
    dialog = page.get_by_role("dialog")
    dialog.get_by_role("radio", name="Largest").check()
    expect(page.locator(".desk")).to_have_attribute("data-size", "largest")
    page.keyboard.press("Escape")
    page.keyboard.press("m")
    expect(page.locator(".side .text").first).to_contain_text("**")
    page.keyboard.press("f")
    dialog.get_by_role("textbox").fill("the same answer twice")
    page.keyboard.press("Control+Enter")
    expect(page.get_by_role("button", name="Flagged", exact=True)).to_be_visible()
    page.keyboard.press("1")
    page.keyboard.press("3")
    tally(page, 3)
    page.keyboard.press("t")
    dialog.get_by_label("Language").select_option("ru")
    expect(page.locator(".tally")).to_have_text("1 из 4")
    page.get_by_role("radio", name="Лучше A").first.click()
    expect(page.locator(".saving")).to_have_text("Сохранено")
    # The next pair took the settings with it, and a reload keeps them.
    page.reload()
    expect(page.locator(".tally")).to_have_text("1 из 4")
    expect(page.locator(".desk")).to_have_attribute("data-size", "largest")
    with workspace.read() as db:
        [remark] = progress.remarks(db, "sbs")
        assert (remark.annotator, remark.flag) == ("Cy", "the same answer twice")
        assert next(a for a in access.annotators(db, "sbs") if a.name == "Cy").seconds > 0
