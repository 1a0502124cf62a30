"""What a researcher does while a study runs: nothing that was rated is lost, and every act is on record."""

from __future__ import annotations

from pathlib import Path

import pytest
from sqlite_utils import Database

from concord.conversation import Conversation, Message
from concord.errors import NotAllowed, StudyError
from concord.rating import Criterion
from concord.store import (
    access,
    acts,
    answers,
    closings,
    conversations,
    departures,
    desk,
    exclusions,
    frames,
    placements,
    progress,
    ratings,
)
from concord.store import studies as stored
from concord.studies import running, studies
from concord.workspace import Workspace

SAID = (Message("user", "a"), Message("assistant", "b"))


@pytest.fixture
def db(tmp_path: Path):
    """Six items, all of them for ann and bob."""
    with Workspace.open(tmp_path / "workspace").write() as opened:
        stored.create(opened, stored.Study("s", (Criterion("fluency", "It is fluent."),)))
        ids = [conversations.save(opened, Conversation("x", f"k{i}", "p", SAID)) for i in range(6)]
        stored.add_units(opened, "s", [(i, None, "") for i in ids])
        studies.invite(opened, ["ann", "bob", "cy"])
        studies.deal_study(opened, "s", ["ann", "bob"], overlap=1)
        yield opened


def rate(db: Database, person: str, count: int, *, do: str = "submit") -> list[str]:
    """Rate (or skip) the first items of a desk; returns their keys."""
    rater, found = access.annotator_id(db, person), []
    for item, _, _ in placements.on_desk(db, rater, "s")[:count]:
        n = desk.mark(db, desk.of(rater), "tab") + 1
        told = [{"n": n, "item": item, "do": "answer", "criterion": "fluency", "score": 4}]
        assert not desk.apply(db, rater, "tab", [*told, {"n": n + 1, "item": item, "do": do}])[1]
        found.append(conversations.load(db, placements.numbered(db, rater, item).conversation_id).key)
    return found


def counted(db: Database) -> int:
    return len(frames.frame(db, "s"))


def states(db: Database, person: str) -> list[str]:
    return [item.state for item in progress.items(db, "s") if item.annotator == person]


class TestClosing:
    def test_it_deals_nothing_and_stores_what_is_on_its_way(self, db):
        running.close(db, "s", "enough")
        with pytest.raises(NotAllowed, match="concord study reopen s"):
            studies.deal_study(db, "s", ["cy"])
        rate(db, "ann", 1)
        assert counted(db) == 1
        with pytest.raises(StudyError, match="already"):
            running.close(db, "s", "again")
        running.reopen(db, "s", "one more")
        assert not closings.is_closed(db, "s")
        assert [act.act for act in acts.of_study(db, "s")] == ["closed", "reopened"]


class TestReassigning:
    def test_who_left_keeps_what_they_submitted_and_gets_nothing_more(self, db):
        rate(db, "ann", 1)
        moved = running.reassign(db, "s", "ann", "moved away")
        # ann's others; bob had three before.
        assert moved == "2 items of “s” that ann had not begun went to the others, who now have: bob +2."
        # bob has all units but the one that ann rated; a later deal gives ann nothing either.
        assert studies.deal_study(db, "s", ["cy"])["ann"] == 1
        assert counted(db) == 1
        studies.deal_study(db, "s", ["ann"])
        assert [act.act for act in acts.of_study(db, "s")] == ["reassigned", "returned"]
        assert departures.departed(db, "s") == set()

    def test_only_what_moved_is_told(self, db):
        studies.deal_study(db, "s", ["ann", "bob", "cy"], overlap=0)
        moved = running.reassign(db, "s", "bob", "moved away")
        assert moved.startswith("6 items of “s” that bob had not begun went to the others")
        assert moved.endswith("who now have: as before.")

    def test_somebody_must_be_left(self, db):
        running.reassign(db, "s", "ann", "moved away")
        with pytest.raises(StudyError, match="Only bob has items"):
            running.reassign(db, "s", "bob", "moved away")


class TestWhoIsLeftOut:
    def test_lists_and_exports_follow_the_one_decision(self, db):
        [key] = rate(db, "ann", 1)
        assert shown(db, key) == 4
        exclusions.exclude(db, "s", "ann", "asleep")
        assert (shown(db, key), exported(db), exported(db, with_excluded=True)) == (None, [], ["ann"])
        assert counted(db) == 1  # stored as it was, for figures with those left out
        exclusions.include(db, "s", "ann", "awake")
        assert (shown(db, key), exported(db)) == (4, ["ann"])

    def test_what_is_rated_afterwards_is_left_out_too(self, db):
        rate(db, "ann", 1)
        exclusions.exclude(db, "s", "ann", "asleep")
        keys = rate(db, "ann", 2)
        assert [shown(db, key) for key in keys] == [None, None]


def shown(db: Database, key: str) -> float | None:
    """People's mean of a conversation, as lists show it."""
    sql = "SELECT s.people FROM conversations c LEFT JOIN summaries s ON s.conversation_id = c.id "
    sql += "WHERE c.key = ?"
    found: float | None = db.execute(sql, [key]).fetchone()[0]
    return found


def exported(db: Database, **how: bool) -> list[str]:
    return [row["rater"] for row in ratings.exported(db, "s", **how)]


def test_answers_that_are_no_ratings_are_exported_apart(db):
    studies.deal_study(db, "s", repeats=0.4)
    rate(db, "ann", 4)
    rate(db, "bob", 4)
    rows = list(answers.apart(db, "s"))
    assert {(row["kind"], row["rater"], row["score"], row["blind"]) for row in rows} == {
        ("repeat", "ann", 4, 4),
        ("repeat", "bob", 4, 4),
    }
    assert len(exported(db)) == 6
