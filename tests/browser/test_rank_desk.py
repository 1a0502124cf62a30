"""Four replies put in order at the desk, by keys and with the mouse; what is stored; the figures."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator

import pytest
from playwright.sync_api import Page, expect

from concord.conversation import Conversation, Message
from concord.rubrics.reading import rubric_of
from concord.rubrics.rubric_store import Numbered
from concord.store import access, comparisons, conversations
from concord.studies import dealing, pairings
from concord.workspace import Workspace

from .keeper import Server, serving
from .widgets import drawn

pytestmark = pytest.mark.browser

RUBRIC = """
title = "Order the answers"
unit = "last-reply"
[[criteria]]
name = "order"
type = "ranking"
statement = "Which answer helps the user most?"
"""
PLAYERS = ("elm", "fir", "oak", "yew")


@pytest.fixture(scope="module")
def arena(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Server, dict[str, str]]]:
    """A server with a study of two groups of four, and the links of two people."""
    folder = tmp_path_factory.mktemp("arena")
    workspace = Workspace.open(folder / "arena")
    rubric = Numbered(rubric_of("sorted", tomllib.loads(RUBRIC), "sorted.toml"), 1)
    with workspace.write() as db:
        for prompt in range(2):
            for place, player in enumerate(PLAYERS):
                said = (
                    Message("user", f"How do I keep a boat dry, question {prompt}?"),
                    Message(
                        "assistant", f"Answer number {place}: " + "cover it and bail it out. " * (place + 1)
                    ),
                )
                conversations.save(db, Conversation("chats", f"{player}{prompt}", player, said))
        pairings.new(db, "sorted-1", rubric, "chats", seed=1)
        tokens = {name: access.invite(db, name) for name in ("Ann", "Ben")}
        dealing.deal_study(db, "sorted-1", list(tokens))
    with serving(workspace, folder / "log") as server:
        yield server, {name: server.link(token, path="/rate") for name, token in tokens.items()}


def shown(page: Page) -> list[str]:
    """The players in the order in which their replies are shown."""
    texts = page.locator(".side .text").all_text_contents()
    return [PLAYERS[int(text.split("number ")[1][0])] for text in texts]


def stored(server: Server, person: str) -> dict[tuple[str, str], str]:
    """The player that somebody prefers of every two by their prompt; “tie” for neither."""
    with server.workspace.read() as db:
        rows = [row for row in comparisons.exported(db, "chats") if row["rater"] == person]
    better = {"A": "model_first", "B": "model_second"}
    return {
        (row["first"][-1], *sorted((row["model_first"], row["model_second"]))): row.get(
            better.get(row["verdict"], ""), "tie"
        )
        for row in rows
    }


def saved(page: Page) -> None:
    expect(page.locator(".saving")).to_have_attribute("data-state", "saved")


def test_an_order_by_keys_and_with_the_mouse(arena: tuple[Server, dict[str, str]], page: Page) -> None:
    server, links = arena
    page.set_viewport_size({"width": 1400, "height": 900})

    # Ann, by keys: B first, A second, C and D share the third place.
    page.goto(links["Ann"])
    page.locator(".side").first.wait_for()
    expect(page.locator(".side")).to_have_count(4)
    expect(page.locator(".tally")).to_have_text("0 of 2")
    assert not {*PLAYERS, "chats"} & set(page.content().replace("<", " ").replace(">", " ").split())
    order = shown(page)
    page.keyboard.press("5")
    expect(page.locator(".notice")).to_contain_text("“5” is not an answer")
    for digit in "213":
        page.keyboard.press(digit)
    expect(page.locator(".rank [aria-checked=true]")).to_have_count(3)
    expect(page.locator(".tally")).to_have_text("0 of 2")
    page.keyboard.press("3")
    expect(page.locator(".tally")).to_have_text("1 of 2")
    expect(page.locator(".side.better")).to_have_attribute("data-side", "B")
    page.screenshot(path=str(server.workspace.path / "desk.png"))
    page.keyboard.press("Enter")
    expect(page.locator(".rank [aria-checked=true]")).to_have_count(0)
    saved(page)
    a, b, c, d = order
    given = stored(server, "Ann")
    [prompt] = {key[0] for key in given}
    wanted = {(a, b): b, (a, c): a, (a, d): a, (b, c): b, (b, d): b, (c, d): "tie"}
    assert given == {(prompt, *sorted(pair)): better for pair, better in wanted.items()}

    # The second one with the mouse; an order holds until another one is whole, or all ranks are taken back,
    # which is undone.
    order = shown(page)
    for side, place in zip("ABCD", (4, 3, 2, 1), strict=True):
        page.get_by_role("radio", name=f"{side}: {place}", exact=True).click()
    expect(page.locator(".tally")).to_have_text("2 of 2")
    page.get_by_role("radio", name="A: 3", exact=True).click()
    page.get_by_role("radio", name="B: 4", exact=True).click()
    saved(page)
    assert stored(server, "Ann")[("1" if prompt == "0" else "0", *sorted((order[0], order[1])))] == order[0]
    page.keyboard.press("4")
    expect(page.locator(".rank [aria-checked=true]")).to_have_count(1)
    expect(page.locator(".tally")).to_have_text("2 of 2")
    page.keyboard.press("0")
    expect(page.locator(".tally")).to_have_text("1 of 2")
    saved(page)
    assert len(stored(server, "Ann")) == 6
    page.keyboard.press("u")
    expect(page.locator(".tally")).to_have_text("2 of 2")
    expect(page.locator(".rank [aria-checked=true]")).to_have_count(4)
    page.keyboard.press("Enter")
    expect(page.locator(".end h1")).to_contain_text("All compared")
    saved(page)
    assert len(stored(server, "Ann")) == 12

    # What was answered is there when the page is loaded again.
    page.reload()
    expect(page.locator(".end h1")).to_contain_text("All compared")
    page.locator(".chip").first.click()
    expect(page.locator(".rank [aria-checked=true]")).to_have_count(4)


def test_an_order_by_thumb_and_the_figures(arena: tuple[Server, dict[str, str]], page: Page) -> None:
    server, links = arena
    page.set_viewport_size({"width": 390, "height": 844})
    page.goto(links["Ben"])
    for done in (1, 2):
        expect(page.locator(".rank")).to_have_count(4)
        expect(page.locator(".rank [aria-checked=true]")).to_have_count(0)
        assert page.evaluate("document.documentElement.scrollWidth") <= 390
        for side, player in zip("ABCD", shown(page), strict=True):
            page.get_by_role("radio", name=f"{side}: {PLAYERS.index(player) + 1}", exact=True).click()
        expect(page.locator(".tally")).to_have_text(f"{done} of 2")
        page.screenshot(path=str(server.workspace.path / "thumb.png"))
        page.locator(".primary").click()
    saved(page)
    page.set_viewport_size({"width": 1400, "height": 900})
    page.goto(f"{server.url}/comparisons?pairs=sorted-1")
    drawn(page, "The figures in tables")
    page.get_by_text("The figures in tables").click()
    expect(page.get_by_text("Agreement of judges and annotators")).to_be_attached()
