"""The annotator's desk, used by keyboard and thumb as an annotator does, and compared with what the store
holds afterwards.
"""

from __future__ import annotations

import random
import re
import time
from pathlib import Path

import pytest
from playwright.sync_api import Browser, BrowserContext, Error, Page, expect

from concord.store import access, placements, studies
from concord.workspace import Workspace
from pages.desk.report import EVENTS

from .conftest import Invite
from .keeper import CRITERIA, HOSTILE, SECRETS, Server, fill, serving
from .restarts import OFFLINE, SOON, Moment, house, in_the_midst, rate, survive
from .starting import ROOT

pytestmark = pytest.mark.browser
DESK = ROOT / "pages/desk"
NAMES = [c.name for c in CRITERIA]


def open_desk(page: Page, server: Server, token: str, study: str = "") -> None:
    page.goto(server.link(token, study))
    page.locator(".message").first.wait_for()


def press(page: Page, keys: str) -> None:
    for key in keys.split():
        page.keyboard.press(key)


def saved(page: Page) -> None:
    expect(page.locator(".saving")).to_have_attribute("data-state", "saved")


def at_item(page: Page, number: int) -> None:
    expect(page.locator(".chip[aria-current]")).to_have_text(str(number))


def answers(server: Server, annotator: str) -> list[tuple[int, str, int]]:
    """(position, criterion, score) of every answer somebody gave."""
    return server.rows(
        "SELECT p.position, a.question, cast(a.value AS int) FROM answers a "
        "JOIN placements p ON p.id = a.placement_id AND p.purpose = 'first' "
        "JOIN raters x ON x.id = p.rater_id WHERE x.name = ? AND a.superseded_at IS NULL "
        "ORDER BY p.position, a.id",
        annotator,
    )


def states(server: Server, annotator: str) -> list[tuple[str, str, str]]:
    """(state, reason, flag) of somebody's items in their order."""
    return server.rows(
        "SELECT state, reason, flag FROM placements a JOIN raters x ON x.id = a.rater_id WHERE "
        "x.name = ? ORDER BY position",
        annotator,
    )


@pytest.fixture
def me(request: pytest.FixtureRequest) -> str:
    """The name `invite` gives to the first annotator of a test."""
    return f"{request.node.name} 1"


@pytest.mark.parametrize(("gap", "items"), [(0, 24), (12, 12), (25, 12)])
def test_fast_typing_loses_and_shifts_nothing(
    page: Page, server: Server, invite: Invite, me: str, gap: int, items: int
) -> None:
    chance = random.Random(gap)
    open_desk(page, server, invite(items))
    given = [[chance.randint(1, 5) for _ in CRITERIA] for _ in range(items)]
    for scores in given:
        for key in (*map(str, scores), "Enter"):
            page.keyboard.press(key)
            if gap:
                page.wait_for_timeout(gap)
    expect(page.locator(".end h1")).to_contain_text("All done")
    saved(page)
    assert answers(server, me) == [
        (i + 1, name, score)
        for i, scores in enumerate(given)
        for name, score in zip(NAMES, scores, strict=True)
    ]
    assert [state for state, *_ in states(server, me)] == ["done"] * items
    seconds = server.rows(
        "SELECT sum(seconds) FROM placements a JOIN raters x ON x.id = a.rater_id WHERE x.name = ?", me
    )[0][0]
    assert 4 * items * gap / 1000 < seconds < 60
    assert server.rows(
        "SELECT count(*) FROM answers v JOIN placements p ON p.id = v.placement_id JOIN raters x "
        "ON x.id = p.rater_id WHERE x.name = ? AND v.superseded_at IS NOT NULL",
        me,
    ) == [(0,)]


def test_answers_in_quick_succession_and_their_submission_are_one_report(
    page: Page, server: Server, invite: Invite, me: str
) -> None:
    reports: list[int] = []  # the events of each

    def sent(frame: str | bytes) -> None:
        # The state of a component lies as JSON in a message of protobuf.
        if events := str(frame).count('"do"'):
            reports.append(events)

    page.on("websocket", lambda socket: socket.on("framesent", sent))
    open_desk(page, server, invite(3))
    # In one task of the browser's, so that the machine's speed does not matter.
    page.evaluate(
        "keys => keys.forEach(key => document.body.dispatchEvent("
        "new KeyboardEvent('keydown', { key, bubbles: true, composed: true })))",
        ["1", "2", "3", "Enter"],
    )
    saved(page)
    assert reports == [4]
    assert states(server, me)[0][0] == "done"


