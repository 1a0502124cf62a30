"""The leaderboard of STSS: its page is drawn to its end."""

from __future__ import annotations

from dataclasses import replace

import pytest
from streamlit.testing.v1 import AppTest

from concord.benchmarks.stss.system import spoken
from concord.benchmarks.stss.tasks import values_of
from concord.conversation import Conversation, Message, Unit
from concord.rating import Judgement, Rater, Rating
from concord.store import conversations, ratings
from concord.workspace import Workspace
from tests.pages.framed import FRAME
from tests.stss.made import lived, party, talk

AGENTS = ("GA", "GA+TDP")


@pytest.fixture
def town(workspace: Workspace) -> Workspace:
    """A party simulated under two architectures, and one invitation talked through and judged under both."""
    task, talks = party(), (talk("1 10:00", "Ada", "Ben", "Come to my party!", "I may."),)
    place = "Lantern Café:front room:bar"
    happened = lived(*(f"{who} | 1 09:00 – 2 22:00 | having a party | {place}" for who in ("Ada", "Ben")))
    with workspace.write() as db:
        for agent in AGENTS:
            about = {"task": task.id, "type": task.kind, "architecture": agent, "performer": "Ada"}
            conversations.save(
                db,
                Conversation(
                    "stss",
                    f"stss/{agent}",
                    "outgoing",
                    spoken("Ada", talks),
                    facets=about,
                    context={"_task": values_of(task)},
                    trajectory=replace(happened, talks=talks).as_stored(),
                ),
            )
            key = f"stss-language/{agent}"
            conversations.save(
                db,
                Conversation(
                    "stss-language",
                    key,
                    "outgoing",
                    (Message("assistant", f"Come, says {agent}!"), Message("user", "Yes.")),
                    facets=about | {"scenario": "party/ben/1", "partner": "Ben"},
                    context={"Performer": "Ada", "Partner": "Ben", "_task": values_of(task)},
                ),
            )
            given = tuple(Rating(Unit(key), name, 1) for name in ("invited", "time", "place"))
            ratings.save_judgement(db, Judgement(key, key, Rater("strict", "judge"), given))
    return workspace


def page(file: str) -> AppTest:
    shown = AppTest.from_string(FRAME.format(file=file), default_timeout=60).run()
    assert not shown.exception
    return shown


@pytest.mark.usefixtures("town")
def test_every_table_of_both_levels_is_drawn() -> None:
    """A table of 1,070 pixels fits a window of 1,440; one of conversations and summaries together did not."""
    shown = page("results/leaderboard.py")
    assert [m.value.split(" ")[-1] for m in shown.markdown if m.value.startswith("##### STSS")] == [
        "about",
        "said",
        "it",
    ]
