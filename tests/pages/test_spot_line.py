"""The chosen conversations are shown a part at a time: what was settled is counted off, what was passed does
not hold up what follows.
"""

from dataclasses import replace

import pytest

from concord.conversation import Message
from concord.store import conversations, spotchecks
from concord.store.conversations import Filter
from concord.studies.purposes import spotcheck
from concord.workspace import Workspace
from pages.desk import form, spot
from tests.simulbench import by_hand


@pytest.fixture
def filled(tmp_path, monkeypatch):
    monkeypatch.setattr(form, "LINE", 2)
    monkeypatch.setattr(form, "AHEAD", 1)
    made = Workspace.open(tmp_path / "workspace")
    with made.write() as db:
        by_hand.fill(
            db,
            {
                (script, player): [low, low]
                for low, player in ((1, "x"), (2, "y"))
                for script in by_hand.KINDS
            },
        )
    return made


def settle(db, conversation):
    for seen in spotchecks.judgements(db, conversation, "quality"):
        spotcheck.verify(db, seen.id, "Ada", "reasonable")


def in_order(db):
    return [c.id for c in conversations.search(db, Filter("simulbench"), "lowest")]


def named(moving):
    return [item for item, *_ in moving.strip]


def test_the_line_goes_on_and_nothing_is_passed_over(filled):
    with filled.write() as db:
        order = in_order(db)
        triage = spot.CheckDesk("simulbench", "Ada", "", order)
        first = triage.moving(db, None)
        assert (first.strip, first.count) == ([(i, "open", False) for i in order[:2]], (0, len(order)))
        assert [item["id"] for item in first.items] == order[:2]
        settle(db, order[0])
        # The second was passed, and stays.
        then = triage.moving(db, order[1:2])
        assert (named(then), then.count) == (order[:3], (1, len(order)))
        assert [state for _, state, _ in then.strip] == ["done", "open", "open"]
        settle(db, order[2])
        assert triage.moving(db, []).count == (2, len(order))
        for done, conversation in enumerate((order[1], *order[3:]), 3):
            assert conversation in named(triage.moving(db, []))
            settle(db, conversation)
            assert triage.moving(db, []).count == (done, len(order))


def test_what_was_settled_before_lies_behind(filled):
    with filled.write() as db:
        order = in_order(db)
        settle(db, order[0])
        again = spot.CheckDesk("simulbench", "Ada", "", order).moving(db, None)
    assert again.strip == [(order[0], "done", False), *((i, "open", False) for i in order[1:3])]
    assert [item["id"] for item in again.items] == order[1:3]


def test_only_the_reply_that_was_judged_is_the_targets(filled):
    messages = [
        Message("user", "Be it."),
        Message("assistant", "I am."),
        Message("user", "On."),
        Message("assistant", "So."),
    ]
    with filled.write() as db:
        talk = conversations.load(db, by_hand.key("s1", "x"))
        here = conversations.save(db, replace(talk, key="longer", messages=tuple(messages)))
        shown = spot.item(spotcheck.screen(db, here), here)
    assert [said["speaker"] for said in shown["said"]] == ["User", "Simulator", "User", "x"]