def test_keys_answer_the_marked_question_and_go_on(
    page: Page, server: Server, invite: Invite, me: str
) -> None:
    open_desk(page, server, invite(3))
    expect(page.get_by_role("radio", checked=True)).to_have_count(0)
    press(page, "Enter")
    expect(page.locator(".notice")).to_have_text("Still to answer: In character, Entertaining, Fluency.")
    press(page, "7")
    expect(page.locator(".notice")).to_have_text("“7” is not an answer to this question.")
    press(page, "5 1")
    press(page, "ArrowUp 2 ArrowUp ArrowUp 4")  # second thoughts: 2 for the second, 4 for the first
    press(page, "Enter")
    expect(page.locator(".notice")).to_have_text("Still to answer: Fluency.")
    press(page, "3")
    press(page, "5")  # nothing is left to answer: a digit too many shifts nothing
    expect(page.locator(".notice")).to_contain_text("All questions are answered")
    press(page, "Enter")
    at_item(page, 2)
    saved(page)
    assert sorted(answers(server, me)) == [(1, "entertaining", 2), (1, "fluency", 3), (1, "in_character", 4)]
    assert [state for state, *_ in states(server, me)] == ["done", "open", "open"]


def test_undo_goes_back_across_items(page: Page, server: Server, invite: Invite, me: str) -> None:
    open_desk(page, server, invite(3))
    press(page, "1 2 3 Enter 4")
    at_item(page, 2)
    press(page, "u")
    at_item(page, 2)
    press(page, "u")  # takes the submitting back, and goes to what was submitted
    at_item(page, 1)
    press(page, "u 5 Enter")
    at_item(page, 2)
    saved(page)
    assert sorted(answers(server, me)) == [(1, "entertaining", 2), (1, "fluency", 5), (1, "in_character", 1)]
    assert [state for state, *_ in states(server, me)] == ["done", "open", "open"]
    press(page, "s 1 f")
    page.keyboard.type("strange")
    press(page, "Control+Enter u u u u u u u u u u u")
    expect(page.locator(".notice")).to_have_text("Nothing to undo.")
    saved(page)
    assert answers(server, me) == []
    assert states(server, me) == [("open", "", "")] * 3


def test_skip_and_flag_ask_for_words_and_typing_them_presses_no_key(
    page: Page, server: Server, invite: Invite, me: str
) -> None:
    open_desk(page, server, invite(4))
    press(page, "s Escape")
    at_item(page, 1)
    press(page, "s 2")
    at_item(page, 2)
    press(page, "s 5")
    page.keyboard.type("ugly 1 2 3 ufsg?rc")
    press(page, "Enter")
    at_item(page, 3)
    press(page, "f")
    page.keyboard.type("Is this 4 or 5? crCR ugs")
    press(page, "Control+Enter")
    at_item(page, 3)
    expect(page.get_by_role("dialog")).to_have_count(0)
    press(page, "f Escape c r C 4")  # Streamlit's own keys do nothing here; neither does closing
    expect(page.get_by_role("dialog")).to_have_count(0)
    saved(page)
    assert states(server, me) == [
        ("skipped", "I do not understand the language or the subject", ""),
        ("skipped", "ugly 1 2 3 ufsg?rc", ""),
        ("open", "", "Is this 4 or 5? crCR ugs"),
        ("open", "", ""),
    ]
    assert answers(server, me) == [(3, "in_character", 4)]


def test_a_comment_quotes_the_words_that_are_selected(
    page: Page, server: Server, invite: Invite, me: str
) -> None:
    open_desk(page, server, invite(1))
    page.locator(".message.reply em").dblclick()  # one word of the first reply
    press(page, "f")
    comment = page.get_by_label("Comment for the researcher")
    expect(comment).to_have_value(re.compile(r"^Turn 1: “\w+” $"))
    comment.press_sequentially("out of character")
    press(page, "Control+Enter")
    saved(page)
    assert re.fullmatch(r"Turn 1: “\w+” out of character", states(server, me)[0][2])


