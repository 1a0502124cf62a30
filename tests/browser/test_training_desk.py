"""Training, and others' answers by keyboard: what is shown when, and locked."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import Page, expect

from concord.conversation import Conversation, Message, Unit
from concord.rating import Criterion, Rating
from concord.store import access, conversations
from concord.store import studies as stored
from concord.store.known import Gold, UnitKey
from concord.studies import dealing, running
from concord.studies.purposes import second
from concord.studies.purposes.training import PassRule
from concord.workspace import Workspace
from tests.annotated import Annotation, import_annotations

from .keeper import Server, serving

pytestmark = pytest.mark.browser

HOSTILE = "Because **so**. <img src=x onerror=\"document.title='broken'\"> [here](https://elsewhere.test)"
OWN = 6
SEED = 1
"""With it the gold item does not come last, so that an item follows with which its answer comes."""


@pytest.fixture(scope="module")
def app(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """The study “taught”, with a training of two items, and “talked”, which shows others' answers."""
    folder = tmp_path_factory.mktemp("training")
    workspace = Workspace.open(folder / "workspace")
    with workspace.write() as db:
        for name in ("taught",):
            stored.create(
                db, stored.Study(name, (Criterion("fluency", "It is fluent."),), title=name, seed=SEED)
            )
            ids = [conversations.save(db, dialogue(name, i)) for i in range(OWN + 2)]
            stored.add_units(db, name, [(i, None, "") for i in ids[:OWN]])
            access.invite(db, name)
            dealing.deal_study(db, name, [name])
            golds = [Gold(UnitKey(i, None), "fluency", 4, 0, HOSTILE) for i in ids[OWN:]]
            running.set_training(db, name, golds, PassRule(bound=1))
        stored.create(db, stored.Study("talked", (Criterion("fluency", "It is fluent."),), title="talked"))
        ids = [conversations.save(db, dialogue("talked", i)) for i in range(2)]
        stored.add_units(db, "talked", [(i, None, "") for i in ids])
        for person in ("amy", "ben"):
            access.invite(db, person)
        dealing.deal_study(db, "talked", ["amy", "ben"])
        given = {"amy": 1, "ben": 5}
        for person, score in given.items():
            rated = [Rating(Unit(f"talked {i}"), "fluency", score, f"words {score}") for i in range(2)]
            import_annotations(db, "talked", [Annotation(one, person) for one in rated])
        second.show_others(db, "talked", True)
    with serving(workspace, folder / "log") as server:
        yield server


def dialogue(study: str, number: int) -> Conversation:
    words = f"known {number}" if number >= OWN else f"own {number}"
    return Conversation("x", f"{study} {number}", "p", (Message("user", "?"), Message("assistant", words)))


def begin(app: Server, page: Page, name: str) -> None:
    with app.workspace.write() as db:
        link = app.link(access.invite(db, name), path="/rate")
    page.context.clear_cookies()
    page.goto(link)
    page.locator(".message.reply").wait_for()


def test_a_training_shows_each_known_answer_and_opens_the_study(app: Server, page: Page) -> None:
    begin(app, page, "taught")
    expect(page.locator(".chip")).to_have_count(2)
    expect(page.locator(".top .title")).to_have_text("taught · Training")
    told, reply, notice = page.locator(".told"), page.locator(".message.reply"), page.locator(".notice")
    for result in ("missed", "hit"):
        expect(reply).to_contain_text("known")
        expect(told).to_be_hidden()
        page.keyboard.press("2" if result == "missed" else "4")
        page.keyboard.press("Enter")
        expect(told).to_be_visible()
        expect(told.locator("strong").first).to_contain_text("4, Agree")
        expect(told).to_contain_text("<img src=x")
        expect(told.locator("a, img")).to_have_count(0)
        page.keyboard.press("1")
        expect(notice).to_have_text("Your answers to this item are locked. Enter goes on.")
        page.keyboard.press("Enter")
    # One of two is missed: a second attempt follows, with both again.
    expect(page.locator(".chip")).to_have_count(4)
    for _ in range(2):
        expect(told).to_be_hidden()
        page.keyboard.press("4")
        page.keyboard.press("Enter")
        expect(told).to_be_visible()
        expect(told.locator("strong").first).to_have_text("As expected: 4, Agree")
        page.keyboard.press("Enter")
    expect(reply).to_contain_text("own")
    expect(page.locator(".chip")).to_have_count(4 + OWN)
    expect(page.locator(".top .title")).to_have_text("taught")
    expect(page.locator(".saving")).to_have_attribute("data-state", "saved")
    assert page.title() != "broken"
    assert app.rows(
        "SELECT h.attempt, a.value FROM placements h JOIN answers a ON a.placement_id = h.id "
        "JOIN raters x ON x.id = h.rater_id WHERE x.name = 'taught' ORDER BY h.position"
    ) == [(1, 2), (1, 4), (2, 4), (2, 4)]


def test_others_answers_are_seen_without_names_and_answered_again(app: Server, page: Page) -> None:
    for person, own, other in (("amy", 1, 5), ("ben", 5, 1)):
        with app.workspace.write() as db:
            link = app.link(access.invite(db, person), path="/rate")
        page.context.clear_cookies()
        page.goto(link)
        page.get_by_role("button", name="See them").click()
        show = page.get_by_role("button", name="Lock my answers and show others'")
        show.wait_for()
        assert f"words {other}" not in page.content()
        show.click()
        cards = page.locator(".questions")
        expect(cards).to_contain_text(f"words {other}")
        expect(cards.locator(".score").first).to_contain_text(f" {other} · ")
        expect(cards.locator(".score").first).to_contain_text(f"you {own}")
        assert not {"amy", "ben"} & set(cards.inner_text().split())
        if person == "ben":
            expect(cards).to_contain_text("Too low?")
        expect(page.locator(".message.reply")).to_contain_text("own 0")
        page.keyboard.press("w")
        page.keyboard.type("Too low?" if person == "amy" else "It is not.")
        page.keyboard.press("Enter")
        page.keyboard.press("3")
        expect(page.locator(".message.reply")).to_contain_text("own 1")
        page.keyboard.press("k")
        expect(page.locator(".end h1")).to_contain_text("All checked")
        expect(page.locator(".saving")).to_have_attribute("data-state", "saved")
    assert app.rows(
        "SELECT x.name, a.value, a.reason FROM answers a JOIN placements p ON p.id = a.placement_id "
        "JOIN raters x ON x.id = p.rater_id WHERE p.purpose = 'discuss' ORDER BY a.answered_at"
    ) == [("amy", 3, "Too low?"), ("amy", 1, ""), ("ben", 3, "It is not."), ("ben", 5, "")]
