"""Annotators compare pairs at the desk they come to by their link, by keyboard and by thumb; and what the
researcher sees of it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from concord.benchmarks.simulbench.targets import QUALITY
from concord.store import access, placements, studies
from concord.store.placements import Placement
from concord.store.studies import Study
from tests import pairs as made

from .asking import ask, enter
from .keeper import Server, serving
from .made_simulbench import JUDGES, PLAYERS, SCRIPTS, make
from .starting import ELSEWHERE

pytestmark = pytest.mark.browser

Deal = Callable[..., str]
EVERY = 3 * SCRIPTS


@pytest.fixture(scope="module")
def app(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    folder = tmp_path_factory.mktemp("pairs")
    with serving(make(folder / "hiddenfolder"), folder / "log") as server:
        yield server


@pytest.fixture
def deal(app: Server) -> Deal:
    """`deal("Ann", 6)` gives the link of somebody with six pairs, in a study of their own."""

    def one(name: str, n: int = 6) -> str:
        with app.workspace.write() as db:
            token = access.invite(db, name)
            made.deal(db, [name], n, study=study_of(name))
        return app.link(token, path="/rate")

    return one


def study_of(name: str) -> str:
    return f"pairs-{name}"


def begin(page: Page, link: str) -> None:
    page.goto(link)
    page.locator(".desk .about, .desk .end h1").first.wait_for()


def press(page: Page, keys: str) -> None:
    for key in keys.split():
        page.keyboard.press(key)


def saved(page: Page) -> None:
    expect(page.locator(".saving")).to_have_attribute("data-state", "saved")


def tally(page: Page, left: int, of: int) -> None:
    expect(page.locator(".tally")).to_have_text(f"{of - left} of {of}")


def pressed(page: Page, verdict: str | None) -> None:
    """Which answer is marked as given."""
    given = page.locator(".option[aria-checked=true] .label")
    if verdict is None:
        expect(given).to_have_count(0)
    else:
        expect(given).to_have_text({"A": "A is better", "B": "B is better", "C": "A tie"}[verdict])


def desk(app: Server, name: str) -> list[Placement]:
    """A person's pairs in their order, with what they said."""
    with app.workspace.read() as db:
        return made.on_desk(db, name, study_of(name))


def verdict(pair: Placement) -> str | None:
    """What was answered; None without an answer."""
    return {1: "A", -1: "B", 0: "C", None: None}[pair.answers.get("")]


def said(app: Server, name: str) -> list[tuple[int, int, str]]:
    """Everything stored of a person, in the order it was given."""
    return app.rows(
        "SELECT first_id, second_id, verdict FROM comparisons c JOIN raters x ON x.id = c.rater_id "
        "WHERE x.name = ? ORDER BY c.created, c.id",
        name,
    )


def test_verdicts_given_without_a_server_are_stored_after_its_return(page: Page, tmp_path: Path) -> None:
    """The page was only opened before the kill: Streamlit's page asks for nothing by itself then."""
    workspace = make(tmp_path / "workspace")
    with workspace.write() as db:
        token = access.invite(db, "Ann")
        made.deal(db, ["Ann"], 6, study=study_of("Ann"))
    with serving(workspace, tmp_path / "first") as first:
        begin(page, first.link(token, path="/rate"))
        expect(page.locator("[data-test-script-state=notRunning]")).to_be_attached()
        first.process.kill()
        first.process.wait()
        press(page, "a b")
        tally(page, 4, 6)
    with serving(workspace, tmp_path / "second", "--port", first.url.rpartition(":")[2]) as second:
        saved(page)
        given = [(*p.shown, v) for p, v in zip(desk(second, "Ann"), "AB", strict=False)]
        assert said(second, "Ann") == given


def test_three_pairs_by_keyboard_a_reload_and_on(app: Server, page: Page, deal: Deal) -> None:
    begin(page, deal("Ann"))
    mine = desk(app, "Ann")
    expect(page.locator(".title")).to_have_text("SimulBench: which reply is better?")
    tally(page, 6, 6)
    press(page, "a b 0")
    tally(page, 3, 6)
    saved(page)
    assert said(app, "Ann") == [(*p.shown, v) for p, v in zip(mine, "ABC", strict=False)]
    page.reload()
    page.locator(".about").wait_for()
    tally(page, 3, 6)
    pressed(page, None)
    # Back to what was said before the reload, to think better of it, and on again.
    press(page, "ArrowLeft")
    pressed(page, "C")
    press(page, "ArrowLeft")
    pressed(page, "B")
    press(page, "a")
    pressed(page, None)
    tally(page, 3, 6)
    press(page, "b")
    tally(page, 2, 6)
    press(page, "u")
    tally(page, 3, 6)
    saved(page)
    assert [verdict(p) for p in desk(app, "Ann")] == ["A", "A", "C", None, None, None]
    # The researcher sees the person and the figures.
    page.goto(f"{app.url}/samples?study={study_of('Ann')}")
    row = page.get_by_test_id("stDataFrame").locator("tr").filter(has_text="Ann").locator("td")
    expect(row.nth(1)).to_have_text("6")
    expect(row.nth(2)).to_have_text("3")
    page.goto(f"{app.url}/comparisons?pairs={study_of('Ann')}")
    expect(page.get_by_text("people (1)")).to_be_visible()
    page.get_by_text("The figures in tables").click()
    matches = page.get_by_test_id("stDataFrame").locator("tr").filter(has_text=JUDGES[0])
    expect(matches.filter(has_text="people").first).to_be_attached()


