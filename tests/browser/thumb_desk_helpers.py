"""What several tests take from `test_thumb_desk`: REPLY, Shop, WORD, come, word."""

from __future__ import annotations

import tomllib

from playwright.sync_api import Page

from concord.conversation import Conversation, Message
from concord.rubrics.reading import rubric_of
from concord.rubrics.rubric_store import Numbered
from concord.store import access, conversations
from concord.store.conversations import Filter
from concord.studies import studies

from .keeper import Server

REPLY = "Ah 🙂 it comes tomorrow, at nine in the morning, or so we hope."


WORD = """
(box, word) => {
  const texts = document.createTreeWalker(box, NodeFilter.SHOW_TEXT);
  while (texts.nextNode()) {
    const at = texts.currentNode.data.indexOf(word);
    if (at < 0) continue;
    const range = document.createRange();
    range.setStart(texts.currentNode, at);
    range.setEnd(texts.currentNode, at + word.length);
    const { x, y, width, height } = range.getBoundingClientRect();
    return { x, y, width, height };
  }
}
"""
"""Where a word stands on the screen."""


class Shop:
    """A study of replies, and how somebody comes to their desk."""

    def __init__(self, server: Server) -> None:
        self.server = server
        self.n = 0

    def desk(self, questions: str, replies: tuple[str, ...] = (REPLY, "No.")) -> str:
        """A link to a desk of its own, with these questions about these replies, in this order."""
        self.n += 1
        name = f"s{self.n}"
        rubric = Numbered(rubric_of(name, tomllib.loads(f'unit = "last-reply"\n{questions}'), "x.toml"), 1)
        with self.server.workspace.write() as db:
            for number, text in enumerate(replies):
                said = (Message("user", "It is late."), Message("assistant", text))
                conversations.save(db, Conversation(name, f"{name}-{number}", "m", said))
            studies.draw_study(
                db, name, studies.StudyDraw(len(replies), Filter(name), strata=(), rubric=rubric)
            )
            token = access.invite(db, name)
            studies.deal_study(db, name, [name])
            db.execute(
                "UPDATE placements SET position = (SELECT c.id FROM items i JOIN conversations c "
                "ON c.id = i.conversation_id WHERE i.id = item_id) WHERE rater_id = ?",
                [access.annotator_id(db, name)],
            )
        return self.server.link(token)

    def answers(self) -> list[tuple[str, float, str]]:
        """The answers to the newest desk, in the order of its items."""
        return self.server.rows(
            "SELECT a.question, a.value, a.reason FROM answers a JOIN placements p ON p.id = a.placement_id "
            "JOIN raters r ON r.id = p.rater_id WHERE r.name = ? AND a.superseded_at IS NULL "
            "ORDER BY p.position, a.id",
            f"s{self.n}",
        )


def come(page: Page, link: str) -> None:
    page.goto(link)
    page.locator(".message").first.wait_for()


def word(page: Page, text: str) -> tuple[float, float]:
    """The middle of a word of the passage."""
    box = page.locator(".passage").evaluate(WORD, text)
    return box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