def test_help_and_guidelines_are_a_key_away(page: Page, server: Server, invite: Invite) -> None:
    open_desk(page, server, invite(1))
    press(page, "?")
    expect(page.get_by_role("dialog", name="Keys")).to_contain_text("undo the last thing you did")
    press(page, "5 ?")
    expect(page.get_by_role("dialog")).to_have_count(0)
    press(page, "g")
    expect(page.get_by_role("dialog", name="Guidelines").get_by_role("listitem")).to_have_text(
        ["Read the card first.", "Then the whole dialogue."]
    )
    search = page.get_by_role("searchbox", name="Search the guidelines")
    search.fill("THE")
    expect(page.get_by_role("dialog").get_by_role("status")).to_have_text("3 found")
    search.fill("lighthouse")
    expect(page.get_by_role("dialog").get_by_role("status")).to_have_text("not found")
    press(page, "Escape Control+1 Alt+2 Meta+3")
    expect(page.get_by_role("radio", checked=True)).to_have_count(0)


def test_the_desks_own_texts_are_in_the_language_that_each_browser_keeps(
    device: Page, page: Page, server: Server, invite: Invite, me: str
) -> None:
    token = invite(2)
    open_desk(page, server, token)
    press(page, "t")
    page.get_by_role("combobox", name="Language").select_option("Русский")
    expect(page.get_by_role("button", name="Отправить")).to_be_visible()
    press(page, "s 2")  # the reason is stored in English, for the researcher
    at_item(page, 2)
    press(page, "ArrowLeft")
    expect(page.locator(".notice")).to_contain_text("Пропущено: Не понимаю языка или предмета.")
    expect(page.locator(".saving")).to_have_text("Сохранено")
    assert states(server, me)[0] == ("skipped", "I do not understand the language or the subject", "")
    open_desk(page, server, token)
    expect(page.get_by_role("button", name="Отправить")).to_be_visible()
    device.add_init_script("Object.defineProperty(navigator, 'language', { value: 'de-DE' })")
    open_desk(device, server, token)
    expect(device.get_by_role("button", name="Submit")).to_be_visible()


def test_leaving_and_returning_resumes_and_earlier_answers_may_be_changed(
    page: Page, server: Server, invite: Invite, me: str
) -> None:
    token = invite(4)
    open_desk(page, server, token)
    press(page, "1 2 3 Enter 4 4")
    saved(page)
    open_desk(page, server, token)
    at_item(page, 2)
    expect(page.get_by_role("radio", checked=True)).to_have_count(2)
    press(page, "4 Enter ArrowLeft ArrowLeft")
    at_item(page, 1)
    expect(page.locator(".notice")).to_contain_text("Submitted.")
    press(page, "ArrowUp 5")
    saved(page)
    press(page, "Enter")
    at_item(page, 3)
    assert [score for position, _, score in answers(server, me) if position == 1] == [1, 2, 5]
    assert server.rows(
        "SELECT question, cast(value AS int) FROM answers v JOIN placements p ON p.id = v.placement_id "
        "JOIN raters x ON x.id = p.rater_id WHERE x.name = ? AND v.superseded_at IS NOT NULL",
        me,
    ) == [("fluency", 3)]
    assert [state for state, *_ in states(server, me)] == ["done", "done", "open", "open"]


def test_the_browser_is_told_nothing_it_should_not_know(page: Page, server: Server, invite: Invite) -> None:
    heard: list[bytes] = []
    asked: list[str] = []

    def listen(socket) -> None:  # type: ignore[no-untyped-def]
        socket.on(
            "framereceived", lambda frame: heard.append(frame if isinstance(frame, bytes) else frame.encode())
        )

    page.on("websocket", listen)
    page.on("request", lambda request: asked.append(request.url))
    open_desk(page, server, invite(8))
    press(page, "1 2 3 Enter 1 2 3 Enter s 1 u f Escape g Escape ArrowRight ArrowRight")
    saved(page)
    told = b"".join(heard)
    assert b"Wind's from the west" in told  # that is where the dialogues come from
    assert not [word for word in SECRETS if word.encode() in told]
    assert not [word for word in SECRETS if word in page.content()]
    assert {
        re.match(r"\w+://[^/]+", url).group() for url in asked if not url.startswith(("blob:", "data:"))
    } <= {server.url, server.url.replace("http", "ws")}  # type: ignore[union-attr]