def test_every_answer_is_saved_once_however_fast_it_is_typed(app: Server, page: Page, deal: Deal) -> None:
    begin(page, deal("Bea", EVERY))
    mine = desk(app, "Bea")
    assert len(mine) == EVERY
    for place, _ in enumerate(mine):
        page.keyboard.press("ab0"[place % 3])
        if place % 8 == 7:
            saved(page)  # nobody reads faster than the next ones come
    expect(page.locator(".end h1")).to_contain_text("All compared")
    saved(page)
    assert said(app, "Bea") == [(*p.shown, "ABC"[i % 3]) for i, p in enumerate(mine)]
    # Whoever comes again later finds their answers.
    page.reload()
    expect(page.locator(".end h1")).to_contain_text("All compared")
    page.get_by_role("button", name="Look again").click()
    pressed(page, "ABC"[(EVERY - 1) % 3])
    assert page.locator(".desk").get_by_role("button", name="‹").count() == 0, (
        "there is nothing to go back to"
    )


def test_the_browser_holds_nothing_but_the_pair(app: Server, deal: Deal) -> None:
    link = deal("Cat")
    entered = enter(link, ELSEWHERE)
    sent = ask(app.url, "rate", entered.query, host=ELSEWHERE, cookie=entered.cookie)
    assert "Now make another, harder one." in sent
    hidden = (*PLAYERS, *JUDGES, "hiddenfolder", "simulbench/v1", "So I say", "finds it worth")
    assert not [word for word in hidden if word in sent]


def test_a_pair_that_was_not_dealt_cannot_be_reached_from_the_browser(
    app: Server, page: Page, deal: Deal
) -> None:
    deal("Dan", 12)
    begin(page, deal("Eve", 2))
    [strange, *_] = [p.id for p in desk(app, "Dan")]
    page.evaluate(
        "item => concordDesk.send({k: 99, boxes: {forged: [{n: 1, item, do: 'answer', criterion: "
        "'', score: 1, text: ''}]}, want: [item]})",
        strange,
    )
    expect(page.locator(".notice")).to_contain_text("You no longer have this item")
    tally(page, 2, 2)
    press(page, "b")
    saved(page)
    assert said(app, "Dan") == []
    assert [verdict(p) for p in desk(app, "Eve")] == ["B", None]


def test_a_pair_taken_back_while_it_is_looked_at_gives_way(app: Server, page: Page, deal: Deal) -> None:
    begin(page, deal("Fay", 3))
    press(page, "a")
    saved(page)
    with app.workspace.write() as db:
        placements.reclaim(db, study_of("Fay"), access.annotator_id(db, "Fay"))
    press(page, "b")
    expect(page.locator(".notice")).to_have_text(re.compile("You no longer have this item"))
    expect(page.locator(".end h1")).to_contain_text("All compared")
    assert [v for _, _, v in said(app, "Fay")] == ["A"]


def test_a_link_withdrawn_closes_the_desk(app: Server, page: Page, deal: Deal) -> None:
    begin(page, deal("Gil"))
    with app.workspace.write() as db:
        access.revoke(db, "Gil")
    press(page, "a")
    expect(page.locator(".end")).to_contain_text("Your link was withdrawn")
    assert said(app, "Gil") == []


def test_pairs_lie_beside_the_studies(app: Server, page: Page, deal: Deal) -> None:
    link = deal("Hal")
    with app.workspace.write() as db:
        studies.create(db, Study("quality", (QUALITY,), "How good are they?"))
        units = studies.add_units(db, "quality", [(desk(app, "Hal")[0].conversation_id, None, "")])
        placements.assign(db, access.annotator_id(db, "Hal"), units)
    page.goto(link)
    expect(page.get_by_role("heading", name="Your work")).to_be_visible()
    expect(page.get_by_text("How good are they?")).to_be_visible()
    expect(page.get_by_text(re.compile("SimulBench: which reply is better?"))).to_be_visible()
    expect(page.get_by_text("0 of 6 done")).to_be_visible()
    page.get_by_role("button", name="Compare").click()
    page.locator(".about").wait_for()
    press(page, "0")
    saved(page)
    page.get_by_role("button", name="‹ Your work").click()
    expect(page.get_by_text("1 of 6 done")).to_be_visible()


def test_by_thumb_on_a_telephone(app: Server, phone: Page, deal: Deal) -> None:
    begin(phone, deal("Ida"))
    assert phone.evaluate("document.documentElement.scrollWidth") <= 390
    answers = [phone.get_by_role("radio", name=name) for name in ("A is better", "A tie", "B is better")]
    does = [phone.get_by_role("button", name=name) for name in ("Undo", "Skip", "Next")]
    for button in (*answers, *does):
        box = button.bounding_box()
        assert box is not None
        assert box["height"] >= 40
        assert box["x"] >= 0
        assert box["x"] + box["width"] <= 390
        assert box["y"] + box["height"] <= 844
    first, second = (phone.get_by_role("region", name=f"Reply {letter}").bounding_box() for letter in "AB")
    assert first is not None
    assert second is not None
    # The edge of the other reply is in sight beside the first.
    assert first["x"] + first["width"] < second["x"] < 390 - 15
    phone.get_by_role("radio", name="B is better").tap()
    tally(phone, 5, 6)
    phone.get_by_role("radio", name="A tie").tap()
    tally(phone, 4, 6)
    phone.get_by_role("button", name="Undo").tap()
    tally(phone, 5, 6)
    saved(phone)
    assert [verdict(p) for p in desk(app, "Ida")][:2] == ["B", None]
