"""A lighthouse keeper's dialogues in a small workspace, and the real app serving it."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from playwright.sync_api import BrowserContext, Locator, expect

from concord.conversation import Conversation, Message
from concord.questions import YES_NO, points
from concord.rating import Criterion, Rater
from concord.store import conversations, placements, ratings, studies
from concord.store.studies import Study
from concord.workspace import Workspace

from .asking import enter
from .starting import Process, forked, started

CRITERIA = (
    Criterion("in_character", "Every reply fits the card: manner, knowledge, temper."),
    Criterion("entertaining", "It is a pleasure to read."),
    Criterion("fluency", "The language is free of slips."),
)
MIXED = (
    Criterion("overall", "How good is it, from 1 to 10?", points(1, 10)),
    Criterion("refusal", "The reply refuses to go on.", YES_NO, counted=False),
)
SECRETS = (
    "hidden-player",
    "hidden-judge",
    "hidden-facet",
    "hidden-context",
    "hidden-meta",
    "hidden-colleague",
)
"""What an annotator's browser must never hold."""
GUIDELINES = "# How to rate\n\n- Read the **card** first.\n- Then the *whole* dialogue."
HOSTILE = "<img src=x onerror=\"document.title='broken'\"> **strong** ![x](http://elsewhere.test/x.png)"


@dataclass(frozen=True)
class Server:
    """The app as `concord app` serves it, and the workspace it has open."""

    url: str
    workspace: Workspace
    process: Process
    cookie: str = ""
    """The researcher's session that the printed link gave; "" where no link was printed."""

    def sign_in(self, context: BrowserContext) -> None:
        """Give a browser the researcher's session."""
        name, _, value = self.cookie.partition("=")
        if name:
            context.add_cookies([{"name": name, "value": value, "url": self.url, "httpOnly": True}])

    def link(self, token: str, study: str = "", path: str = "/") -> str:
        """An annotator's link."""
        return f"{self.url}{path}?token={token}" + (f"&study={study}" if study else "")

    def rows(self, sql: str, *args: object) -> list[tuple]:  # type: ignore[type-arg]
        """What the store holds, read past the app."""
        with sqlite3.connect(self.workspace.db_path) as db:
            return db.execute(sql, args).fetchall()


RUNNING: list[Server] = []
"""The servers of the tests that run at the moment."""


@contextmanager
def serving(workspace: Workspace, log: Path, *options: str, **environment: str) -> Iterator[Server]:
    """`concord app` on a free port, opened by the link that it prints. It is forked from a warm process; with
    an environment of its own, which imports may read, it starts cold.
    """
    command = ["-m", "concord.cli", "--workspace", str(workspace.path), "app", "--port", "0", "--no-browser"]
    start = partial(started, **environment) if environment else forked
    with log.open("w") as out, start(*command, *options, log=out) as (process, link):
        url, _, token = link.partition("/?token=")
        server = Server(url, workspace, process, enter(link).cookie if token else "")
        RUNNING.append(server)
        yield server
        RUNNING.remove(server)


def dialogue(item: int, study: str) -> Conversation:
    """A dialogue of our own, in English and every fourth in Russian; one in six is long, one tries to be
    HTML.
    """
    said = [
        f"Good evening. Is this the lighthouse? ({item})",
        "*peers over the spectacles* Aye. Wind's from the west.\n\nMind the third step, it minds nobody.",
        "Were you never afraid out here?",
        "Of the sea? No. Of the **quiet** afterwards, perhaps.",
    ]
    if item % 4 == 3:
        said = [
            f"Добрый вечер. Это маяк? ({item})",
            "*смотрит поверх очков* Он самый. Ветер с запада.",
            "Вам не страшно?",
            "Моря? Нет.",
        ]
    if item % 6 == 5:
        said += ["And then?", "Then the fog came down like a lid. " * 40] * 4
    if item == 1:
        said[1] = HOSTILE
    return Conversation(
        benchmark="pingpong",
        key=f"{study}/hidden-player/{item}",
        player="hidden-player",
        messages=tuple(
            Message("assistant" if i % 2 else "user", text, {"plan": "hidden-meta"})
            for i, text in enumerate(said)
        ),
        language="ru" if item % 4 == 3 else "en",
        facets={"character": "hidden-facet"},
        context={
            "Character": "Keeper of the **light** at the Needle.\n\n- speaks of the weather\n- counts ships",
            "_situation": "hidden-context",
        },
        meta={"prompt": "hidden-meta"},
    )


def fill(workspace: Workspace, items: int = 40) -> None:
    """Three studies: whole dialogues, single turns, and other scales; each dialogue judged and rated by
    others already.
    """
    with workspace.write() as db:
        colleague = ratings.rater_id(db, Rater("hidden-colleague", "human"))
        judge = ratings.rater_id(db, Rater("hidden-judge", "judge"))
        for name, criteria, per_turn in (
            ("keeper", CRITERIA, False),
            ("turns", CRITERIA, True),
            ("mixed", MIXED, False),
        ):
            study = Study(
                name,
                criteria,
                f"Study of the {name}",
                GUIDELINES,
                per_turn=per_turn,
                speakers={"assistant": "Keeper"},
            )
            studies.create(db, study)
            units = []
            for item in range(items if name == "keeper" else 4):
                found = conversations.save(db, dialogue(item, name))
                units.append((found, 2 if per_turn else None, ""))
                for rater in (colleague, judge):
                    db.execute(
                        "INSERT INTO ratings (conversation_id, criterion, rater_id, score, "
                        "created) VALUES (?, ?, ?, ?, ?)",
                        [found, criteria[0].name, rater, 2, "2026-01-01"],
                    )
            placements.assign(db, colleague, studies.add_units(db, name, units))


def holds(row: Locator, figure: float) -> None:
    """Assert that a row of a table holds a figure. The table's text gives numbers unrounded."""
    expect(row).to_be_attached()
    found = [float(number) for number in re.findall(r"-?\d\.\d+", row.text_content() or "")]
    assert any(abs(number - figure) < 6e-4 for number in found), (figure, found)