def test_a_models_words_stay_words(page: Page, server: Server, invite: Invite) -> None:
    open_desk(page, server, invite(2))
    press(page, "ArrowRight")
    at_item(page, 2)
    expect(page.locator(".message.reply").first).to_contain_text("<img src=x")
    expect(page.locator(".message.reply").first.locator("strong")).to_have_text("strong")
    assert page.locator(".talk img").count() == 0
    assert page.title() == "Concord" or "broken" not in page.title()
    press(page, "m")
    expect(page.locator(".message.reply").first.locator(".text")).to_have_text(HOSTILE)
    press(page, "t")
    page.get_by_label("Texts as written").uncheck()
    press(page, "Escape")
    expect(page.locator(".message.reply").first.locator("strong")).to_have_text("strong")


def test_how_somebody_reads_is_kept_in_each_of_their_browsers(
    phone: Page, page: Page, server: Server, invite: Invite
) -> None:
    token = invite(2)
    size = "node => parseFloat(getComputedStyle(node).fontSize)"
    phone.set_viewport_size({"width": 844, "height": 390})
    for window in (page, phone):
        open_desk(window, server, token)
        expect(window.locator(".desk.contrast")).to_have_count(0)
        before = window.locator(".text").first.evaluate(size)
        window.get_by_role("button", name="Text").click()
        window.get_by_label("Largest").check()
        window.get_by_label("High contrast").check()
        press(window, "Escape")
        if window == page:
            press(page, "4")
            saved(page)
        open_desk(window, server, token)
        expect(window.locator(".desk.contrast")).to_be_visible()
        assert window.locator(".text").first.evaluate(size) > 1.3 * before
    # Held sideways: one question with its answers, and what ends the item, beside the dialogue.
    expect(phone.locator(".steps .active")).to_have_text("Entertaining")
    for control in (*phone.get_by_role("radio").locator("visible=true").all(), phone.locator(".foot")):
        expect(control).to_be_in_viewport(ratio=1)
    talk, ask = phone.locator(".talk").bounding_box(), phone.locator(".ask").bounding_box()
    assert talk is not None
    assert ask is not None
    assert talk["x"] + talk["width"] <= ask["x"] + 1


def test_without_a_connection_answers_are_kept_and_sent_later(
    page: Page, server: Server, invite: Invite, me: str
) -> None:
    """The window is closed while nothing gets through; another one of the same browser delivers what it left
    behind.
    """
    token = invite(3)
    open_desk(page, server, token)
    # From here on the server hears nothing of this window.
    page.evaluate("globalThis.concordDesk.send = () => {}")
    press(page, "5 4 3 Enter 2")
    expect(page.locator(".saving")).to_have_text("Saving…")
    expect(page.locator(".saving")).to_have_text("Offline – kept here, will be sent")
    assert answers(server, me) == []
    page.close(run_before_unload=False)
    later = page.context.new_page()
    open_desk(later, server, token)
    saved(later)
    at_item(later, 2)
    expect(later.get_by_role("radio", checked=True)).to_have_count(1)
    kept = "Object.keys(localStorage).filter((name) => name.startsWith(`concord ${concordDesk.news.desk} `))"
    assert later.evaluate(kept) == []
    later.close()
    assert answers(server, me) == [
        (1, "in_character", 5),
        (1, "entertaining", 4),
        (1, "fluency", 3),
        (2, "in_character", 2),
    ]
    assert [state for state, *_ in states(server, me)] == ["done", "open", "open"]


def test_a_browser_without_storage_keeps_answers_while_its_page_is_open(
    page: Page, server: Server, invite: Invite, me: str
) -> None:
    page.add_init_script("Storage.prototype.setItem = () => { throw new Error('forbidden'); }")
    open_desk(page, server, invite(2))
    page.evaluate("globalThis.send = concordDesk.send; concordDesk.send = () => {}")
    press(page, "5 4")
    expect(page.locator(".saving")).to_have_text("Offline – keep this page open, will be sent")
    page.evaluate("concordDesk.send = send")
    saved(page)
    assert answers(server, me) == [(1, "in_character", 5), (1, "entertaining", 4)]


