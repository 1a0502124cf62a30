"""Adjudication by keyboard in a real browser, by two people at once; and what the store holds afterwards."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import Page, expect

from concord.conversation import Conversation, Message, Unit
from concord.questions import Scale
from concord.rating import Criterion, Judgement, Rater, Rating
from concord.reports.agreement_report import agreement_report
from concord.store import access, conversations, exclusions, frames, ratings
from concord.store import studies as stored
from concord.studies import studies
from concord.studies.purposes import second
from concord.studies.purposes.adjudicate import Rule, set_rule
from concord.workspace import Workspace
from tests.annotated import Annotation, import_annotations

from .keeper import Server, serving
from .widgets import visit

pytestmark = pytest.mark.browser

WIT = Scale((1, 2, 3, 4, 5), ("dull", "2", "3", "4", "witty"), "slider")
CRITERIA = (Criterion("fluency", "It is fluent."), Criterion("wit", "How witty is it?", WIT))
PEOPLE = {"ann": [1, 5, 3, 2], "bob": [4, 2, 3, 3]}
"""Fluency of four items; of the first two they differ by 3. Both find everything's wit 3."""
JUDGE = [2, 4, 3, 5]


@pytest.fixture(scope="module")
def app(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    folder = tmp_path_factory.mktemp("settle")
    workspace = Workspace.open(folder / "hiddenfolder")
    with workspace.write() as db:
        stored.create(db, stored.Study("s", CRITERIA, title="A study"))
        ids = [conversations.save(db, dialogue(i)) for i in range(4)]
        stored.add_units(db, "s", [(i, None, "") for i in ids])
        for person in PEOPLE:
            access.invite(db, person)
        studies.deal_study(db, "s", [*PEOPLE])
        for person, scores in PEOPLE.items():
            given = []
            for i, score in enumerate(scores):
                words = f"I say {score}"
                given.append(Annotation(Rating(Unit(f"k{i}"), "fluency", score, words), person))
                given.append(Annotation(Rating(Unit(f"k{i}"), "wit", 3), person))
            import_annotations(db, "s", given)
        for i, score in enumerate(JUDGE):
            given = (
                Rating(Unit(f"k{i}"), "fluency", score, f"because {i}"),
                Rating(Unit(f"k{i}"), "wit", 3, "none"),
            )
            ratings.save_judgement(db, Judgement(f"j{i}", f"k{i}", Rater("secret-judge", "judge"), given))
        set_rule(db, "s", Rule(2))
    with serving(workspace, folder / "log") as server:
        yield server


def dialogue(number: int) -> Conversation:
    said = (Message("user", f"request {number}"), Message("assistant", f"reply {number}"))
    return Conversation("x", f"k{number}", "secret-player", said)


def at_work(page: Page, app: Server, person: str) -> None:
    page.goto(f"{app.url}/adjudicate?study=s&work=settle&as={person}")
    page.locator(".question").first.wait_for()


def settled(app: Server) -> list[tuple[str, str, float, str, str]]:
    return app.rows(
        "SELECT c.key, a.question, a.value, a.reason, x.name FROM answers a "
        "JOIN placements p ON p.id = a.placement_id JOIN items u ON u.id = p.item_id "
        "JOIN conversations c ON c.id = u.conversation_id JOIN raters x ON x.id = p.rater_id "
        "WHERE p.purpose = 'adjudicate' AND a.superseded_at IS NULL "
        "ORDER BY c.key"
    )


def test_two_adjudicators_settle_by_keyboard_and_not_the_same_item(app: Server, page: Page) -> None:
    other = page.context.new_page()
    at_work(page, app, "cy")
    at_work(other, app, "dee")
    for window in (page, other):
        expect(window.locator(".tally")).to_have_text("0 of 2")
        expect(window.locator(".message.reply")).to_contain_text("reply 0")
        seen = window.content()
        for secret in ("ann", "bob", "secret-player", "secret-judge"):
            assert (
                secret not in window.locator(".talk").inner_text() + window.locator(".questions").inner_text()
            )
        assert "because 0" not in seen
    expect(page.locator(".question:visible")).to_have_count(1)  # nobody disputes wit
    expect(page.locator(".reasons")).to_have_count(2)
    page.keyboard.press("3")
    page.keyboard.type("in between")  # a settled score has a reason: it is asked for at once
    page.keyboard.press("Enter")
    expect(page.locator(".message.reply")).to_contain_text("reply 1")
    expect(page.locator(".saving")).to_have_attribute("data-state", "saved")
    other.keyboard.press("5")
    other.keyboard.type("too late")
    other.keyboard.press("Enter")
    expect(other.locator(".notice")).to_contain_text("cy has decided this item")
    expect(other.locator(".message.reply")).to_contain_text("reply 1")
    other.keyboard.press("4")
    other.keyboard.type("rather high")
    other.keyboard.press("Enter")
    expect(other.locator(".end h1")).to_contain_text("All settled")
    expect(other.locator(".saving")).to_have_attribute("data-state", "saved")
    assert settled(app) == [
        ("k0", "fluency", 3, "in between", "cy"),
        ("k1", "fluency", 4, "rather high", "dee"),
    ]
    other.close()


def test_an_item_that_left_the_queue_is_refused_and_texts_are_markdown(
    app: Server, page: Page, device: Page
) -> None:
    with app.workspace.write() as db:
        stored.create(db, stored.Study("t", CRITERIA))
        keys = ("one", "two")
        said = (Message("user", "go"), Message("assistant", "it *counts picks*"))
        ids = [conversations.save(db, Conversation("x", key, "secret-player", said)) for key in keys]
        stored.add_units(db, "t", [(i, None, "") for i in ids])
        for person, score in (("ann", 1), ("bob", 4), ("cat", 4)):
            # Without bob nobody differs on the first item.
            mine = [1, 4] if person == "cat" else [score, score]
            access.invite(db, person)
            given = [
                Annotation(Rating(Unit(k), "fluency", n), person) for k, n in zip(keys, mine, strict=True)
            ]
            import_annotations(db, "t", given)
        set_rule(db, "t", Rule(2))
        link = app.link(access.invite(db, "Dana", "adjudicator"), path="/")
    device.goto(link)
    device.get_by_role("button", name="Sign in as adjudicator").click()
    device.get_by_role("heading", name="Adjudication").wait_for()
    visit(device, f"{app.url}/adjudicate?study=t")
    device.get_by_role("button", name="Settle").wait_for()
    assert device.get_by_role("link", name="Adjudication").count() <= 1
    page.goto(f"{app.url}/adjudicate?study=t&work=settle&as=cy")
    page.locator(".question").first.wait_for()
    expect(page.locator(".message.reply em")).to_have_text("counts picks")
    page.keyboard.press("3")
    page.keyboard.type("in between")
    with app.workspace.write() as db:
        exclusions.exclude(db, "t", "bob", "asleep")
    page.keyboard.press("Enter")
    notice = page.locator(".notice")
    expect(notice).to_contain_text("Not saved: You no longer have this item")
    expect(page.locator(".saving")).to_have_attribute("data-state", "ready")


def test_the_page_shows_what_was_settled(app: Server, page: Page) -> None:
    page.goto(f"{app.url}/adjudicate?study=s")
    expect(page.get_by_text("2 items, 2 of them settled").first).to_be_visible()


def test_an_annotator_sees_the_judge_only_with_locked_answers_and_revises(app: Server, device: Page) -> None:
    with app.workspace.write() as db:
        second.show_judge(db, "s", "secret-judge")
        link = app.link(access.invite(db, "ann"), path="/rate")
        before = frames.frame(db, "s")
    device.goto(link)
    device.get_by_role("button", name="See them").click()
    expect(device.get_by_text("you cannot change your first answers")).to_be_visible()
    assert "because" not in device.content()
    device.get_by_role("button", name="Lock my answers and show the judge's").click()
    expect(device.locator(".message.reply")).to_contain_text("reply 0")
    expect(device.locator(".question .score").first).to_have_text("the judge 2 · you 1")
    expect(device.locator(".reasons").first).to_have_text("the judge 2: because 0")
    expect(device.locator(".question p.by")).to_have_text("3 yours")
    expect(device.locator(".top .you")).to_have_text("ann")
    assert "secret" not in device.locator(".desk").inner_text()
    for key in ("2", "k", "k", "k"):  # of two items; on the second she keeps both answers
        device.keyboard.press(key)
    expect(device.locator(".message.reply")).to_contain_text("reply 2")
    expect(device.locator(".saving")).to_have_attribute("data-state", "saved")
    assert app.rows(
        "SELECT c.key, a.question, a.value, a.shown FROM answers a JOIN placements p "
        "ON p.id = a.placement_id JOIN items u ON u.id = p.item_id JOIN conversations c "
        "ON c.id = u.conversation_id WHERE p.purpose = 'revise' ORDER BY a.id"
    ) == [("k0", "fluency", 2, 2), ("k0", "wit", 3, 3), ("k1", "fluency", 5, 4), ("k1", "wit", 3, 3)]
    with app.workspace.read() as db:
        assert before.equals(frames.frame(db, "s"))
        [table] = agreement_report(db, "s").tables_of(["anchoring"], "fluency")
    # Of distances 1 and −1 she moved the whole of the first, and none of the second.
    assert table.rows[0]["share"].value == pytest.approx(1 / 2)
