"""Where a judge differs from people, by what, and the causes that people tag at the desk."""

from __future__ import annotations

import pytest

from concord.errors import NotFound, StudyError
from concord.lab import disagreements, measuring
from concord.rubrics import rubric_store
from concord.store import lab
from concord.store.desk import Event
from concord.workspace import Workspace
from pages.desk.review import QUESTION, ReviewDesk
from tests.mock import lab as mock

JUDGE = "mock-judge"


@pytest.fixture
def shop(fresh: Workspace) -> Workspace:
    mock.made(fresh)
    of = mock.divided(fresh)
    with fresh.write() as db:
        mock.answer(db, rubric_store.find(fresh, mock.RUBRIC), of.keys(""), JUDGE)
    return fresh


def read(workspace: Workspace):
    with workspace.read() as db:
        bench = measuring.read(db, mock.STUDY, resamples=200)
        judge = bench.find(JUDGE, "shop v1")
        return bench, judge, disagreements.largest(db, bench, judge)


def test_the_largest_come_first_and_are_of_develop(shop):
    bench, _, found = read(shop)
    assert [one.distance for one in found] == sorted((one.distance for one in found), reverse=True)
    assert {one.unit.key for one in found} <= set(bench.parts.keys("develop"))
    first = found[0]
    assert first.distance == pytest.approx(abs(first.answer - sum(first.people) / len(first.people)) / 4)
    assert first.words in ("It is long.", "It is short.")


def test_causes_add_up_and_say_what_to_change_first(shop):
    bench, judge, found = read(shop)
    work = ReviewDesk(mock.STUDY, "Ada", judge, found)
    with shop.write() as db:
        for one, cause in zip(found[:3], (4.0, 4.0, 1.0), strict=True):
            words = "It counts words." if cause == 4 else ""
            work.apply(db, Event(item=one.unit.id, do="answer", criterion=QUESTION, score=cause, text=words))
        table = disagreements.causes(db, bench, judge, found)
        assert [row["items"] for row in table.rows] == [2, 1]
        assert table.rows[0]["cause"] == "length or style influenced the judge"
        assert table.rows[0]["words"] == "It counts words."
        assert table.rows[0]["lost"] == pytest.approx(found[0].distance + found[1].distance)
        assert "Change first: state in the instructions" in table.notes[0]
        moving = work.moving(db, None)
        assert [state for _, state, _ in moving.strip][:4] == ["done", "done", "done", "open"]
        work.apply(db, Event(item=found[2].unit.id, do="answer", criterion=QUESTION))
        assert len(lab.tags(db, mock.STUDY, str(judge))) == 2


def test_tags_are_no_ratings_and_stay_on_develop(shop):
    bench, judge, found = read(shop)
    hidden = bench.parts.units_of("test")[0].id
    with shop.write() as db:
        n = db.execute("SELECT count(*) FROM ratings").fetchone()[0]
        disagreements.tag(db, mock.STUDY, found[0].unit.id, "Ada", judge, 2)
        assert db.execute("SELECT count(*) FROM ratings").fetchone()[0] == n
        with pytest.raises(StudyError, match="develop"):
            disagreements.tag(db, mock.STUDY, hidden, "Ada", judge, 2)
        with pytest.raises(NotFound):
            disagreements.tag(db, mock.STUDY, found[0].unit.id, "Ada", judge, 9)