def test_keys_for_an_item_that_is_slow_to_arrive_are_not_taken_as_answers(
    page: Page, server: Server, invite: Invite, me: str
) -> None:
    """Nobody can have an opinion of what they do not see: after two seconds the keys held back are dropped,
    and it is said.
    """
    open_desk(page, server, invite(12))
    page.evaluate(
        "(() => { const bus = concordDesk, take = bus.receive; globalThis.late = []; "
        "globalThis.take = take; bus.receive = (news) => late.push(news); })()"
    )
    press(page, "1 1 1 Enter " * 7)  # what lies ready
    expect(page.get_by_text("The next item is on its way")).to_be_visible()
    press(page, "5 5 5 Enter")
    page.wait_for_timeout(2100)
    page.evaluate("concordDesk.receive = take; late.forEach((news) => take(news))")
    expect(page.locator(".notice")).to_contain_text("loaded slowly")
    at_item(page, 8)
    press(page, "2 2 2 Enter")
    saved(page)
    assert [score for *_, score in answers(server, me)] == [1] * 21 + [2] * 3


def test_a_server_killed_and_started_again_loses_nothing(page: Page, tmp_path: Path) -> None:
    workspace = Workspace.open(tmp_path / "workspace")
    fill(workspace, items=8)
    with workspace.write() as db:
        token = access.invite(db, "Ann")
        placements.assign(
            db, access.annotator_id(db, "Ann"), [unit["id"] for unit in studies.units(db, "keeper")]
        )
    with serving(workspace, tmp_path / "first") as first:
        open_desk(page, first, token)
        press(page, "1 2 3 Enter 4")
        first.process.kill()
        first.process.wait()
        press(page, "5 1 Enter 2 2 2 Enter 3")
        expect(page.locator(".saving")).to_have_text("Offline – kept here, will be sent")
    with serving(workspace, tmp_path / "second", "--port", first.url.rpartition(":")[2]) as second:
        expect(page.locator(".saving")).to_have_attribute("data-state", "saved")
        press(page, "3 3 Enter")
        at_item(page, 5)
        saved(page)
        given = [
            (1, 1),
            (1, 2),
            (1, 3),
            (2, 4),
            (2, 5),
            (2, 1),
            (3, 2),
            (3, 2),
            (3, 2),
            (4, 3),
            (4, 3),
            (4, 3),
        ]
        assert [(position, score) for position, _, score in answers(second, "Ann")] == given


@pytest.mark.parametrize("moment", ["opened", "stored"])
def test_what_was_pressed_without_a_server_is_stored_soon_after_its_return(
    page: Page, tmp_path: Path, moment: Moment
) -> None:
    with house(tmp_path) as made:
        made.open(page, "Annotator 1")
        took = survive(made, page, "Annotator 1", moment)
        # A busy machine is slow with everything: it may add what a desk takes that is opened anew.
        begun = time.monotonic()
        made.open(page, "Annotator 1")
        assert took <= SOON + 2 * (time.monotonic() - begun)


def test_without_a_server_nothing_covers_the_desk_and_its_keys_go_on(page: Page, tmp_path: Path) -> None:
    with house(tmp_path, items=10) as made:
        made.open(page, "Annotator 1")
        made.kill()
        # Streamlit's page opens its dialog when it has asked in vain for the sixth time.
        for _ in range(7):
            page.wait_for_event("requestfailed", lambda request: request.url.endswith("/_stcore/health"))
        given = rate(page, 1) + rate(page, 2)
        at_item(page, 3)
        expect(page.get_by_role("dialog")).to_have_count(0)
        expect(page.locator(".saving")).to_have_text(OFFLINE)
        for item in range(3, 8):
            given += rate(page, item)
        expect(page.locator(".wait")).to_contain_text("the next item comes when it is back")
        expect(page.get_by_role("dialog")).to_have_count(0)
        made.start()
        at_item(page, 8)
        saved(page)
        assert made.stored("Annotator 1") == given


def test_two_desks_lose_nothing_while_the_server_is_gone(windows: BrowserContext, tmp_path: Path) -> None:
    """One of them is closed meanwhile. `python -m tests.browser.restarts --desks 10` has more, each in a
    browser of its own.
    """
    with house(tmp_path, annotators=2, items=12) as made:
        in_the_midst(made, dict.fromkeys(made.tokens, windows), down=1)
    windows.clear_cookies()


