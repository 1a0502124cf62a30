"""What a thumb, a mouse and keys do to sliders, numbers, passages and corrections; and what is stored."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import CDPSession, Locator, Page, expect

from concord.questions import MOST_WORDS
from concord.studies import running
from concord.workspace import Workspace
from tests.browser.rubric_desk_helpers import saved
from tests.browser.thumb_desk_helpers import REPLY, Shop, come, word

from .keeper import serving
from .widgets import again

pytestmark = pytest.mark.browser

WARMTH = """
[[criteria]]
name = "warmth"
statement = "How warm is it?"
type = "slider"
anchors = { 0 = "cold", 10 = "warm" }
"""
EFFORT = """
[[criteria]]
name = "effort"
statement = "How much effort did it cost the user?"
type = "number"
"""
WRONG = """
[[criteria]]
name = "wrong"
statement = "Mark what is wrong."
type = "passages"
"""
BETTER = """
[[criteria]]
name = "better"
statement = "Write the reply as it should be."
type = "correction"
"""
SOLVED = """
[[criteria]]
name = "solved"
statement = "The problem is solved."
scale = "1..7"
anchors = { 1 = "Not at all", 7 = "Wholly" }
"""
LONGEST_TASK = """
() => {
  window.longest = 0;
  const longer = ({ duration }) => (window.longest = Math.max(window.longest, duration));
  const seen = (list) => list.getEntries().forEach(longer);
  new PerformanceObserver(seen).observe({ type: "longtask" });
}
"""


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Shop]:
    folder: Path = tmp_path_factory.mktemp("thumb")
    workspace = Workspace.open(folder / "shop")
    with serving(workspace, folder / "log") as server:
        yield Shop(server)


def equal(value: object, expected: object) -> None:
    assert value == expected


def at(place: Locator, across: float) -> tuple[float, float]:
    """A point of an element, a share of its width from the left."""
    box = place.bounding_box()
    assert box
    return box["x"] + box["width"] * across, box["y"] + box["height"] / 2


def drag(touch: CDPSession, begin: tuple[float, float], end: tuple[float, float]) -> None:
    """Draw a finger from one point to another."""
    steps = [[begin[n] + (end[n] - begin[n]) * part / 8 for n in (0, 1)] for part in range(9)]
    for n, (x, y) in enumerate(steps):
        kind = "touchMove" if n else "touchStart"
        touch.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": [{"x": x, "y": y}]})
    touch.send("Input.dispatchTouchEvent", {"type": "touchEnd", "touchPoints": []})


def test_a_slider_is_answered_by_tap_drag_and_in_its_middle(shop: Shop, phone: Page) -> None:
    come(phone, shop.desk(WARMTH + EFFORT))
    slider = phone.locator(".question.active [type=range]")
    phone.touchscreen.tap(*at(slider, 0.8))
    expect(phone.locator(".steps .active")).to_have_text("Effort")
    saved(phone)
    assert shop.answers() == [("warmth", 8, "")]
    phone.locator(".steps li").first.tap()
    touch = phone.context.new_cdp_session(phone)
    drag(touch, at(slider, 0.8), at(slider, 0.28))
    expect(phone.locator(".steps .active")).to_have_text("Effort")
    saved(phone)
    assert shop.answers() == [("warmth", 3, "")]
    phone.touchscreen.tap(*at(slider, 0.5))  # where an untouched slider would stand: nothing changes
    saved(phone)
    assert shop.answers() == [("warmth", 3, ""), ("effort", 50, "")]
    phone.get_by_role("button", name="Submit").tap()
    expect(phone.locator(".chip[aria-current]")).to_have_text("2")
    expect(phone.locator(".question output")).to_have_text("–")
    saved(phone)
    assert shop.server.rows(
        "SELECT state FROM placements p JOIN raters r ON r.id = p.rater_id WHERE r.name = ? "
        "ORDER BY position",
        f"s{shop.n}",
    ) == [("done",), ("open",)]


def test_a_slider_is_answered_by_its_keys_and_shows_what_is_stored(shop: Shop, page: Page) -> None:
    come(page, shop.desk(WARMTH + SOLVED))
    slider, shown = page.get_by_role("slider"), page.locator(".question output")
    slider.focus()
    slider.press("End")
    expect(shown).to_have_text("10")
    expect(page.locator(".question.active .name")).to_have_text("Warmth")  # whoever has the keys goes on
    slider.press("ArrowLeft")
    expect(shown).to_have_text("9")
    saved(page)
    assert shop.answers() == [("warmth", 9, "")]
    slider.press("u")
    slider.press("u")
    expect(shown).to_have_text("–")
    expect(slider).to_have_class("unset")
    slider.press("Home")
    slider.press("ArrowRight")
    slider.press("ArrowDown")
    page.keyboard.press("u")
    expect(slider).to_have_value("1")
    expect(slider).not_to_have_class("unset")
    page.keyboard.press("ArrowRight")
    slider.evaluate("one => one.blur()")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("5")
    page.keyboard.press("Enter")
    saved(page)
    assert shop.answers() == [("warmth", 2, ""), ("solved", 5, "")]


def test_a_drag_with_the_mouse_stores_where_it_ended_once(shop: Shop, page: Page) -> None:
    come(page, shop.desk(WARMTH))
    slider = page.get_by_role("slider")
    page.mouse.move(*at(slider, 0.2))
    page.mouse.down()
    page.mouse.move(*at(slider, 0.7), steps=6)
    page.mouse.up()
    saved(page)
    assert shop.answers() == [("warmth", 7, "")]
    count = "SELECT count(*) FROM answers a JOIN placements p ON p.id = a.placement_id WHERE p.rater_id = "
    assert shop.server.rows(f"{count}(SELECT id FROM raters WHERE name = ?)", f"s{shop.n}") == [(1,)]


def test_a_whole_number_is_asked_for_as_one(shop: Shop, page: Page) -> None:
    come(page, shop.desk(EFFORT + EFFORT.replace('"effort"', '"stars"') + 'scale = "0..5"\n'))
    question = page.locator(".question")
    expect(question.nth(0).locator(".hint")).to_have_text("A whole number from 0 to 100")
    for index in (0, 1):
        field = question.nth(index).get_by_role("spinbutton")
        field.press_sequentially("4.5")
        expect(page.locator(".notice")).to_contain_text("Write a whole number")
        field.press("Enter")
        expect(field).to_have_value("")
        field.fill("4")
        field.press("Enter")
    saved(page)
    assert shop.answers() == [("effort", 4, ""), ("stars", 4, "")]


def test_a_thumb_on_submit_ends_what_is_being_typed(shop: Shop, phone: Page) -> None:
    come(phone, shop.desk(EFFORT))
    phone.get_by_role("spinbutton").tap()
    phone.keyboard.type("37")
    phone.get_by_role("button", name="Submit").dispatch_event("click")  # the focus stays, as on an iPhone
    expect(phone.locator(".chip[aria-current]")).to_have_text("2")
    saved(phone)
    assert shop.answers() == [("effort", 37, "")]


def test_seven_points_with_words_at_the_ends_are_one_row(shop: Shop, phone: Page) -> None:
    come(phone, shop.desk(SOLVED))
    options = phone.get_by_role("radio")
    tops = {round(option.bounding_box()["y"]) for option in options.all()}  # type: ignore[index]
    assert (options.count(), len(tops)) == (7, 1)
    expect(phone.locator(".ends .label")).to_have_text(["Not at all", "", "Wholly"])
    phone.get_by_role("radio", name="7, Wholly").tap()
    saved(phone)
    assert shop.answers() == [("solved", 7, "")]


def test_a_thumb_marks_words_and_takes_marks_away(shop: Shop, phone: Page) -> None:
    come(phone, shop.desk(WRONG))
    marked = phone.locator(".passage .marked")
    phone.touchscreen.tap(*word(phone, "comes"))
    expect(marked).to_have_text(["comes"])
    phone.touchscreen.tap(*word(phone, "tomorrow"))
    expect(marked).to_have_text(["comes tomorrow,"])
    phone.touchscreen.tap(*word(phone, "hope"))
    expect(marked).to_have_text(["comes tomorrow,", "hope."])
    saved(phone)
    assert shop.answers() == [("wrong", pytest.approx(20 / 62), "8-23 57-62 of 62")]
    assert REPLY[8:23] == "comes tomorrow,"
    phone.touchscreen.tap(*word(phone, "tomorrow"))
    expect(marked).to_have_text(["hope."])
    saved(phone)
    assert shop.answers() == [("wrong", pytest.approx(5 / 62), "57-62 of 62")]


def test_a_finger_that_selects_words_marks_them_by_a_button(shop: Shop, phone: Page) -> None:
    come(phone, shop.desk(WRONG))
    phone.touchscreen.tap(*word(phone, "comes"))
    phone.locator(".passage").evaluate(
        "box => getSelection().setBaseAndExtent(box.lastChild.firstChild, 14, box.lastChild.firstChild, 26)"
    )
    phone.get_by_role("button", name="Mark the selected words").tap()
    saved(phone)
    [(_, _, kept)] = shop.answers()
    [first, second] = [[int(part) for part in mark.split("-")] for mark in kept.split(" of ")[0].split()]
    assert [REPLY[slice(*first)], REPLY[slice(*second)]] == ["comes", "nine in the"]
    expect(phone.locator(".passage .marked")).to_have_text(["comes", "nine in the"])


@pytest.mark.parametrize("outside", [False, True], ids=["within", "ends outside"])
def test_the_mouse_marks_whole_words_and_what_is_shown_is_stored(
    shop: Shop, page: Page, outside: bool
) -> None:
    come(page, shop.desk(WRONG))
    x, y = word(page, "tomorrow")
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(*word(page, "nine"), steps=5)
    if outside:
        page.mouse.move(x, y + 300, steps=5)
    page.mouse.up()
    saved(page)
    [(_, _, kept)] = shop.answers()
    begin, end = map(int, kept.partition(" ")[0].split("-"))
    shown = page.locator(".passage .marked").all_text_contents()
    assert shown == [REPLY[begin:end]]
    assert REPLY[begin:end] == (REPLY[14:] if outside else "tomorrow, at nine")


def test_a_mark_within_a_word_is_shown_as_it_is_stored(shop: Shop, page: Page) -> None:
    """As they were stored before, or come in a file."""
    link = shop.desk(WRONG)
    come(page, link)
    page.locator(".passage").dblclick(position={"x": 18, "y": 20})
    saved(page)
    with shop.server.workspace.write() as db:
        db.execute(
            "UPDATE answers SET reason = '10-20 of 62' WHERE id = (SELECT max(id) FROM answers)",
        )
    come(page, link)
    expect(page.locator(".passage .marked")).to_have_text([REPLY[10:20]])


def test_words_of_a_language_without_spaces_are_marked_one_by_one(shop: Shop, page: Page) -> None:
    come(page, shop.desk(WRONG, ("今天天气很好。", "No.")))
    page.keyboard.press("1")
    page.keyboard.press("Space")
    expect(page.locator(".passage .marked")).to_have_text(["今天"])


def test_a_correction_of_a_long_reply_is_stored_and_the_desk_opens_again(shop: Shop, page: Page) -> None:
    reply = "Word after word it goes on. " * 900  # 25,200 characters
    link = shop.desk(BETTER, (reply, "It is\r\nhere."))
    come(page, link)
    expect(page.locator(".question .limit")).to_have_text("At most 50,000 characters")
    page.keyboard.press("1")
    page.keyboard.press("Control+End")
    page.keyboard.type("At last.")
    page.keyboard.press("Control+Enter")
    saved(page)
    come(page, link)
    [(_, score, kept)] = shop.answers()
    assert kept == f"{reply.strip()} At last." or kept == f"{reply}At last."
    assert score == pytest.approx(len("At last.") / len(f"{reply}At last."), rel=0.2)
    text = page.locator(".rewrite")
    text.fill("x" * (MOST_WORDS + 7))
    page.keyboard.press("Control+Enter")
    expect(page.locator(".notice")).to_contain_text("Too long by 7 characters, so it is not saved yet.")
    come(page, link)
    expect(text).to_have_value(kept)
    page.locator(".chip").nth(1).click()
    text.click()  # a field writes the ends of lines in one way: to look at it changes nothing
    page.keyboard.press("Control+Enter")
    saved(page)
    assert shop.answers()[1] == ("better", 0, "It is\r\nhere.")


def test_a_reply_that_is_too_long_to_be_corrected_says_so_and_may_stay(shop: Shop, page: Page) -> None:
    link = shop.desk(BETTER, ("Too long. " * 6000, "No."))
    come(page, link)
    expect(page.locator(".question .limit")).to_contain_text("at most 50,000 characters")
    expect(page.locator(".rewrite")).to_be_hidden()
    page.keyboard.press("0")
    page.keyboard.press("Enter")
    expect(page.locator(".chip[aria-current]")).to_have_text("2")
    saved(page)
    come(page, link)
    assert [(name, score) for name, score, _ in shop.answers()] == [("better", 0)]


def test_a_very_long_reply_does_not_freeze_the_desk(shop: Shop, page: Page) -> None:
    """With a node for each word it froze for half a minute; shown at once it takes under a second."""
    reply = ("A sentence that is long enough, with words. " * 5000)[:197_000]
    come(page, shop.desk(WRONG + BETTER, ("No.", reply)))
    page.evaluate(LONGEST_TASK)
    page.locator(".chip").nth(1).click()
    expect(page.locator(".passage")).to_contain_text("A sentence that is long enough")
    for key in ("1", "ArrowRight", "Shift+ArrowRight", "Space", "End", "Space"):
        page.keyboard.press(key)
    expect(page.locator(".passage .marked")).to_have_text(["sentence that", "t"])
    saved(page)
    assert shop.answers() == [("wrong", pytest.approx(14 / 197_000), "2-15 196999-197000 of 197000")]
    assert page.evaluate("window.longest") < 3000


def test_a_broken_or_oversized_event_in_the_browser_closes_no_desk(shop: Shop, page: Page) -> None:
    link = shop.desk(SOLVED)
    come(page, link)
    page.keyboard.press("3")
    saved(page)
    too_long = {"n": 3, "at": 1, "item": 1, "do": "answer", "criterion": "solved", "score": 4}
    events = ["no JSON", "{}", json.dumps({**too_long, "text": "x" * (MOST_WORDS + 1)})]
    for n, event in enumerate(events, 1):
        page.evaluate(
            "([n, event]) => (localStorage[`concord ${concordDesk.news.desk} other.1-1 ${n}`] = event)",
            [n, event],
        )
    come(page, link)
    expect(page.get_by_role("radio", name="3", exact=True)).to_be_checked()
    expect(page.locator(".notice")).to_contain_text("cannot be stored")
    left = "() => Object.keys(localStorage).filter((key) => key.includes(concordDesk.news.desk)).length"
    again(lambda: page.wait_for_timeout(200), lambda: equal(page.evaluate(left), 0))
    page.keyboard.press("Enter")
    saved(page)


def test_a_study_closed_with_the_last_answer_names_no_lost_answer(shop: Shop, page: Page) -> None:
    come(page, shop.desk(SOLVED))
    page.keyboard.press("3")
    saved(page)
    with shop.server.workspace.write() as db:
        running.close(db, f"s{shop.n}", "enough")
    page.keyboard.press("ArrowUp")
    page.keyboard.press("4")
    page.keyboard.press("Enter")
    expect(page.locator(".end h1")).to_have_text("This desk is closed")
    page.wait_for_timeout(1500)
    expect(page.locator(".end")).not_to_contain_text("not stored")
    assert shop.answers() == [("solved", 4, "")]


def test_a_reason_that_must_be_there_cannot_be_taken_away_after_going_back(shop: Shop, page: Page) -> None:
    come(page, shop.desk(SOLVED + 'reason = "required"\n'))
    page.keyboard.press("3")
    page.keyboard.type("because")
    page.keyboard.press("Enter")
    page.keyboard.press("Enter")
    expect(page.locator(".chip[aria-current]")).to_have_text("2")
    page.keyboard.press("ArrowLeft")
    page.keyboard.press("w")
    page.keyboard.press("Control+A")
    page.keyboard.press("Delete")
    page.keyboard.press("Escape")
    expect(page.locator(".notice")).to_contain_text("The item is open again")
    saved(page)
    page.reload()
    expect(page.locator(".chip").first).to_have_class("chip open ")


def test_the_desk_of_a_researcher_fits_the_window(shop: Shop, page: Page) -> None:
    shop.desk(SOLVED)
    page.goto(f"{shop.server.url}/rate?as=s{shop.n}")
    page.locator(".message").first.wait_for()
    main = page.get_by_test_id("stMain")
    expect(page.locator(".desk")).to_have_css("height", "900px")
    assert main.evaluate("one => one.scrollHeight - one.clientHeight") == 0


def test_another_device_is_named_while_it_is_used_and_not_at_every_visit(
    shop: Shop, page: Page, device: Page
) -> None:
    link = shop.desk(SOLVED, tuple(f"Reply {n}." for n in range(4)))
    come(device, link)
    device.keyboard.press("3")
    device.keyboard.press("Enter")
    saved(device)
    come(page, link)
    page.keyboard.press("2")
    saved(page)
    expect(page.locator(".notice")).not_to_contain_text("another device")
    device.keyboard.press("4")
    saved(device)
    page.locator(".chip").nth(3).click()
    page.keyboard.press("ArrowLeft")
    expect(page.locator(".notice")).to_contain_text("in use on another device")
