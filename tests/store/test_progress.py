"""How far a study is, and the mark that tells when its figures are out of date."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from sqlite_utils import Database

from concord.conversation import Conversation, Message, Unit
from concord.errors import NotFound
from concord.questions import LIKERT_5
from concord.rating import Criterion, Judgement, Rater, Rating
from concord.store import access, conversations, placements, progress, ratings, studies, tables
from concord.store.studies import Study
from concord.workspace import Workspace
from tests.filled import assigned

WIT = Criterion("wit", "It is witty.", LIKERT_5)


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    made = Workspace.open(tmp_path)
    with made.write() as db:
        studies.create(db, Study("s", (WIT,)))
        ids = [
            conversations.save(db, Conversation("b", f"c{i}", "p", (Message("assistant", "said"),)))
            for i in range(3)
        ]
        units = studies.add_units(db, "s", [(i, None, "east" if n else "west") for n, i in enumerate(ids)])
        access.invite(db, "Ada")
        placements.assign(db, access.annotator_id(db, "Ada"), units)
    return made


def ada(db: Database) -> tuple[int, list[int]]:
    rater = access.annotator_id(db, "Ada")
    return rater, [row[0] for row in assigned(db, rater, "s")]


def answered(db: Database, score: float | None) -> None:
    rater, desk = ada(db)
    placements.answer(db, rater, desk[0], "wit", score)


def judged(db: Database) -> None:
    ratings.save_judgement(
        db, Judgement("k", "c1", Rater("j", "judge"), (Rating(Unit("c1", 1), "wit", 3.0),))
    )


def set_state(change: Callable[[Database, int, int], None]) -> Callable[[Database], None]:
    def go(db: Database) -> None:
        rater, desk = ada(db)
        change(db, rater, desk[0])

    return go


CHANGES: dict[str, Callable[[Database], None]] = {
    "an answer": lambda db: answered(db, 4),
    "another answer in its place": lambda db: answered(db, 2),
    "the item submitted": set_state(placements.submit),
    "the item taken up again": set_state(placements.reopen),
    "the item submitted anew": set_state(placements.submit),
    "the item skipped": set_state(lambda db, rater, item: placements.skip(db, rater, item, "broken")),
    "the answer taken back": lambda db: answered(db, None),
    "a judgement": judged,
    "a name that is removed": lambda db: access.forget(db, "Ada", "asked"),
    "another criterion": lambda db: ratings.register(db, "study:s", (WIT, Criterion("care", ""))),
}


def test_every_change_that_a_figure_could_see_changes_the_mark(workspace: Workspace) -> None:
    seen: dict[str, str] = {}
    with workspace.read() as db:
        before = progress.mark(db, "s")
    for name, change in CHANGES.items():
        with workspace.write() as db:
            change(db)
        with workspace.read() as db:
            after = progress.mark(db, "s")
        assert after != before, name
        seen[name] = before = after


def test_what_no_figure_sees_leaves_the_mark(workspace: Workspace) -> None:
    with workspace.read() as db:
        before = progress.mark(db, "s")
    with workspace.write() as db:
        rater, desk = ada(db)
        placements.flag(db, rater, desk[0], "odd")
        placements.add_seconds(db, rater, desk[0], 5)
        access.invite(db, "Bo")
        conversations.save(db, Conversation("b", "elsewhere", "p", (Message("assistant", "said"),)))
    with workspace.read() as db:
        assert progress.mark(db, "s") == before


def test_items_tell_state_reason_flag_and_time(workspace: Workspace) -> None:
    with workspace.write() as db:
        rater, desk = ada(db)
        placements.add_seconds(db, rater, desk[0], 5)
        placements.skip(db, rater, desk[0], "broken")
        placements.flag(db, rater, desk[1], "odd")
    with workspace.read() as db:
        first, second, third = progress.items(db, "s")
    assert (first.state, first.reason, first.seconds, first.reply_chars) == (
        "skipped",
        "broken",
        5,
        len("said"),
    )
    assert (second.state, second.flag, third.flag) == ("open", "odd", "")


def test_an_unknown_study_is_named(workspace: Workspace) -> None:
    for ask in (progress.mark, progress.items):
        with workspace.read() as db, pytest.raises(NotFound, match="no study “t”"):
            ask(db, "t")


def test_what_there_is_to_draw_by_has_a_mark_of_its_own(workspace: Workspace) -> None:
    seen = set()
    steps: list[Callable[[Database], object]] = [
        lambda db: None,
        lambda db: conversations.save(db, Conversation("b", "more", "p", (Message("assistant", "said"),))),
        lambda db: ratings.save_judgement(db, Judgement("f", "c2", Rater("j", "judge"), failure="no reply")),
        lambda db: ratings.save_judgement(
            db, Judgement("f", "c2", Rater("j", "judge"), (Rating(Unit("c2", 1), "wit", 3.0),))
        ),
    ]
    for step in steps:
        with workspace.write() as db:
            step(db)
        with workspace.read() as db:
            seen.add(tables.stamp(db))
    assert len(seen) == len(steps)