def test_two_windows_show_each_others_answers_and_the_later_one_holds(page: Page, tmp_path: Path) -> None:
    with house(tmp_path) as made:
        other = page.context.new_page()
        made.open(page, "Annotator 1")
        made.open(other, "Annotator 1")
        first = page.get_by_role("radiogroup", name="In character").get_by_role("radio", checked=True)
        shown = other.get_by_role("radiogroup", name="In character").get_by_role("radio", checked=True)
        press(page, "2")
        expect(shown).to_have_text(re.compile("^2"))
        saved(page)
        saved(other)
        made.kill()
        press(page, "ArrowUp 4")
        expect(shown).to_have_text(re.compile("^4"))
        press(other, "5")
        expect(first).to_have_text(re.compile("^5"))
        press(page, "ArrowUp 3")
        expect(shown).to_have_text(re.compile("^3"))
        made.start()
        for window in (page, other):
            expect(window.locator(".saving")).to_have_attribute("data-state", "saved")
        assert made.stored("Annotator 1") == [(1, 3)]
        assert made.server is not None
        assert made.server.rows(
            "SELECT cast(value AS int) FROM answers WHERE superseded_at IS NOT NULL ORDER BY id"
        ) == [
            (2,),
            (4,),
            (5,),
        ]
        other.close()


def test_two_windows_and_two_devices_tell_each_other(
    device: Page, page: Page, server: Server, invite: Invite, me: str
) -> None:
    token = invite(3)
    open_desk(page, server, token)
    second = page.context.new_page()
    open_desk(second, server, token)
    for window in (page, second):
        expect(window.locator(".notice")).to_contain_text("open in another window too")
    second.close()
    expect(page.locator(".notice")).to_contain_text("Welcome!")
    press(page, "1 2 3")
    saved(page)
    open_desk(device, server, token)  # everything is answered, nothing submitted
    expect(device.locator(".ask.ready")).to_be_visible()
    press(page, "Enter 4 5")
    saved(page)
    press(device, "Enter")  # the first item again; the second has answers that this device has not seen
    at_item(device, 2)
    expect(device.get_by_role("radio", checked=True)).to_have_count(2)
    expect(device.locator(".notice")).to_contain_text("in use on another device")
    press(device, "3 Enter")
    at_item(device, 3)
    saved(device)
    press(page, "f")
    page.get_by_label("Comment for the researcher").fill("odd")
    press(page, "Control+Enter")  # the answer to this report tells of the submission
    expect(page.locator(".chip[aria-current]")).to_have_class(re.compile("done"))
    expect(page.get_by_role("radio", checked=True)).to_have_count(3)
    expect(page.get_by_role("button", name="Next")).to_be_visible()
    assert answers(server, me) == [
        (i, name, score)
        for i, scores in ((1, (1, 2, 3)), (2, (4, 5, 3)))
        for name, score in zip(NAMES, scores, strict=True)
    ]
    assert [state for state, *_ in states(server, me)] == ["done", "done", "open"]


def test_a_long_backlog_is_sent_in_parts(page: Page, server: Server, invite: Invite, me: str) -> None:
    """More than the server takes in one report."""
    open_desk(page, server, invite(1))
    press(page, "1")
    saved(page)
    kept = 3 * EVENTS
    page.evaluate(
        """([kept, criterion]) => {
          const { desk, strip: [[id]] } = globalThis.concordDesk.news;
          for (let n = 1; n <= kept; n++) {
            const event = { n, at: Date.now() + n, item: id, do: "answer", criterion, score: 1 + (n % 5) };
            localStorage.setItem(`concord ${desk} another ${n}`, JSON.stringify(event));
          }
        }""",
        [kept, NAMES[0]],
    )
    page.reload()
    page.locator(".message").first.wait_for()
    expect(page.locator(".saving")).to_have_attribute("data-state", "saved")
    assert server.rows("SELECT event FROM desk_reports WHERE client = 'another'") == [(kept,)]
    assert answers(server, me) == [(1, NAMES[0], 1 + kept % 5)]


def test_a_link_that_runs_out_meanwhile_loses_nothing(page: Page, tmp_path: Path) -> None:
    with house(tmp_path) as made:
        made.open(page, "Annotator 1")
        with made.workspace.write() as db:
            access.revoke(db, "Annotator 1")
        given = rate(page, 1)
        expect(page.locator(".end")).to_contain_text("kept in this browser")
        with made.workspace.write() as db:
            made.tokens["Annotator 1"] = access.invite(db, "Annotator 1")
        made.open(page, "Annotator 1")
        at_item(page, 2)
        saved(page)
        assert made.stored("Annotator 1") == given


def test_a_researchers_page_says_when_the_server_is_gone(page: Page, tmp_path: Path) -> None:
    notice = "getComputedStyle(document.querySelector('[data-testid=stApp]'), '::after')"
    with house(tmp_path) as made:
        assert made.server is not None
        made.server.sign_in(page.context)
        page.goto(made.server.url)
        page.get_by_role("heading", name="Overview").wait_for()
        made.kill()
        page.wait_for_function(
            f"() => {notice}.content.includes('No connection') && {notice}.visibility === 'visible'"
        )
        made.start()
        page.wait_for_function(f"() => {notice}.content === 'none'")
        expect(page.get_by_role("dialog")).to_have_count(0)


def test_a_page_reloaded_without_a_server_has_kept_its_answers(page: Page, tmp_path: Path) -> None:
    with house(tmp_path) as made:
        made.open(page, "Annotator 1")
        made.kill()
        given = rate(page, 1)
        page.once("dialog", lambda dialog: dialog.accept())  # it warns that something is not sent yet
        with pytest.raises(Error, match="ERR_CONNECTION_REFUSED"):
            page.reload()
        # The browser's own page of errors would load the desk again by itself.
        page.wait_for_function("location.protocol === 'chrome-error:'")
        page.goto("about:blank")
        made.start()
        made.open(page, "Annotator 1")
        at_item(page, 2)
        saved(page)
        assert made.stored("Annotator 1") == given


def test_only_time_at_work_is_counted(browser: Browser) -> None:
    page = browser.new_page()
    page.clock.install(time=0)
    page.goto("about:blank")
    page.clock.pause_at(1000)
    page.add_script_tag(content=(DESK / "clock.js").read_text() + "; globalThis.clock = new Clock();")
    page.evaluate("clock.run(true)")
    page.clock.run_for(10_000)
    page.evaluate("clock.touch()")
    # A coffee: it counts for the minute after which nobody is thought to be there.
    page.clock.run_for(300_000)
    page.evaluate("clock.touch()")
    page.clock.run_for(5_000)
    assert page.evaluate("clock.take()") == 10 + 60 + 5
    page.evaluate("clock.run(false)")  # another window is in front
    page.clock.run_for(20_000)
    page.evaluate("clock.touch()")
    assert page.evaluate("clock.take()") == 0
    page.close()


def test_one_turn_of_a_dialogue_is_marked_and_rated(
    page: Page, server: Server, invite: Invite, me: str
) -> None:
    open_desk(page, server, invite(2, "turns"))
    expect(page.locator(".message")).to_have_count(4)
    expect(page.locator(".message.rated.reply")).to_contain_text("Rate this reply")
    expect(page.locator(".message.rated.reply")).to_be_in_viewport()
    expect(page.locator(".message.rated.reply")).to_contain_text("Of the sea?")
    press(page, "1 1 1 Enter")
    saved(page)
    assert server.rows(
        "SELECT DISTINCT turn FROM ratings r JOIN raters x ON x.id = r.rater_id WHERE x.name = ?", me
    ) == [(2,)]


def test_other_scales_have_their_own_keys(page: Page, server: Server, invite: Invite, me: str) -> None:
    open_desk(page, server, invite(2, "mixed"))
    press(page, "0 0 Enter 9 1 Enter")
    expect(page.locator(".end h1")).to_contain_text("All done")
    saved(page)
    assert answers(server, me) == [
        (1, "overall", 10),
        (1, "refusal", 0),
        (2, "overall", 9),
        (2, "refusal", 1),
    ]


def test_several_studies_are_chosen_from_and_left_again(page: Page, server: Server, invite: Invite) -> None:
    page.goto(server.link(invite(2, "mixed", "turns")))
    expect(page.get_by_text("0 of 2 done")).to_have_count(2)
    page.get_by_role("button", name="Rate").first.click()  # the newest study comes first
    expect(page.locator(".title")).to_have_text("Study of the mixed")
    page.locator(".message").first.wait_for()
    press(page, "5 1 Enter")
    saved(page)
    page.get_by_role("button", name="Your work").click()
    expect(page.get_by_text("1 of 2 done")).to_be_visible()
    page.get_by_role("button", name="Rate").last.click()
    expect(page.locator(".title")).to_have_text("Study of the turns")
    # A key pressed more than two seconds before its item is there is not taken for an answer.
    page.locator(".message").first.wait_for()
    press(page, "5")
    expect(page.get_by_role("radio", checked=True)).to_have_count(1)


def test_an_empty_desk_says_so(page: Page, server: Server, invite: Invite) -> None:
    page.goto(server.link(invite(0)))
    expect(page.get_by_text("You have no items to rate yet")).to_be_visible()


def test_items_taken_back_leave_the_desk_and_new_ones_arrive(
    page: Page, server: Server, invite: Invite, me: str
) -> None:
    open_desk(page, server, invite(3))
    with server.workspace.write() as db:
        rater = access.annotator_id(db, me)
        placements.reclaim(db, "keeper", rater)
        placements.assign(db, rater, [unit["id"] for unit in studies.units(db, "keeper")][20:22])
    press(page, "5")  # the item was taken back in the meantime: the answer is refused, and says so
    expect(page.locator(".notice")).to_contain_text("You no longer have this item")
    expect(page.locator(".chip")).to_have_count(2)
    at_item(page, 1)
    press(page, "1 2 3 Enter 1 2 3 Enter")
    expect(page.locator(".end")).to_contain_text("you have rated 2 of 2 items")
    saved(page)
    assert len(answers(server, me)) == 6


def test_a_phone_shows_the_question_below_the_dialogue(
    phone: Page, server: Server, invite: Invite, me: str
) -> None:
    phone.set_viewport_size({"width": 390, "height": 760})
    open_desk(phone, server, invite(6))
    press(phone, "ArrowRight ArrowRight ArrowRight ArrowRight ArrowRight")  # the long one
    at_item(phone, 6)
    for score in (4, 2, 5):
        options = phone.get_by_role("radio").locator("visible=true")
        expect(options).to_have_count(5)
        for box in (option.bounding_box() for option in options.all()):
            assert box is not None
            assert box["width"] >= 44
            assert box["height"] >= 44
            assert box["x"] >= 0
            assert box["x"] + box["width"] <= 390
            assert box["y"] + box["height"] <= 760
        options.nth(score - 1).tap()
    assert phone.evaluate("document.scrollingElement.scrollWidth") <= 390
    assert phone.locator(".talk").evaluate(
        "node => node.scrollWidth <= node.clientWidth && node.scrollHeight > node.clientHeight"
    )
    phone.get_by_role("button", name="Submit").tap()
    at_item(phone, 1)
    saved(phone)
    assert answers(server, me) == [(6, "in_character", 4), (6, "entertaining", 2), (6, "fluency", 5)]


def test_questions_stay_in_sight_beside_a_long_dialogue(page: Page, server: Server, invite: Invite) -> None:
    open_desk(page, server, invite(6))
    press(page, "ArrowRight ArrowRight ArrowRight ArrowRight ArrowRight End")
    expect(page.get_by_text("End of the dialogue")).to_be_in_viewport()
    for name in ("In character", "Entertaining", "Fluency"):
        expect(page.get_by_role("radiogroup", name=name)).to_be_in_viewport()
    press(page, "Home")
    expect(page.get_by_text("End of the dialogue")).not_to_be_in_viewport()


def test_the_mouse_serves_as_well_and_leaves_the_keys_alone(
    page: Page, server: Server, invite: Invite, me: str
) -> None:
    open_desk(page, server, invite(3))
    page.get_by_role("radiogroup", name="Entertaining").get_by_role("radio", name="2, Disagree").click()
    page.get_by_role("button", name="Keys").click()
    press(page, "Escape")
    press(page, "4 ArrowUp ArrowUp ArrowUp 5 ArrowDown ArrowDown Enter")
    at_item(page, 2)
    page.get_by_role("button", name="Item 1, submitted").click()
    at_item(page, 1)
    press(page, "Enter")
    at_item(page, 2)
    saved(page)
    assert sorted(answers(server, me)) == [(1, "entertaining", 2), (1, "fluency", 4), (1, "in_character", 5)]
